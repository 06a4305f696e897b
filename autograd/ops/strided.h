/* Moving elements from one layout to another: what permute, slice, flip, concatenation and padding are made of. Internal.
 *
 *     tg_walk w = {.rank = 2, .dim = {3, 4}, .from = {1, 3}, .to = {4, 1}};       // [4, 3] read as its transpose
 *     tg_move(TG_F32, &w, in, out);                                               // out[i, j] = in[j, i]
 */
#ifndef TG_STRIDED_H
#define TG_STRIDED_H

#include "autograd/tensor.h"

/* Axes, slowest first, with the distance in elements from one index to the next on either side: 0 repeats, below 0
 * runs backwards. */
typedef struct tg_walk {
    int rank;
    int64_t dim[TG_MAX_RANK];
    int64_t from[TG_MAX_RANK];
    int64_t to[TG_MAX_RANK];
} tg_walk;

/* to[i0, i1, ...] = from[i0, i1, ...] for all indices. The two do not overlap; no element of `to` is reached twice. */
void tg_move(tg_dtype dtype, const tg_walk *walk, const void *from, void *to);

/* A walk over a tensor of this shape, its strides still to be set. */
tg_walk tg_walk_over(const tg_shape *shape);

/* The strides of a contiguous tensor of this shape. */
void tg_strides(const tg_shape *shape, int64_t *stride);

/* The same value everywhere. */
void tg_fill(tg_dtype dtype, int64_t count, double value, void *to);

#endif
