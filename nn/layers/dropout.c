#include "nn/layers/dropout.h"
#include "nn/layers/layer_internal.h"

tg_tensor tg_dropout_forward(tg_tensor x, double rate, tg_rng *training)
{
    if (!training || rate == 0)
        return x;
    return tg_dropout(x, tg_random_stream(tg_tape_of(x), training), rate);
}

static tg_tensor forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    return tg_dropout_forward(x, self->rate, pass->training);
}

tg_layer tg_sequential_dropout(double rate)
{
    return (tg_layer){.kind = &tg_dropout_kind, .rate = rate};
}

static tg_layer add(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    (void)layer, (void)set, (void)name, (void)x, (void)sample;
    return tg_sequential_dropout(0.3);
}

static const tg_shape shapes[] = {{2, {3, 4}}, {1, {3}}, {3, {2, 3, 2}}, {0}};

static const tg_layer_sample samples[] = {{"", "dropout in training", shapes, .training = true}, {0}};

const tg_layer_kind tg_dropout_kind = {"dropout", "layer", 0, forward, add, samples};
