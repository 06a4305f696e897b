/* Gated products act(a) b of two tensors of equal shape (Shazeer, 2020; GLU: Dauphin et al., 2017). What is called
 * Bilinear is tg_mul.
 *
 * Both gradients come from one pass over a, b and the cotangent g, packed into one tensor:
 *
 *     NAME_grad(g, a, b) [2, size]:   g b act'(a)  |  g act(a)
 */
#include "autograd/kernels/parallel.h"
#include "autograd/ops/category.h"
#include "autograd/ops/samples/gated.h"

/* ---- the gates with their first two derivatives ---- */

typedef struct gate {
    tg_tensor (*value)(tg_tensor x), (*first)(tg_tensor x), (*second)(tg_tensor x);
} gate;

static tg_tensor sigmoid_first(tg_tensor x)
{
    return tg_sigmoid_grad(tg_scalar_like(x, 1), x);
}

static tg_tensor sigmoid_second(tg_tensor x)
{
    return tg_neg(tg_mul(sigmoid_first(x), tg_tanh(tg_mul_scalar(x, 0.5))));
}

static tg_tensor relu_first(tg_tensor x)
{
    return tg_relu_grad(tg_scalar_like(x, 1), x);
}

static tg_tensor relu_second(tg_tensor x)
{
    return tg_full(tg_tape_of(x), tg_dtype_of(x), tg_shape_of(x), 0);
}

static const gate sigmoid_gate = {tg_sigmoid, sigmoid_first, sigmoid_second};
static const gate relu_gate = {tg_relu, relu_first, relu_second};
static const gate gelu_exact_gate = {tg_gelu_exact, tg_gelu_exact_grad, tg_gelu_exact_grad_grad};
static const gate silu_gate = {tg_silu, tg_silu_grad, tg_silu_grad_grad};

/* ---- what the products share ---- */

static bool gradients_shape(tg_value *out)
{
    out->shape = TG_SHAPE(2, out->inputs[0]->size);
    return tg_inputs_alike(out, 3);
}

/* One half of what NAME_grad packed, without a copy. */
static tg_tensor half(tg_tensor packed, int index, tg_tensor like)
{
    return tg_reshape(tg_narrow(packed, 0, index, 1), tg_shape_of(like));
}

static void derive_product(const tg_derive *d, const tg_op *gradients)
{
    tg_tensor packed = TG_APPLY(gradients, NULL, d->cotangent, d->in[0], d->in[1]);
    for (int i = 0; i < 2; i++)
        if (d->wanted[i])
            d->gradient[i] = half(packed, i, d->in[i]);
}

/* With the cotangents c of g b act'(a) and e of g act(a). */
static void derive_gradients(const tg_derive *d, const gate *act)
{
    tg_tensor g = d->in[0], a = d->in[1], b = d->in[2];
    tg_tensor c = half(d->cotangent, 0, a), e = half(d->cotangent, 1, a);
    tg_tensor first = act->first(a), cb = tg_mul(c, b);
    if (d->wanted[0]) /* c b act'(a) + e act(a) */
        d->gradient[0] = tg_add(tg_mul(cb, first), tg_mul(e, act->value(a)));
    if (d->wanted[1]) /* g (c b act''(a) + e act'(a)) */
        d->gradient[1] = tg_mul(g, tg_add(tg_mul(cb, act->second(a)), tg_mul(e, first)));
    if (d->wanted[2]) /* g c act'(a) */
        d->gradient[2] = tg_mul(tg_mul(g, c), first);
}

/* ---- loops, forward functions, derivatives ---- */

#define PRODUCT_LOOP(function, kernel)                                      \
    static void function(const tg_loop *l)                                  \
    {                                                                       \
        TG_KERNEL_CALL(l->dtype, kernel, l->n, l->in[0], l->in[1], l->out); \
    }
