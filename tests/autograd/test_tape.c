/* The tape: ownership, handles of removed tensors, sticky errors, memory. */
#include "tests/support/wrapped_memory.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tapegrad.h>
#if !defined _WIN32
#include <sys/resource.h>
#endif

Suite *tape_suite(void);

static tg_tape *tape;

static void make_tape(void)
{
    tape = tg_tape_new();
}

static void free_tape(void)
{
    tg_tape_free(tape);
}

/* 1, 2, 3, ... */
static tg_tensor numbers(int64_t count)
{
    double values[64];
    for (int64_t i = 0; i < count; i++)
        values[i] = (double)i + 1;
    return tg_constant(tape, TG_F64, values, TG_SHAPE(count));
}

START_TEST(a_tensor_of_the_last_step_is_an_error_and_not_a_wild_read)
{
    tg_tensor old = numbers(3);
    tg_tape_reset(tape);
    tg_tensor young = numbers(4); /* gets the address of the old one */
    ck_assert(!tg_ok(old));
    ck_assert_int_eq(tg_size(old), 0);
    ck_assert_ptr_null(tg_tape_error(tape));
    ck_assert_ptr_null(tg_data(old));
    ck_assert_str_eq(tg_tape_error(tape), "tg_data: it cannot read a tensor of a step that ended with tg_tape_reset");
    tg_tape_clear_error(tape);
    ck_assert(isnan(tg_at(old, 0)));
    ck_assert_ptr_nonnull(strstr(tg_tape_error(tape), "tg_at: it cannot read a tensor of a step that ended"));
    tg_tape_clear_error(tape);
    ck_assert(!tg_ok(tg_add(young, old)));
    ck_assert_ptr_nonnull(strstr(tg_tape_error(tape), "add: input 1 is a tensor of a step that ended"));
}
END_TEST

START_TEST(an_operation_on_dead_tensors_only_tells_the_tape_as_well)
{
    tg_tensor old = numbers(3);
    tg_tape_reset(tape);
    ck_assert(!tg_ok(tg_add(old, old)));
    ck_assert_ptr_nonnull(tg_tape_error(tape));
}
END_TEST

START_TEST(two_tapes_do_not_mix)
{
    tg_tape *other = tg_tape_new();
    tg_tensor foreign = tg_full(other, TG_F64, TG_SHAPE(3), 1);
    ck_assert(!tg_ok(tg_add(numbers(3), foreign)));
    ck_assert_str_eq(tg_tape_error(tape), "add: input 1 is a tensor of another tape");
    ck_assert_ptr_null(tg_tape_error(other));
    tg_tape_free(other);
}
END_TEST

START_TEST(a_shape_error_names_both_shapes_the_names_and_the_place)
{
    tg_scope_begin(tape, "layers");
    tg_scope_begin(tape, "3");
    tg_tensor a = tg_named(tg_full(tape, TG_F32, TG_SHAPE(2, 3), 1), "points");
    tg_tensor b = tg_full(tape, TG_F32, TG_SHAPE(4), 1);
    tg_add(a, b);
    const char *error = tg_tape_error(tape);
    ck_assert_ptr_nonnull(strstr(error, "add(points f32[2, 3], f32[4])"));
    ck_assert_ptr_nonnull(strstr(error, "in layers.3"));
}
END_TEST

START_TEST(scopes_are_nested_to_any_depth)
{
    enum { DEPTH = 20000 };
    for (int i = 0; i < DEPTH; i++)
        tg_scope_begin(tape, "s");
    tg_square(tg_constant(tape, TG_F64, (double[]){1}, TG_SCALAR));
    char text[2000];
#if defined _WIN32 /* whose threads have stacks of a mebibyte */
    ck_assert_uint_gt(tg_tape_table(tape, text, sizeof text), 0);
#else
    struct rlimit stack, before;
    getrlimit(RLIMIT_STACK, &before);
    stack = before;
    stack.rlim_cur = 256 << 10; /* a recursion over all of them does not fit */
    setrlimit(RLIMIT_STACK, &stack);
    ck_assert_uint_gt(tg_tape_table(tape, text, sizeof text), 0);
    setrlimit(RLIMIT_STACK, &before);
#endif
    ck_assert_msg(strstr(text, "s.s.s") != NULL, "%s", text);
}
END_TEST

