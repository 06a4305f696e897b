/* Gated products act(a) b of two tensors of equal shape (Shazeer, 2020; GLU: Dauphin et al., 2017). What is called Bilinear
 * is tg_mul.
 *
 * Both gradients come from one pass over a, b and the cotangent g, packed into one tensor:
 *
 *     NAME_grad(g, a, b) [2, size]:   g b act'(a)  |  g act(a)
 */
#include "autograd/kernels/parallel.h"
#include "autograd/ops.h"
#include "autograd/ops/family.h"

/* ---- the slopes of the gates ---- */

static tg_tensor constant_like(tg_tensor x, tg_shape shape, double number)
{
    return tg_full(tg_tape_of(x), tg_dtype_of(x), shape, number);
}

static tg_tensor sigmoid_grad(tg_tensor x)
{
    return tg_sigmoid_grad(constant_like(x, TG_SCALAR, 1), x);
}

static tg_tensor sigmoid_grad_grad(tg_tensor x)
{
    return tg_neg(tg_mul(sigmoid_grad(x), tg_tanh(tg_mul_scalar(x, 0.5))));
}

static tg_tensor relu_grad(tg_tensor x)
{
    return tg_relu_grad(constant_like(x, TG_SCALAR, 1), x);
}

static tg_tensor relu_grad_grad(tg_tensor x)
{
    return constant_like(x, tg_shape_of(x), 0);
}

typedef tg_tensor (*function)(tg_tensor x);
typedef struct gate_functions {
    function value, slope, curvature;
} gate_functions;

/* ---- what the products share ---- */

static bool alike(const tg_value *out)
{
    const tg_value *first = out->inputs[0];
    bool fits = first->dtype != TG_I32;
    for (int i = 1; i < out->input_count; i++)
        fits &=
            out->inputs[i]->dtype == first->dtype && tg_shape_equal(&out->inputs[i]->shape, &first->shape);
    return fits || tg_expected(out, "expected tensors of one floating type and shape");
}

static bool product_shape(tg_value *out)
{
    out->shape = out->inputs[0]->shape;
    return alike(out);
}

static bool gradients_shape(tg_value *out)
{
    out->shape = TG_SHAPE(2, out->inputs[0]->size);
    return alike(out);
}

/* One half of what NAME_grad packed, without a copy. */
static tg_tensor half(tg_tensor packed, int index, tg_tensor like)
{
    return tg_reshape(tg_narrow(packed, 0, index, 1), tg_shape_of(like));
}

static void product_derivative(const tg_derive *d, const tg_op *gradients)
{
    tg_tensor packed = TG_APPLY(gradients, NULL, d->cotangent, d->in[0], d->in[1]);
    for (int i = 0; i < 2; i++)
        if (d->wanted[i])
            d->gradient[i] = half(packed, i, d->in[i]);
}

/* With the cotangents c of g b act'(a) and e of g act(a). */
static void gradients_derivative(const tg_derive *d, gate_functions gate)
{
    tg_tensor g = d->in[0], a = d->in[1], b = d->in[2];
    tg_tensor c = half(d->cotangent, 0, a), e = half(d->cotangent, 1, a);
    tg_tensor slope = gate.slope(a), cb = tg_mul(c, b);
    if (d->wanted[0]) /* c b act'(a) + e act(a) */
        d->gradient[0] = tg_add(tg_mul(cb, slope), tg_mul(e, gate.value(a)));
    if (d->wanted[1]) /* g (c b act''(a) + e act'(a)) */
        d->gradient[1] = tg_mul(g, tg_add(tg_mul(cb, gate.curvature(a)), tg_mul(e, slope)));
    if (d->wanted[2]) /* g c act'(a) */
        d->gradient[2] = tg_mul(tg_mul(g, c), slope);
}

static const tg_sample product_samples[] = {
    {.input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}}},
    {.input = {{.shape = {0}}, {.shape = {0}}}},
    {.input = {{.shape = {2, {3, 0}}}, {.shape = {2, {3, 0}}}}},
    {.input = {{.shape = {1, {33}}}, {.shape = {1, {33}}}}},
    {.input = {{.shape = {3, {2, 1, 5}}}, {.shape = {3, {2, 1, 5}}}}},
    {.input = {{.shape = {1, {17}}, .low = -12, .high = 12}, {.shape = {1, {17}}}}},
    {.input = {{.shape = {8, {1, 2, 1, 2, 1, 2, 1, 2}}}, {.shape = {8, {1, 2, 1, 2, 1, 2, 1, 2}}}}},
    {.input = {{.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES}, {.shape = {1, {9}}}}},
};

