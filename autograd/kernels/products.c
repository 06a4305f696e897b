#include "autograd/kernels/product.h"

#include "autograd/base/platform.h"
#include "autograd/kernels/kernels.h"
#include "autograd/kernels/parallel.h"
#include "autograd/kernels/scratch.h"
#include "autograd/products.h"

#include <limits.h>
#include <stdatomic.h>
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

static int64_t row_of_a(const tg_product *p)
{
    return p->transpose_a ? p->m : p->a_row ? p->a_row : p->k;
}

static int64_t row_of_out(const tg_product *p)
{
    return p->out_row ? p->out_row : p->n;
}

/* ---- our own kernels ---- */

/* A rectangle of the result. */
static void multiply_rectangle(const operands *o, size_t row, size_t rows, size_t column, size_t columns)
{
    const tg_product *p = o->p;
    const size_t n = (size_t)p->n, k = (size_t)p->k, element = tg_dtype_size(o->dtype);
    const size_t row_a = (size_t)row_of_a(p), row_out = (size_t)row_of_out(p);
    const tg_product_part part = {.m = rows,
                                  .n = columns,
                                  .k = k,
                                  .a = o->a + row * element * (p->transpose_a ? 1 : row_a),
                                  .a_row = p->transpose_a ? 1 : row_a,
                                  .a_step = p->transpose_a ? row_a : 1,
                                  .b = o->b + column * element * (p->transpose_b ? k : 1),
                                  .b_column = p->transpose_b ? k : 1,
                                  .b_step = p->transpose_b ? 1 : n,
                                  .bias = o->bias ? o->bias + column * element : NULL,
                                  .out = o->out + (row * row_out + column) * element,
                                  .out_row = row_out,
                                  .start = p->add    ? TG_START_OUT
                                           : o->bias ? TG_START_BIAS
                                                     : TG_START_ZERO};
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

/* ---- OpenBLAS ----
 *
 * Loaded for the first product that needs it. A program linked with it would start its threads before main, although
 * most programs use only our own products; if memory is short, such a program hangs at exit. */
#if defined TG_NO_BLAS

bool tg_has_openblas(void)
{
    return false;
}

static void multiply_by_openblas(operands *o)
{
    (void)o;
}

#else

#include <pthread.h>

/* As cblas.h declares them, with integers of 32 bits. */
enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 };
typedef void sgemm(int order, int of_a, int of_b, int m, int n, int k, float alpha, const void *a, int row_a,
                   const void *b, int row_b, float beta, void *out, int row_out);
typedef void dgemm(int order, int of_a, int of_b, int m, int n, int k, double alpha, const void *a, int row_a,
                   const void *b, int row_b, double beta, void *out, int row_out);

static struct openblas {
    sgemm *single;
    dgemm *twofold;
    int (*threads)(void);
    void (*set_threads)(int);
    bool loaded;
} openblas;

/* Sets `function` to the library's function of this name; false if there is none. */
static bool look_up(void *library, const char *name, void *function)
{
    void *symbol = tg_library_find(library, name);
    memcpy(function, &symbol, sizeof symbol); /* C has no cast from an object's pointer to a function's; POSIX does */
    return symbol != NULL;
}

static void load(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", "libopenblas.dylib", "libopenblas.dll"};
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = tg_library_open(names[i]);
    openblas.loaded = library && look_up(library, "cblas_sgemm", &openblas.single) &&
                      look_up(library, "cblas_dgemm", &openblas.twofold) &&
                      look_up(library, "openblas_get_num_threads", &openblas.threads) &&
                      look_up(library, "openblas_set_num_threads", &openblas.set_threads);
}

bool tg_has_openblas(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return openblas.loaded;
}

/* Each call computes on one thread, as sums that are divided among threads round differently; then its number of
 * threads is restored. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int products;       /* number of running products */
static int threads_before; /* OpenBLAS's number of threads before the first of them */

static void limit_threads(void)
{
    pthread_mutex_lock(&lock);
    if (products++ == 0) {
        threads_before = openblas.threads();
        if (threads_before > 1)
            openblas.set_threads(1);
    }
    pthread_mutex_unlock(&lock);
}

static void restore_threads(void)
{
    pthread_mutex_lock(&lock);
    if (--products == 0 && threads_before > 1)
        openblas.set_threads(threads_before);
    pthread_mutex_unlock(&lock);
}

/* A child of fork has one thread, which is not inside a product. */
static void forget_products(void)
{
    pthread_mutex_init(&lock, NULL);
    products = 0;
}

__attribute__((constructor)) static void look_after_children(void)
{
    tg_after_fork(forget_products);
}

/* Row by row, so that the product is added to it. */
static void begin_with_bias(const operands *o)
{
    const size_t element = tg_dtype_size(o->dtype), row = (size_t)row_of_out(o->p) * element;
    for (size_t i = 0; i < (size_t)o->p->m; i++)
        memcpy(o->out + i * row, o->bias, (size_t)o->p->n * element);
}

/* Rows or columns of the result, counted in blocks. The blocks of a product are the same for any number of threads. */
enum { BLOCK = 256, WORTH_DIVIDING = 1 << 24 };

