/* The largest and the smallest elements along axes, and where they are. */
#include "autograd/ops/category.h"
#include "autograd/ops/reduction.h"

#include <limits.h>

#include "autograd/ops/samples/max_min.h"

static bool max_min_shape(tg_value *out)
{
    if (!tg_reduce_block_shape(out))
        return false;
    const int64_t n = tg_reduce_blocks(out->inputs[0]->shape, out->attributes).n;
    if (n == 0 && tg_shape_size(out->shape) != 0)
        return tg_expected(out, "there is no largest or smallest of no elements");
    return n <= INT_MAX || tg_expected(out, "more than %d elements to choose from", INT_MAX);
}

static bool index_shape(tg_value *out)
{
    if (!max_min_shape(out))
        return false;
    out->dtype = TG_I32;
    return true;
}

/* The cotangent, at the element that `index` (argmax or argmin) gives; zero elsewhere. */
static void scatter_cotangent(const tg_derive *d, const tg_op *index)
{
    const tg_reduce_attributes *a = d->attributes;
    const tg_shape in = tg_shape_of(d->in[0]);
    const tg_blocks b = tg_reduce_blocks(&in, a);
    const tg_shape one = TG_SHAPE(b.outer, 1, b.inner);
    tg_tensor place = tg_reshape(TG_APPLY(index, a, d->in[0]), one);
    d->gradient[0] = tg_reshape(tg_scatter_add(tg_reshape(d->cotangent, one), 1, place, b.n), in);
}

/* max_over and argmax, min_over and argmin: `sign` is 1 for the largest, -1 for the smallest. The first of equal
 * elements is found, and gets the cotangent; a NaN counts as larger, and smaller, than any number. */
#define INDEX(index, sign)                                                                           \
    TG_BLOCKS_FORWARD(index, argmax_or_argmin, TG_REDUCED_BLOCKS, sign, call->in[0])                 \
    TG_OPERATION(index, 1, TG_CONSTANT, max_min_samples, TG_REDUCE_ATTRIBUTES, .shape = index_shape, \
                 .forward = index##_forward);                                                        \
    tg_tensor tg_##index(tg_tensor x, int axis, bool keep)                                           \
    {                                                                                                \
        return tg_reduce(&tg_op_##index, TG_AXES_SIDE_BY_SIDE, x, TG_AXES(axis), keep, 0);           \
    }

#define MAX_OR_MIN(over, index, sign)                                                                                  \
    TG_BLOCKS_FORWARD(over, max_or_min, TG_REDUCED_BLOCKS, sign, call->in[0])                                          \
    static void over##_derivative(const tg_derive *d)                                                                  \
    {                                                                                                                  \
        scatter_cotangent(d, &tg_op_##index);                                                                          \
    }                                                                                                                  \
    TG_OPERATION(over, 1, 0, max_min_samples, TG_REDUCE_ATTRIBUTES, .shape = max_min_shape, .forward = over##_forward, \
                 .derivative = over##_derivative);                                                                     \
    tg_tensor tg_##over(tg_tensor x, tg_axes axes, bool keep)                                                          \
    {                                                                                                                  \
        return tg_reduce(&tg_op_##over, TG_AXES_SIDE_BY_SIDE, x, axes, keep, 0);                                       \
    }

INDEX(argmax, 1)
INDEX(argmin, -1)
MAX_OR_MIN(max_over, argmax, 1)
MAX_OR_MIN(min_over, argmin, -1)
