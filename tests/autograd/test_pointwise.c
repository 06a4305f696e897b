/* Elementwise operations against the C library and against their closed-form derivatives. */
#include "tests/support/tensors.h"

#include <math.h>

Suite *pointwise_suite(void);

static tg_tensor vector(tg_dtype dtype, int64_t count, const double *numbers)
{
    float narrow[64];
    for (int64_t i = 0; i < count && i < 64; i++)
        narrow[i] = (float)numbers[i];
    return tg_variable(tape, dtype, dtype == TG_F32 ? (const void *)narrow : numbers, TG_SHAPE(count));
}

#define VECTOR(...) vector(TG_F64, (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]){__VA_ARGS__})

/* Expects element i to be numbers[i], or NaN where that is NaN. */
static void assert_elements(tg_tensor x, int64_t count, const double *numbers)
{
    ck_assert_int_eq(tg_size(x), count);
    for (int64_t i = 0; i < count; i++)
        ck_assert_msg(isnan(numbers[i]) ? isnan(tg_at(x, i)) : tg_at(x, i) == numbers[i],
                      "element %d is %.17g, not %.17g", (int)i, tg_at(x, i), numbers[i]);
}

#define ASSERT_ELEMENTS(x, ...) \
    assert_elements(x, (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]){__VA_ARGS__})

/* The derivative of the sum of y. */
static tg_tensor slope(tg_tensor y, tg_tensor x)
{
    tg_tensor gradient;
    ck_assert_msg(tg_grad(&y, 1, &x, 1, NULL, true, &gradient), "%s", tg_tape_error(tape));
    return gradient;
}

/* ---- functions of one operand ---- */

static double square_of(double x)
{
    return x * x;
}
static double twice(double x)
{
    return 2 * x;
}
static double two(double x)
{
    return 2 + 0 * x;
}
static double root_slope(double x)
{
    return 0.5 / sqrt(x);
}
static double root_bend(double x)
{
    return -0.25 / (x * sqrt(x));
}
static double inverse_root(double x)
{
    return 1 / sqrt(x);
}
static double inverse_root_slope(double x)
{
    return -0.5 / (x * sqrt(x));
}
static double inverse_root_bend(double x)
{
    return 0.75 / (x * x * sqrt(x));
}
static double inverse(double x)
{
    return 1 / x;
}
static double inverse_slope(double x)
{
    return -1 / (x * x);
}
static double log1p_slope(double x)
{
    return 1 / (1 + x);
}
static double log1p_bend(double x)
{
    return -1 / ((1 + x) * (1 + x));
}
static double minus_sin(double x)
{
    return -sin(x);
}
static double minus_cos(double x)
{
    return -cos(x);
}
static double tanh_slope(double x)
{
    return 1 / (cosh(x) * cosh(x));
}
static double tanh_bend(double x)
{
    return -2 * tanh(x) * tanh_slope(x);
}
static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}
static double logistic_slope(double x)
{
    return 0.25 * tanh_slope(x / 2);
}
static double logistic_bend(double x)
{
    return 0.125 * tanh_bend(x / 2);
}
static double soft(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}
static double erf_slope(double x)
{
    return 2 / sqrt(acos(-1)) * exp(-x * x);
}
static double erf_bend(double x)
{
    return -2 * x * erf_slope(x);
}
static double erfc_slope(double x)
{
    return -erf_slope(x);
}
static double erfc_bend(double x)
{
    return -erf_bend(x);
}

