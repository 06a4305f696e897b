/* Matrix products by one instruction set, TG_ISA, in one type, TG_REAL: the Makefile compiles this file once for each
 * pair.
 *
 *     for a block of rows of A, and KC steps of k:                 perhaps pack it, for the L2 cache and beyond
 *         for 2 LANES columns of B:                                perhaps pack them into a panel, about the L1 cache
 *             for up to ROWS rows of the block:                    a tile: ROWS x 2 vectors of sums in registers
 *
 * That is the blocking of BLIS (Van Zee, van de Geijn: "BLIS: A Framework for Rapidly Instantiating BLAS
 * Functionality", 2015), but B's panels are packed one at a time, right before they are used. Rows are divided evenly:
 * 16 are 8 and 8, not 14 and 2.
 */
#if defined __FMA__ || defined __aarch64__
#define FUSED 1
#else
#define FUSED 0
#endif

/* On other processors with such an instruction products would not be those of the baseline. x86's baseline has none. */
#if !FUSED && defined __clang__
#pragma clang fp contract(off)
#elif !FUSED && !defined __x86_64__
#pragma GCC optimize("fp-contract=off")
#endif

#include "autograd/kernels/product_kernel.h"

#include "autograd/kernels/product_pack.h"
#include "autograd/kernels/product_row.h"
#include "autograd/kernels/scratch.h"

#include <stdbool.h>

/* For each instruction set: rows of a tile, and KB of a panel. */
#if defined __AVX512F__
enum { ROWS = 14, PANEL = 48 }; /* 28 of 32 registers hold sums */
#define ROW_COUNTS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#elif defined __AVX2__
enum { ROWS = 6, PANEL = sizeof(real) == 4 ? 32 : 24 }; /* 12 of 16 registers */
#define ROW_COUNTS(X) X(1) X(2) X(3) X(4) X(5) X(6)
#elif defined __aarch64__
enum { ROWS = 12, PANEL = 16 }; /* 24 of 32 registers */
#define ROW_COUNTS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12)
#else
enum { ROWS = 4, PANEL = 16 }; /* 8 of 16 registers: without fused multiply-adds a product needs another one */
#define ROW_COUNTS(X) X(1) X(2) X(3) X(4)
#endif

enum {
    COLUMNS = 2 * LANES,
    WIDTH = (ROWS + LANES - 1) / LANES * LANES,         /* whole vectors for a step of packed A, */
    GROUP = BYTES == 32 ? ROWS : WIDTH,                 /* and the memory for them */
    KC = (PANEL << 10) / (COLUMNS * (int)sizeof(real)), /* steps in a panel of B */
    /* Steps that are one panel if there are no more: the result is written once. */
    ONCE = BYTES == 32 && sizeof(real) == 4 ? KC * 8 / 5 : KC * 4 / 3,
    TILES =
        (BYTES == 32 ? TG_SCRATCH : 1800 << 10) / ((ONCE * GROUP + WIDTH) * (int)sizeof(real)), /* in a block of A */
    PAGE = 4096 / (int)sizeof(real),
    NARROW = COLUMNS * 3 / 4, /* room for the columns of a result that is computed transposed, */
    SIDE = 4 * COLUMNS,       /* and the number of its rows computed at a time */
    /* bytes of B and the result from which on lines that other work has evicted are prefetched */
    PREFETCH_FROM = 64 << 10, /* those of B and the result */
    LARGE = 2 << 20,          /* and those of B's panel and of A */
};

/* ---- tiles ---- */

typedef struct tile {
    size_t k;
    const real *a;
    size_t a_row, a_step;
    const real *b; /* whole vectors in each step, except the last one on AVX-512 */
    size_t b_step;
    const real *bias;
    real *out;
    size_t out_row, last; /* columns in the last vector */
    tg_product_start start;
    bool wide;        /* two vectors of columns */
    bool large;       /* see LARGE */
    const real *next; /* unless NULL, what the next tile reads: a line for each step, prefetched */
    size_t next_step;
} tile;

/* In these functions, `rows`, `vectors`, `side_by_side` (a step of A is contiguous), `whole` (the last vector is full),
 * and `large` are constants. */

