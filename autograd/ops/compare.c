/* Comparisons, which give 1 or 0, and what they decide. */
#include "autograd/ops/category.h"
#include "autograd/ops/samples/compare.h"

/* ---- comparisons: nothing to differentiate ---- */

#define COMPARISON(text, loop_function)                                                     \
    .name = text, .arity = 2, .flags = TG_ELEMENTWISE | TG_CONSTANT, .loop = loop_function, \
    TG_SAMPLES(tg_binary_samples)

TG_BINARY_LOOP(less_loop, less)
TG_BINARY_LOOP(less_equal_loop, less_equal)
TG_BINARY_LOOP(greater_loop, greater)
TG_BINARY_LOOP(greater_equal_loop, greater_equal)
TG_BINARY_LOOP(equal_loop, equal)
TG_BINARY_LOOP(not_equal_loop, not_equal)
const tg_op tg_op_less = {COMPARISON("less", less_loop)};
const tg_op tg_op_less_equal = {COMPARISON("less_equal", less_equal_loop)};
const tg_op tg_op_greater = {COMPARISON("greater", greater_loop)};
const tg_op tg_op_greater_equal = {COMPARISON("greater_equal", greater_equal_loop)};
const tg_op tg_op_equal = {COMPARISON("equal", equal_loop)};
const tg_op tg_op_not_equal = {COMPARISON("not_equal", not_equal_loop)};

/* ---- maximum and minimum: the cotangent goes to the chosen one, half to each of two equal ones ---- */

static tg_tensor share(tg_tensor wins, tg_tensor wins_or_ties, tg_tensor cotangent)
{
    return tg_mul(cotangent, tg_mul_scalar(tg_add(wins, wins_or_ties), 0.5));
}

/* To input `larger` what the larger of the two gets, to the other what the smaller gets. */
static void share_between(const tg_derive *d, int larger)
{
    const int smaller = 1 - larger;
    tg_tensor a = d->in[0], b = d->in[1];
    if (d->wanted[larger])
        d->gradient[larger] = share(tg_greater(a, b), tg_greater_equal(a, b), d->cotangent);
    if (d->wanted[smaller])
        d->gradient[smaller] = share(tg_less(a, b), tg_less_equal(a, b), d->cotangent);
}

static void maximum_derivative(const tg_derive *d)
{
    share_between(d, 0);
}

static void minimum_derivative(const tg_derive *d)
{
    share_between(d, 1);
}

TG_BINARY_LOOP(maximum_loop, maximum)
TG_BINARY_LOOP(minimum_loop, minimum)
const tg_op tg_op_maximum = {TG_BINARY("maximum", maximum_loop, maximum_derivative), TG_SAMPLES(tg_binary_samples)};
const tg_op tg_op_minimum = {TG_BINARY("minimum", minimum_loop, minimum_derivative), TG_SAMPLES(tg_binary_samples)};

/* ---- where: the cotangent goes to the chosen one ---- */

static void where_derivative(const tg_derive *d)
{
    tg_tensor g = d->cotangent, zero = tg_scalar_like(g, 0);
    if (d->wanted[1])
        d->gradient[1] = tg_where(d->in[0], g, zero);
    if (d->wanted[2])
        d->gradient[2] = tg_where(d->in[0], zero, g);
}

TG_TERNARY_LOOP(where_loop, where)
const tg_op tg_op_where = {.name = "where",
                           .arity = 3,
                           .flags = TG_ELEMENTWISE,
                           .loop = where_loop,
                           .derivative = where_derivative,
                           TG_SAMPLES(where_samples)};
