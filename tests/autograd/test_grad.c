/* Reverse mode: accumulation, sharing, order, hooks, and tapes so long that recursion would overflow. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

Suite *grad_suite(void);

static tg_tape *tape;

static void make_tape(void)
{
    tape = tg_tape_new();
}

static void free_tape(void)
{
    tg_tape_free(tape);
}

static tg_tensor variable(double value)
{
    return tg_variable(tape, TG_F64, &value, TG_SCALAR);
}

static double gradient_of(tg_tensor y, tg_tensor x)
{
    ck_assert(tg_backward(y));
    return tg_item(tg_gradient(x));
}

START_TEST(a_value_used_twice_counts_twice)
{
    tg_tensor x = variable(3);
    ck_assert_double_eq(gradient_of(tg_add(x, x), x), 2);
    x = variable(3);
    ck_assert_double_eq(gradient_of(tg_mul(x, x), x), 6);
    x = variable(3);
    ck_assert_double_eq(gradient_of(tg_mul_scalar(tg_mul(x, x), 2), x), 12); /* d(2x^2)/dx at 3 */
    x = variable(3);
    ck_assert_double_eq(gradient_of(tg_sub(x, x), x), 0);
    x = variable(3);
    ck_assert_double_eq(gradient_of(tg_div(x, x), x), 0);
}
END_TEST

START_TEST(a_diamond_adds_up_both_ways)
{
    /* y = (2x + 1)(x^2): dy = 2 x^2 + (2x + 1) 2x, at 3: 18 + 42. */
    tg_tensor x = variable(3);
    tg_tensor left = tg_add_scalar(tg_mul_scalar(x, 2), 1), right = tg_mul(x, x);
    ck_assert_double_eq(gradient_of(tg_mul(left, right), x), 60);
    /* Diamonds in a row: x -> x + x, 50 times; each doubles the gradient. */
    x = variable(1);
    tg_tensor y = x;
    for (int i = 0; i < 50; i++)
        y = tg_add(y, y);
    ck_assert_double_eq(gradient_of(y, x), 0x1p50);
}
END_TEST

START_TEST(cotangents_shared_by_two_inputs_are_not_added_into_each_other)
{
    /* s = a + b passes one cotangent to both operands. Then a gets two more contributions, which must not reach b. */
    tg_tensor a = variable(2), b = variable(5);
    tg_tensor more = tg_add(tg_mul(a, a), tg_mul_scalar(a, 10));
    tg_tensor s = tg_add(a, b);
    tg_tensor loss = tg_add(more, tg_add(s, s));
    ck_assert(tg_backward(loss));
    ck_assert_double_eq(tg_item(tg_gradient(a)), 4 + 10 + 2);
    ck_assert_double_eq(tg_item(tg_gradient(b)), 2);
}
END_TEST

START_TEST(backward_twice_adds_up_in_variables_and_parameters)
{
    double w = 4, g = 99;
    tg_parameter weight = {.name = "w", .dtype = TG_F64, .shape = TG_SCALAR, .data = &w, .gradient = &g};
    tg_tensor x = variable(3);
    tg_tensor y = tg_mul(tg_mul(x, x), tg_parameter_tensor(tape, &weight));
    ck_assert(tg_backward(y));
    ck_assert_double_eq(tg_item(tg_gradient(x)), 24);
    ck_assert_double_eq(g, 9); /* overwritten, as has_gradient was false */
    ck_assert(tg_backward(y));
    ck_assert_double_eq(tg_item(tg_gradient(x)), 48);
    ck_assert_double_eq(g, 18);
    tg_tape_reset(tape); /* without an optimiser's step, a further backward pass adds */
    y = tg_mul_scalar(tg_parameter_tensor(tape, &weight), 7);
    ck_assert(tg_backward(y));
    ck_assert_double_eq(g, 25);
    weight.has_gradient = false;
    ck_assert(tg_backward(y));
    ck_assert_double_eq(g, 7);
}
END_TEST

