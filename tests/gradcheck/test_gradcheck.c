/* The gradient checker finds wrong derivatives, and reports which one is wrong and why. */
#include "tests/support/seeds.h"
#include "tests/support/wrapped_memory.h"
#include "tests/gradcheck/wrong_ops.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *gradcheck_suite(void);

/* One configuration for right and wrong operations alike. */
static tg_gradcheck_options options_of(uint64_t seed)
{
    return (tg_gradcheck_options){.order = 2, .seed = seed};
}

static void assert_says(const tg_gradcheck_result *result, const char *part)
{
    ck_assert_msg(strstr(result->why, part) != NULL, "'%s' is not in: %s", part, result->why);
}

/* ---- wrong ones are caught ---- */

/* Errors below a millionth of the derivative, which is what the checker promises: tests/accuracy is for these. */
static bool is_below_the_promise(const char *fault)
{
    static const char *const faults[] = {"a gradient rounded to single precision",
                                         "pseudo-random errors of 1e-7 in 100 elements",
                                         "pseudo-random errors of 1e-10 in 100 elements",
                                         "off by 1e-9 relative",
                                         "off by 1e-11 relative",
                                         "off by 1e-9 relative at 1e90",
                                         "off by 1e-8 where the first is the larger",
                                         "1e-10 of another cotangent mixed in",
                                         "rounding of a sum made large",
                                         "cosine off by 1e-9",
                                         "log with an epsilon of 1e-12"};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (strcmp(fault, faults[i]) == 0)
            return true;
    return false;
}

START_TEST(every_wrong_operation_is_caught)
{
    wrong_op wrong = wrong_op_at(_i);
    const int first = today(20), end = is_below_the_promise(wrong.fault) ? first : first + seeds(1, 20);
    for (int seed = first; seed < end; seed++) {
        tg_gradcheck_options options = options_of((uint64_t)seed);
        options.double_only = wrong.double_only;
        tg_gradcheck_result result = tg_gradcheck_op(&wrong.op, &options);
        ck_assert_msg(!result.passed, "seed %d: not caught: %s", seed, wrong.fault);
        ck_assert_int_ne(result.status, TG_GRADCHECK_REFUSED);
        ck_assert_int_ne(result.status, TG_GRADCHECK_CANNOT_TELL);
        ck_assert(strstr(result.why, wrong.op.name) == result.why);
    }
}
END_TEST

static struct {
    const tg_op *of;
    int input;
    bool given;
} scaled;

static void scaled_derivative(const tg_derive *d)
{
    scaled.of->derivative(d);
    if (scaled.input >= d->count || !tg_ok(d->gradient[scaled.input]))
        return;
    d->gradient[scaled.input] = tg_mul_scalar(d->gradient[scaled.input], 1 + 2e-6);
    scaled.given = true;
}

/* Of every third operation, others each day, or of all. */
START_TEST(a_gradient_off_by_two_millionths_is_caught_in_every_input_of_every_operation)
{
    for (int i = today(3); tg_op_at(i); i += every(3))
        for (int input = 0; input < (tg_op_at(i)->arity < 0 ? TG_SAMPLE_INPUTS : tg_op_at(i)->arity); input++) {
            tg_op op = *tg_op_at(i);
            if (op.flags & (TG_CONSTANT | TG_SOURCE))
                continue;
            scaled.of = tg_op_at(i);
            scaled.input = input;
            scaled.given = false;
            op.derivative = scaled_derivative;
            bool passed = tg_gradcheck_op(&op, NULL).passed;
            ck_assert_msg(!scaled.given || !passed, "not seen: %s, input %d", op.name, input);
        }
}
END_TEST

START_TEST(three_of_four_derivatives_are_known_to_a_millionth)
{
    int64_t comparisons = 0, sharp = 0;
    for (int i = 0; tg_op_at(i); i++) {
        if (tg_op_at(i)->flags & (TG_CONSTANT | TG_SOURCE))
            continue;
        tg_gradcheck_result result = tg_gradcheck_op(tg_op_at(i), &(tg_gradcheck_options){.seed = 3});
        ck_assert_msg(result.passed, "%s", result.why);
        comparisons += result.comparisons;
        sharp += result.sharp;
    }
    ck_assert_msg(4 * sharp > 3 * comparisons, "%lld of %lld", (long long)sharp, (long long)comparisons);
}
END_TEST

/* ---- functions under check ---- */

static tg_tensor product_of_tanh(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)tape, (void)count, (void)user;
    return tg_mul(in[0], tg_tanh(in[1]));
}

