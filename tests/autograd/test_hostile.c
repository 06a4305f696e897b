/* Shapes, axes, sizes, types and labels that no sensible program would pass. Each must give a clear error or the right
 * result, and never read past the shape or overflow. The random calls find most under SANITIZE=address,undefined. */
#include "tests/support/tensors.h"
#include "tests/support/wrapped_memory.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *hostile_suite(void);

/* ---- one by one ---- */

START_TEST(a_rank_that_no_shape_has_is_named_and_nothing_is_read_past_it)
{
    static const int ranks[] = {9, 30, INT_MAX, -1, INT_MIN};
    const double numbers[] = {1, 2};
    tg_tensor x = tg_constant(tape, TG_F64, numbers, TG_SHAPE(2));
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        tg_shape wrong = {.rank = ranks[i], .dim = {1, 1, 1, 1, 1, 1, 1, 1}}, out;
        char text[128], says[32];
        snprintf(says, sizeof says, "[rank %d]", ranks[i]);
        ck_assert_str_eq(tg_shape_text(&wrong, text, sizeof text), says);
        ck_assert_int_eq(tg_shape_size(&wrong), -1);
        ck_assert(!tg_shape_equal(&wrong, &wrong));
        ck_assert(!tg_shape_broadcast(&wrong, &(tg_shape){0}, &out) &&
                  !tg_shape_broadcast(&(tg_shape){0}, &wrong, &out));
        ck_assert(!tg_ok(tg_constant(tape, TG_F64, numbers, wrong)));
        expect_error(says);
        ck_assert(!tg_ok(tg_variable(tape, TG_F64, numbers, wrong)));
        expect_error(says);
        ck_assert(!tg_ok(tg_borrow(tape, TG_F64, numbers, wrong)));
        expect_error(says);
        ck_assert(!tg_set(x, TG_F64, numbers, wrong));
        expect_error(says);
        ck_assert(!tg_ok(tg_reshape(x, wrong)));
        expect_error(says);
        ck_assert(!tg_ok(tg_expand(x, wrong)));
        expect_error(says);
        ck_assert(!tg_ok(tg_sum_to(x, wrong)));
        expect_error(says);
        ck_assert(!tg_ok(tg_tile(x, wrong)));
        expect_error(says);
        ck_assert(!tg_ok(tg_scatter_slice(x, TG_SHAPE(0), TG_SHAPE(1), wrong, 0)));
        expect_error(says);
        ck_assert(!tg_ok(tg_scatter_slice(x, wrong, TG_SHAPE(1), TG_SHAPE(4), 0)));
        expect_error("expected a start, a step and a size for each of 1 axes");
        ck_assert(!tg_ok(tg_pad(x, wrong, TG_SHAPE(1), 0)));
        expect_error("pad(f64[2]): expected the padding before and after each of 1 axes");
        ck_assert(!tg_ok(tg_full(tape, TG_F64, wrong, 0)));
        expect_error("the result would be too large, or of a rank over 8");
        tg_parameter p = {.name = "p", .dtype = TG_F64, .shape = wrong, .data = (double[1]){0}};
        ck_assert(!tg_ok(tg_parameter_tensor(tape, &p)));
        tg_tape_clear_error(tape);
    }
}
END_TEST

