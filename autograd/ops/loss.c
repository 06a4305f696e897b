/* Losses that compare element by element, and their means. Prediction and target have the same shape: one that is
 * broadcast by accident, [n] against [n, 1], is a mistake nobody would see. Above each loss stands its derivative, of which
 * every element gets 1/n.
 */
#include "autograd/ops.h"
#include "autograd/ops/family.h"

static bool mean_of_two_shape(tg_value *out)
{
    const tg_value *a = out->inputs[0], *b = out->inputs[1];
    out->shape = TG_SCALAR;
    return (a->dtype != TG_I32 && a->dtype == b->dtype && tg_shape_equal(&a->shape, &b->shape)) ||
           tg_expected(out, "expected two tensors of one floating type and shape");
}

static void store_mean(const tg_call *call, double sum, double count)
{
    tg_fill(call->value->dtype, 1, sum / count, call->out);
}

/* NAME_forward: the mean of what the kernel sums up. */
#define MEAN_FORWARD(loss, kernel)                                                                           \
    static void loss##_forward(const tg_call *call)                                                          \
    {                                                                                                        \
        const size_t size = (size_t)call->value->inputs[0]->size;                                            \
        double sum = 0;                                                                                      \
        TG_KERNEL_CALL(call->value->dtype, kernel, size, call->in[0], call->in[1], &sum);                    \
        store_mean(call, sum, (double)size);                                                                 \
    }

/* What each of n elements gets of the cotangent of their mean. */
static tg_tensor share_of(const tg_derive *d)
{
    return tg_mul_scalar(d->cotangent, 1 / (double)tg_size(d->in[0]));
}

/* For losses of the difference: the slope for the first operand, its negative for the second. */
static void give_difference(const tg_derive *d, tg_tensor slope)
{
    d->gradient[0] = slope;
    if (d->wanted[1])
        d->gradient[1] = tg_neg(slope);
}

#define MEAN_SAMPLES(from, to)                                                                               \
    {.input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}, .low = from, .high = to}}},                    \
        {.input = {{.shape = {0}}, {.shape = {0}, .low = from, .high = to}}},                                \
        {.input = {{.shape = {2, {3, 0}}}, {.shape = {2, {3, 0}}}}},                                         \
        {.input = {{.shape = {1, {33}}}, {.shape = {1, {33}}, .low = from, .high = to}}},                    \
        {.input = {{.shape = {3, {2, 1, 5}}}, {.shape = {3, {2, 1, 5}}, .low = from, .high = to}}},          \
        {.input = {{.shape = {1, {17}}, .low = -12, .high = 12},                                             \
                   {.shape = {1, {17}}, .low = from, .high = to}}},                                          \
        {.input = {{.shape = {1, {1}}}, {.shape = {1, {1}}, .low = from, .high = to}}},                      \
        {.input = {{.shape = {2, {2, 7}}, .low = -50, .high = 50},                                           \
                   {.shape = {2, {2, 7}}, .low = from, .high = to}}},

/* ---- mse: 2 (prediction - target) ---- */

MEAN_FORWARD(mse, squared_error)

static void mse_derivative(const tg_derive *d)
{
    give_difference(d, tg_mul(tg_sub(d->in[0], d->in[1]), tg_mul_scalar(share_of(d), 2)));
}

static const tg_sample mse_samples[] = {MEAN_SAMPLES(-3, 3)};

const tg_op tg_op_mse = {.name = "mse",
                         .arity = 2,
                         .shape = mean_of_two_shape,
                         .forward = mse_forward,
                         .derivative = mse_derivative,
                         TG_SAMPLES(mse_samples)};

tg_tensor tg_mse(tg_tensor prediction, tg_tensor target)
{
    return TG_APPLY(&tg_op_mse, NULL, prediction, target);
}

/* ---- l1: sign(prediction - target) ---- */

MEAN_FORWARD(l1, absolute_error)

static void l1_derivative(const tg_derive *d)
{
    give_difference(d, tg_mul(tg_sign(tg_sub(d->in[0], d->in[1])), share_of(d)));
}

static const tg_sample l1_samples[] = {MEAN_SAMPLES(-3, 3)};

const tg_op tg_op_l1 = {.name = "l1",
                        .arity = 2,
                        .shape = mean_of_two_shape,
                        .forward = l1_forward,
                        .derivative = l1_derivative,
                        TG_SAMPLES(l1_samples)};

tg_tensor tg_l1(tg_tensor prediction, tg_tensor target)
{
    return TG_APPLY(&tg_op_l1, NULL, prediction, target);
}

/* ---- huber: prediction - target, limited to +-delta (Huber, 1964) ---- */

typedef struct huber_attributes {
    double delta;
} huber_attributes;

static const tg_field huber_fields[] = {TG_FIELD(huber_attributes, delta, TG_FIELD_REAL), {0}};

static bool huber_shape(tg_value *out)
{
    const double delta = ((const huber_attributes *)out->attributes)->delta;
    return mean_of_two_shape(out) && (delta > 0 || tg_expected(out, "expected delta > 0, not %g", delta));
}

