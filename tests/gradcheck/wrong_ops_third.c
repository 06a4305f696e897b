/* Faults of kinds that the first two lists lack: cotangents near the largest number, runs of one to four elements, a
 * scalar with many elements, ties, kinks, signed zeros, and combinations of inputs. */
#include "autograd/ops/reduction.h"
#include "tests/gradcheck/wrong_ops.h"

#include <math.h>

/* ---- large cotangents ---- */

GIVES(infinite_above_1e20, tg_mul(tg_where(beyond(g, 1e20), number(g, INFINITY), g), twice(x)))
GIVES(nan_above_1e20, tg_mul(tg_where(beyond(g, 1e20), number(g, NAN), g), twice(x)))
GIVES(squared_away_above_1e20, tg_mul(tg_div(tg_mul(g, tg_mul_scalar(g, 1e250)), tg_mul_scalar(g, 1e250)), twice(x)))
GIVES(zero_above_1e25, tg_mul(tg_where(beyond(g, 1e25), number(g, 0), g), twice(x)))
GIVES(largest_float_at_most, tg_mul(tg_clamp(g, -1e28, 1e28), twice(x)))

/* ---- few elements ---- */

static const tg_sample two_shapes[] = {{.input = {{.shape = {2, {3, 4}}}}}, {.input = {{.shape = {1, {5}}}}}};
static const tg_sample two_shapes_of_two[] = {{.input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}}},
                                              {.input = {{.shape = {1, {5}}}, {.shape = {1, {5}}}}}};

/* x y, but wrong for runs of some lengths. */
static void short_loop(const tg_loop *l, size_t low, size_t high)
{
    tg_op_mul.loop(l);
    for (size_t i = 0; i < l->n && l->n >= low && l->n <= high; i++)
        if (l->dtype == TG_F64)
            ((double *)l->out)[i] *= 1.5;
        else
            ((float *)l->out)[i] *= 1.5f;
}

static void product_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, d->in[1]);
    d->gradient[1] = tg_mul(d->cotangent, d->in[0]);
}

