/* A sequence of layers as one layer. Its sample begins with a convolution. */
#if !defined TG_NO_SAMPLES
#include "nn/layers/convolution.h"
#endif
#include "nn/layers/layer_internal.h"
#include "nn/layers/linear.h"
#include "nn/layers/norm.h"
#include "nn/layers/sequential.h"

#include <string.h>

static tg_tensor sequence(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    return tg_layers_forward(self->layer, self->count, x, pass);
}

#if !defined TG_NO_SAMPLES

/* A sample on images: a convolution, a pool, and then layers on rows. */
typedef struct sequence_sample {
    tg_convolution conv;
    tg_norm_layer norm;
    tg_linear_layer inner, last;
    tg_layer branch[2], net[8];
} sequence_sample;

static tg_layer add_sequence(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    sequence_sample *s = layer;
    (void)sample;
    s->conv = tg_convolution_add(set, tg_name_in(name, "0").text,
                                 &(tg_convolution_config){.inputs = x->dim[1], .outputs = 2, .kernel = {2, 2}});
    s->norm = tg_norm_layer_add(set, tg_name_in(name, "1").text, TG_NORM_LAYER, x->dim[3] - 1, 0);
    s->inner = tg_linear_layer_add(set, tg_name_in(name, "4").text, 2 * (x->dim[2] - 2) * (x->dim[3] - 2), 6, true);
    s->last = tg_linear_layer_add(set, tg_name_in(name, "6").text, 3, 3, false);
    s->branch[0] = tg_sequential_dropout(0.3);
    s->branch[1] = tg_sequential_activation(TG_TANH);
    const tg_layer net[] = {tg_sequential_convolution(&s->conv),
                            tg_sequential_norm(&s->norm),
                            tg_sequential_average_pool2d(2, 2, (tg_window){.stride = {1, 1}}),
                            tg_sequential_flatten(),
                            tg_sequential_linear(&s->inner),
                            tg_sequential_of(s->branch, 2),
                            tg_sequential_activation(TG_GLU),
                            tg_sequential_linear(&s->last)};
    memcpy(s->net, net, sizeof net);
    s->net[5].residual = s->net[5].recompute = true;
    return tg_sequential_of(s->net, 8);
}

static const tg_shape images[] = {{4, {2, 2, 4, 3}}, {4, {3, 1, 3, 4}}, {0}};

static const tg_layer_sample sequential_samples[] = {
    {"", "convolution, LayerNorm, pool, a recomputed residual GLU, linear", images, .training = true}, {0}};

#endif

const tg_layer_kind tg_sequential_kind = {
    .name = "sequential",
    .category = "block",
    .forward = sequence,
#if !defined TG_NO_SAMPLES
    .size = sizeof(sequence_sample),
    .add = add_sequence,
    .samples = sequential_samples,
#endif
};
