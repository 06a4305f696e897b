#include "nn/layers/layer_internal.h"

#include <stdio.h>

tg_name tg_name_in(const char *name, const char *part)
{
    tg_name full;
    snprintf(full.text, sizeof full.text, "%s.%s", name ? name : "", part);
    return full;
}

typedef struct call {
    tg_layer_function forward;
    const void *layer;
    tg_rng *training;
} call;

static tg_tensor in_checkpoint(tg_tape *tape, const tg_tensor *x, int count, void *user)
{
    const call *c = user;
    (void)tape, (void)count;
    return c->forward(c->layer, *x, c->training);
}

tg_tensor tg_layer_call(tg_layer_function forward, const void *layer, tg_tensor x, tg_rng *training, bool recompute)
{
    return recompute ? tg_checkpoint(in_checkpoint, &x, 1, &(call){forward, layer, training})
                     : forward(layer, x, training);
}

tg_tensor tg_activate_halves(tg_activation activation, tg_tensor x, int axis, tg_rng *training)
{
    if (!tg_activation_is_gated(activation))
        return tg_activate(activation, x, training);
    tg_tensor half[2];
    tg_split(x, axis, 2, half);
    return tg_activate_gated(activation, half[1], half[0]);
}