START_TEST(sizes_that_overflow_are_refused)
{
    const int64_t most = INT64_MAX;
    tg_tensor x = counted(TG_F64, TG_SHAPE(2, 3)), none = counted(TG_F64, TG_SHAPE(0, 1LL << 40));
    ck_assert(!tg_ok(tg_reshape(x, TG_SHAPE(most, most, -1))));
    expect_error("6 elements do not fill");
    ck_assert(!tg_ok(tg_reshape(x, TG_SHAPE(1LL << 32, -1, 1LL << 32))));
    expect_error("6 elements do not fill");
    ck_assert(!tg_ok(tg_repeat(x, 1, most)));
    expect_error("repeat(f64[2, 3])");
    ck_assert(!tg_ok(tg_repeat(none, 1, most)));
    expect_error("repeat(f64[0, 1099511627776])");
    ck_assert(!tg_ok(tg_tile(x, TG_SHAPE(most))));
    expect_error("tile(f64[2, 3])");
    ck_assert(!tg_ok(tg_tile(x, TG_SHAPE(most / 2, most / 2))));
    expect_error("tile(f64[2, 3])");
    ck_assert(!tg_ok(tg_tile(none, TG_SHAPE(most))));
    expect_error("tile(f64[0, 1099511627776])");
    ck_assert(!tg_ok(tg_pad(x, TG_SHAPE(most, 0), TG_SHAPE(most, 0), 0)));
    expect_error("pad(f64[2, 3])");
    ck_assert(!tg_ok(tg_scatter_add(x, 0, tg_full(tape, TG_I32, TG_SHAPE(2, 3), 0), -(1LL << 32) + 5)));
    expect_error("expected a size from 0 to 2147483647");
    ck_assert(!tg_ok(tg_one_hot(tg_full(tape, TG_I32, TG_SHAPE(2), 0), -(1LL << 32) + 5, TG_F64)));
    expect_error("expected 0 to 2147483647 classes");
    ck_assert(!tg_ok(tg_index_add(x, INT_MAX, tg_full(tape, TG_I32, TG_SHAPE(2), 0), 2)));
    expect_error("from axis 2147483647 on");
    tg_tensor columns = drawn(TG_F64, TG_SHAPE(1, 1, 1, 1, 1, 1));
    ck_assert(!tg_ok(tg_fold(columns, most, 1, (tg_window){.padding = {1, 0}})));
    expect_error("fold(");
    ck_assert(!tg_ok(tg_fold(columns, INT64_MIN, 1, (tg_window){0})));
    expect_error("fold(");
    tg_tensor weight = tg_constant(tape, TG_F64, NULL, TG_SHAPE(0, 1LL << 59, 1, 1));
    ck_assert(!tg_ok(
        tg_conv2d_grad_image(drawn(TG_F64, TG_SHAPE(1, 1, 1, 1)), weight, 1, 1, (tg_window){.groups = 1 << 30})));
    expect_error("expected a weight for 0 channels, not [0, 576460752303423488, 1, 1]");
}
END_TEST

static tg_tensor empty(tg_dtype dtype, tg_shape shape)
{
    return dtype == TG_I32 ? tg_constant(tape, dtype, NULL, shape) : tg_variable(tape, dtype, NULL, shape);
}

/* Loops over the axes before an empty one would take hours. */
START_TEST(what_has_no_elements_takes_no_time_however_long_its_axes_are)
{
    const int64_t many = 1LL << 40, side = 1LL << 29;
    const tg_tensor none = empty(TG_F64, TG_SHAPE(many, 0)), index = empty(TG_I32, TG_SHAPE(many, 0));
    const tg_tensor all[] = {
        tg_gather(none, 1, index),
        tg_scatter_add(none, 1, index, 0),
        tg_lstm_cell(none, none, none),
        tg_fold(empty(TG_F64, TG_SHAPE(many, 1, 1, 0, 1, 1)), 1, 1, (tg_window){0}),
        tg_conv2d_grad_image(empty(TG_F64, TG_SHAPE(0, 1, 1, 1)), tg_full(tape, TG_F64, TG_SHAPE(1, 1, 1, 1), 1), side,
                             side, (tg_window){.stride = {(int)side, (int)side}}),
        tg_conv2d(empty(TG_F64, TG_SHAPE(0, 16, 3LL << 26, 1LL << 28)),
                  tg_full(tape, TG_F64, TG_SHAPE(16, 16, 3, 3), 1), TG_NONE, (tg_window){.padding = {1, 1}}),
        tg_max_pool2d(empty(TG_F64, TG_SHAPE(0, 1, many, 1)), 2, 2, (tg_window){.padding = {1, 1}})};
    enum { ALL = sizeof all / sizeof *all };
    for (int i = 0; i < ALL - 1; i++)
        ck_assert_msg(tg_ok(all[i]) && tg_size(all[i]) == 0, "%d", i);
    expect_error("an image has more than 2147483647 elements");
}
END_TEST

/* Conversions that C leaves undefined. */
START_TEST(numbers_that_no_integer_can_hold_are_refused)
{
    static const double wrong[] = {1e300, -1e300, NAN, INFINITY, 2147483648.0, -2147483649.0};
    tg_tensor x = tg_full(tape, TG_I32, TG_SHAPE(2), -2147483648.0);
    ck_assert(tg_ok(x) && tg_at(x, 1) == INT32_MIN);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert(!tg_ok(tg_full(tape, TG_I32, TG_SHAPE(2), wrong[i])));
        expect_error("expected a value that i32 can hold");
        ck_assert(!tg_ok(tg_pad(x, TG_SHAPE(1), TG_SHAPE(1), wrong[i])));
        expect_error("expected a value that i32 can hold");
    }
}
END_TEST

