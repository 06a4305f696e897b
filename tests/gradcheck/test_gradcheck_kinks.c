/* The gradient checker at kinks, and at orders above the first. */
#include <check.h>
#include <math.h>
#include <string.h>
#include <tapegrad.h>

Suite *gradcheck_kinks_suite(void);

static void assert_says(const tg_gradcheck_result *result, const char *part)
{
    ck_assert_msg(strstr(result->why, part) != NULL, "'%s' is not in: %s", part, result->why);
}

static tg_tensor apply_unary(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)tape, (void)count;
    return tg_apply(user, NULL, 1, in);
}

/* ---- kinks ---- */

static void assert_kinks_pass(const tg_op *op, const double *at, int64_t count, int order)
{
    const tg_gradcheck_input in = {.shape = TG_SHAPE(count), .data = at};
    tg_op copy = *op;
    tg_gradcheck_result result = tg_gradcheck(apply_unary, &copy, &in, 1, &(tg_gradcheck_options){.order = order});
    ck_assert_msg(result.passed, "%s: %s", op->name, result.why);
    ck_assert_int_gt(result.kinks, op == &tg_op_abs ? -1 : 0); /* the mean of both sides is the central difference */
}

START_TEST(points_on_and_near_a_kink_are_judged_by_one_sided_differences)
{
    static const double at[] = {0, -0.0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-7, -1e-7, 1e-5, -1e-5, 1e-3, -1e-3, 1, -1};
    static const double hard[] = {3, -3, 3 + 1e-10, 3 - 1e-10, -3 + 1e-10, -3 - 1e-10, 2, -2};
    for (int order = 1; order <= 2; order++) {
        assert_kinks_pass(&tg_op_relu, at, 14, order);
        assert_kinks_pass(&tg_op_abs, at, 14, order);
        assert_kinks_pass(&tg_op_hardsigmoid, hard, 8, order);
    }
    assert_kinks_pass(&tg_op_hardswish, hard, 8, 2);
}
END_TEST

/* At a kink, a derivative that equals neither side and does not lie between them is wrong. */
static void outside_derivative(const tg_derive *d)
{
    tg_tensor zero = tg_full(tg_tape_of(d->cotangent), TG_F64, TG_SCALAR, 0);
    tg_tensor right = tg_add(tg_greater(d->in[0], zero), tg_mul_scalar(tg_equal(d->in[0], zero), -0.001));
    d->gradient[0] = tg_mul(d->cotangent, right);
}

static tg_tensor sum_of(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)tape, (void)count;
    const int which = *(const int *)user;
    return tg_sum(which == 0   ? tg_relu(in[0])
                  : which == 1 ? tg_elu(in[0], 0.5)
                  : which == 2 ? tg_leaky_relu(in[0], 0.01)
                               : tg_sub(tg_relu(in[0]), tg_square(in[0])));
}

/* Along a direction of many elements its kink is a small part of the slopes; and of their changes, where the others are
 * curved, the same way or the other. */
START_TEST(a_zero_among_many_elements_is_not_called_wrong)
{
    enum { MOST = 320, SEEDS = 104 };
    double x[MOST];
    int passed = 0, all = 0;
    for (int size = 20; size <= MOST; size *= 4)
        for (int seed = 0; seed < SEEDS; seed++, all++) {
            tg_rng rng = tg_rng_seed((uint64_t)seed);
            for (int i = 0; i < size; i++)
                x[i] = i == seed % size ? 0 : tg_rng_normal(&rng);
            const tg_gradcheck_input in = {.shape = TG_SHAPE(size), .data = x};
            int which = seed % 4;
            const tg_gradcheck_result result =
                tg_gradcheck(sum_of, &which, &in, 1, &(tg_gradcheck_options){.seed = (uint64_t)seed});
            ck_assert_msg(result.passed || result.status == TG_GRADCHECK_CANNOT_TELL, "%d, seed %d: %s", size, seed,
                          result.why);
            passed += result.passed;
        }
    ck_assert_int_gt(10 * passed, 9 * all);
}
END_TEST

/* (exp(x) - 1) / x, whose derivative at 0, where it is 1/2, is given as 1/4. */
static bool quotient(const void *const *in, void *const *out, void *user)
{
    const double x = *(const double *)in[0];
    (void)user;
    *(double *)out[0] = x == 0 ? 1 : (exp(x) - 1) / x;
    return true;
}

