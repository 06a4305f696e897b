/* What a convolution computes, and its blocks, for convolve.c and winograd.c. Internal.
 *
 *     v->axis[0].part = 8;                          // and so on
 *     for (int64_t i = 0; i < tg_conv_blocks(v); i++) {
 *         tg_conv_part b = {.group = group, .row = row, .rows = rows};
 *         tg_conv_find(v, i, &b);                   // which windows of which images
 *         ... tg_conv_results(v, &b, 0)             // where the first image's results belong
 *     }
 */
#ifndef TG_CONV_SUM_H
#define TG_CONV_SUM_H

#include "autograd/kernels/product.h"
#include "autograd/tape/value.h"

#include <stdatomic.h>

/* Along one axis, element `tap` of window y is number first + y stride + tap step of the image; 0 outside. */
typedef struct tg_conv_axis {
    int64_t size, windows, stride, taps, first, step;
    int64_t part; /* windows computed at a time */
} tg_conv_axis;

/* out[n, m, y, x] = sum over c, i, j of weight[m, c, i, j] image[n, c, window y, x at i, j] for each group. Distances
 * are in elements. */
typedef struct tg_conv_sum {
    const tg_value *value;
    const tg_product_kernels *kernels;
    size_t element;
    tg_conv_axis axis[2];
    int64_t batch, groups, m, c; /* rows and channels of a group */
    const char *image, *weight, *bias, *cotangent;
    int64_t weight_group, weight_row, weight_channel, weight_tap[2];
    char *out;
    int64_t out_image, out_channel, out_line, out_step;
    atomic_bool without_memory;

    /* How it is divided, which tg_convolve and its kin decide. */
    bool laid_out;               /* the windows are laid out */
    int64_t images, rows, steps; /* in a block, of which the steps of a channel are the taps */
} tg_conv_sum;

static inline int64_t tg_conv_taps(const tg_conv_sum *v)
{
    return v->axis[0].taps * v->axis[1].taps;
}

static inline int64_t tg_conv_pieces(int64_t whole, int64_t piece)
{
    return (whole + piece - 1) / piece;
}

static inline int64_t tg_conv_rounded(int64_t count, int64_t unit)
{
    return tg_conv_pieces(count, unit) * unit;
}

static inline int64_t tg_conv_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Some windows of some images, rows of the result and steps of the sums: numbers of the first, and how many. */
typedef struct tg_conv_part {
    int64_t n, images, y, down, x, across;
    int64_t group, row, rows, step, steps;
} tg_conv_part;

/* Blocks of windows, by the images and the parts of the axes; sets those of block `number` in the order of n, y and x.
 */
int64_t tg_conv_blocks(const tg_conv_sum *v);
void tg_conv_find(const tg_conv_sum *v, int64_t number, tg_conv_part *b);

/* The results of one image of the block, in `out`, and its bias unless that is NULL. */
char *tg_conv_results(const tg_conv_sum *v, const tg_conv_part *b, int64_t n);
const char *tg_conv_bias(const tg_conv_sum *v, const tg_conv_part *b);

/* Blocks worth another thread, of so many multiplications each. */
size_t tg_conv_least(int64_t each);

#endif