INLINE void begin(size_t rows, size_t vectors, bool whole, const tile *t, vector sum[][2])
{
    const real *from = t->start == TG_START_OUT ? t->out : t->bias;
    const size_t row = t->start == TG_START_OUT ? t->out_row : 0;
    UNROLL
    for (size_t r = 0; r < rows; r++)
        sum[r][0] = sum[r][1] = (vector){0};
    if (t->start == TG_START_ZERO)
        return;
    UNROLL
    for (size_t r = 0; r < rows; r++, from += row) {
        const real *from_last = from + (vectors - 1) * LANES;
        if (vectors == 2)
            sum[r][0] = load(from);
        sum[r][vectors - 1] = whole ? load(from_last) : load_part(from_last, first_lanes(t->last));
    }
}

/* Adds the steps of k. The loop is unrolled twice, which halves the counting. Operands that do not fit into the L1
 * cache are prefetched some steps ahead.
 *
 * Three separate rows of A share a pointer, as an address may be the sum of two registers, one of them doubled. The
 * empty asm hides the relation of the pointers from the compiler, which would keep one of them and an offset for each
 * row, and run out of registers. */
INLINE void add_steps(size_t rows, size_t vectors, bool side_by_side, bool whole, bool large, bool ahead, const tile *t,
                      vector sum[][2])
{
    enum { AHEAD = 16 };
    const size_t together = side_by_side ? rows : 3, groups = (rows + together - 1) / together;
    const size_t a_row = side_by_side ? 1 : t->a_row, a_step = t->a_step, b_step = t->b_step, k = t->k;
    const real *a[ROWS], *b = t->b, *next = t->next;
    const size_t next_step = t->next_step;
    UNROLL
    for (size_t g = 0; g < groups; g++) {
        a[g] = t->a + g * together * a_row;
        __asm__("" : "+r"(a[g]));
    }
#pragma GCC unroll 2
    for (size_t l = 0; l < k; l++, b += b_step) {
        const real *b_last = b + (vectors - 1) * LANES;
        const vector last = whole || BYTES < 64 ? load(b_last) : load_part(b_last, first_lanes(t->last)),
                     y[2] = {vectors == 2 ? load(b) : last, last};
        for (size_t j = 0; large && j < vectors * LANES; j += LINE)
            __builtin_prefetch(b + AHEAD * b_step + j);
        if (large && side_by_side)
            __builtin_prefetch(a[0] + AHEAD * a_step);
        if (ahead) {
            __builtin_prefetch(next);
            next += next_step;
        }
        UNROLL
        for (size_t r = 0; r < rows; r++) {
            UNROLL
            for (size_t v = 0; v < vectors; v++)
                sum[r][v] = multiply_add(a[r / together][r % together * a_row], y[v], sum[r][v]);
        }
        UNROLL
        for (size_t g = 0; g < groups; g++)
            a[g] += a_step;
    }
}

INLINE void end(size_t rows, size_t vectors, bool whole, const tile *t, vector sum[][2])
{
    real *out = t->out;
    UNROLL
    for (size_t r = 0; r < rows; r++, out += t->out_row) {
        real *out_last = out + (vectors - 1) * LANES;
        if (vectors == 2)
            *(loose *)out = sum[r][0];
        if (whole)
            *(loose *)out_last = sum[r][vectors - 1];
        else
            store_part(out_last, first_lanes(t->last), sum[r][vectors - 1]);
    }
}

INLINE void compute_part(size_t rows, size_t vectors, bool side_by_side, bool whole, bool large, bool ahead,
                         const tile *t)
{
    vector sum[ROWS][2]; /* stay in registers */
    begin(rows, vectors, whole, t, sum);
    add_steps(rows, vectors, side_by_side, whole, large, ahead, t, sum);
    end(rows, vectors, whole, t, sum);
}

/* A mask costs time in each step. */
INLINE void compute(size_t rows, size_t vectors, bool side_by_side, const tile *t)
{
    if (t->last < LANES)
        compute_part(rows, vectors, side_by_side, false, false, false, t);
    else if (t->next)
        compute_part(rows, vectors, side_by_side, true, false, true, t);
    else if (t->large)
        compute_part(rows, vectors, side_by_side, true, true, false, t);
    else
        compute_part(rows, vectors, side_by_side, true, false, false, t);
}

typedef void (*compute_tile)(const tile *t);