/* The step of a slice has no effect if it takes one element only, however large the step is. */
START_TEST(a_step_that_is_never_taken_may_be_of_any_size)
{
    tg_tensor x = counted(TG_F64, TG_SHAPE(1, 2));
    tg_tensor y = tg_scatter_slice(x, TG_SHAPE(1, 0), TG_SHAPE(INT64_MAX, 1), TG_SHAPE(3, 2), 7);
    ck_assert_double_eq(tg_at(y, 1), 7);
    ck_assert_double_eq(tg_at(y, 3), 1);
    ck_assert(tg_backward(tg_sum(y)));
    ck_assert_double_eq(tg_at(tg_gradient(x), 1), 1);
}
END_TEST

START_TEST(a_type_that_does_not_exist_is_refused_wherever_one_is_taken)
{
    const tg_dtype none = (tg_dtype)77;
    const double numbers[4] = {0};
    double out[4];
    tg_rng rng = tg_rng_seed(1);
    tg_tensor x = tg_constant(tape, TG_F64, numbers, TG_SHAPE(2)), stream = tg_random_stream(tape, &rng);
    tg_parameter p = {.name = "p", .dtype = none, .shape = {1, {2}}, .data = out};
    const char *const says = "there is no type 77";
    ck_assert_uint_eq(tg_dtype_size(none), 0);
    ck_assert_str_eq(tg_dtype_name(none), "?");
    ck_assert(!tg_read(x, none, out, 2));
    ck_assert(!tg_ok(tg_constant(tape, none, numbers, TG_SHAPE(2))));
    expect_error(says);
    ck_assert(!tg_ok(tg_borrow(tape, none, numbers, TG_SHAPE(2))));
    expect_error(says);
    ck_assert(!tg_ok(tg_variable(tape, none, numbers, TG_SHAPE(2))));
    expect_error(says);
    ck_assert(!tg_ok(tg_parameter_tensor(tape, &p)));
    expect_error(says);
    ck_assert(!tg_set(x, none, numbers, TG_SHAPE(2)));
    expect_error("does not fit into f64[2]");
    ck_assert(!tg_ok(tg_full(tape, none, TG_SHAPE(2), 1)));
    expect_error(says);
    ck_assert(!tg_ok(tg_one_hot(tg_full(tape, TG_I32, TG_SHAPE(2), 0), 3, none)));
    expect_error(says);
    ck_assert(!tg_ok(tg_random_uniform(stream, none, TG_SHAPE(2), 0, 1)));
    expect_error(says);
    ck_assert(!tg_ok(tg_random_normal(stream, none, TG_SHAPE(2), 0, 1)));
    expect_error(says);
}
END_TEST

typedef tg_tensor (*over_axes)(tg_tensor x, tg_axes axes);

static tg_tensor sum_over(tg_tensor x, tg_axes axes)
{
    return tg_sum_over(x, axes, false);
}

static tg_tensor mean_over(tg_tensor x, tg_axes axes)
{
    return tg_mean_over(x, axes, true);
}

static tg_tensor var_over(tg_tensor x, tg_axes axes)
{
    return tg_var_over(x, axes, 0, false);
}

static tg_tensor norm_over(tg_tensor x, tg_axes axes)
{
    return tg_norm_over(x, axes, false);
}

static tg_tensor max_over(tg_tensor x, tg_axes axes)
{
    return tg_max_over(x, axes, true);
}

static tg_tensor logsumexp_over(tg_tensor x, tg_axes axes)
{
    return tg_logsumexp_over(x, axes, false);
}

