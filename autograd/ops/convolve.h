/* The sums of convolutions, for convolution.c. Internal.
 *
 *     tg_conv_sum v = ...;      // shapes, distances and arrays
 *     tg_convolve(&v);          // out = image * weight + bias
 *     tg_correlate(&v);         // the gradient of the weights
 *     if (v.without_memory) ...
 */
#ifndef TG_CONVOLVE_H
#define TG_CONVOLVE_H

#include "autograd/ops/conv_sum.h"

/* The sum for `out`, over c, i, j, plus the bias unless that is NULL. */
void tg_convolve(tg_conv_sum *v);

/* The gradient of the weights, [groups m, c, i, j] in `out`: the sum of cotangent times image, over n, y, x. */
void tg_correlate(tg_conv_sum *v);

#endif
