/* GELU in its three forms, and SiLU, with first and second derivatives, as functions of one float or double. No number has
 * an error of more than 2 units in the last place, also far out in the tails and beside the zeros of the derivatives:
 * docs/exactness.md of tapegrad has the largest error of each function.
 *
 *     #include "gelu.h"
 *     float y = gelu_exact_f32(x), slope = gelu_exact_grad_f32(x), bend = gelu_exact_grad_grad_f32(x);
 *
 *     gelu_exact   x Phi(x) = x/2 erfc(-x / sqrt 2)
 *     gelu_tanh    x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
 *     gelu_quick   x / (1 + e^(-1.702 x))
 *     silu         x / (1 + e^-x)
 *
 * each with _grad and _grad_grad, and each of these with _f32 and _f64 (Hendrycks and Gimpel, 2016). C99, C++11, CUDA and
 * HIP; no tables, no state, no library but fmaf and fma of <math.h>, and these only where the processor has such an
 * instruction. Compilers must not reorder arithmetic (-ffast-math), nor keep floats in wider registers.
 *
 * Part of tapegrad, written by `make gelu-header` from the tables of its kernels: do not edit.
 *
 * MIT License
 *
 * Copyright (c) 2026 the tapegrad authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy
 * of this software and associated documentation files (the "Software"), to deal
 * in the Software without restriction, including without limitation the rights
 * to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
 * copies of the Software, and to permit persons to whom the Software is
 * furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all
 * copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
 * LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
 * SOFTWARE.
 */
/* clang-format off */
#ifndef TAPEGRAD_GELU_H
#define TAPEGRAD_GELU_H

#include <math.h>

#if defined __FAST_MATH__
#error "gelu.h does not give its digits with -ffast-math"
#endif
#if defined __FLT_EVAL_METHOD__ && (__FLT_EVAL_METHOD__ == 1 || __FLT_EVAL_METHOD__ == 2)
#error "gelu.h needs floats that are not computed in wider registers: -msse2 -mfpmath=sse"
#endif

/* Before each function; you may define it first. */
#if !defined GELU_H_FUNCTION
#if defined __CUDACC__ || defined __HIPCC__
#define GELU_H_FUNCTION static __host__ __device__ __forceinline__
#elif defined __GNUC__
#define GELU_H_FUNCTION static inline __attribute__((always_inline, unused))
#else
#define GELU_H_FUNCTION static inline
#endif
#endif

#if defined __CUDA_ARCH__ || defined __HIP_DEVICE_COMPILE__ || defined __FMA__ || defined __ARM_FEATURE_FMA || \
    (defined __FP_FAST_FMA && defined __FP_FAST_FMAF)
#define GELU_H_FMA 1
#else
#define GELU_H_FMA 0
#endif

/* ---- single precision ---- */

GELU_H_FUNCTION unsigned int gelu_h_bits_f32(float x)
{
#if defined __GNUC__
    unsigned int b;
    __builtin_memcpy(&b, &x, sizeof b);
    return b;
#else
    union {
        float x;
        unsigned int b;
    } both;
    both.x = x;
    return both.b;
#endif
}

GELU_H_FUNCTION float gelu_h_from_bits_f32(unsigned int b)
{
#if defined __GNUC__
    float x;
    __builtin_memcpy(&x, &b, sizeof x);
    return x;
#else
    union {
        float x;
        unsigned int b;
    } both;
    both.b = b;
    return both.x;
#endif
}

/* a b, which no compiler may fuse with a sum. */
GELU_H_FUNCTION float gelu_h_product_f32(float a, float b)
{
#if defined __clang__
#pragma clang fp contract(off)
#endif
#if defined __CUDA_ARCH__
    return __fmul_rn(a, b);
#else
    return a * b;
#endif
}

/* a b + c, rounded once where fused multiply-adds are fast, else twice. */
GELU_H_FUNCTION float gelu_h_fma_f32(float a, float b, float c)
{
#if GELU_H_FMA
    return fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

/* a b + c if c nearly cancels the product, without the rounding of the product. */
GELU_H_FUNCTION float gelu_h_residual_f32(float a, float b, float c)
{
#if GELU_H_FMA
    return fmaf(a, b, c);
#else
    /* Halves with so few bits that their products are exact (Dekker, 1971). */
    const unsigned int upper = ~(unsigned int)0 << 12;
    const float a1 = gelu_h_from_bits_f32(gelu_h_bits_f32(a) & upper), a2 = a - a1;
    const float b1 = gelu_h_from_bits_f32(gelu_h_bits_f32(b) & upper), b2 = b - b1;
    const float product = a * b;
    const float error = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
    return (product + c) + error;
#endif
}

/* a + b - sum, for the rounded sum. */
GELU_H_FUNCTION float gelu_h_lost_f32(float a, float b, float sum)
{
    const float back = sum - a;
    return (a - (sum - back)) + (b - back);
}

/* high (1 + more) + low, rounded about once. */
GELU_H_FUNCTION float gelu_h_assemble_f32(float high, float low, float more)
{
#if GELU_H_FMA
    return high + fmaf(high, more, low);
#else
    const float product = high * more, sum = product + low, rest = gelu_h_lost_f32(product, low, sum);
    return high + (sum + (rest + gelu_h_residual_f32(high, more, -product)));
#endif
}

/* (d + d_low) (c + rest) */
GELU_H_FUNCTION float gelu_h_scaled_f32(float d, float d_low, float c, float rest)
{
    const float sum = c + rest, sum_low = rest - (sum - c), product = gelu_h_product_f32(d, sum);
    return product + gelu_h_fma_f32(d, sum_low, gelu_h_fma_f32(d_low, sum, gelu_h_residual_f32(d, sum, -product)));
}

/* |x|, but at most `limit`; NaN for NaN. */
GELU_H_FUNCTION float gelu_h_size_f32(float x, float limit)
{
    const float t = x < 0 ? -x : x;
    return t > limit ? limit : t;
}

/* e^-(high + low) = (1 + excess) scale 2^-64. This power of two is multiplied last, so that a result below the
 * normal range is rounded once. */
typedef struct gelu_h_decay_f32 {
    float excess, scale;
} gelu_h_decay_f32;

GELU_H_FUNCTION gelu_h_decay_f32 gelu_h_decay_of_f32(float high, float low)
{
    const unsigned int bias = 0x3f800000u + ((unsigned int)64 << 23);
    const float shifted = gelu_h_fma_f32(high, -2 * 0.7213475f, 12582912.0f), m = shifted - 12582912.0f;
    const float r = gelu_h_fma_f32(m, -0.69314575f, -high) + gelu_h_fma_f32(m, -1.4286068e-06f, -low), square = r * r;
    const float tail =
        gelu_h_fma_f32(r, gelu_h_fma_f32(square, 0.008368676f, 0.16666521f), gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, 0.0013820735f, 0.041668266f), 0.49999994f));
    gelu_h_decay_f32 e;
    e.excess = gelu_h_fma_f32(square, tail, r);
    e.scale = gelu_h_from_bits_f32((gelu_h_bits_f32(shifted) << 23) + bias);
    return e;
}

/* All forms are x G(x) with G(x) + G(-x) = 1. With c(t) = G(-t), t = |x|, nothing cancels in the tails:
 *
 *     f(x)   = max(x, 0) - t c(t)
 *     f'(x)  = s(t) for x < 0, 1 - s(t) else,  s(t) = c(t) + t c'(t)
 *     f''(x) = -(2 c'(t) + t c''(t))
 *
 * The next three get t c, s or f'' without the scale of their exponential, as (high + low) (1 + more). */
