/* OpenBLAS, loaded for the first product that needs it. A program linked with it would start its threads before main,
 * although most programs use only our own products; if memory is short, such a program hangs at exit. Internal to the
 * library.
 *
 *     const tg_blas *blas = tg_blas_load();
 *     if (blas)
 *         tg_blas_multiply(blas, TG_F32, &(tg_blas_product){.m = 8, .n = 4, .k = 2, .a = a, .b = b, .out = out});
 */
#ifndef TG_KERNELS_BLAS_H
#define TG_KERNELS_BLAS_H

#include "autograd/tensor.h"

typedef struct tg_blas tg_blas;

/* NULL if it is not installed, and in a library built with BLAS=none. */
const tg_blas *tg_blas_load(void);

/* out[m, n] = a[m, k] b[k, n], or += with `accumulate`; a transposed operand is stored as [k, m] or [n, k]. */
typedef struct tg_blas_product {
    bool transpose_a, transpose_b, accumulate;
    int m, n, k;
    const void *a, *b;
    void *out;
} tg_blas_product;

/* Computes on one thread, as sums that are divided among threads round differently; then restores OpenBLAS's number of
 * threads. May be called from any thread. */
void tg_blas_multiply(const tg_blas *blas, tg_dtype dtype, const tg_blas_product *p);

#endif
