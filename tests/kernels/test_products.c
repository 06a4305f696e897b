/* Matrix products: within the error bound of their sums for every shape, the same bits however the work is cut, and no
 * access outside the operands. */
#include "autograd/kernels/kernels.h"
#include "autograd/kernels/product.h"
#include "autograd/kernels/scratch.h"
#include "tests/support/guarded_memory.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

Suite *products_suite(void);

/* A piece of `bytes` bytes at the end or at the beginning of memory between two protected pages. */
static void *within(const guarded_memory *g, size_t bytes, bool at_end)
{
    ck_assert_uint_le(bytes, g->size);
    return g->room + (at_end ? g->size - bytes : 0);
}

/* ---- numbers of either type ---- */

static double number_at(tg_dtype dtype, const void *numbers, size_t i)
{
    return dtype == TG_F32 ? (double)((const float *)numbers)[i] : ((const double *)numbers)[i];
}

static void set_number(tg_dtype dtype, void *numbers, size_t i, double x)
{
    if (dtype == TG_F32)
        ((float *)numbers)[i] = (float)x;
    else
        ((double *)numbers)[i] = x;
}

static void fill(tg_dtype dtype, void *numbers, size_t count, tg_rng *rng)
{
    for (size_t i = 0; i < count; i++)
        set_number(dtype, numbers, i, tg_rng_normal(rng));
}

/* ---- one product ---- */

enum { LARGEST = 1 << 16 }; /* elements of an operand */

typedef struct product_case {
    tg_dtype dtype;
    tg_product_part part; /* out is ignored */
    size_t a_size, b_size, out_size;
} product_case;

typedef struct memory {
    guarded_memory a, b, bias, out;
} memory;

static size_t below(tg_rng *rng, size_t n)
{
    return (size_t)tg_rng_below(rng, n);
}

enum { LONGEST = 2500 }; /* more steps than any kernel processes at once */

/* Draws a size: mostly small, to reach the edges of tiles; some very small, some long, some 0. */
static size_t draw_size(tg_rng *rng)
{
    const size_t kind = below(rng, 20);
    return kind == 0   ? 0
           : kind < 5  ? 1 + below(rng, kind)
           : kind < 14 ? 1 + below(rng, 70)
                       : 1 + below(rng, kind < 18 ? 700 : LONGEST);
}

static size_t span(size_t rows, size_t row, size_t columns)
{
    return rows == 0 || columns == 0 ? 0 : (rows - 1) * row + columns;
}

/* Gap between the rows of an operand: mostly none, sometimes a few elements, sometimes so many that operands are packed
 * in any layout. */
static size_t draw_gap(tg_rng *rng, size_t rows)
{
    const size_t kind = below(rng, 12);
    return kind < 8 ? 0 : below(rng, kind < 11 ? 20 : 1 + 4 * LARGEST / (rows + 1));
}

/* Some rows and a large B, which may be computed transposed. */
static void draw_few_rows(tg_rng *rng, tg_product_part *p)
{
    p->m = 1 + below(rng, 70);
    p->k = 60 + below(rng, 900);
    p->n = 16 * (1 + below(rng, LARGEST / 16 / p->k)) - (below(rng, 4) ? 0 : below(rng, 16));
}

static void draw_sizes(tg_rng *rng, tg_product_part *p)
{
    do {
        p->m = draw_size(rng);
        p->n = draw_size(rng);
        p->k = draw_size(rng);
    } while ((p->m + 1) * (p->n + 1) * (p->k + 1) > 1 << 17);
}

