#include "nn/layer_internal.h"

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
    return recompute ? tg_checkpoint(in_checkpoint, &x, 1, &(call){forward, layer, training}) : forward(layer, x, training);
}
