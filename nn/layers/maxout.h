/* Maxout: a layer that learns its activation, the maximum of several linear pieces (Goodfellow, Warde-Farley, Mirza,
 * Courville and Bengio, "Maxout Networks", arXiv 1302.4389, 2013).
 *
 *     y[j] = max over k of (x W^T + b)[j pieces + k]
 *
 *     tg_maxout layer = tg_maxout_add(set, "layers.0", 784, 128, 2);
 *     tg_tensor y = tg_maxout_forward(&layer, x);                         // [..., 784] -> [..., 128]
 */
#ifndef TG_MAXOUT_H
#define TG_MAXOUT_H

#include "nn/layers/linear.h"

TG_API_BEGIN

typedef struct tg_maxout {
    tg_linear_layer linear; /* weight [outputs pieces, inputs], bias [outputs pieces] */
    int64_t outputs, pieces;
} tg_maxout;

/* Adds NAME.weight, whose initial gain is 1 (nn/init.h), which preserves the mean square for two pieces, and NAME.bias.
 * The set remembers errors. */
tg_maxout tg_maxout_add(tg_parameters *set, const char *name, int64_t inputs, int64_t outputs, int64_t pieces);

/* [..., inputs] -> [..., outputs]. Of equal pieces the first gets the gradient. */
tg_tensor tg_maxout_forward(const tg_maxout *layer, tg_tensor x);

TG_API_END
#endif
