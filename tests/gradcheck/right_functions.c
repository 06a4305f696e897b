#include "tests/gradcheck/right_functions.h"

#include <math.h>
#include <stdio.h>

#define FUNCTION(name, ...)                                                          \
    static tg_tensor name(tg_tape *tape, const tg_tensor *in, int count, void *user) \
    {                                                                                \
        const tg_tensor x = in[0];                                                   \
        (void)x, (void)tape, (void)count, (void)user;                                \
        return __VA_ARGS__;                                                          \
    }

static tg_tensor number(tg_tensor like, double value)
{
    return tg_full(tg_tape_of(like), tg_dtype_of(like), TG_SCALAR, value);
}

static tg_tensor one_minus(tg_tensor x)
{
    return tg_sub(number(x, 1), x);
}

static tg_tensor as_rows(tg_tensor x)
{
    return tg_reshape(x, TG_SHAPE(2, 2));
}

/* ---- of positive numbers ---- */

FUNCTION(logarithm, tg_log(x))
FUNCTION(root, tg_sqrt(x))
FUNCTION(reciprocal_root, tg_rsqrt(x))
FUNCTION(reciprocal, tg_div(number(x, 1), x))
FUNCTION(cube_root, tg_power(x, 1. / 3))
FUNCTION(entropy, tg_mul(x, tg_log(x)))
FUNCTION(fractional_power, tg_power(x, 0.3))
FUNCTION(inverse_square, tg_power(x, -2))
FUNCTION(square_of_logarithm, tg_square(tg_log(x)))
FUNCTION(to_its_own_power, tg_pow(x, x))
FUNCTION(sum_of_logarithms, tg_sum(tg_log(x)))
FUNCTION(root_of_sum, tg_sqrt(tg_sum(x)))
FUNCTION(normalised_by_sum, tg_div(x, tg_sum(x)))
FUNCTION(geometric_mean, tg_exp(tg_mean(tg_log(x))))

/* ---- of numbers between 0 and 1 ---- */

FUNCTION(logit, tg_log(tg_div(x, one_minus(x))))
FUNCTION(binary_entropy, tg_neg(tg_add(tg_mul(x, tg_log(x)), tg_mul(one_minus(x), tg_log(one_minus(x))))))
FUNCTION(beta_density, tg_mul(tg_power(x, 0.5), tg_power(one_minus(x), 1.5)))

/* ---- of any numbers ---- */

