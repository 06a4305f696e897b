/* clang-format off */
/* Made by tapegrad 0.1.0; not to be edited.
 *
 *     int tiny_predict(const float x[2], float y[1]);
 *     double tiny_train(const float *x, const float *y, size_t n);
 *     void tiny_rate(double next);
 *
 * tiny_predict: x is [1, 2], y [1, 1]. The result is 0, or -1 if an index is out of range.
 * tiny_train: a step for each batch of 4 of the n rows. The result is the last one's loss, or NaN if
 * an index is out of range. tiny_rate sets the learning rate of the steps to come.
 *
 * Static memory: 192 bytes for values, 52 of weights and constants, 104 for training.
 * C99, to be compiled without contraction, and with fused multiply-adds where the processor has them:
 * cc -std=c99 -O3 -ffp-contract=off -march=native */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static void vector_squared_error(size_t n, const void *a_, const void *b_, double *sum);
/* 0: without fused multiply-adds, for processors on which fma() of the C library is slow; the results differ then. */
#ifndef TG_HAS_FMA
#define TG_HAS_FMA 1
#endif

#ifdef __GNUC__
#define TG_INLINE static inline __attribute__((always_inline, unused))
#else
#define TG_INLINE static inline
#endif
typedef float tg_real;

#define REAL_FMA(a, b, c) fmaf(a, b, c)
/* a b + c, rounded once with fused multiply-adds, else twice. */
TG_INLINE tg_real fma_of(tg_real a, tg_real b, tg_real c)
{
#if TG_HAS_FMA
    return REAL_FMA(a, b, c);
#else
    return a * b + c;
#endif
}

TG_INLINE tg_real at_least(tg_real x, tg_real limit)
{
    return x < limit ? limit : x;
}

/* The sums of up to TILE columns, of at least one row, a stride apart. */
enum { TILE = 32 };

TG_INLINE void sum_tile(size_t rows, size_t width, size_t stride, const tg_real *x, double *total)
{
    double odd[TILE];
    for (size_t i = 0; i < width; i++) {
        total[i] = (double)x[i];
        odd[i] = rows > 1 ? (double)x[stride + i] : 0;
    }
    size_t r = 2;
    for (; r + 2 <= rows; r += 2)
        for (size_t i = 0; i < width; i++) {
            total[i] += (double)x[r * stride + i];
            odd[i] += (double)x[(r + 1) * stride + i];
        }
    for (size_t i = 0; r < rows && i < width; i++)
        total[i] += (double)x[r * stride + i];
    for (size_t i = 0; i < width; i++)
        total[i] += odd[i];
}

/* `count` columns from number `first` on, of n. */
static void sum_wide_matrix(size_t rows, size_t n, size_t first, size_t count, const tg_real *x, tg_real *y)
{
    for (const size_t end = first + count; first < end; first += TILE) {
        double total[TILE];
        const size_t width = end - first < TILE ? end - first : TILE;
        if (width == TILE)
            sum_tile(rows, TILE, n, x + first, total);
        else
            sum_tile(rows, width, n, x + first, total);
        for (size_t i = 0; i < width; i++)
            y[first + i] = (tg_real)total[i];
    }
}

/* A narrow matrix is summed as a wide one, `side` of its rows side by side, whose sums are then added pairwise. */
static void sum_narrow_matrix(size_t rows, size_t n, const tg_real *x, tg_real *y)
{
    const size_t side = rows < TILE / n ? rows : TILE / n, whole = rows / side;
    double total[TILE];
    if (side * n == TILE)
        sum_tile(whole, TILE, TILE, x, total);
    else
        sum_tile(whole, side * n, side * n, x, total);
    for (size_t left = side; left > 1;) {
        const size_t keep = (left + 1) / 2;
        for (size_t i = 0; i < (left - keep) * n; i++)
            total[i] += total[keep * n + i];
        left = keep;
    }
    for (size_t r = whole * side; r < rows; r++)
        for (size_t i = 0; i < n; i++)
            total[i] += (double)x[r * n + i];
    for (size_t i = 0; i < n; i++)
        y[i] = (tg_real)total[i];
}