START_TEST(a_parameter_used_by_several_operations_gets_the_sum)
{
    double w[2] = {2, 3}, g[2];
    tg_parameter weight = {.name = "w", .dtype = TG_F64, .shape = TG_SHAPE(2), .data = w, .gradient = g};
    double data[6] = {1, 2, 3, 4, 5, 6};
    tg_tensor x = tg_constant(tape, TG_F64, data, TG_SHAPE(3, 2));
    tg_tensor first = tg_mul(x, tg_parameter_tensor(tape, &weight)); /* broadcast: summed on the way back */
    tg_tensor second = tg_mul(first, tg_parameter_tensor(tape, &weight));
    tg_tensor third = tg_add(tg_sum(second), tg_sum(tg_parameter_tensor(tape, &weight)));
    ck_assert(tg_backward(third));
    /* sum x w^2 + sum w: 2 w sum x + 1, column by column. */
    ck_assert_double_eq(g[0], 2 * 2 * 9 + 1);
    ck_assert_double_eq(g[1], 2 * 3 * 12 + 1);
}
END_TEST

START_TEST(constants_and_no_grad_scopes_stop_differentiation)
{
    tg_tensor x = variable(3);
    tg_no_grad_begin(tape);
    tg_tensor constant = tg_mul(x, x);
    tg_no_grad_end(tape);
    ck_assert_double_eq(gradient_of(tg_mul(constant, x), x), 9);
    ck_assert(!tg_backward(constant));
    ck_assert_ptr_nonnull(strstr(tg_tape_error(tape), "depends on no parameter"));
}
END_TEST

START_TEST(to_tg_grad_a_no_grad_scope_is_a_constant_as_well)
{
    tg_tensor x = variable(3), dx;
    tg_no_grad_begin(tape);
    tg_tensor constant = tg_mul(x, x);
    tg_no_grad_end(tape);
    tg_tensor y = tg_mul(constant, x);
    ck_assert(tg_grad(&y, 1, &x, 1, NULL, false, &dx));
    ck_assert_double_eq(tg_item(dx), 9);
    ck_assert(tg_grad(&constant, 1, &x, 1, NULL, false, &dx));
    ck_assert_double_eq(tg_item(dx), 0);
    tg_tensor both[] = {x, constant}, gradients[2]; /* the gradient does not flow through it as an input either */
    ck_assert(tg_grad(&y, 1, both, 2, NULL, false, gradients));
    ck_assert_double_eq(tg_item(gradients[0]), 9);
    ck_assert_double_eq(tg_item(gradients[1]), 3);
}
END_TEST

START_TEST(a_gradient_without_create_graph_is_not_differentiated_in_silence)
{
    /* Its intermediate results are overwritten, so a pass through them would give wrong numbers. */
    tg_tensor x = variable(0.5), y = tg_tanh(tg_mul(tg_square(x), tg_exp(x))), dy, d2y;
    ck_assert(tg_grad(&y, 1, &x, 1, NULL, false, &dy));
    tg_tensor of_it = tg_square(dy);
    ck_assert(tg_grad(&of_it, 1, &dy, 1, NULL, false, &d2y)); /* a gradient with respect to it is allowed */
    ck_assert(!tg_grad(&of_it, 1, &x, 1, NULL, false, &d2y));
    ck_assert_ptr_nonnull(strstr(tg_tape_error(tape), "computed without create_graph"));
}
END_TEST

START_TEST(a_loss_of_many_elements_is_refused_with_its_shape)
{
    double data[6] = {0};
    tg_tensor x = tg_variable(tape, TG_F64, data, TG_SHAPE(2, 3));
    ck_assert(!tg_backward(x));
    ck_assert_ptr_nonnull(strstr(tg_tape_error(tape), "not [2, 3]"));
}
END_TEST

START_TEST(a_cotangent_of_the_wrong_shape_is_refused_with_both_shapes)
{
    double data[6] = {0};
    tg_tensor x = tg_variable(tape, TG_F64, data, TG_SHAPE(2, 3));
    ck_assert(!tg_backward_from(x, tg_full(tape, TG_F64, TG_SHAPE(3, 2), 1)));
    ck_assert_str_eq(tg_tape_error(tape),
                     "tg_backward_from: the cotangent is f64[3, 2], but what it belongs to is f64[2, 3]");
}
END_TEST