START_TEST(the_name_of_a_scope_may_change_after_the_call)
{
    for (int step = 0; step < 3; step++) {
        char name[16];
        tg_tape_reset(tape);
        for (int i = 0; i < 2; i++) {
            snprintf(name, sizeof name, "layers.%d", i);
            tg_scope_begin(tape, name);
            numbers(3);
            tg_scope_end(tape);
        }
        char table[1000];
        tg_tape_table(tape, table, sizeof table);
        ck_assert_msg(strstr(table, "layers.0") && strstr(table, "layers.1"), "%s", table);
        ck_assert_int_eq(tg_tape_count(tape).recorded, 2);
    }
}
END_TEST

START_TEST(the_first_error_stays_until_cleared_and_stops_everything_else)
{
    tg_tensor a = numbers(3), b = numbers(4);
    tg_tensor bad = tg_add(a, b);
    char first[512];
    strcpy(first, tg_tape_error(tape));
    ck_assert(!tg_ok(tg_mul(bad, a)));
    ck_assert(!tg_ok(tg_mul(a, a)));
    ck_assert(!tg_ok(tg_constant(tape, TG_F64, NULL, TG_SHAPE(2))));
    ck_assert(!tg_backward(bad));
    tg_tape_reset(tape);
    ck_assert_str_eq(tg_tape_error(tape), first);
    tg_tape_clear_error(tape);
    ck_assert_ptr_null(tg_tape_error(tape));
    ck_assert(tg_ok(numbers(2)));
}
END_TEST

START_TEST(a_failed_operation_leaves_the_tape_usable_after_clearing)
{
    tg_tensor a = numbers(3);
    tg_add(a, numbers(4));
    tg_tape_clear_error(tape);
    tg_tensor sum = tg_sum(tg_add(a, a));
    ck_assert_double_eq(tg_item(sum), 12);
}
END_TEST

/* An operation that rejects negative numbers. */
static bool picky_shape(tg_value *out)
{
    tg_value_set(out, tg_value_dtype(out), *tg_value_shape(tg_value_input(out, 0)));
    return true;
}

static void picky_forward(const tg_call *call)
{
    const double *x = call->in[0];
    for (int64_t i = 0; i < tg_value_size(call->value); i++)
        if (x[i] < 0)
            tg_expected(call->value, "element %lld is negative", (long long)i);
}

START_TEST(a_forward_function_may_refuse_its_data)
{
    static const tg_op picky = {
        .name = "picky", .arity = 1, .flags = TG_CONSTANT, .shape = picky_shape, .forward = picky_forward};
    tg_tensor x = tg_neg(numbers(3));
    ck_assert(!tg_ok(tg_apply(&picky, NULL, 1, &x)));
    ck_assert_str_eq(tg_tape_error(tape), "picky(f64[3]): element 0 is negative (operation 2 of the tape)");
    tg_tape_clear_error(tape);
    ck_assert_double_eq(tg_at(tg_neg(x), 2), 3);
}
END_TEST

START_TEST(types_do_not_mix_and_integers_have_no_arithmetic)
{
    int32_t labels[2] = {0, 1};
    tg_add(tg_full(tape, TG_F32, TG_SHAPE(2), 1), tg_full(tape, TG_F64, TG_SHAPE(2), 1));
    ck_assert_ptr_nonnull(strstr(tg_tape_error(tape), "add(f32[2], f64[2]): expected inputs of one floating type"));
    tg_tape_clear_error(tape);
    tg_tensor integers = tg_constant(tape, TG_I32, labels, TG_SHAPE(2));
    ck_assert(!tg_ok(tg_add(integers, integers)));
    ck_assert_ptr_nonnull(tg_tape_error(tape));
}
END_TEST

