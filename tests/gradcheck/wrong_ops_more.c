/* Faults that are hard to find: in the use of the cotangent, hidden as noise, in ways of running that no sample takes,
 * at points, in shapes and in a type that no sample has. All are operations of the library with a wrong derivative, or
 * with a wrong forward loop and the right derivative. */
#include "tests/gradcheck/wrong_ops.h"

#include <math.h>
#include <string.h>

static tg_tensor is(tg_tensor x, double value)
{
    return tg_equal(x, number(x, value));
}

/* x, times a factor where the condition holds */
/* ---- the cotangent ---- */

GIVES(absolute, tg_mul(tg_abs(g), twice(x)))
GIVES(negated_absolute, tg_mul(tg_neg(tg_abs(g)), twice(x)))
GIVES(positive_only, tg_mul(tg_relu(g), twice(x)))
GIVES(leaky, tg_mul(tg_leaky_relu(g, 0.999), twice(x)))
GIVES(clipped_at_2, tg_mul(tg_clamp(g, -2, 2), twice(x)))
GIVES(clipped_at_1e4, tg_mul(tg_clamp(g, -1e4, 1e4), twice(x)))
GIVES(dropped_below_hundredth, tg_mul(tg_mul(g, beyond(g, 0.01)), twice(x)))
GIVES(dropped_below_1e_9, tg_mul(tg_mul(g, beyond(g, 1e-9)), twice(x)))
GIVES(doubled_above_1_5, tg_mul(scaled_where(beyond(g, 1.5), g, 2), twice(x)))
GIVES(doubled_above_1e6, tg_mul(scaled_where(beyond(g, 1e6), g, 2), twice(x)))
GIVES(normalised, tg_mul(tg_div(g, tg_add_scalar(tg_norm_over(g, TG_ALL_AXES, false), 1e-30)), twice(x)))
GIVES(rounded_cotangent, tg_mul(rounded_to_single(g), tg_add_scalar(twice(x), 0)))
GIVES(square_mixed_in, tg_mul(tg_add(g, tg_mul_scalar(tg_mul(g, tg_abs(g)), 1e-9)), twice(x)))
GIVES(largest_twice, tg_mul(scaled_where(tg_equal(g, tg_max_over(g, TG_ALL_AXES, false)), g, 2), twice(x)))
GIVES(root_of_squares, tg_mul(tg_norm_over(g, TG_ALL_AXES, false), twice(x)))

/* the loss's one cotangent */
#define LOSS(name, of_cotangent)                                                                         \
    static void name(const tg_derive *d)                                                                 \
    {                                                                                                    \
        const tg_tensor g = d->cotangent, difference = tg_sub(d->in[0], d->in[1]);                       \
        d->gradient[0] = tg_mul(of_cotangent, tg_mul_scalar(difference, 2 / (double)tg_size(d->in[0]))); \
        d->gradient[1] = tg_neg(d->gradient[0]);                                                         \
    }

LOSS(scalar_absolute, tg_abs(g))
LOSS(scalar_negated_absolute, tg_neg(tg_abs(g)))
LOSS(scalar_square, tg_square(g))

/* ---- like noise ---- */

/* Pseudo-random numbers of size 1 from the digits of x. */
static void hash_loop(const tg_loop *l)
{
    for (size_t i = 0; i < l->n; i++) {
        double x = l->dtype == TG_F64 ? ((const double *)l->in[0])[i] : (double)((const float *)l->in[0])[i];
        double y = fmod(fabs(x) * 1e9 + 0.123, 1) - 0.5;
        if (l->dtype == TG_F64)
            ((double *)l->out)[i] = y;
        else
            ((float *)l->out)[i] = (float)y;
    }
}

static void without(const tg_derive *d)
{
    d->gradient[0] = tg_mul_scalar(d->cotangent, 0);
}

static const tg_op hash = {
    .name = "hash", .arity = 1, .flags = TG_ELEMENTWISE, .loop = hash_loop, .derivative = without};

