/* Tensors with their axes in another order. */
#include "autograd/ops.h"
#include "autograd/ops/family.h"
#include "autograd/ops/strided.h"

#include <string.h>

/* ---- permute ---- */

typedef struct permute_attributes {
    tg_shape order; /* a list: axis i of the result is axis order.dim[i] of the input */
} permute_attributes;

static const tg_field permute_fields[] = {{"order", TG_FIELD_SHAPE, offsetof(permute_attributes, order)},
                                          {0}};

static bool permute_shape(tg_value *out)
{
    const tg_shape *order = &((const permute_attributes *)out->attributes)->order,
                   *in = &out->inputs[0]->shape;
    int seen = 0;
    for (int axis = 0; axis < order->rank && axis < in->rank; axis++)
        if (order->dim[axis] >= 0 && order->dim[axis] < in->rank)
            seen |= 1 << order->dim[axis];
    char list[128];
    if (order->rank != in->rank || seen != (1 << in->rank) - 1)
        return tg_expected(out, "expected each of the %d axes once, not %s", in->rank,
                           tg_shape_text(order, list, sizeof list));
    out->shape.rank = in->rank;
    for (int axis = 0; axis < in->rank; axis++)
        out->shape.dim[axis] = in->dim[order->dim[axis]];
    return true;
}

static void permute_forward(const tg_value *out)
{
    const tg_shape *order = &((const permute_attributes *)out->attributes)->order;
    int64_t stride[TG_MAX_RANK];
    tg_strides(&out->inputs[0]->shape, stride);
    tg_walk walk = {.rank = out->shape.rank};
    tg_strides(&out->shape, walk.to);
    for (int axis = 0; axis < walk.rank; axis++) {
        walk.dim[axis] = out->shape.dim[axis];
        walk.from[axis] = stride[order->dim[axis]];
    }
    tg_move(out->dtype, &walk, out->inputs[0]->data, out->data);
}

static void permute_derivative(const tg_derive *d)
{
    const tg_shape *order = &((const permute_attributes *)d->attributes)->order;
    tg_axes back = {.count = order->rank};
    for (int axis = 0; axis < order->rank; axis++)
        back.axis[order->dim[axis]] = axis;
    d->give[0] = tg_permute(d->cotangent, back);
}

static const tg_sample permute_samples[] = {
    {.attributes = &(permute_attributes){{2, {1, 0}}}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(permute_attributes){{3, {2, 0, 1}}}, .input = {{.shape = {3, {2, 3, 4}}}}},
    {.attributes = &(permute_attributes){{3, {0, 2, 1}}}, .input = {{.shape = {3, {2, 3, 4}}}}},
    {.attributes = &(permute_attributes){{4, {3, 1, 0, 2}}}, .input = {{.shape = {4, {2, 3, 1, 4}}}}},
    {.attributes = &(permute_attributes){{0}}, .input = {{.shape = {0}}}},
    {.attributes = &(permute_attributes){{1, {0}}}, .input = {{.shape = {1, {5}}}}},
    {.attributes = &(permute_attributes){{3, {1, 2, 0}}}, .input = {{.shape = {3, {2, 0, 3}}}}},
    {.attributes = &(permute_attributes){{2, {1, 0}}},
     .input = {{.shape = {2, {3, 3}}, .value_count = 9, .values = TG_EDGES}}},
    {.attributes = &(permute_attributes){{2, {1, 0}}}, .input = {{.shape = {2, {37, 41}}}}},
};

const tg_op tg_op_permute = {.name = "permute",
                             .arity = 1,
                             .attributes_size = sizeof(permute_attributes),
                             .fields = permute_fields,
                             .shape = permute_shape,
                             .forward = permute_forward,
                             .derivative = permute_derivative,
                             TG_SAMPLES(permute_samples)};

tg_tensor tg_permute(tg_tensor x, tg_axes order)
{
    permute_attributes attributes = {{.rank = order.count}};
    for (int i = 0; i < order.count && i < TG_MAX_RANK; i++)
        attributes.order.dim[i] = order.axis[i] < 0 ? order.axis[i] + tg_rank(x) : order.axis[i];
    return TG_APPLY(&tg_op_permute, &attributes, x);
}

tg_tensor tg_transpose(tg_tensor x, int axis, int other)
{
    const int rank = tg_rank(x), a = axis < 0 ? axis + rank : axis, b = other < 0 ? other + rank : other;
    if (a < 0 || b < 0 || a >= rank || b >= rank)
        return tg_permute(x, (tg_axes){.count = 2, .axis = {axis, other}}); /* which says what is wrong */
    tg_axes order = {.count = rank};
    for (int i = 0; i < rank; i++)
        order.axis[i] = i == a ? b : i == b ? a : i;
    return tg_permute(x, order);
}
