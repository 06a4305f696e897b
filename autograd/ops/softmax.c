/* Softmax and its logarithm, over rows: the last axis. */
#include "autograd/ops/category.h"
#include "autograd/ops/rows.h"

#include <math.h>

typedef struct axis_attributes {
    int axis;
} axis_attributes;

static const tg_field axis_fields[] = {TG_FIELD(axis_attributes, axis, TG_FIELD_INT), {0}};
#include "autograd/ops/samples/softmax.h"

static bool last_axis_shape(tg_value *out)
{
    const tg_shape *in = out->inputs[0]->shape;
    const int axis = tg_axis_of(out, in, ((const axis_attributes *)out->attributes)->axis);
    return axis >= 0 && tg_shape_same_floating(out) &&
           (axis == in->rank - 1 || tg_expected(out, "expected the last axis"));
}

/* The shape rule for a cotangent and its output. */
static bool two_rows_shape(tg_value *out)
{
    return tg_shape_alike(out) && (out->shape->rank > 0 || tg_expected(out, "expected a rank of 1 at least"));
}

/* Applies the operation along another axis: moves that axis last, and back. */
static tg_tensor along(const tg_op *op, tg_tensor x, int axis)
{
    const int rank = tg_rank(x), positive = axis < 0 ? axis + rank : axis;
    if (positive < 0 || positive >= rank - 1)
        return TG_APPLY(op, &(axis_attributes){axis}, x);
    tg_tensor transposed = tg_transpose(x, axis, -1);
    return tg_transpose(TG_APPLY(op, &(axis_attributes){-1}, transposed), axis, -1);
}

static tg_tensor row_sums(tg_tensor x)
{
    return tg_sum_over(x, TG_AXES(-1), true);
}

/* ---- softmax: s (g - sum g s) ---- */

TG_GRADIENT(softmax, tg_softmax_grad(d->cotangent, d->out))

/* With the cotangent c of s (g - sum g s): the same for g, and c (g - sum g s) - g sum c s for s. */
static void softmax_grad_derivative(const tg_derive *d)
{
    tg_tensor g = d->in[0], s = d->in[1], c = d->cotangent;
    if (d->wanted[0])
        d->gradient[0] = tg_softmax_grad(c, s);
    if (d->wanted[1]) {
        tg_tensor rest = tg_mul(g, row_sums(tg_mul(c, s)));
        d->gradient[1] = tg_sub(tg_mul(c, tg_sub(g, row_sums(tg_mul(g, s)))), rest);
    }
}

TG_ROWS_FORWARD(softmax, softmax_rows, r->in[0])
TG_ROWS_FORWARD(softmax_grad, softmax_grad_rows, r->in[0], r->in[1])
TG_OPERATION(softmax, 1, 0, softmax_samples, TG_ATTRIBUTES(axis_attributes, axis_fields), .shape = last_axis_shape,
             .forward = softmax_forward, .derivative = softmax_derivative);
TG_OPERATION(softmax_grad, 2, 0, softmax_grad_samples, .shape = two_rows_shape, .forward = softmax_grad_forward,
             .derivative = softmax_grad_derivative);

tg_tensor tg_softmax(tg_tensor x, int axis)
{
    return along(&tg_op_softmax, x, axis);
}

/* ---- log_softmax: g - e^l sum g ---- */

TG_GRADIENT(log_softmax, tg_log_softmax_grad(d->cotangent, d->out))

/* The value is g - e^l sum g. With its cotangent c, the gradient of g is c - sum c e^l, that of l is -c e^l sum g. */
static void log_softmax_grad_derivative(const tg_derive *d)
{
    tg_tensor g = d->in[0], c = d->cotangent;
    tg_tensor weighted = tg_mul(c, tg_exp(d->in[1]));
    if (d->wanted[0])
        d->gradient[0] = tg_sub(c, row_sums(weighted));
    if (d->wanted[1])
        d->gradient[1] = tg_neg(tg_mul(weighted, row_sums(g)));
}

TG_ROWS_FORWARD(log_softmax, log_softmax_rows, r->in[0])
TG_ROWS_FORWARD(log_softmax_grad, log_softmax_grad_rows, r->in[0], r->in[1])
TG_OPERATION(log_softmax, 1, 0, softmax_samples, TG_ATTRIBUTES(axis_attributes, axis_fields), .shape = last_axis_shape,
             .forward = log_softmax_forward, .derivative = log_softmax_derivative);
TG_OPERATION(log_softmax_grad, 2, 0, log_softmax_grad_samples, .shape = two_rows_shape,
             .forward = log_softmax_grad_forward, .derivative = log_softmax_grad_derivative);

tg_tensor tg_log_softmax(tg_tensor x, int axis)
{
    return along(&tg_op_log_softmax, x, axis);
}