static const tg_sample gradients_samples[] = {
    {.input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}}},
    {.input = {{.shape = {0}}, {.shape = {0}}, {.shape = {0}}}},
    {.input = {{.shape = {2, {3, 0}}}, {.shape = {2, {3, 0}}}, {.shape = {2, {3, 0}}}}},
    {.input = {{.shape = {1, {33}}}, {.shape = {1, {33}}}, {.shape = {1, {33}}}}},
    {.input = {{.shape = {3, {2, 1, 5}}}, {.shape = {3, {2, 1, 5}}}, {.shape = {3, {2, 1, 5}}}}},
    {.input = {{.shape = {1, {17}}}, {.shape = {1, {17}}, .low = -12, .high = 12}, {.shape = {1, {17}}}}},
    {.input = {{.shape = {8, {1, 2, 1, 2, 1, 2, 1, 2}}},
               {.shape = {8, {1, 2, 1, 2, 1, 2, 1, 2}}},
               {.shape = {8, {1, 2, 1, 2, 1, 2, 1, 2}}}}},
    {.input = {{.shape = {1, {9}}},
               {.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES},
               {.shape = {1, {9}}}}},
};

/* ---- the products ---- */

static const void *input_at(const tg_call *call, int input, size_t index)
{
    return (const char *)call->in[input] + index * tg_dtype_size(call->value->dtype);
}

static void *output_at(const tg_call *call, size_t index)
{
    return (char *)call->out + index * tg_dtype_size(call->value->dtype);
}

static void share(const tg_call *call, tg_parallel_part part)
{
    enum { WORTH_SHARING = 1 << 12 }; /* elements for each thread */
    tg_parallel((size_t)call->value->inputs[0]->size, WORTH_SHARING, TG_LINE, part, (void *)call);
}

#define GATED_PRODUCT(kernel, ...)                                                                           \
    static void kernel##_part(void *context, size_t i, size_t count)                                         \
    {                                                                                                        \
        const tg_call *call = context;                                                                       \
        TG_KERNEL_CALL(call->value->dtype, kernel, count, input_at(call, 0, i), input_at(call, 1, i),        \
                       output_at(call, i));                                                                  \
    }                                                                                                        \
    static void kernel##_forward(const tg_call *call)                                                        \
    {                                                                                                        \
        share(call, kernel##_part);                                                                          \
    }                                                                                                        \
    static void kernel##_derivative(const tg_derive *d)                                                      \
    {                                                                                                        \
        product_derivative(d, &tg_op_##kernel##_grad);                                                  \
    }                                                                                                        \
    const tg_op tg_op_##kernel = {.name = #kernel,                                                           \
                                  .arity = 2,                                                                \
                                  .shape = product_shape,                                                    \
                                  .forward = kernel##_forward,                                               \
                                  .derivative = kernel##_derivative,                                         \
                                  TG_SAMPLES(product_samples)};                                              \
    tg_tensor tg_##kernel(tg_tensor a, tg_tensor b)                                                          \
    {                                                                                                        \
        return TG_APPLY(&tg_op_##kernel, NULL, a, b);                                                        \
    }                                                                                                        \
                                                                                                             \
    static void kernel##_grad_part(void *context, size_t i, size_t count)                                    \
    {                                                                                                        \
        const tg_call *call = context;                                                                       \
        TG_KERNEL_CALL(call->value->dtype, kernel##_grad, count, input_at(call, 1, i), input_at(call, 2, i), \
                       input_at(call, 0, i), output_at(call, i),                                             \
                       output_at(call, (size_t)call->value->inputs[0]->size + i));                           \
    }                                                                                                        \
    static void kernel##_grad_forward(const tg_call *call)                                                   \
    {                                                                                                        \
        share(call, kernel##_grad_part);                                                                     \
    }                                                                                                        \
    static void kernel##_grad_derivative(const tg_derive *d)                                            \
    {                                                                                                        \
        gradients_derivative(d, (gate_functions){__VA_ARGS__});                                              \
    }                                                                                                        \
    const tg_op tg_op_##kernel##_grad = {.name = #kernel "_grad",                                  \
                                              .arity = 3,                                                    \
                                              .shape = gradients_shape,                                      \
                                              .forward = kernel##_grad_forward,                         \
                                              .derivative = kernel##_grad_derivative,                   \
                                              TG_SAMPLES(gradients_samples)};                                \
    tg_tensor tg_##kernel##_grad(tg_tensor g, tg_tensor a, tg_tensor b)                                 \
    {                                                                                                        \
        return TG_APPLY(&tg_op_##kernel##_grad, NULL, g, a, b);                                         \
    }

GATED_PRODUCT(glu, tg_sigmoid, sigmoid_grad, sigmoid_grad_grad)
GATED_PRODUCT(reglu, tg_relu, relu_grad, relu_grad_grad)
GATED_PRODUCT(geglu, tg_gelu_exact, tg_gelu_exact_grad, tg_gelu_exact_grad_grad)
GATED_PRODUCT(swiglu, tg_silu, tg_silu_grad, tg_silu_grad_grad)
