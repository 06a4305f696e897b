/* Layers one after the other, as in PyTorch's nn.Sequential.
 *
 *     tg_linear_layer first = tg_linear_layer_add(set, "0", 784, 128, true), last = tg_linear_layer_add(set, "3", 128,
 * 10, true); const tg_layer net[] = { tg_sequential_linear(&first), tg_sequential_activation(TG_GELU_EXACT),
 * tg_sequential_dropout(0.1), tg_sequential_linear(&last)}; tg_tensor logits = tg_sequential_forward(net, 4, x,
 * &training);      // [batch, 784] -> [batch, 10]
 *
 * A tg_layer is a plain struct that points to a layer, which must outlive it; nothing is owned. A layer of one's own
 * has a forward function of its own:
 *
 *     static tg_tensor scale_forward(const tg_layer *self, tg_tensor x, tg_rng *training)
 *     {
 *         const my_scale *scale = self->layer;
 *         ...
 *     }
 *     const tg_layer mine = {.forward = scale_forward, .layer = &scale};
 *
 * Around any of them may go a residual sum, and any may be recomputed instead of stored:
 *
 *     tg_layer block = tg_sequential_feed_forward(&mlp);
 *     block.residual = block.recompute = true;                             // x + mlp(x), of which only the sum is kept
 */
#ifndef TG_SEQUENTIAL_H
#define TG_SEQUENTIAL_H

#include "nn/layers/attention.h"
#include "nn/layers/conv_block.h"
#include "nn/layers/embedding.h"
#include "nn/layers/feed_forward.h"

TG_API_BEGIN

typedef struct tg_layer tg_layer;
struct tg_layer {
    tg_tensor (*forward)(const tg_layer *self, tg_tensor x, tg_rng *training);
    const void *layer;        /* borrowed */
    const char *name;         /* for errors and listings; NULL: its number, "0" at first */
    bool residual;            /* x + forward(x), which must be like x */
    bool recompute;           /* nothing inside is stored: a backward pass computes it again, tg_checkpoint */
    tg_activation activation; /* what layers without parameters need: */
    double rate;
    int kernel[2];
    tg_window window;
    int count;
};

/* The library's layers. */
tg_layer tg_sequential_linear(const tg_linear_layer *layer);
tg_layer tg_sequential_embedding(const tg_embedding_layer *layer);
tg_layer tg_sequential_norm(const tg_norm_layer *layer);
tg_layer tg_sequential_convolution(const tg_convolution *layer);
tg_layer tg_sequential_conv_block(const tg_conv_block *block);
tg_layer tg_sequential_attention(const tg_attention *attention); /* without padding and rotary positions */
tg_layer tg_sequential_feed_forward(const tg_feed_forward *block);

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
 * evaluation. Without layers, x itself. A layer without a forward function is an error of the tape. */
tg_tensor tg_sequential_forward(const tg_layer *layers, int count, tg_tensor x, tg_rng *training);

TG_API_END
#endif