static const struct {
    const char *name;
    tg_tensor (*operation)(tg_tensor x);
    double (*value)(double x), (*slope)(double x), (*bend)(double x);
    double low, high;
} functions[] = {
    {"square", tg_square, square_of, twice, two, -30, 30},
    {"sqrt", tg_sqrt, sqrt, root_slope, root_bend, 0.01, 900},
    {"rsqrt", tg_rsqrt, inverse_root, inverse_root_slope, inverse_root_bend, 0.01, 900},
    {"exp", tg_exp, exp, exp, exp, -60, 60},
    {"expm1", tg_expm1, expm1, exp, exp, -60, 60},
    {"log", tg_log, log, inverse, inverse_slope, 1e-4, 900},
    {"log1p", tg_log1p, log1p, log1p_slope, log1p_bend, -0.99, 900},
    {"sin", tg_sin, sin, cos, minus_sin, -90, 90},
    {"cos", tg_cos, cos, minus_sin, minus_cos, -90, 90},
    {"tanh", tg_tanh, tanh, tanh_slope, tanh_bend, -30, 30},
    {"sigmoid", tg_sigmoid, logistic, logistic_slope, logistic_bend, -60, 60},
    {"softplus", tg_softplus, soft, logistic, logistic_slope, -60, 60},
    {"erf", tg_erf, erf, erf_slope, erf_bend, -5, 5},
    {"erfc", tg_erfc, erfc, erfc_slope, erfc_bend, -5, 5},
};

/* Asserts a relative error, also in the tails. */
static void assert_near(const char *what, tg_tensor y, int64_t i, double x, double should_be)
{
    const double bound = (tg_dtype_of(y) == TG_F32 ? 2e-6 : 4e-14) * fabs(should_be);
    ck_assert_msg(fabs(tg_at(y, i) - should_be) <= bound + 1e-300, "%s at %.17g is %.17g, not %.17g", what, x,
                  tg_at(y, i), should_be);
}

START_TEST(values_and_two_derivatives_are_those_of_the_c_library)
{
    enum { POINTS = 61 };
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++)
        for (int precision = 0; precision < 2; precision++) {
            double points[POINTS];
            for (int i = 0; i < POINTS; i++) /* rounded to single precision first */
                points[i] = (float)(functions[f].low + (functions[f].high - functions[f].low) * (i + 0.5) / POINTS);
            tg_tensor x = vector(precision ? TG_F64 : TG_F32, POINTS, points);
            tg_tensor y = functions[f].operation(x), first = slope(y, x), second = slope(first, x);
            for (int i = 0; i < POINTS; i++) {
                assert_near(functions[f].name, y, i, points[i], functions[f].value(points[i]));
                if (precision == 0) /* differences of rounded numbers: the double run judges the derivatives */
                    continue;
                assert_near(functions[f].name, first, i, points[i], functions[f].slope(points[i]));
                assert_near(functions[f].name, second, i, points[i], functions[f].bend(points[i]));
            }
        }
}
END_TEST

/* ---- powers of two ---- */

/* Every elementwise operation of one operand; a number that it has is 1. */
#define TG_BINARY(...)
#define TG_BINARY_CONSTANT(...)
#define TG_UNARY(...)
#define TG_UNARY_SAVED(...)
#define TG_UNARY_CONSTANT(...)
#define TG_UNARY_WRITTEN_OUT(...)
#define TG_SMOOTH(...)
#define TG_QUADRATIC(...)
#define TG_UNARY_NUMBER(name, ...)              \
    static tg_tensor name##_by_one(tg_tensor x) \
    {                                           \
        return tg_##name(x, 1);                 \
    }
#define TG_UNARY_NUMBER_SAVED       TG_UNARY_NUMBER
#define TG_UNARY_NUMBER_WRITTEN_OUT TG_UNARY_NUMBER
#include "autograd/elementwise.def"

static const struct {
    const char *name;
    tg_tensor (*operation)(tg_tensor x);
} unary[] = {
#define TG_BINARY(...)
#define TG_BINARY_CONSTANT(...)
#define TG_UNARY(name, ...)         {#name, tg_##name},
#define TG_UNARY_SAVED              TG_UNARY
#define TG_UNARY_CONSTANT           TG_UNARY
#define TG_UNARY_WRITTEN_OUT        TG_UNARY
#define TG_UNARY_NUMBER(name, ...)  {#name, name##_by_one},
#define TG_UNARY_NUMBER_SAVED       TG_UNARY_NUMBER
#define TG_UNARY_NUMBER_WRITTEN_OUT TG_UNARY_NUMBER
#define TG_SMOOTH(name, ...)        TG_UNARY(name) TG_UNARY(name##_grad) TG_UNARY(name##_grad_grad)
#define TG_QUADRATIC(name)          TG_SMOOTH(name)
#include "autograd/elementwise.def"
};

