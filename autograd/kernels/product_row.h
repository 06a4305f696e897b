/* Products that read most of their operands once, so that packing would cost more than the product: those of one row,
 * and those of few steps. Only for product_kernel.c. Each sum is the same chain as in a tile. */
#ifndef TG_PRODUCT_ROW_H
#define TG_PRODUCT_ROW_H

#include "autograd/kernels/product_pack.h"

/* ---- one row, the columns of B adjacent: some vectors of sums in registers, and a run of each row of B ---- */

enum { RUN = BYTES == 64 ? 16 : 8 }; /* vectors */

INLINE vector row_start(const tg_product_part *p, size_t column)
{
    const real *from = p->start == TG_START_OUT ? p->out : p->bias;
    return p->start == TG_START_ZERO ? (vector){0} : load(from + column);
}

INLINE void multiply_run(size_t vectors, const tg_product_part *p, size_t column)
{
    const real *a = p->a, *b = (const real *)p->b + column;
    vector sum[RUN] = {{0}}; /* or compilers warn */
    UNROLL
    for (size_t v = 0; v < vectors; v++)
        sum[v] = row_start(p, column + v * LANES);
    for (size_t l = 0; l < p->k; l++, a += p->a_step, b += p->b_step) {
        UNROLL
        for (size_t v = 0; v < vectors; v++)
            sum[v] = multiply_add(*a, load(b + v * LANES), sum[v]);
    }
    UNROLL
    for (size_t v = 0; v < vectors; v++)
        *(loose *)((real *)p->out + column + v * LANES) = sum[v];
}

/* Returns how many columns are computed: all but those of the last, incomplete vector. */
static size_t multiply_adjacent(const tg_product_part *p)
{
    size_t column = 0;
    for (; column + RUN * LANES <= p->n; column += RUN * LANES)
        multiply_run(RUN, p, column);
    for (; column + RUN / 4 * LANES <= p->n; column += RUN / 4 * LANES)
        multiply_run(RUN / 4, p, column);
    for (; column + LANES <= p->n; column += LANES)
        multiply_run(1, p, column);
    return column;
}

/* ---- one row, B transposed: its columns are transposed in registers ---- */

enum { GROUPS = 2 }; /* vectors of columns at a time: sums wait for each other */

/* Steps 0 .. CHUNK - 1 of LANES columns that are `apart`, in the order of the sums. */
INLINE void transposed_steps(const real *from, size_t apart, vector step[4])
{
    vector x[4];
    UNROLL
    for (int i = 0; i < CHUNK; i++)
        x[i] = chunks_apart(from + (size_t)i * apart, CHUNK * apart);
    if (CHUNK == 2) {
        step[0] = LOW_64(x[0], x[1]);
        step[1] = HIGH_64(x[0], x[1]);
        return;
    }
    const vector low01 = LOW_32(x[0], x[1]), low23 = LOW_32(x[2], x[3]);
    const vector high01 = HIGH_32(x[0], x[1]), high23 = HIGH_32(x[2], x[3]);
    step[0] = LOW_64(low01, low23);
    step[1] = HIGH_64(low01, low23);
    step[2] = LOW_64(high01, high23);
    step[3] = HIGH_64(high01, high23);
}

INLINE void multiply_groups(size_t groups, const tg_product_part *p, size_t column)
{
    const size_t apart = p->b_column;
    const real *a = p->a, *b = (const real *)p->b + column * apart;
    vector sum[GROUPS], step[4];
    size_t l = 0;
    for (size_t g = 0; g < groups; g++)
        sum[g] = row_start(p, column + g * LANES);
    for (; l + CHUNK <= p->k; l += CHUNK)
        for (size_t g = 0; g < groups; g++) {
            transposed_steps(b + g * LANES * apart + l, apart, step);
            UNROLL
            for (size_t i = 0; i < CHUNK; i++)
                sum[g] = multiply_add(a[(l + i) * p->a_step], step[i], sum[g]);
        }
    for (; l < p->k; l++)
        for (size_t g = 0; g < groups; g++) {
            vector last = {0}; /* or compilers warn */
            for (size_t lane = 0; lane < LANES; lane++)
                last[lane] = b[(g * LANES + lane) * apart + l];
            sum[g] = multiply_add(a[l * p->a_step], last, sum[g]);
        }
    for (size_t g = 0; g < groups; g++)
        *(loose *)((real *)p->out + column + g * LANES) = sum[g];
}

static size_t multiply_transposed(const tg_product_part *p)
{
    size_t column = 0;
    for (; column + GROUPS * LANES <= p->n; column += GROUPS * LANES)
        multiply_groups(GROUPS, p, column);
    for (; column + LANES <= p->n; column += LANES)
        multiply_groups(1, p, column);
    return column;
}

/* ---- few steps: a row of the result at a time ---- */

enum { SHALLOW = 4 };

INLINE void multiply_shallow(size_t k, const tg_product_part *p, size_t columns)
{
    const real *a = p->a, *b = p->b;
    for (size_t row = 0; row < p->m; row++, a += p->a_row) {
        real *out = (real *)p->out + row * p->out_row;
        const real *start = p->start == TG_START_OUT ? out : p->bias;
        real factor[SHALLOW];
        for (size_t l = 0; l < k; l++)
            factor[l] = a[l * p->a_step];
        for (size_t column = 0; column < columns; column += LANES) {
            vector sum = p->start == TG_START_ZERO ? (vector){0} : load(start + column);
            UNROLL
            for (size_t l = 0; l < k; l++)
                sum = multiply_add(factor[l], load(b + l * p->b_step + column), sum);
            *(loose *)(out + column) = sum;
        }
    }
}

/* True if the product is of one of these kinds. */
INLINE bool is_thin(const tg_product_part *p)
{
    return (p->m == 1 && (p->b_column == 1 || p->b_step == 1)) ||
           (p->k >= 1 && p->k <= SHALLOW && p->b_column == 1 && p->m >= LANES && p->n >= 4 * LANES);
}

/* Returns how many columns are computed: whole vectors. */
static size_t multiply_thin(const tg_product_part *p)
{
    const size_t columns = p->n / LANES * LANES;
    if (p->m == 1)
        return p->b_column == 1 ? multiply_adjacent(p) : multiply_transposed(p);
    if (p->k == 1)
        multiply_shallow(1, p, columns);
    else if (p->k == 2)
        multiply_shallow(2, p, columns);
    else if (p->k == 3)
        multiply_shallow(3, p, columns);
    else
        multiply_shallow(4, p, columns);
    return columns;
}

#endif