static void multiply_blocks(void *context, size_t first, size_t count)
{
    const operands *o = context;
    const tg_product *p = o->p;
    const bool rows = p->m >= p->n, whole = p->m * p->n * p->k < WORTH_DIVIDING;
    const int of_a = p->transpose_a ? TRANSPOSE : NO_TRANSPOSE, of_b = p->transpose_b ? TRANSPOSE : NO_TRANSPOSE,
              row_a = (int)row_of_a(p), row_out = (int)row_of_out(p), row_b = (int)(p->transpose_b ? p->k : p->n),
              k = (int)p->k, adds = o->bias || p->add;
    const int64_t length = rows ? p->m : p->n, element = (int64_t)tg_dtype_size(o->dtype);
    for (int64_t block = (int64_t)first; block < (int64_t)(first + count); block++) {
        const int64_t at = block * BLOCK, left = length - at, some = whole || left < BLOCK ? left : BLOCK;
        const int m = (int)(rows ? some : p->m), n = (int)(rows ? p->n : some);
        const char *a = o->a + (rows ? at * element * (p->transpose_a ? 1 : row_a) : 0),
                   *b = o->b + (rows ? 0 : at * element * (p->transpose_b ? p->k : 1));
        char *out = o->out + at * element * (rows ? row_out : 1);
        if (o->dtype == TG_F32)
            openblas.single(ROW_MAJOR, of_a, of_b, m, n, k, 1, a, row_a, b, row_b, (float)adds, out, row_out);
        else
            openblas.twofold(ROW_MAJOR, of_a, of_b, m, n, k, 1, a, row_a, b, row_b, adds, out, row_out);
    }
}

static void multiply_by_openblas(operands *o)
{
    const tg_product *p = o->p;
    const size_t length = (size_t)(p->m >= p->n ? p->m : p->n);
    if (o->bias)
        begin_with_bias(o);
    limit_threads();
    tg_parallel(p->m * p->n * p->k < WORTH_DIVIDING ? 1 : (length + BLOCK - 1) / BLOCK, 1, 1, multiply_blocks, o);
    restore_threads();
}

#endif

/* ---- choice between them ---- */

static const char *const choices[] = {
    [TG_PRODUCTS_AUTO] = "auto", [TG_PRODUCTS_OWN] = "own", [TG_PRODUCTS_OPENBLAS] = "openblas"};
enum { CHOICES = sizeof choices / sizeof choices[0], UNSET = -1 };

static const char absent[] =
    "OpenBLAS is not installed: there is no libopenblas.so.0 (on Debian, apt-get install libopenblas0)";
static _Atomic(int) in_use = UNSET;
static _Atomic(const char *) wrong; /* in the environment */

const char *tg_products_name(tg_products whose)
{
    return (unsigned)whose < CHOICES ? choices[whose] : NULL;
}

tg_products tg_products_now(void)
{
    const int set = atomic_load(&in_use);
    if (set != UNSET)
        return (tg_products)set;
    const char *asked = getenv("TG_PRODUCTS");
    int found = 0, unset = UNSET;
    while (asked && *asked && found < CHOICES && strcmp(choices[found], asked) != 0)
        found++;
    if (found == CHOICES)
        atomic_store(&wrong, "TG_PRODUCTS is not auto, own or openblas");
    else if (found == TG_PRODUCTS_OPENBLAS && !tg_has_openblas())
        atomic_store(&wrong, absent);
    atomic_compare_exchange_strong(&in_use, &unset, atomic_load(&wrong) ? TG_PRODUCTS_AUTO : found);
    return (tg_products)atomic_load(&in_use);
}

const char *tg_products_error(void)
{
    tg_products_now();
    return atomic_load(&wrong);
}

bool tg_products_by(tg_products whose, tg_error *error)
{
    if (!tg_products_name(whose))
        return tg_fail(error, "tg_products_by: there is no such choice");
    if (whose == TG_PRODUCTS_OPENBLAS && !tg_has_openblas())
        return tg_fail(error, "%s", absent);
    atomic_store(&in_use, (int)whose);
    atomic_store(&wrong, (const char *)NULL);
    return true;
}

/* True if OpenBLAS computes this product. Ours are as fast or faster, except where they lack fused multiply-adds and
 * OpenBLAS has wider vectors than SSE's. docs/products.md has the measurements. OpenBLAS does not write the result of
 * sums over zero elements, and counts in ints. */
static bool by_openblas(const operands *o)
{
    const tg_product *p = o->p;
    const tg_products whose = tg_products_now();
    bool serves = whose == TG_PRODUCTS_OPENBLAS || (whose == TG_PRODUCTS_AUTO && !o->kernels->fused);
#if defined __x86_64__
    serves &= whose == TG_PRODUCTS_OPENBLAS || __builtin_cpu_supports("avx");
#endif
    return serves && p->m <= INT_MAX && p->n <= INT_MAX && p->k > 0 && p->k <= INT_MAX && row_of_a(p) <= INT_MAX &&
           row_of_out(p) <= INT_MAX && tg_has_openblas();
}

void tg_multiply(tg_dtype dtype, const tg_product *p, const void *a, const void *b, const void *bias, void *out)
{
    if (p->m == 0 || p->n == 0)
        return;
    operands o = {dtype, p, a, b, bias, out, tg_kernels.products[dtype]};
    if (by_openblas(&o))
        multiply_by_openblas(&o);
    else
        multiply_by_own(&o);
}
