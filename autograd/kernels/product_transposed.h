/* Products that are computed transposed, out^T = start^T + B^T A^T: the same sums in the same order. Only for
 * product_kernel.c. */
#ifndef TG_PRODUCT_TRANSPOSED_H
#define TG_PRODUCT_TRANSPOSED_H

#include "autograd/kernels/product_pack.h"

/* ---- results of a few columns ---- */

INLINE void copy(size_t count, const real *from, size_t from_step, real *to, size_t to_step)
{
    for (size_t i = 0; i < count; i++)
        to[i * to_step] = from[i * from_step];
}

/* Most lanes of their vectors would be empty. So they are computed transposed, out^T = start^T + B^T A^T, some rows at
 * a time: the same sums in the same order. */
static void multiply_narrow(const tg_product_part *p)
{
    real side[NARROW * SIDE] __attribute__((aligned(64)));
    for (size_t row = 0, rows; row < p->m; row += rows) {
        rows = smaller(p->m - row, SIDE);
        real *out = (real *)p->out + row * p->out_row;
        for (size_t j = 0; j < p->n; j++)
            if (p->start == TG_START_BIAS)
                copy(rows, (const real *)p->bias + j, 0, side + j * SIDE, 1);
            else if (p->start == TG_START_OUT)
                copy(rows, out + j, p->out_row, side + j * SIDE, 1);
        multiply_blocks(&(tg_product_part){.m = p->n,
                                           .n = rows,
                                           .k = p->k,
                                           .a = p->b,
                                           .a_row = p->b_column,
                                           .a_step = p->b_step,
                                           .b = (const real *)p->a + row * p->a_row,
                                           .b_step = p->a_step,
                                           .b_column = p->a_row,
                                           .out = side,
                                           .out_row = SIDE,
                                           .start = p->start == TG_START_ZERO ? TG_START_ZERO : TG_START_OUT},
                        NULL);
        for (size_t j = 0; j < p->n; j++)
            copy(rows, side + j * SIDE, 1, out + j, p->out_row);
    }
}

/* True if that is faster: if half of the lanes would be empty, or a third if A's rows are adjacent, so that A need not
 * be packed. With few steps, transposing the result costs more than it saves. */
static bool is_narrow(const tg_product_part *p)
{
    const size_t lanes = p->n <= LANES ? LANES : COLUMNS;
    return p->n <= NARROW && p->m >= LANES && p->k >= 8 * p->n &&
           (p->n <= LANES / 2 || (p->a_row == 1 && 3 * p->n <= 2 * lanes));
}

/* ---- results of some rows, read from a B that would have to be packed ----
 *
 * Packing B takes as long as ten to twenty rows of the result. So a panel has the rows of A, and a tile reads columns
 * of B in place: the weight of a layer, for each batch or each position of a text. */

/* A piece of the steps, for up to COLUMNS rows of the result. */
typedef struct few_rows {
    const tg_product_part *p;
    size_t row, rows, width; /* width: of the panel, in whole vectors */
    bool from_bias;
} few_rows;

/* What the sums of some columns start from, transposed. */
static void start_few(const few_rows *f, size_t column, size_t columns, real *side)
{
    const tg_product_part *p = f->p;
    const real *out = (const real *)p->out + f->row * p->out_row + column, *bias = (const real *)p->bias + column;
    for (size_t j = 0; j < columns; j++)
        if (f->from_bias)
            copy(f->rows, bias + j, 0, side + j * f->width, 1);
        else
            copy(f->rows, out + j, p->out_row, side + j * f->width, 1);
}

/* The tile's panel, steps and start are set. */
static void compute_few(const few_rows *f, tile *t, const real *b)
{
    real side[SIDE * COLUMNS] __attribute__((aligned(64)));
    const tg_product_part *p = f->p;
    for (size_t column = 0, columns; column < p->n; column += columns) {
        columns = smaller(SIDE, p->n - column);
        const pieces tiles = cut(columns, ROWS);
        if (t->start == TG_START_OUT)
            start_few(f, column, columns, side);
        for (size_t i = 0, j = 0; i < tiles.count; j += piece(tiles, i++)) {
            t->a = b + (column + j) * p->b_column;
            t->out = side + j * f->width;
            t->next = t->a + piece(tiles, i) * p->b_column + (p->b_column == 1 ? LINE - 1 : 0);
            t->next_step = p->b_column == 1 ? p->b_step : LINE;
            computes[piece(tiles, i)](t);
        }
        for (size_t j = 0; j < columns; j += LANES)
            pack_rows(side + j * f->width, f->width, LANES, f->rows, p->out_row,
                      (real *)p->out + f->row * p->out_row + column + j);
    }
}

static void multiply_few(const tg_product_part *p)
{
    real panel[ONCE * COLUMNS] __attribute__((aligned(64)));
    const pieces depths = cut(p->k, p->k <= ONCE ? ONCE : KC);
    few_rows f = {.p = p};
    for (; f.row < p->m; f.row += f.rows) {
        f.rows = smaller(COLUMNS, p->m - f.row);
        f.width = f.rows > LANES ? COLUMNS : LANES;
        for (size_t i = 0, step = 0; i < depths.count; step += piece(depths, i++)) {
            f.from_bias = i == 0 && p->start == TG_START_BIAS;
            tile t = {.k = piece(depths, i),
                      .a_row = p->b_column,
                      .a_step = p->b_step,
                      .b = panel,
                      .b_step = f.width,
                      .out_row = f.width,
                      .last = LANES,
                      .start = i == 0 && p->start == TG_START_ZERO ? TG_START_ZERO : TG_START_OUT,
                      .wide = f.width > LANES};
            pack((const real *)p->a + f.row * p->a_row + step, p->a_row, 1, f.rows, t.k, f.width, panel);
            compute_few(&f, &t, (const real *)p->b + step * p->b_step);
        }
    }
}

/* True if that is faster: a large B for few rows, that is transposed and fits into the L2 cache, or would be packed.
 * Columns that are whole pages apart fall into the same few sets of the cache. */
static bool is_few(const tg_product_part *p)
{
    enum { L2 = 2000 << 10, FAR_AND_OFTEN = 8 << 20, LARGE_B = 16 << 10 };
    if (p->a_step != 1 || p->m <= LANES / 2 || p->m > 2 * COLUMNS || p->n % LANES != 0 || p->k < 64 ||
        p->n * p->k < LARGE_B)
        return false;
    if (p->b_column == 1)
        return p->m > ROWS && p->m * p->k * p->b_step * sizeof(real) >= (size_t)FAR_AND_OFTEN;
    return p->b_column % PAGE != 0 && p->n * p->k * sizeof(real) < (size_t)L2;
}

#endif
