/* Elementwise operations: the expansion of the lines of elementwise.def, helpers for their gradients, and operations
 * that need more than a line, with three operands, with two numbers, and copies.
 */
#include "autograd/ops/category.h"

#include <string.h>

typedef struct clamp_attributes {
    double low, high;
} clamp_attributes;

static const tg_field clamp_fields[] = {
    TG_FIELD(clamp_attributes, low, TG_FIELD_REAL), TG_FIELD(clamp_attributes, high, TG_FIELD_REAL), {0}};
static const tg_field leaky_relu_grad_fields[] = {TG_NUMBER_FIELD("slope"), {0}};
#include "autograd/ops/samples/elementwise.h"

/* ---- operations that do not fit on a line ---- */

#define TERNARY_LOOP(name)                                                                                     \
    static void name##_loop(const tg_loop *l)                                                                  \
    {                                                                                                          \
        TG_KERNEL_CALL(l->dtype, name, l->n, l->in[0], l->step[0], l->in[1], l->step[1], l->in[2], l->step[2], \
                       l->out);                                                                                \
    }

static void mul_add_derivative(const tg_derive *d)
{
    for (int i = 0; i < 2; i++)
        if (d->wanted[i])
            d->gradient[i] = tg_mul(d->cotangent, d->in[1 - i]);
    d->gradient[2] = d->cotangent;
}

TERNARY_LOOP(mul_add)
TG_OPERATION(mul_add, 3, TG_ELEMENTWISE, mul_add_samples, .loop = mul_add_loop, .derivative = mul_add_derivative);

static void where_derivative(const tg_derive *d)
{
    tg_tensor g = d->cotangent, zero = tg_scalar_like(g, 0);
    if (d->wanted[1])
        d->gradient[1] = tg_where(d->in[0], g, zero);
    if (d->wanted[2])
        d->gradient[2] = tg_where(d->in[0], zero, g);
}

TERNARY_LOOP(where)
TG_OPERATION(where, 3, TG_ELEMENTWISE, where_samples, .loop = where_loop, .derivative = where_derivative);

static void copy_loop(const tg_loop *l)
{
    if (l->out != l->in[0])
        memcpy(l->out, l->in[0], l->n * tg_dtype_size(l->dtype));
}

TG_GRADIENT(copy, d->cotangent)

TG_OPERATION(copy, 1, TG_ELEMENTWISE | TG_IN_PLACE, copy_samples, .loop = copy_loop, .derivative = copy_derivative);
TG_OPERATION(stop_gradient, 1, TG_VIEW | TG_CONSTANT, copy_samples, .shape = tg_shape_same);

tg_tensor tg_neg(tg_tensor x)
{
    return tg_mul_scalar(x, -1);
}

/* g times a factor that is constant in pieces, and 0 where that is 0, of an infinite g too: a flat piece hides what comes
 * after it. */
static tg_tensor times_or_zero(tg_tensor g, tg_tensor factor)
{
    return tg_where(factor, tg_mul(g, factor), tg_scalar_like(g, 0));
}

/* clamp: g where x is within the limits, including these */
static bool clamp_shape(tg_value *out)
{
    const clamp_attributes *a = out->attributes;
    return a->low <= a->high || tg_expected(out, "expected low <= high, not %g and %g", a->low, a->high);
}

static void clamp_loop(const tg_loop *l)
{
    const clamp_attributes *a = l->attributes;
    TG_KERNEL_CALL(l->dtype, clamp, l->n, l->in[0], a->low, a->high, l->out);
}

TG_GRADIENT(clamp, times_or_zero(d->cotangent, tg_equal(d->out, d->in[0])))

TG_OPERATION(clamp, 1, TG_ELEMENTWISE | TG_IN_PLACE, clamp_samples, .loop = clamp_loop, .derivative = clamp_derivative,
             .shape = clamp_shape, TG_ATTRIBUTES(clamp_attributes, clamp_fields));

tg_tensor tg_clamp(tg_tensor x, double low, double high)
{
    return TG_APPLY(&tg_op_clamp, (&(clamp_attributes){low, high}), x);
}

static void leaky_relu_grad_loop(const tg_loop *l)
{
    TG_KERNEL_CALL(l->dtype, leaky_relu_grad, l->n, l->in[0], l->step[0], l->in[1], l->step[1],
                   tg_number_of(l->attributes), l->out);
}

static void leaky_relu_grad_derivative(const tg_derive *d)
{
    if (d->wanted[0])
        d->gradient[0] = tg_leaky_relu_grad(d->cotangent, d->in[1], tg_number_of(d->attributes));
}

TG_OPERATION(leaky_relu_grad, 2, TG_ELEMENTWISE, leaky_relu_grad_samples, .loop = leaky_relu_grad_loop,
             .derivative = leaky_relu_grad_derivative, TG_ATTRIBUTES(tg_number_attributes, leaky_relu_grad_fields));