START_TEST(null_and_inert_arguments_are_survived_everywhere)
{
    tg_tensor none = {0}, out;
    tg_tape_free(NULL);
    tg_tape_reset(NULL);
    tg_tape_clear_error(NULL);
    ck_assert_ptr_nonnull(tg_tape_error(NULL));
    tg_no_grad_begin(NULL);
    tg_no_grad_end(NULL);
    tg_scope_begin(NULL, "x");
    tg_scope_end(NULL);
    tg_scope_end(tape);
    tg_no_grad_end(tape);
    ck_assert(!tg_ok(tg_constant(NULL, TG_F32, NULL, TG_SCALAR)));
    ck_assert(!tg_ok(tg_borrow(NULL, TG_F32, NULL, TG_SCALAR)));
    ck_assert(!tg_ok(tg_variable(NULL, TG_F32, NULL, TG_SCALAR)));
    ck_assert(!tg_ok(tg_parameter_tensor(tape, NULL)));
    ck_assert(!tg_ok(tg_parameter_tensor(NULL, NULL)));
    ck_assert(!tg_ok(tg_named(none, "x")));
    ck_assert(!tg_ok(tg_add(none, none)));
    ck_assert(!tg_ok(tg_reshape(none, TG_SHAPE(1))));
    ck_assert(!tg_backward(none));
    ck_assert(!tg_backward_from(none, none));
    ck_assert(!tg_ok(tg_gradient(none)));
    ck_assert(!tg_ok(tg_retain_gradient(none)));
    ck_assert(!tg_add_hook(none, NULL, NULL));
    ck_assert(!tg_grad(NULL, 0, NULL, 0, NULL, false, NULL));
    ck_assert(!tg_grad(&none, 1, &none, 1, NULL, false, &out));
    ck_assert(!tg_read(none, TG_F32, NULL, 0));
    ck_assert_int_eq(tg_tape_count(NULL).values, 0);
    ck_assert_ptr_null(tg_tape_of(none));
    ck_assert(!tg_shape_equal(NULL, NULL));
    ck_assert(!tg_shape_broadcast(NULL, NULL, NULL));
    ck_assert_int_eq(tg_shape_size(NULL), -1);
    ck_assert_ptr_nonnull(tg_op_missing(NULL));
    ck_assert_ptr_null(tg_op_find(NULL));
    ck_assert(!tg_ok(tg_apply(NULL, NULL, 0, NULL)));
    ck_assert(!tg_ok(tg_apply_on(NULL, NULL, NULL)));
}
END_TEST

START_TEST(impossible_shapes_are_refused)
{
    const tg_shape bad[] = {{1, {-1}}, {9, {1}}, {-1, {0}}, {2, {INT64_C(1) << 40, INT64_C(1) << 40}}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert(!tg_ok(tg_full(tape, TG_F32, bad[i], 0)));
        ck_assert_ptr_nonnull(tg_tape_error(tape));
        tg_tape_clear_error(tape);
    }
    /* A tensor larger than memory: an error like any other. */
    ck_assert(!tg_ok(tg_full(tape, TG_F32, TG_SHAPE(INT64_C(1) << 45), 0)));
    ck_assert_ptr_nonnull(strstr(tg_tape_error(tape), "out of memory"));
}
END_TEST

START_TEST(an_operation_without_a_derivative_is_refused_when_it_is_added)
{
    tg_op op = tg_op_add;
    op.name = "half_done";
    op.derivative = NULL;
    tg_tensor inputs[2] = {numbers(2), numbers(2)};
    ck_assert(!tg_ok(tg_apply(&op, NULL, 2, inputs)));
    ck_assert_str_eq(tg_tape_error(tape), "operation half_done is refused: it lacks its derivative (or the flag "
                                          "TG_CONSTANT, if it has none by nature)");
}
END_TEST

