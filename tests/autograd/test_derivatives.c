/* Products with Jacobians and Hessians against matrices computed by hand; anomaly mode; the tape's listings. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tapegrad.h>

Suite *derivatives_suite(void);

static tg_tape *tape;

static void make_tape(void)
{
    tape = tg_tape_new();
}

static void free_tape(void)
{
    tg_tape_free(tape);
}

static tg_tensor vector(double a, double b)
{
    return tg_constant(tape, TG_F64, (double[]){a, b}, TG_SHAPE(2));
}

/* y = (x0 x0, x1 x1) * sum(x): Jacobian rows (2 x0 S + x0^2, x0^2) and (x1^2, 2 x1 S + x1^2). */
static tg_tensor curved(tg_tensor x)
{
    return tg_mul(tg_mul(x, x), tg_sum(x));
}

START_TEST(the_jacobian_is_the_one_on_paper)
{
    tg_tensor x = vector(2, 3), jacobian = tg_jacobian(curved(x), x);
    const double expected[4] = {2 * 2 * 5 + 4, 4, 9, 2 * 3 * 5 + 9};
    ck_assert_int_eq(tg_rank(jacobian), 2);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq(tg_at(jacobian, i), expected[i]);
}
END_TEST

START_TEST(the_jacobian_of_a_tensor_by_itself_is_the_identity)
{
    tg_tensor x = vector(2, 3), jacobian = tg_jacobian(x, x);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq(tg_at(jacobian, i), i % 3 == 0);
}
END_TEST

START_TEST(jvp_and_vjp_are_the_jacobian_from_both_sides)
{
    tg_tensor x = vector(2, 3), y = curved(x), direction = vector(0.5, -1), cotangent = vector(3, 7), back;
    tg_tensor forward = tg_jvp(y, &x, &direction, 1);
    ck_assert_double_eq(tg_at(forward, 0), 24 * 0.5 - 4);
    ck_assert_double_eq(tg_at(forward, 1), 9 * 0.5 - 39);
    ck_assert(tg_vjp(y, cotangent, &x, 1, &back));
    ck_assert_double_eq(tg_at(back, 0), 3 * 24 + 7 * 9);
    ck_assert_double_eq(tg_at(back, 1), 3 * 4 + 7 * 39);
}
END_TEST

START_TEST(the_jvp_of_a_linear_function_is_the_function)
{
    tg_tensor x = vector(2, 3), direction = vector(5, 7);
    tg_tensor forward = tg_jvp(tg_mul_scalar(tg_add(x, tg_sum(x)), 2), &x, &direction, 1);
    ck_assert_double_eq(tg_at(forward, 0), 2 * (5 + 12));
    ck_assert_double_eq(tg_at(forward, 1), 2 * (7 + 12));
}
END_TEST

START_TEST(the_hessian_and_its_products_are_those_on_paper)
{
    /* f = x0^2 x1 + x1^3: H = (2 x1, 2 x0; 2 x0, 6 x1) */
    tg_tensor a = tg_variable(tape, TG_F64, (double[]){2}, TG_SCALAR);
    tg_tensor b = tg_variable(tape, TG_F64, (double[]){3}, TG_SCALAR);
    tg_tensor f = tg_add(tg_mul(tg_mul(a, a), b), tg_mul(tg_mul(b, b), b));
    tg_tensor inputs[2] = {a, b}, results[2];
    tg_tensor vectors[2] = {tg_full(tape, TG_F64, TG_SCALAR, 10), tg_full(tape, TG_F64, TG_SCALAR, 100)};
    ck_assert(tg_hvp(f, inputs, vectors, 2, results));
    ck_assert_double_eq(tg_item(results[0]), 6 * 10 + 4 * 100);
    ck_assert_double_eq(tg_item(results[1]), 4 * 10 + 18 * 100);

    tg_tensor x = vector(2, 3), cube = tg_sum(tg_mul(tg_mul(x, x), x)), hessian = tg_hessian(cube, x);
    const double expected[4] = {12, 0, 0, 18};
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq(tg_at(hessian, i), expected[i]);
}
END_TEST

START_TEST(a_stopped_gradient_is_a_constant_to_every_derivative)
{
    tg_tensor x = tg_variable(tape, TG_F64, (double[]){3}, TG_SCALAR), gradient;
    tg_tensor y = tg_mul(x, tg_stop_gradient(tg_mul(x, x)));
    ck_assert_double_eq(tg_item(y), 27);
    ck_assert(tg_grad(&y, 1, &x, 1, NULL, false, &gradient));
    ck_assert_double_eq(tg_item(gradient), 9);
}
END_TEST

