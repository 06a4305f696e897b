/* Shared by models. Internal to nn. */
#ifndef TG_MODEL_INTERNAL_H
#define TG_MODEL_INTERNAL_H

#include "nn/layers/hidden_layer.h"
#include "nn/layers/layer_internal.h"
#include "nn/layers/norm.h"
#include "nn/layers/sequential.h"
#include "nn/models/model.h"

/* Passes x through layers first .. end - 1 of a model of this kind; end 0: all. No model, or one of another kind, is an
 * error of the tape. */
tg_tensor tg_model_run(const tg_model_kind *kind, const tg_model *model, tg_tensor x, tg_layer_pass *pass, int first,
                       int end);

/* In place of a generator for tg_model_new: no weights are drawn, and no memory of theirs is touched, as those of a
 * file will be read, once its shapes have been compared. */
extern const tg_rng tg_undrawn;

/* ---- parts that several models have (parts.c) ---- */

enum { TG_HIDDEN_MOST = 64 }; /* layers at most */

/* The number of widths before the 0 that ends them; most + 1 if that is missing. */
int tg_hidden_count(const int64_t *widths, int most);

/* NULL, or the error in the configuration of hidden layers. */
const char *tg_hidden_error(const int64_t *widths, int most, tg_activation activation, tg_norm norm, double dropout,
                            tg_dtype dtype);

/* NULL, or the error in an initialiser and its scale. */
const char *tg_init_error(tg_init init, double scale);

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
    int groups;   /* of layers after the first; 0: 1 */
    double first; /* own gain of the first layer (tg_initial); 0: it reads data */
    int depth;    /* hidden layers of the whole model */
} tg_hidden_layers;

/* The own gain of weights that read these layers: it keeps the second moment at 1. */
double tg_hidden_gain(const tg_hidden_layers *hidden);

/* Sets the own initial weights of a hidden layer among these, whose inputs need this gain. A gate starts open, if it
 * has a bias: bias 1, and weights times alpha, 0.3 for products and 0.6 for squares, and less from three layers on. */
void tg_hidden_initial(const tg_hidden_layer *layer, double gain, const tg_hidden_layers *hidden);

/* Adds PREFIX.N.* and PREFIX.N.norm.*, N from 0 on. Initial weights of residual layers are divided by the square root
 * of their number. */
void tg_model_add_hidden(tg_model *model, const char *prefix, const tg_hidden_layers *hidden);

/* Adds the linear layer NAME at the end, which reads this activation; `own` is its gain by the model's own rule. */
void tg_model_add_output(tg_model *model, const char *name, int64_t inputs, int64_t outputs, tg_activation activation,
                         double own, bool bias);

#endif
