/* Powers, roots and the like. The formula of each derivative stands above it; g is the cotangent. */
#include "autograd/ops/category.h"

typedef struct clamp_attributes {
    double low, high;
} clamp_attributes;

static const tg_field power_fields[] = {TG_NUMBER_FIELD("exponent"), {0}};
static const tg_field clamp_fields[] = {
    TG_FIELD(clamp_attributes, low, TG_FIELD_REAL), TG_FIELD(clamp_attributes, high, TG_FIELD_REAL), {0}};
#include "autograd/ops/samples/pointwise.h"

/* ---- square: g 2 x ---- */

static void square_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul_scalar(tg_mul(d->cotangent, d->in[0]), 2);
}

TG_UNARY_LOOP(square_loop, square)
const tg_op tg_op_square = {TG_UNARY("square", square_loop, square_derivative), TG_SAMPLES(tg_unary_samples)};

/* ---- sqrt: g / (2 sqrt x) ---- */

static void sqrt_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul_scalar(tg_div(d->cotangent, d->out), 0.5);
}

TG_UNARY_LOOP(sqrt_loop, vector_sqrt)
const tg_op tg_op_sqrt = {TG_UNARY("sqrt", sqrt_loop, sqrt_derivative), TG_SAMPLES(tg_positive_samples)};

/* ---- rsqrt: -g y^3 / 2 for y = 1 / sqrt x ---- */

static void rsqrt_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul_scalar(tg_mul(d->cotangent, tg_power(d->out, 3)), -0.5);
}

TG_UNARY_LOOP(rsqrt_loop, rsqrt)
const tg_op tg_op_rsqrt = {TG_UNARY("rsqrt", rsqrt_loop, rsqrt_derivative), TG_SAMPLES(tg_positive_samples)};

/* ---- abs: g sign x ---- */

TG_UNARY_LOOP(abs_loop, vector_abs)
TG_CHAIN_RULE(abs_derivative, tg_sign)
const tg_op tg_op_abs = {TG_UNARY("abs", abs_loop, abs_derivative), TG_SAMPLES(tg_kinked_samples)};

/* ---- sign ---- */

TG_UNARY_LOOP(sign_loop, sign)
const tg_op tg_op_sign = {.name = "sign",
                          .arity = 1,
                          .flags = TG_ELEMENTWISE | TG_CONSTANT,
                          .loop = sign_loop,
                          TG_SAMPLES(tg_kinked_samples)};

/* ---- power: g p x^(p - 1) ---- */

static void power_derivative(const tg_derive *d)
{
    const double exponent = tg_number_of(d->attributes);
    if (exponent != 0)
        d->gradient[0] = tg_mul_scalar(tg_mul(d->cotangent, tg_power(d->in[0], exponent - 1)), exponent);
}

TG_NUMBER_LOOP(power_loop, pow_scalar)
const tg_op tg_op_power = {TG_UNARY("power", power_loop, power_derivative),
                           TG_ATTRIBUTES(tg_number_attributes, power_fields), TG_SAMPLES(power_samples)};

tg_tensor tg_power(tg_tensor x, double exponent)
{
    return TG_APPLY(&tg_op_power, TG_NUMBER(exponent), x);
}

/* ---- pow: g b a^(b - 1) and g a^b log a ---- */

/* Both formulas hold at a = 0 and b = 0 once 0 times infinity is read as what it is there, 0. */
static void pow_derivative(const tg_derive *d)
{
    tg_tensor a = d->in[0], b = d->in[1], g = d->cotangent, zero = tg_scalar_like(g, 0);
    if (d->wanted[0]) {
        tg_tensor product = tg_mul(tg_mul(g, b), tg_pow(a, tg_add_scalar(b, -1)));
        /* at b = 0 alone the product is 0 by itself, and its derivative by b is not */
        d->gradient[0] = tg_where(tg_mul(tg_equal(a, zero), tg_equal(b, zero)), zero, product);
    }
    if (d->wanted[1]) {
        tg_tensor vanishes = tg_mul(tg_equal(a, zero), tg_greater_equal(b, zero));
        /* 0 where it vanishes, in all further derivatives too */
        tg_tensor logarithm = tg_log(tg_where(vanishes, tg_scalar_like(g, 1), a));
        d->gradient[1] = tg_mul(tg_mul(g, d->out), logarithm);
    }
}

TG_BINARY_LOOP(pow_loop, vector_pow)
const tg_op tg_op_pow = {TG_BINARY("pow", pow_loop, pow_derivative), TG_SAMPLES(pow_samples)};

/* ---- clamp: g where x is within the limits, them included ---- */

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

static void clamp_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_equal(d->out, d->in[0]));
}

const tg_op tg_op_clamp = {TG_UNARY("clamp", clamp_loop, clamp_derivative), .shape = clamp_shape,
                           TG_ATTRIBUTES(clamp_attributes, clamp_fields), TG_SAMPLES(clamp_samples)};

tg_tensor tg_clamp(tg_tensor x, double low, double high)
{
    return TG_APPLY(&tg_op_clamp, (&(clamp_attributes){low, high}), x);
}
