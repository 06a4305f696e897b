#include "autograd/kernels/product.h"

#include "autograd/kernels/kernels.h"
#include "autograd/kernels/parallel.h"

#include <cblas.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Whether OpenBLAS is good at starting from nothing, that is at beta = 0. On its AVX-512 cores the kernels for small matrices
 * are; elsewhere it clears the result in a pass of its own that takes longer than ours, up to a tenth of the whole product. */
static bool starts_from_nothing;

__attribute__((constructor)) static void look_at_the_blas(void)
{
    static const char *const cores[] = {"SkylakeX", "Cooperlake", "SapphireRapids"};
    for (size_t i = 0; i < sizeof cores / sizeof cores[0]; i++)
        starts_from_nothing |= strcmp(openblas_get_corename(), cores[i]) == 0;
}

typedef struct operands {
    tg_dtype dtype;
    const tg_product *p;
    const char *a, *b, *bias; /* the bias may be NULL */
    char *out;
} operands;

/* The bias, or nothing, in some rows of the result. */
static void begin_rows(const operands *o, size_t rows, void *out)
{
    const size_t n = (size_t)o->p->n;
    if (o->bias)
        TG_KERNEL_CALL(o->dtype, fill_rows, rows, n, (const void *)o->bias, out);
    else
        memset(out, 0, rows * n * tg_dtype_size(o->dtype));
}

/* Some rows of the result: a tg_parallel_part. */
static void multiply_rows(void *context, size_t first, size_t count)
{
    const operands *o = context;
    const tg_product *p = o->p;
    const int m = (int)count, n = (int)p->n, k = (int)p->k;
    const int row_a = p->transpose_a ? (int)p->m : k, row_b = p->transpose_b ? k : n;
    const CBLAS_TRANSPOSE order_a = p->transpose_a ? CblasTrans : CblasNoTrans;
    const CBLAS_TRANSPOSE order_b = p->transpose_b ? CblasTrans : CblasNoTrans;
    const size_t element = tg_dtype_size(o->dtype);
    const void *a = o->a + first * element * (p->transpose_a ? 1 : (size_t)k), *b = o->b;
    void *out = o->out + first * element * (size_t)n;
    const bool adds = o->bias || k == 0 || !starts_from_nothing;
    if (adds)
        begin_rows(o, count, out);
    if (k == 0) /* a sum over nothing */
        return;
    if (o->dtype == TG_F32)
        cblas_sgemm(CblasRowMajor, order_a, order_b, m, n, k, 1, a, row_a, b, row_b, adds, out, n);
    else
        cblas_dgemm(CblasRowMajor, order_a, order_b, m, n, k, 1, a, row_a, b, row_b, adds, out, n);
}

/* Whether our own kernel is the faster one: up to some size it takes half to nine tenths of OpenBLAS's time, but not for a few rows of
 * doubles against a matrix that has to be turned. On its AVX-512 cores OpenBLAS has kernels of its own for small matrices. */
static bool is_small(tg_dtype dtype, const tg_product *p)
{
    enum { FEW = 1 << 13, SOME = 1 << 18, DEEPEST = 128 };
    const int64_t most = dtype == TG_F64 && p->transpose_b && p->m < 32 ? FEW : SOME;
    return !starts_from_nothing && p->k <= DEEPEST && p->m <= most && p->n <= most &&
           p->m * p->n * p->k <= most;
}

/* ---- sharing ----
 *
 * Left to cut a product itself, OpenBLAS rounds otherwise than on one thread. So each part is work for one of its threads, and the cuts lie
 * where they do not tell: its kernels work on several rows at a time, and in rows that are left over some of them round differently.
 * Twelve rows suit all that we know; whether they suit the one that runs is tried out, once for each precision.
 */
enum { ROWS = 12, TRIAL_M = 200, TRIAL_N = 97, TRIAL_K = 400, TRIAL_NUMBERS = TRIAL_M * TRIAL_K };