START_TEST(axes_must_exist_and_be_named_once)
{
    static const over_axes functions[] = {sum_over, mean_over, var_over, norm_over, max_over, logsumexp_over, tg_flip};
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 3));
        ck_assert(tg_ok(functions[f](x, TG_AXES(-1, 0))));
        ck_assert(!tg_ok(functions[f](x, TG_AXES(2))));
        expect_error("there is no axis 2");
        ck_assert(!tg_ok(functions[f](x, TG_AXES(0, -3))));
        expect_error("there is no axis -3");
        ck_assert(!tg_ok(functions[f](x, TG_AXES(1, 1))));
        expect_error("axis 1 is named twice");
        ck_assert(!tg_ok(functions[f](x, TG_AXES(1, -1))));
        expect_error("axis -1 is named twice");
        ck_assert(!tg_ok(functions[f](x, (tg_axes){.count = -1})));
        expect_error("-1 axes");
        ck_assert(!tg_ok(functions[f](x, (tg_axes){.count = 9, .axis = {0, 1}})));
        expect_error("9 axes");
        ck_assert(!tg_ok(functions[f](x, (tg_axes){.count = INT_MAX, .axis = {0, 1}})));
        expect_error("2147483647 axes");
    }
    ck_assert(!tg_ok(tg_permute(drawn(TG_F64, TG_SHAPE(2, 3)), (tg_axes){.count = 9})));
    expect_error("expected each of the 2 axes once, not [rank 9]");
    ck_assert(!tg_ok(tg_permute(drawn(TG_F64, TG_SHAPE(2, 3)), (tg_axes){.count = -9})));
    expect_error("expected each of the 2 axes once, not [rank -9]");
}
END_TEST

START_TEST(a_sum_goes_down_to_shapes_that_broadcast_back)
{
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 3));
    assert_shape(tg_sum_to(x, TG_SHAPE(1, 3)), TG_SHAPE(1, 3));
    assert_shape(tg_sum_to(x, TG_SCALAR), TG_SCALAR);
    ck_assert(!tg_ok(tg_sum_to(x, TG_SHAPE(2))));
    expect_error("sum_to(f64[2, 3]): [2] does not broadcast to it");
    ck_assert(!tg_ok(tg_sum_to(x, TG_SHAPE(1, 2, 3))));
    expect_error("sum_to(f64[2, 3]): [1, 2, 3] does not broadcast to it");
    ck_assert(!tg_ok(tg_sum_to(x, TG_SHAPE(-1, 3))));
    expect_error("sum_to(f64[2, 3]): [-1, 3] does not broadcast to it");
}
END_TEST

/* TG_NO_LABEL means that no label is ignored, so a label with that value is as wrong as any other. */
START_TEST(the_smallest_label_is_no_class)
{
    tg_tensor logits = drawn(TG_F64, TG_SHAPE(2, 3));
    tg_tensor labels = tg_constant(tape, TG_I32, (const int32_t[]){1, INT32_MIN}, TG_SHAPE(2));
    ck_assert(!tg_ok(tg_cross_entropy(logits, labels)));
    expect_error("label -2147483648 in row 1 is none of the 3 classes");
    ck_assert(!tg_ok(tg_cross_entropy_grad(logits, labels, 0, TG_NO_LABEL)));
    expect_error("label -2147483648 in row 1");
    ck_assert(!tg_ok(tg_label_weights(logits, labels, TG_NO_LABEL)));
    expect_error("label -2147483648 in row 1");
    tg_tensor other = tg_constant(tape, TG_I32, (const int32_t[]){1, INT32_MAX}, TG_SHAPE(2));
    ck_assert(isfinite(tg_item(tg_cross_entropy_with(logits, other, 0, INT32_MAX))));
}
END_TEST

START_TEST(a_dead_tensor_is_named_by_shorthands_too)
{
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 3));
    tg_tape_reset(tape);
    ck_assert(!tg_ok(tg_flip(x, TG_AXES(1))));
    expect_error("flip: the input is a tensor of a step that ended with tg_tape_reset");
    ck_assert(!tg_ok(tg_repeat(x, 0, 2)));
    expect_error("repeat: the input is a tensor of a step that ended");
    ck_assert(!tg_ok(tg_sum_to(x, TG_SHAPE(3))));
    expect_error("sum_to: the input is a tensor of a step that ended");
    ck_assert(!tg_ok(tg_sum_over(x, TG_AXES(0), false)));
    expect_error("sum_over: the input is a tensor of a step that ended");
}
END_TEST

/* ---- random arguments ---- */

static tg_rng rng;