GELU_H_FUNCTION float gelu_h_value_f32(float x, float high, float low, float error, gelu_h_decay_f32 e)
{
    const float product = gelu_h_product_f32(e.excess, error), sum = e.excess + error, more = sum + product;
    const float rest = gelu_h_lost_f32(e.excess, error, sum) + gelu_h_lost_f32(sum, product, more);
    const float all_low = gelu_h_fma_f32(high, rest, gelu_h_fma_f32(low, more, low));
    const float below = gelu_h_assemble_f32(high, all_low, more) * e.scale;
    return gelu_h_fma_f32(-below, 5.421011e-20f, x < 0 ? 0 : x);
}

GELU_H_FUNCTION float gelu_h_first_f32(float x, float high, float low, float more, gelu_h_decay_f32 e)
{
    const float s = gelu_h_assemble_f32(high, gelu_h_fma_f32(low, more, low), more) * e.scale * 5.421011e-20f;
    return x < 0 ? s : 1 - s;
}

GELU_H_FUNCTION float gelu_h_second_f32(float high, float low, gelu_h_decay_f32 e)
{
    return gelu_h_assemble_f32(high, gelu_h_fma_f32(low, e.excess, low), e.excess) * e.scale * 5.421011e-20f;
}

/* ---- gelu_exact, single precision: c = 1 - Phi(t), c' = -phi(t) ---- */

/* c = e^(-t^2/2) (1 + error) s/2 by a rational function of t: one division serves it and s, which is about 1/(1 + t). */
typedef struct gelu_h_tail_f32 {
    float s, error;
} gelu_h_tail_f32;

GELU_H_FUNCTION gelu_h_tail_f32 gelu_h_tail_of_f32(float t)
{
    const float square = t * t, sum = 1 + t;
    const float top =
        gelu_h_fma_f32(t, gelu_h_fma_f32(square, gelu_h_fma_f32(square, (-0.0025185642f), (-0.021090169f)),
        0.20211567f), gelu_h_fma_f32(square, gelu_h_fma_f32(square, (-0.0131179625f), 0.04758123f), (-1.490774e-09f)));
    const float bottom =
        gelu_h_fma_f32(t, gelu_h_fma_f32(square, gelu_h_fma_f32(square, 0.012461296f, 0.50588965f), 1.7092675f),
        gelu_h_fma_f32(square, gelu_h_fma_f32(square, 0.11408064f, 1.2567818f), 1.0f));
    const float r = 1.0f / (sum * bottom);
    gelu_h_tail_f32 tail;
    tail.s = r * bottom;
    {
        const float whole = gelu_h_product_f32(tail.s, t), rest = 1.0f - whole, back = rest - tail.s;
        const float missing = (gelu_h_lost_f32(1.0f, -whole, rest) + back) -
                               (gelu_h_residual_f32(tail.s, t, -whole) - gelu_h_lost_f32(rest, -tail.s, back));
        tail.error = gelu_h_fma_f32(top, r * sum, missing * (1 / 1.0f));
    }
    return tail;
}

GELU_H_FUNCTION gelu_h_decay_f32 gelu_h_density_f32(float t)
{
    const float h = 0.5f * t, square = gelu_h_product_f32(h, t);
    return gelu_h_decay_of_f32(square, gelu_h_residual_f32(h, t, -square));
}

/* f' of gelu_exact near its zero by d P(d), d = x - zero in two parts: relative error of P 2^-29.27. */
GELU_H_FUNCTION float gelu_h_gelu_exact_zero1_f32(float x)
{
    const float d = x - (-0.75179154f), square = d * d, low = (-1.211445e-08f);
    const float rest =
        gelu_h_fma_f32(d, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, (-0.0006116957f),
        0.0045101796f), (-0.014769377f)), (-0.018199723f)), gelu_h_fma_f32(square, gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, (-0.0021962249f), 0.019418204f), (-0.11400812f)), 0.38828498f));
    return gelu_h_scaled_f32(d, low, 0.431494f, gelu_h_fma_f32(d, rest, (-9.769349e-09f)));
}

GELU_H_FUNCTION float gelu_exact_f32(float x)
{
    const float t = gelu_h_size_f32(x, 15.0f), h = 0.5f * t;
    const gelu_h_tail_f32 tail = gelu_h_tail_of_f32(t);
    const float value = gelu_h_product_f32(h, tail.s);
    return gelu_h_value_f32(x, value, gelu_h_residual_f32(h, tail.s, -value), tail.error, gelu_h_density_f32(t));
}

GELU_H_FUNCTION float gelu_exact_grad_f32(float x)
{
    const float t = gelu_h_size_f32(x, 15.0f);
    const gelu_h_tail_f32 tail = gelu_h_tail_of_f32(t);
    const gelu_h_decay_f32 e = gelu_h_density_f32(t);
    const float half = 0.5f * tail.s, product = gelu_h_product_f32(0.3989423f, t), s = half - product;
    const float lost = gelu_h_lost_f32(half, -product, s) - gelu_h_residual_f32(0.3989423f, t, -product);
    const float low = gelu_h_fma_f32(half, tail.error, -(-1.133517e-08f) * t) + lost;
    if (x > (-1.0900977f) && x < (-0.3007166f))
        return gelu_h_gelu_exact_zero1_f32(x);
    return gelu_h_first_f32(x, s, low, e.excess, e);
}

GELU_H_FUNCTION float gelu_exact_grad_grad_f32(float x)
{
    const float t = gelu_h_size_f32(x, 15.0f), square = gelu_h_product_f32(t, t);
    const float about = 2 - square; /* 2 - t^2 is rest + rest_low */
    const float about_low = gelu_h_lost_f32(2, -square, about) - gelu_h_residual_f32(t, t, -square);
    const float rest = about + about_low, rest_low = gelu_h_lost_f32(about, about_low, rest);
    const float high = gelu_h_product_f32(0.3989423f, rest);
    const float low = gelu_h_fma_f32(
        0.3989423f, rest_low, gelu_h_fma_f32((-1.133517e-08f), rest, gelu_h_residual_f32(0.3989423f, rest, -high)));
    return gelu_h_second_f32(high, low, gelu_h_density_f32(t));
}

/* ---- logistic forms, single precision: c = u/(1 + u), u = e^-w(t) ---- */

/* w(t), rise = t w', grade = w' and bend = t w'', each in two parts. */
typedef struct gelu_h_wave_f32 {
    float t, w, w_low, rise, rise_low, grade, grade_low, bend, bend_low;
} gelu_h_wave_f32;

/* 1/(1 + u) = s (1 + error) */
typedef struct gelu_h_gate_f32 {
    float s, error;
    gelu_h_decay_f32 e;
} gelu_h_gate_f32;

GELU_H_FUNCTION gelu_h_gate_f32 gelu_h_gate_of_f32(float w, float w_low)
{
    gelu_h_gate_f32 g;
    g.e = gelu_h_decay_of_f32(w, w_low);
    {
        const float more = gelu_h_product_f32(g.e.scale, g.e.excess), sum = g.e.scale + more; /* exact but for the sum */
        const float u = sum * 5.421011e-20f, u_low = (more - (sum - g.e.scale)) * 5.421011e-20f;
        g.s = 1 / (1 + u);
        g.error = gelu_h_fma_f32(-g.s, u_low, gelu_h_residual_f32(-g.s, u, 1 - g.s));
    }
    return g;
}

