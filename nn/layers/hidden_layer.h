/* A linear layer followed by an activation, act(x W^T + b), or a gated product, act(x W^T + b) (x V^T + c); with a
 * normalisation inside, act(norm(x W^T + b)) and so on.
 *
 *     tg_hidden_layer layer = tg_hidden_layer_add(set, "layers.0", 784, 128, TG_SWIGLU, true);
 *     layer.norm = tg_norm_layer_add(set, "layers.0.gate_norm", TG_NORM_RMS, 128, 0);     // optional
 *     tg_tensor h = tg_hidden_layer_forward(&layer, x, NULL, NULL);       // [..., 784] -> [..., 128]
 */
#ifndef TG_HIDDEN_LAYER_H
#define TG_HIDDEN_LAYER_H

#include "nn/activation.h"
#include "nn/init.h"
#include "nn/layers/linear.h"
#include "nn/layers/layer.h"
#include "nn/layers/norm.h"

TG_API_BEGIN

typedef struct tg_hidden_layer {
    tg_activation activation;
    tg_linear_layer linear;        /* W: the activation is applied to its result, */
    tg_norm_layer norm;            /* normalised by this; empty at first: not normalised */
    tg_activation_numbers numbers; /* trained numbers of a formula */
    tg_linear_layer value;         /* V: its result is multiplied by the activation's; empty for a plain activation */
} tg_hidden_layer;

/* Adds NAME.weight and NAME.bias to the set; for a gated activation NAME.gate_proj.* and NAME.up_proj.*, as in the
 * files of such models. The set remembers errors. */
tg_hidden_layer tg_hidden_layer_add(tg_parameters *set, const char *name, int64_t inputs, int64_t outputs,
                                    tg_activation activation, bool bias);

/* [..., in] -> [..., out]. `training` is the generator of a training pass, NULL means evaluation. Unless
 * NULL, `preactivation` receives what the activation was applied to. */
tg_tensor tg_hidden_layer_forward(const tg_hidden_layer *layer, tg_tensor x, tg_rng *training,
                                  tg_tensor *preactivation);

TG_API_END
#endif
