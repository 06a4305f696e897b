/* Softmax and its logarithm, over rows: the last axis. */
#include "autograd/ops.h"
#include "autograd/ops/family.h"
#include "autograd/ops/rows.h"

#include <math.h>

typedef struct axis_attributes {
    int axis;
} axis_attributes;

static const tg_field axis_fields[] = {TG_FIELD(axis_attributes, axis, TG_FIELD_INT), {0}};

static bool last_axis_shape(tg_value *out)
{
    const tg_shape *in = &out->inputs[0]->shape;
    const int axis = tg_axis_of(out, in, ((const axis_attributes *)out->attributes)->axis);
    if (axis < 0)
        return false;
    if (out->dtype == TG_I32)
        return tg_expected(out, "expected f32 or f64");
    out->shape = *in;
    return axis == in->rank - 1 || tg_expected(out, "expected the last axis");
}

/* The same rule for a cotangent and what it belongs to. */
static bool two_alike_shape(tg_value *out)
{
    const tg_value *a = out->inputs[0], *b = out->inputs[1];
    out->shape = a->shape;
    if (a->dtype == TG_I32 || a->dtype != b->dtype || a->shape.rank == 0 ||
        !tg_shape_equal(&a->shape, &b->shape))
        return tg_expected(out, "expected two tensors of one floating type and shape, of rank 1 at least");
    return true;
}

/* The operation along another axis: with that axis last, and back. */
static tg_tensor along(const tg_op *op, tg_tensor x, int axis)
{
    const int rank = tg_rank(x), positive = axis < 0 ? axis + rank : axis;
    if (positive < 0 || positive >= rank - 1)
        return TG_APPLY(op, &(axis_attributes){axis}, x);
    tg_tensor turned = tg_transpose(x, axis, -1);
    return tg_transpose(TG_APPLY(op, &(axis_attributes){-1}, turned), axis, -1);
}

static tg_tensor row_sums(tg_tensor x)
{
    return tg_sum_over(x, TG_AXES(-1), true);
}

#define LAST                                                                                                 \
    .attributes = &(axis_attributes)                                                                         \
    {                                                                                                        \
        -1                                                                                                   \
    }

static const tg_sample softmax_samples[] = {
    {LAST, .input = {{.shape = {2, {3, 4}}}}},
    {LAST, .input = {{.shape = {1, {33}}, .low = -12, .high = 12}}},
    {LAST, .input = {{.shape = {3, {2, 3, 5}}}}},
    {LAST, .input = {{.shape = {2, {4, 1}}}}},
    {LAST, .input = {{.shape = {1, {1}}}}},
    {LAST, .input = {{.shape = {2, {0, 3}}}}},
    {LAST, .input = {{.shape = {2, {3, 0}}}}},
    {LAST, .input = {{.shape = {2, {2, 6}}, .low = 700, .high = 800}}},
    {LAST, .input = {{.shape = {2, {3, 2}},
                      .value_count = 6,
                      .values = (const double[]){-INFINITY, -INFINITY, 1e30, -1e30, 0, -1000}}}},
    {LAST, .input = {{.shape = {2, {9, 1}}, .value_count = 9, .values = TG_EDGES}}},
};

/* A cotangent with what it belongs to: probabilities, or their logarithms. */
#define COTANGENTS(from, to)                                                                                 \
    {.input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}, .low = from, .high = to}}},                    \
        {.input = {{.shape = {1, {33}}}, {.shape = {1, {33}}, .low = from, .high = to}}},                    \
        {.input = {{.shape = {3, {2, 3, 5}}}, {.shape = {3, {2, 3, 5}}, .low = from, .high = to}}},          \
        {.input = {{.shape = {2, {4, 1}}}, {.shape = {2, {4, 1}}, .low = from, .high = to}}},                \
        {.input = {{.shape = {1, {1}}}, {.shape = {1, {1}}, .low = from, .high = to}}},                      \
        {.input = {{.shape = {2, {0, 3}}}, {.shape = {2, {0, 3}}}}},                                         \
        {.input = {{.shape = {2, {3, 0}}}, {.shape = {2, {3, 0}}}}},                                         \
        {.input = {{.shape = {2, {2, 6}}, .low = -100, .high = 100},                                         \
                   {.shape = {2, {2, 6}}, .low = from, .high = to}}},

/* ---- softmax: s (g - sum g s) ---- */

static void softmax_of_rows(const tg_value *out, const tg_rows *r)
{
    TG_KERNEL_CALL(out->dtype, softmax_rows, r->count, r->columns, r->in[0], r->out);
}