GELU_H_FUNCTION float gelu_h_logistic_f32(float x, gelu_h_wave_f32 v)
{
    const gelu_h_gate_f32 g = gelu_h_gate_of_f32(v.w, v.w_low);
    const float value = gelu_h_product_f32(v.t, g.s);
    return gelu_h_value_f32(x, value, gelu_h_residual_f32(v.t, g.s, -value), g.error, g.e);
}

/* s(t) = u s (1 - rise s) */
GELU_H_FUNCTION float gelu_h_logistic_grad_f32(float x, gelu_h_wave_f32 v)
{
    const gelu_h_gate_f32 g = gelu_h_gate_of_f32(v.w, v.w_low);
    const float product = gelu_h_product_f32(v.rise, g.s), part = 1 - product;
    const float product_low = gelu_h_fma_f32(gelu_h_fma_f32(v.rise, g.error, v.rise_low), g.s,
                                              gelu_h_residual_f32(v.rise, g.s, -product));
    const float part_low = gelu_h_lost_f32(1, -product, part) - product_low;
    const float high = gelu_h_product_f32(g.s, part);
    const float low = gelu_h_fma_f32(high, g.error, gelu_h_fma_f32(g.s, part_low, gelu_h_residual_f32(g.s, part, -high)));
    return gelu_h_first_f32(x, high, low, g.e.excess, g.e);
}

/* f'' = u s^2 (grade (2 - rise (2 s - 1)) + bend) */
GELU_H_FUNCTION float gelu_h_logistic_grad_grad_f32(gelu_h_wave_f32 v)
{
    const gelu_h_gate_f32 g = gelu_h_gate_of_f32(v.w, v.w_low);
    const float height = 2 * g.s - 1, height_low = 2 * g.s * g.error;
    const float fallen = gelu_h_product_f32(v.rise, height), fall = 2 - fallen;
    const float fallen_low = gelu_h_fma_f32(
        v.rise, height_low, gelu_h_fma_f32(v.rise_low, height, gelu_h_residual_f32(v.rise, height, -fallen)));
    const float fall_low = gelu_h_lost_f32(2, -fallen, fall) - fallen_low;
    const float steep = gelu_h_product_f32(v.grade, fall), bracket = steep + v.bend;
    const float steep_low = gelu_h_fma_f32(
        v.grade, fall_low, gelu_h_fma_f32(v.grade_low, fall, gelu_h_residual_f32(v.grade, fall, -steep)));
    const float bracket_low = gelu_h_lost_f32(steep, v.bend, bracket) + (steep_low + v.bend_low);
    const float square = gelu_h_product_f32(g.s, g.s), high = gelu_h_product_f32(bracket, square);
    const float square_low = gelu_h_fma_f32(2 * square, g.error, gelu_h_residual_f32(g.s, g.s, -square));
    const float low = gelu_h_fma_f32(
        bracket, square_low, gelu_h_fma_f32(bracket_low, square, gelu_h_residual_f32(bracket, square, -high)));
    return gelu_h_second_f32(high, low, g.e);
}

/* w = 2 sqrt(2/pi) (t + 0.044715 t^3) = t (a + b t^2) */
GELU_H_FUNCTION gelu_h_wave_f32 gelu_h_tanh_wave_f32(float x)
{
    const float t = gelu_h_size_f32(x, 11.25f), a = 1.5957689f, b = 0.071354814f;
    const float square = gelu_h_product_f32(t, t), square_low = gelu_h_residual_f32(t, t, -square);
    const float p = gelu_h_fma_f32(b, square, a);
    const float p_low = gelu_h_residual_f32(b, square, a - p) +
                         gelu_h_fma_f32(b, square_low, gelu_h_fma_f32(2.3988325e-09f, square, 1.930779e-07f));
    const float slope = gelu_h_fma_f32(2, p - a, p); /* w' = p + 2 b t^2 */
    const float slope_low = gelu_h_lost_f32(p, 2 * (p - a), slope) + gelu_h_fma_f32(3, p_low, -2 * 1.930779e-07f);
    gelu_h_wave_f32 v;
    v.t = t;
    v.w = gelu_h_product_f32(t, p);
    v.w_low = gelu_h_fma_f32(t, p_low, gelu_h_residual_f32(t, p, -v.w));
    v.rise = gelu_h_product_f32(t, slope);
    v.rise_low = gelu_h_fma_f32(t, slope_low, gelu_h_residual_f32(t, slope, -v.rise));
    v.grade = slope + slope_low;
    v.grade_low = (slope - v.grade) + slope_low;
    v.bend = gelu_h_product_f32(0.4281289f, square);
    v.bend_low = gelu_h_fma_f32(0.4281289f, square_low, gelu_h_fma_f32((-5.0816684e-10f), square, gelu_h_residual_f32(0.4281289f, square, -v.bend)));
    return v;
}

/* w = k t */
GELU_H_FUNCTION gelu_h_wave_f32 gelu_h_line_f32(float t, float k, float k_low)
{
    gelu_h_wave_f32 v;
    v.t = t;
    v.w = v.rise = gelu_h_product_f32(k, t);
    v.w_low = v.rise_low = gelu_h_fma_f32(k_low, t, gelu_h_residual_f32(k, t, -v.w));
    v.grade = k;
    v.grade_low = k_low;
    v.bend = v.bend_low = 0;
    return v;
}

GELU_H_FUNCTION gelu_h_wave_f32 gelu_h_quick_wave_f32(float x)
{
    return gelu_h_line_f32(gelu_h_size_f32(x, 7e+01f), 1.702f, (-2.193451e-08f));
}

GELU_H_FUNCTION gelu_h_wave_f32 gelu_h_silu_wave_f32(float x)
{
    return gelu_h_line_f32(gelu_h_size_f32(x, 119.0f), 1, 0);
}

/* f' of gelu_tanh near its zero by d P(d), d = x - zero in two parts: relative error of P 2^-26.54. */
GELU_H_FUNCTION float gelu_h_gelu_tanh_zero1_f32(float x)
{
    const float d = x - (-0.75246143f), square = d * d, low = (-1.1339628e-08f);
    const float rest =
        gelu_h_fma_f32(d, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, (-4.380395e-12f), 3.3799463e-11f), (-2.4336316e-10f)), 1.7449843e-09f),
        (-1.1961808e-08f)), 7.520741e-08f), (-4.3102486e-07f)), 2.4335518e-06f), (-1.5950898e-05f)), 0.00012425228f),
        (-0.00092744204f)), 0.0052610594f), (-0.01661933f)), (-0.01578285f)), gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, 1.2629938e-13f, (-1.6708138e-12f)), 1.6872876e-11f), (-1.7088106e-10f)),
        1.7637798e-09f), (-1.6978214e-08f)), 1.4157555e-07f), (-9.898647e-07f)), 5.9186114e-06f), (-3.495617e-05f)),
        0.00026392762f), (-0.0024227318f)), 0.019682309f), (-0.113944486f)), 0.38751844f));
    return gelu_h_scaled_f32(d, low, 0.43040007f, gelu_h_fma_f32(d, rest, 1.31022535e-08f));
}