static product_case draw_case(tg_rng *rng, memory *m)
{
    product_case c = {.dtype = below(rng, 2) ? TG_F64 : TG_F32};
    tg_product_part *p = &c.part;
    (below(rng, 12) ? draw_sizes : draw_few_rows)(rng, p);
    const bool ta = below(rng, 2), tb = below(rng, 2);
    const size_t gap_a = draw_gap(rng, ta ? p->k : p->m), gap_b = draw_gap(rng, tb ? p->n : p->k);
    p->a_row = ta ? 1 : p->k + gap_a;
    p->a_step = ta ? p->m + gap_a : 1;
    p->b_step = tb ? 1 : p->n + gap_b;
    p->b_column = tb ? p->k + gap_b : 1;
    p->out_row = p->n + (below(rng, 3) ? 0 : below(rng, 20));
    p->start = (tg_product_start)below(rng, 3);
    c.a_size = ta ? span(p->k, p->a_step, p->m) : span(p->m, p->a_row, p->k);
    c.b_size = tb ? span(p->n, p->b_column, p->k) : span(p->k, p->b_step, p->n);
    c.out_size = span(p->m, p->out_row, p->n);
    const size_t element = tg_dtype_size(c.dtype);
    p->a = within(&m->a, c.a_size * element, below(rng, 2));
    p->b = within(&m->b, c.b_size * element, below(rng, 2));
    p->bias = within(&m->bias, p->n * element, below(rng, 2));
    fill(c.dtype, (void *)p->a, c.a_size, rng);
    fill(c.dtype, (void *)p->b, c.b_size, rng);
    fill(c.dtype, (void *)p->bias, p->n, rng);
    return c;
}

static void describe(const product_case *c, char *text, size_t size)
{
    const tg_product_part *p = &c->part;
    snprintf(text, size, "%s %zu x %zu x %zu, A %zu %zu, B %zu %zu, out %zu, start %d",
             c->dtype == TG_F32 ? "f32" : "f64", p->m, p->n, p->k, p->a_row, p->a_step, p->b_step, p->b_column,
             p->out_row, (int)p->start);
}

/* A triple loop in long double; each sum may be off by k + 1 roundings of the sum of magnitudes. */
static void reference(const product_case *c, const void *before, long double *sums, long double *bounds)
{
    const tg_product_part *p = &c->part;
    const long double unit = c->dtype == TG_F32 ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            long double sum = p->start == TG_START_BIAS  ? (long double)number_at(c->dtype, p->bias, j)
                              : p->start == TG_START_OUT ? (long double)number_at(c->dtype, before, i * p->out_row + j)
                                                         : 0;
            long double magnitude = fabsl(sum);
            for (size_t l = 0; l < p->k; l++) {
                const long double x = (long double)number_at(c->dtype, p->a, i * p->a_row + l * p->a_step) *
                                      (long double)number_at(c->dtype, p->b, l * p->b_step + j * p->b_column);
                sum += x;
                magnitude += fabsl(x);
            }
            sums[i * p->n + j] = sum;
            bounds[i * p->n + j] = 1.01L * (long double)(p->k + 1) * unit * magnitude;
        }
}

/* ---- our kernels ---- */

/* libcheck passes each assertion to the process that waits for the test: one for each element would take longer than
 * the products. */
static void assert_within_bounds(const product_case *c, const char *isa, const void *before, const void *out,
                                 const long double *sums, const long double *bounds)
{
    char what[200];
    const tg_product_part *p = &c->part;
    describe(c, what, sizeof what);
    for (size_t at = 0; at < c->out_size; at++) {
        const size_t i = at / p->out_row, j = at % p->out_row;
        const double x = number_at(c->dtype, out, at);
        if (j >= p->n && x != number_at(c->dtype, before, at))
            ck_abort_msg("%s %s: wrote into the gap at %zu, %zu", isa, what, i, j);
        if (j < p->n && !(fabsl((long double)x - sums[i * p->n + j]) <= bounds[i * p->n + j]))
            ck_abort_msg("%s %s, [%zu, %zu]: %.17g, not %.17Lg", isa, what, i, j, x, sums[i * p->n + j]);
    }
}

/* Computes the product in one piece, then in four, split at a random row and column; with and without scratch
 * memory. */
static void multiply_in_pieces(const product_case *c, const tg_product_kernels *kernels, void *scratch, void *out,
                               size_t row, size_t column)
{
    const size_t element = tg_dtype_size(c->dtype);
    for (int piece = 0; piece < 4; piece++) {
        const size_t i = piece & 1 ? row : 0, j = piece & 2 ? column : 0;
        tg_product_part p = c->part;
        p.m = piece & 1 ? p.m - row : row;
        p.n = piece & 2 ? p.n - column : column;
        if (p.m == 0 || p.n == 0)
            continue;
        p.a = (const char *)p.a + i * p.a_row * element;
        p.b = (const char *)p.b + j * p.b_column * element;
        p.bias = (const char *)p.bias + j * element;
        p.out = (char *)out + (i * p.out_row + j) * element;
        kernels->multiply(&p, scratch);
    }
}

