/* Matrix products, by kernels of our own or by OpenBLAS. Internal to the library.
 *
 *     const tg_product p = {.transpose_b = true, .m = 32, .n = 64, .k = 16};
 *     tg_multiply(TG_F32, &p, x, weight, bias, y);    // y[32, 64] = x[32, 16] weight[64, 16]^T + bias[64] in every row
 *
 * The result is the same to the bit with any number of threads. Our kernels add every sum in the order of k, so a
 * product may be divided anywhere; they give the same bits on all instruction sets with a fused multiply-add. OpenBLAS
 * rounds differently if a product is divided, so it works on one thread.
 */
#ifndef TG_PRODUCT_H
#define TG_PRODUCT_H

#include "autograd/kernels/product_kernel.h"
#include "autograd/shape.h"

/* out = A B for row-major A [m, k], B [k, n], out [m, n]; A or B may be stored transposed. */
typedef struct tg_product {
    bool transpose_a, transpose_b;
    int64_t m, n, k; /* each at most INT_MAX */
} tg_product;

/* The bias [n] is added to every row; NULL: none. */
void tg_multiply(tg_dtype dtype, const tg_product *p, const void *a, const void *b, const void *bias, void *out);

/* Whose products are used. TG_PRODUCTS_AUTO: our own, but OpenBLAS's where ours lack fused multiply-adds and the
 * processor has AVX. */
typedef enum tg_products { TG_PRODUCTS_AUTO, TG_PRODUCTS_OWN, TG_PRODUCTS_OPENBLAS } tg_products;

/* Not thread-safe: for tests and benchmarks. */
void tg_products_use(tg_products whose);

#endif