static bool quotient_vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    const double x = *(const double *)in[0], slope = x == 0 ? 0.25 : (exp(x) * x - expm1(x)) / (x * x);
    (void)user;
    *(double *)gradients[0] = *(const double *)cotangents[0] * slope;
    return true;
}

/* Beside 0 the rounding of the difference makes the slopes of both sides differ. */
START_TEST(the_noise_of_a_quotient_is_no_kink)
{
    const double x = 0;
    const tg_gradcheck_input in = {.data = &x};
    const tg_black_box box = {.value = quotient, .vjp = quotient_vjp};
    for (int seed = 0; seed < 50; seed++) {
        const tg_gradcheck_result result =
            tg_gradcheck_function(&box, &in, 1, &(tg_gradcheck_options){.seed = (uint64_t)seed});
        ck_assert_msg(result.status == TG_GRADCHECK_WRONG, "seed %d: %s", seed, result.why);
    }
}
END_TEST

START_TEST(a_slope_outside_those_of_the_two_sides_is_wrong)
{
    static const double at[] = {1, 0, -1};
    tg_op op = tg_op_relu;
    op.derivative = outside_derivative;
    const tg_gradcheck_input in = {.shape = TG_SHAPE(3), .data = at};
    tg_gradcheck_result result = tg_gradcheck(apply_unary, &op, &in, 1, NULL);
    ck_assert_int_eq(result.status, TG_GRADCHECK_WRONG);
    ck_assert_int_eq(result.index, 1);
    ck_assert_int_gt(result.kinks, 0);
    assert_says(&result, "the nearest of the slopes around it");
}
END_TEST

/* |x| = sqrt(sum x^2) of `count` numbers. At 0, the tip of a cone, any vector of at most unit length is right; the first
 * unit vector, times a factor, is on the edge of these. */
typedef struct cone {
    int count;
    double factor;
} cone;

static bool length_of(const void *const *in, void *const *out, void *user)
{
    const cone *of = user;
    const double *x = in[0];
    double sum = 0;
    for (int i = 0; i < of->count; i++)
        sum += x[i] * x[i];
    *(double *)out[0] = sqrt(sum);
    return true;
}

static bool length_vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    const cone *of = user;
    const double *x = in[0], v = *(const double *)cotangents[0];
    double length, *gradient = gradients[0];
    length_of(in, (void *[]){&length}, user);
    for (int i = 0; i < of->count; i++)
        gradient[i] = length > 0 ? v * x[i] / length : v * (i == 0 ? of->factor : 0);
    return true;
}

START_TEST(the_steepest_slope_at_the_tip_of_a_cone_is_right)
{
    static const int counts[] = {2, 3, 7, 16};
    static const double tip[16] = {0};
    for (int k = 0; k < 40; k++) {
        cone of = {counts[k % 4], k < 20 ? 1 : 1.01};
        const tg_black_box box = {.value = length_of, .vjp = length_vjp, .user = &of};
        const tg_gradcheck_input in = {.shape = TG_SHAPE(of.count), .data = tip};
        tg_gradcheck_result result = tg_gradcheck_function(&box, &in, 1, &(tg_gradcheck_options){.seed = (uint64_t)k});
        ck_assert_msg(result.status == (k < 20 ? TG_GRADCHECK_PASSED : TG_GRADCHECK_WRONG), "%d numbers, %g: %s",
                      of.count, of.factor, result.why);
    }
}
END_TEST

/* ---- ties within a function of several operations ---- */

/* relu(x) - relu(-x) = x, whose derivative at 0 is 0 by those of its operations. */
static tg_tensor of_two_sides(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)tape, (void)count, (void)user;
    return tg_sub(tg_relu(*in), tg_relu(tg_neg(*in)));
}

typedef struct bent_tie {
    double bend, part;
} bent_tie;

/* exp(bend ((1 + part) max(w x) - part max(w x'))), where w is the first number, x the others and x' these in another
 * order. Where w is 0, both maxima tie and take the derivative by the first element, so that theirs is
 * x_1 + part (x_1 - x_3), outside of the slopes around. */