static long draws(long few)
{
    return getenv("TG_LONG") ? 40 * few : few;
}

START_TEST(random_products_are_their_sums_within_the_bound_on_every_instruction_set)
{
    tg_rng rng = tg_rng_seed(13);
    memory m;
    guarded_memory *const places[] = {&m.a, &m.b, &m.bias, &m.out};
    for (int i = 0; i < 4; i++)
        guarded_memory_open(places[i], i == 2 ? 8 * LONGEST : 2 * LARGEST * 8 * 8);
    void *scratch = tg_scratch();
    void *before = malloc(2 * LARGEST * 8 * 8), *first = malloc(2 * LARGEST * 8 * 8);
    long double *sums = malloc(LARGEST * 8 * sizeof *sums), *bounds = malloc(LARGEST * 8 * sizeof *bounds);
    for (long draw = 0; draw < draws(400); draw++) {
        product_case c = draw_case(&rng, &m);
        const size_t bytes = c.out_size * tg_dtype_size(c.dtype);
        char *out = within(&m.out, bytes, below(&rng, 2));
        const size_t row = below(&rng, c.part.m + 1), column = below(&rng, c.part.n + 1);
        bool fused = false;
        fill(c.dtype, before, c.out_size, &rng);
        reference(&c, before, sums, bounds);
        c.part.out = out;
        for (int set = 0; tg_kernel_set_at(set); set++) {
            const char *isa = tg_kernel_set_at(set)->isa;
            const tg_product_kernels *kernels = tg_kernel_set_at(set)->products[c.dtype];
            if (!tg_kernel_set_runs(tg_kernel_set_at(set)))
                continue;
            memcpy(out, before, bytes);
            if (c.part.m > 0 && c.part.n > 0)
                kernels->multiply(&c.part, below(&rng, 2) ? scratch : NULL);
            assert_within_bounds(&c, isa, before, out, sums, bounds);
            if (!fused) /* with fused multiply-adds the bits also equal those of the previous instruction set */
                memcpy(first, out, bytes);
            fused |= kernels->fused;
            ck_assert_msg(memcmp(first, out, bytes) == 0, "%s: not the bits of the set before", isa);
            memcpy(out, before, bytes);
            multiply_in_pieces(&c, kernels, below(&rng, 2) ? scratch : NULL, out, row, column);
            ck_assert_msg(memcmp(first, out, bytes) == 0, "%s: other bits in pieces", isa);
        }
    }
    for (int i = 0; i < 4; i++)
        guarded_memory_close(places[i]);
    free(before);
    free(first);
    free(sums);
    free(bounds);
}
END_TEST

START_TEST(what_is_not_a_number_stays_in_its_row_and_column)
{
    enum { M = 17, N = 37, K = 9 };
    double a[M * K], b[K * N], out[M * N];
    for (int set = 0; tg_kernel_set_at(set); set++) {
        if (!tg_kernel_set_runs(tg_kernel_set_at(set)))
            continue;
        const tg_product_kernels *kernels = tg_kernel_set_at(set)->products[TG_F64];
        for (int i = 0; i < M * K; i++)
            a[i] = i == 3 * K + 4 ? NAN : 1;
        for (int i = 0; i < K * N; i++)
            b[i] = i == 2 * N + 36 ? INFINITY : 2;
        kernels->multiply(&(tg_product_part){M, N, K, a, K, 1, b, N, 1, NULL, out, N, TG_START_ZERO}, NULL);
        for (int i = 0; i < M * N; i++)
            if (i / N == 3)
                ck_assert(isnan(out[i]));
            else
                ck_assert_double_eq(out[i], i % N == 36 ? INFINITY : 2 * K);
    }
}
END_TEST

/* ---- tg_multiply ---- */

static const struct {
    bool transpose_a, transpose_b;
    int64_t m, n, k;
} large[] = {{false, true, 128, 128, 784}, {true, false, 300, 200, 130}, {false, false, 1500, 40, 33},
             {true, true, 61, 2000, 50},   {false, true, 7, 3000, 120},  {false, false, 513, 769, 300}};