START_TEST(anomaly_mode_names_the_first_operation_that_made_an_infinity)
{
    tg_tape_watch(tape, true);
    tg_tensor x = vector(2, 0);
    tg_scope_begin(tape, "head");
    tg_tensor y = tg_mul(tg_div(vector(1, 1), x), x);
    ck_assert(!tg_ok(y));
    const char *error = tg_tape_error(tape);
    ck_assert_msg(strstr(error, "infinity at element 1 of div(f64[2], f64[2])") != NULL, "%s", error);
    ck_assert_ptr_nonnull(strstr(error, "in head"));
    ck_assert_ptr_nonnull(strstr(error, "input 1: from 0 to 2"));
    tg_tape_clear_error(tape);
    ck_assert_double_eq(tg_at(tg_add(x, x), 0), 4); /* and the tape works again */
}
END_TEST

START_TEST(anomaly_mode_names_the_derivative_that_made_an_infinity)
{
    tg_tape_watch(tape, true);
    tg_tensor x = tg_variable(tape, TG_F64, (double[]){1e-100}, TG_SCALAR);
    tg_tensor three = tg_mul_scalar(x, 8e307); /* each pair is finite, but the sum of all three is not */
    for (int i = 0; i < 2; i++)
        three = tg_add(three, tg_mul_scalar(x, 8e307));
    ck_assert(!tg_backward(three));
    ck_assert_msg(strstr(tg_tape_error(tape), "infinity at element 0 of add(") != NULL, "%s", tg_tape_error(tape));
    tg_tape_clear_error(tape);

    x = tg_variable(tape, TG_F64, (double[]){1e-200}, TG_SCALAR);
    ck_assert(!tg_backward(tg_mul_scalar(tg_sqrt(x), 1e250))); /* 1e250 / 1e-100 */
    const char *error = tg_tape_error(tape);
    ck_assert_msg(strstr(error, "infinity at element 0 of div(") && strstr(error, "backward pass of sqrt(") &&
                      strstr(error, "input 0: from 1e+250 to 1e+250; input 1: from 1e-100"),
                  "%s", error);
}
END_TEST

START_TEST(anomaly_mode_looks_at_the_backward_pass_and_lets_given_infinities_pass)
{
    tg_tape_watch(tape, true);
    tg_tensor given = tg_add(vector(1, INFINITY), vector(1, 1));
    ck_assert(tg_ok(given));
    /* x / x at 1e-300: the value is 1, but the derivative needs 1 / 1e-300^2. */
    tg_tensor x = tg_variable(tape, TG_F64, (double[]){1e-300}, TG_SCALAR);
    tg_tensor y = tg_div(tg_full(tape, TG_F64, TG_SCALAR, 1e-200), tg_mul(x, tg_full(tape, TG_F64, TG_SCALAR, 1)));
    ck_assert(tg_ok(y));
    ck_assert(!tg_backward(y));
    ck_assert_ptr_nonnull(strstr(tg_tape_error(tape), "in the backward pass of div("));
}
END_TEST

START_TEST(anomaly_mode_names_the_element_of_the_data_or_parameter_that_is_nan)
{
    double data[8][3] = {{0}};
    tg_parameter w = {.name = "w", .dtype = TG_F64, .shape = TG_SHAPE(3), .data = data[0], .gradient = data[1]};
    data[4][0] = INFINITY;
    data[4][1] = NAN;
    tg_tape_watch(tape, true);
    tg_tensor x = tg_named(tg_borrow(tape, TG_F64, data, TG_SHAPE(8, 3)), "x");
    tg_tensor known = tg_equal(x, x); /* reads it, and has none: missing numbers may be left out */
    tg_tensor mean = tg_mean(tg_square(tg_where(known, x, tg_parameter_tensor(tape, &w))));
    ck_assert_msg(tg_ok(mean), "%s", tg_tape_error(tape));
    ck_assert(!tg_ok(tg_reshape(x, TG_SHAPE(24))));
    ck_assert_msg(strstr(tg_tape_error(tape), "input x, element 13, is NaN; it is input 0 of reshape(x f64[8, 3])"),
                  "%s", tg_tape_error(tape));
    tg_tape_clear_error(tape);
    data[0][2] = NAN;
    tg_parameter_changed(&w);
    tg_tape_reset(tape);
    tg_tensor one = tg_full(tape, TG_F64, TG_SHAPE(3), 1);
    ck_assert(!tg_ok(tg_mul(one, tg_parameter_tensor(tape, &w))));
    ck_assert_msg(strstr(tg_tape_error(tape), "parameter w, element 2, is NaN; it is input 1 of mul("), "%s",
                  tg_tape_error(tape));
    tg_tape_clear_error(tape);
}
END_TEST