START_TEST(gradients_have_gradients)
{
    /* x^5: 5 x^4, 20 x^3, 60 x^2, 120 x, 120, 0 */
    tg_tensor x = variable(1.5), y = tg_mul(tg_mul(tg_mul(x, x), tg_mul(x, x)), x);
    const double expected[] = {5 * pow(1.5, 4), 20 * pow(1.5, 3), 60 * 1.5 * 1.5, 180, 120, 0};
    for (int order = 0; order < 6; order++) {
        tg_tensor dy;
        ck_assert(tg_grad(&y, 1, &x, 1, NULL, true, &dy));
        ck_assert_double_eq_tol(tg_item(dy), expected[order], 1e-12);
        y = dy;
    }
}
END_TEST

START_TEST(grad_takes_several_outputs_inputs_and_intermediates)
{
    tg_tensor x = variable(2), c = tg_full(tape, TG_F64, TG_SCALAR, 3); /* constants have gradients too */
    tg_tensor middle = tg_mul(x, c), unrelated = variable(1);
    tg_tensor outputs[2] = {tg_mul(middle, middle), tg_mul_scalar(x, 5)};
    tg_tensor inputs[4] = {x, c, middle, unrelated}, cotangents[2] = {{0}, tg_full(tape, TG_F64, TG_SCALAR, 10)};
    tg_tensor gradients[4];
    ck_assert(tg_grad(outputs, 2, inputs, 4, cotangents, false, gradients));
    ck_assert_double_eq(tg_item(gradients[0]), 2 * 6 * 3 + 50);
    ck_assert_double_eq(tg_item(gradients[1]), 2 * 6 * 2);
    ck_assert_double_eq(tg_item(gradients[2]), 12);
    ck_assert_double_eq(tg_item(gradients[3]), 0);
    ck_assert(!tg_ok(tg_gradient(x))); /* tg_grad does not write the parameter's gradient */
}
END_TEST

START_TEST(an_output_given_several_times_counts_as_often)
{
    tg_tensor x = variable(2), y = tg_mul(x, x), outputs[4] = {y, y, y, y}, gradient;
    ck_assert(tg_grad(outputs, 4, &x, 1, NULL, false, &gradient));
    ck_assert_double_eq(tg_item(gradient), 16);
}
END_TEST

START_TEST(buffers_of_cotangents_are_used_again)
{
    /* A chain of 100 products of 1,000 numbers: its backward pass needs a few buffers, not hundreds. */
    double data[1000];
    for (int i = 0; i < 1000; i++)
        data[i] = 1 + 1e-5 * i;
    tg_tensor x = tg_variable(tape, TG_F64, data, TG_SHAPE(1000)), y = x;
    for (int i = 0; i < 100; i++)
        y = tg_mul(y, x);
    int64_t forward = tg_tape_count(tape).bytes_used;
    ck_assert(tg_backward(tg_sum(y)));
    int64_t backward = tg_tape_count(tape).bytes_used - forward;
    ck_assert_int_lt(backward, 10 * (int64_t)sizeof data + 1000 * 400); /* and the records of at most 400 operations */
    for (int i = 0; i < 1000; i += 99)
        ck_assert_double_eq_tol(tg_at(tg_gradient(x), i), 101 * pow(data[i], 100), 1e-10);
}
END_TEST

/* In a chain of relus each gradient needs its cotangent only, so all of them need two buffers. */
START_TEST(a_cotangent_makes_room_once_it_is_read)
{
    enum { N = 1 << 14, BYTES = 8 * N };
    static double data[N];
    for (int i = 0; i < N; i++)
        data[i] = i % 3 - 1;
    const tg_tensor x = tg_variable(tape, TG_F64, data, TG_SHAPE(N));
    tg_tensor y = x;
    for (int i = 0; i < 5; i++)
        y = tg_relu(y);
    const tg_tensor ones = tg_full(tape, TG_F64, TG_SHAPE(N), 1);
    y = tg_sum(tg_mul(y, ones));
    const int64_t forward = tg_tape_count(tape).bytes_used;
    ck_assert(tg_backward(y));
    const int64_t backward = tg_tape_count(tape).bytes_used - forward;
    ck_assert_msg(backward < 5 * BYTES / 2, "%lld bytes, a buffer has %d", (long long)backward, BYTES);
    for (int i = 0; i < N; i += 101)
        ck_assert_double_eq(tg_at(tg_gradient(x), i), data[i] > 0);
}
END_TEST

