/* The gradient checker runs functions as users do: tg_backward, checkpoints, a second step, no gradient at all. */
#include "tests/gradcheck/wrong_ops.h"

#include <check.h>
#include <string.h>

Suite *gradcheck_ways_suite(void);

static const double three[] = {0.5, -1.25, 2};

static void assert_says(const tg_gradcheck_result *result, const char *part)
{
    ck_assert_msg(strstr(result->why, part) != NULL, "'%s' is not in: %s", part, result->why);
}

static tg_tensor apply_unary(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)tape, (void)count;
    return tg_apply(user, NULL, 1, in);
}

/* Like tanh(x)^2; but if the tape has more values than in a first run, as in a checkpoint's second one, a constant
 * replaces a factor. */
static tg_tensor different_when_run_again(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)count, (void)user;
    bool again = tg_tape_count(tape).values > 1;
    tg_tensor y = tg_tanh(in[0]);
    return tg_mul(y, again ? tg_stop_gradient(y) : y);
}

START_TEST(a_function_that_differs_where_it_is_run_again_is_caught)
{
    const tg_gradcheck_input in = {.shape = TG_SHAPE(3), .data = three};
    tg_gradcheck_result result = tg_gradcheck(different_when_run_again, NULL, &in, 1, NULL);
    ck_assert(!result.passed);
    ck_assert_int_ne(result.status, TG_GRADCHECK_REFUSED);
}
END_TEST

START_TEST(a_derivative_of_yesterdays_numbers_is_no_derivative)
{
    for (int i = 0; i < wrong_op_count(); i++) {
        wrong_op wrong = wrong_op_at(i);
        if (!strstr(wrong.fault, "while differentiating"))
            continue;
        tg_op op = wrong.op;
        const tg_gradcheck_input in = {.shape = TG_SHAPE(1), .data = three};
        tg_gradcheck_result result = tg_gradcheck(apply_unary, &op, &in, 1, NULL);
        ck_assert_msg(!result.passed, "%s", result.why);
        ck_assert_int_ne(result.status, TG_GRADCHECK_CANNOT_TELL);
    }
}
END_TEST

START_TEST(nothing_to_compare_is_a_refusal)
{
    const tg_gradcheck_input in = {.shape = TG_SHAPE(0), .data = three};
    tg_op copy = tg_op_tanh;
    tg_gradcheck_result result = tg_gradcheck(apply_unary, &copy, &in, 1, NULL);
    ck_assert_int_eq(result.status, TG_GRADCHECK_REFUSED);
    assert_says(&result, "nothing to compare");
    static const tg_sample empty[] = {{.input = {{.shape = {2, {0, 3}}}}}};
    tg_op rows = tg_op_softmax;
    rows.samples = empty;
    rows.sample_count = 1;
    result = tg_gradcheck_op(&rows, NULL);
    ck_assert_int_eq(result.status, TG_GRADCHECK_REFUSED);
}
END_TEST

/* Like w^2; but a hook adds to the parameter's gradient itself, if it has one. tg_grad ignores that gradient,
 * tg_backward adds to it. */
static tg_tensor add_to_the_gradient(tg_tensor cotangent, void *user)
{
    tg_parameter *weight = user;
    if (weight->gradient) {
        memset(weight->gradient, 0, 3 * sizeof(double));
        ((double *)weight->gradient)[1] = 1e-3;
        weight->has_gradient = true;
    }
    return cotangent;
}

static tg_tensor with_a_gradient_of_its_own(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)in, (void)count;
    tg_tensor y = tg_square(tg_parameter_tensor(tape, user));
    tg_add_hook(y, add_to_the_gradient, user);
    return y;
}

START_TEST(a_gradient_that_is_wrong_through_tg_backward_only_is_caught)
{
    double numbers[] = {0.5, -1.25, 2};
    tg_parameter weight = {.name = "weight", .dtype = TG_F64, .shape = TG_SHAPE(3), .data = numbers};
    const tg_gradcheck_input in = {.parameter = &weight};
    tg_gradcheck_result result = tg_gradcheck(with_a_gradient_of_its_own, &weight, &in, 1, NULL);
    ck_assert_int_eq(result.status, TG_GRADCHECK_ANOTHER_WAY);
    ck_assert_msg(strstr(result.why, "tg_grad and tg_backward differ") != NULL, "%s", result.why);
    ck_assert_str_eq(result.where, "weight at [1], order 1");
}
END_TEST

Suite *gradcheck_ways_suite(void)
{
    Suite *suite = suite_create("gradcheck_ways");
    TCase *tests = tcase_create("gradcheck_ways");
    tcase_add_test(tests, a_function_that_differs_where_it_is_run_again_is_caught);
    tcase_add_test(tests, a_derivative_of_yesterdays_numbers_is_no_derivative);
    tcase_add_test(tests, nothing_to_compare_is_a_refusal);
    tcase_add_test(tests, a_gradient_that_is_wrong_through_tg_backward_only_is_caught);
    suite_add_tcase(suite, tests);
    return suite;
}
