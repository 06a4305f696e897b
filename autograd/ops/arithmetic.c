/* Sums, products and what they are made of. */
#include "autograd/kernels/kernels.h"
#include "autograd/ops.h"
#include "autograd/ops/family.h"

#include <string.h>

/* ---- add ---- */

static void add_derivative(const tg_derive *d)
{
    d->gradient[0] = d->cotangent;
    d->gradient[1] = d->cotangent;
}

TG_BINARY_LOOP(add)
const tg_op tg_op_add = {.name = "add", .arity = 2, .flags = TG_ELEMENTWISE, .loop = add_loop,
                         .derivative = add_derivative, TG_SAMPLES(tg_binary_samples)};

tg_tensor tg_add(tg_tensor a, tg_tensor b)
{
    return TG_APPLY(&tg_op_add, NULL, a, b);
}

/* ---- sub ---- */

static void sub_derivative(const tg_derive *d)
{
    d->gradient[0] = d->cotangent;
    if (d->wanted[1])
        d->gradient[1] = tg_neg(d->cotangent);
}

TG_BINARY_LOOP(sub)
const tg_op tg_op_sub = {.name = "sub", .arity = 2, .flags = TG_ELEMENTWISE, .loop = sub_loop,
                         .derivative = sub_derivative, TG_SAMPLES(tg_binary_samples)};

tg_tensor tg_sub(tg_tensor a, tg_tensor b)
{
    return TG_APPLY(&tg_op_sub, NULL, a, b);
}

/* ---- mul ---- */

static void mul_derivative(const tg_derive *d)
{
    if (d->wanted[0])
        d->gradient[0] = tg_mul(d->cotangent, d->in[1]);
    if (d->wanted[1])
        d->gradient[1] = tg_mul(d->cotangent, d->in[0]);
}

TG_BINARY_LOOP(mul)
const tg_op tg_op_mul = {.name = "mul", .arity = 2, .flags = TG_ELEMENTWISE, .loop = mul_loop,
                         .derivative = mul_derivative, TG_SAMPLES(tg_binary_samples)};

tg_tensor tg_mul(tg_tensor a, tg_tensor b)
{
    return TG_APPLY(&tg_op_mul, NULL, a, b);
}

/* ---- div ---- */

static void div_derivative(const tg_derive *d)
{
    if (d->wanted[0])
        d->gradient[0] = tg_div(d->cotangent, d->in[1]);
    if (d->wanted[1]) /* -g (a/b) / b */
        d->gradient[1] = tg_neg(tg_div(tg_mul(d->cotangent, d->out), d->in[1]));
}

static const tg_sample div_samples[] = {
    {.input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}, .low = 0.5, .high = 3}}},
    {.input = {{.shape = {3, {2, 1, 3}}}, {.shape = {2, {4, 1}}, .low = -3, .high = -0.5}}},
    {.input = {{.shape = {1, {5}}}, {.shape = {0}, .low = 0.5, .high = 3}}},
    {.input = {{.shape = {0}}, {.shape = {2, {2, 3}}, .low = 0.5, .high = 3}}},
    {.input = {{.shape = {2, {0, 3}}}, {.shape = {1, {3}}, .low = 0.5, .high = 3}}},
    {.input = {{.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES}, {.shape = {2, {9, 1}}, .value_count = 9, .values = TG_EDGES}}},
    {.input = {{.shape = {1, {3}}, .low = 1e3, .high = 1e5}, {.shape = {1, {3}}, .low = 1e-3, .high = 1e-2}}},
    {.input = {{.shape = {1, {1}}}, {.shape = {3, {1, 1, 1}}, .low = 1, .high = 2}}},
};

TG_BINARY_LOOP(div)
const tg_op tg_op_div = {.name = "div", .arity = 2, .flags = TG_ELEMENTWISE, .loop = div_loop,
                         .derivative = div_derivative, TG_SAMPLES(div_samples)};

tg_tensor tg_div(tg_tensor a, tg_tensor b)
{
    return TG_APPLY(&tg_op_div, NULL, a, b);
}

/* ---- scale and shift: one operand and a number ---- */

typedef struct number_attributes {
    double number;
} number_attributes;

static const tg_field number_fields[] = {TG_FIELD(number_attributes, number, TG_FIELD_REAL), {0}};

