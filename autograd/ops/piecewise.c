/* Activations made of straight lines and parabolas. Where two pieces meet, the derivative is that of the flatter one.
 */
#include "autograd/ops/category.h"

static const tg_field leaky_relu_fields[] = {TG_NUMBER_FIELD("slope"), {0}};
#include "autograd/ops/samples/piecewise.h"

/* ---- relu: max(0, x); g where the result is positive. The derivative has a kernel of its own, which reads the
 *      result: that is kept for the next layer anyway ---- */

static void relu_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_relu_grad(d->cotangent, d->out);
}

static void relu_grad_derivative(const tg_derive *d)
{
    if (d->wanted[0])
        d->gradient[0] = tg_relu_grad(d->cotangent, d->in[1]);
}

TG_UNARY_LOOP(relu_loop, relu)
TG_BINARY_LOOP(relu_grad_loop, relu_grad)
const tg_op tg_op_relu = {TG_UNARY("relu", relu_loop, relu_derivative), TG_SAMPLES(tg_kinked_samples)};
const tg_op tg_op_relu_grad = {TG_BINARY("relu_grad", relu_grad_loop, relu_grad_derivative),
                               TG_SAMPLES(tg_binary_samples)};

/* ---- leaky_relu: x for x > 0, slope x otherwise; leaky_relu_grad: a where x > 0, slope a otherwise ---- */

static void leaky_relu_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_leaky_relu_grad(d->cotangent, d->in[0], tg_number_of(d->attributes));
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

TG_NUMBER_LOOP(leaky_relu_loop, leaky_relu)
const tg_op tg_op_leaky_relu = {TG_UNARY("leaky_relu", leaky_relu_loop, leaky_relu_derivative),
                                TG_ATTRIBUTES(tg_number_attributes, leaky_relu_fields), TG_SAMPLES(leaky_relu_samples)};
const tg_op tg_op_leaky_relu_grad = {TG_BINARY("leaky_relu_grad", leaky_relu_grad_loop, leaky_relu_grad_derivative),
                                     TG_ATTRIBUTES(tg_number_attributes, leaky_relu_fields),
                                     TG_SAMPLES(leaky_relu_grad_samples)};

tg_tensor tg_leaky_relu(tg_tensor x, double slope)
{
    return TG_APPLY(&tg_op_leaky_relu, TG_NUMBER(slope), x);
}

tg_tensor tg_leaky_relu_grad(tg_tensor a, tg_tensor x, double slope)
{
    return TG_APPLY(&tg_op_leaky_relu_grad, TG_NUMBER(slope), a, x);
}

/* ---- hardsigmoid: 0 below -3, 1 above 3, (x + 3) / 6 between (Howard et al., 2019) ---- */

TG_UNARY_LOOP(hardsigmoid_loop, hardsigmoid)
TG_UNARY_LOOP(hardsigmoid_grad_loop, hardsigmoid_grad)
TG_CHAIN_RULE(hardsigmoid_derivative, tg_hardsigmoid_grad)
const tg_op tg_op_hardsigmoid = {TG_UNARY("hardsigmoid", hardsigmoid_loop, hardsigmoid_derivative),
                                 TG_SAMPLES(tg_kinked_samples)};
const tg_op tg_op_hardsigmoid_grad = {.name = "hardsigmoid_grad",
                                      .arity = 1,
                                      .flags = TG_ELEMENTWISE | TG_CONSTANT,
                                      .loop = hardsigmoid_grad_loop,
                                      TG_SAMPLES(tg_kinked_samples)};

/* ---- hardswish: x hardsigmoid(x);  f' = (2 x + 3) / 6 and f'' = 1/3 between -3 and 3 ---- */

static void hardswish_grad_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_mul_scalar(tg_hardsigmoid_grad(d->in[0]), 2));
}

TG_UNARY_LOOP(hardswish_loop, hardswish)
TG_UNARY_LOOP(hardswish_grad_loop, hardswish_grad)
TG_CHAIN_RULE(hardswish_derivative, tg_hardswish_grad)
const tg_op tg_op_hardswish = {TG_UNARY("hardswish", hardswish_loop, hardswish_derivative),
                               TG_SAMPLES(tg_kinked_samples)};
const tg_op tg_op_hardswish_grad = {TG_UNARY("hardswish_grad", hardswish_grad_loop, hardswish_grad_derivative),
                                    TG_SAMPLES(tg_kinked_samples)};
