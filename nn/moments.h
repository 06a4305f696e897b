/* What a function does to a standard normal number, as the pre-activations of a net at its start are.
 *
 *     static tg_tensor cube(const void *user, tg_tensor x) { return tg_power(x, 3); }
 *
 *     tg_moments m;
 *     tg_moments_measure(cube, NULL, &m);            // m.square: 15, m.derivative_square: 27
 */
#ifndef TG_MOMENTS_H
#define TG_MOMENTS_H

#include "autograd/ops.h"

TG_API_BEGIN

typedef struct tg_moments {
    double mean, variance, square; /* E f, E f^2 - (E f)^2, E f^2 */
    double derivative_square;      /* E f'^2: what a layer does to the variance of gradients */
    double dead;                   /* share of z with f'(z) = 0 */
    /* The largest |f'| on [-8, 8], in steps of 0.001; infinite if it is larger at 1,000 or 10^6. */
    double largest_derivative;
} tg_moments;

/* Computes them in double, by integration: to about 14 digits, also with kinks. Where f has a pole or oscillates
 * without end they are rough. False, with nothing written, if f fails or if out of memory. */
bool tg_moments_measure(tg_tensor (*f)(const void *user, tg_tensor x), const void *user, tg_moments *moments);

TG_API_END
#endif