START_TEST(every_operation_of_the_registry_is_complete)
{
    int count = 0;
    for (const tg_op *op; (op = tg_op_at(count)); count++) {
        ck_assert_msg(!tg_op_missing(op), "%s lacks %s", op->name, tg_op_missing(op));
        ck_assert_msg(op->sample_count > 0 || op->flags & TG_SOURCE, "%s has no samples", op->name);
        ck_assert_msg(op->attributes_size == 0 || op->fields, "%s does not describe its attributes", op->name);
        ck_assert_ptr_eq(tg_op_find(op->name), op);
        ck_assert_ptr_nonnull(tg_op_formula(op));
    }
    ck_assert_int_gt(count, 5);
}
END_TEST

/* A step that uses a bit of everything; returns its result. */
static double step(tg_parameter *weight)
{
    double data[6] = {1, 2, 3, 4, 5, 6};
    tg_tape_reset(tape);
    tg_scope_begin(tape, "step");
    tg_tensor x = tg_constant(tape, TG_F64, data, TG_SHAPE(2, 3));
    tg_tensor w = tg_parameter_tensor(tape, weight);
    tg_tensor y = tg_mul(tg_add(x, w), w);
    tg_tensor loss = tg_sum(tg_div(y, tg_add_scalar(x, 1)));
    tg_scope_end(tape);
    bool fine = tg_backward(loss);
    weight->has_gradient = false;
    return fine ? tg_item(loss) : NAN;
}

START_TEST(a_step_like_the_last_one_allocates_nothing)
{
    double w[3] = {1, 2, 3}, g[3];
    tg_parameter weight = {.name = "w", .dtype = TG_F64, .shape = TG_SHAPE(3), .data = w, .gradient = g};
    const double first = step(&weight);
    for (int i = 0; i < 2; i++) /* the second repeats it, and the third moves it into planned memory */
        ck_assert_double_eq(step(&weight), first);
    int64_t allocations = tg_tape_count(tape).allocations;
    wrapped_memory_fail_after(0);
    bool alike = true;
    for (int i = 0; i < 50; i++)
        alike &= step(&weight) == first;
    ck_assert(!wrapped_memory_stop());
    ck_assert(alike);
    ck_assert_int_eq(tg_tape_count(tape).allocations, allocations);
}
END_TEST

/* The tensors grow a little in each step, so no buffer of the last step is large enough. */
static void hold_little(bool behind_a_leaf)
{
    enum { STEPS = 12, ELEMENTS = 5 << 20 };
    int64_t held = 0;
    for (int step = 0; step < STEPS; step++) {
        tg_tape_reset(tape);
        if (behind_a_leaf)
            tg_borrow(tape, TG_F64, &held, TG_SCALAR);
        tg_full(tape, TG_F64, TG_SHAPE(ELEMENTS + 100 * step), 1);
        ck_assert_ptr_null(tg_tape_error(tape));
        held = tg_tape_count(tape).bytes_held;
        ck_assert_int_lt(held, 4 * (int64_t)sizeof(double) * ELEMENTS);
    }
}

START_TEST(steps_that_grow_hold_a_small_multiple_of_the_largest)
{
    hold_little(false);
    hold_little(true);
}
END_TEST

START_TEST(running_out_of_memory_at_any_point_is_an_error_like_any_other)
{
    free_tape();
    for (int nth = 0;; nth++) {
        double w[3] = {1, 2, 3}, g[3];
        tg_parameter weight = {.name = "w", .dtype = TG_F64, .shape = TG_SHAPE(3), .data = w, .gradient = g};
        wrapped_memory_fail_after(nth);
        tape = tg_tape_new();
        double loss = step(&weight);
        bool failed = wrapped_memory_stop();
        ck_assert(failed == (isnan(loss) != 0));
        ck_assert(failed == (tg_tape_error(tape) != NULL));
        if (!failed)
            break;
        tg_tape_free(tape);
    }
}
END_TEST