/* f'' of gelu_tanh near its zero by d P(d), d = t - zero in two parts: relative error of P 2^-27.56. */
GELU_H_FUNCTION float gelu_h_gelu_tanh_zero2_f32(float t)
{
    const float d = t - 1.418504f, square = d * d, low = (-9.080745e-09f);
    const float rest =
        gelu_h_fma_f32(d, gelu_h_fma_f32(square, gelu_h_fma_f32(square, (-0.016473623f), 0.056743823f),
        (-0.008168886f)), gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, 0.00069614575f,
        0.02003725f), (-0.16109483f)), 0.4320811f));
    return gelu_h_scaled_f32(d, low, (-0.40954882f), gelu_h_fma_f32(d, rest, (-2.3569307e-09f)));
}

/* f' of gelu_quick near its zero by d P(d), d = x - zero in two parts: relative error of P 2^-31.79. */
GELU_H_FUNCTION float gelu_h_gelu_quick_zero1_f32(float x)
{
    const float d = x - (-0.75115424f), square = d * d, low = 1.1495214e-08f;
    const float rest =
        gelu_h_fma_f32(d, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, (-0.0051054894f),
        0.033052593f), (-0.09435769f)), 0.09305964f), gelu_h_fma_f32(square, gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, gelu_h_fma_f32(square, (-0.0057543754f), 0.013052422f), 0.0030789077f),
        (-0.12774052f)), 0.42481282f));
    return gelu_h_scaled_f32(d, low, 0.37071553f, gelu_h_fma_f32(d, rest, (-7.179456e-10f)));
}

/* f'' of gelu_quick near its zero by d P(d), d = t - zero in two parts: relative error of P 2^-27.39. */
GELU_H_FUNCTION float gelu_h_gelu_quick_zero2_f32(float t)
{
    const float d = t - 1.4097282f, square = d * d, low = 3.7528494e-08f;
    const float rest =
        gelu_h_fma_f32(d, gelu_h_fma_f32(square, gelu_h_fma_f32(square, 0.007245736f, 0.09392313f), (-0.18870145f)),
        gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, 0.011813572f, (-0.05653787f)),
        (-0.026231775f)), 0.3761661f));
    return gelu_h_scaled_f32(d, low, (-0.26514596f), gelu_h_fma_f32(d, rest, (-5.0466715e-09f)));
}

/* f' of silu near its zero by d P(d), d = x - zero in two parts: relative error of P 2^-27.2. */
GELU_H_FUNCTION float gelu_h_silu_zero1_f32(float x)
{
    const float d = x - (-1.2784646f), square = d * d, low = (-1.29792825e-08f);
    const float rest =
        gelu_h_fma_f32(d, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square,
        2.7649708e-05f, (-6.263452e-05f)), 0.00080418197f), (-0.0066072354f)), 0.018874845f), gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, (-2.8058605e-05f), 0.00018527034f),
        0.00012667727f), (-0.0152226575f)), 0.1466488f));
    return gelu_h_scaled_f32(d, low, 0.2178117f, gelu_h_fma_f32(d, rest, (-2.5977742e-10f)));
}

/* f'' of silu near its zero by d P(d), d = t - zero in two parts: relative error of P 2^-25.8. */
GELU_H_FUNCTION float gelu_h_silu_zero2_f32(float t)
{
    const float d = t - 2.3993573f, square = d * d, low = 3.8362707e-08f;
    const float rest =
        gelu_h_fma_f32(d, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, (-4.20736e-16f), 4.148735e-15f), 4.7185132e-14f), (-1.0799582e-12f)),
        (-8.1376507e-13f)), 1.9015498e-10f), (-1.1393142e-09f)), (-2.2618094e-08f)), 3.1446493e-07f), 1.246161e-06f),
        (-4.745074e-05f)), 0.00011513073f), 0.0038628166f), (-0.022487259f)), gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square, gelu_h_fma_f32(square,
        gelu_h_fma_f32(square, 1.0530723e-16f, 3.4398344e-16f), (-2.316249e-14f)), 1.0153278e-13f), 3.4204271e-12f),
        (-4.1169342e-11f)), (-2.9644595e-10f)), 8.62206e-09f), (-9.904161e-09f)), (-1.1904604e-06f)), 8.432378e-06f),
        9.644058e-05f), (-0.0013663697f)), (-0.0018366695f)), 0.07629586f));
    return gelu_h_scaled_f32(d, low, (-0.09153052f), gelu_h_fma_f32(d, rest, (-4.936165e-10f)));
}

GELU_H_FUNCTION float gelu_tanh_f32(float x)
{
    return gelu_h_logistic_f32(x, gelu_h_tanh_wave_f32(x));
}

GELU_H_FUNCTION float gelu_tanh_grad_f32(float x)
{
    if (x > (-1.0534459f) && x < (-0.45147684f))
        return gelu_h_gelu_tanh_zero1_f32(x);
    return gelu_h_logistic_grad_f32(x, gelu_h_tanh_wave_f32(x));
}

GELU_H_FUNCTION float gelu_tanh_grad_grad_f32(float x)
{
    const gelu_h_wave_f32 v = gelu_h_tanh_wave_f32(x);
    const float t = v.t;
    if (t > 1.2057284f && t < 1.6312796f)
        return gelu_h_gelu_tanh_zero2_f32(t);
    return gelu_h_logistic_grad_grad_f32(v);
}

GELU_H_FUNCTION float gelu_quick_f32(float x)
{
    return gelu_h_logistic_f32(x, gelu_h_quick_wave_f32(x));
}

GELU_H_FUNCTION float gelu_quick_grad_f32(float x)
{
    if (x > (-1.051616f) && x < (-0.45069256f))
        return gelu_h_gelu_quick_zero1_f32(x);
    return gelu_h_logistic_grad_f32(x, gelu_h_quick_wave_f32(x));
}

GELU_H_FUNCTION float gelu_quick_grad_grad_f32(float x)
{
    const gelu_h_wave_f32 v = gelu_h_quick_wave_f32(x);
    const float t = v.t;
    if (t > 1.1982689f && t < 1.6211873f)
        return gelu_h_gelu_quick_zero2_f32(t);
    return gelu_h_logistic_grad_grad_f32(v);
}

GELU_H_FUNCTION float silu_f32(float x)
{
    return gelu_h_logistic_f32(x, gelu_h_silu_wave_f32(x));
}

GELU_H_FUNCTION float silu_grad_f32(float x)
{
    if (x > (-1.7898504f) && x < (-0.7670787f))
        return gelu_h_silu_zero1_f32(x);
    return gelu_h_logistic_grad_f32(x, gelu_h_silu_wave_f32(x));
}

GELU_H_FUNCTION float silu_grad_grad_f32(float x)
{
    const gelu_h_wave_f32 v = gelu_h_silu_wave_f32(x);
    const float t = v.t;
    if (t > 2.0394537f && t < 2.759261f)
        return gelu_h_silu_zero2_f32(t);
    return gelu_h_logistic_grad_grad_f32(v);
}

/* ---- double precision ---- */

GELU_H_FUNCTION unsigned long long gelu_h_bits_f64(double x)
{
#if defined __GNUC__
    unsigned long long b;
    __builtin_memcpy(&b, &x, sizeof b);
    return b;
#else
    union {
        double x;
        unsigned long long b;
    } both;
    both.x = x;
    return both.b;
#endif
}

