/* Activations made of straight lines and parabolas. Where two pieces meet, the derivative is that of the flatter one. */
#include "autograd/ops.h"
#include "autograd/ops/family.h"

/* ---- relu: max(0, x); g where the result is positive. The derivative has a kernel of its own, which reads the
 *      result: that is kept for the next layer anyway ---- */

static void relu_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_relu_grad(d->cotangent, d->out);
}

TG_UNARY_OP(relu, tg_kinked_samples)

static void relu_grad_derivative(const tg_derive *d)
{
    if (d->wanted[0])
        d->gradient[0] = tg_relu_grad(d->cotangent, d->in[1]);
}

TG_BINARY_OP(relu_grad, tg_binary_samples)

/* ---- leaky_relu: x for x > 0, slope x otherwise ---- */

typedef struct slope_attributes {
    double slope;
} slope_attributes;

static const tg_field slope_fields[] = {TG_FIELD(slope_attributes, slope, TG_FIELD_REAL), {0}};

static const tg_sample leaky_relu_samples[] = {
    {.attributes = &(slope_attributes){0.01}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(slope_attributes){0.2}, .input = {{.shape = {0}, .low = -2, .high = -0.5}}},
    {.attributes = &(slope_attributes){0.01}, .input = {{.shape = {2, {2, 0}}}}},
    {.attributes = &(slope_attributes){-0.5}, .input = {{.shape = {1, {33}}}}},
    {.attributes = &(slope_attributes){0}, .input = {{.shape = {3, {1, 2, 1}}}}},
    {.attributes = &(slope_attributes){1}, .input = {{.shape = {1, {17}}, .low = -12, .high = 12}}},
    {.attributes = &(slope_attributes){2}, .input = {{.shape = {2, {2, 7}}, .low = -8, .high = -4}}},
    {.attributes = &(slope_attributes){0.1},
     .input = {{.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES}}},
};

static double slope_of(const void *attributes)
{
    return ((const slope_attributes *)attributes)->slope;
}

static void leaky_relu_loop(const tg_loop *l)
{
    TG_KERNEL_CALL(l->dtype, leaky_relu, l->n, l->in[0], slope_of(l->attributes), l->out);
}

static void leaky_relu_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_leaky_relu_grad(d->cotangent, d->in[0], slope_of(d->attributes));
}

const tg_op tg_op_leaky_relu = {.name = "leaky_relu",
                                .arity = 1,
                                .flags = TG_ELEMENTWISE,
                                .attributes_size = sizeof(slope_attributes),
                                .fields = slope_fields,
                                .loop = leaky_relu_loop,
                                .derivative = leaky_relu_derivative,
                                TG_SAMPLES(leaky_relu_samples)};

tg_tensor tg_leaky_relu(tg_tensor x, double slope)
{
    return TG_APPLY(&tg_op_leaky_relu, &(slope_attributes){slope}, x);
}

/* ---- leaky_relu_grad: a where x > 0, slope a otherwise ---- */

static const tg_sample leaky_relu_grad_samples[] = {
    {.attributes = &(slope_attributes){0.01}, .input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}}},
    {.attributes = &(slope_attributes){0.2}, .input = {{.shape = {3, {2, 1, 3}}}, {.shape = {2, {4, 1}}}}},
    {.attributes = &(slope_attributes){-0.5}, .input = {{.shape = {1, {5}}}, {.shape = {0}}}},
    {.attributes = &(slope_attributes){2}, .input = {{.shape = {0}}, {.shape = {2, {2, 3}}}}},
    {.attributes = &(slope_attributes){0}, .input = {{.shape = {2, {0, 3}}}, {.shape = {1, {3}}}}},
    {.attributes = &(slope_attributes){0.1},
     .input = {{.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES},
               {.shape = {2, {9, 1}}, .value_count = 9, .values = TG_EDGES}}},
    {.attributes = &(slope_attributes){1},
     .input = {{.shape = {4, {2, 1, 2, 1}}}, {.shape = {3, {3, 1, 2}}, .low = -8, .high = -4}}},
    {.attributes = &(slope_attributes){0.3}, .input = {{.shape = {1, {1}}}, {.shape = {3, {1, 1, 1}}}}},
};

static void leaky_relu_grad_loop(const tg_loop *l)
{
    TG_KERNEL_CALL(l->dtype, leaky_relu_grad, l->n, l->in[0], l->step[0], l->in[1], l->step[1],
                   slope_of(l->attributes), l->out);
}

static void leaky_relu_grad_derivative(const tg_derive *d)
{
    if (d->wanted[0])
        d->gradient[0] = tg_leaky_relu_grad(d->cotangent, d->in[1], slope_of(d->attributes));
}

const tg_op tg_op_leaky_relu_grad = {.name = "leaky_relu_grad",
                                         .arity = 2,
                                         .flags = TG_ELEMENTWISE,
                                         .attributes_size = sizeof(slope_attributes),
                                         .fields = slope_fields,
                                         .loop = leaky_relu_grad_loop,
                                         .derivative = leaky_relu_grad_derivative,
                                         TG_SAMPLES(leaky_relu_grad_samples)};

tg_tensor tg_leaky_relu_grad(tg_tensor a, tg_tensor x, double slope)
{
    return TG_APPLY(&tg_op_leaky_relu_grad, &(slope_attributes){slope}, a, x);
}

/* ---- hardsigmoid: 0 below -3, 1 above 3, (x + 3) / 6 between (Howard et al., 2019) ---- */

static void hardsigmoid_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_hardsigmoid_grad(d->in[0]));
}

TG_UNARY_OP(hardsigmoid, tg_kinked_samples)

TG_UNARY_LOOP(hardsigmoid_grad)
const tg_op tg_op_hardsigmoid_grad = {.name = "hardsigmoid_grad",
                                    .arity = 1,
                                    .flags = TG_ELEMENTWISE | TG_CONSTANT,
                                    .loop = hardsigmoid_grad_loop,
                                    TG_SAMPLES(tg_kinked_samples)};

tg_tensor tg_hardsigmoid_grad(tg_tensor x)
{
    return TG_APPLY(&tg_op_hardsigmoid_grad, NULL, x);
}

/* ---- hardswish: x hardsigmoid(x);  f' = (2 x + 3) / 6 and f'' = 1/3 between -3 and 3 ---- */

static void hardswish_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_hardswish_grad(d->in[0]));
}

TG_UNARY_OP(hardswish, tg_kinked_samples)

static void hardswish_grad_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_mul_scalar(tg_hardsigmoid_grad(d->in[0]), 2));
}

TG_UNARY_OP(hardswish_grad, tg_kinked_samples)
