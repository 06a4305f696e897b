/* The floating type that a file of kernels is compiled for. The Makefile says which: TG_REAL_f32 or TG_REAL_f64. All
 * that depends on the type is here and in coefficients.inc; a third type is a block in each, a word in the Makefile and
 * a line in kernels.c. Constants in pairs are a number and its rounding error. */
#ifndef TG_REAL_H
#define TG_REAL_H

#include <float.h>
#include <stdint.h>

#if defined TG_REAL_f32

typedef float tg_real;
typedef uint32_t real_bits; /* its bits */
#define REAL_FMA(a, b, c) __builtin_fmaf(a, b, c)
#define REAL_SQRT(x)      __builtin_sqrtf(x)
#define MANTISSA_BITS     23
#define ONE_BITS          0x3f800000u
#define SQRT_HALF_BITS    0x3f3504f3u
#define ROUNDING          0x1.8p23f /* adding it leaves an integer in the low bits of the sum */
#define LARGEST           FLT_MAX
#define SMALLEST_NORMAL   FLT_MIN
#define HALF_PER_LN2      0x1.715476p-1f
#define TWO_LN2_HIGH      0x1.62e4p0f /* its products with the integers that occur are exact */
#define TWO_LN2_LOW       0x1.7f7d1cp-19f
#define LN2_HIGH          0x1.62e4p-1f
#define LN2_LOW           0x1.7f7d1cp-20f
#define DENSITY           0x1.988454p-2f /* 1 / sqrt(2 pi) */
#define DENSITY_LOW       (-0x1.857936p-27f)
#define XIELU_ALPHA       0x1.99999ap-1f /* 0.8 */
#define XIELU_ALPHA_LOW   (-0x1.99999ap-27f)
#define SELU_ALPHA        0x1.c212ccp0f /* scale times alpha of selu */
#define SELU_ALPHA_LOW    0x1.903c0cp-26f
#define ERF_SLOPE         0x1.20dd76p0f /* 2 / sqrt(pi) */
#define ERF_SLOPE_LOW     (-0x1.f7ac92p-25f)
#define QUICK             0x1.b3b646p0f /* 1.702 */
#define QUICK_LOW         (-0x1.78d4fep-26f)
#define TANH_A            0x1.98845p+0f /* 2 sqrt(2/pi), with so few bits that a - (a + b t^2) is exact */
#define TANH_A_LOW        0x1.9ea1b2p-23f
#define TANH_B            0x1.2444f2p-4f /* 0.044715 of it */
#define TANH_B_LOW        0x1.49b16ap-29f
/* Beyond these arguments results are 0, 1 or infinite. */
#define EXP_LOWEST       (-120)
#define EXP_HIGHEST      100
#define EXPM1_LOWEST     (-20)
#define ERF_REACH        5
#define ERFC_REACH       10.5f
#define GELU_EXACT_REACH 15
#define GELU_TANH_REACH  11.25f
#define GELU_QUICK_REACH 70
#define SILU_REACH       119
#define LAST_EXPONENT    64 /* exponent of the factor of e^-x that is multiplied last */
#define LAST             0x1p-64f
#define VALUE_TAKES_REST 0 /* whether gelu_exact adds the rounding error of the sum of its relative errors */
#define COMPARES_BITS    1 /* whether comparing integers of this width is cheap on older processors */
#define UNIT_OF(bits)    ((float)(int32_t)((bits) >> 8) * 0x1p-24f) /* a random word as a number in [0, 1) */

#elif defined TG_REAL_f64

typedef double tg_real;
typedef uint64_t real_bits;
#define REAL_FMA(a, b, c) __builtin_fma(a, b, c)
#define REAL_SQRT(x)      __builtin_sqrt(x)
#define MANTISSA_BITS     52
#define ONE_BITS          0x3ff0000000000000u
#define SQRT_HALF_BITS    0x3fe6a09e667f3bcdu
#define ROUNDING          0x1.8p52
#define LARGEST           DBL_MAX
#define SMALLEST_NORMAL   DBL_MIN
#define HALF_PER_LN2      0x1.71547652b82fep-1
#define TWO_LN2_HIGH      0x1.62e42fefa38p0
#define TWO_LN2_LOW       0x1.ef35793c7673p-44
#define LN2_HIGH          0x1.62e42fefa38p-1
#define LN2_LOW           0x1.ef35793c7673p-45
#define DENSITY           0x1.9884533d43651p-2
#define DENSITY_LOW       (-0x1.cbc0d30ebfd15p-56)
#define XIELU_ALPHA       0x1.999999999999ap-1
#define XIELU_ALPHA_LOW   (-0x1.999999999999ap-55)
#define SELU_ALPHA        0x1.c212cc640f031p0
#define SELU_ALPHA_LOW    0x1.06306b9982b63p-56
#define ERF_SLOPE         0x1.20dd750429b6dp0
#define ERF_SLOPE_LOW     0x1.1ae3a914fed8p-56
#define QUICK             0x1.b3b645a1cac08p0
#define QUICK_LOW         0x1.89374bc6a7efap-55
#define TANH_A            0x1.9884533d4364p+0
#define TANH_A_LOW        0x1.08d0fcb3c500cp-48
#define TANH_B            0x1.2444f2a4d8b4bp-4
#define TANH_B_LOW        (-0x1.6c843a29d1c7p-61)
#define EXP_LOWEST        (-770)
#define EXP_HIGHEST       720
#define EXPM1_LOWEST      (-40)
#define ERF_REACH         7
#define ERFC_REACH        27.5
#define GELU_EXACT_REACH  39
#define GELU_TANH_REACH   21.75
#define GELU_QUICK_REACH  452
#define SILU_REACH        769
#define LAST_EXPONENT     512
#define LAST              0x1p-512
#define VALUE_TAKES_REST  1
#define COMPARES_BITS     0
#define UNIT_OF(bits)     ((double)(bits)*0x1p-32)

#else
#error "kernels are compiled for TG_REAL_f32 or TG_REAL_f64"
#endif
#endif