static const double three[] = {0.5, -1.25, 2}, six[] = {0.1, 0.2, -0.3, 0.4, 0.5, -0.6};

START_TEST(a_function_of_several_inputs_is_checked)
{
    const tg_gradcheck_input in[] = {{.name = "a", .shape = TG_SHAPE(3), .data = three},
                                     {.name = "b", .shape = TG_SHAPE(2, 3), .data = six}};
    tg_gradcheck_result result = tg_gradcheck(product_of_tanh, NULL, in, 2, &(tg_gradcheck_options){.order = 3});
    ck_assert_msg(result.passed, "%s", result.why);
    ck_assert_int_ge(result.comparisons, 3 * 9);
    ck_assert_double_lt(result.relative, 1e-9);
    assert_says(&result, " derivatives agree");
}
END_TEST

/* x^2, but the gradient of element [1, 2] of a [2, 3] is 7 instead of 2 x. */
static void wrong_element_derivative(const tg_derive *d)
{
    static const double slope[] = {0, 0, 0, 0, 0, 1};
    tg_tensor here = tg_constant(tg_tape_of(d->cotangent), TG_F64, slope, TG_SHAPE(2, 3));
    tg_tensor right = tg_mul_scalar(d->in[0], 2), seven = tg_full(tg_tape_of(d->cotangent), TG_F64, TG_SCALAR, 7);
    d->gradient[0] = tg_mul(d->cotangent, tg_where(here, seven, right));
}

static tg_op wrong_element(void)
{
    tg_op op = tg_op_square;
    op.name = "square_but_one";
    op.derivative = wrong_element_derivative;
    return op;
}

static tg_tensor sum_of_wrong_element(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)tape, (void)count;
    tg_op *op = user;
    tg_scope_begin(tape, "layers.0");
    tg_tensor y = tg_apply(op, NULL, 1, &in[1]);
    tg_scope_end(tape);
    return tg_mul(tg_tanh(in[0]), tg_sum(y));
}

START_TEST(a_result_names_input_index_and_both_values)
{
    tg_op op = wrong_element();
    const double scalar[] = {0.5};
    const tg_gradcheck_input in[] = {{.name = "a", .shape = TG_SHAPE(1), .data = scalar},
                                     {.name = "b", .shape = TG_SHAPE(2, 3), .data = six}};
    tg_gradcheck_result result = tg_gradcheck(sum_of_wrong_element, &op, in, 2, NULL);
    ck_assert(!result.passed);
    ck_assert_int_eq(result.status, TG_GRADCHECK_WRONG);
    ck_assert_int_eq(result.order, 1);
    ck_assert_int_eq(result.input, 1);
    ck_assert_int_eq(result.index, 5);
    ck_assert_double_eq_tol(result.analytic / result.numeric, 7 / (2 * six[5]), 1e-9);
    ck_assert_double_eq_tol(result.error, fabs(result.analytic - result.numeric), 1e-9);
    ck_assert_double_lt(result.bound, 1e-6);
    ck_assert_str_eq(result.where, "b at [1, 2], order 1");
    assert_says(&result, "the function, b at [1, 2], order 1, where it is -0.6: the derivative gives");
}
END_TEST

static tg_tensor leaves_the_tape(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)tape, (void)count, (void)user;
    return tg_mul(in[0], tg_stop_gradient(in[0]));
}

START_TEST(a_value_that_passes_by_the_tape_is_caught)
{
    const tg_gradcheck_input in = {.shape = TG_SHAPE(3), .data = three};
    tg_gradcheck_result result = tg_gradcheck(leaves_the_tape, NULL, &in, 1, NULL);
    ck_assert_int_eq(result.status, TG_GRADCHECK_WRONG);
    assert_says(&result, "it is half as large");
}
END_TEST

START_TEST(in_a_large_input_the_wrong_element_is_found)
{
    tg_gradcheck_result result = tg_gradcheck_op(&wrong_one_in_a_hundred, NULL);
    ck_assert_int_eq(result.status, TG_GRADCHECK_WRONG);
    ck_assert_int_eq(result.index, 70);
    ck_assert_double_eq_tol(result.analytic / result.numeric, 1.001, 1e-9);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_result)
{
    tg_gradcheck_options options = options_of(7), other = options_of(8);
    tg_gradcheck_result first = tg_gradcheck_op(&tg_op_gelu_exact, &options);
    tg_gradcheck_result second = tg_gradcheck_op(&tg_op_gelu_exact, &options);
    tg_gradcheck_result third = tg_gradcheck_op(&tg_op_gelu_exact, &other);
    ck_assert_str_eq(first.why, second.why);
    ck_assert(first.relative == second.relative && first.numeric == second.numeric);
    ck_assert(first.numeric != third.numeric);
}
END_TEST

