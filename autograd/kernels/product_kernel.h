/* Matrix products by one instruction set, in one type: product_kernel.c defines one for each pair. Internal to the
 * library.
 *
 * The sum for an element of the result is one chain, s = fma(a[i, l], b[l, j], s) for l = 0 .. k-1, starting from zero,
 * the bias or the existing value, whatever the blocking. So any division into rows and columns gives the same bits, and
 * so do all instruction sets with a fused multiply-add.
 */
#ifndef TG_PRODUCT_KERNEL_H
#define TG_PRODUCT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

typedef enum tg_product_start { TG_START_ZERO, TG_START_BIAS, TG_START_OUT } tg_product_start;

/* out [m, n] = start + A B, or a rectangle of it. Strides are in elements; one of A's two strides is 1, and one of
 * B's. */
typedef struct tg_product_part {
    size_t m, n, k;
    const void *a; /* element (i, l) at a[i * a_row + l * a_step] */
    size_t a_row, a_step;
    const void *b; /* element (l, j) at b[l * b_step + j * b_column] */
    size_t b_step, b_column;
    const void *bias; /* [n], for TG_START_BIAS */
    void *out;        /* element (i, j) at out[i * out_row + j] */
    size_t out_row;
    tg_product_start start;
} tg_product_part;

typedef struct tg_product_kernels {
    /* With scratch, TG_SCRATCH bytes (scratch.h), A is packed; NULL: it is not. */
    void (*multiply)(const tg_product_part *part, void *scratch);
    bool (*packs_a)(const tg_product_part *part); /* true if packing A is faster */
    size_t rows, columns; /* rows and columns computed at a time: divide products at multiples of these */
    bool fused;           /* with fused multiply-adds */
} tg_product_kernels;

extern const tg_product_kernels tg_product_kernels_baseline_f32, tg_product_kernels_baseline_f64,
    tg_product_kernels_v3_f32, tg_product_kernels_v3_f64, tg_product_kernels_v4_f32, tg_product_kernels_v4_f64;

#endif