static int64_t size(void)
{
    static const int64_t sizes[] = {0,
                                    1,
                                    1,
                                    2,
                                    2,
                                    3,
                                    3,
                                    4,
                                    5,
                                    6,
                                    7,
                                    -1,
                                    -2,
                                    -9,
                                    8,
                                    9,
                                    30,
                                    INT32_MAX,
                                    INT32_MIN,
                                    1LL << 31,
                                    1LL << 32,
                                    (1LL << 32) + 3,
                                    -(1LL << 32) + 2,
                                    1LL << 40,
                                    1LL << 60,
                                    INT64_MAX / 8,
                                    INT64_MAX - 1,
                                    INT64_MAX,
                                    INT64_MIN,
                                    INT64_MIN + 1};
    enum { ALL = sizeof sizes / sizeof *sizes, SENSIBLE = 11 };
    return sizes[tg_rng_below(&rng, tg_rng_below(&rng, 3) ? SENSIBLE : ALL)];
}

static int number(void)
{
    static const int numbers[] = {0, 0, 1, 1, 2, 3, -1, -2, -3, 7, 8, 9, 31, 64, INT_MAX, INT_MIN, INT_MIN + 1};
    return numbers[tg_rng_below(&rng, tg_rng_below(&rng, 3) ? 6 : sizeof numbers / sizeof *numbers)];
}

static tg_shape shape(void)
{
    static const int ranks[] = {0, 1, 2, 3, 4, 6, 8, 9, 30, -1, INT_MAX, INT_MIN};
    tg_shape s = {.rank = ranks[tg_rng_below(&rng, tg_rng_below(&rng, 4) ? 5 : sizeof ranks / sizeof *ranks)]};
    for (int axis = 0; axis < TG_MAX_RANK; axis++)
        s.dim[axis] = size();
    return s;
}

static tg_axes axes(void)
{
    tg_axes a = {.count = number()};
    for (int i = 0; i < TG_MAX_RANK; i++)
        a.axis[i] = number();
    return a;
}

static tg_dtype type(void)
{
    static const tg_dtype types[] = {TG_F64, TG_F32, TG_I32, (tg_dtype)3, (tg_dtype)77, (tg_dtype)-1};
    return types[tg_rng_below(&rng, sizeof types / sizeof *types)];
}

static tg_window window(void)
{
    return (tg_window){{number(), number()}, {number(), number()}, {number(), number()}, number()};
}

static tg_tensor x(void)
{
    static const tg_shape shapes[] = {{0},
                                      {1, {3}},
                                      {2, {2, 3}},
                                      {2, {3, 2}},
                                      {2, {0, 3}},
                                      {3, {2, 0, 3}},
                                      {3, {1, 2, 1}},
                                      {3, {2, 2, 3}},
                                      {4, {1, 2, 4, 5}},
                                      {4, {0, 2, 3, 3}},
                                      {6, {1, 2, 2, 1, 2, 2}},
                                      {8, {1, 1, 2, 1, 1, 1, 1, 1}},
                                      {2, {0, 1LL << 40}},
                                      {2, {1LL << 40, 0}},
                                      {4, {0, 2, 1LL << 29, 1LL << 29}},
                                      {1, {1LL << 40}}};
    const tg_shape *s = &shapes[tg_rng_below(&rng, sizeof shapes / sizeof *shapes - 1)]; /* the last cannot be */
    static const double numbers[256] = {1, 0, 2, 1};
    return tg_rng_below(&rng, 40) == 0 ? TG_NONE
           : tg_rng_below(&rng, 4)     ? tg_variable(tape, tg_rng_below(&rng, 3) ? TG_F64 : TG_F32, numbers, *s)
                                       : tg_constant(tape, TG_I32, numbers, *s);
}

static tg_tensor stream(void)
{
    return tg_constant(tape, TG_I32, (const int32_t[]){1, 2, 3, 4}, TG_SHAPE(4));
}

static tg_tensor joined(bool stack)
{
    tg_tensor both[3] = {x(), x(), x()};
    if (tg_rng_below(&rng, 2))
        both[1] = both[2] = both[0];
    return stack ? tg_stack(both, 3, number()) : tg_concat(both, 3, number());
}

static tg_tensor first_part(void)
{
    tg_tensor parts[65] = {{0}};
    const int count = number();
    return tg_split(x(), number(), count > 65 ? 65 : count, parts) ? parts[0] : TG_NONE;
}

