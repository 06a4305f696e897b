/* Losses that compare element by element, and their means. Prediction and target have the same shape: one that is
 * broadcast by accident, [n] against [n, 1], would go unnoticed. The heading of each loss has its derivative by one
 * element, before the factor 1/n of the mean.
 */
#include "autograd/ops/category.h"

static const tg_field huber_fields[] = {TG_NUMBER_FIELD("delta"), {0}};
#include "autograd/ops/samples/loss.h"

static bool mean_shape(tg_value *out)
{
    *out->shape = TG_SCALAR;
    return tg_inputs_alike(out, 2);
}

/* NAME_forward: what the kernel sums, called with the two inputs and these arguments, over `count`. */
#define MEAN_FORWARD(name, kernel, count, ...)                                                       \
    static void name##_forward(const tg_call *call)                                                  \
    {                                                                                                \
        const tg_value *out = call->value, *in = out->inputs[0];                                     \
        double sum = 0;                                                                              \
        TG_KERNEL_CALL(out->dtype, kernel, (size_t)in->size, call->in[0], call->in[1], __VA_ARGS__); \
        tg_fill(out->dtype, 1, sum / (count), call->out);                                            \
    }
#define MEAN_LOSS(name) .shape = mean_shape, .forward = name##_forward, .derivative = name##_derivative

/* The cotangent of each of n elements, from that of their mean. */
static tg_tensor share_of(const tg_derive *d)
{
    return tg_mul_scalar(d->cotangent, 1 / (double)tg_size(d->in[0]));
}

/* For losses of the difference: the gradient of the first operand, whose negative is that of the second. */
static void set_gradients(const tg_derive *d, tg_tensor gradient)
{
    d->gradient[0] = gradient;
    if (d->wanted[1])
        d->gradient[1] = tg_neg(gradient);
}

/* ---- mse: 2 (prediction - target) ---- */

static void mse_derivative(const tg_derive *d)
{
    tg_tensor twice = tg_mul_scalar(share_of(d), 2);
    set_gradients(d, tg_mul(tg_sub(d->in[0], d->in[1]), twice));
}

MEAN_FORWARD(mse, squared_error, (double)in->size, &sum)
TG_OPERATION(mse, 2, 0, difference_samples, MEAN_LOSS(mse));

/* ---- l1: sign(prediction - target) ---- */

static void l1_derivative(const tg_derive *d)
{
    tg_tensor share = share_of(d);
    set_gradients(d, tg_mul(tg_sign(tg_sub(d->in[0], d->in[1])), share));
}

MEAN_FORWARD(l1, absolute_error, (double)in->size, &sum)
TG_OPERATION(l1, 2, 0, difference_samples, MEAN_LOSS(l1));

/* ---- huber: prediction - target, limited to +-delta (Huber, 1964) ---- */

static bool huber_shape(tg_value *out)
{
    const double delta = tg_number_of(out->attributes);
    return mean_shape(out) && (delta > 0 || tg_expected(out, "expected delta > 0, not %g", delta));
}

static void huber_derivative(const tg_derive *d)
{
    const double delta = tg_number_of(d->attributes);
    tg_tensor share = share_of(d);
    set_gradients(d, tg_mul(tg_clamp(tg_sub(d->in[0], d->in[1]), -delta, delta), share));
}

MEAN_FORWARD(huber, huber_error, (double)in->size, tg_number_of(out->attributes), &sum)
TG_USUAL_OPERATION(huber, 2, TG_ATTRIBUTES(tg_number_attributes, huber_fields));

tg_tensor tg_huber(tg_tensor prediction, tg_tensor target, double delta)
{
    return TG_APPLY(&tg_op_huber, TG_NUMBER(delta), prediction, target);
}

/* ---- bce_on_logits: sigmoid(z) - t for the logits, -z for the target ---- */

static void bce_on_logits_derivative(const tg_derive *d)
{
    tg_tensor z = d->in[0], share = share_of(d);
    if (d->wanted[0])
        d->gradient[0] = tg_mul(tg_sub(tg_sigmoid(z), d->in[1]), share);
    if (d->wanted[1])
        d->gradient[1] = tg_neg(tg_mul(z, share));
}

MEAN_FORWARD(bce_on_logits, logistic_error, (double)in->size, &sum)
TG_OPERATION(bce_on_logits, 2, 0, bce_on_logits_samples, MEAN_LOSS(bce_on_logits));

/* ---- kl: -p for the logarithms l, log p + 1 - l for p; the mean is over rows ---- */

/* The number of distributions along the last axis: 1 for a single one. */
static double distributions(int64_t size, const tg_shape *shape)
{
    return shape->rank > 0 && size > 0 ? (double)(size / shape->dim[shape->rank - 1]) : (double)size;
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

MEAN_FORWARD(kl, divergence, distributions(in->size, in->shape), &sum)
TG_OPERATION(kl, 2, 0, kl_samples, MEAN_LOSS(kl));
