#include "autograd/kernels/blas.h"

#include <string.h>

#if defined TG_NO_BLAS

const tg_blas *tg_blas_load(void)
{
    return NULL;
}

void tg_blas_multiply(const tg_blas *blas, tg_dtype dtype, const tg_blas_product *p)
{
    (void)blas, (void)dtype, (void)p;
}

#else

#include <dlfcn.h>
#include <pthread.h>

/* As cblas.h declares them, with integers of 32 bits. */
enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 };
typedef void sgemm(int order, int of_a, int of_b, int m, int n, int k, float alpha, const void *a, int row_a,
                   const void *b, int row_b, float beta, void *out, int row_out);
typedef void dgemm(int order, int of_a, int of_b, int m, int n, int k, double alpha, const void *a, int row_a,
                   const void *b, int row_b, double beta, void *out, int row_out);

struct tg_blas {
    sgemm *single;
    dgemm *twofold;
    int (*threads)(void);
    void (*set_threads)(int);
};

static tg_blas loaded;
static const tg_blas *found;

/* Sets `function` to the library's function of this name; false if there is none. */
static bool look_up(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol); /* C has no cast from an object's pointer to a function's; POSIX does */
    return symbol != NULL;
}

static void load(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", "libopenblas.dylib"};
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library && look_up(library, "cblas_sgemm", &loaded.single) &&
        look_up(library, "cblas_dgemm", &loaded.twofold) &&
        look_up(library, "openblas_get_num_threads", &loaded.threads) &&
        look_up(library, "openblas_set_num_threads", &loaded.set_threads))
        found = &loaded;
}

const tg_blas *tg_blas_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return found;
}

/* ---- one thread ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int products;       /* number of running products */
static int threads_before; /* OpenBLAS's number of threads before the first of them */

static void limit_threads(const tg_blas *blas)
{
    pthread_mutex_lock(&lock);
    if (products++ == 0) {
        threads_before = blas->threads();
        if (threads_before > 1)
            blas->set_threads(1);
    }
    pthread_mutex_unlock(&lock);
}

static void restore_threads(const tg_blas *blas)
{
    pthread_mutex_lock(&lock);
    if (--products == 0 && threads_before > 1)
        blas->set_threads(threads_before);
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
    pthread_atfork(NULL, NULL, forget_products);
}

void tg_blas_multiply(const tg_blas *blas, tg_dtype dtype, const tg_blas_product *p)
{
    const int row_a = p->transpose_a ? p->m : p->k, row_b = p->transpose_b ? p->k : p->n;
    const int of_a = p->transpose_a ? TRANSPOSE : NO_TRANSPOSE, of_b = p->transpose_b ? TRANSPOSE : NO_TRANSPOSE;
    limit_threads(blas);
    if (dtype == TG_F32)
        blas->single(ROW_MAJOR, of_a, of_b, p->m, p->n, p->k, 1, p->a, row_a, p->b, row_b, p->accumulate, p->out, p->n);
    else
        blas->twofold(ROW_MAJOR, of_a, of_b, p->m, p->n, p->k, 1, p->a, row_a, p->b, row_b, p->accumulate, p->out,
                      p->n);
    restore_threads(blas);
}

#endif