static tg_tensor of_a_tie(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    const bent_tie *of = user;
    (void)tape, (void)count;
    const tg_tensor w = tg_narrow(*in, 0, 0, 1), x = tg_narrow(*in, 0, 1, 3),
                    turned = tg_concat((tg_tensor[]){tg_narrow(x, 0, 2, 1), tg_narrow(x, 0, 0, 2)}, 2, 0),
                    largest = tg_max_over(tg_mul(w, x), TG_ALL_AXES, false),
                    other = tg_max_over(tg_mul(w, turned), TG_ALL_AXES, false),
                    inner = tg_sub(tg_mul_scalar(largest, 1 + of->part), tg_mul_scalar(other, of->part));
    return tg_exp(tg_mul_scalar(inner, of->bend));
}

START_TEST(a_tie_within_a_function_is_not_called_wrong_where_zeros_are_put_in)
{
    static const double at[] = {0.5, -0.7, 1.2, 0.3};
    static bent_tie ties[] = {{1, 1}, {30, 1}, {600, 1}, {700, 1}, {800, 1}, {900, 1}, {1, 0.03}, {1, 1e-4}};
    const tg_gradcheck_input in = {.shape = TG_SHAPE(4), .data = at};
    for (uint64_t seed = 0; seed < 5; seed++)
        for (size_t i = 0; i < sizeof ties / sizeof ties[0]; i++) {
            const tg_gradcheck_options options = {.seed = seed};
            tg_gradcheck_result v = tg_gradcheck(of_two_sides, NULL, &in, 1, &options);
            ck_assert_msg(v.passed, "%s", v.why);
            v = tg_gradcheck(of_a_tie, &ties[i], &in, 1, &options);
            ck_assert_msg(v.passed, "bend %g, part %g, seed %d: %s", ties[i].bend, ties[i].part, (int)seed, v.why);
        }
}
END_TEST

/* x, with a derivative that is a tenth too large near 0, and at no given number. */
static tg_tensor wrong_near_zero(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)count, (void)user;
    const tg_tensor near = tg_greater(tg_full(tape, TG_F64, TG_SCALAR, 1e-3), tg_abs(*in)),
                    part = tg_mul_scalar(tg_mul(*in, near), 0.1);
    return tg_add(*in, tg_sub(part, tg_stop_gradient(part)));
}

START_TEST(a_composed_function_that_is_wrong_around_a_zero_is_caught_there)
{
    static const double at[] = {0.5, -0.7, 1.2, 0.3};
    const tg_gradcheck_input in = {.shape = TG_SHAPE(4), .data = at};
    for (uint64_t seed = 0; seed < 3; seed++) {
        tg_gradcheck_result v = tg_gradcheck(wrong_near_zero, NULL, &in, 1, &(tg_gradcheck_options){.seed = seed});
        ck_assert_msg(v.status == TG_GRADCHECK_WRONG, "%s", v.why);
        assert_says(&v, "with zeros put in");
    }
}
END_TEST

/* f(x) with its derivative multiplied by a factor for each element. */
enum { MANY = 4096 };

typedef struct falsified {
    tg_tensor (*f)(tg_tensor x);
    double factor[MANY];
} falsified;

static tg_tensor falsify(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    const falsified *wrong = user;
    (void)count;
    tg_tensor y = wrong->f(*in), part = tg_mul(y, tg_constant(tape, TG_F64, wrong->factor, tg_shape_of(y)));
    return tg_add(tg_stop_gradient(tg_sub(y, part)), part);
}

/* Counts how many of five seeds pass. The point is `at`, or `number` normal numbers. The factor belongs to one element,
 * or with index -1 to all. */
static int passes(tg_tensor (*f)(tg_tensor x), const double *at, int number, int index, double factor)
{
    static falsified wrong;
    static double x[MANY];
    int passed = 0;
    wrong.f = f;
    for (int i = 0; i < number; i++)
        wrong.factor[i] = index < 0 || i == index ? factor : 1;
    for (uint64_t seed = 0; seed < 5; seed++) {
        tg_rng rng = tg_rng_seed(seed);
        for (int i = 0; i < number; i++)
            x[i] = at ? at[i] : i == index ? 1.5 : tg_rng_normal(&rng);
        const tg_gradcheck_input in = {.shape = TG_SHAPE(number), .data = x};
        passed += tg_gradcheck(falsify, &wrong, &in, 1, &(tg_gradcheck_options){.seed = seed}).passed;
    }
    return passed;
}

