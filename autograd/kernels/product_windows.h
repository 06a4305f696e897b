/* Tiles of products with the windows of images (product_kernel.h). Only for product_kernel.c. */
#ifndef TG_PRODUCT_WINDOWS_H
#define TG_PRODUCT_WINDOWS_H

/* ---- convolve: A's rows are packed, B's steps anywhere ---- */

typedef struct listed {
    tile tile;
    const size_t *at; /* where each step of B begins */
} listed;

INLINE void add_listed(size_t rows, size_t vectors, const listed *t, vector sum[][2])
{
    const real *a = t->tile.a;
#pragma GCC unroll 2
    for (size_t l = 0; l < t->tile.k; l++, a += rows) {
        const real *b = t->tile.b + t->at[l];
        const vector y[2] = {load(b), load(b + (vectors - 1) * LANES)};
        UNROLL
        for (size_t r = 0; r < rows; r++) {
            UNROLL
            for (size_t v = 0; v < vectors; v++)
                sum[r][v] = multiply_add(a[r], y[v], sum[r][v]);
        }
    }
}

INLINE void compute_listed(size_t rows, size_t vectors, const listed *t)
{
    vector sum[ROWS][2];
    begin(rows, vectors, true, &t->tile, sum);
    add_listed(rows, vectors, t, sum);
    end(rows, vectors, true, &t->tile, sum);
}

typedef void (*convolve_tile)(const listed *t);

#define CONVOLVES(rows)                          \
    static void convolve_##rows(const listed *t) \
    {                                            \
        if (t->tile.wide)                        \
            compute_listed(rows, 2, t);          \
        else                                     \
            compute_listed(rows, 1, t);          \
    }
ROW_COUNTS(CONVOLVES)
#define CONVOLVE_NAME(rows) convolve_##rows,

/* ---- correlate: A's steps come in runs ---- */

typedef struct in_runs {
    tile tile; /* k: steps of a run */
    size_t runs, a_jump;
} in_runs;

INLINE void compute_runs(size_t rows, size_t vectors, const in_runs *t)
{
    vector sum[ROWS][2];
    tile run = t->tile;
    begin(rows, vectors, true, &run, sum);
    for (size_t i = 0; i < t->runs; i++) {
        add_steps(rows, vectors, false, true, false, false, &run, sum);
        run.a += run.k + t->a_jump;
        run.b += run.k * run.b_step;
    }
    end(rows, vectors, true, &run, sum);
}

typedef void (*correlate_tile)(const in_runs *t);

#define CORRELATES(rows)                           \
    static void correlate_##rows(const in_runs *t) \
    {                                              \
        if (t->tile.wide)                          \
            compute_runs(rows, 2, t);              \
        else                                       \
            compute_runs(rows, 1, t);              \
    }
ROW_COUNTS(CORRELATES)
#define CORRELATE_NAME(rows) correlate_##rows,

/* ---- take and put ---- */

static void take_lines(const tg_windows_take *p)
{
    const size_t before = p->first < 0 ? smaller((size_t)-p->first, p->count) : 0,
                 end = p->size > p->first ? smaller((size_t)(p->size - p->first), p->count) : 0,
                 inside = end > before ? end - before : 0, whole = inside / LANES * LANES;
    const mask last = first_lanes(inside - whole);
    for (size_t line = 0; line < p->lines; line++) {
        const real *from = (const real *)p->from + line * p->from_line + p->first + (ptrdiff_t)before;
        real *to = (real *)p->to + line * p->count;
        for (size_t x = 0; x < before; x++)
            *to++ = 0;
        for (size_t x = 0; x < whole; x += LANES)
            *(loose *)(to + x) = load(from + x);
        if (inside > whole)
            store_part(to + whole, last, load_part(from + whole, last));
        for (size_t x = inside; x < p->count - before; x++)
            to[x] = 0;
    }
}

static void put_windows(const tg_windows_put *p)
{
    const size_t whole = p->across / LANES * LANES, rest = p->across - whole;
    const mask last = first_lanes(rest);
    for (size_t m = 0; m < p->m; m++) {
        const real bias = p->bias ? ((const real *)p->bias)[m] : 0;
        const vector more = bias - (vector){0};
        for (size_t line = 0; line < p->lines; line++) {
            const real *from = (const real *)p->from + m * p->from_row + line * p->from_line;
            real *to = (real *)p->to + m * p->to_row + line * p->to_line;
            if (p->to_step != 1) {
                for (size_t x = 0; x < p->across; x++)
                    to[x * p->to_step] = p->bias ? from[x] + bias : from[x];
                continue;
            }
            for (size_t x = 0; x < whole; x += LANES)
                *(loose *)(to + x) = p->bias ? load(from + x) + more : load(from + x);
            if (rest)
                store_part(to + whole, last, p->bias ? load(from + whole) + more : load(from + whole));
        }
    }
}

#endif
