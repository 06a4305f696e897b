/* Layers one after the other, as in PyTorch's nn.Sequential.
 *
 *     tg_linear_layer first = tg_linear_layer_add(set, "0", 784, 128, true);
 *     tg_linear_layer last = tg_linear_layer_add(set, "3", 128, 10, true);
 *     const tg_layer net[] = {tg_sequential_linear(&first), tg_sequential_activation(TG_GELU_EXACT),
 *                             tg_sequential_dropout(0.1), tg_sequential_linear(&last)};
 *     tg_tensor logits = tg_sequential_forward(net, 4, x, &training);               // [batch, 784] -> [batch, 10]
 *
 * A tg_layer (nn/layers/layer.h shows how to write one) points to a layer that must outlive it; it owns nothing.
 *
 * Any of them may have a residual connection, and may be recomputed instead of stored:
 *
 *     tg_layer block = tg_sequential_feed_forward(&mlp);
 *     block.residual = block.recompute = true;                             // x + mlp(x); only the sum is stored
 */
#ifndef TG_SEQUENTIAL_H
#define TG_SEQUENTIAL_H

#include "nn/activation.h"
#include "nn/layers/dropout.h"

TG_API_BEGIN

#define TG_LAYER(name)
#define TG_LAYER_OF(name, type) struct type; /* in a header of its own */
#include "nn/layers/layers.def"

/* A layer with parameters: tg_sequential_linear(&linear), tg_sequential_norm(&norm), ..., one function for each
 * TG_LAYER_OF of layers.def. */
#define TG_LAYER(name)
#define TG_LAYER_OF(name, type) tg_layer tg_sequential_##name(const struct type *layer);
#include "nn/layers/layers.def"

/* Layers without parameters. A gated activation takes halves of the last axis, value and gate, as PyTorch's nn.GLU.
 * Pools slide windows over images. Flatten makes [batch, ...] a matrix [batch, all the rest]. */
tg_layer tg_sequential_activation(tg_activation activation);
tg_layer tg_sequential_max_pool2d(int kernel_height, int kernel_width, tg_window window);
tg_layer tg_sequential_average_pool2d(int kernel_height, int kernel_width, tg_window window);
tg_layer tg_sequential_flatten(void);

/* Several layers as one layer, for a part of a larger net. The array must outlive it. */
tg_layer tg_sequential_of(const tg_layer *layers, int count);

/* Passes x through all layers, each in a scope of its name. `training` is the generator of a training pass, NULL means
 * evaluation. Without layers it returns x itself. A layer without a kind is an error of the tape. */
tg_tensor tg_sequential_forward(const tg_layer *layers, int count, tg_tensor x, tg_rng *training);

TG_API_END
#endif
