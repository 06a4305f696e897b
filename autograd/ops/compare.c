/* Comparisons, which give 1 or 0, and what they decide. */
#include "autograd/ops.h"
#include "autograd/ops/family.h"

/* ---- comparisons: nothing to differentiate ---- */

#define COMPARISON(kernel)                                                                                   \
    TG_BINARY_LOOP(kernel)                                                                                   \
    const tg_op tg_op_##kernel = {.name = #kernel,                                                           \
                                  .arity = 2,                                                                \
                                  .flags = TG_ELEMENTWISE | TG_CONSTANT,                                     \
                                  .loop = kernel##_loop,                                                     \
                                  TG_SAMPLES(tg_binary_samples)};                                            \
    tg_tensor tg_##kernel(tg_tensor a, tg_tensor b)                                                          \
    {                                                                                                        \
        return TG_APPLY(&tg_op_##kernel, NULL, a, b);                                                        \
    }

COMPARISON(less)
COMPARISON(less_equal)
COMPARISON(greater)
COMPARISON(greater_equal)
COMPARISON(equal)
COMPARISON(not_equal)

/* ---- maximum and minimum: the cotangent goes to the chosen one, half to each of two equal ones ---- */

static tg_tensor share(tg_tensor wins, tg_tensor wins_or_ties, tg_tensor cotangent)
{
    return tg_mul(cotangent, tg_mul_scalar(tg_add(wins, wins_or_ties), 0.5));
}

static void maximum_derivative(const tg_derive *d)
{
    tg_tensor a = d->in[0], b = d->in[1];
    if (d->wanted[0])
        d->gradient[0] = share(tg_greater(a, b), tg_greater_equal(a, b), d->cotangent);
    if (d->wanted[1])
        d->gradient[1] = share(tg_less(a, b), tg_less_equal(a, b), d->cotangent);
}

TG_BINARY_OP(maximum, tg_binary_samples)

static void minimum_derivative(const tg_derive *d)
{
    tg_tensor a = d->in[0], b = d->in[1];
    if (d->wanted[0])
        d->gradient[0] = share(tg_less(a, b), tg_less_equal(a, b), d->cotangent);
    if (d->wanted[1])
        d->gradient[1] = share(tg_greater(a, b), tg_greater_equal(a, b), d->cotangent);
}

TG_BINARY_OP(minimum, tg_binary_samples)

/* ---- where: the cotangent goes to the chosen one ---- */

static void where_loop(const tg_loop *l)
{
    TG_KERNEL_CALL(l->dtype, where, l->n, l->in[0], l->step[0], l->in[1], l->step[1], l->in[2], l->step[2],
                   l->out);
}

static void where_derivative(const tg_derive *d)
{
    tg_tensor g = d->cotangent;
    tg_tensor zero = tg_full(tg_tape_of(g), tg_dtype_of(g), TG_SCALAR, 0);
    if (d->wanted[1])
        d->gradient[1] = tg_where(d->in[0], g, zero);
    if (d->wanted[2])
        d->gradient[2] = tg_where(d->in[0], zero, g);
}

static const double truths[] = {1, 0, 0, 1, -2, 0, 1};
#define CONDITION .fixed = true, .value_count = 7, .values = truths

static const tg_sample where_samples[] = {
    {.input = {{.shape = {2, {3, 4}}, CONDITION}, {.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}}},
    {.input = {{.shape = {2, {4, 1}}, CONDITION}, {.shape = {3, {2, 1, 3}}}, {.shape = {1, {3}}}}},
    {.input = {{.shape = {1, {33}}, CONDITION}, {.shape = {0}}, {.shape = {1, {33}}}}},
    {.input = {{.shape = {1, {33}}, CONDITION}, {.shape = {1, {33}}}, {.shape = {0}}}},
    {.input = {{.shape = {0}, CONDITION}, {.shape = {1, {5}}}, {.shape = {2, {2, 5}}}}},
    {.input = {{.shape = {0}, CONDITION}, {.shape = {0}}, {.shape = {0}}}},
    {.input = {{.shape = {2, {0, 3}}, CONDITION}, {.shape = {1, {3}}}, {.shape = {0}}}},
    {.input = {{.shape = {1, {9}}, CONDITION},
               {.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES},
               {.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES}}},
    {.input = {{.shape = {1, {9}}, .value_count = 9, .values = TG_EDGES},
               {.shape = {1, {9}}},
               {.shape = {0}}}},
};

const tg_op tg_op_where = {.name = "where",
                           .arity = 3,
                           .flags = TG_ELEMENTWISE,
                           .loop = where_loop,
                           .derivative = where_derivative,
                           TG_SAMPLES(where_samples)};

tg_tensor tg_where(tg_tensor condition, tg_tensor a, tg_tensor b)
{
    return TG_APPLY(&tg_op_where, NULL, condition, a, b);
}