static tg_tensor no_hook(tg_tensor cotangent, void *user)
{
    (void)user;
    return cotangent;
}

/* The first note on a tensor of a tape takes memory. */
START_TEST(a_note_on_a_tensor_without_memory_is_an_error)
{
    for (int hook = 0; hook < 2; hook++) {
        free_tape();
        tape = tg_tape_new();
        tg_tensor x = tg_variable(tape, TG_F64, (double[]){3}, TG_SHAPE(1)), y = tg_square(x);
        wrapped_memory_fail_after(0);
        const bool fine = hook ? !tg_add_hook(y, no_hook, NULL) : tg_retain_gradient(y).value == y.value;
        ck_assert(wrapped_memory_stop() && fine);
        ck_assert_str_eq(tg_tape_error(tape),
                         hook ? "out of memory: tg_add_hook" : "out of memory: tg_retain_gradient");
        tg_tape_clear_error(tape);
    }
}
END_TEST

START_TEST(a_parameter_outlives_its_tape_and_finds_itself_on_another)
{
    double w[3] = {1, 2, 3}, g[3];
    tg_parameter weight = {.name = "w", .dtype = TG_F64, .shape = TG_SHAPE(3), .data = w, .gradient = g};
    double first = step(&weight);
    tg_tape_free(tape);
    tape = tg_tape_new();
    ck_assert_double_eq(step(&weight), first);
}
END_TEST

START_TEST(elements_are_read_in_any_type)
{
    tg_tensor x = numbers(3);
    float f[3];
    int32_t n[3];
    ck_assert(tg_read(x, TG_F32, f, 3) && f[2] == 3.0f);
    ck_assert(tg_read(x, TG_I32, n, 3) && n[1] == 2);
    ck_assert(!tg_read(x, TG_F32, f, 2));
    ck_assert_ptr_null(tg_f32(x));
    ck_assert_ptr_nonnull(tg_f64(x));
    ck_assert(isnan(tg_item(x)) && isnan(tg_at(x, 3)) && isnan(tg_at(x, -1)));
    ck_assert_int_eq(tg_dim(x, -1), 3);
    ck_assert_int_eq(tg_dim(x, 1), 0);
}
END_TEST

