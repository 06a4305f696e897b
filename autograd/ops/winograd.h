/* Convolutions of 3 x 3 windows with fewer multiplications, for convolution.c. Internal.
 *
 *     if (tg_winograd_suits(v))
 *         tg_winograd_convolve(v);    // as tg_convolve, or tg_winograd_correlate as tg_correlate
 *
 * Winograd's algorithm F(2 x 2, 3 x 3) computes the windows in tiles of two by two, which read 4 x 4 pixels. With small
 * fixed matrices B, G and A (kernels/product_winograd.h), and * element by element,
 *
 *     results          A^t [sum over c of (G weight[m, c] G^t) * (B^t pixels[c] B)] A
 *     gradient         G^t [sum over tiles of (B^t pixels[c] B) * (A cotangent[m] A^t)] G
 *
 * which are 16 multiplications for four windows instead of 36, and sums that are as much shorter. Each element of the
 * 16 matrices is a matrix product. (Lavin, Gray: "Fast Algorithms for Convolutional Neural Networks", 2016.)
 */
#ifndef TG_WINOGRAD_H
#define TG_WINOGRAD_H

#include "autograd/ops/conv_sum.h"

/* True for convolutions that this takes less time for. That depends on their shape alone, and not on the batch: so the
 * result for an image has the same bits in every batch and on every machine. */
bool tg_winograd_suits(const tg_conv_sum *v);

void tg_winograd_convolve(tg_conv_sum *v);
void tg_winograd_correlate(tg_conv_sum *v);

#endif
