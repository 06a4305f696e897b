/* Constant tensors, expansion, whose derivative is the sum over axes (reduce.c), and reshape, which is free. */
#include "autograd/base/shape_internal.h"
#include "autograd/ops/category.h"
#include "autograd/tape/program.h"
#include "autograd/tape/strided.h"

#include <math.h>

typedef struct full_attributes {
    int64_t dtype; /* a tg_dtype */
    tg_shape shape;
    double value;
} full_attributes;

typedef struct shape_attributes {
    tg_shape shape;
} shape_attributes;

static const tg_field full_fields[] = {TG_FIELD(full_attributes, dtype, TG_FIELD_INT),
                                       TG_FIELD(full_attributes, shape, TG_FIELD_SHAPE),
                                       TG_FIELD(full_attributes, value, TG_FIELD_REAL),
                                       {0}};
static const tg_field shape_fields[] = {TG_FIELD(shape_attributes, shape, TG_FIELD_SHAPE), {0}};
#include "autograd/ops/samples/broadcast.h"

/* ---- full: a constant tensor ---- */

static bool full_shape(tg_value *out)
{
    const full_attributes *a = out->attributes;
    out->dtype = (tg_dtype)a->dtype;
    *out->shape = a->shape;
    return tg_number_fits(out, out->dtype, a->value);
}

static void full_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    tg_fill(out->dtype, out->size, ((const full_attributes *)out->attributes)->value, call->out);
}

TG_OPERATION(full, 0, TG_SOURCE | TG_CONSTANT, full_samples, TG_ATTRIBUTES(full_attributes, full_fields),
             .shape = full_shape, .forward = full_forward);

tg_tensor tg_full(tg_tape *tape, tg_dtype dtype, tg_shape shape, double value)
{
    return tg_apply_on(tape, &tg_op_full, &(full_attributes){dtype, shape, value});
}

tg_tensor tg_scalar_like(tg_tensor x, double value)
{
    return tg_full(tg_tape_of(x), tg_dtype_of(x), TG_SCALAR, value);
}

bool tg_is_plain_one(tg_tensor cotangent)
{
    const tg_value *value = tg_value_of(cotangent);
    return value && value->program->context.mode & TG_MODE_WITHOUT_GRAPH && value->op == &tg_op_full &&
           ((const full_attributes *)value->attributes)->value == 1;
}

/* ---- expand ---- */

static bool expand_shape(tg_value *out)
{
    const tg_shape *from = out->inputs[0]->shape, *to = &((const shape_attributes *)out->attributes)->shape;
    char target[128];
    if (tg_shape_size(to) < 0 || !tg_broadcasts_to(from, to))
        return tg_expected(out, "the shape does not broadcast to %s", tg_shape_text(to, target, sizeof target));
    *out->shape = *to;
    return true;
}

static void expand_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    int64_t stride[2][TG_MAX_RANK];
    tg_broadcast_strides(out->inputs[0]->shape, out->shape->rank, stride[0]);
    tg_strides(out->shape, stride[1]);
    tg_strided_copy(out->dtype, out->shape, stride, call->in[0], call->out);
}

TG_GRADIENT(expand, tg_sum_to(d->cotangent, tg_shape_of(d->in[0])))

TG_USUAL_OPERATION(expand, 1, TG_ATTRIBUTES(shape_attributes, shape_fields));

tg_tensor tg_expand(tg_tensor x, tg_shape shape)
{
    return TG_APPLY(&tg_op_expand, &(shape_attributes){shape}, x);
}

/* ---- reshape ---- */

static bool reshape_shape(tg_value *out)
{
    *out->shape = ((const shape_attributes *)out->attributes)->shape;
    if (tg_shape_size(out->shape) == out->inputs[0]->size)
        return true;
    char target[128];
    return tg_expected(out, "%lld elements do not fill %s", (long long)out->inputs[0]->size,
                       tg_shape_text(out->shape, target, sizeof target));
}

TG_GRADIENT(reshape, tg_reshape(d->cotangent, tg_shape_of(d->in[0])))

TG_OPERATION(reshape, 1, TG_VIEW, reshape_samples, TG_ATTRIBUTES(shape_attributes, shape_fields),
             .shape = reshape_shape, .derivative = reshape_derivative);

tg_tensor tg_reshape(tg_tensor x, tg_shape shape)
{
    const int64_t size = tg_size(x);
    int open = 0;
    while (open < shape.rank && open < TG_MAX_RANK && shape.dim[open] != -1)
        open++;
    if (open < shape.rank && open < TG_MAX_RANK) {
        shape.dim[open] = 1;
        const int64_t known = tg_shape_size(&shape);
        shape.dim[open] = known > 0 && size % known == 0 ? size / known : -1;
    }
    return TG_APPLY(&tg_op_reshape, &(shape_attributes){shape}, x);
}