#define COMPUTES(rows)                        \
    static void compute_##rows(const tile *t) \
    {                                         \
        if (t->a_row == 1 && t->wide)         \
            compute(rows, 2, true, t);        \
        else if (t->a_row == 1)               \
            compute(rows, 1, true, t);        \
        else if (t->wide)                     \
            compute(rows, 2, false, t);       \
        else                                  \
            compute(rows, 1, false, t);       \
    }
ROW_COUNTS(COMPUTES)

#if !defined TG_NO_WINDOWS
#include "autograd/kernels/product_windows.h"
#include "autograd/kernels/product_winograd.h"
#endif

/* Indexed by rows. */
#define COMPUTE_NAME(rows) compute_##rows,
static const compute_tile computes[] = {NULL, ROW_COUNTS(COMPUTE_NAME)};
#if !defined TG_NO_WINDOWS
static const convolve_tile convolves[] = {NULL, ROW_COUNTS(CONVOLVE_NAME)};
static const correlate_tile correlates[] = {NULL, ROW_COUNTS(CORRELATE_NAME)};
#endif

/* ---- pieces of nearly equal size ---- */

typedef struct pieces {
    size_t count, size, larger; /* the first `larger` pieces have one more element */
} pieces;

INLINE pieces cut(size_t whole, size_t most)
{
    if (whole <= most)
        return (pieces){1, whole, 0};
    const size_t count = (whole + most - 1) / most;
    return (pieces){count, whole / count, whole % count};
}

INLINE size_t piece(pieces p, size_t i)
{
    return p.size + (i < p.larger);
}

/* ---- blocks ---- */

/* A piece of the work: rows of the result, and steps of k. */
typedef struct block {
    size_t m, n, k;
    const real *a, *b, *bias;
    size_t a_row, a_step, b_step, b_column;
    real *out;
    size_t out_row;
    tg_product_start start;
    bool far, large;
    real *packed_a; /* NULL: A is used in place */
} block;

/* Prefetches the lines of the result that a tile writes, while it computes. */
INLINE void prefetch_out(const block *s, const real *out, size_t rows, size_t columns)
{
    for (size_t r = 0; r < rows; r++, out += s->out_row)
        for (size_t j = 0; j < columns; j += LINE)
            __builtin_prefetch(out + j, 1);
}

/* Prefetches a tile's share of the columns of B that are used after those from `column` on: a share of their steps, or
 * of the columns if these are not adjacent. */
static void prefetch_b(const block *s, size_t column, size_t part, size_t parts)
{
    const size_t next = column + COLUMNS;
    if (next >= s->n)
        return;
    const real *b = s->b + next * s->b_column;
    const size_t columns = smaller(s->n - next, COLUMNS), whole = s->b_column == 1 ? s->k : columns;
    const size_t share = (whole + parts - 1) / parts, end = smaller((part + 1) * share, whole);
    for (size_t i = part * share; i < end; i++)
        if (s->b_column == 1)
            for (size_t j = 0; j < columns; j += LINE)
                __builtin_prefetch(b + i * s->b_step + j, 0, 2);
        else
            for (size_t l = 0; l < s->k; l += LINE)
                __builtin_prefetch(b + i * s->b_column + l, 0, 2);
}

/* The start of tile i of packed A. */
INLINE real *packed_tile(const block *s, size_t i)
{
    return s->packed_a + i * (s->k * GROUP + WIDTH);
}

/* Computes up to COLUMNS columns of a block, from `column` on, with a tile whose B and last columns are set. */
static void compute_columns(const block *s, tile *t, pieces tiles, size_t column, size_t columns)
{
    for (size_t i = 0, row = 0; i < tiles.count; row += piece(tiles, i++)) {
        const size_t rows = piece(tiles, i);
        t->a = s->packed_a ? packed_tile(s, i) : s->a + row * s->a_row;
        t->out = s->out + row * s->out_row + column;
        if (s->far) {
            prefetch_out(s, t->out, rows, columns);
            prefetch_b(s, column, i, tiles.count);
        }
        computes[rows](t);
    }
}

/* Packs some steps of all tiles, then the next, as this is A's order in memory if its rows are adjacent. Lanes beyond a
 * tile are filled from the rows after it. */