static tg_tensor set(void)
{
    tg_tensor y = x();
    static const double numbers[256];
    tg_set(y, type(), numbers, shape());
    return TG_NONE;
}

static tg_tensor parameter(void)
{
    static double numbers[1 << 13];
    static tg_parameter p;
    p = (tg_parameter){.name = "p", .dtype = type(), .shape = shape(), .data = numbers};
    return tg_shape_size(&p.shape) > 1 << 13 ? TG_NONE : tg_parameter_tensor(tape, &p);
}

static tg_tensor questions(void)
{
    tg_shape a = shape(), b = shape(), both;
    char text[40] = ""; /* into no room nothing is written */
    tg_tensor y = x();
    double numbers[512];
    ck_assert(strlen(tg_shape_text(&a, text, tg_rng_below(&rng, sizeof text + 1))) < sizeof text || text[0] == '\0');
    if (tg_shape_broadcast(&a, &b, &both))
        ck_assert(both.rank >= 0 && both.rank <= TG_MAX_RANK);
    tg_shape_equal(&a, &b);
    tg_dim(y, number());
    tg_at(y, size());
    const int64_t count = size();
    tg_read(y, type(), numbers, count < 512 ? count : 512);
    return y;
}

static tg_tensor constant(void)
{
    static const double numbers[1 << 13];
    const tg_shape s = shape();
    return tg_shape_size(&s) > 1 << 13 ? TG_NONE : tg_constant(tape, type(), numbers, s);
}

/* clang-format off */
#define CALLS                                                                                                          \
    CALL(set()) CALL(parameter()) CALL(questions()) CALL(constant()) CALL(tg_full(tape, type(), shape(), 1))           \
    CALL(tg_expand(x(), shape())) CALL(tg_reshape(x(), shape())) CALL(tg_sum_to(x(), shape()))                         \
    CALL(tg_sum_over(x(), axes(), number() & 1)) CALL(tg_mean_over(x(), axes(), number() & 1))                         \
    CALL(tg_var_over(x(), axes(), number(), number() & 1)) CALL(tg_norm_over(x(), axes(), number() & 1))               \
    CALL(tg_max_over(x(), axes(), number() & 1)) CALL(tg_min_over(x(), axes(), number() & 1))                          \
    CALL(tg_argmax(x(), number(), number() & 1)) CALL(tg_argmin(x(), number(), number() & 1))                          \
    CALL(tg_logsumexp_over(x(), axes(), number() & 1)) CALL(tg_cumsum(x(), number(), number() & 1))                    \
    CALL(tg_permute(x(), axes())) CALL(tg_transpose(x(), number(), number())) CALL(joined(false)) CALL(joined(true))   \
    CALL(tg_tril(x(), number())) CALL(tg_triu(x(), number())) CALL(tg_slice(x(), number(), size(), size(), size()))    \
    CALL(tg_narrow(x(), number(), size(), size())) CALL(tg_scatter_slice(x(), shape(), shape(), shape(), 2))           \
    CALL(tg_gather(x(), number(), x())) CALL(tg_scatter_add(x(), number(), x(), size()))                               \
    CALL(tg_index_select(x(), number(), x())) CALL(tg_index_add(x(), number(), x(), size())) CALL(first_part())        \
    CALL(tg_one_hot(x(), size(), type())) CALL(tg_softmax(x(), number())) CALL(tg_log_softmax(x(), number()))          \
    CALL(tg_flip(x(), axes())) CALL(tg_pad(x(), shape(), shape(), 1)) CALL(tg_repeat(x(), number(), size()))           \
    CALL(tg_tile(x(), shape())) CALL(tg_unfold(x(), size(), size(), window())) CALL(tg_fold(x(), size(), size(), window())) \
    CALL(tg_conv2d(x(), x(), TG_NONE, window())) CALL(tg_conv2d_grad_image(x(), x(), size(), size(), window()))            \
    CALL(tg_conv2d_grad_weight(x(), x(), size(), size(), window())) CALL(tg_conv1d(x(), x(), TG_NONE, window()))                          \
    CALL(tg_max_pool2d(x(), number(), number(), window())) CALL(tg_max_pool2d_index(x(), number(), number(), window())) \
    CALL(tg_average_pool2d(x(), number(), number(), window())) CALL(tg_max_pool1d(x(), number(), window()))            \
    CALL(tg_average_pool1d(x(), number(), window())) CALL(tg_group_norm(x(), number(), TG_NONE, TG_NONE, 1))           \
    CALL(tg_random_uniform(stream(), type(), shape(), 0, 1)) CALL(tg_random_normal(stream(), type(), shape(), 0, 1))   \
    CALL(tg_cross_entropy_with(x(), x(), 0, number())) CALL(tg_linear(x(), x(), x()))                                  \
    CALL(tg_matmul_transposed(x(), x(), number() & 1, number() & 1)) CALL(tg_layer_norm(x(), x(), TG_NONE, 1))         \
    CALL(tg_grouped_linear(x(), x(), TG_NONE, size())) CALL(tg_lstm_cell(x(), x(), x())) CALL(tg_split_heads(x(), size())) \
    CALL(tg_self_attention(x(), size(), size(), number() & 1)) CALL(tg_channel_moments(x())) CALL(tg_merge_heads(x())) \
    CALL(tg_batch_norm(x(), TG_NONE, TG_NONE, 1)) CALL(tg_causal_softmax(x()))