GELU_H_FUNCTION double gelu_h_from_bits_f64(unsigned long long b)
{
#if defined __GNUC__
    double x;
    __builtin_memcpy(&x, &b, sizeof x);
    return x;
#else
    union {
        double x;
        unsigned long long b;
    } both;
    both.b = b;
    return both.x;
#endif
}

/* a b, which no compiler may fuse with a sum. */
GELU_H_FUNCTION double gelu_h_product_f64(double a, double b)
{
#if defined __clang__
#pragma clang fp contract(off)
#endif
#if defined __CUDA_ARCH__
    return __dmul_rn(a, b);
#else
    return a * b;
#endif
}

/* a b + c, rounded once where fused multiply-adds are fast, else twice. */
GELU_H_FUNCTION double gelu_h_fma_f64(double a, double b, double c)
{
#if GELU_H_FMA
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

/* a b + c if c nearly cancels the product, without the rounding of the product. */
GELU_H_FUNCTION double gelu_h_residual_f64(double a, double b, double c)
{
#if GELU_H_FMA
    return fma(a, b, c);
#else
    /* Halves with so few bits that their products are exact (Dekker, 1971). */
    const unsigned long long upper = ~(unsigned long long)0 << 27;
    const double a1 = gelu_h_from_bits_f64(gelu_h_bits_f64(a) & upper), a2 = a - a1;
    const double b1 = gelu_h_from_bits_f64(gelu_h_bits_f64(b) & upper), b2 = b - b1;
    const double product = a * b;
    const double error = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
    return (product + c) + error;
#endif
}

/* a + b - sum, for the rounded sum. */
GELU_H_FUNCTION double gelu_h_lost_f64(double a, double b, double sum)
{
    const double back = sum - a;
    return (a - (sum - back)) + (b - back);
}

/* high (1 + more) + low, rounded about once. */
GELU_H_FUNCTION double gelu_h_assemble_f64(double high, double low, double more)
{
#if GELU_H_FMA
    return high + fma(high, more, low);
#else
    const double product = high * more, sum = product + low, rest = gelu_h_lost_f64(product, low, sum);
    return high + (sum + (rest + gelu_h_residual_f64(high, more, -product)));
#endif
}

/* (d + d_low) (c + rest) */
GELU_H_FUNCTION double gelu_h_scaled_f64(double d, double d_low, double c, double rest)
{
    const double sum = c + rest, sum_low = rest - (sum - c), product = gelu_h_product_f64(d, sum);
    return product + gelu_h_fma_f64(d, sum_low, gelu_h_fma_f64(d_low, sum, gelu_h_residual_f64(d, sum, -product)));
}

/* |x|, but at most `limit`; NaN for NaN. */
GELU_H_FUNCTION double gelu_h_size_f64(double x, double limit)
{
    const double t = x < 0 ? -x : x;
    return t > limit ? limit : t;
}

/* e^-(high + low) = (1 + excess) scale 2^-512. This power of two is multiplied last, so that a result below the
 * normal range is rounded once. */
typedef struct gelu_h_decay_f64 {
    double excess, scale;
} gelu_h_decay_f64;

GELU_H_FUNCTION gelu_h_decay_f64 gelu_h_decay_of_f64(double high, double low)
{
    const unsigned long long bias = 0x3ff0000000000000u + ((unsigned long long)512 << 52);
    const double shifted = gelu_h_fma_f64(high, -2 * 0.7213475204444817, 6755399441055744.0), m = shifted - 6755399441055744.0;
    const double r = gelu_h_fma_f64(m, -0.6931471805598903, -high) + gelu_h_fma_f64(m, -5.497923018708371e-14, -low), square = r * r;
    const double tail =
        gelu_h_fma_f64(r, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        2.5110861562151293e-08, 2.7557238722480874e-06), 0.00019841269891846157), 0.008333333333319266),
        0.1666666666666668), gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, 2.083763088569207e-09, 2.755752801708225e-07),
        2.4801587024857867e-05), 0.0013888888889032605), 0.041666666666666415), 0.5));
    gelu_h_decay_f64 e;
    e.excess = gelu_h_fma_f64(square, tail, r);
    e.scale = gelu_h_from_bits_f64((gelu_h_bits_f64(shifted) << 52) + bias);
    return e;
}

/* All forms are x G(x) with G(x) + G(-x) = 1. With c(t) = G(-t), t = |x|, nothing cancels in the tails:
 *
 *     f(x)   = max(x, 0) - t c(t)
 *     f'(x)  = s(t) for x < 0, 1 - s(t) else,  s(t) = c(t) + t c'(t)
 *     f''(x) = -(2 c'(t) + t c''(t))
 *
 * The next three get t c, s or f'' without the scale of their exponential, as (high + low) (1 + more). */
GELU_H_FUNCTION double gelu_h_value_f64(double x, double high, double low, double error, gelu_h_decay_f64 e)
{
    const double product = gelu_h_product_f64(e.excess, error), sum = e.excess + error, more = sum + product;
    const double rest = gelu_h_lost_f64(e.excess, error, sum) + gelu_h_lost_f64(sum, product, more);
    const double all_low = gelu_h_fma_f64(high, rest, gelu_h_fma_f64(low, more, low));
    const double below = gelu_h_assemble_f64(high, all_low, more) * e.scale;
    return gelu_h_fma_f64(-below, 7.458340731200207e-155, x < 0 ? 0 : x);
}

GELU_H_FUNCTION double gelu_h_first_f64(double x, double high, double low, double more, gelu_h_decay_f64 e)
{
    const double s = gelu_h_assemble_f64(high, gelu_h_fma_f64(low, more, low), more) * e.scale * 7.458340731200207e-155;
    return x < 0 ? s : 1 - s;
}

GELU_H_FUNCTION double gelu_h_second_f64(double high, double low, gelu_h_decay_f64 e)
{
    return gelu_h_assemble_f64(high, gelu_h_fma_f64(low, e.excess, low), e.excess) * e.scale * 7.458340731200207e-155;
}

/* ---- gelu_exact, double precision: c = 1 - Phi(t), c' = -phi(t) ---- */

/* c = e^(-t^2/2) (1 + error) s/2 by a rational function of t: one division serves it and s, which is about 1/(1 + t). */
typedef struct gelu_h_tail_f64 {
    double s, error;
} gelu_h_tail_f64;

GELU_H_FUNCTION gelu_h_tail_f64 gelu_h_tail_of_f64(double t)
{
    const double square = t * t, sum = 1 + t;
    const double top =
        gelu_h_fma_f64(t, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, (-6.519830598063071e-08), (-9.879789229524634e-06)), 0.0006857714016768637),
        0.04229735837352481), 0.4330476552195511), 0.667390518894815), gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, (-1.301731188260595e-06),
        (-1.6793577245768903e-07)), 0.007179914107327564), 0.16476093822669236), 0.7298108207536994),
        0.16326530612244897));
    const double bottom =
        gelu_h_fma_f64(t, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, 6.473081595097994e-07, 0.00029440760592309794), 0.019326954664014975),
        0.3629910203549801), 2.0471457249299037), 2.4708434146536637), gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, 1.962142916261956e-05,
        0.002838079491809269), 0.09690290497070242), 1.0114349826003968), 2.8580029480187887), 1.0));
    const double r = 0.875 / (sum * bottom);
    gelu_h_tail_f64 tail;
    tail.s = r * bottom;
    {
        const double whole = gelu_h_product_f64(tail.s, t), rest = 0.875 - whole, back = rest - tail.s;
        const double missing = (gelu_h_lost_f64(0.875, -whole, rest) + back) -
                               (gelu_h_residual_f64(tail.s, t, -whole) - gelu_h_lost_f64(rest, -tail.s, back));
        tail.error = gelu_h_fma_f64(top, r * sum, missing * (1 / 0.875));
    }
    return tail;
}

