/* The smooth activations. Each is three operations with a kernel of their own, A, A' (A_grad) and A'' (A_grad_grad);
 * the derivative of the last is made of elementary operations, so that every order follows. One exponential serves
 * value and derivative, so where a gradient is wanted A' is computed and saved along with A. Formulas: Hendrycks and
 * Gimpel (2016) for GELU, Misra (2019) for mish, Clevert et al. (2016) for ELU, Klambauer et al. (2017) for SELU.
 */
#include "autograd/ops/category.h"

static const tg_field elu_fields[] = {TG_NUMBER_FIELD("alpha"), {0}};
#include "autograd/ops/samples/activation.h"

/* The third derivatives vanish long before this in both precisions; beyond it, 0 times infinity would make NaN of 0. */
static tg_tensor limited(tg_tensor x, double reach)
{
    return tg_clamp(x, -reach, reach);
}

/* ---- gelu_exact: x Phi(x);  f''' = phi(x) (x^3 - 4 x) ---- */

static tg_tensor gelu_exact_third(tg_tensor x)
{
    const double one_over_sqrt_2_pi = 0.3989422804014327;
    x = limited(x, 50);
    tg_tensor square = tg_square(x);
    tg_tensor density = tg_mul_scalar(tg_exp(tg_mul_scalar(square, -0.5)), one_over_sqrt_2_pi);
    return tg_mul(density, tg_mul(x, tg_add_scalar(square, -4)));
}

TG_UNARY_LOOP_WITH_GRAD(gelu_exact_loop, gelu_exact, gelu_exact_with_grad)
TG_UNARY_LOOP(gelu_exact_grad_loop, gelu_exact_grad)
TG_UNARY_LOOP(gelu_exact_grad_grad_loop, gelu_exact_grad_grad)
TG_CHAIN_RULE(gelu_exact_derivative, tg_gelu_exact_grad)
TG_CHAIN_RULE(gelu_exact_grad_derivative, tg_gelu_exact_grad_grad)
TG_CHAIN_RULE(gelu_exact_grad_grad_derivative, gelu_exact_third)

const tg_op tg_op_gelu_exact = {TG_UNARY("gelu_exact", gelu_exact_loop, gelu_exact_derivative),
                                .saved = &tg_op_gelu_exact_grad, TG_SAMPLES(tg_unary_samples)};
const tg_op tg_op_gelu_exact_grad = {TG_UNARY("gelu_exact_grad", gelu_exact_grad_loop, gelu_exact_grad_derivative),
                                     TG_SAMPLES(tg_unary_samples)};
const tg_op tg_op_gelu_exact_grad_grad = {
    TG_UNARY("gelu_exact_grad_grad", gelu_exact_grad_grad_loop, gelu_exact_grad_grad_derivative),
    TG_SAMPLES(tg_unary_samples)};

/* ---- what a sigmoid contributes: s', s'' = -s' tanh(x / 2), s''' = s' (1 - 6 s') ---- */

typedef struct sigmoid_derivatives {
    tg_tensor first, second, third;
} sigmoid_derivatives;

static sigmoid_derivatives derivatives_of_sigmoid(tg_tensor x)
{
    tg_tensor first = tg_sigmoid_grad(tg_scalar_like(x, 1), x);
    return (sigmoid_derivatives){
        .first = first,
        .second = tg_neg(tg_mul(first, tg_tanh(tg_mul_scalar(x, 0.5)))),
        .third = tg_mul(first, tg_add_scalar(tg_mul_scalar(first, -6), 1)),
    };
}

/* ---- gelu_tanh: x sigmoid(v), v = 2 c (x + a x^3), c = sqrt(2 / pi), a = 0.044715;
 *      f''' = 3 (s'' v'^2 + s' v'') + x (s''' v'^3 + 3 s'' v' v'' + s' v''') ---- */