/* Memory of a backward pass through layers whose cotangents are views, are passed on, or are replaced by sums. */
static int64_t bytes_of_a_pass(int layers)
{
    enum { N = 4096 };
    static float data[N];
    tg_tape_reset(tape);
    tg_tensor x = tg_variable(tape, TG_F32, data, TG_SHAPE(64, 64)), h = x;
    for (int i = 0; i < layers; i++) {
        tg_tensor wide = tg_reshape(tg_mul(tg_normalize(h, true, 1e-5), x), TG_SHAPE(2, 2048));
        const tg_tensor halves[] = {tg_narrow(wide, 0, 1, 1), tg_narrow(wide, 0, 0, 1)};
        h = tg_add(h, tg_transpose(tg_reshape(tg_concat(halves, 2, 0), TG_SHAPE(64, 64)), 0, 1));
    }
    const int64_t forward = tg_tape_count(tape).bytes_used;
    ck_assert_msg(tg_backward(tg_sum(h)), "%s", tg_tape_error(tape));
    return tg_tape_count(tape).bytes_used - forward;
}

START_TEST(what_a_pass_takes_does_not_grow_with_depth)
{
    const int64_t few = bytes_of_a_pass(4), many = bytes_of_a_pass(24);
    ck_assert_msg(many - few < 20 * 8000, "%lld bytes for 4 layers, %lld for 24", (long long)few,
                  (long long)many); /* allowance for the records; a tensor has 16384 bytes */
}
END_TEST

enum { VIEWS = 20, LONG = 60 };

static tg_tensor keep_cotangent(tg_tensor cotangent, void *to)
{
    *(tg_tensor *)to = cotangent;
    return cotangent;
}

/* The gradients are views of results of the pass, all of one size, so that a buffer released too early is soon
 * reused. */
START_TEST(gradients_that_are_views_stay_what_they_are)
{
    double data[VIEWS][LONG];
    tg_tensor x[VIEWS], gradient[VIEWS], sum = variable(0);
    for (int i = 0; i < VIEWS; i++) {
        for (int k = 0; k < LONG; k++)
            data[i][k] = 100 * i + k;
        x[i] = tg_variable(tape, TG_F64, data[i], TG_SHAPE(LONG));
        tg_tensor y = tg_mul_scalar(x[i], 1),
                  z = tg_reshape(tg_reshape(_i == 0 ? x[i] : y, TG_SHAPE(6, 10)), TG_SHAPE(10, 6));
        if (_i == 1)
            tg_retain_gradient(y);
        if (_i == 2)
            tg_add_hook(y, keep_cotangent, &gradient[i]);
        x[i] = _i == 0 ? x[i] : y;
        sum = tg_add(sum, tg_sum(tg_mul(tg_square(z), tg_exp(tg_mul_scalar(z, 0)))));
    }
    if (_i == 3)
        ck_assert(tg_grad(&sum, 1, x, VIEWS, NULL, false, gradient));
    else
        ck_assert(tg_backward(sum));
    for (int i = 0; i < VIEWS; i++)
        for (int k = 0; k < LONG; k++)
            ck_assert_double_eq(tg_at(_i < 2 ? tg_gradient(x[i]) : gradient[i], k), 2 * data[i][k]);
}
END_TEST

START_TEST(grad_does_not_touch_parameters)
{
    double w = 4, g = 99;
    tg_parameter weight = {.name = "w", .dtype = TG_F64, .shape = TG_SCALAR, .data = &w, .gradient = &g};
    tg_tensor p = tg_parameter_tensor(tape, &weight), y = tg_mul(p, p), dy;
    ck_assert(tg_grad(&y, 1, &p, 1, NULL, false, &dy));
    ck_assert_double_eq(tg_item(dy), 8);
    ck_assert_double_eq(g, 99);
    ck_assert(!weight.has_gradient);
}
END_TEST