tg_tensor tg_leaky_relu_grad(tg_tensor a, tg_tensor x, double slope)
{
    return TG_APPLY(&tg_op_leaky_relu_grad, TG_NUMBER(slope), a, x);
}

/* ---- helpers for the gradients in elementwise.def ---- */

/* x clamped to +-reach, beyond which its factor is 0 in both precisions, as 0 times infinity would be NaN. */
static tg_tensor limited(tg_tensor x, double reach)
{
    return tg_clamp(x, -reach, reach);
}

/* The cotangent where a is the larger of the two (or the smaller, for to_smaller); half of it where they are equal. */
static tg_tensor to_larger(tg_tensor a, tg_tensor b, tg_tensor g)
{
    tg_tensor wins_or_ties = tg_greater_equal(a, b), wins = tg_greater(a, b);
    return times_or_zero(g, tg_mul_scalar(tg_add(wins, wins_or_ties), 0.5));
}

static tg_tensor to_smaller(tg_tensor a, tg_tensor b, tg_tensor g)
{
    return to_larger(b, a, g);
}

/* The gradients of a^b, g b a^(b - 1) and g a^b log a. At a = 0 and b = 0 both are right if 0 times infinity is taken
 * as 0. If only b = 0, the first is 0 by itself, but its derivative by b is not. */
static tg_tensor pow_by_base(tg_tensor a, tg_tensor b, tg_tensor g)
{
    tg_tensor zero = tg_scalar_like(g, 0), power = tg_pow(a, tg_add_scalar(b, -1));
    tg_tensor product = tg_mul(tg_mul(g, b), power), b_vanishes = tg_equal(b, zero);
    return tg_where(tg_mul(tg_equal(a, zero), b_vanishes), zero, product);
}

static tg_tensor pow_by_exponent(tg_tensor a, tg_tensor b, tg_tensor g, tg_tensor y)
{
    tg_tensor zero = tg_scalar_like(g, 0), reaches = tg_greater_equal(b, zero);
    tg_tensor vanishes = tg_mul(tg_equal(a, zero), reaches);
    tg_tensor logarithm =
        tg_log(tg_where(vanishes, tg_scalar_like(g, 1), a)); /* 0 where it vanishes, also in all higher derivatives */
    return tg_mul(tg_mul(g, y), logarithm);
}

/* a times the second derivatives of tanh and of the sigmoid at x. */
static tg_tensor times_tanh_second(tg_tensor a, tg_tensor x)
{
    tg_tensor y = tg_tanh(x);
    return tg_mul_scalar(tg_mul(tg_tanh_grad(a, x), y), -2);
}

static tg_tensor times_sigmoid_second(tg_tensor a, tg_tensor x)
{
    tg_tensor y = tg_tanh(tg_mul_scalar(x, 0.5));
    return tg_neg(tg_mul(tg_sigmoid_grad(a, x), y));
}

/* ---- third derivatives of the smooth activations ---- */

/* x Phi(x):  phi(x) (x^3 - 4 x) */
static tg_tensor gelu_exact_third(tg_tensor x)
{
    const double one_over_sqrt_2_pi = 0.3989422804014327;
    x = limited(x, 50);
    tg_tensor square = tg_square(x);
    tg_tensor density = tg_mul_scalar(tg_exp(tg_mul_scalar(square, -0.5)), one_over_sqrt_2_pi);
    return tg_mul(density, tg_mul(x, tg_add_scalar(square, -4)));
}

/* Derivatives of a sigmoid: s', s'' = -s' tanh(x / 2), s''' = s' (1 - 6 s') */
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

/* x sigmoid(v), v = 2 c (x + a x^3), c = sqrt(2 / pi), a = 0.044715:
 * 3 (s'' v'^2 + s' v'') + x (s''' v'^3 + 3 s'' v' v'' + s' v''') */
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

    tg_tensor s2_v1 = tg_mul(s.second, v1), s1_v2 = tg_mul(s.first, v2);
    tg_tensor second = tg_add(tg_mul(s2_v1, v1), s1_v2);
    tg_tensor cubic = tg_mul(s.third, tg_mul(v1, tg_square(v1)));
    tg_tensor mixed = tg_mul_scalar(tg_mul(s2_v1, v2), 3), s1_v3 = tg_mul_scalar(s.first, v3);
    tg_tensor x_third = tg_mul(x, tg_add(tg_add(cubic, mixed), s1_v3));
    return tg_add(tg_mul_scalar(second, 3), x_third);
}

/* x sigmoid(k x):  k^2 (3 s'' + k x s''') */
static tg_tensor logistic_third(tg_tensor x, double k)
{
    tg_tensor kx = limited(tg_mul_scalar(x, k), 800);
    sigmoid_derivatives s = derivatives_of_sigmoid(kx);
    tg_tensor kx_third = tg_mul(kx, s.third);
    return tg_mul_scalar(tg_add(tg_mul_scalar(s.second, 3), kx_third), k * k);
}

