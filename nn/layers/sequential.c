#include "nn/layers/sequential.h"

#include "nn/layers/dropout.h"
#include "nn/layers/layer_internal.h"

#include <stdio.h>

/* ---- layers ---- */

static tg_tensor linear(const tg_layer *self, tg_tensor x, tg_rng *training)
{
    (void)training;
    return tg_linear_layer_forward(self->layer, x);
}

tg_layer tg_sequential_linear(const tg_linear_layer *layer)
{
    return (tg_layer){.forward = linear, .layer = layer};
}

static tg_tensor embedding(const tg_layer *self, tg_tensor index, tg_rng *training)
{
    (void)training;
    return tg_embedding_layer_forward(self->layer, index);
}

tg_layer tg_sequential_embedding(const tg_embedding_layer *layer)
{
    return (tg_layer){.forward = embedding, .layer = layer};
}

static tg_tensor norm(const tg_layer *self, tg_tensor x, tg_rng *training)
{
    return tg_norm_layer_forward(self->layer, x, training);
}

tg_layer tg_sequential_norm(const tg_norm_layer *layer)
{
    return (tg_layer){.forward = norm, .layer = layer};
}

static tg_tensor convolution(const tg_layer *self, tg_tensor x, tg_rng *training)
{
    (void)training;
    return tg_convolution_forward(self->layer, x);
}

tg_layer tg_sequential_convolution(const tg_convolution *layer)
{
    return (tg_layer){.forward = convolution, .layer = layer};
}

static tg_tensor conv_block(const tg_layer *self, tg_tensor x, tg_rng *training)
{
    return tg_conv_block_forward(self->layer, x, training);
}

tg_layer tg_sequential_conv_block(const tg_conv_block *block)
{
    return (tg_layer){.forward = conv_block, .layer = block};
}

static tg_tensor attention(const tg_layer *self, tg_tensor x, tg_rng *training)
{
    return tg_attention_forward(self->layer, x, NULL, training);
}

tg_layer tg_sequential_attention(const tg_attention *layer)
{
    return (tg_layer){.forward = attention, .layer = layer};
}

static tg_tensor feed_forward(const tg_layer *self, tg_tensor x, tg_rng *training)
{
    return tg_feed_forward_forward(self->layer, x, training);
}

tg_layer tg_sequential_feed_forward(const tg_feed_forward *block)
{
    return (tg_layer){.forward = feed_forward, .layer = block};
}

/* ---- layers without parameters ---- */

static tg_tensor activation(const tg_layer *self, tg_tensor x, tg_rng *training)
{
    return tg_activate_halves(self->activation, x, -1, training);
}

tg_layer tg_sequential_activation(tg_activation kind)
{
    return (tg_layer){.forward = activation, .activation = kind};
}

static tg_tensor dropout(const tg_layer *self, tg_tensor x, tg_rng *training)
{
    return tg_dropout_forward(x, self->rate, training);
}

tg_layer tg_sequential_dropout(double rate)
{
    return (tg_layer){.forward = dropout, .rate = rate};
}

static tg_tensor max_pool2d(const tg_layer *self, tg_tensor x, tg_rng *training)
{
    (void)training;
    return tg_max_pool2d(x, self->kernel[0], self->kernel[1], self->window);
}

tg_layer tg_sequential_max_pool2d(int kernel_height, int kernel_width, tg_window window)
{
    return (tg_layer){.forward = max_pool2d, .kernel = {kernel_height, kernel_width}, .window = window};
}

static tg_tensor average_pool2d(const tg_layer *self, tg_tensor x, tg_rng *training)
{
    (void)training;
    return tg_average_pool2d(x, self->kernel[0], self->kernel[1], self->window);
}

tg_layer tg_sequential_average_pool2d(int kernel_height, int kernel_width, tg_window window)
{
    return (tg_layer){.forward = average_pool2d, .kernel = {kernel_height, kernel_width}, .window = window};
}

static tg_tensor flatten(const tg_layer *self, tg_tensor x, tg_rng *training)
{
    (void)self, (void)training;
    int64_t columns = 1;
    for (int axis = 1; axis < tg_rank(x); axis++)
        columns *= tg_dim(x, axis);
    return tg_reshape(x, TG_SHAPE(tg_rank(x) > 0 ? tg_dim(x, 0) : 1, columns));
}

tg_layer tg_sequential_flatten(void)
{
    return (tg_layer){.forward = flatten};
}

/* ---- one after the other ---- */

static tg_tensor sequence(const tg_layer *self, tg_tensor x, tg_rng *training)
{
    return tg_sequential_forward(self->layer, self->count, x, training);
}

tg_layer tg_sequential_of(const tg_layer *layers, int count)
{
    return (tg_layer){.forward = sequence, .layer = layers, .count = count};
}

static tg_tensor forward(const void *self, tg_tensor x, tg_rng *training)
{
    const tg_layer *layer = self;
    const tg_tensor y = layer->forward(layer, x, training);
    return layer->residual ? tg_add(x, y) : y;
}

tg_tensor tg_sequential_forward(const tg_layer *layers, int count, tg_tensor x, tg_rng *training)
{
    tg_tape *tape = tg_tape_of(x);
    for (int i = 0; i < count; i++) {
        const tg_layer *layer = layers ? &layers[i] : NULL;
        if (!layer || !layer->forward) {
            tg_tape_fail(tape, "tg_sequential_forward: layer %d has no forward function", i);
            return TG_NONE;
        }
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        tg_scope_begin(tape, layer->name ? layer->name : number);
        x = tg_layer_call(forward, layer, x, training, layer->recompute);
        tg_scope_end(tape);
    }
    return x;
}
