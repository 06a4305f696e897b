/* What models are made of. Internal to nn. */
#ifndef TG_MODEL_INTERNAL_H
#define TG_MODEL_INTERNAL_H

#include "nn/layers/block.h"
#include "nn/layers/layer_internal.h"
#include "nn/layers/sequential.h"
#include "nn/models/model.h"

/* x through layers first .. end - 1 of a model of this kind; end 0: through all. Without a model, or with one of
 * another kind, an error of the tape. */
tg_tensor tg_model_run(const tg_model_kind *kind, const tg_model *model, tg_tensor x, tg_layer_pass *pass, int first,
                       int end);

/* ---- perceptrons ---- */

enum { TG_HIDDEN_MOST = 64 }; /* layers at most */

/* How many widths there are before the 0 that ends them; most + 1 if it is missing. */
int tg_hidden_count(const int64_t *widths, int most);

/* NULL, or what is wrong with hidden layers. */
const char *tg_hidden_error(const int64_t *widths, int most, tg_activation activation, tg_norm norm, double dropout,
                            tg_init init, tg_dtype dtype);

/* Hidden layers one after the other, each with a normalisation and dropout. */
typedef struct tg_hidden_layers {
    int64_t inputs;
    const int64_t *widths; /* [count] */
    int count;
    const bool *residual; /* [count]: which have a residual connection; NULL: none */
    tg_activation activation;
    tg_norm norm;
    double dropout;
    bool no_bias;
} tg_hidden_layers;

/* Adds PREFIX.N.* and PREFIX.N.norm.*, N from 0 on. The weights of residual layers begin divided by the square root of
 * how many they are. */
void tg_model_add_hidden(tg_model *model, const char *prefix, const tg_hidden_layers *hidden);

/* Adds the linear layer NAME at the end, which begins as one before this activation. */
void tg_model_add_output(tg_model *model, const char *name, int64_t inputs, int64_t outputs, tg_activation activation,
                         bool bias);

/* ---- transformers ---- */

/* NULL, or what is wrong with the number of blocks or with their configuration. */
const char *tg_blocks_error(int layers, const tg_block_config *block);

/* Adds dropout of what goes into the first block, layers.N.*, and norm.*; with post-norm blocks first embedding_norm.*.
 */
void tg_model_add_blocks(tg_model *model, int layers, const tg_block_config *block, double dropout);

#endif
