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
 * Static memory: 384 bytes for values, 52 of weights and constants, 104 for training.
 * C99, to be compiled without contraction, and with fused multiply-adds where the processor has them:
 * cc -std=c99 -O3 -ffp-contract=off -march=native */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 0: without fused multiply-adds, for processors on which fma() of the C library is slow; the results differ then. */
#ifndef TG_HAS_FMA
#define TG_HAS_FMA 1
#endif

#ifdef __GNUC__
#define TG_INLINE static inline __attribute__((always_inline, unused))
#else
#define TG_INLINE static inline
#endif
/* Before a loop that shall become vector code. GCC would take a loop over one vector apart, element by element, before
 * it looks for vectors. */
#if defined __GNUC__ && __GNUC__ >= 8
#define TG_SIMD _Pragma("GCC unroll 1")
#else
#define TG_SIMD
#endif

/* Bytes of a vector. GCC takes half of AVX's for the first generation of Zen, which computes by halves. */
#if defined __AVX512F__
#define TG_VECTOR 64
#elif defined __AVX__ && (!defined __znver1__ || defined __clang__)
#define TG_VECTOR 32
#else
#define TG_VECTOR 16
#endif

/* The vectors of a tile, whose sums stay in registers, and how many of them are in a row: more if it is the only row, as
 * a sum waits for its last multiplication. GCC would exchange the loops over rows and steps, and address one operand by
 * its distance from another; either keeps the sums in memory. Clang keeps more of them there than these. */
#if defined __GNUC__ && __GNUC__ >= 8
enum { TG_TILE_SUMS = 12, TG_TILE_VECTORS = 2, TG_ROW_VECTORS = TG_VECTOR == 16 ? 8 : 4 };
#define TG_ALL_SUMS _Pragma("GCC unroll 12")
#define TG_UNRELATED(pointer) __asm__("" : "+r"(pointer))
#else
enum { TG_TILE_SUMS = 4, TG_TILE_VECTORS = 1, TG_ROW_VECTORS = TG_VECTOR == 64 ? 1 : 4 };
#define TG_ALL_SUMS
#define TG_UNRELATED(pointer)
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

/* Sixteen parallel sums, joined in a tree, then the remaining elements: the same order for all vector widths. */
#define TG_SUM_OF_TWO(expression)                                                                         \
    {                                                                                                     \
        const tg_real *const left = a_, *const right = b_;                                                \
        const size_t whole = n / 16 * 16;                                                                 \
        double lane[16] = {0}, rest = 0;                                                                  \
        for (size_t start = 0; start < whole; start += 16) {                                              \
            TG_SIMD                                                                                       \
            for (size_t k = 0; k < 16; k++) {                                                             \
                const double a = (double)left[start + k], b = (double)right[start + k];                   \
                lane[k] += (expression);                                                                  \
            }                                                                                             \
        }                                                                                                 \
        for (size_t i = whole; i < n; i++) {                                                              \
            const double a = (double)left[i], b = (double)right[i];                                       \
            rest += (expression);                                                                         \
        }                                                                                                 \
        for (int k = 0; k < 4; k++)                                                                       \
            lane[k] = (lane[k] + lane[k + 4]) + (lane[k + 8] + lane[k + 12]);                             \
        *sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + rest;                                        \
    }

#define TG_SUM_KERNEL(name, expression) \
    static void vector_##name(size_t n, const void *a_, const void *b_, double *sum) TG_SUM_OF_TWO(expression)
TG_SUM_KERNEL(squared_error, (a - b) * (a - b))

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
    TG_SIMD
    for (size_t i = 0; i < n; i++) {
        const tg_real p = parameter[i], g = scale * gradient[i] + shrink * p;
        const tg_real speed = keep * velocity[i] + g;
        velocity[i] = speed;
        parameter[i] = p - rate * (part * g + whole * speed);
    }
}

