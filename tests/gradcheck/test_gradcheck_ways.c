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

/* ---- zeros ---- */

static const tg_op *base;
static bool with_nan;

/* NaN at zeros, or half as much again. */
static void wrong_at_zero(const tg_derive *d)
{
    base->derivative(d);
    tg_tape *tape = tg_tape_of(d->cotangent);
    const tg_dtype type = tg_dtype_of(d->cotangent);
    tg_tensor one = tg_full(tape, type, TG_SCALAR, 1), zero = tg_full(tape, type, TG_SCALAR, 0);
    tg_tensor factor = with_nan ? tg_div(d->in[0], d->in[0])
                                : tg_where(tg_equal(d->in[0], zero), tg_full(tape, type, TG_SCALAR, 1.5), one);
    d->gradient[0] = tg_mul(d->gradient[0], factor);
}

START_TEST(zeros_are_tried_in_operations_that_are_not_elementwise)
{
    static const tg_op *const ops[] = {&tg_op_sum_over, &tg_op_cumsum,        &tg_op_softmax, &tg_op_norm_over,
                                       &tg_op_linear,   &tg_op_max_pool2d,    &tg_op_matmul,  &tg_op_normalize,
                                       &tg_op_var_over, &tg_op_self_attention};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        for (int nan = ops[i] == &tg_op_norm_over /* 0 there */; nan < 2; nan++)
            for (int seed = 0; seed < 3; seed++) {
                tg_op op = *ops[i];
                base = ops[i];
                with_nan = nan;
                op.derivative = wrong_at_zero;
                tg_gradcheck_result result = tg_gradcheck_op(&op, &(tg_gradcheck_options){.seed = (uint64_t)seed});
                ck_assert_msg(!result.passed && result.status != TG_GRADCHECK_CANNOT_TELL, "%s, %s: %s", op.name,
                              nan ? "NaN" : "1.5 times", result.why);
            }
}
END_TEST

/* ---- replayed ---- */

static bool same_shape(tg_value *out)
{
    const tg_value *in = tg_value_input(out, 0);
    tg_value_set(out, tg_value_dtype(in), *tg_value_shape(in));
    return true;
}

#define MIRROR(real)                \
    for (int64_t i = 0; i < n; i++) \
    ((real *)c->out)[i] = 2 * ((const real *)c->in[0])[i] + ((const real *)c->in[0])[n - 1 - i]

/* 2 x and x reversed: reads elements after results have been written over them, if it works in place. */
static void mirror(const tg_call *c)
{
    const int64_t n = tg_value_size(c->value);
    if (tg_value_dtype(c->value) == TG_F64)
        MIRROR(double);
    else
        MIRROR(float);
}

static void mirror_derivative(const tg_derive *d)
{
    tg_tensor all = tg_reshape(d->cotangent, TG_SHAPE(-1));
    d->gradient[0] =
        tg_add(tg_mul_scalar(d->cotangent, 2), tg_reshape(tg_flip(all, TG_AXES(0)), tg_shape_of(d->cotangent)));
}

START_TEST(an_operation_that_cannot_work_in_place_but_says_so_is_caught)
{
    static const tg_sample samples[] = {{.input = {{.shape = {2, {3, 4}}}}}, {.input = {{.shape = {1, {5}}}}}};
    tg_op op = {.name = "mirror",
                .arity = 1,
                .shape = same_shape,
                .forward = mirror,
                .derivative = mirror_derivative,
                TG_SAMPLES(samples)};
    tg_gradcheck_result result = tg_gradcheck_op(&op, NULL);
    ck_assert_msg(result.passed, "%s", result.why);
    op.flags = TG_IN_PLACE;
    result = tg_gradcheck_op(&op, NULL);
    ck_assert_int_eq(result.status, TG_GRADCHECK_ANOTHER_WAY);
    assert_says(&result, "replayed on results of other operations");
}
END_TEST

/* ---- a cache ---- */

typedef struct cache {
    bool filled;
    double slope[3];
} cache;

static bool cached_square(const void *const *in, void *const *out, void *user)
{
    cache *c = user;
    for (int i = 0; i < 3; i++) {
        const double x = ((const double *)in[0])[i];
        ((double *)out[0])[i] = x * x;
        if (!c->filled)
            c->slope[i] = 2 * x;
    }
    c->filled = true;
    return true;
}

static bool cached_square_vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    (void)in;
    for (int i = 0; i < 3; i++)
        ((double *)gradients[0])[i] = ((const double *)cotangents[0])[i] * ((const cache *)user)->slope[i];
    return true;
}

START_TEST(a_cache_that_only_the_first_call_fills_is_caught)
{
    cache c = {0};
    const tg_shape shape = TG_SHAPE(3);
    const tg_black_box box = {
        .outputs = &shape, .output_count = 1, .value = cached_square, .vjp = cached_square_vjp, .user = &c};
    const tg_gradcheck_input in = {.shape = TG_SHAPE(3), .data = three};
    tg_gradcheck_result result = tg_gradcheck_function(&box, &in, 1, NULL);
    ck_assert_int_eq(result.status, TG_GRADCHECK_WRONG);
    assert_says(&result, "at a point near the given one");
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
    tcase_add_test(tests, zeros_are_tried_in_operations_that_are_not_elementwise);
    tcase_add_test(tests, an_operation_that_cannot_work_in_place_but_says_so_is_caught);
    tcase_add_test(tests, a_cache_that_only_the_first_call_fills_is_caught);
    suite_add_tcase(suite, tests);
    return suite;
}
