#include "nn/layers/sequential.h"

#include "autograd/ops.h"
#include "nn/layers/layer_internal.h"

#define TG_LAYER(name)
#define TG_LAYER_OF(name, type)                                       \
    tg_layer tg_sequential_##name(const struct type *layer)           \
    {                                                                 \
        return (tg_layer){.kind = &tg_##name##_kind, .layer = layer}; \
    }
#include "nn/layers/layers.def"

tg_layer tg_sequential_activation(tg_activation activation)
{
    return (tg_layer){.kind = &tg_activation_kind, .activation = activation};
}

#if !defined TG_NO_WINDOWS

static tg_layer pool(bool average, int kernel_height, int kernel_width, tg_window window)
{
    return (tg_layer){
        .kind = &tg_pool_kind, .count = average, .kernel = {kernel_height, kernel_width}, .window = window};
}

tg_layer tg_sequential_max_pool2d(int kernel_height, int kernel_width, tg_window window)
{
    return pool(false, kernel_height, kernel_width, window);
}

tg_layer tg_sequential_average_pool2d(int kernel_height, int kernel_width, tg_window window)
{
    return pool(true, kernel_height, kernel_width, window);
}

#endif

tg_layer tg_sequential_flatten(void)
{
    return (tg_layer){.kind = &tg_flatten_kind};
}

tg_layer tg_sequential_of(const tg_layer *layers, int count)
{
    return (tg_layer){.kind = &tg_sequential_kind, .layer = layers, .count = count};
}

tg_tensor tg_sequential_forward(const tg_layer *layers, int count, tg_tensor x, tg_rng *training)
{
    return tg_layers_forward(layers, count, x, &(tg_layer_pass){training});
}

/* ---- layers without parameters ---- */

static tg_tensor activation(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    return tg_activate_halves(self->activation, NULL, x, -1, pass->training);
}

static tg_layer add_activation(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    (void)layer, (void)set, (void)name, (void)x;
    return tg_sequential_activation(sample == 0 ? TG_SOFTPLUS : TG_GLU);
}

static const tg_shape even[] = {{2, {3, 4}}, {3, {2, 3, 2}}, {0}};

static const tg_layer_sample activation_samples[] = {
    {"softplus", "a function of each number", even}, {"glu", "a product of two halves", even}, {0}};

const tg_layer_kind tg_activation_kind = {"activation", "layer", 0, activation, add_activation, activation_samples};

#if !defined TG_NO_WINDOWS

static tg_tensor pooled(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    (void)pass;
    return (self->count ? tg_average_pool2d : tg_max_pool2d)(x, self->kernel[0], self->kernel[1], self->window);
}

static tg_layer add_pool(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    (void)layer, (void)set, (void)name, (void)x;
    return pool(sample == 1, 3, 2, (tg_window){.stride = {1, 1}, .padding = {1, 1}});
}

static const tg_layer_sample pool_samples[] = {
    {"max", "the maximum of a window", tg_sample_images}, {"average", "its mean", tg_sample_images}, {0}};

const tg_layer_kind tg_pool_kind = {"pool", "layer", 0, pooled, add_pool, pool_samples};

#endif

static tg_tensor flatten(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    int64_t columns = 1;
    (void)self, (void)pass;
    for (int axis = 1; axis < tg_rank(x); axis++)
        columns *= tg_dim(x, axis);
    return tg_reshape(x, TG_SHAPE(tg_rank(x) > 0 ? tg_dim(x, 0) : 1, columns));
}

static tg_layer add_flatten(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    (void)layer, (void)set, (void)name, (void)x, (void)sample;
    return tg_sequential_flatten();
}

static const tg_layer_sample flatten_samples[] = {{"", "a matrix [batch, all the rest]", tg_sample_images}, {0}};

const tg_layer_kind tg_flatten_kind = {"flatten", "layer", 0, flatten, add_flatten, flatten_samples};