GELU_H_FUNCTION gelu_h_decay_f64 gelu_h_density_f64(double t)
{
    const double h = 0.5 * t, square = gelu_h_product_f64(h, t);
    return gelu_h_decay_of_f64(square, gelu_h_residual_f64(h, t, -square));
}

/* f' of gelu_exact near its zero by d P(d), d = x - zero in two parts: relative error of P 2^-56.39. */
GELU_H_FUNCTION double gelu_h_gelu_exact_zero1_f64(double x)
{
    const double d = x - (-0.7517915246935645), square = d * d, low = (-1.4956759177009883e-17);
    const double rest =
        gelu_h_fma_f64(d, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, 5.34741272360202e-07, (-7.737308814665734e-06)),
        8.615781873868939e-05), (-0.0007448267064776886)), 0.004539228373436852), (-0.014771522148122666)),
        (-0.018199676398672093)), gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, 4.3708784865027294e-07,
        (-1.1216179286643268e-05)), 0.0001863400200041883), (-0.00223953808761929)), 0.019421679838854875),
        (-0.1140082332972312)), 0.38828498299055203));
    return gelu_h_scaled_f64(d, low, 0.4314939923140469, gelu_h_fma_f64(d, rest, 2.2919467778261232e-17));
}

GELU_H_FUNCTION double gelu_exact_f64(double x)
{
    const double t = gelu_h_size_f64(x, 39.0), h = 0.5 * t;
    const gelu_h_tail_f64 tail = gelu_h_tail_of_f64(t);
    const double value = gelu_h_product_f64(h, tail.s);
    return gelu_h_value_f64(x, value, gelu_h_residual_f64(h, tail.s, -value), tail.error, gelu_h_density_f64(t));
}

GELU_H_FUNCTION double gelu_exact_grad_f64(double x)
{
    const double t = gelu_h_size_f64(x, 39.0);
    const gelu_h_tail_f64 tail = gelu_h_tail_of_f64(t);
    const gelu_h_decay_f64 e = gelu_h_density_f64(t);
    const double half = 0.5 * tail.s, product = gelu_h_product_f64(0.3989422804014327, t), s = half - product;
    const double lost = gelu_h_lost_f64(half, -product, s) - gelu_h_residual_f64(0.3989422804014327, t, -product);
    const double low = gelu_h_fma_f64(half, tail.error, -(-2.49232720227773e-17) * t) + lost;
    if (x > (-1.0900977108056684) && x < (-0.30071660987742577))
        return gelu_h_gelu_exact_zero1_f64(x);
    return gelu_h_first_f64(x, s, low, e.excess, e);
}

GELU_H_FUNCTION double gelu_exact_grad_grad_f64(double x)
{
    const double t = gelu_h_size_f64(x, 39.0), square = gelu_h_product_f64(t, t);
    const double about = 2 - square; /* 2 - t^2 is rest + rest_low */
    const double about_low = gelu_h_lost_f64(2, -square, about) - gelu_h_residual_f64(t, t, -square);
    const double rest = about + about_low, rest_low = gelu_h_lost_f64(about, about_low, rest);
    const double high = gelu_h_product_f64(0.3989422804014327, rest);
    const double low = gelu_h_fma_f64(
        0.3989422804014327, rest_low, gelu_h_fma_f64((-2.49232720227773e-17), rest, gelu_h_residual_f64(0.3989422804014327, rest, -high)));
    return gelu_h_second_f64(high, low, gelu_h_density_f64(t));
}

/* ---- logistic forms, double precision: c = u/(1 + u), u = e^-w(t) ---- */

/* w(t), rise = t w', grade = w' and bend = t w'', each in two parts. */
typedef struct gelu_h_wave_f64 {
    double t, w, w_low, rise, rise_low, grade, grade_low, bend, bend_low;
} gelu_h_wave_f64;

/* 1/(1 + u) = s (1 + error) */
typedef struct gelu_h_gate_f64 {
    double s, error;
    gelu_h_decay_f64 e;
} gelu_h_gate_f64;

GELU_H_FUNCTION gelu_h_gate_f64 gelu_h_gate_of_f64(double w, double w_low)
{
    gelu_h_gate_f64 g;
    g.e = gelu_h_decay_of_f64(w, w_low);
    {
        const double more = gelu_h_product_f64(g.e.scale, g.e.excess), sum = g.e.scale + more; /* exact but for the sum */
        const double u = sum * 7.458340731200207e-155, u_low = (more - (sum - g.e.scale)) * 7.458340731200207e-155;
        g.s = 1 / (1 + u);
        g.error = gelu_h_fma_f64(-g.s, u_low, gelu_h_residual_f64(-g.s, u, 1 - g.s));
    }
    return g;
}

GELU_H_FUNCTION double gelu_h_logistic_f64(double x, gelu_h_wave_f64 v)
{
    const gelu_h_gate_f64 g = gelu_h_gate_of_f64(v.w, v.w_low);
    const double value = gelu_h_product_f64(v.t, g.s);
    return gelu_h_value_f64(x, value, gelu_h_residual_f64(v.t, g.s, -value), g.error, g.e);
}

/* s(t) = u s (1 - rise s) */
GELU_H_FUNCTION double gelu_h_logistic_grad_f64(double x, gelu_h_wave_f64 v)
{
    const gelu_h_gate_f64 g = gelu_h_gate_of_f64(v.w, v.w_low);
    const double product = gelu_h_product_f64(v.rise, g.s), part = 1 - product;
    const double product_low = gelu_h_fma_f64(gelu_h_fma_f64(v.rise, g.error, v.rise_low), g.s,
                                              gelu_h_residual_f64(v.rise, g.s, -product));
    const double part_low = gelu_h_lost_f64(1, -product, part) - product_low;
    const double high = gelu_h_product_f64(g.s, part);
    const double low = gelu_h_fma_f64(high, g.error, gelu_h_fma_f64(g.s, part_low, gelu_h_residual_f64(g.s, part, -high)));
    return gelu_h_first_f64(x, high, low, g.e.excess, g.e);
}

/* f'' = u s^2 (grade (2 - rise (2 s - 1)) + bend) */
GELU_H_FUNCTION double gelu_h_logistic_grad_grad_f64(gelu_h_wave_f64 v)
{
    const gelu_h_gate_f64 g = gelu_h_gate_of_f64(v.w, v.w_low);
    const double height = 2 * g.s - 1, height_low = 2 * g.s * g.error;
    const double fallen = gelu_h_product_f64(v.rise, height), fall = 2 - fallen;
    const double fallen_low = gelu_h_fma_f64(
        v.rise, height_low, gelu_h_fma_f64(v.rise_low, height, gelu_h_residual_f64(v.rise, height, -fallen)));
    const double fall_low = gelu_h_lost_f64(2, -fallen, fall) - fallen_low;
    const double steep = gelu_h_product_f64(v.grade, fall), bracket = steep + v.bend;
    const double steep_low = gelu_h_fma_f64(
        v.grade, fall_low, gelu_h_fma_f64(v.grade_low, fall, gelu_h_residual_f64(v.grade, fall, -steep)));
    const double bracket_low = gelu_h_lost_f64(steep, v.bend, bracket) + (steep_low + v.bend_low);
    const double square = gelu_h_product_f64(g.s, g.s), high = gelu_h_product_f64(bracket, square);
    const double square_low = gelu_h_fma_f64(2 * square, g.error, gelu_h_residual_f64(g.s, g.s, -square));
    const double low = gelu_h_fma_f64(
        bracket, square_low, gelu_h_fma_f64(bracket_low, square, gelu_h_residual_f64(bracket, square, -high)));
    return gelu_h_second_f64(high, low, g.e);
}