/* Large steps reach across a kink on both sides and agree there, with the least rounding; smaller steps contradict
 * them. */
START_TEST(a_wrong_derivative_is_found_beside_a_kink_that_only_large_steps_reach)
{
    static const double near[] = {0.01, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5};
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++)
        for (int half = 0; half < 2; half++) {
            const double at[] = {near[i], 1.2, -2.3};
            ck_assert_msg(passes(tg_relu, at, 3, 0, 0.3 * half) == 0, "derivative %g at %g", 0.3 * half, near[i]);
        }
    ck_assert_int_eq(passes(tg_relu, NULL, 1024, 0, 0), 0);
    ck_assert_int_eq(passes(tg_relu, NULL, 512, -1, 1.01), 0);
    ck_assert_int_eq(passes(tg_relu, NULL, MANY, -1, 1.1), 0);
    ck_assert_int_eq(passes(tg_abs, NULL, MANY, -1, 0.5), 0);
    ck_assert_int_eq(passes(tg_abs, NULL, MANY, -1, -1), 0);
    ck_assert_int_eq(passes(tg_relu, NULL, 1024, 0, 1), 5);
    ck_assert_int_eq(passes(tg_abs, NULL, MANY, -1, 1), 5);
}
END_TEST

/* ---- joints, where a slope bends but does not jump ---- */

static double off;

static tg_tensor off_at_zero(tg_tensor x)
{
    tg_tape *tape = tg_tape_of(x);
    tg_tensor zero = tg_full(tape, tg_dtype_of(x), TG_SCALAR, 0);
    return tg_where(tg_equal(x, zero), tg_full(tape, tg_dtype_of(x), TG_SCALAR, off), zero);
}

static void relu_squared_derivative(const tg_derive *d)
{
    tg_op_relu_squared.derivative(d);
    d->gradient[0] = tg_add(d->gradient[0], tg_mul(d->cotangent, off_at_zero(d->in[0])));
}

/* With these numbers the kink lies at 8/9 of a step of the table, where two extrapolations agree on a wrong slope. */
START_TEST(a_kink_at_eight_ninths_of_a_step_is_no_agreement)
{
    const tg_gradcheck_result found = tg_gradcheck_op(tg_op_find("l1"), &(tg_gradcheck_options){.seed = 10211});
    ck_assert_msg(found.passed, "%s", found.why);
}
END_TEST

START_TEST(at_the_joint_of_a_squared_relu_only_its_derivative_is_right)
{
    for (off = 1e-5; off < 1e4; off *= 10)
        for (int seed = 0; seed < 5; seed++) {
            tg_op op = tg_op_relu_squared;
            op.derivative = relu_squared_derivative;
            tg_gradcheck_result result = tg_gradcheck_op(&op, &(tg_gradcheck_options){.seed = (uint64_t)seed});
            ck_assert_msg(result.status == TG_GRADCHECK_WRONG, "off by %g: %s", off, result.why);
        }
}
END_TEST

enum { SIGNED_SQUARE, RELU_POWER, HINGE, STEPS, HALF_LINE, JOINTS };

static double joint_value(int which, double x)
{
    return which == SIGNED_SQUARE ? x * fabs(x)
           : which == RELU_POWER  ? pow(fmax(x, 0), 1.5)
           : which == HINGE       ? fmax(0, -x) * fmax(0, -x)
           : which == STEPS       ? floor(x)
                                  : fmax(x - 5, 0);
}

static bool joint(const void *const *in, void *const *out, void *user)
{
    for (int i = 0; i < 2; i++)
        ((double *)out[0])[i] = joint_value(*(const int *)user, ((const double *)in[0])[i]);
    return true;
}

/* Right but at 0, where the derivative of all of these is 0. */
static bool joint_vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    const int which = *(const int *)user;
    for (int i = 0; i < 2; i++) {
        const double x = ((const double *)in[0])[i], slope = which == SIGNED_SQUARE ? 2 * fabs(x)
                                                             : which == RELU_POWER  ? 1.5 * sqrt(fmax(x, 0))
                                                             : which == HINGE       ? -2 * fmax(0, -x)
                                                             : which == STEPS       ? 0
                                                                                    : x > 5;
        ((double *)gradients[0])[i] = ((const double *)cotangents[0])[i] * (slope + (x == 0 ? off : 0));
    }
    return true;
}