/* The matrix is not empty. A narrow one is always summed as a whole. */
static void sum_matrix(size_t rows, size_t n, size_t first, size_t count, const void *x, void *y)
{
    if (2 * n <= TILE)
        sum_narrow_matrix(rows, n, x, y);
    else
        sum_wide_matrix(rows, n, first, count, x, y);
}

/* Stochastic gradient descent with momentum (Sutskever et al., 2013, in PyTorch's form). With
 * g = gradient_scale gradient + decay p:  velocity = momentum velocity + g;
 * p = p - lr velocity, or with Nesterov's step p - lr (g + momentum velocity). */
static void sgd_momentum(size_t n, void *parameter_, const void *gradient_, void *velocity_, double gradient_scale,
                         double lr, double momentum, int nesterov, double decay)
{
    const tg_real *const gradient = gradient_;
    tg_real *const parameter = parameter_, *const velocity = velocity_;
    const tg_real scale = (tg_real)gradient_scale, rate = (tg_real)lr, keep = (tg_real)momentum;
    const tg_real shrink = (tg_real)decay;
    const tg_real part = nesterov ? 1 : 0, whole = nesterov ? keep : 1;
    for (size_t i = 0; i < n; i++) {
        const tg_real p = parameter[i], g = scale * gradient[i] + shrink * p;
        const tg_real speed = keep * velocity[i] + g;
        velocity[i] = speed;
        parameter[i] = p - rate * (part * g + whole * speed);
    }
}

/* y[c, r] = x[r, c] */
static void transpose_copy(size_t rows, size_t columns, const tg_real *x, tg_real *y)
{
    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < rows; r++)
            *y++ = x[r * columns + c];
}

static void vector_squared_error(size_t n, const void *a_, const void *b_, double *sum)
{
    const tg_real *const left = a_, *const right = b_;
    *sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double a = left[i], b = right[i];
        *sum += (a - b) * (a - b);
    }
}

static tg_real memory[48];
static tg_real weights[13] = {
    /* layers.0.weight [3, 2] */
    0x1.cef608p-3f, -0x1.5e8decp-1f, -0x1.1ac272p+0f, -0x1.e8836p+0f, -0x1.6cd262p-1f, -0x1.8cd0f2p-1f,
    /* layers.0.bias [3] */
    0, 0, 0,
    /* layers.1.weight [1, 3] */
    0x1.271832p-1f, 0x1.32184ap-4f, -0x1.7adbd2p-4f,
    /* layers.1.bias [1] */
    0,
};

int tiny_predict(const float x[2], float y[1]);
int tiny_predict(const float x[2], float y[1])
{
    /* v0 [1, 2] x */
    const tg_real *const v0 = x;

    /* v1 [3, 2] layers.0.weight */
    const tg_real *const v1 = weights + 0;

    /* v2 [3] layers.0.bias */
    const tg_real *const v2 = weights + 6;

    /* v3 [1, 3] = linear(v0, v1, v2): x weight^T + bias: x [..., in], weight [out, in], bias [out] or TG_NONE */
    tg_real *const v3 = memory + 0;
    {
        tg_real sum[3];
        for (size_t c = 0; c < 3; c++)
            sum[c] = v2[c];
        for (size_t t = 0; t < 2; t++) {
            const tg_real a = v0[t];
            for (size_t c = 0; c < 3; c++)
                sum[c] = fma_of(a, v1[t + c * 2], sum[c]);
        }
        for (size_t c = 0; c < 3; c++)
            v3[c] = sum[c];
    }

    /* v4 [1, 3] = relu(v3): max(0, x) */
    tg_real *const v4 = memory + 4;
    for (size_t i = 0; i < 3; i++) {
        const tg_real x = v3[i];
        v4[i] = at_least(x, 0);
    }

    /* v5 [1, 3] layers.1.weight */
    const tg_real *const v5 = weights + 9;

    /* v6 [1] layers.1.bias */
    const tg_real *const v6 = weights + 12;

    /* v7 [1, 1] = linear(v4, v5, v6): x weight^T + bias: x [..., in], weight [out, in], bias [out] or TG_NONE */
    tg_real *const v7 = memory + 0;
    {
        tg_real sum[1];
        for (size_t c = 0; c < 1; c++)
            sum[c] = v6[0];
        for (size_t t = 0; t < 3; t++) {
            const tg_real a = v4[t];
            for (size_t c = 0; c < 1; c++)
                sum[c] = fma_of(a, v5[t], sum[c]);
        }
        for (size_t c = 0; c < 1; c++)
            v7[0] = sum[c];
    }

    memcpy(y, v7, 1 * sizeof *y);
    return 0;
}