static tg_tensor clip_to_one(tg_tensor cotangent, void *calls)
{
    ++*(int *)calls;
    return tg_mul_scalar(cotangent, 1 / fmax(1, fabs(tg_item(cotangent))));
}

START_TEST(a_hook_sees_the_complete_cotangent_once_and_may_change_it)
{
    int calls = 0;
    tg_tensor x = variable(3), middle = tg_mul_scalar(x, 1);
    ck_assert(tg_add_hook(middle, clip_to_one, &calls));
    tg_tensor y = tg_add(tg_mul_scalar(middle, 5), tg_mul_scalar(middle, 7));
    ck_assert_double_eq(gradient_of(y, x), 1);
    ck_assert_int_eq(calls, 1);
}
END_TEST

START_TEST(a_hook_on_a_parameter_changes_its_gradient)
{
    int calls = 0;
    double w = 4, g;
    tg_parameter weight = {.name = "w", .dtype = TG_F64, .shape = TG_SCALAR, .data = &w, .gradient = &g};
    tg_tensor p = tg_parameter_tensor(tape, &weight);
    tg_add_hook(p, clip_to_one, &calls);
    ck_assert(tg_backward(tg_mul(p, p)));
    ck_assert_double_eq(g, 1);
    ck_assert_int_eq(calls, 1);
}
END_TEST

static tg_tensor doubled_in_length(tg_tensor cotangent, void *user)
{
    (void)user;
    return tg_full(tg_tape_of(cotangent), TG_F64, TG_SHAPE(2 * tg_size(cotangent)), 1);
}

static void too_long_derivative(const tg_derive *d)
{
    d->gradient[0] = doubled_in_length(d->cotangent, NULL);
}

START_TEST(a_derivative_or_hook_of_the_wrong_shape_is_an_error_and_not_a_wild_write)
{
    double data[3] = {1, 2, 3}, gradient[3];
    tg_parameter p = {.dtype = TG_F64, .shape = TG_SHAPE(3), .data = data, .gradient = gradient};
    tg_op op = tg_op_copy;
    op.name = "too_long";
    op.derivative = too_long_derivative;
    tg_tensor x = tg_parameter_tensor(tape, &p), y = tg_sum(tg_apply(&op, NULL, 1, &x));
    ck_assert(!tg_backward(y));
    ck_assert_str_eq(tg_tape_error(tape), "the derivative of too_long gives f64[6] for an input f64[3]");
    tg_tape_clear_error(tape);
    tg_tape_reset(tape);
    x = tg_parameter_tensor(tape, &p);
    tg_add_hook(x, doubled_in_length, NULL);
    ck_assert(!tg_backward(tg_sum(tg_copy(x))));
    ck_assert_ptr_nonnull(strstr(tg_tape_error(tape), "a leaf) returned a tensor of another shape"));
}
END_TEST

START_TEST(intermediate_gradients_are_kept_on_request)
{
    tg_tensor x = variable(3), kept = tg_retain_gradient(tg_mul(x, x)), lost = tg_mul_scalar(kept, 2);
    ck_assert(tg_backward(tg_mul(lost, lost)));
    ck_assert_double_eq(tg_item(tg_gradient(kept)), 2 * 18 * 2);
    ck_assert(!tg_ok(tg_gradient(lost)));
}
END_TEST

START_TEST(empty_tensors_go_through_forward_and_backward)
{
    tg_tensor x = tg_variable(tape, TG_F64, NULL, TG_SHAPE(0, 3));
    tg_tensor y = tg_sum(tg_mul(tg_add(x, tg_full(tape, TG_F64, TG_SHAPE(3), 1)), x));
    ck_assert_double_eq(tg_item(y), 0);
    ck_assert(tg_backward(y));
    ck_assert_int_eq(tg_size(tg_gradient(x)), 0);
    ck_assert(tg_ok(tg_gradient(x)));
}
END_TEST

