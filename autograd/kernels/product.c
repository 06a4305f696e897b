#include "autograd/kernels/product.h"

#include "autograd/kernels/blas.h"
#include "autograd/kernels/kernels.h"
#include "autograd/kernels/parallel.h"
#include "autograd/kernels/scratch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A product with its operands. */
typedef struct operands {
    tg_dtype dtype;
    const tg_product *p;
    const char *a, *b, *bias; /* the bias may be NULL */
    char *out;
    const tg_product_kernels *kernels;
} operands;

/* ---- our own kernels ---- */

/* A rectangle of the result. */
static void multiply_rectangle(const operands *o, size_t row, size_t rows, size_t column, size_t columns)
{
    const tg_product *p = o->p;
    const size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k, element = tg_dtype_size(o->dtype);
    const tg_product_part part = {.m = rows,
                                  .n = columns,
                                  .k = k,
                                  .a = o->a + row * element * (p->transpose_a ? 1 : k),
                                  .a_row = p->transpose_a ? 1 : k,
                                  .a_step = p->transpose_a ? m : 1,
                                  .b = o->b + column * element * (p->transpose_b ? k : 1),
                                  .b_column = p->transpose_b ? k : 1,
                                  .b_step = p->transpose_b ? 1 : n,
                                  .bias = o->bias ? o->bias + column * element : NULL,
                                  .out = o->out + (row * n + column) * element,
                                  .out_row = n,
                                  .start = o->bias ? TG_START_BIAS : TG_START_ZERO};
    o->kernels->multiply(&part, o->kernels->packs_a(&part) ? tg_scratch() : NULL);
}

/* Computes some parts of the rectangle, for tg_parallel. */
static void multiply_rows(void *context, size_t first, size_t count)
{
    const operands *o = context;
    multiply_rectangle(o, first, count, 0, (size_t)o->p->n);
}

static void multiply_columns(void *context, size_t first, size_t count)
{
    const operands *o = context;
    multiply_rectangle(o, 0, (size_t)o->p->m, first, count);
}

static void multiply_by_own(operands *o)
{
    enum { WORTH_SHARING = 1 << 18 }; /* multiplications for each thread */
    const size_t m = (size_t)o->p->m, n = (size_t)o->p->n, k = (size_t)o->p->k;
    if (m * n * k < 2 * WORTH_SHARING)
        multiply_rectangle(o, 0, m, 0, n);
    else if (m >= n)
        tg_parallel(m, WORTH_SHARING / (n * k) + 1, 1, multiply_rows, o);
    else
        tg_parallel(n, WORTH_SHARING / (m * k) + 1, o->kernels->columns, multiply_columns, o);
}

/* ---- OpenBLAS ---- */

static void begin_with_bias(const operands *o)
{
    const size_t row = (size_t)o->p->n * tg_dtype_size(o->dtype);
    for (size_t i = 0; i < (size_t)o->p->m; i++)
        memcpy(o->out + i * row, o->bias, row);
}

static void multiply_by_openblas(const tg_blas *blas, const operands *o)
{
    if (o->bias)
        begin_with_bias(o);
    const tg_blas_product product = {.transpose_a = o->p->transpose_a,
                                     .transpose_b = o->p->transpose_b,
                                     .accumulate = o->bias != NULL,
                                     .m = (int)o->p->m,
                                     .n = (int)o->p->n,
                                     .k = (int)o->p->k,
                                     .a = o->a,
                                     .b = o->b,
                                     .out = o->out};
    tg_blas_multiply(blas, o->dtype, &product);
}

/* ---- choice between them ---- */

static tg_products in_use = TG_PRODUCTS_AUTO;

void tg_products_use(tg_products whose)
{
    in_use = whose;
}

__attribute__((constructor)) static void look_at_the_environment(void)
{
    const char *whose = getenv("TG_PRODUCTS");
    if (whose && strcmp(whose, "own") == 0)
        in_use = TG_PRODUCTS_OWN;
    if (whose && strcmp(whose, "openblas") == 0)
        in_use = TG_PRODUCTS_OPENBLAS;
}

/* True if it has wider vectors than baseline x86-64. */
static bool is_wide(const tg_blas *blas)
{
#if defined __x86_64__
    static const char *const cores[] = {"Sandybridge", "Bulldozer", "Piledriver", "Steamroller", "Excavator",
                                        "Haswell",     "Zen",       "SkylakeX",   "Cooperlake",  "SapphireRapids"};
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
        if (strcmp(tg_blas_core(blas), cores[i]) == 0)
            return true;
    return false;
#else
    (void)blas;
    return true;
#endif
}

static const tg_blas *wide_blas;

static void look_for_a_wide_blas(void)
{
    const tg_blas *blas = tg_blas_load();
    wide_blas = blas && is_wide(blas) ? blas : NULL;
}

/* OpenBLAS if it is to compute this product, else NULL. Our products are as fast or faster, except without fused
 * multiply-adds if OpenBLAS uses more than SSE. docs/products.md has the measurements. */
static const tg_blas *blas_for(const operands *o)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (in_use == TG_PRODUCTS_OPENBLAS)
        return tg_blas_load();
    if (in_use == TG_PRODUCTS_OWN || o->kernels->fused)
        return NULL;
    pthread_once(&once, look_for_a_wide_blas);
    return wide_blas;
}

void tg_multiply(tg_dtype dtype, const tg_product *p, const void *a, const void *b, const void *bias, void *out)
{
    if (p->m == 0 || p->n == 0)
        return;
    operands o = {dtype, p, a, b, bias, out, tg_kernels.products[dtype]};
    /* OpenBLAS does not write the result of sums over zero elements. */
    const tg_blas *blas = p->k > 0 ? blas_for(&o) : NULL;
    if (blas)
        multiply_by_openblas(blas, &o);
    else
        multiply_by_own(&o);
}