/* All powers of two of a type and the numbers next to each. */
static int64_t powers_of_two(tg_dtype dtype, double *x)
{
    const bool wide = dtype == TG_F64;
    const int lowest = wide ? -1074 : -149, highest = wide ? 1023 : 127;
    int64_t count = 0;
    for (int power = lowest; power <= highest; power++)
        for (int sign = -1; sign <= 1; sign += 2)
            for (int side = -1; side <= 1; side++) {
                const double exact = ldexp(sign, power);
                x[count++] = !side  ? exact
                             : wide ? nextafter(exact, side * (double)INFINITY)
                                    : (double)nextafterf((float)exact, (float)side * INFINITY);
            }
    return count;
}

START_TEST(no_derivative_is_lost_at_a_power_of_two)
{
    enum { MOST = 6 * 2098 };
    static double numbers[MOST];
    static float narrow[MOST];
    for (int wide = 0; wide < 2; wide++) {
        const int64_t count = powers_of_two(wide ? TG_F64 : TG_F32, numbers);
        for (int64_t i = 0; i < count; i++)
            narrow[i] = wide ? 0 : (float)numbers[i];
        tg_tensor x = tg_variable(tape, wide ? TG_F64 : TG_F32, wide ? (const void *)numbers : narrow, TG_SHAPE(count));
        tg_tensor y = unary[_i].operation(x), first, second;
        ck_assert(tg_grad(&y, 1, &x, 1, NULL, true, &first));
        ck_assert(tg_grad(&first, 1, &x, 1, NULL, false, &second));
        for (int64_t i = 0; i < count; i++)
            ck_assert_msg(isnan(tg_at(y, i)) || (!isnan(tg_at(first, i)) && !isnan(tg_at(second, i))),
                          "%s at %a: %g, %g, %g", unary[_i].name, numbers[i], tg_at(y, i), tg_at(first, i),
                          tg_at(second, i));
    }
}
END_TEST

START_TEST(abs_and_sign_know_zero_and_nan)
{
    tg_tensor x = VECTOR(-2, -0.0, 0, 3, NAN, -INFINITY);
    ASSERT_ELEMENTS(tg_abs(x), 2, 0, 0, 3, NAN, INFINITY);
    ASSERT_ELEMENTS(tg_sign(x), -1, 0, 0, 1, NAN, -1);
    ASSERT_ELEMENTS(slope(tg_abs(x), x), -1, 0, 0, 1, NAN, -1);
}
END_TEST

/* ---- powers ---- */

START_TEST(powers_are_repeated_products)
{
    tg_tensor x = VECTOR(-3, -1, 0, 0.5, 2, 7);
    ASSERT_ELEMENTS(tg_power(x, 2), 9, 1, 0, 0.25, 4, 49);
    ASSERT_ELEMENTS(tg_power(x, 3), -27, -1, 0, 0.125, 8, 343);
    ASSERT_ELEMENTS(tg_power(x, -1), -1. / 3, -1, INFINITY, 2, 0.5, 1. / 7);
    ASSERT_ELEMENTS(tg_power(x, 0), 1, 1, 1, 1, 1, 1);
    ASSERT_ELEMENTS(slope(tg_power(x, 3), x), 27, 3, 0, 0.75, 12, 147);
    ASSERT_ELEMENTS(slope(tg_power(x, 0), x), 0, 0, 0, 0, 0, 0);
    ASSERT_ELEMENTS(slope(slope(slope(tg_power(x, 2), x), x), x), 0, 0, 0, 0, 0, 0);
}
END_TEST