static tg_tensor gelu_tanh_third(tg_tensor x)
{
    const double two_c = 1.5957691216057308, a = 0.044715;
    x = limited(x, 30);
    tg_tensor square = tg_square(x);
    tg_tensor v = tg_mul(x, tg_add_scalar(tg_mul_scalar(square, two_c * a), two_c));
    tg_tensor v1 = tg_add_scalar(tg_mul_scalar(square, 3 * two_c * a), two_c);
    tg_tensor v2 = tg_mul_scalar(x, 6 * two_c * a);
    const double v3 = 6 * two_c * a;
    sigmoid_derivatives s = derivatives_of_sigmoid(v);

    tg_tensor s2_v1 = tg_mul(s.second, v1);
    tg_tensor second = tg_add(tg_mul(s2_v1, v1), tg_mul(s.first, v2));
    tg_tensor cubic = tg_mul(s.third, tg_mul(v1, tg_square(v1)));
    tg_tensor mixed = tg_mul_scalar(tg_mul(s2_v1, v2), 3);
    tg_tensor rest = tg_add(tg_add(cubic, mixed), tg_mul_scalar(s.first, v3));
    return tg_add(tg_mul_scalar(second, 3), tg_mul(x, rest));
}

TG_UNARY_LOOP_WITH_GRAD(gelu_tanh_loop, gelu_tanh, gelu_tanh_with_grad)
TG_UNARY_LOOP(gelu_tanh_grad_loop, gelu_tanh_grad)
TG_UNARY_LOOP(gelu_tanh_grad_grad_loop, gelu_tanh_grad_grad)
TG_CHAIN_RULE(gelu_tanh_derivative, tg_gelu_tanh_grad)
TG_CHAIN_RULE(gelu_tanh_grad_derivative, tg_gelu_tanh_grad_grad)
TG_CHAIN_RULE(gelu_tanh_grad_grad_derivative, gelu_tanh_third)

const tg_op tg_op_gelu_tanh = {TG_UNARY("gelu_tanh", gelu_tanh_loop, gelu_tanh_derivative),
                               .saved = &tg_op_gelu_tanh_grad, TG_SAMPLES(tg_unary_samples)};
const tg_op tg_op_gelu_tanh_grad = {TG_UNARY("gelu_tanh_grad", gelu_tanh_grad_loop, gelu_tanh_grad_derivative),
                                    TG_SAMPLES(tg_unary_samples)};
const tg_op tg_op_gelu_tanh_grad_grad = {
    TG_UNARY("gelu_tanh_grad_grad", gelu_tanh_grad_grad_loop, gelu_tanh_grad_grad_derivative),
    TG_SAMPLES(tg_unary_samples)};

/* ---- gelu_quick and silu: x sigmoid(k x);  f''' = k^2 (3 s'' + k x s''') ---- */

static tg_tensor logistic_third(tg_tensor x, double k)
{
    tg_tensor kx = limited(tg_mul_scalar(x, k), 800);
    sigmoid_derivatives s = derivatives_of_sigmoid(kx);
    return tg_mul_scalar(tg_add(tg_mul_scalar(s.second, 3), tg_mul(kx, s.third)), k * k);
}

static tg_tensor gelu_quick_third(tg_tensor x)
{
    return logistic_third(x, 1.702);
}

static tg_tensor silu_third(tg_tensor x)
{
    return logistic_third(x, 1);
}

TG_UNARY_LOOP_WITH_GRAD(gelu_quick_loop, gelu_quick, gelu_quick_with_grad)
TG_UNARY_LOOP(gelu_quick_grad_loop, gelu_quick_grad)
TG_UNARY_LOOP(gelu_quick_grad_grad_loop, gelu_quick_grad_grad)
TG_CHAIN_RULE(gelu_quick_derivative, tg_gelu_quick_grad)
TG_CHAIN_RULE(gelu_quick_grad_derivative, tg_gelu_quick_grad_grad)
TG_CHAIN_RULE(gelu_quick_grad_grad_derivative, gelu_quick_third)

