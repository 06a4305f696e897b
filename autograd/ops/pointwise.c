/* Powers, roots and the like. The formula of each derivative stands above it; g is the cotangent. */
#include "autograd/ops.h"
#include "autograd/ops/family.h"

/* ---- square: g 2 x ---- */

static void square_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul_scalar(tg_mul(d->cotangent, d->in[0]), 2);
}

TG_UNARY_OP(square, tg_unary_samples)

/* ---- sqrt: g / (2 sqrt x) ---- */

static void sqrt_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul_scalar(tg_div(d->cotangent, d->out), 0.5);
}

TG_UNARY_OP(sqrt, tg_positive_samples)

/* ---- rsqrt: -g y^3 / 2 for y = 1 / sqrt x ---- */

static void rsqrt_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul_scalar(tg_mul(d->cotangent, tg_power(d->out, 3)), -0.5);
}

TG_UNARY_OP(rsqrt, tg_positive_samples)

/* ---- abs: g sign x ---- */

static void abs_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_sign(d->in[0]));
}

TG_UNARY_OP(abs, tg_kinked_samples)

/* ---- sign ---- */

TG_UNARY_LOOP(sign)
const tg_op tg_op_sign = {.name = "sign",
                          .arity = 1,
                          .flags = TG_ELEMENTWISE | TG_CONSTANT,
                          .loop = sign_loop,
                          TG_SAMPLES(tg_kinked_samples)};

tg_tensor tg_sign(tg_tensor x)
{
    return TG_APPLY(&tg_op_sign, NULL, x);
}

/* ---- power: g p x^(p - 1) ---- */

typedef struct power_attributes {
    double exponent;
} power_attributes;

static const tg_field power_fields[] = {TG_FIELD(power_attributes, exponent, TG_FIELD_REAL),
                                        {0}};

static void power_loop(const tg_loop *l)
{
    TG_KERNEL_CALL(l->dtype, raise, l->n, l->in[0], ((const power_attributes *)l->attributes)->exponent,
                   l->out);
}

static void power_derivative(const tg_derive *d)
{
    const double exponent = ((const power_attributes *)d->attributes)->exponent;
    if (exponent != 0)
        d->gradient[0] = tg_mul_scalar(tg_mul(d->cotangent, tg_power(d->in[0], exponent - 1)), exponent);
}

static const tg_sample power_samples[] = {
    {.attributes = &(power_attributes){2}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(power_attributes){3}, .input = {{.shape = {1, {33}}}}},
    {.attributes = &(power_attributes){0}, .input = {{.shape = {1, {5}}}}},
    {.attributes = &(power_attributes){1}, .input = {{.shape = {0}}}},
    {.attributes = &(power_attributes){-1}, .input = {{.shape = {3, {1, 2, 1}}, .low = -3, .high = -0.5}}},
    {.attributes = &(power_attributes){0.3}, .input = {{.shape = {1, {17}}, .low = 0.1, .high = 30}}},
    {.attributes = &(power_attributes){-2.5}, .input = {{.shape = {2, {2, 7}}, .low = 0.5, .high = 3}}},
    {.attributes = &(power_attributes){7}, .input = {{.shape = {2, {2, 0}}}}},
    {.attributes = &(power_attributes){0.5},
     .input = {{.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES}}},
    {.attributes = &(power_attributes){-3},
     .input = {{.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES}}},
};

const tg_op tg_op_power = {.name = "power",
                           .arity = 1,
                           .flags = TG_ELEMENTWISE,
                           .attributes_size = sizeof(power_attributes),
                           .fields = power_fields,
                           .loop = power_loop,
                           .derivative = power_derivative,
                           TG_SAMPLES(power_samples)};

tg_tensor tg_power(tg_tensor x, double exponent)
{
    return TG_APPLY(&tg_op_power, &(power_attributes){exponent}, x);
}

/* ---- pow: g b a^(b - 1) and g a^b log a ---- */