static void huber_forward(const tg_call *call)
{
    const size_t size = (size_t)call->value->inputs[0]->size;
    const double delta = ((const huber_attributes *)call->value->attributes)->delta;
    double sum = 0;
    TG_KERNEL_CALL(call->value->dtype, huber_error, size, call->in[0], call->in[1], delta, &sum);
    store_mean(call, sum, (double)size);
}

static void huber_derivative(const tg_derive *d)
{
    const double delta = ((const huber_attributes *)d->attributes)->delta;
    give_difference(d, tg_mul(tg_clamp(tg_sub(d->in[0], d->in[1]), -delta, delta), share_of(d)));
}

#define DELTA(number)                                                                                        \
    .attributes = &(huber_attributes)                                                                        \
    {                                                                                                        \
        number                                                                                               \
    }

static const tg_sample huber_samples[] = {
    {DELTA(1), .input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}}},
    {DELTA(0.5), .input = {{.shape = {0}}, {.shape = {0}}}},
    {DELTA(1), .input = {{.shape = {2, {3, 0}}}, {.shape = {2, {3, 0}}}}},
    {DELTA(2), .input = {{.shape = {1, {33}}}, {.shape = {1, {33}}}}},
    {DELTA(100), .input = {{.shape = {3, {2, 1, 5}}}, {.shape = {3, {2, 1, 5}}}}},
    {DELTA(0.01), .input = {{.shape = {1, {17}}, .low = -12, .high = 12}, {.shape = {1, {17}}}}},
    {DELTA(1), .input = {{.shape = {1, {1}}}, {.shape = {1, {1}}}}},
    {DELTA(3), .input = {{.shape = {2, {2, 7}}, .low = -50, .high = 50}, {.shape = {2, {2, 7}}}}},
};

const tg_op tg_op_huber = {.name = "huber",
                           .arity = 2,
                           .attributes_size = sizeof(huber_attributes),
                           .fields = huber_fields,
                           .shape = huber_shape,
                           .forward = huber_forward,
                           .derivative = huber_derivative,
                           TG_SAMPLES(huber_samples)};

tg_tensor tg_huber(tg_tensor prediction, tg_tensor target, double delta)
{
    return TG_APPLY(&tg_op_huber, &(huber_attributes){delta}, prediction, target);
}

/* ---- bce_on_logits: sigmoid(z) - t for the logits, -z for the target ---- */

MEAN_FORWARD(bce_on_logits, logistic_error)

static void bce_on_logits_derivative(const tg_derive *d)
{
    tg_tensor z = d->in[0], share = share_of(d);
    if (d->wanted[0])
        d->gradient[0] = tg_mul(tg_sub(tg_sigmoid(z), d->in[1]), share);
    if (d->wanted[1])
        d->gradient[1] = tg_neg(tg_mul(z, share));
}

static const tg_sample bce_on_logits_samples[] = {MEAN_SAMPLES(0, 1)};

const tg_op tg_op_bce_on_logits = {.name = "bce_on_logits",
                                   .arity = 2,
                                   .shape = mean_of_two_shape,
                                   .forward = bce_on_logits_forward,
                                   .derivative = bce_on_logits_derivative,
                                   TG_SAMPLES(bce_on_logits_samples)};

tg_tensor tg_bce_on_logits(tg_tensor logits, tg_tensor target)
{
    return TG_APPLY(&tg_op_bce_on_logits, NULL, logits, target);
}

/* ---- kl: -p for the logarithms l, log p + 1 - l for p; the mean is over rows ---- */

/* As many rows as there are distributions along the last axis: 1 for a single one. */
static double distributions(int64_t size, const tg_shape *shape)
{
    return shape->rank > 0 && size > 0 ? (double)(size / shape->dim[shape->rank - 1]) : (double)size;
}

static void kl_forward(const tg_call *call)
{
    const tg_value *l = call->value->inputs[0];
    double sum = 0;
    TG_KERNEL_CALL(l->dtype, divergence, (size_t)l->size, call->in[0], call->in[1], &sum);
    store_mean(call, sum, distributions(l->size, &l->shape));
}

static void kl_derivative(const tg_derive *d)
{
    tg_tensor l = d->in[0], p = d->in[1];
    const tg_shape shape = tg_shape_of(l);
    tg_tensor share = tg_mul_scalar(d->cotangent, 1 / distributions(tg_size(l), &shape));
    if (d->wanted[0])
        d->gradient[0] = tg_neg(tg_mul(p, share));
    if (d->wanted[1])
        d->gradient[1] = tg_mul(tg_sub(tg_add_scalar(tg_log(p), 1), l), share);
}

static const tg_sample kl_samples[] = {MEAN_SAMPLES(0.05, 1)};

const tg_op tg_op_kl = {.name = "kl",
                        .arity = 2,
                        .shape = mean_of_two_shape,
                        .forward = kl_forward,
                        .derivative = kl_derivative,
                        TG_SAMPLES(kl_samples)};

tg_tensor tg_kl(tg_tensor log_probabilities, tg_tensor target)
{
    return TG_APPLY(&tg_op_kl, NULL, log_probabilities, target);
}