static tg_tensor noisy(tg_tensor x, double size)
{
    return tg_mul(x, tg_add_scalar(tg_mul_scalar(tg_apply(&hash, NULL, 1, &x), size), 1));
}

GIVES(noise_of_1e_4, tg_mul(g, noisy(twice(x), 1e-4)))
GIVES(noise_of_1e_7, tg_mul(g, noisy(twice(x), 1e-7)))
GIVES(noise_of_1e_10, tg_mul(g, noisy(twice(x), 1e-10)))
GIVES(tanh_in_float, tg_mul(g, tg_sub(number(x, 1), tg_square(rounded_to_single(d->out)))))
GIVES(slope_in_float, tg_mul(g, rounded_to_single(tg_gelu_exact_grad(x))))

/* ---- ways ---- */

static void tripled_if_all_same(const tg_derive *d)
{
    bool same = d->in[0].value == d->in[1].value && d->in[1].value == d->in[2].value;
    d->gradient[0] = tg_mul_scalar(tg_mul(d->cotangent, d->in[1]), same ? 2 : 1);
    d->gradient[1] = tg_mul(d->cotangent, d->in[0]);
    d->gradient[2] = d->cotangent;
}

static void average_if_broadcast(const tg_derive *d)
{
    for (int i = 0; i < 2; i++) {
        double copies = (double)tg_size(d->cotangent) / (double)(tg_size(d->in[i]) > 0 ? tg_size(d->in[i]) : 1);
        d->gradient[i] = tg_mul_scalar(tg_mul(d->cotangent, d->in[1 - i]), 1 / (copies > 0 ? copies : 1));
    }
}

static void first_of_second_if_broadcast(const tg_derive *d)
{
    tg_shape b = tg_shape_of(d->in[1]), out = tg_shape_of(d->cotangent);
    d->gradient[0] = tg_mul(d->cotangent, d->in[1]);
    d->gradient[1] = tg_mul_scalar(tg_mul(d->cotangent, d->in[0]), b.rank < out.rank ? 2 : 1);
}

/* Reads a number: right in the first step on a tape, outdated in the second. */
GIVES(number_read, tg_mul_scalar(tg_copy(g), 2 * tg_at(x, 0)))
GIVES(sign_read, tg_mul_scalar(tg_mul(g, x), tg_at(x, 0) < 100 ? 2 : -2))

/* Gives x^2 when computed together with its derivative, and a little more when computed alone. */
static void double_loop(const tg_loop *l)
{
    tg_loop both = *l;
    both.in[1] = l->in[0];
    both.step[1] = l->step[0];
    tg_op_add.loop(&both);
}

static void double_derivative(const tg_derive *d)
{
    d->gradient[0] = twice(d->cotangent);
}

static void evaluated_otherwise_loop(const tg_loop *l)
{
    tg_loop slope = *l;
    slope.out = l->saved;
    tg_op_square.loop(l);
    if (l->saved)
        double_loop(&slope);
    for (size_t i = 0; !l->saved && i < l->n; i++)
        if (l->dtype == TG_F64)
            ((double *)l->out)[i] += 1e-3;
        else
            ((float *)l->out)[i] += 1e-3f;
}

static void saved_slope(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, twice(d->in[0]));
}

static const tg_sample plain_samples[] = {{.input = {{.shape = {2, {3, 4}}}}}, {.input = {{.shape = {1, {33}}}}}};

static const tg_op times_two = {.name = "times_two",
                                .arity = 1,
                                .flags = TG_ELEMENTWISE,
                                .loop = double_loop,
                                .derivative = double_derivative,
                                TG_SAMPLES(plain_samples)};

static const tg_op evaluated_otherwise = {.name = "evaluated_otherwise",
                                          .arity = 1,
                                          .flags = TG_ELEMENTWISE,
                                          .loop = evaluated_otherwise_loop,
                                          .saved = &times_two,
                                          .derivative = saved_slope,
                                          TG_SAMPLES(plain_samples)};