static void softmax_forward(const tg_call *call)
{
    tg_over_rows(call, softmax_of_rows);
}

static void softmax_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_softmax_grad(d->cotangent, d->out);
}

const tg_op tg_op_softmax = {.name = "softmax",
                             .arity = 1,
                             .attributes_size = sizeof(axis_attributes),
                             .fields = axis_fields,
                             .shape = last_axis_shape,
                             .forward = softmax_forward,
                             .derivative = softmax_derivative,
                             TG_SAMPLES(softmax_samples)};

tg_tensor tg_softmax(tg_tensor x, int axis)
{
    return along(&tg_op_softmax, x, axis);
}

static void softmax_grad_of_rows(const tg_value *out, const tg_rows *r)
{
    TG_KERNEL_CALL(out->dtype, softmax_grad_rows, r->count, r->columns, r->in[0], r->in[1], r->out);
}

static void softmax_grad_forward(const tg_call *call)
{
    tg_over_rows(call, softmax_grad_of_rows);
}

/* With the cotangent c of s (g - sum g s): the same for g, and c (g - sum g s) - g sum c s for s. */
static void softmax_grad_derivative(const tg_derive *d)
{
    tg_tensor g = d->in[0], s = d->in[1], c = d->cotangent;
    if (d->wanted[0])
        d->gradient[0] = tg_softmax_grad(c, s);
    if (d->wanted[1])
        d->gradient[1] = tg_sub(tg_mul(c, tg_sub(g, row_sums(tg_mul(g, s)))), tg_mul(g, row_sums(tg_mul(c, s))));
}

static const tg_sample softmax_grad_samples[] = {COTANGENTS(0, 1)};

const tg_op tg_op_softmax_grad = {.name = "softmax_grad",
                                      .arity = 2,
                                      .shape = two_alike_shape,
                                      .forward = softmax_grad_forward,
                                      .derivative = softmax_grad_derivative,
                                      TG_SAMPLES(softmax_grad_samples)};

tg_tensor tg_softmax_grad(tg_tensor a, tg_tensor s)
{
    return TG_APPLY(&tg_op_softmax_grad, NULL, a, s);
}

/* ---- log_softmax: g - e^l sum g ---- */

static void log_softmax_of_rows(const tg_value *out, const tg_rows *r)
{
    TG_KERNEL_CALL(out->dtype, log_softmax_rows, r->count, r->columns, r->in[0], r->out);
}

static void log_softmax_forward(const tg_call *call)
{
    tg_over_rows(call, log_softmax_of_rows);
}

static void log_softmax_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_log_softmax_grad(d->cotangent, d->out);
}

const tg_op tg_op_log_softmax = {.name = "log_softmax",
                                 .arity = 1,
                                 .attributes_size = sizeof(axis_attributes),
                                 .fields = axis_fields,
                                 .shape = last_axis_shape,
                                 .forward = log_softmax_forward,
                                 .derivative = log_softmax_derivative,
                                 TG_SAMPLES(softmax_samples)};

tg_tensor tg_log_softmax(tg_tensor x, int axis)
{
    return along(&tg_op_log_softmax, x, axis);
}

static void log_softmax_grad_of_rows(const tg_value *out, const tg_rows *r)
{
    TG_KERNEL_CALL(out->dtype, log_softmax_grad_rows, r->count, r->columns, r->in[0], r->in[1], r->out);
}

static void log_softmax_grad_forward(const tg_call *call)
{
    tg_over_rows(call, log_softmax_grad_of_rows);
}

/* With the cotangent c of g - e^l sum g: c - sum c e^l for g, and -c e^l sum g for l. */
static void log_softmax_grad_derivative(const tg_derive *d)
{
    tg_tensor g = d->in[0], c = d->cotangent;
    tg_tensor weighted = tg_mul(c, tg_exp(d->in[1]));
    if (d->wanted[0])
        d->gradient[0] = tg_sub(c, row_sums(weighted));
    if (d->wanted[1])
        d->gradient[1] = tg_neg(tg_mul(weighted, row_sums(g)));
}

static const tg_sample log_softmax_grad_samples[] = {COTANGENTS(-4, 0)};

const tg_op tg_op_log_softmax_grad = {.name = "log_softmax_grad",
                                          .arity = 2,
                                          .shape = two_alike_shape,
                                          .forward = log_softmax_grad_forward,
                                          .derivative = log_softmax_grad_derivative,
                                          TG_SAMPLES(log_softmax_grad_samples)};

tg_tensor tg_log_softmax_grad(tg_tensor a, tg_tensor l)
{
    return TG_APPLY(&tg_op_log_softmax_grad, NULL, a, l);
}