/* ---- models ---- */

typedef struct model {
    tg_parameter weight, bias;
    double weight_data[6], bias_data[2];
} model;

static model make_model(void)
{
    return (model){.weight = {.name = "layers.0.weight", .dtype = TG_F64, .shape = TG_SHAPE(2, 3)},
                   .bias = {.name = "layers.0.bias", .dtype = TG_F64, .shape = TG_SHAPE(2)},
                   .weight_data = {0.3, -0.2, 0.9, 1.1, -0.7, 0.5},
                   .bias_data = {0.1, -0.4}};
}

static tg_tensor forward(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)count;
    model *m = user;
    tg_tensor h =
        tg_gelu_exact(tg_linear(in[0], tg_parameter_tensor(tape, &m->weight), tg_parameter_tensor(tape, &m->bias)));
    return tg_cross_entropy(h, in[1]);
}

START_TEST(parameters_are_checked_in_place_and_put_back)
{
    model m = make_model(), before = m;
    m.weight.data = m.weight_data;
    m.bias.data = m.bias_data;
    static const int32_t labels[] = {1};
    const tg_gradcheck_input in[] = {{.name = "x", .shape = TG_SHAPE(1, 3), .data = three},
                                     {.name = "labels", .shape = TG_SHAPE(1), .integers = labels},
                                     {.parameter = &m.weight},
                                     {.parameter = &m.bias}};
    tg_gradcheck_result result = tg_gradcheck(forward, &m, in, 4, &(tg_gradcheck_options){.order = 2});
    ck_assert_msg(result.passed, "%s", result.why);
    ck_assert_int_ge(result.comparisons, 2 * (3 + 6 + 2));
    ck_assert_mem_eq(m.weight_data, before.weight_data, sizeof m.weight_data);
    ck_assert_mem_eq(m.bias_data, before.bias_data, sizeof m.bias_data);
}
END_TEST

static void first_is_positive(double *const *inputs, void *user)
{
    (void)user;
    inputs[0][0] = fabs(inputs[0][0]);
    ck_assert_double_eq(inputs[2][1], -0.75); /* of a parameter that is fixed */
}

START_TEST(a_fixed_parameter_keeps_its_gradient_and_is_shown_to_a_projection)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_parameter *weight = tg_parameters_add(set, "weight", TG_SHAPE(2, 3), true),
                 *bias = tg_parameters_add(set, "bias", TG_SHAPE(2), true);
    double *gradient = tg_parameters_gradients(set);
    model m = make_model();
    for (int i = 0; i < 6; i++)
        tg_parameter_put(weight, i, m.weight_data[i]);
    tg_parameter_put(bias, 1, -0.75);
    for (int i = 0; i < 8; i++)
        gradient[i] = i;
    m.weight = *weight;
    m.bias = *bias;
    static const int32_t labels[] = {1};
    const tg_gradcheck_input in[] = {{.name = "x", .shape = TG_SHAPE(1, 3), .data = three},
                                     {.name = "labels", .shape = TG_SHAPE(1), .integers = labels},
                                     {.parameter = &m.bias, .fixed = true},
                                     {.parameter = &m.weight}};
    const tg_gradcheck_options options[] = {{0}, {.project = first_is_positive}};
    for (int i = 0; i < 2; i++) {
        const tg_gradcheck_result result = tg_gradcheck(forward, &m, in, 4, &options[i]);
        ck_assert_msg(result.passed, "%s", result.why);
        ck_assert(m.bias.gradient == bias->gradient && m.bias.has_gradient && m.weight.gradient == weight->gradient);
        for (int k = 0; k < 8; k++)
            ck_assert_double_eq(gradient[k], k);
    }
    tg_parameters_free(set);
}
END_TEST

static tg_tensor tanh_of_product(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)tape, (void)count, (void)user;
    return tg_tanh(tg_matmul(in[0], in[1]));
}

static tg_tensor scaled_tanh(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    tg_parameters *set = user;
    (void)count;
    tg_tensor h = tg_linear(in[0], tg_parameter_tensor(tape, tg_parameters_at(set, 0)), TG_NONE);
    return tg_mul(tg_tanh(h), tg_parameter_tensor(tape, tg_parameters_at(set, 1)));
}