/* ---- in float only ---- */

static void float_off_loop(const tg_loop *l)
{
    tg_op_square.loop(l);
    for (size_t i = 0; l->dtype == TG_F32 && i < l->n; i++)
        ((float *)l->out)[i] *= 1.001f;
}

static const tg_op float_off = {.name = "float_off",
                                .arity = 1,
                                .flags = TG_ELEMENTWISE,
                                .loop = float_off_loop,
                                .derivative = saved_slope,
                                TG_SAMPLES(plain_samples)};

GIVES(factor_in_float, tg_mul_scalar(tg_mul(g, x), tg_dtype_of(x) == TG_F32 ? 2.002 : 2))
GIVES(nothing_in_float, tg_dtype_of(x) == TG_F32 ? (tg_tensor){0} : tg_mul(g, twice(x)))
GIVES(sign_in_float, tg_mul_scalar(tg_mul(g, x), tg_dtype_of(x) == TG_F32 ? -2 : 2))

/* ---- in other shapes only ---- */

#define IN_SHAPE(name, condition) GIVES(name, tg_mul_scalar(tg_mul(g, x), (condition) ? 2.5 : 2))

IN_SHAPE(from_rank_4, tg_rank(x) >= 4)
IN_SHAPE(from_rank_5, tg_rank(x) >= 5)
IN_SHAPE(in_rank_3, tg_rank(x) == 3)
IN_SHAPE(above_100_elements, tg_size(x) > 100)
IN_SHAPE(above_1000_elements, tg_size(x) > 1000)
IN_SHAPE(for_13_elements, tg_size(x) == 13)
IN_SHAPE(of_16_elements, tg_size(x) == 16)

/* Multiplies like tg_mul, except for the last element of a run whose length modulo 8 is 5 (or 7). */
static void remainder_loop(const tg_loop *l, size_t remainder)
{
    tg_op_mul.loop(l);
    if (l->n % 8 != remainder)
        return;
    if (l->dtype == TG_F64)
        ((double *)l->out)[l->n - 1] *= 1.5;
    else
        ((float *)l->out)[l->n - 1] *= 1.5f;
}

static void remainder_5_loop(const tg_loop *l)
{
    remainder_loop(l, 5);
}

static void remainder_7_loop(const tg_loop *l)
{
    remainder_loop(l, 7);
}

static void product_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, d->in[1]);
    d->gradient[1] = tg_mul(d->cotangent, d->in[0]);
}

static const tg_op last_of_5 = {.name = "last_of_5",
                                .arity = 2,
                                .flags = TG_ELEMENTWISE,
                                .loop = remainder_5_loop,
                                .derivative = product_derivative};
static const tg_op last_of_7 = {.name = "last_of_7",
                                .arity = 2,
                                .flags = TG_ELEMENTWISE,
                                .loop = remainder_7_loop,
                                .derivative = product_derivative};

GIVES(wrong_last_of_5, tg_apply(&last_of_5, NULL, 2, (tg_tensor[]){g, twice(x)}))
GIVES(wrong_last_of_7, tg_apply(&last_of_7, NULL, 2, (tg_tensor[]){g, twice(x)}))

/* ---- at other points only ---- */

#define AT(name, condition) GIVES(name, tg_mul(g, scaled_where(condition, tg_add_scalar(twice(x), 1), 1.5)))

AT(at_zero, is(x, 0))
AT(at_one, is(x, 1))
AT(at_minus_one, is(x, -1))
AT(at_half, is(x, 0.5))
AT(at_minus_two, is(x, -2))
AT(beyond_12, beyond(x, 12))
AT(beyond_50, beyond(x, 50))
AT(beyond_1000, beyond(x, 1000))
AT(tiny, tg_less(tg_abs(x), number(x, 1e-6)))