/* What training keeps from step to step: all of it is 0 at first. */
static struct {
    tg_real gradients[13], moment1[13];
} state;

/* The loss of 4 rows, and the gradients. */
static int step(const float *x, const float *y, double *loss)
{
    /* v1 [3, 2] layers.0.weight */
    const tg_real *const v1 = weights + 0;

    /* v2 [3] layers.0.bias */
    const tg_real *const v2 = weights + 6;

    /* v5 [1, 3] layers.1.weight */
    const tg_real *const v5 = weights + 9;

    /* v6 [1] layers.1.bias */
    const tg_real *const v6 = weights + 12;

    /* v8 [4, 2] x */
    const tg_real *const v8 = x;

    /* v9 [4, 1] y */
    const tg_real *const v9 = y;

    /* v10 [4, 3] = linear(v8, v1, v2): x weight^T + bias: x [..., in], weight [out, in], bias [out] or TG_NONE */
    tg_real *const v10 = memory + 0;
    tg_real *const v1_turned = memory + 12;
    transpose_copy(3, 2, v1, v1_turned);
    for (size_t r = 0; r < 4; r++) {
        tg_real sum[3];
        for (size_t c = 0; c < 3; c++)
            sum[c] = v2[c];
        for (size_t t = 0; t < 2; t++) {
            const tg_real a = v8[r * 2 + t];
            for (size_t c = 0; c < 3; c++)
                sum[c] = fma_of(a, v1_turned[t * 3 + c], sum[c]);
        }
        for (size_t c = 0; c < 3; c++)
            v10[r * 3 + c] = sum[c];
    }

    /* v11 [4, 3] = relu(v10): max(0, x) */
    tg_real *const v11 = memory + 12;
    for (size_t i = 0; i < 12; i++) {
        const tg_real x = v10[i];
        v11[i] = at_least(x, 0);
    }

    /* v12 [4, 1] = linear(v11, v5, v6): x weight^T + bias: x [..., in], weight [out, in], bias [out] or TG_NONE */
    tg_real *const v12 = memory + 0;
    for (size_t r = 0; r < 4; r++) {
        tg_real sum[1];
        for (size_t c = 0; c < 1; c++)
            sum[c] = v6[0];
        for (size_t t = 0; t < 3; t++) {
            const tg_real a = v11[r * 3 + t];
            for (size_t c = 0; c < 1; c++)
                sum[c] = fma_of(a, v5[t], sum[c]);
        }
        for (size_t c = 0; c < 1; c++)
            v12[r] = sum[c];
    }

    /* v13 [] = mse(v12, v9): the mean of (prediction - target)^2 */
    tg_real *const v13 = memory + 4;
    {
        double sum = 0;
        vector_squared_error(4, v12, v9, &sum);
        v13[0] = (tg_real)(sum / ((double)4));
    }

    /* v14 [] = full(dtype=0, shape=[], value=1): every element the same value */
    tg_real *const v14 = memory + 8;
    for (size_t i = 0; i < 1; i++)
        v14[i] = 1;

    /* v15 [] = mul_scalar(v14, number=0.25): factor x */
    tg_real *const v15 = memory + 24;
    {
        const tg_real x = v14[0];
        const tg_real number = (tg_real)0.25;
        v15[0] = number * x;
    }

    /* v16 [] = mul_scalar(v15, number=2): factor x */
    tg_real *const v16 = memory + 8;
    {
        const tg_real x = v15[0];
        const tg_real number = (tg_real)2;
        v16[0] = number * x;
    }

    /* v17 [4, 1] = sub(v12, v9): a - b */
    tg_real *const v17 = memory + 24;
    for (size_t i = 0; i < 4; i++) {
        const tg_real a = v12[i];
        const tg_real b = v9[i];
        v17[i] = a - b;
    }

    /* v18 [4, 1] = mul(v17, v16): a b */
    tg_real *const v18 = memory + 0;
    for (size_t i = 0; i < 4; i++) {
        const tg_real a = v17[i];
        const tg_real b = v16[0];
        v18[i] = a * b;
    }

    /* v19 [1, 3] = matmul(v18, v11, transpose_a=yes, transpose_b=no): a b over the last two axes, the others broadcast; a vector is a row on the left, a column on the right */
    tg_real *const v19 = state.gradients + 9;
    {
        tg_real sum[3];
        for (size_t c = 0; c < 3; c++)
            sum[c] = 0;
        for (size_t t = 0; t < 4; t++) {
            const tg_real a = v18[t];
            for (size_t c = 0; c < 3; c++)
                sum[c] = fma_of(a, v11[t * 3 + c], sum[c]);
        }
        for (size_t c = 0; c < 3; c++)
            v19[c] = sum[c];
    }

    /* v20 [1] = sum_over(v18, axes=1, keep=no): the sum */
    tg_real *const v20 = state.gradients + 12;
    sum_matrix(4, 1, 0, 1, v18, v20);

    /* v21 [4, 3] = matmul(v18, v5, transpose_a=no, transpose_b=no): a b over the last two axes, the others broadcast; a vector is a row on the left, a column on the right */
    tg_real *const v21 = memory + 24;
    for (size_t r = 0; r < 3; r++) {
        tg_real sum[4];
        for (size_t c = 0; c < 4; c++)
            sum[c] = 0;
        for (size_t t = 0; t < 1; t++) {
            const tg_real a = v5[r];
            for (size_t c = 0; c < 4; c++)
                sum[c] = fma_of(a, v18[c], sum[c]);
        }
        for (size_t c = 0; c < 4; c++)
            v21[r + c * 3] = sum[c];
    }

    /* v22 [4, 3] = relu_grad(v21, v11): a where y > 0, else 0 */
    tg_real *const v22 = memory + 36;
    for (size_t i = 0; i < 12; i++) {
        const tg_real a = v21[i];
        const tg_real b = v11[i];
        v22[i] = b <= 0 ? 0 : a;
    }

    /* v23 [3, 2] = matmul(v22, v8, transpose_a=yes, transpose_b=no): a b over the last two axes, the others broadcast; a vector is a row on the left, a column on the right */
    tg_real *const v23 = state.gradients + 0;
    for (size_t r = 0; r < 2; r++) {
        tg_real sum[3];
        for (size_t c = 0; c < 3; c++)
            sum[c] = 0;
        for (size_t t = 0; t < 4; t++) {
            const tg_real a = v8[r + t * 2];
            for (size_t c = 0; c < 3; c++)
                sum[c] = fma_of(a, v22[t * 3 + c], sum[c]);
        }
        for (size_t c = 0; c < 3; c++)
            v23[r + c * 2] = sum[c];
    }

    /* v24 [3] = sum_over(v22, axes=1, keep=no): the sum */
    tg_real *const v24 = state.gradients + 6;
    sum_matrix(4, 3, 0, 3, v22, v24);

    *loss = (double)v13[0];
    return 0;
}