enum { LARGE = sizeof large / sizeof *large, MOST = 513 * 769 };

static void *multiply_large(tg_dtype dtype, int which)
{
    tg_rng rng = tg_rng_seed(3);
    const tg_product p = {large[which].transpose_a, large[which].transpose_b, large[which].m, large[which].n,
                          large[which].k};
    void *a = malloc(MOST * 8), *b = malloc(MOST * 8), *bias = malloc(MOST * 8), *out = calloc(MOST, 8);
    fill(dtype, a, (size_t)(p.m * p.k), &rng);
    fill(dtype, b, (size_t)(p.n * p.k), &rng);
    fill(dtype, bias, (size_t)p.n, &rng);
    tg_multiply(dtype, &p, a, b, bias, out);
    free(a);
    free(b);
    free(bias);
    return out;
}

START_TEST(any_number_of_threads_gives_the_same_bits)
{
    const tg_dtype dtype = _i % 2 ? TG_F64 : TG_F32;
    const tg_products whose = _i / 2 % 2 ? TG_PRODUCTS_OPENBLAS : TG_PRODUCTS_OWN;
    const int which = _i / 4, threads = tg_threads();
    tg_products_by(whose, NULL);
    tg_set_threads(1);
    void *alone = multiply_large(dtype, which);
    for (int n = 2; n <= 8; n += n < 4 || getenv("TG_LONG") ? 1 : 2) {
        tg_set_threads(n);
        void *together = multiply_large(dtype, which);
        ck_assert_msg(memcmp(alone, together, MOST * 8) == 0, "%d threads", n);
        free(together);
    }
    free(alone);
    tg_set_threads(threads);
    tg_products_by(TG_PRODUCTS_AUTO, NULL);
}
END_TEST

START_TEST(the_environment_and_the_call_choose_and_name_what_is_wrong)
{
    tg_error error = {""};
    const tg_products before = tg_products_now();
    ck_assert_str_eq(tg_products_name(TG_PRODUCTS_OPENBLAS), "openblas");
    ck_assert_ptr_null(tg_products_name((tg_products)3));
    ck_assert(!tg_products_by((tg_products)7, &error) && strstr(error.text, "no such choice"));
    const bool installed = tg_products_by(TG_PRODUCTS_OPENBLAS, &error);
    ck_assert(installed == tg_has_openblas());
    ck_assert(installed ? tg_products_now() == TG_PRODUCTS_OPENBLAS
                        : strstr(error.text, "OpenBLAS is not installed") != NULL);
    ck_assert(tg_products_by(before, &error));
    ck_assert_int_eq(tg_products_now(), before);
}
END_TEST

/* Without OpenBLAS both are ours. */
START_TEST(own_products_and_those_of_openblas_agree)
{
    for (int which = 0; which < LARGE; which++) {
        void *products[2];
        for (int whose = 0; whose < 2; whose++) {
            tg_products_by(whose ? TG_PRODUCTS_OPENBLAS : TG_PRODUCTS_OWN, NULL);
            products[whose] = multiply_large(TG_F64, which);
        }
        tg_products_by(TG_PRODUCTS_AUTO, NULL);
        for (int64_t i = 0; i < large[which].m * large[which].n; i++)
            ck_assert_double_eq_tol(((double *)products[0])[i], ((double *)products[1])[i],
                                    1e-14 * (double)(10 * large[which].k));
        free(products[0]);
        free(products[1]);
    }
}
END_TEST

Suite *products_suite(void)
{
    Suite *suite = suite_create("products");
    TCase *tests = tcase_create("products");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, random_products_are_their_sums_within_the_bound_on_every_instruction_set);
    tcase_add_test(tests, what_is_not_a_number_stays_in_its_row_and_column);
    tcase_add_loop_test(tests, any_number_of_threads_gives_the_same_bits, 0, 4 * LARGE);
    tcase_add_test(tests, the_environment_and_the_call_choose_and_name_what_is_wrong);
    tcase_add_test(tests, own_products_and_those_of_openblas_agree);
    suite_add_tcase(suite, tests);
    return suite;
}
