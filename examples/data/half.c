#include "examples/data/half.h"

#include <string.h>

/* f16: 1 bit of sign, 5 of exponent (bias 15), 10 of fraction; f32: 1, 8 (bias 127), 23; bf16: the upper half of f32.
 */
enum { F32_INFINITE = 0x7f800000, F16_INFINITE = 0x7c00, FRACTION_SHIFT = 23 - 10, BIAS = (127 - 15) << 23 };
enum { F16_LEAST_NORMAL = BIAS + (1 << 23) /* 2^-14, as the bits of a float */ };

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Drops the lowest bits; to nearest, ties to even. A carry into the exponent is right. */
static uint32_t drop(uint32_t bits, int count)
{
    return (bits + (1u << (count - 1)) - 1 + (bits >> count & 1)) >> count;
}

uint16_t half_bf16_bits(float x)
{
    const uint32_t bits = bits_of(x);
    return (uint16_t)(x != x ? bits >> 16 | 1 << 6 : drop(bits, 16));
}

float half_bf16_value(uint16_t bits)
{
    return float_of((uint32_t)bits << 16);
}

uint16_t half_f16_bits(float x)
{
    const uint32_t bits = bits_of(x), magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
    uint32_t half;
    if (magnitude > F32_INFINITE)
        half = F16_INFINITE | 1 << 9 | (magnitude >> FRACTION_SHIFT & 0x3ff);
    else if (magnitude < F16_LEAST_NORMAL) /* floats from 0.5 to 1 have the spacing of f16's subnormals, 2^-24 */
        half = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
    else if (magnitude >= BIAS + ((uint32_t)F16_INFINITE << FRACTION_SHIFT))
        half = F16_INFINITE;
    else
        half = drop(magnitude - BIAS, FRACTION_SHIFT);
    return (uint16_t)(sign | half);
}

float half_f16_value(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    if (magnitude < 1 << 10)
        return float_of(bits_of((float)magnitude * 0x1p-24f) | sign);
    const uint32_t bias = magnitude < F16_INFINITE ? BIAS : 2 * BIAS;
    return float_of(((magnitude << FRACTION_SHIFT) + bias) | sign);
}