static tg_tensor gelu_quick_third(tg_tensor x)
{
    return logistic_third(x, 1.702);
}

static tg_tensor silu_third(tg_tensor x)
{
    return logistic_third(x, 1);
}

/* x w, w = tanh(softplus(x)); with s = sigmoid(x)
 *      w' = (1 - w^2) s,  w'' = w' b,  w''' = w'' b + w' b',  b = 1 - s - 2 w s,  b' = -s' (1 + 2 w) - 2 w' s
 *      mish''' = 3 w'' + x w''' */
static tg_tensor mish_third(tg_tensor x)
{
    x = limited(x, 800);
    tg_tensor softplus = tg_softplus(x), w = tg_tanh(softplus), s = tg_sigmoid(x);
    tg_tensor one_and_two_w = tg_add_scalar(tg_mul_scalar(w, 2), 1);
    tg_tensor w1 = tg_tanh_grad(s, softplus);
    tg_tensor b = tg_add_scalar(tg_neg(tg_mul(s, one_and_two_w)), 1);
    tg_tensor s1 = tg_sigmoid_grad(one_and_two_w, x);
    tg_tensor b1 = tg_neg(tg_add(s1, tg_mul_scalar(tg_mul(w1, s), 2)));
    tg_tensor w2 = tg_mul(w1, b), w1_b1 = tg_mul(w1, b1);
    tg_tensor x_w3 = tg_mul(x, tg_add(tg_mul(w2, b), w1_b1));
    return tg_add(tg_mul_scalar(w2, 3), x_w3);
}

/* 6 / (1 + |x|)^4 */
static tg_tensor softsign_third(tg_tensor x)
{
    return tg_mul_scalar(tg_square(tg_softsign_grad(x)), 6);
}

/* of tanh y' (4 - 6 y'), y' = 1 - tanh^2 x; a quarter of it where x is not positive */
static tg_tensor penalized_tanh_third(tg_tensor x)
{
    tg_tensor first = tg_tanh_grad(tg_scalar_like(x, 1), x);
    tg_tensor share = tg_leaky_relu_grad(tg_scalar_like(x, 1), x, 0.25);
    return tg_mul(share, tg_mul(first, tg_add_scalar(tg_mul_scalar(first, -6), 4)));
}

/* -8 sin x cos x */
static tg_tensor snake_third(tg_tensor x)
{
    tg_tensor cosine = tg_cos(x);
    return tg_mul_scalar(tg_mul(tg_sin(x), cosine), -8);
}

/* 0.8 e^x where x is not positive */
static tg_tensor xielu_third(tg_tensor x)
{
    return tg_mul_scalar(tg_elu_grad_grad(x, 1), 0.8);
}

/* ---- the lines of elementwise.def ---- */

#define LOOP(name, ...)                                    \
    static void name##_loop(const tg_loop *l)              \
    {                                                      \
        TG_KERNEL_CALL(l->dtype, name, l->n, __VA_ARGS__); \
    }
