/* The smooth activations. Each is three operations with a kernel of their own, A, A' (A_grad) and A'' (A_grad_grad); the derivative
 * of the last is made of elementary operations, so that every order follows. Formulas: Hendrycks and Gimpel (2016) for
 * GELU, Misra (2019) for mish, Clevert et al. (2016) for ELU, Klambauer et al. (2017) for SELU.
 */
#include "autograd/ops.h"
#include "autograd/ops/family.h"

/* The slope that was computed along with the value, or the slope computed now. */
static tg_tensor kept_or(const tg_derive *d, tg_tensor (*slope)(tg_tensor x))
{
    return tg_ok(d->saved) ? d->saved : slope(d->in[0]);
}

/* The first and second derivative of an activation as operations; the third is NAME_third(x). */
#define DERIVATIVES(name)                                                                                    \
    static void name##_grad_derivative(const tg_derive *d)                                                     \
    {                                                                                                        \
        d->gradient[0] = tg_mul(d->cotangent, tg_##name##_grad_grad(d->in[0]));                                         \
    }                                                                                                        \
    static void name##_grad_grad_derivative(const tg_derive *d)                                                     \
    {                                                                                                        \
        d->gradient[0] = tg_mul(d->cotangent, name##_third(d->in[0]));                                              \
    }                                                                                                        \
    TG_UNARY_OP(name##_grad, tg_unary_samples)                                                                 \
    TG_UNARY_OP(name##_grad_grad, tg_unary_samples)

/* The three operations of an activation. One exponential serves value and slope, so where a gradient is wanted the slope
 * is computed along with the value. */
#define SMOOTH_ACTIVATION(kernel)                                                                            \
    DERIVATIVES(kernel)                                                                                      \
    static void kernel##_loop(const tg_loop *l)                                                              \
    {                                                                                                        \
        if (l->saved)                                                                                        \
            TG_KERNEL_CALL(l->dtype, kernel##_pair, l->n, l->in[0], l->out, l->saved);                       \
        else                                                                                                 \
            TG_KERNEL_CALL(l->dtype, kernel, l->n, l->in[0], l->out);                                        \
    }                                                                                                        \
    static void kernel##_derivative(const tg_derive *d)                                                      \
    {                                                                                                        \
        d->gradient[0] = tg_mul(d->cotangent, kept_or(d, tg_##kernel##_grad));                                     \
    }                                                                                                        \
    const tg_op tg_op_##kernel = {.name = #kernel,                                                           \
                                  .arity = 1,                                                                \
                                  .flags = TG_ELEMENTWISE,                                                   \
                                  .loop = kernel##_loop,                                                     \
                                  .saved = &tg_op_##kernel##_grad,                                         \
                                  .derivative = kernel##_derivative,                                         \
                                  TG_SAMPLES(tg_unary_samples)};                                             \
    tg_tensor tg_##kernel(tg_tensor x)                                                                       \
    {                                                                                                        \
        return TG_APPLY(&tg_op_##kernel, NULL, x);                                                           \
    }

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

SMOOTH_ACTIVATION(gelu_exact)

/* ---- what a sigmoid contributes: s', s'' = -s' tanh(x / 2), s''' = s' (1 - 6 s') ---- */

typedef struct sigmoid_slopes {
    tg_tensor d1, d2, d3;
} sigmoid_slopes;

static sigmoid_slopes slopes_of_sigmoid(tg_tensor x)
{
    tg_tensor one = tg_full(tg_tape_of(x), tg_dtype_of(x), TG_SCALAR, 1);
    tg_tensor d1 = tg_sigmoid_grad(one, x);
    return (sigmoid_slopes){
        .d1 = d1,
        .d2 = tg_neg(tg_mul(d1, tg_tanh(tg_mul_scalar(x, 0.5)))),
        .d3 = tg_mul(d1, tg_add_scalar(tg_mul_scalar(d1, -6), 1)),
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
    sigmoid_slopes s = slopes_of_sigmoid(v);

    tg_tensor s2_v1 = tg_mul(s.d2, v1);
    tg_tensor slope = tg_add(tg_mul(s2_v1, v1), tg_mul(s.d1, v2));
    tg_tensor cubic = tg_mul(s.d3, tg_mul(v1, tg_square(v1)));
    tg_tensor mixed = tg_mul_scalar(tg_mul(s2_v1, v2), 3);
    tg_tensor rest = tg_add(tg_add(cubic, mixed), tg_mul_scalar(s.d1, v3));
    return tg_add(tg_mul_scalar(slope, 3), tg_mul(x, rest));
}

SMOOTH_ACTIVATION(gelu_tanh)

/* ---- gelu_quick and silu: x sigmoid(k x);  f''' = k^2 (3 s'' + k x s''') ---- */

static tg_tensor logistic_third(tg_tensor x, double k)
{
    tg_tensor kx = limited(tg_mul_scalar(x, k), 800);
    sigmoid_slopes s = slopes_of_sigmoid(kx);
    return tg_mul_scalar(tg_add(tg_mul_scalar(s.d2, 3), tg_mul(kx, s.d3)), k * k);
}

static tg_tensor gelu_quick_third(tg_tensor x)
{
    return logistic_third(x, 1.702);
}

static tg_tensor silu_third(tg_tensor x)
{
    return logistic_third(x, 1);
}

SMOOTH_ACTIVATION(gelu_quick)
SMOOTH_ACTIVATION(silu)

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

SMOOTH_ACTIVATION(mish)

/* ---- selu: scale (x for x > 0, alpha (e^x - 1) otherwise); from the second on all derivatives are equal ---- */

static tg_tensor selu_third(tg_tensor x)
{
    return tg_selu_grad_grad(x);
}

static void selu_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_selu_grad(d->in[0]));
}

DERIVATIVES(selu)
TG_UNARY_OP(selu, tg_unary_samples)

/* ---- elu: x for x > 0, alpha (e^x - 1) otherwise; likewise ---- */

typedef struct elu_attributes {
    double alpha;
} elu_attributes;

static const tg_field elu_fields[] = {TG_FIELD(elu_attributes, alpha, TG_FIELD_REAL), {0}};

static const tg_sample elu_samples[] = {
    {.attributes = &(elu_attributes){1}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(elu_attributes){0.5}, .input = {{.shape = {0}}}},
    {.attributes = &(elu_attributes){1}, .input = {{.shape = {2, {2, 0}}}}},
    {.attributes = &(elu_attributes){2}, .input = {{.shape = {1, {33}}}}},
    {.attributes = &(elu_attributes){1}, .input = {{.shape = {1, {17}}, .low = -12, .high = 12}}},
    {.attributes = &(elu_attributes){-1}, .input = {{.shape = {3, {1, 2, 1}}}}},
    {.attributes = &(elu_attributes){1}, .input = {{.shape = {2, {2, 7}}, .low = -8, .high = -4}}},
    {.attributes = &(elu_attributes){1.5},
     .input = {{.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES}}},
};

static double alpha_of(const void *attributes)
{
    return ((const elu_attributes *)attributes)->alpha;
}

/* Each of the three with its function, after NAME_loop and NAME_derivative; `...` may name a saved. */
#define ELU(kernel, ...)                                                                                     \
    const tg_op tg_op_##kernel = {.name = #kernel,                                                           \
                                  .arity = 1,                                                                \
                                  .flags = TG_ELEMENTWISE,                                                   \
                                  .attributes_size = sizeof(elu_attributes),                                 \
                                  .fields = elu_fields,                                                      \
                                  .loop = kernel##_loop,                                                     \
                                  .derivative = kernel##_derivative,                                         \
                                  __VA_ARGS__,                                                               \
                                  TG_SAMPLES(elu_samples)};                                                  \
    tg_tensor tg_##kernel(tg_tensor x, double alpha)                                                         \
    {                                                                                                        \
        return TG_APPLY(&tg_op_##kernel, &(elu_attributes){alpha}, x);                                       \
    }

static void elu_loop(const tg_loop *l)
{
    if (l->saved)
        TG_KERNEL_CALL(l->dtype, elu_pair, l->n, l->in[0], alpha_of(l->attributes), l->out, l->saved);
    else
        TG_KERNEL_CALL(l->dtype, elu, l->n, l->in[0], alpha_of(l->attributes), l->out);
}

static void elu_grad_loop(const tg_loop *l)
{
    TG_KERNEL_CALL(l->dtype, elu_grad, l->n, l->in[0], alpha_of(l->attributes), l->out);
}

static void elu_grad_grad_loop(const tg_loop *l)
{
    TG_KERNEL_CALL(l->dtype, elu_grad_grad, l->n, l->in[0], alpha_of(l->attributes), l->out);
}

static void elu_derivative(const tg_derive *d)
{
    const bool kept = tg_ok(d->saved);
    d->gradient[0] = tg_mul(d->cotangent, kept ? d->saved : tg_elu_grad(d->in[0], alpha_of(d->attributes)));
}

static void elu_grad_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_elu_grad_grad(d->in[0], alpha_of(d->attributes)));
}

static void elu_grad_grad_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_elu_grad_grad(d->in[0], alpha_of(d->attributes)));
}

ELU(elu, .saved = &tg_op_elu_grad)
ELU(elu_grad, .saved = NULL)
ELU(elu_grad_grad, .saved = NULL)
