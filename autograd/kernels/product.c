#include "autograd/kernels/product.h"

#include "autograd/kernels/kernels.h"
#include "autograd/kernels/parallel.h"

#include <cblas.h>
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

static pthread_key_t scratch_key; /* of each thread, memory to pack A in */
static bool has_scratch_key;

static void make_scratch_key(void)
{
    has_scratch_key = pthread_key_create(&scratch_key, free) == 0;
}

void *tg_product_scratch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_scratch_key);
    void *memory = has_scratch_key ? pthread_getspecific(scratch_key) : NULL;
    if (memory || !has_scratch_key)
        return memory;
    memory = aligned_alloc(64, TG_PRODUCT_SCRATCH);
    if (memory && pthread_setspecific(scratch_key, memory) != 0) {
        free(memory);
        return NULL;
    }
    return memory;
}

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
    o->kernels->multiply(&part, o->kernels->packs_a(&part) ? tg_product_scratch() : NULL);
}

/* Parts of it, for tg_parallel. */
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

static void multiply_by_openblas(const operands *o)
{
    const tg_product *p = o->p;
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    const int row_a = p->transpose_a ? m : k, row_b = p->transpose_b ? k : n;
    const CBLAS_TRANSPOSE order_a = p->transpose_a ? CblasTrans : CblasNoTrans;
    const CBLAS_TRANSPOSE order_b = p->transpose_b ? CblasTrans : CblasNoTrans;
    if (o->bias)
        begin_with_bias(o);
    tg_parallel_limit_blas();
    if (o->dtype == TG_F32)
        cblas_sgemm(CblasRowMajor, order_a, order_b, m, n, k, 1, (const void *)o->a, row_a, (const void *)o->b, row_b,
                    o->bias != NULL, (void *)o->out, n);
    else
        cblas_dgemm(CblasRowMajor, order_a, order_b, m, n, k, 1, (const void *)o->a, row_a, (const void *)o->b, row_b,
                    o->bias != NULL, (void *)o->out, n);
    tg_parallel_restore_blas();
}

/* ---- which of them ---- */

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

/* Cores of OpenBLAS with wider vectors than those that x86-64 has at least. */
static bool has_wide_core(void)
{
    static const char *const cores[] = {"Sandybridge", "Bulldozer", "Piledriver", "Steamroller", "Excavator",
                                        "Haswell",     "Zen",       "SkylakeX",   "Cooperlake",  "SapphireRapids"};
    const char *core = openblas_get_corename();
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
        if (strcmp(core, cores[i]) == 0)
            return true;
    return false;
}

static bool openblas_is_wider; /* than our kernels without fused multiply-adds */

__attribute__((constructor)) static void look_at_the_blas(void)
{
#if defined __x86_64__
    openblas_is_wider = has_wide_core();
#else
    openblas_is_wider = true;
#endif
}

/* Ours are the better ones, or as good, but where they lack fused multiply-adds and OpenBLAS has more than SSE.
 * docs/products.md has the measurements. */
static bool takes_own(const operands *o)
{
    if (in_use != TG_PRODUCTS_AUTO)
        return in_use == TG_PRODUCTS_OWN;
    return o->kernels->fused || !openblas_is_wider;
}

void tg_multiply(tg_dtype dtype, const tg_product *p, const void *a, const void *b, const void *bias, void *out)
{
    if (p->m == 0 || p->n == 0)
        return;
    operands o = {dtype, p, a, b, bias, out, tg_kernels.products[dtype]};
    if (p->k == 0 || takes_own(&o)) /* OpenBLAS leaves what is there when the sums are over nothing */
        multiply_by_own(&o);
    else
        multiply_by_openblas(&o);
}