const tg_op tg_op_gelu_quick = {TG_UNARY("gelu_quick", gelu_quick_loop, gelu_quick_derivative),
                                .saved = &tg_op_gelu_quick_grad, TG_SAMPLES(tg_unary_samples)};
const tg_op tg_op_gelu_quick_grad = {TG_UNARY("gelu_quick_grad", gelu_quick_grad_loop, gelu_quick_grad_derivative),
                                     TG_SAMPLES(tg_unary_samples)};
const tg_op tg_op_gelu_quick_grad_grad = {
    TG_UNARY("gelu_quick_grad_grad", gelu_quick_grad_grad_loop, gelu_quick_grad_grad_derivative),
    TG_SAMPLES(tg_unary_samples)};

TG_UNARY_LOOP_WITH_GRAD(silu_loop, silu, silu_with_grad)
TG_UNARY_LOOP(silu_grad_loop, silu_grad)
TG_UNARY_LOOP(silu_grad_grad_loop, silu_grad_grad)
TG_CHAIN_RULE(silu_derivative, tg_silu_grad)
TG_CHAIN_RULE(silu_grad_derivative, tg_silu_grad_grad)
TG_CHAIN_RULE(silu_grad_grad_derivative, silu_third)

const tg_op tg_op_silu = {TG_UNARY("silu", silu_loop, silu_derivative), .saved = &tg_op_silu_grad,
                          TG_SAMPLES(tg_unary_samples)};
const tg_op tg_op_silu_grad = {TG_UNARY("silu_grad", silu_grad_loop, silu_grad_derivative),
                               TG_SAMPLES(tg_unary_samples)};
const tg_op tg_op_silu_grad_grad = {TG_UNARY("silu_grad_grad", silu_grad_grad_loop, silu_grad_grad_derivative),
                                    TG_SAMPLES(tg_unary_samples)};

/* ---- mish: x w, w = tanh(softplus(x)); with s = sigmoid(x)
 *      w' = (1 - w^2) s,  w'' = w' b,  w''' = w'' b + w' b',  b = 1 - s - 2 w s,  b' = -s' (1 + 2 w) - 2 w' s
 *      f''' = 3 w'' + x w''' ---- */

static tg_tensor mish_third(tg_tensor x)
{
    x = limited(x, 800);
    tg_tensor softplus = tg_softplus(x), w = tg_tanh(softplus), s = tg_sigmoid(x);
    tg_tensor one_and_two_w = tg_add_scalar(tg_mul_scalar(w, 2), 1);
    tg_tensor w1 = tg_tanh_grad(s, softplus);
    tg_tensor b = tg_add_scalar(tg_neg(tg_mul(s, one_and_two_w)), 1);
    tg_tensor s1 = tg_sigmoid_grad(one_and_two_w, x);
    tg_tensor b1 = tg_neg(tg_add(s1, tg_mul_scalar(tg_mul(w1, s), 2)));
    tg_tensor w2 = tg_mul(w1, b);
    tg_tensor w3 = tg_add(tg_mul(w2, b), tg_mul(w1, b1));
    return tg_add(tg_mul_scalar(w2, 3), tg_mul(x, w3));
}

TG_UNARY_LOOP_WITH_GRAD(mish_loop, mish, mish_with_grad)
TG_UNARY_LOOP(mish_grad_loop, mish_grad)
TG_UNARY_LOOP(mish_grad_grad_loop, mish_grad_grad)
TG_CHAIN_RULE(mish_derivative, tg_mish_grad)
TG_CHAIN_RULE(mish_grad_derivative, tg_mish_grad_grad)
TG_CHAIN_RULE(mish_grad_grad_derivative, mish_third)

const tg_op tg_op_mish = {TG_UNARY("mish", mish_loop, mish_derivative), .saved = &tg_op_mish_grad,
                          TG_SAMPLES(tg_unary_samples)};
const tg_op tg_op_mish_grad = {TG_UNARY("mish_grad", mish_grad_loop, mish_grad_derivative),
                               TG_SAMPLES(tg_unary_samples)};
