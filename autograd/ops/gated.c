/* Gated products act(a) b of two tensors of equal shape (Shazeer, 2020; GLU: Dauphin et al., 2017). The Bilinear
 * product is tg_mul.
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
    tg_tensor y = tg_tanh(tg_mul_scalar(x, 0.5));
    return tg_neg(tg_mul(sigmoid_first(x), y));
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
static const gate gelu_tanh_gate = {tg_gelu_tanh, tg_gelu_tanh_grad, tg_gelu_tanh_grad_grad};
static const gate relu_squared_gate = {tg_relu_squared, tg_relu_squared_grad, tg_relu_squared_grad_grad};
static const gate silu_gate = {tg_silu, tg_silu_grad, tg_silu_grad_grad};

/* ---- shared by all products ---- */

static bool gradients_shape(tg_value *out)
{
    *out->shape = TG_SHAPE(2, out->inputs[0]->size);
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
    if (d->wanted[0]) { /* c b act'(a) + e act(a) */
        tg_tensor e_value = tg_mul(e, act->value(a));
        d->gradient[0] = tg_add(tg_mul(cb, first), e_value);
    }
    if (d->wanted[1]) { /* g (c b act''(a) + e act'(a)) */
        tg_tensor e_first = tg_mul(e, first);
        d->gradient[1] = tg_mul(g, tg_add(tg_mul(cb, act->second(a)), e_first));
    }
    if (d->wanted[2]) /* g c act'(a) */
        d->gradient[2] = tg_mul(tg_mul(g, c), first);
}

/* ---- the lines of gated.def ---- */

enum { WORTH_SHARING = 1 << 12 }; /* elements for each thread */

/* Sets pointers to element `first` of the inputs and of both gradients. */
typedef struct packed {
    const char *g, *a, *b;
    char *da, *db;
} packed;

static packed packed_part(const tg_call *call, size_t first)
{
    const size_t element = tg_dtype_size(call->value->dtype), i = first * element;
    char *da = call->out, *db = da + (size_t)call->value->inputs[0]->size * element;
    return (packed){(const char *)call->in[0] + i, (const char *)call->in[1] + i, (const char *)call->in[2] + i, da + i,
                    db + i};
}

#define TG_GATED(name_, lanes, f, gradient_of_a, act)                                                               \
    static void name_##_loop(const tg_loop *l)                                                                      \
    {                                                                                                               \
        TG_KERNEL_CALL(l->dtype, name_, l->n, l->in[0], l->in[1], l->out);                                          \
    }                                                                                                               \
    static void name_##_derivative(const tg_derive *d)                                                              \
    {                                                                                                               \
        derive_product(d, &tg_op_##name_##_grad);                                                                   \
    }                                                                                                               \
    static void name_##_grad_part(void *context, size_t first, size_t count)                                        \
    {                                                                                                               \
        const tg_call *call = context;                                                                              \
        const packed p = packed_part(call, first);                                                                  \
        TG_KERNEL_CALL(call->value->dtype, name_##_grad, count, p.a, p.b, p.g, p.da, p.db);                         \
    }                                                                                                               \
    static void name_##_grad_forward(const tg_call *call)                                                           \
    {                                                                                                               \
        tg_parallel((size_t)call->value->inputs[0]->size, WORTH_SHARING, TG_LINE, name_##_grad_part, (void *)call); \
    }                                                                                                               \
    static void name_##_grad_derivative(const tg_derive *d)                                                         \
    {                                                                                                               \
        derive_gradients(d, &act);                                                                                  \
    }                                                                                                               \
    TG_OPERATION(name_, 2, TG_ELEMENTWISE | TG_IN_PLACE, product_samples, .shape = tg_shape_alike,                  \
                 .loop = name_##_loop, .derivative = name_##_derivative);                                           \
    TG_OPERATION(name_##_grad, 3, TG_IN_PLACE, gradients_samples, .shape = gradients_shape,                         \
                 .forward = name_##_grad_forward, .derivative = name_##_grad_derivative);
#include "autograd/gated.def"