/* clang-format on */

enum { BEFORE_CALLS = __COUNTER__ };
#define CALL(expression)                 \
    case __COUNTER__ - BEFORE_CALLS - 1: \
        *text = #expression;             \
        return expression;

static tg_tensor call(int which, const char **text)
{
    switch (which) {
        CALLS
    default:
        *text = NULL;
        return TG_NONE;
    }
}

START_TEST(no_call_reads_or_computes_what_is_not_there)
{
    const int rounds = getenv("TG_LONG") ? 1000000 : 30000;
    int fine = 0, differentiated = 0, refused = 0;
    const char *text;
    int calls = 0;
    do {
        call(calls++, &text);
        tg_tape_reset(tape);
        tg_tape_clear_error(tape);
    } while (text);
    wrapped_memory_refuse_over(1 << 20);
    for (int round = 0; round < rounds; round++) {
        rng = tg_rng_seed((uint64_t)round);
        tg_tensor y = call((int)tg_rng_below(&rng, (uint64_t)calls - 1), &text);
        const char *error = tg_tape_error(tape);
        ck_assert_msg(!(error && tg_ok(y)) && !(error && strlen(error) < 10), "seed %d: %s: %s", round, text, error);
        fine += tg_ok(y);
        refused += error != NULL;
        if (tg_ok(y) && tg_dtype_of(y) != TG_I32)
            differentiated += tg_backward(tg_sum(y));
        tg_tape_clear_error(tape);
        tg_tape_reset(tape);
    }
    wrapped_memory_refuse_over(SIZE_MAX);
    ck_assert_int_gt(fine, rounds / 10);
    ck_assert_int_gt(differentiated, rounds / 20);
    ck_assert_int_gt(refused, rounds / 4);
}
END_TEST

/* A user's operation whose shape rule wants what its attribute says. */
typedef struct wish {
    tg_dtype dtype;
    int64_t size, offset;
} wish;

static bool wished_shape(tg_value *out)
{
    const wish *w = tg_value_attributes(out);
    tg_value_set(out, w->dtype, TG_SHAPE(w->size));
    return true;
}

static int64_t wished_offset(const tg_value *out)
{
    return ((const wish *)tg_value_attributes(out))->offset;
}

static void ones(const tg_loop *l)
{
    for (size_t i = 0; i < l->n; i++)
        ((float *)l->out)[i] = 1;
}

static void copies(const tg_loop *l)
{
    for (size_t i = 0; i < l->n; i++)
        ((float *)l->out)[i] = ((const float *)l->in[0])[l->step[0] ? i : 0];
}

static void passes(const tg_derive *d)
{
    d->gradient[0] = d->cotangent;
}

/* A rule may make the result larger, as broadcasting does; not beside a saved derivative, whose loop reads as many
 * elements of the input as the result has. */
