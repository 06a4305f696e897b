/* Layers one after the other, as in PyTorch's nn.Sequential.
 *
 *     tg_linear_layer first = tg_linear_layer_add(set, "0", 784, 128, true), last = tg_linear_layer_add(set, "3", 128,
 * 10, true); const tg_layer net[] = { tg_sequential_linear(&first), tg_sequential_activation(TG_GELU_EXACT),
 * tg_sequential_dropout(0.1), tg_sequential_linear(&last)}; tg_tensor logits = tg_sequential_forward(net, 4, x,
 * &training);      // [batch, 784] -> [batch, 10]
 *
 * A tg_layer (nn/layers/layer.h, which shows how to write one) points to a layer, which must outlive it; nothing is
 * owned.
 *
 * Around any of them may go a residual sum, and any may be recomputed instead of stored:
 *
 *     tg_layer block = tg_sequential_feed_forward(&mlp);
 *     block.residual = block.recompute = true;                             // x + mlp(x), of which only the sum is kept
 */
#ifndef TG_SEQUENTIAL_H
#define TG_SEQUENTIAL_H

#include "nn/layers/block.h"
#include "nn/layers/conv_block.h"
#include "nn/layers/embedding.h"
#include "nn/layers/layer.h"

TG_API_BEGIN

/* The library's layers. */
tg_layer tg_sequential_linear(const tg_linear_layer *layer);
tg_layer tg_sequential_hidden(const tg_hidden_layer *layer);
tg_layer tg_sequential_embedding(const tg_embedding_layer *layer);
tg_layer tg_sequential_norm(const tg_norm_layer *layer);
tg_layer tg_sequential_convolution(const tg_convolution *layer);
tg_layer tg_sequential_conv_block(const tg_conv_block *block);
tg_layer tg_sequential_attention(const tg_attention *attention);
tg_layer tg_sequential_feed_forward(const tg_feed_forward *block);
tg_layer tg_sequential_block(const tg_block *block);

/* Layers without parameters. An activation that is gated takes halves of the last axis, value and gate, as PyTorch's
 * nn.GLU; pools slide windows over images; flatten makes [batch, ...] a matrix [batch, all the rest]. */
tg_layer tg_sequential_activation(tg_activation activation);
tg_layer tg_sequential_dropout(double rate);
tg_layer tg_sequential_max_pool2d(int kernel_height, int kernel_width, tg_window window);
tg_layer tg_sequential_average_pool2d(int kernel_height, int kernel_width, tg_window window);
tg_layer tg_sequential_flatten(void);

/* Layers as one layer: a part of a larger net. The array must outlive it. */
tg_layer tg_sequential_of(const tg_layer *layers, int count);

/* x through all of them, each in a scope of its name. `training` is the generator of a training pass, NULL means
 * evaluation. Without layers, x itself. A layer without a kind is an error of the tape. */
tg_tensor tg_sequential_forward(const tg_layer *layers, int count, tg_tensor x, tg_rng *training);

TG_API_END
#endif