#define SHORT(fault, low, high)                                                                                       \
    static void fault##_loop(const tg_loop *l)                                                                        \
    {                                                                                                                 \
        short_loop(l, low, high);                                                                                     \
    }                                                                                                                 \
    static const tg_op fault##_op = {                                                                                 \
        .name = #fault, .arity = 2, .flags = TG_ELEMENTWISE, .loop = fault##_loop, .derivative = product_derivative}; \
    GIVES(fault, tg_apply(&fault##_op, NULL, 2, (tg_tensor[]){g, twice(x)}))

SHORT(runs_of_1_to_4, 1, 4)
SHORT(runs_of_3, 3, 3)
SHORT(runs_of_4, 4, 4)
SHORT(runs_of_6, 6, 6)
SHORT(runs_of_32, 32, 32)
SHORT(runs_of_64, 64, 64)
SHORT(runs_of_100_to_127, 100, 127)

/* ---- a scalar with many elements ---- */

static bool is_single(tg_tensor x, tg_tensor out)
{
    return tg_size(x) == 1 && tg_size(out) > 1;
}

static void first_wrong_beside_single_second(const tg_derive *d)
{
    product_derivative(d);
    if (is_single(d->in[1], d->cotangent))
        d->gradient[0] = tg_mul_scalar(d->gradient[0], 1.5);
}

static void second_wrong_if_single(const tg_derive *d)
{
    product_derivative(d);
    if (is_single(d->in[1], d->cotangent))
        d->gradient[1] = tg_mul_scalar(d->gradient[1], 1.5);
}

/* x y, but wrong where the step of an operand is 0. */
static void step_loop(const tg_loop *l, int which)
{
    tg_op_mul.loop(l);
    for (size_t i = 0; i < l->n && l->step[which] == 0 && l->n > 1; i++)
        if (l->dtype == TG_F64)
            ((double *)l->out)[i] *= 1.5;
        else
            ((float *)l->out)[i] *= 1.5f;
}

#define STEP(fault, which)                                                                                            \
    static void fault##_loop(const tg_loop *l)                                                                        \
    {                                                                                                                 \
        step_loop(l, which);                                                                                          \
    }                                                                                                                 \
    static const tg_op fault##_op = {                                                                                 \
        .name = #fault, .arity = 2, .flags = TG_ELEMENTWISE, .loop = fault##_loop, .derivative = product_derivative}; \
    static void fault(const tg_derive *d)                                                                             \
    {                                                                                                                 \
        d->gradient[0] = tg_apply(&fault##_op, NULL, 2, (tg_tensor[]){d->cotangent, d->in[1]});                       \
        d->gradient[1] = tg_apply(&fault##_op, NULL, 2, (tg_tensor[]){d->cotangent, d->in[0]});                       \
    }

STEP(step_0_of_the_second, 1)

static void row_beside_matrix(const tg_derive *d)
{
    product_derivative(d);
    if (tg_rank(d->in[1]) == 1 && tg_rank(d->in[0]) == 2)
        d->gradient[0] = tg_mul_scalar(d->gradient[0], 1.5);
}

static void column_beside_matrix(const tg_derive *d)
{
    product_derivative(d);
    if (tg_rank(d->in[1]) == 2 && tg_dim(d->in[1], 1) == 1 && tg_size(d->cotangent) > tg_size(d->in[1]))
        d->gradient[1] = tg_mul_scalar(d->gradient[1], 1.5);
}

/* ---- ties and kinks ---- */

static const double tied[] = {2, 2, -1, 2};
static const tg_sample tied_samples[] = {
    {.attributes = &(tg_reduce_attributes){.axes = 1},
     .input = {{.shape = {1, {4}}, .value_count = 4, .values = tied}}},
    {.attributes = &(tg_reduce_attributes){.axes = 2}, .input = {{.shape = {2, {3, 4}}}}}};

/* Gives `is`, 1 where an element is the largest of its row, and `g`, the cotangent with the same axes. */
static void look_for_ties(const tg_derive *d, tg_tensor *is, tg_tensor *g)
{
    const tg_axes last = {.count = 1, .axis = {-1}};
    const tg_tensor largest = tg_max_over(d->in[0], last, true);
    *is = tg_equal(d->in[0], largest);
    *g = tg_reshape(d->cotangent, tg_shape_of(largest));
}

static void all_ties_in_full(const tg_derive *d)
{
    tg_tensor is, g;
    look_for_ties(d, &is, &g);
    d->gradient[0] = tg_mul(is, g);
}

/* Right for ties of two, wrong for ties of three. */
static void half_of_each_tie(const tg_derive *d)
{
    tg_tensor is, g;
    look_for_ties(d, &is, &g);
    const tg_tensor many = above(tg_sum_over(is, (tg_axes){.count = 1, .axis = {-1}}, true), 1.5);
    d->gradient[0] = tg_mul(scaled_where(many, is, 0.5), g);
}

static const double kinked[] = {0, 1, -1, 2};
static const double negative_zero[] = {-0.0, 1, -1, 2};
static const tg_sample kinked_samples[] = {{.input = {{.shape = {1, {4}}, .value_count = 4, .values = kinked}}}};
static const tg_sample negative_zero_samples[] = {
    {.input = {{.shape = {1, {4}}, .value_count = 4, .values = negative_zero}}}};

static tg_tensor is_zero(tg_tensor x)
{
    return tg_equal(x, number(x, 0));
}

GIVES(absolute_2_at_0, tg_mul(g, tg_where(is_zero(x), number(x, 2), tg_sign(x))))
GIVES(absolute_minus_3_at_0, tg_mul(g, tg_where(is_zero(x), number(x, -3), tg_sign(x))))
GIVES(relu_minus_half_at_0, tg_mul(g, tg_where(is_zero(x), number(x, -0.5), above(x, 0))))
GIVES(relu_1_01_at_0, tg_mul(g, tg_where(is_zero(x), number(x, 1.01), above(x, 0))))
/* 1 / x distinguishes -0 from 0. */
GIVES(square_wrong_at_minus_0,
      tg_mul(g, tg_where(tg_less(tg_div(number(x, 1), x), number(x, -1e300)), number(x, 1), twice(x))))
GIVES(square_wrong_at_plus_0, tg_mul(g, tg_where(above(tg_div(number(x, 1), x), 1e300), number(x, 1), twice(x))))

/* ---- inputs together ---- */

static void wrong_if_signs_differ(const tg_derive *d)
{
    product_derivative(d);
    const tg_tensor differ = tg_less(tg_mul(d->in[0], d->in[1]), number(d->in[0], 0));
    d->gradient[0] = scaled_where(differ, d->gradient[0], 1.01);
}

static void wrong_if_equal(const tg_derive *d)
{
    product_derivative(d);
    d->gradient[1] = scaled_where(tg_equal(d->in[0], d->in[1]), d->gradient[1], 1.5);
}

static void wrong_if_first_is_larger(const tg_derive *d)
{
    product_derivative(d);
    d->gradient[1] = scaled_where(tg_greater(tg_abs(d->in[0]), tg_abs(d->in[1])), d->gradient[1], 1 + 1e-8);
}

static void gradients_exchanged_if_large(const tg_derive *d)
{
    product_derivative(d);
    const tg_tensor large = beyond(d->in[0], 2), first = d->gradient[0], second = d->gradient[1];
    d->gradient[0] = tg_where(large, second, first);
    d->gradient[1] = tg_where(large, first, second);
}

static void mean_mixed_in(const tg_derive *d)
{
    const tg_tensor g = d->cotangent, right = tg_mul(g, twice(d->in[0]));
    d->gradient[0] = tg_add(right, tg_mul_scalar(tg_mean(right), 1e-9));
}

GIVES(neighbour_mixed_in, tg_mul(tg_add(g, tg_mul_scalar(tg_flip(g, TG_ALL_AXES), 1e-10)), twice(x)))
GIVES(sorted_cotangent_sum, tg_mul(tg_add(g, tg_mul_scalar(tg_sub(tg_sum(g), tg_sum(tg_flip(g, TG_ALL_AXES))), 1e6)),
                                   tg_mul_scalar(x, 2 + 1e-11)))
GIVES(first_element_counts_twice,
      tg_mul(scaled_where(tg_equal(x, tg_max_over(x, TG_ALL_AXES, false)), g, 1.25), twice(x)))
GIVES(wrong_if_all_positive,
      tg_mul(tg_mul_scalar(g, 1),
             tg_mul(twice(x), tg_add_scalar(tg_greater(tg_min_over(x, TG_ALL_AXES, false), number(x, -1e300)), 1e-9))))
GIVES(depends_on_the_largest, tg_mul(g, tg_add(twice(x), tg_mul_scalar(tg_max_over(x, TG_ALL_AXES, false), 1e-9))))

/* ---- other derivatives ---- */

GIVES(sine_of_degrees, tg_mul(g, tg_mul_scalar(tg_cos(x), 1 - 1e-9)))
GIVES(exp_by_twelve_terms, tg_mul(g, tg_add(tg_exp(x), tg_mul_scalar(tg_power(x, 13), 1.6e-10))))
GIVES(tanh_slope_clamped, tg_mul(g, tg_clamp(tg_sub(number(x, 1), tg_square(d->out)), 1e-3, 1)))
GIVES(log_of_absolute, tg_div(g, tg_abs(tg_add_scalar(x, 1e-12))))
GIVES(root_with_epsilon, tg_div(g, tg_mul_scalar(tg_add_scalar(d->out, 1e-8), 2)))
GIVES(sigmoid_shifted, tg_mul(g, tg_mul(d->out, tg_sub(number(x, 1 + 1e-9), d->out))))
GIVES(softplus_saturated, tg_mul(g, tg_where(above(x, 2.5), number(x, 1), tg_sigmoid(x))))
GIVES(erf_without_factor, tg_mul(g, tg_mul_scalar(tg_exp(tg_neg(tg_square(x))), 1.1283)))

const wrong_row wrong_third[] = {
    {"infinite for cotangents above 1e20", &tg_op_square, infinite_above_1e20},
    {"NaN for cotangents above 1e20", &tg_op_square, nan_above_1e20},
    {"an intermediate that passes the largest number", &tg_op_square, squared_away_above_1e20},
    {"no gradient for cotangents above 1e25", &tg_op_square, zero_above_1e25},
    {"cotangents clipped at 1e28", &tg_op_square, largest_float_at_most},
    {"wrong for runs of 1 to 4", &tg_op_square, runs_of_1_to_4, two_shapes, 2},
    {"wrong for runs of 3", &tg_op_square, runs_of_3, two_shapes, 2},
    {"wrong for runs of 4", &tg_op_square, runs_of_4, two_shapes, 2},
    {"wrong for runs of 6", &tg_op_square, runs_of_6, two_shapes, 2},
    {"wrong for runs of 32", &tg_op_square, runs_of_32, two_shapes, 2},
    {"wrong for runs of 64", &tg_op_square, runs_of_64, two_shapes, 2},
    {"wrong for runs of 100 to 127", &tg_op_square, runs_of_100_to_127, two_shapes, 2},
    {"first gradient wrong beside a single number", &tg_op_mul, first_wrong_beside_single_second, two_shapes_of_two, 2},
    {"second gradient wrong where it is a single number", &tg_op_mul, second_wrong_if_single, two_shapes_of_two, 2},
    {"wrong where the second operand's step is 0", &tg_op_mul, step_0_of_the_second, two_shapes_of_two, 2},
    {"first gradient wrong beside a row", &tg_op_mul, row_beside_matrix, two_shapes_of_two, 2},
    {"second gradient wrong where it is a column", &tg_op_mul, column_beside_matrix, two_shapes_of_two, 2},
    {"all of the tied largest get the whole cotangent", &tg_op_max_over, all_ties_in_full, tied_samples, 2},
    {"half of the cotangent to each of three ties", &tg_op_max_over, half_of_each_tie, tied_samples, 2},
    {"|x| with slope 2 at 0", &tg_op_abs, absolute_2_at_0, kinked_samples, 1},
    {"|x| with slope -3 at 0", &tg_op_abs, absolute_minus_3_at_0, kinked_samples, 1},
    {"ReLU with slope -1/2 at 0", &tg_op_relu, relu_minus_half_at_0, kinked_samples, 1},
    {"ReLU with slope 1.01 at 0", &tg_op_relu, relu_1_01_at_0, kinked_samples, 1},
    {"x^2 wrong at -0", &tg_op_square, square_wrong_at_minus_0, negative_zero_samples, 1},
    {"x^2 wrong at +0", &tg_op_square, square_wrong_at_plus_0, kinked_samples, 1},
    {"wrong where signs differ", &tg_op_mul, wrong_if_signs_differ},
    {"wrong where both are the same number", &tg_op_mul, wrong_if_equal},
    {"off by 1e-8 where the first is the larger", &tg_op_mul, wrong_if_first_is_larger},
    {"gradients exchanged where the first is large", &tg_op_mul, gradients_exchanged_if_large},
    {"1e-9 of the mean gradient mixed in", &tg_op_square, mean_mixed_in},
    {"1e-10 of another cotangent mixed in", &tg_op_square, neighbour_mixed_in},
    {"rounding of a sum made large", &tg_op_square, sorted_cotangent_sum},
    {"a quarter more for the largest element", &tg_op_square, first_element_counts_twice},
    {"off by 1e-9 everywhere", &tg_op_square, wrong_if_all_positive},
    {"1e-9 of the largest element added", &tg_op_square, depends_on_the_largest},
    {"cosine off by 1e-9", &tg_op_sin, sine_of_degrees},
    {"exp by a series of twelve terms", &tg_op_exp, exp_by_twelve_terms},
    {"tanh's derivative no less than 0.001", &tg_op_tanh, tanh_slope_clamped},
    {"log with an epsilon of 1e-12", &tg_op_log, log_of_absolute},
    {"root with an epsilon of 1e-8", &tg_op_sqrt, root_with_epsilon},
    {"sigmoid's derivative with 1 + 1e-9", &tg_op_sigmoid, sigmoid_shifted},
    {"softplus linear beyond 2.5", &tg_op_softplus, softplus_saturated},
    {"erf's derivative with four digits of 2 / sqrt pi", &tg_op_erf, erf_without_factor},
};
const int wrong_third_count = sizeof wrong_third / sizeof wrong_third[0];