#define GRADIENTS_FORWARD(function, part_function, kernel)                                                      \
    static void part_function(void *context, size_t first, size_t count)                                        \
    {                                                                                                           \
        const tg_call *call = context;                                                                          \
        const size_t element = tg_dtype_size(call->value->dtype), i = first * element;                          \
        const char *g = call->in[0], *a = call->in[1], *b = call->in[2];                                        \
        char *da = call->out, *db = da + (size_t)call->value->inputs[0]->size * element;                        \
        TG_KERNEL_CALL(call->value->dtype, kernel, count, a + i, b + i, g + i, da + i, db + i);                 \
    }                                                                                                           \
    static void function(const tg_call *call)                                                                   \
    {                                                                                                           \
        enum { WORTH_SHARING = 1 << 12 }; /* elements for each thread */                                        \
        tg_parallel((size_t)call->value->inputs[0]->size, WORTH_SHARING, TG_LINE, part_function, (void *)call); \
    }
#define PRODUCT_DERIVATIVE(function, gradients) \
    static void function(const tg_derive *d)    \
    {                                           \
        derive_product(d, &gradients);          \
    }
#define GRADIENTS_DERIVATIVE(function, act)  \
    static void function(const tg_derive *d) \
    {                                        \
        derive_gradients(d, &act);           \
    }
#define PRODUCT(text, loop_function, derivative_function) \
    TG_BINARY(text, loop_function, derivative_function), .shape = tg_shape_alike, TG_SAMPLES(product_samples)
#define GRADIENTS(text, forward_function, derivative_function)                       \
    .name = text, .arity = 3, .shape = gradients_shape, .forward = forward_function, \
    .derivative = derivative_function, TG_SAMPLES(gradients_samples)

/* ---- the products ---- */

PRODUCT_LOOP(glu_loop, glu)
GRADIENTS_FORWARD(glu_grad_forward, glu_grad_part, glu_grad)
PRODUCT_DERIVATIVE(glu_derivative, tg_op_glu_grad)
GRADIENTS_DERIVATIVE(glu_grad_derivative, sigmoid_gate)
const tg_op tg_op_glu = {PRODUCT("glu", glu_loop, glu_derivative)};
const tg_op tg_op_glu_grad = {GRADIENTS("glu_grad", glu_grad_forward, glu_grad_derivative)};

PRODUCT_LOOP(reglu_loop, reglu)
GRADIENTS_FORWARD(reglu_grad_forward, reglu_grad_part, reglu_grad)
PRODUCT_DERIVATIVE(reglu_derivative, tg_op_reglu_grad)
GRADIENTS_DERIVATIVE(reglu_grad_derivative, relu_gate)
const tg_op tg_op_reglu = {PRODUCT("reglu", reglu_loop, reglu_derivative)};
const tg_op tg_op_reglu_grad = {GRADIENTS("reglu_grad", reglu_grad_forward, reglu_grad_derivative)};

PRODUCT_LOOP(geglu_loop, geglu)
GRADIENTS_FORWARD(geglu_grad_forward, geglu_grad_part, geglu_grad)
PRODUCT_DERIVATIVE(geglu_derivative, tg_op_geglu_grad)
GRADIENTS_DERIVATIVE(geglu_grad_derivative, gelu_exact_gate)
const tg_op tg_op_geglu = {PRODUCT("geglu", geglu_loop, geglu_derivative)};
const tg_op tg_op_geglu_grad = {GRADIENTS("geglu_grad", geglu_grad_forward, geglu_grad_derivative)};

PRODUCT_LOOP(swiglu_loop, swiglu)
GRADIENTS_FORWARD(swiglu_grad_forward, swiglu_grad_part, swiglu_grad)
PRODUCT_DERIVATIVE(swiglu_derivative, tg_op_swiglu_grad)
GRADIENTS_DERIVATIVE(swiglu_grad_derivative, silu_gate)
const tg_op tg_op_swiglu = {PRODUCT("swiglu", swiglu_loop, swiglu_derivative)};
const tg_op tg_op_swiglu_grad = {GRADIENTS("swiglu_grad", swiglu_grad_forward, swiglu_grad_derivative)};