/* Both formulas hold at a = 0 and b = 0 once 0 times infinity is read as what it is there, 0. */
static void pow_derivative(const tg_derive *d)
{
    tg_tensor a = d->in[0], b = d->in[1], g = d->cotangent;
    tg_tensor zero = tg_full(tg_tape_of(g), tg_dtype_of(g), TG_SCALAR, 0);
    if (d->wanted[0]) {
        tg_tensor slope = tg_mul(tg_mul(g, b), tg_pow(a, tg_add_scalar(b, -1)));
        d->gradient[0] = tg_where(tg_equal(b, zero), zero, slope);
    }
    if (d->wanted[1]) {
        tg_tensor vanishes = tg_mul(tg_equal(a, zero), tg_greater_equal(b, zero));
        tg_tensor one = tg_full(tg_tape_of(g), tg_dtype_of(g), TG_SCALAR, 1);
        tg_tensor logarithm =
            tg_log(tg_where(vanishes, one, a)); /* 0 where it vanishes, in all further derivatives too */
        d->gradient[1] = tg_mul(tg_mul(g, d->out), logarithm);
    }
}

static const tg_sample pow_samples[] = {
    {.input = {{.shape = {2, {3, 4}}, .low = 0.2, .high = 3}, {.shape = {2, {3, 4}}}}},
    {.input = {{.shape = {3, {2, 1, 3}}, .low = 0.2, .high = 3}, {.shape = {2, {4, 1}}}}},
    {.input = {{.shape = {1, {5}}, .low = 0.2, .high = 3}, {.shape = {0}}}},
    {.input = {{.shape = {0}, .low = 0.2, .high = 3}, {.shape = {2, {2, 3}}}}},
    {.input = {{.shape = {2, {0, 3}}, .low = 0.2, .high = 3}, {.shape = {1, {3}}}}},
    {.input = {{.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES},
               {.shape = {2, {9, 1}}, .value_count = 9, .values = TG_EDGES}}},
    {.input =
         {{.shape = {1, {7}}, .low = -3, .high = -0.5},
          {.shape = {1, {7}}, .fixed = true, .value_count = 4, .values = (const double[]){2, 3, -1, 0}}}},
    {.input = {{.shape = {1, {5}}, .low = 10, .high = 100}, {.shape = {1, {5}}, .low = 2, .high = 4}}},
};

TG_BINARY_OP(pow, pow_samples)

/* ---- clamp: g where x is within the limits, them included ---- */

typedef struct clamp_attributes {
    double low, high;
} clamp_attributes;

static const tg_field clamp_fields[] = {TG_FIELD(clamp_attributes, low, TG_FIELD_REAL),
                                        TG_FIELD(clamp_attributes, high, TG_FIELD_REAL),
                                        {0}};

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

static const tg_sample clamp_samples[] = {
    {.attributes = &(clamp_attributes){-1, 1}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(clamp_attributes){0, 6}, .input = {{.shape = {1, {33}}, .low = -8, .high = 12}}},
    {.attributes = &(clamp_attributes){-0.5, 2}, .input = {{.shape = {0}}}},
    {.attributes = &(clamp_attributes){-100, 100}, .input = {{.shape = {1, {5}}}}},
    {.attributes = &(clamp_attributes){5, 5}, .input = {{.shape = {3, {1, 2, 1}}}}},
    {.attributes = &(clamp_attributes){-1, 1}, .input = {{.shape = {2, {2, 0}}}}},
    {.attributes = &(clamp_attributes){-1, 1e9},
     .input = {{.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES}}},
    {.attributes = &(clamp_attributes){-3, -1}, .input = {{.shape = {2, {2, 7}}}}},
};

const tg_op tg_op_clamp = {.name = "clamp",
                           .arity = 1,
                           .flags = TG_ELEMENTWISE,
                           .attributes_size = sizeof(clamp_attributes),
                           .fields = clamp_fields,
                           .shape = clamp_shape,
                           .loop = clamp_loop,
                           .derivative = clamp_derivative,
                           TG_SAMPLES(clamp_samples)};

tg_tensor tg_clamp(tg_tensor x, double low, double high)
{
    return TG_APPLY(&tg_op_clamp, (&(clamp_attributes){low, high}), x);
}