START_TEST(pow_has_a_gradient_at_zero)
{
    tg_tensor a = VECTOR(0, 0, 0, 2, -2), b = VECTOR(0, 1, 2, 3, 2);
    tg_tensor y = tg_pow(a, b), inputs[] = {a, b}, gradients[2];
    ASSERT_ELEMENTS(y, 1, 0, 0, 8, 4);
    ck_assert(tg_grad(&y, 1, inputs, 2, NULL, false, gradients));
    ASSERT_ELEMENTS(gradients[0], 0, 1, 0, 12, -4);
    ASSERT_ELEMENTS(gradients[1], 0, 0, 0, 8 * log(2), NAN);
}
END_TEST

/* ---- comparisons and choices ---- */

START_TEST(comparisons_give_one_or_zero_and_nan_equals_nothing)
{
    tg_tensor a = VECTOR(1, 2, 3, NAN, INFINITY), b = VECTOR(2, 2, 2, NAN, INFINITY);
    ASSERT_ELEMENTS(tg_less(a, b), 1, 0, 0, 0, 0);
    ASSERT_ELEMENTS(tg_less_equal(a, b), 1, 1, 0, 0, 1);
    ASSERT_ELEMENTS(tg_greater(a, b), 0, 0, 1, 0, 0);
    ASSERT_ELEMENTS(tg_greater_equal(a, b), 0, 1, 1, 0, 1);
    ASSERT_ELEMENTS(tg_equal(a, b), 0, 1, 0, 0, 1);
    ASSERT_ELEMENTS(tg_not_equal(a, b), 1, 0, 1, 1, 0);
}
END_TEST

START_TEST(maximum_and_minimum_let_nan_through_and_share_ties)
{
    tg_tensor a = VECTOR(1, 2, 3, NAN, 5), b = VECTOR(2, 2, 2, 4, NAN), inputs[] = {a, b}, g[2];
    tg_tensor larger = tg_maximum(a, b), smaller = tg_minimum(a, b);
    ASSERT_ELEMENTS(larger, 2, 2, 3, NAN, NAN);
    ASSERT_ELEMENTS(smaller, 1, 2, 2, NAN, NAN);
    ck_assert(tg_grad(&larger, 1, inputs, 2, NULL, false, g));
    ASSERT_ELEMENTS(g[0], 0, 0.5, 1, 0, 0);
    ASSERT_ELEMENTS(g[1], 1, 0.5, 0, 0, 0);
    ck_assert(tg_grad(&smaller, 1, inputs, 2, NULL, false, g));
    ASSERT_ELEMENTS(g[0], 1, 0.5, 0, 0, 0);
    ASSERT_ELEMENTS(g[1], 0, 0.5, 1, 0, 0);
}
END_TEST

START_TEST(clamp_passes_gradients_between_and_at_its_limits)
{
    tg_tensor x = VECTOR(-3, -1, 0, 2, 5, NAN, INFINITY);
    ASSERT_ELEMENTS(tg_clamp(x, -1, 2), -1, -1, 0, 2, 2, NAN, 2);
    ASSERT_ELEMENTS(slope(tg_clamp(x, -1, 2), x), 0, 1, 1, 1, 0, 0, 0);
    ck_assert(!tg_ok(tg_clamp(x, 2, 1)));
    expect_error("clamp(f64[7]): expected low <= high, not 2 and 1");
    ck_assert(!tg_ok(tg_clamp(x, NAN, 1)));
    expect_error("expected low <= high");
}
END_TEST