FUNCTION(tanh_of, tg_tanh(x))
FUNCTION(steep_tanh, tg_tanh(tg_mul_scalar(x, 1e6)))
FUNCTION(sigmoid_of, tg_sigmoid(x))
FUNCTION(softplus_of, tg_softplus(x))
FUNCTION(gelu_of, tg_gelu_exact(x))
FUNCTION(silu_of, tg_silu(x))
FUNCTION(mish_of, tg_mish(x))
FUNCTION(relu_of, tg_relu(x))
FUNCTION(absolute_of, tg_abs(x))
FUNCTION(elu_of, tg_elu(x, 1))
FUNCTION(hardswish_of, tg_hardswish(x))
FUNCTION(gauss, tg_exp(tg_neg(tg_square(x))))
FUNCTION(sine, tg_sin(x))
FUNCTION(fast_sine, tg_sin(tg_mul_scalar(x, 50)))
FUNCTION(cube, tg_power(x, 3))
FUNCTION(seventh_power, tg_power(x, 7))
FUNCTION(lorentz, tg_div(number(x, 1), tg_add_scalar(tg_square(x), 1)))
FUNCTION(rational, tg_div(x, tg_add_scalar(tg_abs(x), 1)))
FUNCTION(exponential_minus_one, tg_expm1(x))
FUNCTION(error_function, tg_erf(x))
FUNCTION(complement, tg_erfc(x))
FUNCTION(softmax_of, tg_softmax(x, -1))
FUNCTION(log_softmax_of, tg_log_softmax(x, -1))
FUNCTION(log_sum_exp, tg_logsumexp_over(x, TG_ALL_AXES, false))
FUNCTION(largest, tg_max_over(x, TG_ALL_AXES, false))
FUNCTION(norm, tg_norm_over(x, TG_ALL_AXES, false))
FUNCTION(running_sum, tg_cumsum(x, 0, false))
FUNCTION(cancelling, tg_sub(tg_add_scalar(x, 1e6), number(x, 1e6)))
FUNCTION(nothing_left, tg_sub(x, x))
FUNCTION(constant, tg_mul_scalar(x, 0))
FUNCTION(scaled_up, tg_mul_scalar(x, 1e100))
FUNCTION(scaled_down, tg_mul_scalar(x, 1e-100))
FUNCTION(down_and_up, tg_mul_scalar(tg_mul_scalar(x, 1e-150), 1e150))
FUNCTION(denormal, tg_mul_scalar(x, 1e-310))
FUNCTION(denormal_square, tg_square(tg_mul_scalar(x, 1e-158)))
FUNCTION(layer_norm_of, tg_layer_norm(x, TG_NONE, TG_NONE, 1e-12))
FUNCTION(layer_norm_with_epsilon, tg_layer_norm(x, TG_NONE, TG_NONE, 1e-5))
FUNCTION(rms_norm_of, tg_rms_norm(x, TG_NONE, 1e-6))
FUNCTION(variance, tg_var_over(x, TG_ALL_AXES, 1, false))
FUNCTION(squared_twice, tg_square(tg_square(x)))
FUNCTION(saturated_product, tg_mul(tg_tanh(tg_mul_scalar(x, 30)), tg_sigmoid(x)))
FUNCTION(one_tensor_three_times, tg_mul_add(x, x, x))
FUNCTION(outer_product, tg_matmul(tg_reshape(x, TG_SHAPE(tg_size(x), 1)), tg_reshape(x, TG_SHAPE(1, tg_size(x)))))
FUNCTION(checkpointed, tg_checkpoint(gelu_of, in, 1, NULL))

/* ---- of numbers at which, in double, nothing but noise remains ---- */

static tg_tensor fast(tg_tensor x, double times)
{
    return tg_sin(tg_mul_scalar(x, times));
}

FUNCTION(sine_of_1e10_x, fast(x, 1e10))
FUNCTION(cosine_of_1e12_x, tg_cos(tg_mul_scalar(x, 1e12)))
FUNCTION(steep_tanh_of_sine, tg_tanh(tg_mul_scalar(fast(x, 1e6), 1e9)))
FUNCTION(square_of_fast_sine, tg_square(fast(x, 1e10)))
FUNCTION(sum_of_fast_sines, tg_sum(fast(x, 1e10)))
FUNCTION(times_fast_sine, tg_mul(x, fast(x, 1e10)))
FUNCTION(logarithm_of_fast_sine, tg_log(tg_add_scalar(fast(x, 1e10), 1.5)))
FUNCTION(exponential_of_fast_sine, tg_exp(fast(x, 1e9)))
FUNCTION(fast_triangles, tg_abs(fast(x, 1e9)))
FUNCTION(ripple_on_one, tg_add_scalar(tg_mul_scalar(fast(x, 1e10), 1e-6), 1))
FUNCTION(ripple_on_x, tg_add(x, tg_mul_scalar(fast(x, 1e10), 1e-10)))
FUNCTION(softmax_of_fast_sine, tg_softmax(tg_mul_scalar(fast(x, 1e8), 1e3), -1))
FUNCTION(sine_of_eighth_power, tg_sin(tg_power(x, 8)))
FUNCTION(rest_of_rounding, tg_sub(x, tg_add_scalar(tg_add_scalar(x, 1e12), -1e12)))

/* ---- of four numbers, as a matrix ---- */

static tg_tensor determinant(tg_tensor x)
{
    return tg_sub(tg_mul(tg_narrow(x, 0, 0, 1), tg_narrow(x, 0, 3, 1)),
                  tg_mul(tg_narrow(x, 0, 1, 1), tg_narrow(x, 0, 2, 1)));
}

