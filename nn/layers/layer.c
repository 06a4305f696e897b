#include "nn/layers/layer_internal.h"
#include "autograd/checkpoint.h"

#include "autograd/ops.h"

#include <stdio.h>

tg_name tg_name_in(const char *name, const char *part)
{
    tg_name full;
    snprintf(full.text, sizeof full.text, "%s.%s", name ? name : "", part);
    return full;
}

bool tg_layer_has(tg_tape *tape, const char *function, const tg_parameter *weight)
{
    if (!weight)
        tg_tape_fail(tape, "%s: the layer has no weight; tg_parameters_error says why", function);
    return weight;
}

typedef struct call {
    tg_layer_function forward;
    const void *layer;
    tg_layer_pass *pass;
} call;

static tg_tensor in_checkpoint(tg_tape *tape, const tg_tensor *x, int count, void *user)
{
    const call *c = user;
    (void)tape, (void)count;
    return c->forward(c->layer, *x, c->pass);
}

tg_tensor tg_layer_call(tg_layer_function forward, const void *layer, tg_tensor x, tg_layer_pass *pass, bool recompute)
{
    return recompute ? tg_checkpoint(in_checkpoint, &x, 1, &(call){forward, layer, pass}) : forward(layer, x, pass);
}

static tg_tensor forward_one(const void *self, tg_tensor x, tg_layer_pass *pass)
{
    const tg_layer *layer = self;
    const tg_tensor y = layer->kind->forward(layer, x, pass);
    return layer->residual ? tg_add(x, y) : y;
}

tg_tensor tg_layers_forward(const tg_layer *layers, int count, tg_tensor x, tg_layer_pass *pass)
{
    tg_tape *tape = tg_tape_of(x);
    for (int i = 0; i < count; i++) {
        const tg_layer *layer = layers ? &layers[i] : NULL;
        if (!layer || !layer->kind)
            return TG_FAIL(tape, "tg_sequential_forward: layer %d has no kind", i);
        char number[16] = "";
        if (!layer->name)
            snprintf(number, sizeof number, "%d", i);
        const char *name = layer->name ? layer->name : number;
        if (*name)
            tg_scope_begin(tape, name);
        x = tg_layer_call(forward_one, layer, x, pass, layer->recompute);
        if (*name)
            tg_scope_end(tape);
    }
    return x;
}

tg_tensor tg_activate_halves(tg_activation activation, const tg_activation_numbers *numbers, tg_tensor x, int axis,
                             tg_rng *training)
{
    tg_tensor half[2] = {TG_NONE, x};
    if (tg_activation_is_gated(activation))
        tg_split(x, axis, 2, half);
    return tg_activate_with(activation, numbers, half[1], half[0], training);
}

/* ---- the table ---- */

static const tg_layer_kind *const kinds[] = {
#define TG_LAYER(name) &tg_##name##_kind,
#include "nn/layers/layers.def"
};

const tg_layer_kind *tg_layer_kind_at(int index)
{
    return index >= 0 && index < (int)(sizeof kinds / sizeof kinds[0]) ? kinds[index] : NULL;
}

const tg_shape tg_sample_rows[] = {{2, {3, 4}}, {1, {3}}, {3, {2, 3, 2}}, {2, {1, 1}}, {2, {0, 3}}, {0}};
const tg_shape tg_sample_images[] = {{4, {2, 2, 4, 3}}, {4, {1, 4, 3, 5}}, {0}};
const tg_shape tg_sample_sequences[] = {{3, {2, 3, 4}}, {3, {1, 5, 4}}, {3, {1, 1, 4}}, {0}};