/* x^2 + x, with its right derivative except at one point. */
static void square_plus_loop(const tg_loop *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->dtype == TG_F64) {
            double x = ((const double *)l->in[0])[i];
            ((double *)l->out)[i] = x * x + x;
        } else {
            float x = ((const float *)l->in[0])[i];
            ((float *)l->out)[i] = x * x + x;
        }
}

static const tg_op square_plus = {.name = "square_plus",
                                  .arity = 1,
                                  .flags = TG_ELEMENTWISE,
                                  .loop = square_plus_loop,
                                  .derivative = saved_slope,
                                  TG_SAMPLES(plain_samples)};

/* ---- small, and of higher order ---- */

GIVES(off_by_1e_9, tg_mul_scalar(tg_mul(g, x), 2 * (1 + 1e-9)))
GIVES(off_by_1e_11, tg_mul_scalar(tg_mul(g, x), 2 * (1 + 1e-11)))
GIVES(half_of_it, tg_mul(g, x))
GIVES(constant_off, tg_mul(g, tg_add_scalar(twice(x), 1e-10)))
GIVES(second_off, tg_mul(g, tg_mul(d->out, number(x, 1))))
GIVES(second_order_beyond_12, tg_mul(g, tg_where(beyond(x, 12), tg_stop_gradient(twice(x)), twice(x))))
GIVES(second_order_of_float, tg_mul(g, tg_dtype_of(x) == TG_F64 ? tg_stop_gradient(tg_cos(x)) : tg_cos(x)))

static const tg_sample enormous[] = {
    {.input = {{.shape = {1, {3}}, .value_count = 3, .values = (const double[]){1e90, -3e90, 2.5e90}}}}};
static const tg_sample one_element[] = {{.input = {{.shape = {1, {1}}}}}};
static const tg_sample ten_by_ten[] = {{.input = {{.shape = {2, {10, 10}}}}}};
static const tg_sample hundreds[] = {{.input = {{.shape = {2, {100, 100}}}}}};
static const tg_sample same_shapes[] = {{.input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}}}};

#define SAMPLES(table) table, sizeof(table) / sizeof((table)[0])