START_TEST(anomaly_mode_says_so_if_an_input_has_no_range)
{
    const int32_t label[1] = {1};
    tg_tape_watch(tape, true);
    ck_assert(!tg_ok(tg_cross_entropy(tg_reshape(vector(INFINITY, INFINITY), TG_SHAPE(1, 2)),
                                      tg_constant(tape, TG_I32, label, TG_SHAPE(1)))));
    const char *error = tg_tape_error(tape);
    ck_assert_msg(strstr(error, "; input 0: nothing finite and infinities; input 1: integers"), "%s", error);
    tg_tape_clear_error(tape);
    ck_assert(!tg_ok(tg_cross_entropy(tg_constant(tape, TG_F64, NULL, TG_SHAPE(0, 2)),
                                      tg_constant(tape, TG_I32, NULL, TG_SHAPE(0)))));
    error = tg_tape_error(tape);
    ck_assert_msg(strstr(error, "; input 0: empty; input 1: empty"), "%s", error);
}
END_TEST

START_TEST(the_tape_lists_itself_and_says_how_long_the_list_is)
{
    double w = 1, g;
    tg_parameter weight = {.name = "layers.0.weight", .dtype = TG_F64, .shape = TG_SCALAR, .data = &w, .gradient = &g};
    tg_mul_scalar(tg_mul(tg_parameter_tensor(tape, &weight), vector(1, 2)), 0.5);
    char table[2000], graph[2000], small[20];
    size_t length = tg_tape_table(tape, table, sizeof table);
    ck_assert_uint_eq(length, strlen(table));
    ck_assert_uint_eq(tg_tape_table(tape, small, sizeof small), length);
    ck_assert_uint_eq(strlen(small), sizeof small - 1);
    ck_assert_uint_eq(tg_tape_table(tape, NULL, 0), length);
    ck_assert_ptr_nonnull(strstr(table, "layers.0.weight"));
    ck_assert_ptr_nonnull(strstr(table, "number=0.5"));
    ck_assert_uint_eq(tg_tape_dot(tape, graph, sizeof graph), strlen(graph));
    ck_assert_ptr_nonnull(strstr(graph, "v2 -> v3;"));
    ck_assert_ptr_nonnull(strstr(graph, "f64[2]"));
    ck_assert_double_eq(tg_at(tg_tape_tensor(tape, 3), 1), 1); /* 1 * 2 * 0.5, at the index of both */
    ck_assert(!tg_ok(tg_tape_tensor(tape, 4)) && !tg_ok(tg_tape_tensor(tape, -1)) && !tg_ok(tg_tape_tensor(NULL, 0)));
}
END_TEST

START_TEST(the_graph_frames_each_backward_pass)
{
    tg_tensor x = tg_named(tg_variable(tape, TG_F64, (double[]){3}, TG_SCALAR), "x"), first, second;
    tg_tensor f = tg_square(x);
    ck_assert(tg_grad(&f, 1, &x, 1, NULL, true, &first) && tg_grad(&first, 1, &x, 1, NULL, false, &second));
    ck_assert_double_eq(tg_item(f), 9);
    ck_assert_double_eq(tg_item(first), 6);
    ck_assert_double_eq(tg_item(second), 2);
    char graph[4000];
    ck_assert_uint_lt(tg_tape_dot(tape, graph, sizeof graph), sizeof graph);
    const char *one = strstr(graph, "label=\"backward pass 1\""), *two = strstr(graph, "label=\"backward pass 2\"");
    const char *square = strstr(graph, "v1 [label=\"square"), *ones = strstr(graph, "v2 [label=\"full");
    ck_assert(one && two && square && ones);
    ck_assert(square < one && one < ones && ones < two);
    ck_assert_ptr_null(strstr(graph, "backward pass 3"));
}
END_TEST

Suite *derivatives_suite(void)
{
    Suite *suite = suite_create("derivatives");
    TCase *tests = tcase_create("derivatives");
    tcase_add_checked_fixture(tests, make_tape, free_tape);
    tcase_add_test(tests, the_jacobian_is_the_one_on_paper);
    tcase_add_test(tests, the_graph_frames_each_backward_pass);
    tcase_add_test(tests, the_jacobian_of_a_tensor_by_itself_is_the_identity);
    tcase_add_test(tests, jvp_and_vjp_are_the_jacobian_from_both_sides);
    tcase_add_test(tests, the_jvp_of_a_linear_function_is_the_function);
    tcase_add_test(tests, the_hessian_and_its_products_are_those_on_paper);
    tcase_add_test(tests, a_stopped_gradient_is_a_constant_to_every_derivative);
    tcase_add_test(tests, anomaly_mode_names_the_first_operation_that_made_an_infinity);
    tcase_add_test(tests, anomaly_mode_names_the_derivative_that_made_an_infinity);
    tcase_add_test(tests, anomaly_mode_looks_at_the_backward_pass_and_lets_given_infinities_pass);
    tcase_add_test(tests, anomaly_mode_names_the_element_of_the_data_or_parameter_that_is_nan);
    tcase_add_test(tests, anomaly_mode_says_so_if_an_input_has_no_range);
    tcase_add_test(tests, the_tape_lists_itself_and_says_how_long_the_list_is);
    suite_add_tcase(suite, tests);
    return suite;
}