FUNCTION(inverse, tg_div(x, determinant(x)))
FUNCTION(log_determinant, tg_log(tg_abs(determinant(x))))
FUNCTION(matrix_square, tg_matmul(as_rows(x), as_rows(x)))
FUNCTION(row_softmax, tg_softmax(as_rows(x), 1))
FUNCTION(attention, tg_scaled_dot_product_attention(as_rows(x), as_rows(x), as_rows(x), TG_NONE, true))
FUNCTION(batch_norm_of, tg_batch_norm(as_rows(x), TG_NONE, TG_NONE, 1e-5))

/* ---- where ---- */

typedef struct point {
    const char *name;
    int count;
    double x[6];
} point;

static const point positive[] = {{"usual numbers", 4, {0.3, 1.2, 2.5, 0.7}},
                                 {"1e-12 beside 0.5", 2, {1e-12, 0.5}},
                                 {"1e-9 to 1", 4, {1e-9, 1e-6, 1e-3, 0.9}},
                                 {"large ones", 3, {1e10, 3e5, 2}}};
static const point fractions[] = {{"usual fractions", 3, {0.3, 0.6, 0.9}},
                                  {"fractions near the ends", 4, {1e-12, 0.5, 1e-4, 0.999}}};
static const point any[] = {{"usual numbers", 5, {-1.3, 0.4, 2.2, -0.2, 3.1}},
                            {"special numbers", 5, {0, 1, -1, 0.5, -2}},
                            {"tiny numbers beside 1", 4, {1e-12, -1e-8, 0.5, 1}}};
static const point wide[] = {{"tails", 4, {30, -40, 12, 0.1}}};
static const point matrices[] = {{"a usual matrix", 4, {0.3, 1.2, -2.5, 0.7}},
                                 {"an ill-conditioned one", 4, {1, 1, 1, 1 + 1e-6}},
                                 {"a nearly singular one", 4, {1, 1, 1, 1 + 1e-10}}};
static const point nearly_equal[] = {{"a nearly constant row", 4, {1, 1 + 1e-7, 1 - 1e-7, 1 + 2e-7}},
                                     {"a usual row", 4, {1, -0.3, 2.5, 0.2}}};

static const point huge[] = {{"huge numbers", 3, {1e17, 2e17, -3e17}}};
static const point largest_ones[] = {{"the largest numbers", 3, {1e300, 2e300, 3e300}}};
static const point far[] = {{"10,000", 1, {1e4}}, {"10,000 and others", 3, {1e4, 3, 0.7}}};

#define POINTS(table) table, sizeof(table) / sizeof((table)[0])
#define ROW(name)   \
    {               \
#name, name \
    }

typedef struct named {
    const char *name;
    tg_function function;
} named;

static const named of_positive[] = {ROW(logarithm),         ROW(root),           ROW(reciprocal_root),
                                    ROW(reciprocal),        ROW(cube_root),      ROW(entropy),
                                    ROW(fractional_power),  ROW(inverse_square), ROW(square_of_logarithm),
                                    ROW(sum_of_logarithms), ROW(root_of_sum),    ROW(normalised_by_sum),
                                    ROW(geometric_mean)};
static const named of_fractions[] = {ROW(logit), ROW(binary_entropy), ROW(beta_density), ROW(to_its_own_power)};
static const named of_any[] = {ROW(tanh_of),
                               ROW(steep_tanh),
                               ROW(sigmoid_of),
                               ROW(softplus_of),
                               ROW(gelu_of),
                               ROW(silu_of),
                               ROW(mish_of),
                               ROW(relu_of),
                               ROW(absolute_of),
                               ROW(elu_of),
                               ROW(hardswish_of),
                               ROW(gauss),
                               ROW(sine),
                               ROW(fast_sine),
                               ROW(cube),
                               ROW(seventh_power),
                               ROW(lorentz),
                               ROW(rational),
                               ROW(exponential_minus_one),
                               ROW(error_function),
                               ROW(complement),
                               ROW(softmax_of),
                               ROW(log_softmax_of),
                               ROW(log_sum_exp),
                               ROW(running_sum),
                               ROW(cancelling),
                               ROW(nothing_left),
                               ROW(constant),
                               ROW(scaled_up),
                               ROW(scaled_down),
                               ROW(down_and_up),
                               ROW(squared_twice),
                               ROW(saturated_product),
                               ROW(one_tensor_three_times),
                               ROW(outer_product),
                               ROW(denormal),
                               ROW(denormal_square),
                               ROW(rms_norm_of),
                               ROW(variance),
                               ROW(norm),
                               ROW(checkpointed)};