const wrong_row wrong_more[] = {
    {"right for positive cotangents only", &tg_op_square, absolute},
    {"right for negative cotangents only", &tg_op_square, negated_absolute},
    {"no gradient for negative cotangents", &tg_op_square, positive_only},
    {"negative cotangents a thousandth too small", &tg_op_square, leaky},
    {"the cotangent clipped at 2", &tg_op_square, clipped_at_2},
    {"the cotangent clipped at 10,000", &tg_op_square, clipped_at_1e4},
    {"cotangents below 0.01 dropped", &tg_op_square, dropped_below_hundredth},
    {"cotangents below 1e-9 dropped", &tg_op_square, dropped_below_1e_9},
    {"cotangents above 1.5 doubled", &tg_op_square, doubled_above_1_5},
    {"cotangents above a million doubled", &tg_op_square, doubled_above_1e6},
    {"the cotangent normalised", &tg_op_square, normalised},
    {"the cotangent rounded to single precision", &tg_op_sin, rounded_cotangent},
    {"1e-9 of the cotangent's square mixed in", &tg_op_square, square_mixed_in},
    {"the largest cotangent counted twice", &tg_op_square, largest_twice},
    {"the norm of the cotangents for each", &tg_op_square, root_of_squares},
    {"a loss, right for positive cotangents only", &tg_op_mse, scalar_absolute, SAMPLES(same_shapes)},
    {"a loss, right for negative cotangents only", &tg_op_mse, scalar_negated_absolute, SAMPLES(same_shapes)},
    {"a loss with its cotangent squared", &tg_op_mse, scalar_square, SAMPLES(same_shapes)},
    {"pseudo-random errors of 1e-4", &tg_op_square, noise_of_1e_4},
    {"pseudo-random errors of 1e-4 in 100 elements", &tg_op_square, noise_of_1e_4, SAMPLES(ten_by_ten)},
    {"pseudo-random errors of 1e-4 in 10,000 elements", &tg_op_square, noise_of_1e_4, SAMPLES(hundreds)},
    {"pseudo-random errors of 1e-7 in 100 elements", &tg_op_square, noise_of_1e_7, SAMPLES(ten_by_ten)},
    {"pseudo-random errors of 1e-10 in 100 elements", &tg_op_square, noise_of_1e_10, SAMPLES(ten_by_ten)},
    {"the slope of tanh from a float, 100 elements", &tg_op_tanh, tanh_in_float, SAMPLES(ten_by_ten)},
    {"the slope of tanh from a float, 10,000 elements", &tg_op_tanh, tanh_in_float, SAMPLES(hundreds)},
    {"the slope of GELU in float", &tg_op_gelu_exact, slope_in_float, SAMPLES(ten_by_ten)},
    {"wrong when all three inputs are one tensor", &tg_op_mul_add, tripled_if_all_same},
    {"the average for the sum where an input broadcasts", &tg_op_mul, average_if_broadcast, SAMPLES(same_shapes)},
    {"wrong where the second input has fewer axes", &tg_op_mul, first_of_second_if_broadcast, SAMPLES(same_shapes)},
    {"a number read while differentiating", &tg_op_square, number_read, SAMPLES(one_element)},
    {"a branch on a number while differentiating", &tg_op_square, sign_read},
    {"another value when evaluated without gradient", &evaluated_otherwise, NULL},
    {"another value in float", &float_off, NULL},
    {"another factor in float", &tg_op_square, factor_in_float},
    {"no gradient in float", &tg_op_square, nothing_in_float},
    {"another sign in float", &tg_op_square, sign_in_float},
    {"wrong from rank 4 on", &tg_op_square, from_rank_4, SAMPLES(plain_samples)},
    {"wrong from rank 5 on", &tg_op_square, from_rank_5, SAMPLES(plain_samples)},
    {"wrong in rank 3", &tg_op_square, in_rank_3, SAMPLES(plain_samples)},
    {"wrong above 100 elements", &tg_op_square, above_100_elements, SAMPLES(plain_samples)},
    {"wrong above 1,000 elements", &tg_op_square, above_1000_elements, SAMPLES(plain_samples)},
    {"wrong for 13 elements", &tg_op_square, for_13_elements, SAMPLES(plain_samples)},
    {"wrong for 16 elements", &tg_op_square, of_16_elements, SAMPLES(plain_samples)},
    {"the last of 8 n + 5 elements wrong", &tg_op_square, wrong_last_of_5, SAMPLES(plain_samples)},
    {"the last of 8 n + 7 elements wrong", &tg_op_square, wrong_last_of_7, SAMPLES(plain_samples)},
    {"wrong at 0 exactly", &square_plus, at_zero},
    {"wrong at 1 exactly", &square_plus, at_one},
    {"wrong at -1 exactly", &square_plus, at_minus_one},
    {"wrong at a half exactly", &square_plus, at_half},
    {"wrong at -2 exactly", &square_plus, at_minus_two},
    {"wrong beyond 12", &square_plus, beyond_12},
    {"wrong beyond 50", &square_plus, beyond_50},
    {"wrong beyond 1,000", &square_plus, beyond_1000},
    {"wrong below a millionth", &square_plus, tiny},
    {"off by 1e-9 relative", &tg_op_square, off_by_1e_9},
    {"off by 1e-11 relative", &tg_op_square, off_by_1e_11},
    {"off by 1e-9 relative at 1e90", &tg_op_square, off_by_1e_9, SAMPLES(enormous)},
    {"half as large at 1e90", &tg_op_square, half_of_it, SAMPLES(enormous)},
    {"1e-10 added", &tg_op_square, constant_off},
    {"its result for its derivative, as of exp", &tg_op_square, second_off},
    {"wrong in second order beyond 12 only", &tg_op_square, second_order_beyond_12},
    {"wrong in second order, in double only", &tg_op_sin, second_order_of_float},
};

const int wrong_more_count = sizeof wrong_more / sizeof wrong_more[0];