/* y [16, 16] = x^T, in two rounds that each interleave four arrays. Rows of x from number `rows` on are zeros. */
static void transpose(size_t rows, const tg_real *x, size_t x_row, tg_real *y)
{
    static const tg_real zeros[16];
    tg_real half[4][64];
    for (size_t c = 0; c < 4; c++) {
        const tg_real *row[4];
        for (size_t q = 0; q < 4; q++)
            row[q] = c + 4 * q < rows ? x + (c + 4 * q) * x_row : zeros;
        TG_SIMD
        for (size_t i = 0; i < 16; i++) {
            half[c][4 * i] = row[0][i];
            half[c][4 * i + 1] = row[1][i];
            half[c][4 * i + 2] = row[2][i];
            half[c][4 * i + 3] = row[3][i];
        }
    }
    for (size_t i = 0; i < 64; i++) {
        y[4 * i] = half[0][i];
        y[4 * i + 1] = half[1][i];
        y[4 * i + 2] = half[2][i];
        y[4 * i + 3] = half[3][i];
    }
}

/* A copy of B [k, n], whose element (t, c) is b[t * step + c * column], as panels [k, width] of some columns each, with
 * zeros from column n on. */
static void pack(size_t k, size_t n, const tg_real *b, size_t step, size_t column, size_t width, tg_real *panel)
{
    for (size_t first = 0; first < n; first += width, panel += k * width) {
        const size_t some = n - first < width ? n - first : width;
        const size_t by_blocks = step == 1 && width == 16 ? k / 16 * 16 : 0;
        for (size_t t = 0; t < by_blocks; t += 16)
            transpose(some, b + first * column + t, column, panel + t * width);
        for (size_t t = by_blocks; t < k; t++) {
            for (size_t c = 0; c < some; c++)
                panel[t * width + c] = b[t * step + (first + c) * column];
            for (size_t c = some; c < width; c++)
                panel[t * width + c] = 0;
        }
    }
}

/* A few rows of a product, and some columns: `vectors` of `lanes` each are computed, of which the last columns are not
 * stored. Their sums stay in registers. They begin with the bias, or, if it `adds`, with what is in `out`. */
TG_INLINE void multiply_tile(size_t rows, size_t vectors, size_t columns, size_t lanes, size_t k, const tg_real *a,
                             size_t a_row, size_t a_step, const tg_real *b, size_t b_step, const tg_real *bias,
                             int adds, tg_real *out, size_t out_row, size_t out_column)
{
    tg_real sum[TG_TILE_SUMS][TG_VECTOR / sizeof(tg_real)];
    TG_UNRELATED(a);
    for (size_t i = 0; i < rows * vectors; i++) {
        const size_t r = i / vectors, first = i % vectors * lanes;
        TG_SIMD
        for (size_t c = 0; c < lanes; c++)
            sum[i][c] = first + c >= columns ? 0
                        : adds               ? out[r * out_row + (first + c) * out_column]
                        : bias               ? bias[first + c]
                                             : 0;
    }
    for (size_t t = 0; t < k; t++)
        TG_ALL_SUMS
        for (size_t r = 0; r < rows; r++) {
            const tg_real factor = a[r * a_row + t * a_step];
            TG_ALL_SUMS
            for (size_t v = 0; v < vectors; v++)
                TG_SIMD
                for (size_t c = 0; c < lanes; c++)
                    sum[r * vectors + v][c] = fma_of(factor, b[t * b_step + v * lanes + c], sum[r * vectors + v][c]);
        }
    for (size_t i = 0; i < rows * vectors; i++) {
        const size_t first = i % vectors * lanes, some = columns - first < lanes ? columns - first : lanes;
        TG_SIMD
        for (size_t c = 0; c < some; c++)
            out[i / vectors * out_row + (first + c) * out_column] = sum[i][c];
    }
}

/* The same for all rows, in tiles of nearly equal size. So many steps at a time that their columns of B stay in the L1
 * cache. */