/* The learning rate of the steps to come. */
static double rate = 0.125;

void tiny_rate(double next);
void tiny_rate(double next)
{
    rate = next;
}

/* The optimiser's step. */
static void update(void)
{
    const double decay = 0;
    const double momentum = 0;
    (void)decay;

    /* layers.0.weight */
    sgd_momentum(6, weights + 0, state.gradients + 0, state.moment1 + 0, 1, rate,
                 momentum, 0, decay);

    /* layers.0.bias */
    sgd_momentum(3, weights + 6, state.gradients + 6, state.moment1 + 6, 1, rate,
                 momentum, 0, 0);

    /* layers.1.weight */
    sgd_momentum(3, weights + 9, state.gradients + 9, state.moment1 + 9, 1, rate,
                 momentum, 0, decay);

    /* layers.1.bias */
    sgd_momentum(1, weights + 12, state.gradients + 12, state.moment1 + 12, 1, rate,
                 momentum, 0, 0);
}

double tiny_train(const float *x, const float *y, size_t n);
double tiny_train(const float *x, const float *y, size_t n)
{
    double loss = 0;
    for (size_t row = 0; row + 4 <= n; row += 4) {
        if (step(x + row * 2, y + row * 1, &loss) != 0)
            return NAN;
        update();
    }
    return loss;
}