static const named of_wide[] = {ROW(tanh_of), ROW(sigmoid_of), ROW(softplus_of), ROW(gelu_of),        ROW(silu_of),
                                ROW(mish_of), ROW(gauss),      ROW(softmax_of),  ROW(log_softmax_of), ROW(log_sum_exp),
                                ROW(largest), ROW(lorentz),    ROW(elu_of),      ROW(complement)};
static const named of_matrices[] = {ROW(inverse),     ROW(log_determinant), ROW(matrix_square),
                                    ROW(row_softmax), ROW(attention),       ROW(batch_norm_of)};
static const named of_rows[] = {ROW(layer_norm_of), ROW(layer_norm_with_epsilon), ROW(rms_norm_of), ROW(variance),
                                ROW(softmax_of)};

static const named of_huge[] = {ROW(tanh_of),    ROW(sigmoid_of),  ROW(softplus_of), ROW(gelu_of),
                                ROW(relu_of),    ROW(absolute_of), ROW(rational),    ROW(lorentz),
                                ROW(softmax_of), ROW(running_sum), ROW(norm),        ROW(variance),
                                ROW(cube),       ROW(scaled_down), ROW(rms_norm_of)};
static const named of_largest[] = {ROW(logarithm), ROW(root),       ROW(reciprocal_root), ROW(reciprocal),
                                   ROW(cube_root), ROW(tanh_of),    ROW(softmax_of),      ROW(relu_of),
                                   ROW(rational),  ROW(scaled_down)};
static const named of_noise[] = {ROW(sine_of_1e10_x),
                                 ROW(cosine_of_1e12_x),
                                 ROW(steep_tanh_of_sine),
                                 ROW(square_of_fast_sine),
                                 ROW(sum_of_fast_sines),
                                 ROW(times_fast_sine),
                                 ROW(logarithm_of_fast_sine),
                                 ROW(exponential_of_fast_sine),
                                 ROW(fast_triangles),
                                 ROW(ripple_on_one),
                                 ROW(ripple_on_x),
                                 ROW(softmax_of_fast_sine),
                                 ROW(sine_of_eighth_power),
                                 ROW(rest_of_rounding)};

/* Right derivatives at difficult points: next to the end of a domain, at ties and kinks, where all digits cancel, where
 * numbers underflow. Differences may be unable to decide there. */