/* As in PyTorch. Logarithm and root have an infinite derivative at 0, which 0 times would make NaN. */
START_TEST(nothing_passes_where_a_function_is_flat_even_of_an_infinite_cotangent)
{
    tg_tensor x = VECTOR(-5, -4, 1, 6), zero = VECTOR(0);
    ASSERT_ELEMENTS(slope(tg_sqrt(tg_clamp(x, 0, 4)), x), 0, 0, 0.5, 0);
    ASSERT_ELEMENTS(slope(tg_sqrt(tg_maximum(x, zero)), x), 0, 0, 0.5, 0.5 / sqrt(6));
    ASSERT_ELEMENTS(slope(tg_sqrt(tg_maximum(zero, x)), x), 0, 0, 0.5, 0.5 / sqrt(6));
    ASSERT_ELEMENTS(slope(tg_sqrt(tg_neg(tg_minimum(x, zero))), x), -0.5 / sqrt(5), -0.25, 0, 0);
    ASSERT_ELEMENTS(slope(tg_log(tg_hardsigmoid(x)), x), 0, 0, 0.25, 0);
    ASSERT_ELEMENTS(slope(slope(tg_sqrt(tg_clamp(x, 0, 4)), x), x), 0, 0, -0.25, 0);
    ASSERT_ELEMENTS(slope(slope(tg_log(tg_hardsigmoid(x)), x), x), 0, 0, -0.0625, 0);
}
END_TEST

START_TEST(where_gives_each_side_the_cotangent_it_chose)
{
    /* The infinities that are not chosen must not make the gradient NaN. */
    tg_tensor condition = tg_constant(tape, TG_F64, (double[]){1, 0, -2, 0}, TG_SHAPE(4));
    tg_tensor a = VECTOR(1, -INFINITY, 3, 4), b = VECTOR(NAN, 6, 7, 8), inputs[] = {a, b}, g[2];
    tg_tensor chosen = tg_where(condition, a, b), y = tg_mul(chosen, chosen);
    ASSERT_ELEMENTS(chosen, 1, 6, 3, 8);
    ck_assert(tg_grad(&y, 1, inputs, 2, NULL, false, g));
    ASSERT_ELEMENTS(g[0], 2, 0, 6, 0);
    ASSERT_ELEMENTS(g[1], 0, 12, 0, 16);
}
END_TEST

START_TEST(where_broadcasts_all_three)
{
    tg_tensor condition = tg_constant(tape, TG_F32, (float[]){1, 0}, TG_SHAPE(2, 1));
    tg_tensor x = counted(TG_F32, TG_SHAPE(3)), zero = tg_full(tape, TG_F32, TG_SCALAR, -1);
    ASSERT_ELEMENTS(tg_where(condition, x, zero), 0, 1, 2, -1, -1, -1);
    ASSERT_ELEMENTS(tg_where(condition, zero, x), -1, -1, -1, 0, 1, 2);
    tg_tensor sum = tg_where(condition, x, x);
    ASSERT_ELEMENTS(slope(sum, x), 2, 2, 2);
}
END_TEST

Suite *pointwise_suite(void)
{
    Suite *suite = suite_create("pointwise");
    TCase *tests = tcase_create("pointwise");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, values_and_two_derivatives_are_those_of_the_c_library);
    tcase_add_loop_test(tests, no_derivative_is_lost_at_a_power_of_two, 0, sizeof unary / sizeof unary[0]);
    tcase_add_test(tests, abs_and_sign_know_zero_and_nan);
    tcase_add_test(tests, powers_are_repeated_products);
    tcase_add_test(tests, pow_has_a_gradient_at_zero);
    tcase_add_test(tests, comparisons_give_one_or_zero_and_nan_equals_nothing);
    tcase_add_test(tests, maximum_and_minimum_let_nan_through_and_share_ties);
    tcase_add_test(tests, clamp_passes_gradients_between_and_at_its_limits);
    tcase_add_test(tests, nothing_passes_where_a_function_is_flat_even_of_an_infinite_cotangent);
    tcase_add_test(tests, where_gives_each_side_the_cotangent_it_chose);
    tcase_add_test(tests, where_broadcasts_all_three);
    suite_add_tcase(suite, tests);
    return suite;
}