static tg_tensor size_of_weights(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)in;
    ck_assert_int_eq(count, 0);
    return tg_sum(tg_square(tg_parameter_tensor(tape, tg_parameters_at(user, 0))));
}

static tg_tensor with_a_wrong_scale(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    tg_parameters *set = user;
    tg_tensor scale = tg_parameter_tensor(tape, tg_parameters_at(set, 1));
    return tg_mul(scaled_tanh(tape, in, count, user), tg_add_scalar(tg_stop_gradient(scale), 1));
}

START_TEST(all_parameters_of_a_model_are_checked_in_one_call)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_parameters_add(set, "weight", TG_SHAPE(4, 3), true);
    tg_parameters_add(set, "scale", TG_SHAPE(4), false);
    double *values = tg_parameters_values(set);
    tg_rng rng = tg_rng_seed(4);
    for (int i = 0; i < 16; i++)
        values[i] = tg_rng_normal(&rng);
    const tg_gradcheck_input in = {.name = "x", .shape = TG_SHAPE(2, 3), .data = six, .fixed = true};
    tg_gradcheck_result result =
        tg_gradcheck_parameters(scaled_tanh, set, &in, 1, set, &(tg_gradcheck_options){.order = 2});
    ck_assert_msg(result.passed, "%s", result.why);
    ck_assert_int_ge(result.comparisons, 2 * 2);
    result = tg_gradcheck_parameters(with_a_wrong_scale, set, &in, 1, set, NULL);
    ck_assert_int_eq(result.status, TG_GRADCHECK_WRONG);
    ck_assert_str_eq(result.where, "scale at [0], order 1");
    ck_assert_int_eq(tg_gradcheck_parameters(scaled_tanh, set, &in, 1, NULL, NULL).status, TG_GRADCHECK_REFUSED);
    result = tg_gradcheck_parameters(size_of_weights, set, NULL, 0, set, NULL);
    ck_assert_msg(result.passed, "%s", result.why);
    tg_parameters_free(set);
}
END_TEST

START_TEST(a_large_model_is_checked_along_random_directions)
{
    enum { ROWS = 40, WIDTH = 50 };
    static double x[ROWS * WIDTH], w[WIDTH * WIDTH];
    tg_rng rng = tg_rng_seed(1);
    for (int i = 0; i < ROWS * WIDTH; i++)
        x[i] = tg_rng_normal(&rng);
    for (int i = 0; i < WIDTH * WIDTH; i++)
        w[i] = tg_rng_normal(&rng) / sqrt(WIDTH);
    const tg_gradcheck_input in[] = {{.shape = TG_SHAPE(ROWS, WIDTH), .data = x},
                                     {.shape = TG_SHAPE(WIDTH, WIDTH), .data = w}};
    tg_gradcheck_result result = tg_gradcheck(tanh_of_product, NULL, in, 2, NULL);
    ck_assert_msg(result.passed, "%s", result.why);
    ck_assert_int_ge(result.comparisons, 2 * 3);
    ck_assert_int_eq(result.index, -1);
}
END_TEST

/* ---- bad input ---- */

static tg_tensor fails(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)tape, (void)count, (void)user;
    return tg_reshape(in[0], TG_SHAPE(7));
}

static tg_tensor single(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)in, (void)count, (void)user;
    return tg_full(tape, TG_F32, TG_SCALAR, 1);
}

static tg_tensor logarithm_of_negative(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)tape, (void)count, (void)user;
    return tg_log(in[0]);
}

START_TEST(what_cannot_be_checked_is_refused_with_the_reason)
{
    const tg_gradcheck_input in = {.shape = TG_SHAPE(3), .data = three}, none = {.shape = TG_SHAPE(3)};
    tg_gradcheck_result result = tg_gradcheck(fails, NULL, &in, 1, NULL);
    ck_assert_int_eq(result.status, TG_GRADCHECK_REFUSED);
    assert_says(&result, "the tape says: reshape(f64[3])");
    result = tg_gradcheck(single, NULL, &in, 1, NULL);
    assert_says(&result, "expected the function to return an f64 tensor, not f32");
    result = tg_gradcheck(product_of_tanh, NULL, &none, 1, NULL);
    assert_says(&result, "expected one of data, integers and parameter");
    result = tg_gradcheck(logarithm_of_negative, NULL, &in, 1, NULL);
    ck_assert_int_eq(result.status, TG_GRADCHECK_NOT_FINITE);
    ck_assert_int_eq(tg_gradcheck(NULL, NULL, &in, 1, NULL).status, TG_GRADCHECK_REFUSED);
    ck_assert_int_eq(tg_gradcheck(fails, NULL, NULL, 1, NULL).status, TG_GRADCHECK_REFUSED);
    result = tg_gradcheck(product_of_tanh, NULL, &(tg_gradcheck_input){.shape = {1, {-1}}}, 1, NULL);
    assert_says(&result, "[-1] is no shape");
    tg_op incomplete = tg_op_tanh;
    incomplete.loop = NULL;
    result = tg_gradcheck_op(&incomplete, NULL);
    assert_says(&result, "tanh: it lacks its loop");
    result = tg_gradcheck_op(NULL, NULL);
    ck_assert(!result.passed);
    result = tg_gradcheck_op(&tg_op_sign, NULL);
    assert_says(&result, "sign: the operation has no derivative by nature");
}
END_TEST