TG_INLINE void multiply_columns(size_t m, size_t vectors, size_t columns, size_t lanes, size_t k, const tg_real *a,
                                size_t a_row, size_t a_step, const tg_real *b, size_t b_step, const tg_real *bias,
                                int adds, tg_real *out, size_t out_row, size_t out_column)
{
    const size_t most = TG_TILE_SUMS / vectors, tiles = (m + most - 1) / most, rows = (m + tiles - 1) / tiles,
                 rest = m % rows, steps = tiles > 1 && k > 512 ? 400 : k;
    size_t t = 0;
    do {
        const tg_real *from = t == 0 ? bias : NULL;
        const int more = adds || t > 0;
        const size_t some = k - t < steps ? k - t : steps;
        for (size_t r = 0; r < m - rest; r += rows)
            multiply_tile(rows, vectors, columns, lanes, some, a + r * a_row, a_row, a_step, b, b_step, from, more,
                          out + r * out_row, out_row, out_column);
        if (rest)
            multiply_tile(rest, vectors, columns, lanes, some, a + (m - rest) * a_row, a_row, a_step, b, b_step, from,
                          more, out + (m - rest) * out_row, out_row, out_column);
        a += steps * a_step;
        b += steps * b_step;
        t += steps;
    } while (t < k);
}

/* out [m, n] = bias + A B: A [m, k], whose element (r, t) is a[r * a_row + t * a_step]; B [k, n], whose rows begin at
 * b[t * b_step], or, unless `panel` is 0, panels of so many elements made by pack(), of b_step columns each. The bias
 * may be NULL. If it `adds`, out += A B; there is no bias then, and n is a multiple of the panel or of a vector. */
TG_INLINE void multiply(size_t m, size_t n, size_t k, const tg_real *a, size_t a_row, size_t a_step, const tg_real *b,
                        size_t b_step, size_t panel, const tg_real *bias, int adds, tg_real *out,
                        size_t out_row, size_t out_column)
{
    const size_t most = TG_VECTOR / sizeof(tg_real), width = panel ? b_step : n, lanes = width < most ? width : most;
    const size_t rest = n % lanes, last = panel || n < lanes ? n - rest : n - lanes; /* or compute some columns twice */
    const size_t vectors = m == 1 ? TG_ROW_VECTORS : TG_TILE_VECTORS, together = vectors * lanes;
    size_t c = 0;
    for (; c + together <= n && (!panel || width % together == 0); c += together)
        multiply_columns(m, vectors, together, lanes, k, a, a_row, a_step,
                         panel ? b + c / width * panel + c % width : b + c, b_step, bias ? bias + c : NULL, adds, out + c * out_column, out_row, out_column);
    for (; c < n - rest; c += lanes)
        multiply_columns(m, 1, lanes, lanes, k, a, a_row, a_step, panel ? b + c / width * panel + c % width : b + c,
                         b_step, bias ? bias + c : NULL, adds, out + c * out_column, out_row, out_column);
    if (rest)
        multiply_columns(m, 1, n - last, lanes, k, a, a_row, a_step,
                         panel ? b + last / width * panel + last % width : b + last, b_step,
                         bias ? bias + last : NULL, adds, out + last * out_column, out_row, out_column);
}