/* w = 2 sqrt(2/pi) (t + 0.044715 t^3) = t (a + b t^2) */
GELU_H_FUNCTION gelu_h_wave_f64 gelu_h_tanh_wave_f64(double x)
{
    const double t = gelu_h_size_f64(x, 21.75), a = 1.595769121605727, b = 0.07135481627260025;
    const double square = gelu_h_product_f64(t, t), square_low = gelu_h_residual_f64(t, t, -square);
    const double p = gelu_h_fma_f64(b, square, a);
    const double p_low = gelu_h_residual_f64(b, square, a - p) +
                         gelu_h_fma_f64(b, square_low, gelu_h_fma_f64((-6.175149918155315e-19), square, 3.675065195634423e-15));
    const double slope = gelu_h_fma_f64(2, p - a, p); /* w' = p + 2 b t^2 */
    const double slope_low = gelu_h_lost_f64(p, 2 * (p - a), slope) + gelu_h_fma_f64(3, p_low, -2 * 3.675065195634423e-15);
    gelu_h_wave_f64 v;
    v.t = t;
    v.w = gelu_h_product_f64(t, p);
    v.w_low = gelu_h_fma_f64(t, p_low, gelu_h_residual_f64(t, p, -v.w));
    v.rise = gelu_h_product_f64(t, slope);
    v.rise_low = gelu_h_fma_f64(t, slope_low, gelu_h_residual_f64(t, slope, -v.rise));
    v.grade = slope + slope_low;
    v.grade_low = (slope - v.grade) + slope_low;
    v.bend = gelu_h_product_f64(0.42812889763560147, square);
    v.bend_low = gelu_h_fma_f64(0.42812889763560147, square_low, gelu_h_fma_f64(2.4050485664735725e-17, square, gelu_h_residual_f64(0.42812889763560147, square, -v.bend)));
    return v;
}

/* w = k t */
GELU_H_FUNCTION gelu_h_wave_f64 gelu_h_line_f64(double t, double k, double k_low)
{
    gelu_h_wave_f64 v;
    v.t = t;
    v.w = v.rise = gelu_h_product_f64(k, t);
    v.w_low = v.rise_low = gelu_h_fma_f64(k_low, t, gelu_h_residual_f64(k, t, -v.w));
    v.grade = k;
    v.grade_low = k_low;
    v.bend = v.bend_low = 0;
    return v;
}

GELU_H_FUNCTION gelu_h_wave_f64 gelu_h_quick_wave_f64(double x)
{
    return gelu_h_line_f64(gelu_h_size_f64(x, 452.0), 1.702, 4.263256414560601e-17);
}

GELU_H_FUNCTION gelu_h_wave_f64 gelu_h_silu_wave_f64(double x)
{
    return gelu_h_line_f64(gelu_h_size_f64(x, 769.0), 1, 0);
}

/* f' of gelu_tanh near its zero by d P(d), d = x - zero in two parts: relative error of P 2^-55.31. */
GELU_H_FUNCTION double gelu_h_gelu_tanh_zero1_f64(double x)
{
    const double d = x - (-0.7524614220710163), square = d * d, low = (-3.635560509207687e-17);
    const double rest =
        gelu_h_fma_f64(d, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, (-4.380394662449561e-12), 3.3799461340082495e-11), (-2.4336314683894686e-10)),
        1.7449842428994312e-09), (-1.1961808238226256e-08)), 7.520740907850045e-08), (-4.310248298796715e-07)),
        2.433551634429936e-06), (-1.5950896871645108e-05)), 0.00012425227802639785), (-0.000927442023020545)),
        0.005261059254921913), (-0.016619328343052565)), (-0.015782853521848016)), gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, 1.2629937797737784e-13, (-1.670815189024564e-12)), 1.6872886109507612e-11),
        (-1.7088112764702716e-10)), 1.7637802712574569e-09), (-1.69782174598076e-08)), 1.415755698772958e-07),
        (-9.898647747433664e-07)), 5.918611710894004e-06), (-3.495617169443611e-05)), 0.0002639276405268105),
        (-0.002422731845875097)), 0.019682309459833118), (-0.11394448308095899)), 0.38751844613578895));
    return gelu_h_scaled_f64(d, low, 0.4304000910248585, gelu_h_fma_f64(d, rest, 6.194082111683946e-18));
}

/* f'' of gelu_tanh near its zero by d P(d), d = t - zero in two parts: relative error of P 2^-55.73. */
GELU_H_FUNCTION double gelu_h_gelu_tanh_zero2_f64(double t)
{
    const double d = t - 1.4185040087908283, square = d * d, low = (-8.089265124388305e-17);
    const double rest =
        gelu_h_fma_f64(d, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, 1.45777017157908e-11, (-6.919930309607702e-11)), 5.3417254746622255e-11),
        2.8516424042296216e-09), (-3.6027218752542834e-08)), 2.7799341689442817e-07), (-1.5017465385495984e-06)),
        4.8843417595228475e-06), 6.138879668243497e-06), (-0.0002617375685685444)), 0.0026434611466966624),
        (-0.01671150756085392)), 0.05675054097516172), (-0.008168951883944765)), gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, 8.673402450777249e-13, (-2.7889694379035283e-11)), 3.0070664712327873e-10),
        (-2.2072984124864844e-09)), 1.123704279844295e-08), (-2.4601994673414558e-08)), (-2.3134876605993384e-07)),
        3.5688649669617496e-06), (-2.9186541051047753e-05)), 0.00017619942054101047), (-0.00075142007750985)),
        0.0007632001136916145), 0.02003536116270128), (-0.16109481693213484)), 0.432081111593848));
    return gelu_h_scaled_f64(d, low, (-0.4095488174124191), gelu_h_fma_f64(d, rest, (-2.2842892126107114e-17)));
}

/* f' of gelu_quick near its zero by d P(d), d = x - zero in two parts: relative error of P 2^-59.37. */
GELU_H_FUNCTION double gelu_h_gelu_quick_zero1_f64(double x)
{
    const double d = x - (-0.751154255441289), square = d * d, low = (-4.696480973567411e-17);
    const double rest =
        gelu_h_fma_f64(d, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, 4.0850093810678935e-05,
        (-0.0002702598127240056)), 0.0008649081124362974), (-0.0010216252242991307)), (-0.004902482252944376)),
        0.03303723646374847), (-0.09435720712885541)), 0.09305963675729156), gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, 3.8159563858994155e-05,
        (-9.29736229899965e-05)), (-5.2286396935524984e-05)), 0.0013862741611217558), (-0.006065159340913703)),
        0.013076914674072296), 0.00307811654177578), (-0.12774050660220315)), 0.42481282173594376));
    return gelu_h_scaled_f64(d, low, 0.37071552313509976, gelu_h_fma_f64(d, rest, (-7.774787486349778e-18)));
}

