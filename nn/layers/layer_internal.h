/* Shared by layers and blocks. Internal to nn. */
#ifndef TG_LAYER_INTERNAL_H
#define TG_LAYER_INTERNAL_H

#include "autograd/grad.h"
#include "nn/config_internal.h"
#include "nn/layers/layer.h"

/* forward(layer, x, pass); with `recompute` as a checkpoint: nothing inside is stored, and a backward pass recomputes
 * it. */
typedef tg_tensor (*tg_layer_function)(const void *layer, tg_tensor x, tg_layer_pass *pass);

tg_tensor tg_layer_call(tg_layer_function forward, const void *layer, tg_tensor x, tg_layer_pass *pass, bool recompute);

/* True if the layer was added; false, with an error on the tape, if its weight is NULL. */
bool tg_layer_has(tg_tape *tape, const char *function, const tg_parameter *weight);

/* Runs x through layers, each in a scope of its name. */
tg_tensor tg_layers_forward(const tg_layer *layers, int count, tg_tensor x, tg_layer_pass *pass);

/* The part of a pass that attention of a sequence to itself uses. */
static inline tg_attention_context tg_context_of(const tg_layer_pass *pass)
{
    return (tg_attention_context){.padding = pass->padding,
                                  .rotary = pass->rotary.cosine.value ? &pass->rotary : NULL,
                                  .bias = pass->bias,
                                  .past = pass->past};
}

/* f(x); for a gated activation x is split in halves along the axis, value and gate as in PyTorch: value f(gate). */
tg_tensor tg_activate_halves(tg_activation activation, const tg_activation_numbers *numbers, tg_tensor x, int axis,
                             tg_rng *training);

/* Shapes of x for samples: rows of features, images, sequences of 4 features. */
extern const tg_shape tg_sample_rows[], tg_sample_images[], tg_sample_sequences[];

static inline int64_t tg_last(const tg_shape *x)
{
    return x->dim[x->rank - 1];
}

#endif
