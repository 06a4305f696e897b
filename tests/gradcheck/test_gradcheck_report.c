/* The report of a failure: the place, the size and the likely fault. */
#include "autograd/gradcheck/check.h"
#include "tests/gradcheck/wrong_ops.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *gradcheck_report_suite(void);

static char report[16384];

static tg_gradcheck_options reporting(void)
{
    return (tg_gradcheck_options){.report = report, .report_size = sizeof report};
}

static void assert_reports(const char *part)
{
    ck_assert_msg(strstr(report, part) != NULL, "'%s' is not in:\n%s", part, report);
}

/* The number after a word that begins a line of the report. */
static double number_behind(const char *word)
{
    const char *line = strstr(report, word);
    ck_assert_msg(line != NULL, "'%s' is not in:\n%s", word, report);
    return strtod(line + strlen(word), NULL);
}

static const double three[] = {0.5, -1.25, 2}, other_three[] = {1.5, 0.75, -0.5}, last_three[] = {-3, 0.25, 1};

static const tg_gradcheck_input inputs[] = {{.name = "a", .shape = TG_SHAPE(3), .data = three},
                                            {.name = "b", .shape = TG_SHAPE(3), .data = other_three},
                                            {.name = "c", .shape = TG_SHAPE(3), .data = last_three}};

static void check_function(tg_function function, int count)
{
    tg_gradcheck_options options = reporting();
    ck_assert(!tg_gradcheck(function, NULL, inputs, count, &options).passed);
}

static void check_wrong_op(const char *fault)
{
    for (int i = 0; i < wrong_op_count(); i++) {
        wrong_op wrong = wrong_op_at(i);
        if (strcmp(wrong.fault, fault) != 0)
            continue;
        tg_gradcheck_options options = reporting();
        options.double_only = wrong.double_only;
        ck_assert(!tg_gradcheck_op(&wrong.op, &options).passed);
        return;
    }
    ck_abort_msg("there is no '%s'", fault);
}

/* ---- the numbers ---- */

#define FUNCTION(name, ...)                                                          \
    static tg_tensor name(tg_tape *tape, const tg_tensor *in, int count, void *user) \
    {                                                                                \
        (void)tape, (void)count, (void)user;                                         \
        return __VA_ARGS__;                                                          \
    }

FUNCTION(half_of_a_square, tg_mul(in[0], tg_stop_gradient(in[0])))
FUNCTION(half_of_an_exponential, tg_mul(tg_exp(in[0]), tg_stop_gradient(tg_exp(in[0]))))

START_TEST(expected_and_found_are_derivatives_without_the_cotangent)
{
    check_function(half_of_a_square, 1);
    assert_reports("a [3]: 0.5 -1.25 2\n");
    assert_reports("of the result at [0] by a at [0], which is 0.5\n");
    ck_assert_double_eq_tol(number_behind("expected"), 1, 1e-9);
    ck_assert_double_eq_tol(number_behind("found"), 0.5, 1e-9);
    assert_reports("a at [0], order 1: off by 0.5 of its size, where differences and rounding explain ");
    assert_reports("; it is half as large\n\n");
    ck_assert_ptr_null(strstr(report, "finite differences give")); /* a second pair, times a random cotangent */
}
END_TEST

START_TEST(of_a_parameter_it_shows_the_value_that_it_has_and_not_where_differences_moved_it)
{
    double zero[] = {0};
    tg_parameter weight = {.name = "weight", .shape = TG_SHAPE(1), .dtype = TG_F64, .data = zero};
    tg_gradcheck_result result =
        tg_gradcheck(half_of_an_exponential, NULL, &(tg_gradcheck_input){.parameter = &weight}, 1, NULL);
    ck_assert_msg(strstr(result.why, "weight at [0], order 1, where it is 0: ") != NULL, "%s", result.why);
}
END_TEST

FUNCTION(half_of_a_square_with_another, tg_mul(half_of_a_square(tape, in, count, user), in[1]))

START_TEST(a_fixed_parameter_is_listed_with_its_numbers)
{
    double two[] = {3, 5};
    tg_parameter weight = {.name = "weight", .shape = TG_SHAPE(2), .dtype = TG_F64, .data = two};
    const tg_gradcheck_input in[] = {{.shape = TG_SHAPE(2), .data = three}, {.parameter = &weight, .fixed = true}};
    tg_gradcheck_options options = reporting();
    ck_assert(!tg_gradcheck(half_of_a_square_with_another, NULL, in, 2, &options).passed);
    assert_reports("weight [2]: 3 5\n");
}
END_TEST

START_TEST(from_order_two_on_it_speaks_of_the_derivative_below)
{
    tg_gradcheck_options options = reporting();
    options.order = 2;
    for (int i = 0; i < wrong_op_count(); i++) {
        wrong_op wrong = wrong_op_at(i);
        if (strcmp(wrong.fault, "right in value, wrong in second order") != 0)
            continue;
        tg_gradcheck_result result = tg_gradcheck_op(&wrong.op, &options);
        ck_assert_int_eq(result.order, 2);
        assert_reports("of the derivative by input 0 at ");
        assert_reports("nothing arrives at this input\n");
    }
}
END_TEST

START_TEST(nothing_is_reported_of_what_is_right_and_a_small_room_is_not_left)
{
    tg_gradcheck_options options = reporting();
    strcpy(report, "old");
    ck_assert(tg_gradcheck_op(&tg_op_tanh, &options).passed);
    ck_assert_str_eq(report, "");
    memset(report, 'x', sizeof report);
    options.report_size = 40;
    ck_assert(!tg_gradcheck(half_of_a_square, NULL, inputs, 1, &options).passed);
    ck_assert_uint_eq(strlen(report), 39);
    ck_assert_int_eq(report[40], 'x');
}
END_TEST

