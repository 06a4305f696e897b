/* Matrix products: kernels of our own for small ones, the BLAS for the others. Internal to the library.
 *
 *     const tg_product p = {.transpose_b = true, .m = 32, .n = 64, .k = 16};
 *     tg_multiply(TG_F32, &p, x, weight, bias, y);    // y[32, 64] = x[32, 16] weight[64, 16]^T + bias[64] in every row
 *
 * Large products are shared among the BLAS's number of threads, and the result is the same to the bit with any number.
 */
#ifndef TG_PRODUCT_H
#define TG_PRODUCT_H

#include "autograd/tensor.h"

/* out = A B for row-major A [m, k], B [k, n], out [m, n]; A or B may lie transposed in memory. */
typedef struct tg_product {
    bool transpose_a, transpose_b;
    int64_t m, n, k; /* at most INT_MAX each */
} tg_product;

/* The bias [n] is added to every row; NULL: none. */
void tg_multiply(tg_dtype dtype, const tg_product *p, const void *a, const void *b, const void *bias,
                 void *out);
bool tg_multiply_shares(tg_dtype dtype); /* whether large products are shared with this BLAS; for tests */

#endif