FUNCTION(tanh_difference, tg_sub(tg_tanh(tg_add_scalar(x, 1e-4)), tg_tanh(x)))
FUNCTION(complement_difference, tg_sub(tg_erfc(x), tg_erfc(tg_add_scalar(x, 1e-5))))
FUNCTION(odd_lorentz, tg_div(x, tg_add_scalar(tg_square(x), 1)))
FUNCTION(normalised_running_sum, tg_normalize(tg_cumsum(x, -1, false), true, 1e-12))
FUNCTION(inverse_tanh, tg_mul_scalar(tg_sub(tg_log1p(x), tg_log1p(tg_neg(x))), 0.5))
FUNCTION(half_circle, tg_sqrt(one_minus(tg_square(x))))
FUNCTION(flat_at_zero, tg_exp(tg_neg(tg_div(number(x, 1), tg_square(x)))))
FUNCTION(gamma_density, tg_mul(x, tg_exp(tg_neg(x))))
FUNCTION(inverse_softplus, tg_log(tg_expm1(x)))
FUNCTION(smallest, tg_min_over(x, TG_ALL_AXES, false))
FUNCTION(range_of_all, tg_sub(tg_max_over(x, TG_ALL_AXES, false), tg_min_over(x, TG_ALL_AXES, false)))
FUNCTION(negative_part, tg_sub(tg_abs(x), x))
FUNCTION(clamped, tg_clamp(x, -1, 1))
FUNCTION(absolute_cube, tg_mul(tg_square(x), tg_abs(x)))
FUNCTION(signed_square, tg_mul(x, tg_abs(x)))
FUNCTION(root_of_square, tg_sqrt(tg_square(x)))
FUNCTION(unit_vector, tg_div(x, tg_norm_over(x, TG_ALL_AXES, false)))
FUNCTION(fiftieth_power, tg_power(x, 50))
FUNCTION(exponentials_cancel, tg_mul(tg_exp(x), tg_exp(tg_neg(x))))
FUNCTION(log_cosh, tg_sub(tg_softplus(tg_mul_scalar(x, 2)), x))
FUNCTION(up_and_down, tg_add_scalar(tg_add_scalar(x, 1e8), -1e8))
FUNCTION(beside_1e16, tg_sub(tg_add_scalar(x, 1e16), number(x, 1e16)))
FUNCTION(difference_of_squares, tg_sub(tg_square(tg_add_scalar(x, 1e6)), tg_square(tg_add_scalar(x, -1e6))))
FUNCTION(sine_of_reciprocal, tg_sin(tg_div(number(x, 1), x)))
FUNCTION(logarithm_of_square, tg_log(tg_square(x)))
FUNCTION(steps_of_tanh, tg_tanh(tg_mul_scalar(tg_sin(x), 1e3)))
FUNCTION(mean_of_squares_less_square_of_mean, tg_sub(tg_mean(tg_square(x)), tg_square(tg_mean(x))))
FUNCTION(product_of_all, tg_mul(tg_mul(x, tg_flip(x, TG_ALL_AXES)), tg_sum(x)))

static const struct {
    named function;
    point at;
} nasty[] = {
    {ROW(absolute_of), {"1e-300 beside 0, 1 and -1", 4, {0, 1, -1, 1e-300}}},
    {ROW(absolute_of), {"1e-300", 1, {1e-300}}},
    {ROW(absolute_of), {"denormal numbers", 3, {1e-310, -1e-312, 1e-308}}},
    {ROW(tanh_difference), {"15", 4, {0, 1, 5, 15}}},
    {ROW(complement_difference), {"20", 3, {0.5, 5, 20}}},
    {ROW(logit), {"1 - 1e-9", 3, {1e-12, 0.5, 1 - 1e-9}}},
    {ROW(logit), {"1 - 1e-13", 2, {0.25, 1 - 1e-13}}},
    {ROW(odd_lorentz), {"1e100", 1, {1e100}}},
    {ROW(odd_lorentz), {"1e120 and -1e140", 2, {1e120, -1e140}}},
    {ROW(normalised_running_sum), {"1e-6 apart", 4, {1, 1e-6, -1e-6, 2e-6}}},
    {ROW(normalised_running_sum), {"1e-8 apart", 4, {2, 1e-8, 3e-8, -1e-8}}},
    {ROW(inverse_tanh), {"1 - 1e-9", 3, {0.1, -0.999, 1 - 1e-9}}},
    {ROW(half_circle), {"1 - 1e-9", 3, {0.1, -0.999, 1 - 1e-9}}},
    {ROW(flat_at_zero), {"0.05", 3, {0.05, 0.2, -1}}},
    {ROW(gamma_density), {"700", 3, {700, 1, 30}}},
    {ROW(inverse_softplus), {"1e-9", 3, {1e-9, 1, 30}}},
    {ROW(largest), {"three ties", 4, {2, 2, -1, 2}}},
    {ROW(smallest), {"all tied", 4, {3, 3, 3, 3}}},
    {ROW(range_of_all), {"all tied", 4, {1, 1, 1, 1}}},
    {ROW(norm), {"1e-200", 3, {1e-200, -1e-200, 2e-200}}},
    {ROW(variance), {"equal numbers", 4, {3, 3, 3, 3}}},
    {ROW(softmax_of), {"1000 and -1000", 3, {1000, 0, -1000}}},
    {ROW(log_sum_exp), {"ties", 4, {5, 5, 5, -1}}},
    {ROW(negative_part), {"zeros", 4, {0, -0.0, 1, -1}}},
    {ROW(clamped), {"the ends", 4, {-1, 1, 0, 2}}},
    {ROW(hardswish_of), {"the ends", 4, {-3, 3, 0, 1}}},
    {ROW(absolute_cube), {"zeros", 4, {0, -0.0, 1, -1e-5}}},
    {ROW(signed_square), {"zeros", 4, {0, -0.0, 1, -1e-5}}},
    {ROW(root_of_square), {"1e-150", 2, {1e-150, 1}}},
    {ROW(unit_vector), {"1e-150", 3, {1e-150, 2e-150, -1e-150}}},
    {ROW(fiftieth_power), {"1e5", 2, {1e5, 1.1}}},
    {ROW(exponentials_cancel), {"300", 3, {300, -300, 1}}},
    {ROW(log_cosh), {"tails", 4, {40, -40, 0, 0.5}}},
    {ROW(up_and_down), {"usual numbers", 3, {1, 2, -0.3}}},
    {ROW(beside_1e16), {"usual numbers", 3, {1, 20, -0.3}}},
    {ROW(difference_of_squares), {"usual numbers", 3, {1, 20, -0.3}}},
    {ROW(sine_of_reciprocal), {"0.01", 3, {0.01, 0.5, -2}}},
    {ROW(logarithm_of_square), {"1e-100", 3, {1e-100, -0.5, 2}}},
    {ROW(steps_of_tanh), {"a step", 3, {0, 3.14159, 1}}},
    {ROW(mean_of_squares_less_square_of_mean), {"1e6 from 0", 4, {1e6, 1e6 + 1, 1e6 - 1, 1e6 + 2}}},
    {ROW(product_of_all), {"zeros", 4, {0, 1, 2, 0}}},
};
enum { NASTY = sizeof nasty / sizeof nasty[0] };

