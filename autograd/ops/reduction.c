#include "autograd/ops/reduction.h"

#include "autograd/ops/category.h"

const tg_field tg_reduce_fields[4] = {TG_FIELD(tg_reduce_attributes, first, TG_FIELD_INT),
                                      TG_FIELD(tg_reduce_attributes, count, TG_FIELD_INT),
                                      TG_FIELD(tg_reduce_attributes, correction, TG_FIELD_INT),
                                      {0}};

bool tg_reduce_shape(tg_value *out)
{
    const tg_reduce_attributes *a = out->attributes;
    const tg_shape *in = &out->inputs[0]->shape;
    if (!tg_is_floating(out))
        return false;
    if (a->first < 0 || a->count < (in->rank > 0) || a->count > in->rank - a->first)
        return tg_expected(out, "there are no %d axes from axis %d on", a->count, a->first);
    out->shape.rank = 0;
    for (int axis = 0; axis < in->rank; axis++)
        if (axis < a->first || axis >= a->first + a->count)
            out->shape.dim[out->shape.rank++] = in->dim[axis];
    return true;
}

tg_blocks tg_reduce_blocks(const tg_value *out)
{
    const tg_reduce_attributes *a = out->attributes;
    return tg_blocks_of(&out->inputs[0]->shape, a->first, a->count);
}

tg_tensor tg_as_kept(tg_tensor reduced, tg_tensor input, const tg_reduce_attributes *a)
{
    return tg_reshape(reduced, tg_kept_shape(tg_shape_of(input), a->first, a->count));
}

tg_tensor tg_reduce(const tg_op *op, tg_tensor x, tg_axes axes, int correction, bool keep)
{
    tg_reduction plan;
    if (!tg_plan_reduction(op->name, x, axes, keep, &plan))
        return TG_NONE;
    const tg_reduce_attributes attributes = {plan.first, plan.count, correction};
    return tg_reshape(TG_APPLY(op, &attributes, plan.x), plan.shape);
}
