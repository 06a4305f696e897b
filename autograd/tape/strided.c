#include "autograd/tape/strided.h"

#include "autograd/kernels/parallel.h"

#include <string.h>

void tg_strides(const tg_shape *shape, int64_t *stride)
{
    int64_t step = 1;
    for (int axis = shape->rank - 1; axis >= 0; axis--) {
        stride[axis] = step;
        step *= shape->dim[axis];
    }
}

void tg_broadcast_strides(const tg_shape *shape, int rank, int64_t *stride)
{
    int64_t step = 1;
    for (int axis = rank - 1, own = shape->rank - 1; axis >= 0; axis--, own--) {
        stride[axis] = own < 0 || shape->dim[own] == 1 ? 0 : step;
        step *= own < 0 ? 1 : shape->dim[own];
    }
}

void tg_strided_add(tg_strided *s, int64_t dim, const int64_t *stride)
{
    const int last = s->rank - 1;
    bool merges = last >= 0;
    if (dim == 1)
        return;
    for (int k = 0; merges && k < s->arrays; k++)
        merges = stride[k] == s->stride[k][last] * s->dim[last];
    if (merges) {
        s->dim[last] *= dim;
        return;
    }
    for (int k = 0; k < s->arrays; k++)
        s->stride[k][s->rank] = stride[k];
    s->dim[s->rank++] = dim;
}

tg_strided tg_strided_over(const tg_shape *shape, int arrays, int64_t stride[][TG_MAX_RANK])
{
    tg_strided s;
    s.arrays = arrays;
    s.rank = 0;
    for (int axis = shape->rank - 1; axis >= 0; axis--) {
        int64_t along[TG_STRIDED_ARRAYS];
        for (int k = 0; k < arrays; k++)
            along[k] = stride[k][axis];
        tg_strided_add(&s, shape->dim[axis], along);
    }
    return s;
}

tg_strided_place tg_strided_seek(const tg_strided *s, int axis, int64_t n)
{
    tg_strided_place place = {0};
    for (; axis < s->rank; axis++) {
        place.index[axis] = n % s->dim[axis];
        n /= s->dim[axis];
        for (int k = 0; k < s->arrays; k++)
            place.offset[k] += place.index[axis] * s->stride[k][axis];
    }
    return place;
}

/* ---- copying ---- */

static void swap(int64_t *a, int i, int j)
{
    const int64_t kept = a[i];
    a[i] = a[j];
    a[j] = kept;
}

/* Where the input is contiguous along another axis than the output: moves that axis next to the output's innermost one,
 * so that the two form a plane, which is transposed tile by tile. */
static void pair_axes(tg_strided *s)
{
    if (s->rank < 3 || s->stride[0][0] == 1)
        return;
    for (int axis = s->rank - 1; axis > 1; axis--)
        if (s->stride[0][axis] == 1) {
            swap(s->dim, axis, 1);
            swap(s->stride[0], axis, 1);
            swap(s->stride[1], axis, 1);
            return;
        }
}

/* A row of a tile is a cache line of floats; where rows are a power of two long, a first cache of 8 ways holds 16 of
 * them, not 32. */
enum { TILE = 16 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The two innermost axes, in tiles. Copies through memcpy, since the elements may be floats or integers. */
static void copy_plane(int64_t element, const tg_strided *s, const char *in, char *out)
{
    const int64_t in_row = s->stride[0][1], in_column = s->stride[0][0];
    const int64_t out_row = s->stride[1][1], out_column = s->stride[1][0];
    if (in_column == 1 && out_column == 1) {
        for (int64_t i = 0; i < s->dim[1]; i++)
            memcpy(out + i * out_row * element, in + i * in_row * element, (size_t)(s->dim[0] * element));
        return;
    }
    /* As a macro's argument, the formatter would write the loops as one statement. */
    /* clang-format off */
    TG_FOR_ELEMENT_SIZE(element,
        for (int64_t i0 = 0; i0 < s->dim[1]; i0 += TILE)
            for (int64_t j0 = 0; j0 < s->dim[0]; j0 += TILE)
                for (int64_t i = i0, i1 = smaller(i0 + TILE, s->dim[1]); i < i1; i++)
                    for (int64_t j = j0, j1 = smaller(j0 + TILE, s->dim[0]); j < j1; j++)
                        memcpy(out + (i * out_row + j * out_column) * BYTES,
                               in + (i * in_row + j * in_column) * BYTES, BYTES);
    )
    /* clang-format on */
}

typedef struct copying {
    int64_t element;
    const tg_strided *s;
    const char *from;
    char *to;
} copying;

/* Copies a range of indices along the outermost axis: a tg_parallel_part. */
static void copy_some(void *context, size_t first, size_t count)
{
    const copying *c = context;
    const int outermost = c->s->rank - 1;
    tg_strided s = *c->s;
    s.dim[outermost] = (int64_t)count;
    const char *in = c->from + (int64_t)first * s.stride[0][outermost] * c->element;
    char *out = c->to + (int64_t)first * s.stride[1][outermost] * c->element;
    while (s.rank < 2) { /* at least one plane */
        s.dim[s.rank] = 1;
        s.stride[0][s.rank] = s.stride[1][s.rank] = 0;
        s.rank++;
    }
    tg_strided_place p = {0};
    do
        copy_plane(c->element, &s, in + p.offset[0] * c->element, out + p.offset[1] * c->element);
    while (tg_strided_next(&s, 2, &p));
}

void tg_strided_copy(tg_dtype dtype, const tg_shape *shape, int64_t stride[2][TG_MAX_RANK], const void *from, void *to)
{
    enum { WORTH_SHARING = 1 << 14 }; /* elements for each thread */
    const int64_t size = tg_shape_size(shape), element = (int64_t)tg_dtype_size(dtype);
    if (size <= 0)
        return;
    tg_strided s = tg_strided_over(shape, 2, stride);
    if (s.rank == 0) {
        memcpy(to, from, (size_t)element);
        return;
    }
    pair_axes(&s);
    const int64_t outermost = s.dim[s.rank - 1];
    tg_parallel((size_t)outermost, (size_t)(WORTH_SHARING / (size / outermost) + 1), s.rank > 2 ? 1 : TILE, copy_some,
                &(copying){element, &s, from, to});
}