/* Any numbers in [-0.5, 0.5). */
static void fill(tg_dtype dtype, char *numbers)
{
    uint32_t noise = 1;
    for (int i = 0; i < TRIAL_NUMBERS; i++) {
        noise = noise * 1664525u + 1013904223u;
        const double x = (double)noise * 0x1p-32 - 0.5;
        if (dtype == TG_F32)
            ((float *)numbers)[i] = (float)x;
        else
            ((double *)numbers)[i] = x;
    }
}

/* Whether a product of these numbers, left and right, is the same in parts as in one piece. */
static bool cuts_well(tg_dtype dtype, const tg_product *p, const char *numbers, char *whole, char *cut)
{
    const size_t m = (size_t)p->m, size = m * (size_t)p->n * tg_dtype_size(dtype), step = 5 * ROWS;
    operands o = {dtype, p, numbers, numbers, NULL, whole};
    multiply_rows(&o, 0, m);
    o.out = cut;
    for (size_t first = 0; first < m; first += step)
        multiply_rows(&o, first, m - first < step ? m - first : step);
    return memcmp(whole, cut, size) == 0;
}

static bool try_cuts(tg_dtype dtype)
{
    const size_t bytes = TRIAL_NUMBERS * tg_dtype_size(dtype);
    char *memory = malloc(3 * bytes);
    if (!memory)
        return false;
    bool well = true;
    tg_parallel_pin();
    fill(dtype, memory);
    for (int way = 0; way < 3; way++) { /* those of forward and backward passes */
        const bool ta = way == 1, tb = way == 2;
        const tg_product square = {ta, tb, 128, TRIAL_N, 128}, deep = {ta, tb, TRIAL_M, 64, TRIAL_K};
        well = well && cuts_well(dtype, &square, memory, memory + bytes, memory + 2 * bytes) &&
               cuts_well(dtype, &deep, memory, memory + bytes, memory + 2 * bytes);
    }
    tg_parallel_unpin();
    free(memory);
    return well;
}

static bool cuts_well_f32, cuts_well_f64;

static void try_f32(void)
{
    cuts_well_f32 = try_cuts(TG_F32);
}

static void try_f64(void)
{
    cuts_well_f64 = try_cuts(TG_F64);
}

bool tg_multiply_shares(tg_dtype dtype)
{
    static pthread_once_t f32 = PTHREAD_ONCE_INIT, f64 = PTHREAD_ONCE_INIT;
    pthread_once(dtype == TG_F32 ? &f32 : &f64, dtype == TG_F32 ? try_f32 : try_f64);
    return dtype == TG_F32 ? cuts_well_f32 : cuts_well_f64;
}

static void share(operands *o)
{
    enum { WORTH_SHARING = 1 << 18 }; /* multiplications for each thread */
    const size_t m = (size_t)o->p->m, row = (size_t)(o->p->n * o->p->k), rows = WORTH_SHARING / row + 1;
    const bool several = tg_parallel_pin() > 1;
    tg_parallel(m, several && m >= 2 * rows && tg_multiply_shares(o->dtype) ? rows : m, ROWS, multiply_rows,
                o);
    tg_parallel_unpin();
}

void tg_multiply(tg_dtype dtype, const tg_product *p, const void *a, const void *b, const void *bias,
                 void *out)
{
    enum { UNSHARED = 1 << 17 }; /* OpenBLAS does not share so few multiplications */
    if (p->m == 0 || p->n == 0)
        return;
    operands o = {dtype, p, a, b, bias, out};
    const size_t m = (size_t)p->m;
    if (is_small(dtype, p)) {
        if (bias)
            begin_rows(&o, m, out);
        TG_KERNEL_CALL(dtype, small_product, m, (size_t)p->n, (size_t)p->k, a, p->transpose_a, b,
                       p->transpose_b, bias != NULL, out);
    } else if (p->m * p->n * p->k <= UNSHARED)
        multiply_rows(&o, 0, m);
    else
        share(&o);
}
