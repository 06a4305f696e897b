/* Variance, 2-norm, logarithms of sums of exponentials, cumulative sums. */
#include "autograd/ops/category.h"
#include "autograd/ops/reduction.h"

#include <math.h>

typedef struct cumsum_attributes {
    int axis;
    int reverse; /* 0 or 1: from each place on, instead of up to it */
} cumsum_attributes;

static const tg_field cumsum_fields[] = {
    TG_FIELD(cumsum_attributes, axis, TG_FIELD_INT), TG_FIELD(cumsum_attributes, reverse, TG_FIELD_BOOL), {0}};
#include "autograd/ops/samples/statistics.h"

/* ---- var_over: the mean of (x - mean)^2, in two passes ---- */

/* What the sum of squares is divided by. */
static double divisor(int64_t n, int correction)
{
    return n > correction ? (double)(n - correction) : 0;
}

static void var_over_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const tg_blocks b = tg_reduce_blocks(out);
    const double by = divisor(b.n, ((const tg_reduce_attributes *)out->attributes)->correction);
    TG_KERNEL_CALL(out->dtype, variance, (size_t)b.outer, (size_t)b.n, (size_t)b.inner, by, call->in[0], call->out);
}

/* 2 (x - mean) / (n - correction) */
static void var_over_derivative(const tg_derive *d)
{
    const tg_reduce_attributes *a = d->attributes;
    const tg_shape in = tg_shape_of(d->in[0]);
    tg_axes axes = {.count = a->count};
    for (int i = 0; i < a->count; i++)
        axes.axis[i] = a->first + i;
    tg_tensor deviation = tg_sub(d->in[0], tg_mean_over(d->in[0], axes, true));
    tg_tensor g = tg_mul_scalar(d->cotangent, 2 / divisor(tg_blocks_of(&in, a->first, a->count).n, a->correction));
    d->gradient[0] = tg_mul(deviation, tg_as_kept(g, d->in[0], a));
}

const tg_op tg_op_var_over = {.name = "var_over",
                              .arity = 1,
                              TG_REDUCE_ATTRIBUTES,
                              .shape = tg_reduce_shape,
                              .forward = var_over_forward,
                              .derivative = var_over_derivative,
                              TG_SAMPLES(var_over_samples)};

tg_tensor tg_var_over(tg_tensor x, tg_axes axes, int correction, bool keep)
{
    return tg_reduce(&tg_op_var_over, x, axes, correction, keep);
}

/* ---- norm_over: the square root of the sum of squares; at 0, where it has no derivative, that is 0 ---- */

static void norm_over_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const tg_blocks b = tg_reduce_blocks(out);
    TG_KERNEL_CALL(out->dtype, norm, (size_t)b.outer, (size_t)b.n, (size_t)b.inner, call->in[0], call->out);
}

/* x / |x| */
static void norm_over_derivative(const tg_derive *d)
{
    const tg_reduce_attributes *a = d->attributes;
    tg_tensor unit = tg_div_or_zero(d->in[0], tg_as_kept(d->out, d->in[0], a));
    d->gradient[0] = tg_mul(tg_as_kept(d->cotangent, d->in[0], a), unit);
}

const tg_op tg_op_norm_over = {.name = "norm_over",
                               .arity = 1,
                               TG_REDUCE_ATTRIBUTES,
                               .shape = tg_reduce_shape,
                               .forward = norm_over_forward,
                               .derivative = norm_over_derivative,
                               TG_SAMPLES(norm_over_samples)};

tg_tensor tg_norm_over(tg_tensor x, tg_axes axes, bool keep)
{
    return tg_reduce(&tg_op_norm_over, x, axes, 0, keep);
}

/* ---- logsumexp_over: log sum e^x along the last axis; other axes are brought there ---- */

static bool logsumexp_over_shape(tg_value *out)
{
    out->shape = out->inputs[0]->shape;
    if (out->dtype == TG_I32 || out->shape.rank == 0)
        return tg_expected(out, "expected f32 or f64 of rank 1 at least");
    out->shape.rank--;
    return true;
}

static void logsumexp_over_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const tg_shape *in = &out->inputs[0]->shape;
    TG_KERNEL_CALL(out->dtype, logsumexp_rows, (size_t)out->size, (size_t)in->dim[in->rank - 1], call->in[0],
                   call->out);
}

static void logsumexp_over_derivative(const tg_derive *d)
{
    const tg_shape in = tg_shape_of(d->in[0]);
    tg_tensor g = tg_reshape(d->cotangent, tg_kept_shape(in, in.rank - 1, 1));
    d->gradient[0] = tg_mul(g, tg_softmax(d->in[0], -1));
}

const tg_op tg_op_logsumexp_over = {.name = "logsumexp_over",
                                    .arity = 1,
                                    .shape = logsumexp_over_shape,
                                    .forward = logsumexp_over_forward,
                                    .derivative = logsumexp_over_derivative,
                                    TG_SAMPLES(logsumexp_over_samples)};

tg_tensor tg_logsumexp_over(tg_tensor x, tg_axes axes, bool keep)
{
    tg_reduction plan;
    if (!tg_plan_reduction("logsumexp_over", x, axes, keep, &plan))
        return TG_NONE;
    const tg_shape shape = tg_shape_of(plan.x);
    const tg_blocks b = tg_blocks_of(&shape, plan.first, plan.count);
    tg_tensor blocks = tg_reshape(plan.x, TG_SHAPE(b.outer, b.n, b.inner));
    tg_tensor rows = tg_reshape(tg_transpose(blocks, 1, 2), TG_SHAPE(b.outer * b.inner, b.n));
    return tg_reshape(TG_APPLY(&tg_op_logsumexp_over, NULL, rows), plan.shape);
}

/* ---- cumsum ---- */

static bool cumsum_shape(tg_value *out)
{
    const cumsum_attributes *a = out->attributes;
    return tg_shape_same_floating(out) &&
           ((a->axis >= 0 && a->axis < out->shape.rank) || tg_expected(out, "there is no axis %d", a->axis));
}

static void cumsum_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const cumsum_attributes *a = out->attributes;
    const tg_blocks b = tg_blocks_of(&out->shape, a->axis, 1);
    if (out->size > 0) /* nothing may still be many rows */
        TG_KERNEL_CALL(out->dtype, cumulate, (size_t)b.outer, (size_t)b.n, (size_t)b.inner, a->reverse, call->in[0],
                       call->out);
}

static void cumsum_derivative(const tg_derive *d)
{
    const cumsum_attributes *a = d->attributes;
    d->gradient[0] = tg_cumsum(d->cotangent, a->axis, !a->reverse);
}

const tg_op tg_op_cumsum = {.name = "cumsum",
                            .arity = 1,
                            TG_ATTRIBUTES(cumsum_attributes, cumsum_fields),
                            .shape = cumsum_shape,
                            .forward = cumsum_forward,
                            .derivative = cumsum_derivative,
                            TG_SAMPLES(cumsum_samples)};

tg_tensor tg_cumsum(tg_tensor x, int axis, bool reverse)
{
    axis = tg_find_axis("cumsum", x, axis);
    return axis < 0 ? TG_NONE : TG_APPLY(&tg_op_cumsum, (&(cumsum_attributes){axis, reverse}), x);
}
