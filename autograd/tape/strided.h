/* Iterates over axes of several arrays at once, each of which has strides of its own: broadcasting, transposing,
 * slicing, reducing. Internal.
 *
 * result [2, 3, 4], a [3, 1], b [4] in the iterator, innermost first
 *
 *         axis         0    1    2                                 axis         0    1    2
 *         dim          2    3    4                                 dim          4    3    2
 *         stride of a  0    1    0       tg_strided_over ->        stride of a  0    1    0
 *         stride of b  0    0    1                                 stride of b  1    0    0
 *
 * Axes of size 1 vanish, and neighbouring axes merge where they are contiguous in every array. So axis 0 is the
 * longest run:
 *
 *     tg_strided s = tg_strided_over(&shape, 2, stride);
 *     tg_strided_place p = tg_strided_seek(&s, 1, first);      // run number `first`; axis 0 is left to the kernel
 *     do
 *         kernel(s.dim[0], a + p.offset[0], s.stride[0][0], b + p.offset[1], s.stride[1][0]);
 *     while (tg_strided_next(&s, 1, &p));
 */
#ifndef TG_STRIDED_H
#define TG_STRIDED_H

#include "autograd/tensor.h"

enum { TG_STRIDED_ARRAYS = 4 };

/* The distance in elements from one index to the next along each axis: 0 repeats, below 0 runs backwards. */
typedef struct tg_strided {
    int arrays, rank;
    int64_t dim[TG_MAX_RANK];
    int64_t stride[TG_STRIDED_ARRAYS][TG_MAX_RANK];
} tg_strided;

/* An iterator over all indices of a shape. stride[k] are those of array k along the shape's axes, outermost first. */
tg_strided tg_strided_over(const tg_shape *shape, int arrays, int64_t stride[][TG_MAX_RANK]);

/* Adds an outermost axis, along which array k has stride[k]. */
void tg_strided_add(tg_strided *s, int64_t dim, const int64_t *stride);

/* Strides, outermost first: of a contiguous tensor, and of one that broadcasts to a result of this rank. */
void tg_strides(const tg_shape *shape, int64_t *stride);
void tg_broadcast_strides(const tg_shape *shape, int rank, int64_t *stride);

/* An index, and its offset in each array, in elements. */
typedef struct tg_strided_place {
    int64_t index[TG_MAX_RANK];
    int64_t offset[TG_STRIDED_ARRAYS];
} tg_strided_place;

/* Position number n along the axes from `axis` on; inner axes stay at 0. */
tg_strided_place tg_strided_seek(const tg_strided *s, int axis, int64_t n);

/* Advances to the next position; false, and back at the first, after the last. */
static inline bool tg_strided_next(const tg_strided *s, int axis, tg_strided_place *place)
{
    for (; axis < s->rank; axis++) {
        for (int k = 0; k < s->arrays; k++)
            place->offset[k] += s->stride[k][axis];
        if (++place->index[axis] < s->dim[axis])
            return true;
        for (int k = 0; k < s->arrays; k++)
            place->offset[k] -= s->stride[k][axis] * s->dim[axis];
        place->index[axis] = 0;
    }
    return false;
}

/* Expands the statement for elements of `bytes` bytes, with BYTES as a constant: copying needs sizes, not types.
 */
#define TG_FOR_ELEMENT_SIZE(bytes, ...) \
    switch (bytes) {                    \
    case 4: {                           \
        enum { BYTES = 4 };             \
        __VA_ARGS__                     \
    } break;                            \
    case 8: {                           \
        enum { BYTES = 8 };             \
        __VA_ARGS__                     \
    } break;                            \
    }

/* to[i0, i1, ..] = from[i0, i1, ..] for all indices of the shape, on several threads if that is faster. The arrays must
 * not overlap, and no element of `to` may be written twice. stride[0] are those of `from`, stride[1] those of `to`. */
void tg_strided_copy(tg_dtype dtype, const tg_shape *shape, int64_t stride[2][TG_MAX_RANK], const void *from, void *to);

#endif
