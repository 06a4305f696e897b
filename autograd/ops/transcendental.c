/* The functions of the C library and their relatives. The formula of each derivative stands above it; g is the
 * cotangent, y the result. */
#include "autograd/ops/category.h"

/* ---- exp: g y ---- */

static void exp_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, d->out);
}

TG_UNARY_LOOP(exp_loop, vector_exp)
const tg_op tg_op_exp = {TG_UNARY("exp", exp_loop, exp_derivative), TG_SAMPLES(tg_unary_samples)};

/* ---- expm1: g e^x, for y + 1 has lost it where x is very negative ---- */

TG_UNARY_LOOP(expm1_loop, vector_expm1)
TG_CHAIN_RULE(expm1_derivative, tg_exp)
const tg_op tg_op_expm1 = {TG_UNARY("expm1", expm1_loop, expm1_derivative), TG_SAMPLES(tg_unary_samples)};

/* ---- log: g / x ---- */

static void log_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_div(d->cotangent, d->in[0]);
}

TG_UNARY_LOOP(log_loop, vector_log)
const tg_op tg_op_log = {TG_UNARY("log", log_loop, log_derivative), TG_SAMPLES(tg_positive_samples)};

/* ---- log1p: g / (1 + x) ---- */

static void log1p_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_div(d->cotangent, tg_add_scalar(d->in[0], 1));
}

TG_UNARY_LOOP(log1p_loop, vector_log1p)
const tg_op tg_op_log1p = {TG_UNARY("log1p", log1p_loop, log1p_derivative), TG_SAMPLES(tg_positive_samples)};

/* ---- sin: g cos x ---- */

TG_UNARY_LOOP(sin_loop, vector_sin)
TG_CHAIN_RULE(sin_derivative, tg_cos)
const tg_op tg_op_sin = {TG_UNARY("sin", sin_loop, sin_derivative), TG_SAMPLES(tg_unary_samples)};

/* ---- cos: -g sin x ---- */

static void cos_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_neg(tg_mul(d->cotangent, tg_sin(d->in[0])));
}

TG_UNARY_LOOP(cos_loop, vector_cos)
const tg_op tg_op_cos = {TG_UNARY("cos", cos_loop, cos_derivative), TG_SAMPLES(tg_unary_samples)};

/* ---- tanh: g sech^2 x, as an operation of its own; 1 - y^2 would lose its digits where y is close to 1 ---- */

static void tanh_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_tanh_grad(d->cotangent, d->in[0]);
}

/* With the cotangent c of a sech^2 x: c sech^2 x for a, and -2 c a sech^2 x tanh x for x. */
static void tanh_grad_derivative(const tg_derive *d)
{
    tg_tensor a = d->in[0], x = d->in[1], c = d->cotangent;
    if (d->wanted[0])
        d->gradient[0] = tg_tanh_grad(c, x);
    if (d->wanted[1])
        d->gradient[1] = tg_mul_scalar(tg_mul(tg_tanh_grad(tg_mul(c, a), x), tg_tanh(x)), -2);
}

TG_UNARY_LOOP(tanh_loop, vector_tanh)
TG_BINARY_LOOP(tanh_grad_loop, tanh_grad)
const tg_op tg_op_tanh = {TG_UNARY("tanh", tanh_loop, tanh_derivative), TG_SAMPLES(tg_unary_samples)};
const tg_op tg_op_tanh_grad = {TG_BINARY("tanh_grad", tanh_grad_loop, tanh_grad_derivative),
                               TG_SAMPLES(tg_binary_samples)};

/* ---- sigmoid: g s'(x), likewise instead of s (1 - s) ---- */

static void sigmoid_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_sigmoid_grad(d->cotangent, d->in[0]);
}

/* With the cotangent c of a s'(x): c s'(x) for a, and -c a s'(x) tanh(x / 2) for x. */
static void sigmoid_grad_derivative(const tg_derive *d)
{
    tg_tensor a = d->in[0], x = d->in[1], c = d->cotangent;
    if (d->wanted[0])
        d->gradient[0] = tg_sigmoid_grad(c, x);
    if (d->wanted[1])
        d->gradient[1] = tg_neg(tg_mul(tg_sigmoid_grad(tg_mul(c, a), x), tg_tanh(tg_mul_scalar(x, 0.5))));
}

TG_UNARY_LOOP(sigmoid_loop, sigmoid)
TG_BINARY_LOOP(sigmoid_grad_loop, sigmoid_grad)
const tg_op tg_op_sigmoid = {TG_UNARY("sigmoid", sigmoid_loop, sigmoid_derivative), TG_SAMPLES(tg_unary_samples)};
const tg_op tg_op_sigmoid_grad = {TG_BINARY("sigmoid_grad", sigmoid_grad_loop, sigmoid_grad_derivative),
                                  TG_SAMPLES(tg_binary_samples)};

/* ---- softplus: g sigmoid(x), which shares its exponential and is computed along with the value ---- */

TG_UNARY_LOOP_WITH_GRAD(softplus_loop, softplus, softplus_with_grad)
TG_CHAIN_RULE(softplus_derivative, tg_sigmoid)
const tg_op tg_op_softplus = {TG_UNARY("softplus", softplus_loop, softplus_derivative), .saved = &tg_op_sigmoid,
                              TG_SAMPLES(tg_unary_samples)};

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

static void erfc_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, bell(d->in[0], -1));
}

TG_UNARY_LOOP(erf_loop, vector_erf)
TG_UNARY_LOOP(erfc_loop, vector_erfc)
const tg_op tg_op_erf = {TG_UNARY("erf", erf_loop, erf_derivative), TG_SAMPLES(tg_unary_samples)};
const tg_op tg_op_erfc = {TG_UNARY("erfc", erfc_loop, erfc_derivative), TG_SAMPLES(tg_unary_samples)};
