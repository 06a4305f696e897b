/* The block of convolutional nets: a convolution, a normalisation, an activation.
 *
 *     y = act(norm(conv(x)))
 *
 *     tg_conv_block block = tg_conv_block_add(set, "blocks.0", &(tg_conv_block_config){
 *         .inputs = 3, .outputs = 16, .norm = TG_NORM_BATCH, .activation = TG_GELU_EXACT});
 *     tg_tensor y = tg_conv_block_forward(&block, x, &training);       // [batch, 3, h, w] -> [batch, 16, h, w]
 *
 * The window is square, of odd size, and padded with zeros, so that with stride 1 the image keeps its size. A gated
 * activation multiplies two halves of twice the channels, value and gate in PyTorch's order (nn.GLU over axis 1): value
 * act(gate).
 */
#ifndef TG_CONV_BLOCK_H
#define TG_CONV_BLOCK_H

#include "nn/layers/convolution.h"
#include "nn/layers/norm.h"
#include "nn/layers/layer.h"

TG_API_BEGIN

typedef struct tg_conv_block_config {
    int64_t inputs, outputs;  /* channels */
    int64_t kernel;           /* odd; 0: 3 */
    int stride;               /* 0: 1 */
    tg_norm norm;             /* TG_NORM_BATCH, TG_NORM_GROUP; 0: none */
    int groups;               /* number of groups of TG_NORM_GROUP; 0: 1 */
    tg_activation activation; /* 0: gelu_exact */
    bool recompute;           /* checkpoint: nothing inside the block is stored; a backward pass recomputes it */
} tg_conv_block_config;

/* NULL, or the error in the configuration. */
const char *tg_conv_block_config_error(const tg_conv_block_config *config);

typedef struct tg_conv_block {
    tg_conv_block_config config;
    tg_convolution conv; /* with a bias only without a norm, which would remove it */
    tg_norm_layer norm;
    tg_activation_numbers numbers; /* trained numbers of a formula */
} tg_conv_block;

/* Adds NAME.conv.* and NAME.norm.*. The set remembers errors. If the configuration is wrong, nothing is added, and
 * forward reports it. */
tg_conv_block tg_conv_block_add(tg_parameters *set, const char *name, const tg_conv_block_config *config);

/* x [batch, inputs, height, width] -> [batch, outputs, height / stride, width / stride], rounded up. `training` is the
 * generator of a training pass, NULL means evaluation. */
tg_tensor tg_conv_block_forward(const tg_conv_block *block, tg_tensor x, tg_rng *training);

TG_API_END
#endif