#define LOOP_SAVED(name, ...)                                                        \
    static void name##_loop(const tg_loop *l)                                        \
    {                                                                                \
        if (l->saved)                                                                \
            TG_KERNEL_CALL(l->dtype, name##_with_grad, l->n, __VA_ARGS__, l->saved); \
        else                                                                         \
            TG_KERNEL_CALL(l->dtype, name, l->n, __VA_ARGS__);                       \
    }
/* The cotangent times first(x), which may have been saved. */
#define CHAIN_RULE(name, first_of_x)                                                    \
    static void name##_derivative(const tg_derive *d)                                   \
    {                                                                                   \
        const tg_tensor x = d->in[0];                                                   \
        d->gradient[0] = tg_mul(d->cotangent, tg_ok(d->saved) ? d->saved : first_of_x); \
    }
#define OPERATION(name_, operands, flags_, table, ...) \
    TG_OPERATION(name_, operands, flags_, table##_samples, .loop = name_##_loop, __VA_ARGS__);

#define TG_UNARY(name, lanes, value, table, gradient_of_x)          \
    LOOP(name, l->in[0], l->out)                                    \
    static void name##_derivative(const tg_derive *d)               \
    {                                                               \
        const tg_tensor g = d->cotangent, x = d->in[0], y = d->out; \
        (void)g, (void)x, (void)y;                                  \
        d->gradient[0] = gradient_of_x;                             \
    }                                                               \
    OPERATION(name, 1, TG_ELEMENTWISE | TG_IN_PLACE, table, .derivative = name##_derivative)
#define TG_UNARY_WRITTEN_OUT(name, table, gradient_of_x) TG_UNARY(name, 1, 0, table, gradient_of_x)
#define TG_UNARY_CONSTANT(name, lanes, value, table) \
    LOOP(name, l->in[0], l->out)                     \
    OPERATION(name, 1, TG_ELEMENTWISE | TG_IN_PLACE | TG_CONSTANT, table, .derivative = NULL)
#define TG_UNARY_SAVED(name, lanes, value, table, first, value_of_first) \
    LOOP_SAVED(name, l->in[0], l->out)                                   \
    CHAIN_RULE(name, tg_##first(x))                                      \
    OPERATION(name, 1, TG_ELEMENTWISE | TG_IN_PLACE, table, .derivative = name##_derivative, .saved = &tg_op_##first)
#if defined TG_FIRST_ORDER
#define TG_SMOOTH(name, lanes, table, third)              \
    TG_UNARY_SAVED(name, lanes, 0, table, name##_grad, 0) \
    TG_UNARY(name##_grad, lanes, 0, table, tg_first_order_only(g))
#define TG_QUADRATIC(name) TG_SMOOTH(name, 1, kinked, none)
#else
#define TG_SMOOTH(name, lanes, table, third)                                    \
    TG_UNARY_SAVED(name, lanes, 0, table, name##_grad, 0)                       \
    TG_UNARY(name##_grad, lanes, 0, table, tg_mul(g, tg_##name##_grad_grad(x))) \
    TG_UNARY(name##_grad_grad, lanes, 0, table, tg_mul(g, third(x)))
#define TG_QUADRATIC(name)                                                   \
    TG_UNARY_SAVED(name, 1, 0, kinked, name##_grad, 0)                       \
    TG_UNARY(name##_grad, 1, 0, kinked, tg_mul(g, tg_##name##_grad_grad(x))) \
    TG_UNARY_CONSTANT(name##_grad_grad, 1, 0, kinked)
#endif

#define NUMBER_OPERATION(name, number, table, ...)                                           \
    static const tg_field name##_fields[] = {TG_NUMBER_FIELD(#number), {0}};                 \
    OPERATION(name, 1, TG_ELEMENTWISE | TG_IN_PLACE, table, .derivative = name##_derivative, \
              TG_ATTRIBUTES(tg_number_attributes, name##_fields), __VA_ARGS__)               \
    tg_tensor tg_##name(tg_tensor x, double number)                                          \
    {                                                                                        \
        return TG_APPLY(&tg_op_##name, TG_NUMBER(number), x);                                \
    }
#define TG_UNARY_NUMBER(name, lanes, number, value, table, gradient_of_x) \
    LOOP(name, l->in[0], tg_number_of(l->attributes), l->out)             \
    static void name##_derivative(const tg_derive *d)                     \
    {                                                                     \
        const tg_tensor g = d->cotangent, x = d->in[0];                   \
        const double n = tg_number_of(d->attributes);                     \
        (void)x, (void)n;                                                 \
        d->gradient[0] = gradient_of_x;                                   \
    }                                                                     \
    NUMBER_OPERATION(name, number, table, .saved = NULL)
#define TG_UNARY_NUMBER_WRITTEN_OUT(name, number, table, gradient_of_x) \
    TG_UNARY_NUMBER(name, 1, number, 0, table, gradient_of_x)
#define TG_UNARY_NUMBER_SAVED(name, lanes, number, value, table, first, value_of_first) \
    LOOP_SAVED(name, l->in[0], tg_number_of(l->attributes), l->out)                     \
    CHAIN_RULE(name, tg_##first(x, tg_number_of(d->attributes)))                        \
    NUMBER_OPERATION(name, number, table, .saved = &tg_op_##first)

#define TG_BINARY(name, value, table, gradient_of_a, gradient_of_b)               \
    LOOP(name, l->in[0], l->step[0], l->in[1], l->step[1], l->out)                \
    static void name##_derivative(const tg_derive *d)                             \
    {                                                                             \
        const tg_tensor g = d->cotangent, a = d->in[0], b = d->in[1], y = d->out; \
        (void)g, (void)a, (void)b, (void)y;                                       \
        if (d->wanted[0])                                                         \
            d->gradient[0] = gradient_of_a;                                       \
        if (d->wanted[1])                                                         \
            d->gradient[1] = gradient_of_b;                                       \
    }                                                                             \
    OPERATION(name, 2, TG_ELEMENTWISE | TG_IN_PLACE, table, .derivative = name##_derivative)
#define TG_BINARY_CONSTANT(name, value, table)                     \
    LOOP(name, l->in[0], l->step[0], l->in[1], l->step[1], l->out) \
    OPERATION(name, 2, TG_ELEMENTWISE | TG_IN_PLACE | TG_CONSTANT, table, .derivative = NULL)
#include "autograd/elementwise.def"
