/* The two 16-bit formats of networks: IEEE 754's binary16 (f16) and bfloat16 (bf16).
 *
 *     uint16_t stored = half_f16_bits(0.1f);        // 0x2e66
 *     float back = half_f16_value(stored);          // 0.0999755859375
 *     float seen = half_bf16_round(0.1f);           // 0.10009765625, the value that a program with bf16 uses
 *
 * Rounding is to nearest, ties to even. Overflow gives infinity: from 65520 on in f16. NaN stays NaN.
 */
#ifndef DATA_HALF_H
#define DATA_HALF_H

#include <stdint.h>

/* The bits of the nearest number of the format. */
uint16_t half_f16_bits(float x);
uint16_t half_bf16_bits(float x);

/* The number with these bits; exact. */
float half_f16_value(uint16_t bits);
float half_bf16_value(uint16_t bits);

/* The nearest number of the format. */
static inline float half_f16_round(float x)
{
    return half_f16_value(half_f16_bits(x));
}

static inline float half_bf16_round(float x)
{
    return half_bf16_value(half_bf16_bits(x));
}

#endif
