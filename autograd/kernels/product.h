/* Matrix products, by kernels of our own or by OpenBLAS. Internal to the library.
 *
 *     const tg_product p = {.transpose_b = true, .m = 32, .n = 64, .k = 16};
 *     tg_multiply(TG_F32, &p, x, weight, bias, y);    // y[32, 64] = x[32, 16] weight[64, 16]^T + bias[64] in every row
 *
 * The result is the same to the bit with any number of threads. Our kernels add every sum in the order of k, so a
 * product may be divided anywhere; they give the same bits on all instruction sets with a fused multiply-add. OpenBLAS
 * rounds differently if a product is divided, so it is divided in the same way for any number of threads.
 */
#ifndef TG_PRODUCT_H
#define TG_PRODUCT_H

#include "autograd/kernels/product_kernel.h"
#include "autograd/shape.h"

/* out = A B for row-major A [m, k], B [k, n], out [m, n]; A or B may be stored transposed. */
typedef struct tg_product {
    bool transpose_a, transpose_b, add; /* add: to what is in out; without a bias */
    int64_t m, n, k;
    int64_t a_row, out_row; /* from row to row of a that is not transposed, and of out; 0: k and n */
} tg_product;

/* The bias [n] is added to every row; NULL: none. */
void tg_multiply(tg_dtype dtype, const tg_product *p, const void *a, const void *b, const void *bias, void *out);

/* Loads OpenBLAS; false if it is not installed. */
bool tg_has_openblas(void);

#endif
