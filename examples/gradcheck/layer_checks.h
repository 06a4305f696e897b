/* The layers, blocks and models whose derivatives are checked: a line of a table each.
 *
 *     for (int i = 0; layer_check_at(i); i++) {
 *         tg_gradcheck_result result = layer_check_run(layer_check_at(i), &(tg_gradcheck_options){.order = 2});
 *         puts(result.why);
 *     }
 *
 * A kind of layer is two functions, one that adds its parameters to a set and one that runs it, and the shapes it is
 * tried with. A further model is a kind, if it is of a new one, and a line of `checks`.
 */
#ifndef GRADCHECK_LAYER_CHECKS_H
#define GRADCHECK_LAYER_CHECKS_H

#include "autograd/gradcheck.h"
#include "nn/models/autoencoder.h"
#include "nn/layers/block.h"
#include "nn/models/char_mlp.h"
#include "nn/layers/conv_block.h"
#include "nn/models/convnet.h"
#include "nn/layers/embedding.h"
#include "nn/models/mlp.h"
#include "nn/models/transformer.h"
#include "nn/models/vit.h"

typedef struct layer_kind layer_kind;

typedef struct layer_check {
    const char *name, *about;
    const layer_kind *kind;
    bool training; /* a pass in training, with what is random in it */
    tg_activation activation;
    tg_norm norm;
    tg_attention_config attention;
    tg_convolution_config convolution;
    tg_block_config (*block)(int64_t width, int heads);
    bool padded, rotary, residual, mean_pool, recompute;
} layer_check;

/* The checks in order; NULL past the end. */
const layer_check *layer_check_at(int index);

/* "layer", "block" or "model". */
const char *layer_check_category(const layer_check *check);

/* Checks the layer with random numbers in all its parameters, on inputs of several shapes; `samples` of the result
 * counts these. Layers are checked element by element, blocks and models along random directions first. */
tg_gradcheck_result layer_check_run(const layer_check *check, const tg_gradcheck_options *options);

#endif