static const struct {
    const named *functions;
    int function_count;
    const point *points;
    int point_count;
    bool noise;
} groups[] = {{POINTS(of_positive), POINTS(positive)}, {POINTS(of_fractions), POINTS(fractions)},
              {POINTS(of_any), POINTS(any)},           {POINTS(of_wide), POINTS(wide)},
              {POINTS(of_matrices), POINTS(matrices)}, {POINTS(of_rows), POINTS(nearly_equal)},
              {POINTS(of_huge), POINTS(huge)},         {POINTS(of_largest), POINTS(largest_ones)},
              {POINTS(of_noise), POINTS(far), true}};

enum { GROUPS = sizeof groups / sizeof groups[0] };

int right_function_count(void)
{
    int count = NASTY;
    for (int g = 0; g < GROUPS; g++)
        count += groups[g].function_count * groups[g].point_count;
    return count;
}

/* The group of a function, GROUPS for the difficult ones; the rest of the index is its position in the group. */
static int group_of(int *index)
{
    int g = 0;
    for (; g < GROUPS && *index >= groups[g].function_count * groups[g].point_count; g++)
        *index -= groups[g].function_count * groups[g].point_count;
    return g;
}

bool right_function_is_noise(int index)
{
    const int g = group_of(&index);
    return g == GROUPS || groups[g].noise;
}

static const named *find(int index, const point **at)
{
    const int g = group_of(&index);
    if (g == GROUPS) {
        *at = &nasty[index].at;
        return &nasty[index].function;
    }
    *at = &groups[g].points[index % groups[g].point_count];
    return &groups[g].functions[index / groups[g].point_count];
}

const char *right_function_name(int index)
{
    static char name[200];
    const point *at;
    const named *function = find(index, &at);
    snprintf(name, sizeof name, "%s at %s", function->name, at->name);
    return name;
}

tg_function right_function_at(int index, tg_gradcheck_input *in)
{
    const point *at;
    const named *function = find(index, &at);
    *in = (tg_gradcheck_input){.shape = TG_SHAPE(at->count), .data = at->x};
    return function->function;
}

tg_gradcheck_result right_function_check(int index, const tg_gradcheck_options *options)
{
    tg_gradcheck_input in;
    const tg_function function = right_function_at(index, &in);
    return tg_gradcheck(function, NULL, &in, 1, options);
}
