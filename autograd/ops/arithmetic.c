/* Sums, products and what they are made of. */
#include "autograd/ops/category.h"

#include <string.h>

static const tg_field number_fields[] = {TG_NUMBER_FIELD("number"), {0}};
#include "autograd/ops/samples/arithmetic.h"

static void pass_derivative(const tg_derive *d)
{
    d->gradient[0] = d->cotangent;
}

/* ---- add ---- */

static void add_derivative(const tg_derive *d)
{
    d->gradient[0] = d->cotangent;
    d->gradient[1] = d->cotangent;
}

TG_BINARY_LOOP(add_loop, add)
const tg_op tg_op_add = {TG_BINARY("add", add_loop, add_derivative), TG_SAMPLES(tg_binary_samples)};

/* ---- sub ---- */

static void sub_derivative(const tg_derive *d)
{
    d->gradient[0] = d->cotangent;
    if (d->wanted[1])
        d->gradient[1] = tg_neg(d->cotangent);
}

TG_BINARY_LOOP(sub_loop, sub)
const tg_op tg_op_sub = {TG_BINARY("sub", sub_loop, sub_derivative), TG_SAMPLES(tg_binary_samples)};

/* ---- mul ---- */

static void mul_derivative(const tg_derive *d)
{
    if (d->wanted[0])
        d->gradient[0] = tg_mul(d->cotangent, d->in[1]);
    if (d->wanted[1])
        d->gradient[1] = tg_mul(d->cotangent, d->in[0]);
}

TG_BINARY_LOOP(mul_loop, mul)
const tg_op tg_op_mul = {TG_BINARY("mul", mul_loop, mul_derivative), TG_SAMPLES(tg_binary_samples)};

/* ---- mul_add: a b + c ---- */

static void mul_add_derivative(const tg_derive *d)
{
    mul_derivative(d);
    d->gradient[2] = d->cotangent;
}

TG_TERNARY_LOOP(mul_add_loop, mul_add)
const tg_op tg_op_mul_add = {.name = "mul_add",
                             .arity = 3,
                             .flags = TG_ELEMENTWISE,
                             .loop = mul_add_loop,
                             .derivative = mul_add_derivative,
                             TG_SAMPLES(mul_add_samples)};

/* ---- div ---- */

static void div_derivative(const tg_derive *d)
{
    if (d->wanted[0])
        d->gradient[0] = tg_div(d->cotangent, d->in[1]);
    if (d->wanted[1]) /* -g (a/b) / b */
        d->gradient[1] = tg_neg(tg_div(tg_mul(d->cotangent, d->out), d->in[1]));
}

TG_BINARY_LOOP(div_loop, vector_div)
const tg_op tg_op_div = {TG_BINARY("div", div_loop, div_derivative), TG_SAMPLES(div_samples)};

/* ---- div_or_zero: a quotient that knows a limit where the denominator is 0 ---- */

static void div_or_zero_derivative(const tg_derive *d)
{
    if (d->wanted[0])
        d->gradient[0] = tg_div_or_zero(d->cotangent, d->in[1]);
    if (d->wanted[1]) /* -g (a/b) / b */
        d->gradient[1] = tg_neg(tg_div_or_zero(tg_mul(d->cotangent, d->out), d->in[1]));
}

TG_BINARY_LOOP(div_or_zero_loop, div_or_zero)
const tg_op tg_op_div_or_zero = {TG_BINARY("div_or_zero", div_or_zero_loop, div_or_zero_derivative),
                                 TG_SAMPLES(div_or_zero_samples)};

/* ---- one operand and a number ---- */

static void mul_scalar_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul_scalar(d->cotangent, tg_number_of(d->attributes));
}

TG_NUMBER_LOOP(mul_scalar_loop, mul_scalar)
const tg_op tg_op_mul_scalar = {TG_UNARY("mul_scalar", mul_scalar_loop, mul_scalar_derivative),
                                TG_ATTRIBUTES(tg_number_attributes, number_fields), TG_SAMPLES(number_samples)};

tg_tensor tg_mul_scalar(tg_tensor x, double factor)
{
    return TG_APPLY(&tg_op_mul_scalar, TG_NUMBER(factor), x);
}

tg_tensor tg_neg(tg_tensor x)
{
    return tg_mul_scalar(x, -1);
}

TG_NUMBER_LOOP(add_scalar_loop, add_scalar)
const tg_op tg_op_add_scalar = {TG_UNARY("add_scalar", add_scalar_loop, pass_derivative),
                                TG_ATTRIBUTES(tg_number_attributes, number_fields), TG_SAMPLES(number_samples)};

tg_tensor tg_add_scalar(tg_tensor x, double offset)
{
    return TG_APPLY(&tg_op_add_scalar, TG_NUMBER(offset), x);
}

/* ---- copy; and stop_gradient: the same values, as a constant ---- */

static void copy_loop(const tg_loop *l)
{
    if (l->out != l->in[0])
        memcpy(l->out, l->in[0], l->n * tg_dtype_size(l->dtype));
}

const tg_op tg_op_copy = {TG_UNARY("copy", copy_loop, pass_derivative), TG_SAMPLES(copy_samples)};
const tg_op tg_op_stop_gradient = {.name = "stop_gradient",
                                   .arity = 1,
                                   .flags = TG_VIEW | TG_CONSTANT,
                                   .shape = tg_shape_same,
                                   TG_SAMPLES(copy_samples)};
