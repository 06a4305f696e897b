/* The linear layer y = x W^T + b, as in PyTorch.
 *
 *     tg_linear_layer layer = tg_linear_layer_add(set, "layers.0", 784, 128, true); // with a bias
 *     tg_parameters_initialize(set, TG_INIT_XAVIER_UNIFORM, 1, &rng);
 *     tg_tensor y = tg_linear_layer_forward(&layer, x);       // [..., 784] -> [..., 128]
 *
 * A layer is a plain struct that points into a parameter set: copy it freely; two layers may share a parameter.
 *
 * In groups, each group of outputs reads its own group of inputs, as in PyTorch's grouped convolutions. So several
 * layers become one:
 *
 *     tg_linear_layer four = tg_linear_layer_add(set, "layers.1", 64, 4 * 32, true);          // weight [128, 64]
 *     four.groups = 4;                                                                // [..., 256] -> [..., 128]
 */
#ifndef TG_LINEAR_H
#define TG_LINEAR_H

#include "autograd/ops.h"
#include "autograd/parameters.h"
#include "nn/layers/layer.h"

TG_API_BEGIN

typedef struct tg_linear_layer {
    tg_parameter *weight; /* [out, in], or in groups [out, in / groups] */
    tg_parameter *bias;   /* [out], or NULL */
    int64_t groups;       /* 0: 1 */
} tg_linear_layer;

/* Adds NAME.weight, whose initial gain is 1 (nn/init.h), and, if `bias`, NAME.bias to the set, both zero. On an error
 * pointers are NULL, and the set remembers the error. */
tg_linear_layer tg_linear_layer_add(tg_parameters *set, const char *name, int64_t inputs, int64_t outputs, bool bias);

/* x W^T + b for x [..., in]. */
tg_tensor tg_linear_layer_forward(const tg_linear_layer *layer, tg_tensor x);

TG_API_END
#endif
