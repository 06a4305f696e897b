#include "autograd/ops/reduction.h"

#include "autograd/ops/category.h"

const tg_field tg_reduce_fields[3] = {
    TG_FIELD(tg_reduce_attributes, axes, TG_FIELD_INT), TG_FIELD(tg_reduce_attributes, keep, TG_FIELD_BOOL), {0}};

/* The kinds of sets of axes, for a tensor of `rank` axes. */
static tg_reduce_needs met_by(int axes, int rank)
{
    const int bits = axes & ((1 << rank) - 1), above = bits + (bits & -bits); /* the first run of bits, carried away */
    return bits == 0 || above == 1 << rank ? TG_LAST_AXES : bits & above ? TG_ANY_AXES : TG_AXES_SIDE_BY_SIDE;
}

bool tg_reduce_shape(tg_value *out)
{
    const tg_reduce_attributes *a = out->attributes;
    const tg_shape *in = out->inputs[0]->shape;
    if (!tg_is_floating(out))
        return false;
    out->shape->rank = 0;
    for (int axis = 0; axis < in->rank; axis++) {
        const bool reduced = a->axes >> axis & 1;
        if (!reduced || a->keep)
            out->shape->dim[out->shape->rank++] = reduced ? 1 : in->dim[axis];
    }
    return true;
}

static bool shape_where(tg_value *out, tg_reduce_needs needs, const char *expected)
{
    const tg_reduce_attributes *a = out->attributes;
    return (met_by(a->axes, out->inputs[0]->shape->rank) >= needs || tg_expected(out, "expected %s", expected)) &&
           tg_reduce_shape(out);
}

bool tg_reduce_block_shape(tg_value *out)
{
    return shape_where(out, TG_AXES_SIDE_BY_SIDE, "axes side by side");
}

bool tg_reduce_last_shape(tg_value *out)
{
    return shape_where(out, TG_LAST_AXES, "the last axes");
}

tg_blocks tg_reduce_blocks(const tg_shape *in, const tg_reduce_attributes *a)
{
    int first = 0, count = 0;
    for (int axis = 0; axis < in->rank; axis++)
        if (a->axes >> axis & 1 && count++ == 0)
            first = axis;
    return tg_blocks_of(in, first, count);
}

tg_tensor tg_as_kept(tg_tensor reduced, tg_tensor input, const tg_reduce_attributes *a)
{
    tg_shape kept = tg_shape_of(input);
    for (int axis = 0; axis < kept.rank; axis++)
        kept.dim[axis] = a->axes >> axis & 1 ? 1 : kept.dim[axis];
    return a->keep ? reduced : tg_reshape(reduced, kept);
}

tg_tensor tg_reduce(const tg_op *op, tg_reduce_needs needs, tg_tensor x, tg_axes axes, bool keep, int correction)
{
    const int bits = tg_axis_bits(op->name, x, axes), rank = tg_rank(x);
    if (bits < 0)
        return TG_NONE;
    const tg_reduce_attributes wanted = {bits, keep, correction};
    if (met_by(bits, rank) >= needs)
        return TG_APPLY(op, &wanted, x);
    tg_axes order = {0};
    tg_reduce_attributes last = {0, false, correction};
    for (int reduced = 0; reduced <= 1; reduced++)
        for (int axis = 0; axis < rank; axis++)
            if ((bits >> axis & 1) == reduced) {
                last.axes |= reduced << order.count;
                order.axis[order.count++] = axis;
            }
    tg_tensor y = TG_APPLY(op, &last, tg_permute(x, order));
    return keep ? tg_as_kept(y, x, &(tg_reduce_attributes){.axes = bits}) : y;
}