START_TEST(a_chain_of_a_million_operations_needs_no_stack)
{
    tg_tensor x = variable(1), y = x;
    for (int i = 0; i < 1000000; i++)
        y = tg_add_scalar(y, 1e-6);
    ck_assert_double_eq_tol(tg_item(y), 2, 1e-9);
    ck_assert_double_eq(gradient_of(y, x), 1);
}
END_TEST

START_TEST(a_hundred_thousand_consumers_of_one_tensor_are_added_up)
{
    enum { CONSUMERS = 100000 };
    tg_tensor x = variable(1), y = tg_mul_scalar(x, 0);
    for (int i = 1; i < CONSUMERS; i++)
        y = tg_add(y, tg_mul_scalar(x, i));
    ck_assert_double_eq(gradient_of(y, x), 0.5 * CONSUMERS * (CONSUMERS - 1.));
}
END_TEST

START_TEST(grad_by_a_result_of_more_inputs_than_the_pass_walks_stays_in_its_memory)
{
    enum { INPUTS = 40000 };
    tg_tensor *parts = calloc(INPUTS, sizeof *parts), gradient;
    ck_assert_ptr_nonnull(parts);
    for (int i = 0; i < INPUTS; i++)
        parts[i] = tg_full(tape, TG_F64, TG_SHAPE(1), i);
    tg_tensor all = tg_concat(parts, INPUTS, 0), y = tg_sum(tg_square(all));
    ck_assert(tg_grad(&y, 1, &all, 1, NULL, false, &gradient));
    ck_assert_double_eq(tg_at(gradient, INPUTS - 1), 2 * (INPUTS - 1.));
    free(parts);
}
END_TEST

Suite *grad_suite(void)
{
    Suite *suite = suite_create("grad");
    TCase *tests = tcase_create("grad");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, make_tape, free_tape);
    tcase_add_test(tests, a_value_used_twice_counts_twice);
    tcase_add_test(tests, a_diamond_adds_up_both_ways);
    tcase_add_test(tests, cotangents_shared_by_two_inputs_are_not_added_into_each_other);
    tcase_add_test(tests, backward_twice_adds_up_in_variables_and_parameters);
    tcase_add_test(tests, a_parameter_used_by_several_operations_gets_the_sum);
    tcase_add_test(tests, constants_and_no_grad_scopes_stop_differentiation);
    tcase_add_test(tests, to_tg_grad_a_no_grad_scope_is_a_constant_as_well);
    tcase_add_test(tests, a_gradient_without_create_graph_is_not_differentiated_in_silence);
    tcase_add_test(tests, a_loss_of_many_elements_is_refused_with_its_shape);
    tcase_add_test(tests, a_cotangent_of_the_wrong_shape_is_refused_with_both_shapes);
    tcase_add_test(tests, gradients_have_gradients);
    tcase_add_test(tests, grad_takes_several_outputs_inputs_and_intermediates);
    tcase_add_test(tests, an_output_given_several_times_counts_as_often);
    tcase_add_test(tests, buffers_of_cotangents_are_used_again);
    tcase_add_test(tests, a_cotangent_makes_room_once_it_is_read);
    tcase_add_test(tests, what_a_pass_takes_does_not_grow_with_depth);
    tcase_add_loop_test(tests, gradients_that_are_views_stay_what_they_are, 0, 4);
    tcase_add_test(tests, grad_does_not_touch_parameters);
    tcase_add_test(tests, a_hook_sees_the_complete_cotangent_once_and_may_change_it);
    tcase_add_test(tests, a_hook_on_a_parameter_changes_its_gradient);
    tcase_add_test(tests, a_derivative_or_hook_of_the_wrong_shape_is_an_error_and_not_a_wild_write);
    tcase_add_test(tests, intermediate_gradients_are_kept_on_request);
    tcase_add_test(tests, empty_tensors_go_through_forward_and_backward);
    tcase_add_test(tests, a_chain_of_a_million_operations_needs_no_stack);
    tcase_add_test(tests, a_hundred_thousand_consumers_of_one_tensor_are_added_up);
    tcase_add_test(tests, grad_by_a_result_of_more_inputs_than_the_pass_walks_stays_in_its_memory);
    suite_add_tcase(suite, tests);
    return suite;
}
