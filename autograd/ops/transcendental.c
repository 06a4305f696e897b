/* The functions of the C library and their relatives. The formula of each derivative stands above it; g is the cotangent,
 * y the result. */
#include "autograd/ops.h"
#include "autograd/ops/family.h"

/* ---- exp: g y ---- */

static void exp_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, d->out);
}

TG_UNARY_OP(exp, tg_unary_samples)

/* ---- expm1: g e^x, for y + 1 has lost it where x is very negative ---- */

static void expm1_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_exp(d->in[0]));
}

TG_UNARY_OP(expm1, tg_unary_samples)

/* ---- log: g / x ---- */

static void log_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_div(d->cotangent, d->in[0]);
}

TG_UNARY_OP(log, tg_positive_samples)

/* ---- log1p: g / (1 + x) ---- */

static void log1p_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_div(d->cotangent, tg_add_scalar(d->in[0], 1));
}

TG_UNARY_OP(log1p, tg_positive_samples)

/* ---- sin: g cos x ---- */

static void sin_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_cos(d->in[0]));
}

TG_UNARY_OP(sin, tg_unary_samples)

/* ---- cos: -g sin x ---- */

static void cos_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_neg(tg_mul(d->cotangent, tg_sin(d->in[0])));
}

TG_UNARY_OP(cos, tg_unary_samples)

/* ---- tanh: g sech^2 x, as an operation of its own; 1 - y^2 would lose its digits where y is close to 1 ---- */

static void tanh_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_tanh_grad(d->cotangent, d->in[0]);
}

TG_UNARY_OP(tanh, tg_unary_samples)

/* With the cotangent c of a sech^2 x: c sech^2 x for a, and -2 c a sech^2 x tanh x for x. */
static void tanh_grad_derivative(const tg_derive *d)
{
    tg_tensor a = d->in[0], x = d->in[1], c = d->cotangent;
    if (d->wanted[0])
        d->gradient[0] = tg_tanh_grad(c, x);
    if (d->wanted[1])
        d->gradient[1] = tg_mul_scalar(tg_mul(tg_tanh_grad(tg_mul(c, a), x), tg_tanh(x)), -2);
}

TG_BINARY_OP(tanh_grad, tg_binary_samples)

/* ---- sigmoid: g s'(x), likewise instead of s (1 - s) ---- */

static void sigmoid_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_sigmoid_grad(d->cotangent, d->in[0]);
}

TG_UNARY_OP(sigmoid, tg_unary_samples)

/* With the cotangent c of a s'(x): c s'(x) for a, and -c a s'(x) tanh(x / 2) for x. */
static void sigmoid_grad_derivative(const tg_derive *d)
{
    tg_tensor a = d->in[0], x = d->in[1], c = d->cotangent;
    if (d->wanted[0])
        d->gradient[0] = tg_sigmoid_grad(c, x);
    if (d->wanted[1])
        d->gradient[1] = tg_neg(tg_mul(tg_sigmoid_grad(tg_mul(c, a), x), tg_tanh(tg_mul_scalar(x, 0.5))));
}

TG_BINARY_OP(sigmoid_grad, tg_binary_samples)

/* ---- softplus: g sigmoid(x), which shares its exponential and is computed along with the value ---- */

static void softplus_loop(const tg_loop *l)
{
    if (l->saved)
        TG_KERNEL_CALL(l->dtype, softplus_pair, l->n, l->in[0], l->out, l->saved);
    else
        TG_KERNEL_CALL(l->dtype, softplus, l->n, l->in[0], l->out);
}

static void softplus_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_ok(d->saved) ? d->saved : tg_sigmoid(d->in[0]));
}

const tg_op tg_op_softplus = {.name = "softplus",
                              .arity = 1,
                              .flags = TG_ELEMENTWISE,
                              .loop = softplus_loop,
                              .saved = &tg_op_sigmoid,
                              .derivative = softplus_derivative,
                              TG_SAMPLES(tg_unary_samples)};

tg_tensor tg_softplus(tg_tensor x)
{
    return TG_APPLY(&tg_op_softplus, NULL, x);
}

/* ---- erf and erfc: +-g 2 / sqrt(pi) e^(-x^2) ---- */

static tg_tensor bell(tg_tensor x, double factor)
{
    const double two_over_sqrt_pi = 1.1283791670955126;
    return tg_mul_scalar(tg_exp(tg_neg(tg_square(x))), factor * two_over_sqrt_pi);
}

static void erf_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, bell(d->in[0], 1));
}

TG_UNARY_OP(erf, tg_unary_samples)

static void erfc_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, bell(d->in[0], -1));
}

TG_UNARY_OP(erfc, tg_unary_samples)
