#include "autograd/ops/strided.h"

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

tg_walk tg_walk_over(const tg_shape *shape)
{
    tg_walk walk = {.rank = shape->rank};
    for (int axis = 0; axis < shape->rank; axis++)
        walk.dim[axis] = shape->dim[axis];
    return walk;
}

void tg_fill(tg_dtype dtype, int64_t count, double value, void *to)
{
    if (dtype == TG_F32)
        for (int64_t i = 0; i < count; i++)
            ((float *)to)[i] = (float)value;
    else if (dtype == TG_F64)
        for (int64_t i = 0; i < count; i++)
            ((double *)to)[i] = value;
    else
        for (int64_t i = 0; i < count; i++)
            ((int32_t *)to)[i] = (int32_t)value;
}

/* The same walk without axes of size 1, and with neighbours merged that follow each other on both sides. */
static tg_walk merged(const tg_walk *walk)
{
    tg_walk w = {0};
    for (int axis = walk->rank - 1; axis >= 0; axis--) { /* innermost first, turned round below */
        int64_t dim = walk->dim[axis], from = walk->from[axis], to = walk->to[axis];
        int last = w.rank - 1;
        if (dim == 1)
            continue;
        if (last >= 0 && from == w.from[last] * w.dim[last] && to == w.to[last] * w.dim[last]) {
            w.dim[last] *= dim;
            continue;
        }
        w.dim[w.rank] = dim;
        w.from[w.rank] = from;
        w.to[w.rank++] = to;
    }
    tg_walk turned = {.rank = w.rank};
    for (int axis = 0; axis < w.rank; axis++) {
        turned.dim[axis] = w.dim[w.rank - 1 - axis];
        turned.from[axis] = w.from[w.rank - 1 - axis];
        turned.to[axis] = w.to[w.rank - 1 - axis];
    }
    return turned;
}

static void swap(int64_t *a, int i, int j)
{
    int64_t kept = a[i];
    a[i] = a[j];
    a[j] = kept;
}

/* Where the input is contiguous along another axis than the output: makes that one the second to last, so that the two
 * form a plane which is transposed tile by tile. */
static void pair_axes(tg_walk *w)
{
    int last = w->rank - 1;
    if (w->rank < 3 || w->from[last] == 1)
        return;
    for (int axis = 0; axis < last - 1; axis++)
        if (w->from[axis] == 1) {
            swap(w->dim, axis, last - 1);
            swap(w->from, axis, last - 1);
            swap(w->to, axis, last - 1);
            return;
        }
}

/* Both sides of a tile fit the first cache. */
enum { TILE = 32 };

/* Two axes, elements of a given size. Copies through memcpy, since the elements may be floats or integers. */
#define PLANE(name, bytes)                                                                                   \
    static void name(const int64_t *dim, const int64_t *from, const int64_t *to, const char *in, char *out)  \
    {                                                                                                        \
        for (int64_t i0 = 0; i0 < dim[0]; i0 += TILE)                                                        \
            for (int64_t j0 = 0; j0 < dim[1]; j0 += TILE) {                                                  \
                int64_t i1 = i0 + TILE < dim[0] ? i0 + TILE : dim[0];                                        \
                int64_t j1 = j0 + TILE < dim[1] ? j0 + TILE : dim[1];                                        \
                for (int64_t i = i0; i < i1; i++)                                                            \
                    for (int64_t j = j0; j < j1; j++)                                                        \
                        memcpy(out + (i * to[0] + j * to[1]) * (bytes),                                      \
                               in + (i * from[0] + j * from[1]) * (bytes), bytes);                           \
            }                                                                                                \
    }
PLANE(plane_of_4, 4)
PLANE(plane_of_8, 8)

static void move_plane(size_t element, const int64_t *dim, const int64_t *from, const int64_t *to,
                       const char *in, char *out)
{
    if (from[1] == 1 && to[1] == 1)
        for (int64_t i = 0; i < dim[0]; i++)
            memcpy(out + i * to[0] * (int64_t)element, in + i * from[0] * (int64_t)element,
                   (size_t)dim[1] * element);
    else if (element == 4)
        plane_of_4(dim, from, to, in, out);
    else
        plane_of_8(dim, from, to, in, out);
}

typedef struct move {
    tg_dtype dtype;
    const tg_walk *walk; /* merged, of one axis at least */
    const char *from;
    char *to;
} move;

/* What has some of the indices along the first axis: a tg_parallel_part. */
static void move_some(void *context, size_t first, size_t count)
{
    const move *m = context;
    const int64_t element = (int64_t)tg_dtype_size(m->dtype);
    tg_walk w = *m->walk;
    w.dim[0] = (int64_t)count;

    /* A plane of the two innermost axes at a time; axes that are missing have size 1. */
    int64_t dim[2] = {1, 1}, in_step[2] = {1, 1}, out_step[2] = {1, 1};
    int outer = w.rank > 2 ? w.rank - 2 : 0;
    for (int axis = outer; axis < w.rank; axis++) {
        int place = 2 - w.rank + axis;
        dim[place] = w.dim[axis];
        in_step[place] = w.from[axis];
        out_step[place] = w.to[axis];
    }
    const char *in = m->from + (int64_t)first * w.from[0] * element;
    char *out = m->to + (int64_t)first * w.to[0] * element;
    int64_t at[TG_MAX_RANK] = {0};
    for (;;) {
        move_plane((size_t)element, dim, in_step, out_step, in, out);
        int axis = outer - 1;
        for (; axis >= 0; axis--) {
            in += w.from[axis] * element;
            out += w.to[axis] * element;
            if (++at[axis] < w.dim[axis])
                break;
            in -= w.from[axis] * w.dim[axis] * element;
            out -= w.to[axis] * w.dim[axis] * element;
            at[axis] = 0;
        }
        if (axis < 0)
            return;
    }
}

void tg_move(tg_dtype dtype, const tg_walk *walk, const void *from, void *to)
{
    enum { WORTH_SHARING = 1 << 14 }; /* elements for each thread */
    int64_t size = 1;
    for (int axis = 0; axis < walk->rank; axis++)
        size *= walk->dim[axis];
    if (size == 0)
        return;
    tg_walk w = merged(walk);
    if (w.rank == 0)
        w = (tg_walk){.rank = 1, .dim = {1}, .from = {1}, .to = {1}};
    pair_axes(&w);
    const int64_t each = size / w.dim[0];
    tg_parallel((size_t)w.dim[0], (size_t)(WORTH_SHARING / each + 1), w.rank > 2 ? 1 : TILE, move_some,
                &(move){dtype, &w, from, to});
}