START_TEST(broadcasting_follows_numpy)
{
    static const struct {
        tg_shape a, b, out;
        bool fits;
    } cases[] = {
        {{2, {3, 1}}, {1, {4}}, {2, {3, 4}}, true},
        {{0}, {2, {2, 2}}, {2, {2, 2}}, true},
        {{1, {0}}, {1, {1}}, {1, {0}}, true},
        {{1, {0}}, {1, {2}}, {0}, false},
        {{3, {8, 1, 6}}, {2, {7, 1}}, {3, {8, 7, 6}}, true},
        {{2, {2, 1}}, {3, {8, 4, 3}}, {0}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tg_shape out;
        ck_assert_int_eq(tg_shape_broadcast(&cases[i].a, &cases[i].b, &out), cases[i].fits);
        ck_assert(!cases[i].fits || tg_shape_equal(&out, &cases[i].out));
    }
}
END_TEST

/* One step of a small layer; its tensors are x, w, the product, relu, the sum and the backward pass. */
static void timed_step(tg_parameter *weight)
{
    static const double ones[6] = {1, 1, 1, 1, 1, 1};
    tg_tape_reset(tape);
    tg_tensor x = tg_borrow(tape, TG_F64, ones, TG_SHAPE(2, 3));
    tg_scope_begin(tape, "layers.7");
    tg_tensor y = tg_linear(x, tg_parameter_tensor(tape, weight), TG_NONE);
    tg_scope_end(tape);
    ck_assert(tg_backward(tg_sum(tg_relu(y))));
    weight->has_gradient = false;
}

START_TEST(times_add_up_for_every_operation)
{
    double values[12] = {1, 2, 3}, gradient[12];
    tg_parameter weight = {.name = "w", .dtype = TG_F64, .shape = TG_SHAPE(4, 3), .data = values, .gradient = gradient};
    tg_operation_time time;
    timed_step(&weight);
    tg_tape_time(tape, true);
    for (int step = 0; step < 3; step++)
        timed_step(&weight);
    tg_tape_time(tape, false);
    timed_step(&weight);
    int products = 0, backward = 0, leaves = 0;
    for (int64_t i = 0; tg_tape_time_at(tape, i, &time); i++) {
        ck_assert(time.runs == 0 || (time.runs == 3 && time.seconds > 0));
        leaves += time.runs == 0;
        if (time.flops > 0) { /* forward, and the weight's gradient */
            ck_assert_double_eq(time.flops, 2. * 2 * 3 * 4);
            ck_assert_str_eq(time.scope, "layers.7");
            products++;
            backward += time.backward;
        }
    }
    ck_assert(products == 2 && backward == 1 && leaves >= 2);
    tg_tape_time(tape, true); /* and starts from 0 again */
    ck_assert(tg_tape_time_at(tape, 2, &time) && time.runs == 0);
    ck_assert(!tg_tape_time_at(tape, -1, &time) && !tg_tape_time_at(tape, tg_tape_count(tape).values, &time) &&
              !tg_tape_time_at(NULL, 0, &time));
    ck_assert(!tg_tape_time_at(tape, 0, NULL));
    tg_tape_time(NULL, true);
}
END_TEST

Suite *tape_suite(void)
{
    Suite *suite = suite_create("tape");
    TCase *tests = tcase_create("tape");
    tcase_add_checked_fixture(tests, make_tape, free_tape);
    tcase_add_test(tests, a_tensor_of_the_last_step_is_an_error_and_not_a_wild_read);
    tcase_add_test(tests, an_operation_on_dead_tensors_only_tells_the_tape_as_well);
    tcase_add_test(tests, two_tapes_do_not_mix);
    tcase_add_test(tests, scopes_are_nested_to_any_depth);
    tcase_add_test(tests, the_name_of_a_scope_may_change_after_the_call);
    tcase_add_test(tests, a_shape_error_names_both_shapes_the_names_and_the_place);
    tcase_add_test(tests, the_first_error_stays_until_cleared_and_stops_everything_else);
    tcase_add_test(tests, a_failed_operation_leaves_the_tape_usable_after_clearing);
    tcase_add_test(tests, a_forward_function_may_refuse_its_data);
    tcase_add_test(tests, types_do_not_mix_and_integers_have_no_arithmetic);
    tcase_add_test(tests, null_and_inert_arguments_are_survived_everywhere);
    tcase_add_test(tests, impossible_shapes_are_refused);
    tcase_add_test(tests, an_operation_without_a_derivative_is_refused_when_it_is_added);
    tcase_add_test(tests, every_operation_of_the_registry_is_complete);
    tcase_add_test(tests, a_step_like_the_last_one_allocates_nothing);
    tcase_add_test(tests, steps_that_grow_hold_a_small_multiple_of_the_largest);
    tcase_add_test(tests, a_note_on_a_tensor_without_memory_is_an_error);
    tcase_add_test(tests, running_out_of_memory_at_any_point_is_an_error_like_any_other);
    tcase_add_test(tests, a_parameter_outlives_its_tape_and_finds_itself_on_another);
    tcase_add_test(tests, elements_are_read_in_any_type);
    tcase_add_test(tests, broadcasting_follows_numpy);
    tcase_add_test(tests, times_add_up_for_every_operation);
    suite_add_tcase(suite, tests);
    return suite;
}