START_TEST(memory_that_runs_out_is_a_result)
{
    model m = make_model(), before = m;
    m.weight.data = m.weight_data;
    m.bias.data = m.bias_data;
    static const int32_t labels[] = {1};
    const tg_gradcheck_input in[] = {{.shape = TG_SHAPE(1, 3), .data = three},
                                     {.shape = TG_SHAPE(1), .integers = labels},
                                     {.parameter = &m.weight},
                                     {.parameter = &m.bias}};
    int unplanned = 0;
    for (int nth = 0;; nth++) {
        wrapped_memory_fail_after(nth);
        tg_gradcheck_result result = tg_gradcheck(forward, &m, in, 4, NULL);
        if (!wrapped_memory_stop()) {
            ck_assert(result.passed);
            ck_assert_int_gt(nth, 1);
            break;
        }
        unplanned += result.passed; /* a tape does without planned memory, for which it makes three allocations */
        if (!result.passed)
            assert_says(&result, "out of memory");
        ck_assert_mem_eq(m.weight_data, before.weight_data, sizeof m.weight_data);
    }
    ck_assert_int_le(unplanned, 3);
}
END_TEST

/* The variants of a sample (a wider range, one tensor for two inputs) allocate memory of their own. */
START_TEST(an_operation_never_passes_when_memory_was_short)
{
    static const tg_sample samples[] = {{.input = {{.shape = {2, {20, 30}}}, {.shape = {2, {20, 30}}}}}};
    tg_op op = tg_op_mul;
    int unplanned = 0;
    op.samples = samples;
    op.sample_count = 1;
    for (int nth = 0;; nth += seeds(1 + nth / 16, 1)) { /* every one in the long check */
        wrapped_memory_fail_after(nth);
        tg_gradcheck_result result = tg_gradcheck_op(&op, NULL);
        if (!wrapped_memory_stop()) {
            ck_assert(result.passed);
            ck_assert_int_gt(nth, 1);
            break;
        }
        unplanned += result.passed; /* a tape without room for its plan goes on without one */
        if (!result.passed)
            assert_says(&result, "out of memory");
    }
    ck_assert_int_le(unplanned, 3 * 5); /* of each of its tapes that repeat a step */
}
END_TEST

Suite *gradcheck_suite(void)
{
    Suite *suite = suite_create("gradcheck");
    TCase *tests = tcase_create("gradcheck");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, every_wrong_operation_is_caught, 0, wrong_op_count());
    tcase_add_test(tests, a_gradient_off_by_two_millionths_is_caught_in_every_input_of_every_operation);
    tcase_add_test(tests, three_of_four_derivatives_are_known_to_a_millionth);
    tcase_add_test(tests, a_function_of_several_inputs_is_checked);
    tcase_add_test(tests, a_result_names_input_index_and_both_values);
    tcase_add_test(tests, a_value_that_passes_by_the_tape_is_caught);
    tcase_add_test(tests, in_a_large_input_the_wrong_element_is_found);
    tcase_add_test(tests, the_same_seed_gives_the_same_result);
    tcase_add_test(tests, parameters_are_checked_in_place_and_put_back);
    tcase_add_test(tests, a_fixed_parameter_keeps_its_gradient_and_is_shown_to_a_projection);
    tcase_add_test(tests, all_parameters_of_a_model_are_checked_in_one_call);
    tcase_add_test(tests, a_large_model_is_checked_along_random_directions);
    tcase_add_test(tests, what_cannot_be_checked_is_refused_with_the_reason);
    tcase_add_test(tests, memory_that_runs_out_is_a_result);
    tcase_add_test(tests, an_operation_never_passes_when_memory_was_short);
    suite_add_tcase(suite, tests);
    return suite;
}