static void pack_a(const block *s, pieces tiles)
{
    const size_t some = s->a_row == 1 ? 16 : s->k;
    for (size_t step = 0; step < s->k; step += some)
        for (size_t i = 0, row = 0; i < tiles.count; row += piece(tiles, i++))
            pack(s->a + row * s->a_row + step * s->a_step, s->a_row, s->a_step, smaller(WIDTH, s->m - row),
                 smaller(some, s->k - step), GROUP, packed_tile(s, i) + step * GROUP);
}

/* True if columns of B are packed into panels. Adjacent columns are used in place if their steps are close together or
 * few rows use them. Packing costs time once for all rows, and saves each tile the cache and TLB misses of distant
 * steps. */
static bool packs_b(const block *s, size_t tiles)
{
    enum { FAR_AND_OFTEN = 8 << 20 }; /* bytes, times rows */
    return s->b_column != 1 || (tiles > 1 && s->m * s->k * s->b_step * sizeof(real) >= (size_t)FAR_AND_OFTEN);
}

static void compute_block(const block *s)
{
    real panel[ONCE * COLUMNS] __attribute__((aligned(64)));
    const pieces tiles = cut(s->m, ROWS);
    if (s->packed_a)
        pack_a(s, tiles);
    for (size_t column = 0; column < s->n; column += COLUMNS) {
        const size_t columns = smaller(s->n - column, COLUMNS), width = columns > LANES ? COLUMNS : LANES;
        const bool packs = packs_b(s, tiles.count) || (columns < width && BYTES < 64);
        const real *b = s->b + column * s->b_column;
        tile t = {.k = s->k,
                  .a_row = s->packed_a ? 1 : s->a_row,
                  .a_step = s->packed_a ? GROUP : s->a_step,
                  .b = packs ? panel : b,
                  .b_step = packs ? width : s->b_step,
                  .bias = s->bias + column,
                  .out_row = s->out_row,
                  .last = columns - (width - LANES),
                  .start = s->start,
                  .wide = columns > LANES,
                  .large = s->large};
        if (packs)
            pack(b, s->b_column, s->b_step, columns, s->k, width, panel);
        compute_columns(s, &t, tiles, column, columns);
    }
}

/* Fewer steps if A is not packed and its rows are adjacent, as each step then takes a line of the L1 cache. */
static pieces cut_steps(const tg_product_part *p, bool packs)
{
    if (BYTES == 32 && !packs && p->a_row == 1)
        return cut(p->k, KC / 2 + 16);
    return cut(p->k, p->k <= ONCE ? ONCE : KC);
}

static void multiply_blocks(const tg_product_part *p, void *scratch)
{
    const pieces blocks = cut(p->m, (size_t)TILES * ROWS), depths = cut_steps(p, scratch);
    block s = {.n = p->n,
               .bias = p->bias,
               .a_row = p->a_row,
               .a_step = p->a_step,
               .b_step = p->b_step,
               .b_column = p->b_column,
               .out_row = p->out_row,
               .far = (p->m + p->k) * p->n * sizeof(real) > PREFETCH_FROM,
               .large = (p->m + p->k) * p->n * sizeof(real) > LARGE,
               .packed_a = scratch};
    for (size_t i = 0, row = 0; i < blocks.count; row += piece(blocks, i++)) {
        s.m = piece(blocks, i);
        s.out = (real *)p->out + row * p->out_row;
        for (size_t j = 0, step = 0; j < depths.count; step += piece(depths, j++)) {
            s.k = piece(depths, j);
            s.a = (const real *)p->a + row * p->a_row + step * p->a_step;
            s.b = (const real *)p->b + step * p->b_step;
            s.start = j == 0 ? p->start : TG_START_OUT;
            compute_block(&s);
        }
    }
}

#include "autograd/kernels/product_transposed.h"

static void multiply_part(const tg_product_part *p, void *scratch)
{
    tg_product_part rest; /* not copied without need: small products are as short as that */
    if (is_thin(p)) {
        const size_t columns = multiply_thin(p);
        rest = *p;
        rest.n -= columns;
        rest.b = (const real *)p->b + columns * p->b_column;
        rest.bias = (const real *)p->bias + columns;
        rest.out = (real *)p->out + columns;
        p = &rest;
    }
    if (p->n == 0)
        return;
    if (is_few(p))
        multiply_few(p);
    else if (is_narrow(p))
        multiply_narrow(p);
    else
        multiply_blocks(p, scratch);
}

