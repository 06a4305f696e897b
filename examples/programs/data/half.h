/* Rounding to the two 16-bit formats of networks: IEEE 754's binary16 (f16) and bfloat16 (bf16).
 *
 *     float seen = half_bf16_round(0.1f);           // 0.10009765625, the value that a program with bf16 uses
 *
 * Rounding is to nearest, ties to even. Overflow gives infinity: from 65520 on in f16. NaN stays NaN.
 */
#ifndef DATA_HALF_H
#define DATA_HALF_H

#include <math.h>

/* The nearest number of this many digits that is a multiple of 2^least; infinite if it is above `most`. */
static inline float half_round(float x, int digits, int least, double most)
{
    int exponent;
    if (x == 0 || !isfinite(x))
        return x;
    frexp((double)x, &exponent); /* x is less than 2^exponent */
    const double unit = ldexp(1, exponent - digits > least ? exponent - digits : least);
    const double nearest = unit * rint((double)x / unit);
    return (float)(fabs(nearest) > most ? copysign((double)INFINITY, nearest) : nearest);
}

static inline float half_f16_round(float x)
{
    return half_round(x, 11, -24, 65504);
}

static inline float half_bf16_round(float x)
{
    return half_round(x, 8, -133, 0x1.fep127);
}

#endif