static tg_real memory[96];
static tg_real weights[13] = {
    /* layers.0.weight [3, 2] */
    0x1.475ce8p-3f, -0x1.efc23ep-2f, -0x1.8fe1e6p-1f, -0x1.596e56p+0f, -0x1.01f7ccp-1f, -0x1.189768p-1f,
    /* layers.0.bias [3] */
    0, 0, 0,
    /* layers.1.weight [1, 3] */
    0x1.621d08p-3f, 0x1.6f505ap-6f, -0x1.c6a162p-6f,
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
    pack(2, 3, v1, 1, 2, 4, memory + 16);
    multiply(1, 3, 2, v0, 2, 1, memory + 16, 4, 8, v2, 0, v3, 3, 1);

    /* v4 [1, 3] = relu(v3): max(0, x) */
    tg_real *const v4 = memory + 16;
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
    multiply(1, 1, 3, v4, 3, 1, v5, 1, 0, v6, 0, v7, 1, 1);

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
    pack(2, 3, v1, 1, 2, 4, memory + 16);
    multiply(4, 3, 2, v8, 2, 1, memory + 16, 4, 8, v2, 0, v10, 3, 1);

    /* v11 [4, 3] = relu(v10): max(0, x) */
    tg_real *const v11 = memory + 16;
    for (size_t i = 0; i < 12; i++) {
        const tg_real x = v10[i];
        v11[i] = at_least(x, 0);
    }

    /* v12 [4, 1] = linear(v11, v5, v6): x weight^T + bias: x [..., in], weight [out, in], bias [out] or TG_NONE */
    tg_real *const v12 = memory + 0;
    multiply(4, 1, 3, v11, 3, 1, v5, 1, 0, v6, 0, v12, 1, 1);

    /* v13 [] = mse(v12, v9): the mean of (prediction - target)^2 */
    tg_real *const v13 = memory + 32;
    {
        double sum = 0;
        vector_squared_error(4, v12, v9, &sum);
        v13[0] = (tg_real)(sum / ((double)4));
    }

    /* v14 [] = full(dtype=0, shape=[], value=1): every element the same value */
    tg_real *const v14 = memory + 48;
    for (size_t i = 0; i < 1; i++)
        v14[i] = 1;

    /* v15 [] = mul_scalar(v14, number=0.25): factor x */
    tg_real *const v15 = memory + 64;

    /* v16 [] = mul_scalar(v15, number=2): factor x */
    tg_real *const v16 = memory + 80;
    {
        const tg_real x = v14[0];
        const tg_real number = (tg_real)0.25;
        v15[0] = number * x;
    }
    {
        const tg_real x = v15[0];
        const tg_real number = (tg_real)2;
        v16[0] = number * x;
    }

    /* v17 [4, 1] = sub(v12, v9): a - b */
    tg_real *const v17 = memory + 48;

    /* v18 [4, 1] = mul(v17, v16): a b */
    tg_real *const v18 = memory + 64;
    for (size_t i = 0; i < 4; i++) {
        {
            const tg_real a = v12[i];
            const tg_real b = v9[i];
            v17[i] = a - b;
        }
        {
            const tg_real a = v17[i];
            const tg_real b = v16[0];
            v18[i] = a * b;
        }
    }

    /* v19 [1, 3] = matmul(v18, v11, transpose_a=yes, transpose_b=no): a b over the last two axes, the others broadcast; a vector is a row on the left, a column on the right */
    tg_real *const v19 = state.gradients + 9;
    multiply(1, 3, 4, v18, 1, 1, v11, 3, 0, NULL, 0, v19, 3, 1);

    /* v20 [1] = sum_over(v18, axes=1, keep=no): the sum */
    tg_real *const v20 = state.gradients + 12;
    sum_matrix(4, 1, 0, 1, v18, v20);

    /* v21 [4, 3] = matmul(v18, v5, transpose_a=no, transpose_b=no): a b over the last two axes, the others broadcast; a vector is a row on the left, a column on the right */
    tg_real *const v21 = memory + 0;
    multiply(3, 4, 1, v5, 1, 3, v18, 1, 0, NULL, 0, v21, 1, 3);

    /* v22 [4, 3] = relu_grad(v21, v11): a where y > 0, else 0 */
    tg_real *const v22 = memory + 48;
    for (size_t i = 0; i < 12; i++) {
        const tg_real a = v21[i];
        const tg_real b = v11[i];
        v22[i] = b <= 0 ? 0 : a;
    }

    /* v23 [3, 2] = matmul(v22, v8, transpose_a=yes, transpose_b=no): a b over the last two axes, the others broadcast; a vector is a row on the left, a column on the right */
    tg_real *const v23 = state.gradients + 0;
    multiply(2, 3, 4, v8, 1, 2, v22, 3, 0, NULL, 0, v23, 1, 2);

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
    /* layers.0.bias */
    /* layers.1.weight */
    /* layers.1.bias */
    sgd_momentum(13, weights + 0, state.gradients + 0, state.moment1 + 0, 1, rate,
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