static const tg_sample number_samples[] = {
    {.attributes = &(number_attributes){2.5}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(number_attributes){-1}, .input = {{.shape = {1, {7}}}}},
    {.attributes = &(number_attributes){0}, .input = {{.shape = {1, {7}}}}},
    {.attributes = &(number_attributes){1e-3}, .input = {{.shape = {0}}}},
    {.attributes = &(number_attributes){3}, .input = {{.shape = {2, {2, 0}}}}},
    {.attributes = &(number_attributes){0.1}, .input = {{.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES}}},
    {.attributes = &(number_attributes){1. / 3}, .input = {{.shape = {3, {1, 2, 1}}}}},
    {.attributes = &(number_attributes){7}, .input = {{.shape = {1, {33}}}}},
};

static void mul_scalar_loop(const tg_loop *l)
{
    TG_KERNEL_CALL(l->dtype, scale, l->n, l->in[0], ((const number_attributes *)l->attributes)->number, l->out);
}

static void mul_scalar_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul_scalar(d->cotangent, ((const number_attributes *)d->attributes)->number);
}

const tg_op tg_op_mul_scalar = {.name = "mul_scalar", .arity = 1, .flags = TG_ELEMENTWISE,
                           .attributes_size = sizeof(number_attributes), .fields = number_fields, .loop = mul_scalar_loop,
                           .derivative = mul_scalar_derivative, TG_SAMPLES(number_samples)};

tg_tensor tg_mul_scalar(tg_tensor x, double factor)
{
    return TG_APPLY(&tg_op_mul_scalar, &(number_attributes){factor}, x);
}

tg_tensor tg_neg(tg_tensor x)
{
    return tg_mul_scalar(x, -1);
}

static void add_scalar_loop(const tg_loop *l)
{
    TG_KERNEL_CALL(l->dtype, shift, l->n, l->in[0], ((const number_attributes *)l->attributes)->number, l->out);
}

static void pass_derivative(const tg_derive *d)
{
    d->gradient[0] = d->cotangent;
}

const tg_op tg_op_add_scalar = {.name = "add_scalar", .arity = 1, .flags = TG_ELEMENTWISE,
                           .attributes_size = sizeof(number_attributes), .fields = number_fields, .loop = add_scalar_loop,
                           .derivative = pass_derivative, TG_SAMPLES(number_samples)};

tg_tensor tg_add_scalar(tg_tensor x, double offset)
{
    return TG_APPLY(&tg_op_add_scalar, &(number_attributes){offset}, x);
}

/* ---- copy ---- */

static void copy_loop(const tg_loop *l)
{
    if (l->out != l->in[0])
        memcpy(l->out, l->in[0], l->n * tg_dtype_size(l->dtype));
}

static const tg_sample copy_samples[] = {
    {.input = {{.shape = {2, {3, 4}}}}},
    {.input = {{.shape = {0}}}},
    {.input = {{.shape = {2, {3, 0}}}}},
    {.input = {{.shape = {1, {1}}}}},
    {.input = {{.shape = {1, {33}}}}},
    {.input = {{.shape = {3, {2, 1, 3}}}}},
    {.input = {{.shape = {8, {1, 1, 2, 1, 1, 2, 1, 1}}}}},
    {.input = {{.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES}}},
};

const tg_op tg_op_copy = {.name = "copy", .arity = 1, .flags = TG_ELEMENTWISE, .loop = copy_loop,
                          .derivative = pass_derivative, TG_SAMPLES(copy_samples)};

tg_tensor tg_copy(tg_tensor x)
{
    return TG_APPLY(&tg_op_copy, NULL, x);
}

/* ---- stop_gradient: the same values, as a constant ---- */

static bool stop_gradient_shape(tg_value *out)
{
    out->shape = out->inputs[0]->shape;
    return true;
}

const tg_op tg_op_stop_gradient = {.name = "stop_gradient", .arity = 1, .flags = TG_VIEW | TG_CONSTANT,
                                   .shape = stop_gradient_shape, TG_SAMPLES(copy_samples)};

tg_tensor tg_stop_gradient(tg_tensor x)
{
    return TG_APPLY(&tg_op_stop_gradient, NULL, x);
}