START_TEST(at_a_joint_a_step_or_where_nothing_changes_only_zero_is_right)
{
    static const double errors[] = {0, 1e-3, -0.5, 1, 1000};
    const double x[] = {0, 1.2};
    const tg_shape two = TG_SHAPE(2);
    for (int which = 0; which < JOINTS; which++)
        for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
            const tg_black_box box = {
                .outputs = &two, .output_count = 1, .value = joint, .vjp = joint_vjp, .user = &which};
            off = errors[i];
            tg_gradcheck_result result =
                tg_gradcheck_function(&box, &(tg_gradcheck_input){.shape = two, .data = x}, 1, NULL);
            ck_assert_msg(result.status == (off == 0 ? TG_GRADCHECK_PASSED : TG_GRADCHECK_WRONG), "%d, off by %g: %s",
                          which, off, result.why);
        }
}
END_TEST

/* ---- order by order ---- */

/* The second derivative of sin, itself constant: so sin is wrong from its third derivative on. */
static void second_sine_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_neg(tg_stop_gradient(tg_sin(d->in[0]))));
}

static tg_op second_cosine;

static void first_sine_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_apply(&second_cosine, NULL, 1, d->in));
}

START_TEST(a_fault_in_the_third_order_is_found_in_the_third_order)
{
    second_cosine = tg_op_cos;
    second_cosine.derivative = second_sine_derivative;
    tg_op sine = tg_op_sin;
    sine.derivative = first_sine_derivative;
    ck_assert(tg_gradcheck_op(&sine, &(tg_gradcheck_options){.order = 2}).passed);
    tg_gradcheck_result result = tg_gradcheck_op(&sine, &(tg_gradcheck_options){.order = 3});
    ck_assert_int_eq(result.status, TG_GRADCHECK_WRONG);
    ck_assert_int_eq(result.order, 3);
}
END_TEST

START_TEST(activations_are_right_to_third_order)
{
    static const tg_op *const activations[] = {
        &tg_op_gelu_exact, &tg_op_gelu_tanh, &tg_op_gelu_quick, &tg_op_silu,    &tg_op_mish, &tg_op_elu,
        &tg_op_selu,       &tg_op_softplus,  &tg_op_tanh,       &tg_op_sigmoid, &tg_op_relu, &tg_op_hardswish};
    for (size_t i = 0; i < sizeof activations / sizeof activations[0]; i++) {
        tg_gradcheck_result result = tg_gradcheck_op(activations[i], &(tg_gradcheck_options){.order = 3});
        ck_assert_msg(result.passed, "%s", result.why);
    }
}
END_TEST

Suite *gradcheck_kinks_suite(void)
{
    Suite *suite = suite_create("gradcheck_kinks");
    TCase *tests = tcase_create("gradcheck_kinks");
    tcase_add_test(tests, points_on_and_near_a_kink_are_judged_by_one_sided_differences);
    tcase_add_test(tests, a_zero_among_many_elements_is_not_called_wrong);
    tcase_add_test(tests, the_noise_of_a_quotient_is_no_kink);
    tcase_add_test(tests, a_wrong_derivative_is_found_beside_a_kink_that_only_large_steps_reach);
    tcase_add_test(tests, a_slope_outside_those_of_the_two_sides_is_wrong);
    tcase_add_test(tests, the_steepest_slope_at_the_tip_of_a_cone_is_right);
    tcase_add_test(tests, a_tie_within_a_function_is_not_called_wrong_where_zeros_are_put_in);
    tcase_add_test(tests, a_composed_function_that_is_wrong_around_a_zero_is_caught_there);
    tcase_add_test(tests, a_kink_at_eight_ninths_of_a_step_is_no_agreement);
    tcase_add_test(tests, at_the_joint_of_a_squared_relu_only_its_derivative_is_right);
    tcase_add_test(tests, at_a_joint_a_step_or_where_nothing_changes_only_zero_is_right);
    tcase_add_test(tests, a_fault_in_the_third_order_is_found_in_the_third_order);
    tcase_add_test(tests, activations_are_right_to_third_order);
    suite_add_tcase(suite, tests);
    return suite;
}
