/* What layers and blocks have in common. Internal to nn. */
#ifndef TG_LAYER_INTERNAL_H
#define TG_LAYER_INTERNAL_H

#include "autograd/grad.h"
#include "autograd/parameters.h"
#include "nn/activation.h"

/* The name of a part, "layers.0.weight" or "layers.0.norm1". It lasts for the call that it is written in:
 *
 *     layer.weight = tg_parameters_add(set, tg_name_in(name, "weight").text, shape, true);
 *
 * What does not fit is too long for the set as well, which says so. NULL is no name. */
typedef struct tg_name {
    char text[TG_NAME_SIZE + 1];
} tg_name;

tg_name tg_name_in(const char *name, const char *part);

/* forward(layer, x, training). With `recompute` nothing inside is stored, and a backward pass computes it again:
 * tg_checkpoint. */
typedef tg_tensor (*tg_layer_function)(const void *layer, tg_tensor x, tg_rng *training);

tg_tensor tg_layer_call(tg_layer_function forward, const void *layer, tg_tensor x, tg_rng *training, bool recompute);

/* f(x); of a gated activation the product of two halves of x along the axis, in PyTorch's order: value f(gate). */
tg_tensor tg_activate_halves(tg_activation activation, tg_tensor x, int axis, tg_rng *training);

#endif