/* f'' of gelu_quick near its zero by d P(d), d = t - zero in two parts: relative error of P 2^-54.96. */
GELU_H_FUNCTION double gelu_h_gelu_quick_zero2_f64(double t)
{
    const double d = t - 1.4097281319127306, square = d * d, low = (-1.0092252730192822e-16);
    const double rest =
        gelu_h_fma_f64(d, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, (-3.571054511044783e-09), 1.2155791182073161e-08), 4.772586641970347e-08),
        (-3.770824346439136e-07)), (-9.808684103717057e-08)), 7.912229426704053e-06), (-1.6364977863298172e-05)),
        (-0.0001121525068437764)), 0.0005382772213257547), 0.0007363579858866066), (-0.00967918014255505)),
        0.008107138614532465), 0.0938991029750175), (-0.18870123802708252)), gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, 1.5212634433640383e-09, 1.715399338333032e-09), (-3.98743252998295e-08)),
        6.033856802960673e-08), 7.016979892060386e-07), (-2.9155774600722003e-06)), (-7.2473174397834524e-06)),
        7.276517163263155e-05), (-2.8854297927841528e-05)), (-0.0011972620575690998)), 0.002927555636406346),
        0.011558350860804648), (-0.05653079723155315)), (-0.026231851511790978)), 0.376166114488984));
    return gelu_h_scaled_f64(d, low, (-0.2651459769337129), gelu_h_fma_f64(d, rest, (-1.2425298435913128e-17)));
}

/* f' of silu near its zero by d P(d), d = x - zero in two parts: relative error of P 2^-55.15. */
GELU_H_FUNCTION double gelu_h_silu_zero1_f64(double x)
{
    const double d = x - (-1.2784645427610737), square = d * d, low = 1.0946994183093437e-16;
    const double rest =
        gelu_h_fma_f64(d, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, 4.520011098025844e-15, (-1.4389308730826823e-14)), (-4.14795760274857e-13)),
        8.042917411066662e-12), (-7.503450344559985e-11)), 2.364831578429642e-10), 4.619379768124991e-09),
        (-9.266646309259374e-08)), 8.599695028268524e-07), (-2.942631888842461e-06)), (-4.0905342374286144e-05)),
        0.0007985218818397999), (-0.006606589138356696)), 0.01887481422378231), gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, (-5.78886801702933e-16), 1.8538031090092554e-14), (-2.3503681643172996e-13)),
        1.4843096746937404e-12), 3.998542114773009e-12), (-2.2513661920378817e-10)), 2.9177603025689167e-09),
        (-1.8877622907717177e-08)), (-3.051244750055503e-08)), 2.3460296824638674e-06), (-2.973354221326392e-05)),
        0.0001857072436118649), 0.00012662741008112252), (-0.015222655223188034)), 0.1466487969969469));
    return gelu_h_scaled_f64(d, low, 0.2178117057198001, gelu_h_fma_f64(d, rest, 1.2079302480951417e-17));
}

/* f'' of silu near its zero by d P(d), d = t - zero in two parts: relative error of P 2^-55.16. */
GELU_H_FUNCTION double gelu_h_silu_zero2_f64(double t)
{
    const double d = t - 2.3993572805154675, square = d * d, low = (-1.8464872855353363e-16);
    const double rest =
        gelu_h_fma_f64(d, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, (-4.2073612926247764e-16), 4.148734759215364e-15), 4.718515346603859e-14),
        (-1.0799582450869266e-12)), (-8.137678379489339e-13)), 1.9015500324979136e-10), (-1.1393139597067474e-09)),
        (-2.2618098624368495e-08)), 3.1446493188719964e-07), 1.2461615072251905e-06), (-4.745074279280721e-05)),
        0.00011513070195845206), 0.0038628167768302553), (-0.022487259234225326)), gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square, gelu_h_fma_f64(square,
        gelu_h_fma_f64(square, 1.0530723282643667e-16, 3.4398390428672706e-16), (-2.3162495201941372e-14)),
        1.015327397861729e-13), 3.4204279750732485e-12), (-4.1169340820103855e-11)), (-2.964460889696415e-10)),
        8.622061381742727e-09), (-9.904149230625864e-09)), (-1.1904605133360888e-06)), 8.432377564571457e-06),
        9.644059294156364e-05), (-0.0013663696912367745)), (-0.0018366701447628468)), 0.07629586548655086));
    return gelu_h_scaled_f64(d, low, (-0.0915305201641923), gelu_h_fma_f64(d, rest, 4.787589406944888e-18));
}

GELU_H_FUNCTION double gelu_tanh_f64(double x)
{
    return gelu_h_logistic_f64(x, gelu_h_tanh_wave_f64(x));
}

GELU_H_FUNCTION double gelu_tanh_grad_f64(double x)
{
    if (x > (-1.0534459908994227) && x < (-0.4514768532426098))
        return gelu_h_gelu_tanh_zero1_f64(x);
    return gelu_h_logistic_grad_f64(x, gelu_h_tanh_wave_f64(x));
}

GELU_H_FUNCTION double gelu_tanh_grad_grad_f64(double x)
{
    const gelu_h_wave_f64 v = gelu_h_tanh_wave_f64(x);
    const double t = v.t;
    if (t > 1.2057284074722041 && t < 1.6312796101094527)
        return gelu_h_gelu_tanh_zero2_f64(t);
    return gelu_h_logistic_grad_grad_f64(v);
}

GELU_H_FUNCTION double gelu_quick_f64(double x)
{
    return gelu_h_logistic_f64(x, gelu_h_quick_wave_f64(x));
}

GELU_H_FUNCTION double gelu_quick_grad_f64(double x)
{
    if (x > (-1.0516159576178046) && x < (-0.45069255326477337))
        return gelu_h_gelu_quick_zero1_f64(x);
    return gelu_h_logistic_grad_f64(x, gelu_h_quick_wave_f64(x));
}

GELU_H_FUNCTION double gelu_quick_grad_grad_f64(double x)
{
    const gelu_h_wave_f64 v = gelu_h_quick_wave_f64(x);
    const double t = v.t;
    if (t > 1.1982689121258212 && t < 1.6211873516996402)
        return gelu_h_gelu_quick_zero2_f64(t);
    return gelu_h_logistic_grad_grad_f64(v);
}

GELU_H_FUNCTION double silu_f64(double x)
{
    return gelu_h_logistic_f64(x, gelu_h_silu_wave_f64(x));
}

GELU_H_FUNCTION double silu_grad_f64(double x)
{
    if (x > (-1.7898503598655033) && x < (-0.7670787256566443))
        return gelu_h_silu_zero1_f64(x);
    return gelu_h_logistic_grad_f64(x, gelu_h_silu_wave_f64(x));
}

GELU_H_FUNCTION double silu_grad_grad_f64(double x)
{
    const gelu_h_wave_f64 v = gelu_h_silu_wave_f64(x);
    const double t = v.t;
    if (t > 2.0394536884381473 && t < 2.7592608725927876)
        return gelu_h_silu_zero2_f64(t);
    return gelu_h_logistic_grad_grad_f64(v);
}

#endif
/* clang-format on */
