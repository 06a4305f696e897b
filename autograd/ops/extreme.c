/* Largest and smallest elements along axes, and where they are. */
#include "autograd/ops.h"
#include "autograd/ops/family.h"
#include "autograd/ops/reduction.h"

#include <limits.h>

static bool extreme_shape(tg_value *out)
{
    if (!tg_reduce_shape(out))
        return false;
    const int64_t n = tg_reduce_blocks(out).n;
    if (n == 0 && tg_shape_size(&out->shape) != 0)
        return tg_expected(out, "there is no extreme of no elements");
    return n <= INT_MAX || tg_expected(out, "more than %d elements to choose from", INT_MAX);
}

static bool index_shape(tg_value *out)
{
    if (!extreme_shape(out))
        return false;
    out->dtype = TG_I32;
    return true;
}

static const double ties[] = {1, 3, 3, -2, -2, 3};
#define AXES(first, count)                                                                                   \
    &(tg_reduce_attributes)                                                                                  \
    {                                                                                                        \
        first, count, 0                                                                                      \
    }
static const tg_sample extreme_samples[] = {
    {.attributes = AXES(0, 2), .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = AXES(1, 1), .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = AXES(0, 1), .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = AXES(1, 1), .input = {{.shape = {3, {2, 3, 4}}}}},
    {.attributes = AXES(0, 0), .input = {{.shape = {0}}}},
    {.attributes = AXES(0, 1), .input = {{.shape = {2, {3, 0}}}}},
    {.attributes = AXES(0, 1), .input = {{.shape = {1, {37}}}}},
    {.attributes = AXES(1, 1),
     .input = {{.shape = {2, {1, 6}}, .fixed = true, .value_count = 6, .values = ties}}},
    {.attributes = AXES(1, 1), .input = {{.shape = {2, {2, 9}}, .value_count = 9, .values = TG_EDGES}}},
};

/* ---- argmax and argmin: the first of equal ones; a NaN is larger, and smaller, than anything ---- */

#define INDEX(which, sign)                                                                                   \
    static void which##_forward(const tg_call *call)                                                         \
    {                                                                                                        \
        const tg_value *in = call->value->inputs[0];                                                         \
        const tg_blocks b = tg_reduce_blocks(call->value);                                                   \
        if (call->value->size > 0)                                                                           \
            TG_KERNEL_CALL(in->dtype, extreme_index, (size_t)b.outer, (size_t)b.n, (size_t)b.inner, sign,    \
                           call->in[0], call->out);                                                          \
    }                                                                                                        \
    const tg_op tg_op_##which = {.name = #which,                                                             \
                                 .arity = 1,                                                                 \
                                 .flags = TG_CONSTANT,                                                       \
                                 .attributes_size = sizeof(tg_reduce_attributes),                            \
                                 .fields = tg_reduce_fields,                                                 \
                                 .shape = index_shape,                                                       \
                                 .forward = which##_forward,                                                 \
                                 TG_SAMPLES(extreme_samples)};                                               \
    tg_tensor tg_##which(tg_tensor x, int axis, bool keep)                                                   \
    {                                                                                                        \
        return tg_reduce(&tg_op_##which, x, (tg_axes){.count = 1, .axis = {axis}}, 0, keep);                 \
    }
INDEX(argmax, 1)
INDEX(argmin, -1)

/* ---- max_over and min_over: the cotangent goes to the first of equal ones ---- */

static void give_to_place(const tg_derive *d, const tg_op *where)
{
    const tg_reduce_attributes *a = d->attributes;
    const tg_shape in = tg_shape_of(d->in[0]);
    const tg_blocks b = tg_blocks_of(&in, a->first, a->count);
    const tg_shape one = TG_SHAPE(b.outer, 1, b.inner);
    tg_tensor index = tg_reshape(TG_APPLY(where, a, d->in[0]), one);
    d->gradient[0] = tg_reshape(tg_scatter_add(tg_reshape(d->cotangent, one), 1, index, b.n), in);
}

#define EXTREME(which, sign, where)                                                                          \
    static void which##_forward(const tg_call *call)                                                         \
    {                                                                                                        \
        const tg_blocks b = tg_reduce_blocks(call->value);                                                   \
        if (call->value->size > 0)                                                                           \
            TG_KERNEL_CALL(call->value->dtype, extreme, (size_t)b.outer, (size_t)b.n, (size_t)b.inner, sign, \
                           call->in[0], call->out);                                                          \
    }                                                                                                        \
    static void which##_derivative(const tg_derive *d)                                                       \
    {                                                                                                        \
        give_to_place(d, &tg_op_##where);                                                                    \
    }                                                                                                        \
    const tg_op tg_op_##which = {.name = #which,                                                             \
                                 .arity = 1,                                                                 \
                                 .attributes_size = sizeof(tg_reduce_attributes),                            \
                                 .fields = tg_reduce_fields,                                                 \
                                 .shape = extreme_shape,                                                     \
                                 .forward = which##_forward,                                                 \
                                 .derivative = which##_derivative,                                           \
                                 TG_SAMPLES(extreme_samples)};                                               \
    tg_tensor tg_##which(tg_tensor x, tg_axes axes, bool keep)                                               \
    {                                                                                                        \
        return tg_reduce(&tg_op_##which, x, axes, 0, keep);                                                  \
    }
EXTREME(max_over, 1, argmax)
EXTREME(min_over, -1, argmin)