/* A is packed if it is read for many columns and its layout is bad: its steps are far apart, or its rows are whole
 * pages apart and fall into the same few sets of the cache. In any other layout it is packed only for very many
 * columns. */
static bool packs_part(const tg_product_part *p)
{
    enum { FAR_AND_OFTEN = 8 << 20, /* bytes, times columns */ CONFLICT = 192, VERY_MANY = 768 };
    if (p->a_row == 1)
        return p->n > COLUMNS && p->n * smaller(p->k, KC) * p->a_step * sizeof(real) > (size_t)FAR_AND_OFTEN;
    return p->n >= (p->a_row % PAGE == 0 ? CONFLICT : VERY_MANY);
}

#if !defined TG_NO_WINDOWS

/* ---- windows of images ---- */

static void convolve_windows(const tg_windows_product *p)
{
    const pieces tiles = cut(p->m, ROWS);
    for (size_t column = 0; column < p->n; column += COLUMNS)
        for (size_t i = 0, row = 0; i < tiles.count; row += piece(tiles, i++))
            convolves[piece(tiles, i)](&(listed){{.k = p->k,
                                                  .a = (const real *)p->a + row * p->k,
                                                  .b = (const real *)p->b + column,
                                                  .out = (real *)p->out + row * p->out_row + column,
                                                  .out_row = p->out_row,
                                                  .last = LANES,
                                                  .start = p->more ? TG_START_OUT : TG_START_ZERO,
                                                  .wide = p->n - column > LANES},
                                                 p->at});
}

static void correlate_windows(const tg_windows_sum *p)
{
    const pieces tiles = cut(p->m, ROWS);
    for (size_t column = 0, width; column < p->n; column += width) {
        width = p->n - column > LANES ? COLUMNS : LANES;
        for (size_t i = 0, row = 0; i < tiles.count; row += piece(tiles, i++))
            correlates[piece(tiles, i)](&(in_runs){{.k = p->run,
                                                    .a = (const real *)p->a + row * p->a_row,
                                                    .a_row = p->a_row,
                                                    .a_step = 1,
                                                    .b = (const real *)p->b + column,
                                                    .b_step = p->n,
                                                    .out = (real *)p->out + row * p->n + column,
                                                    .out_row = p->n,
                                                    .last = LANES,
                                                    .start = TG_START_OUT,
                                                    .wide = width == COLUMNS},
                                                   p->runs,
                                                   p->a_jump});
    }
}

static void transpose_rows(const void *from, size_t apart, size_t n, size_t k, size_t to_row, void *to)
{
    pack(from, apart, 1, n, k, to_row, to);
}

static void transpose_rows_exactly(const void *from, size_t apart, size_t n, size_t k, size_t to_row, void *to)
{
    enum { SOME = 32 }; /* steps of the last rows at a time */
    const size_t whole = n / LANES * LANES, rest = n - whole;
    const mask lanes = first_lanes(rest);
    for (size_t row = 0; row < whole; row += LANES)
        pack_rows((const real *)from + row * apart, apart, LANES, k, to_row, (real *)to + row);
    for (size_t step = 0, steps; rest > 0 && step < k; step += steps) {
        real last[SOME * LANES];
        steps = smaller(SOME, k - step);
        pack_rows((const real *)from + whole * apart + step, apart, rest, steps, LANES, last);
        for (size_t l = 0; l < steps; l++)
            store_part((real *)to + (step + l) * to_row + whole, lanes, load(last + l * LANES));
    }
}

#endif

#define JOIN_(a, b, c, d) a##b##c##d
#define JOIN(a, b, c, d)  JOIN_(a, b, c, d)
const tg_product_kernels JOIN(tg_product_kernels_, TG_ISA, _, TG_TYPE) = {
    .multiply = multiply_part,
    .packs_a = packs_part,
#if !defined TG_NO_WINDOWS
    .convolve = convolve_windows,
    .correlate = correlate_windows,
    .put = put_windows,
    .take = take_lines,
    .transpose = transpose_rows,
    .transpose_exactly = transpose_rows_exactly,
    .tile_image = tiles_of_image,
    .tile_cotangent = tiles_of_cotangent,
    .untile_results = pixels_of_tiles,
    .tile_weights = tiles_of_weights,
    .untile_gradient = gradient_of_tiles,
#endif
    .rows = ROWS,
    .columns = COLUMNS,
    .fused = FUSED,
};
