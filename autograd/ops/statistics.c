/* Variance, 2-norm, logarithms of sums of exponentials, cumulative sums. */
#include "autograd/ops/category.h"
#include "autograd/ops/reduction.h"

#include <math.h>

static const tg_field var_fields[] = {TG_FIELD(tg_reduce_attributes, axes, TG_FIELD_INT),
                                      TG_FIELD(tg_reduce_attributes, keep, TG_FIELD_BOOL),
                                      TG_FIELD(tg_reduce_attributes, correction, TG_FIELD_INT),
                                      {0}};

typedef struct cumsum_attributes {
    int axis;
    int reverse; /* 0 or 1: from each place on, instead of up to it */
} cumsum_attributes;

static const tg_field cumsum_fields[] = {
    TG_FIELD(cumsum_attributes, axis, TG_FIELD_INT), TG_FIELD(cumsum_attributes, reverse, TG_FIELD_BOOL), {0}};
#include "autograd/ops/samples/statistics.h"

/* ---- var_over: the mean of (x - mean)^2, in two passes ---- */

/* The divisor of the sum of squares of n elements. */
static double divisor(int64_t n, const tg_reduce_attributes *a)
{
    return n > a->correction ? (double)(n - a->correction) : 0;
}

TG_BLOCKS_FORWARD(var_over, variance, TG_REDUCED_BLOCKS, divisor(b.n, out->attributes), call->in[0])

/* 2 (x - mean) / (n - correction) */
static void var_over_derivative(const tg_derive *d)
{
    const tg_reduce_attributes *a = d->attributes;
    const tg_shape in = tg_shape_of(d->in[0]);
    tg_axes axes = {0};
    for (int axis = 0; axis < in.rank; axis++)
        if (a->axes >> axis & 1)
            axes.axis[axes.count++] = axis;
    tg_tensor deviation = tg_sub(d->in[0], tg_mean_over(d->in[0], axes, true));
    tg_tensor g = tg_mul_scalar(d->cotangent, 2 / divisor(tg_reduce_blocks(&in, a).n, a));
    d->gradient[0] = tg_mul(deviation, tg_as_kept(g, d->in[0], a));
}

TG_OPERATION(var_over, 1, 0, var_over_samples, TG_ATTRIBUTES(tg_reduce_attributes, var_fields),
             .shape = tg_reduce_block_shape, .forward = var_over_forward, .derivative = var_over_derivative);

tg_tensor tg_var_over(tg_tensor x, tg_axes axes, int correction, bool keep)
{
    return tg_reduce(&tg_op_var_over, TG_AXES_SIDE_BY_SIDE, x, axes, keep, correction);
}

/* ---- norm_over: the square root of the sum of squares; its derivative at 0 is defined as 0 ---- */

TG_BLOCKS_FORWARD(norm_over, norm, TG_REDUCED_BLOCKS, call->in[0])

/* x / |x| */
static void norm_over_derivative(const tg_derive *d)
{
    const tg_reduce_attributes *a = d->attributes;
    tg_tensor unit = tg_div_or_zero(d->in[0], tg_as_kept(d->out, d->in[0], a));
    d->gradient[0] = tg_mul(tg_as_kept(d->cotangent, d->in[0], a), unit);
}

TG_OPERATION(norm_over, 1, 0, norm_over_samples, TG_REDUCE_ATTRIBUTES, .shape = tg_reduce_block_shape,
             .forward = norm_over_forward, .derivative = norm_over_derivative);

tg_tensor tg_norm_over(tg_tensor x, tg_axes axes, bool keep)
{
    return tg_reduce(&tg_op_norm_over, TG_AXES_SIDE_BY_SIDE, x, axes, keep, 0);
}

/* ---- logsumexp_over: log sum e^x over the last axes ---- */

static void logsumexp_over_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const tg_blocks b = tg_reduce_blocks(out->inputs[0]->shape, out->attributes);
    TG_KERNEL_CALL(out->dtype, logsumexp_rows, (size_t)out->size, (size_t)b.n, call->in[0], call->out);
}

static void logsumexp_over_derivative(const tg_derive *d)
{
    const tg_shape in = tg_shape_of(d->in[0]);
    const tg_blocks b = tg_reduce_blocks(&in, d->attributes);
    tg_tensor weights = tg_reshape(tg_softmax(tg_reshape(d->in[0], TG_SHAPE(b.outer, b.n)), -1), in);
    d->gradient[0] = tg_mul(tg_as_kept(d->cotangent, d->in[0], d->attributes), weights);
}

TG_OPERATION(logsumexp_over, 1, 0, logsumexp_over_samples, TG_REDUCE_ATTRIBUTES, .shape = tg_reduce_last_shape,
             .forward = logsumexp_over_forward, .derivative = logsumexp_over_derivative);

tg_tensor tg_logsumexp_over(tg_tensor x, tg_axes axes, bool keep)
{
    return tg_reduce(&tg_op_logsumexp_over, TG_LAST_AXES, x, axes, keep, 0);
}

/* ---- cumsum ---- */

static bool cumsum_shape(tg_value *out)
{
    const cumsum_attributes *a = out->attributes;
    return tg_shape_same_floating(out) &&
           ((a->axis >= 0 && a->axis < out->shape->rank) || tg_expected(out, "there is no axis %d", a->axis));
}

TG_BLOCKS_FORWARD(cumsum, cumulate, tg_blocks_of(out->shape, ((const cumsum_attributes *)out->attributes)->axis, 1),
                  ((const cumsum_attributes *)out->attributes)->reverse, call->in[0])

static void cumsum_derivative(const tg_derive *d)
{
    const cumsum_attributes *a = d->attributes;
    d->gradient[0] = tg_cumsum(d->cotangent, a->axis, !a->reverse);
}

TG_USUAL_OPERATION(cumsum, 1, TG_ATTRIBUTES(cumsum_attributes, cumsum_fields));

tg_tensor tg_cumsum(tg_tensor x, int axis, bool reverse)
{
    axis = tg_find_axis("cumsum", x, axis);
    return axis < 0 ? TG_NONE : TG_APPLY(&tg_op_cumsum, (&(cumsum_attributes){axis, reverse}), x);
}