const tg_op tg_op_mish_grad_grad = {TG_UNARY("mish_grad_grad", mish_grad_grad_loop, mish_grad_grad_derivative),
                                    TG_SAMPLES(tg_unary_samples)};

/* ---- selu: scale (x for x > 0, alpha (e^x - 1) otherwise); from the second on all derivatives are equal ---- */

TG_UNARY_LOOP(selu_loop, selu)
TG_UNARY_LOOP(selu_grad_loop, selu_grad)
TG_UNARY_LOOP(selu_grad_grad_loop, selu_grad_grad)
TG_CHAIN_RULE(selu_derivative, tg_selu_grad)
TG_CHAIN_RULE(selu_grad_derivative, tg_selu_grad_grad)

const tg_op tg_op_selu = {TG_UNARY("selu", selu_loop, selu_derivative), TG_SAMPLES(tg_unary_samples)};
const tg_op tg_op_selu_grad = {TG_UNARY("selu_grad", selu_grad_loop, selu_grad_derivative),
                               TG_SAMPLES(tg_unary_samples)};
const tg_op tg_op_selu_grad_grad = {TG_UNARY("selu_grad_grad", selu_grad_grad_loop, selu_grad_derivative),
                                    TG_SAMPLES(tg_unary_samples)};

/* ---- elu: x for x > 0, alpha (e^x - 1) otherwise; likewise ---- */

static void elu_loop(const tg_loop *l)
{
    if (l->saved)
        TG_KERNEL_CALL(l->dtype, elu_with_grad, l->n, l->in[0], tg_number_of(l->attributes), l->out, l->saved);
    else
        TG_KERNEL_CALL(l->dtype, elu, l->n, l->in[0], tg_number_of(l->attributes), l->out);
}
TG_NUMBER_LOOP(elu_grad_loop, elu_grad)
TG_NUMBER_LOOP(elu_grad_grad_loop, elu_grad_grad)

static void elu_derivative(const tg_derive *d)
{
    const bool saved = tg_ok(d->saved);
    d->gradient[0] = tg_mul(d->cotangent, saved ? d->saved : tg_elu_grad(d->in[0], tg_number_of(d->attributes)));
}

static void elu_grad_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_elu_grad_grad(d->in[0], tg_number_of(d->attributes)));
}

const tg_op tg_op_elu = {TG_UNARY("elu", elu_loop, elu_derivative), TG_ATTRIBUTES(tg_number_attributes, elu_fields),
                         .saved = &tg_op_elu_grad, TG_SAMPLES(elu_samples)};
const tg_op tg_op_elu_grad = {TG_UNARY("elu_grad", elu_grad_loop, elu_grad_derivative),
                              TG_ATTRIBUTES(tg_number_attributes, elu_fields), TG_SAMPLES(elu_samples)};
const tg_op tg_op_elu_grad_grad = {TG_UNARY("elu_grad_grad", elu_grad_grad_loop, elu_grad_derivative),
                                   TG_ATTRIBUTES(tg_number_attributes, elu_fields), TG_SAMPLES(elu_samples)};

tg_tensor tg_elu(tg_tensor x, double alpha)
{
    return TG_APPLY(&tg_op_elu, TG_NUMBER(alpha), x);
}

tg_tensor tg_elu_grad(tg_tensor x, double alpha)
{
    return TG_APPLY(&tg_op_elu_grad, TG_NUMBER(alpha), x);
}

tg_tensor tg_elu_grad_grad(tg_tensor x, double alpha)
{
    return TG_APPLY(&tg_op_elu_grad_grad, TG_NUMBER(alpha), x);
}

/* ---- softsign: x / (1 + |x|);  g / (1 + |x|)^2 ---- */

static void softsign_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_div(d->cotangent, tg_square(tg_add_scalar(tg_abs(d->in[0]), 1)));
}

TG_UNARY_LOOP(softsign_loop, softsign)
const tg_op tg_op_softsign = {TG_UNARY("softsign", softsign_loop, softsign_derivative), TG_SAMPLES(tg_kinked_samples)};