START_TEST(a_rule_may_want_a_larger_result)
{
    static const tg_sample samples[] = {{.input = {{.shape = {1, {5}}}}}};
    static const tg_op saved = {.name = "saved", .arity = 1, .flags = TG_ELEMENTWISE | TG_CONSTANT, .loop = ones};
    tg_op op = {.name = "wider",
                .arity = 1,
                .flags = TG_ELEMENTWISE,
                .attributes_size = sizeof(wish),
                .shape = wished_shape,
                .loop = copies,
                .derivative = passes,
                TG_SAMPLES(samples)};
    const float number = 3;
    const tg_tensor x = tg_variable(tape, TG_F32, &number, TG_SHAPE(1)),
                    y = tg_apply(&op, &(wish){TG_F32, 6, 0}, 1, &x);
    ck_assert(tg_size(y) == 6 && tg_data(y));
    for (int i = 0; i < 6; i++)
        ck_assert_float_eq(((const float *)tg_data(y))[i], 3);
    ck_assert(tg_backward(tg_sum(y)));
    ck_assert_double_eq(tg_item(tg_gradient(x)), 6);
    op.saved = &saved;
    ck_assert(tg_ok(tg_apply(&op, &(wish){TG_F32, 1, 0}, 1, &x)));
    ck_assert(!tg_ok(tg_apply(&op, &(wish){TG_F32, 6, 0}, 1, &x)));
    expect_error("wider(f32[1]): the shape rule wants more elements than the inputs have");
}
END_TEST

START_TEST(a_rule_that_leaves_its_inputs_is_refused)
{
    static const tg_sample samples[] = {{.input = {{.shape = {1, {5}}}}}};
    static const tg_op view = {.name = "view",
                               .arity = 1,
                               .flags = TG_VIEW | TG_CONSTANT,
                               .attributes_size = sizeof(wish),
                               .shape = wished_shape,
                               .view_offset = wished_offset,
                               TG_SAMPLES(samples)},
                       loop = {.name = "loop",
                               .arity = 1,
                               .flags = TG_ELEMENTWISE | TG_CONSTANT,
                               .attributes_size = sizeof(wish),
                               .shape = wished_shape,
                               .loop = ones,
                               TG_SAMPLES(samples)};
    static const struct {
        wish wish;
        bool is_view, is_loop;
    } table[] = {{{TG_F32, 6, 0}, true, true},           {{TG_F32, 2, 4}, true, false},
                 {{TG_F32, 0, 6}, true, false},          {{TG_F32, 7, 0}, false, false},
                 {{TG_F32, 1, 6}, false, false},         {{TG_F32, 1, -1}, false, false},
                 {{TG_F32, 1, INT64_MAX}, false, false}, {{TG_F32, 1, INT64_MIN}, false, false},
                 {{TG_F64, 6, 0}, false, false},         {{TG_I32, 6, 0}, false, false}};
    tg_tensor x = counted(TG_F32, TG_SHAPE(6));
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert(tg_ok(tg_apply(&view, &table[i].wish, 1, &x)) == table[i].is_view);
        if (!table[i].is_view)
            expect_error("view(f32[6]): the shape rule wants more elements than the inputs have, or of another type");
        ck_assert(tg_ok(tg_apply(&loop, &table[i].wish, 1, &x)) == table[i].is_loop);
        if (!table[i].is_loop)
            expect_error("loop(f32[6]): the shape rule wants");
    }
}
END_TEST

Suite *hostile_suite(void)
{
    Suite *suite = suite_create("hostile");
    TCase *tests = tcase_create("hostile");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, a_rank_that_no_shape_has_is_named_and_nothing_is_read_past_it);
    tcase_add_test(tests, sizes_that_overflow_are_refused);
    tcase_add_test(tests, a_rule_may_want_a_larger_result);
    tcase_add_test(tests, what_has_no_elements_takes_no_time_however_long_its_axes_are);
    tcase_add_test(tests, numbers_that_no_integer_can_hold_are_refused);
    tcase_add_test(tests, a_step_that_is_never_taken_may_be_of_any_size);
    tcase_add_test(tests, a_type_that_does_not_exist_is_refused_wherever_one_is_taken);
    tcase_add_test(tests, axes_must_exist_and_be_named_once);
    tcase_add_test(tests, a_sum_goes_down_to_shapes_that_broadcast_back);
    tcase_add_test(tests, the_smallest_label_is_no_class);
    tcase_add_test(tests, a_dead_tensor_is_named_by_shorthands_too);
    tcase_add_test(tests, no_call_reads_or_computes_what_is_not_there);
    tcase_add_test(tests, a_rule_that_leaves_its_inputs_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