START_TEST(a_result_says_how_much_it_would_have_seen)
{
    tg_gradcheck_result sums = tg_gradcheck_op(&tg_op_add, NULL);
    ck_assert_int_gt(10 * sums.sharp, 7 * sums.comparisons);
    ck_assert_int_le(sums.sharp, sums.comparisons);
    ck_assert_msg(strstr(sums.why, " % are known to 1e-06") != NULL, "%s", sums.why);
    tg_gradcheck_result bent = tg_gradcheck_op(&tg_op_relu, NULL);
    ck_assert_int_gt(bent.kinks, 0);
    ck_assert_msg(strstr(bent.why, " at kinks") != NULL, "%s", bent.why);
}
END_TEST

/* ---- the likely fault ---- */

START_TEST(a_simple_factor_is_named_and_what_there_are_so_many_of)
{
    check_wrong_op("a factor of two too many");
    assert_reports("all derivatives by this input are twice as large\n");
    check_wrong_op("a factor of two too few");
    assert_reports("all derivatives by this input are half as large\n");
    check_wrong_op("a negated gradient");
    assert_reports("all derivatives by this input are of the opposite sign\n");
    check_wrong_op("the gradient of the mean for that of the sum");
    assert_reports("1/12 as large; the input has that many elements\n");
    check_wrong_op("a mean not divided by its count");
    assert_reports("12 times as large; the input has that many elements\n");
    check_wrong_op("off by 1e-5 relative");
    assert_reports("all derivatives by this input are 1.00001 times as large\n");
}
END_TEST

START_TEST(a_gradient_that_does_not_arrive_is_named)
{
    check_wrong_op("no gradient at all");
    assert_reports("nothing arrives at this input\n");
}
END_TEST

/* x^2 without the derivative of the first element. */
FUNCTION(square_and_nothing_for_one, tg_concat((tg_tensor[]){tg_stop_gradient(tg_square(tg_narrow(in[0], 0, 0, 1))),
                                                             tg_square(tg_narrow(in[0], 0, 1, 2))},
                                               2, 0))

START_TEST(of_one_element_it_does_not_speak_of_the_input)
{
    check_function(square_and_nothing_for_one, 1);
    assert_reports("; nothing arrives at this element\n\n");
    assert_reports("wrong by 1 of the input's 3 elements\n");
}
END_TEST

START_TEST(a_transposed_index_is_named)
{
    check_wrong_op("a transposed gradient");
    assert_reports("the last two indices of this input's derivative are transposed\n");
}
END_TEST

START_TEST(another_inputs_derivative_is_named)
{
    check_wrong_op("the two inputs' gradients swapped");
    assert_reports("it is the derivative by input 1\n");
}
END_TEST

START_TEST(a_fault_in_a_few_elements_says_in_how_many)
{
    check_wrong_op("wrong for negative inputs only");
    const char *words = strstr(report, "wrong by ");
    int wrong, of;
    ck_assert_msg(words && sscanf(words, "wrong by %d of the input's %d elements", &wrong, &of) == 2, "%s", report);
    ck_assert(wrong > 0 && wrong < of);
}
END_TEST

static void slightly_off(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, tg_mul_scalar(d->in[0], 2 * (1 + 6e-7)));
}

START_TEST(a_fault_too_small_for_the_table_says_how_small)
{
    tg_op op = tg_op_square;
    tg_gradcheck_options options = reporting();
    op.name = "nearly_square";
    op.derivative = slightly_off;
    ck_assert(!tg_gradcheck_op(&op, &options).passed);
    assert_reports("off by 6e-07 of what is expected, too little to be seen here\n");
}
END_TEST

START_TEST(a_fault_in_the_use_of_the_cotangent_is_told_from_one_in_the_derivative)
{
    check_wrong_op("no gradient for negative cotangents");
    assert_reports("for a cotangent of one at one element it is right");
}
END_TEST

Suite *gradcheck_report_suite(void)
{
    Suite *suite = suite_create("gradcheck_report");
    TCase *tests = tcase_create("gradcheck_report");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, expected_and_found_are_derivatives_without_the_cotangent);
    tcase_add_test(tests, of_a_parameter_it_shows_the_value_that_it_has_and_not_where_differences_moved_it);
    tcase_add_test(tests, a_fixed_parameter_is_listed_with_its_numbers);
    tcase_add_test(tests, from_order_two_on_it_speaks_of_the_derivative_below);
    tcase_add_test(tests, nothing_is_reported_of_what_is_right_and_a_small_room_is_not_left);
    tcase_add_test(tests, a_result_says_how_much_it_would_have_seen);
    tcase_add_test(tests, a_simple_factor_is_named_and_what_there_are_so_many_of);
    tcase_add_test(tests, a_gradient_that_does_not_arrive_is_named);
    tcase_add_test(tests, of_one_element_it_does_not_speak_of_the_input);
    tcase_add_test(tests, a_transposed_index_is_named);
    tcase_add_test(tests, another_inputs_derivative_is_named);
    tcase_add_test(tests, a_fault_in_a_few_elements_says_in_how_many);
    tcase_add_test(tests, a_fault_in_the_use_of_the_cotangent_is_told_from_one_in_the_derivative);
    tcase_add_test(tests, a_fault_too_small_for_the_table_says_how_small);
    suite_add_tcase(suite, tests);
    return suite;
}
