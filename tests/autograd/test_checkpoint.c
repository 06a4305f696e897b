/* Recomputation: the same gradients to the bit, in less memory. */
#include "tests/support/wrapped_memory.h"

#include <check.h>
#include <math.h>
#include <string.h>
#include <tapegrad.h>

Suite *checkpoint_suite(void);

enum { WIDTH = 1024, DEPTH = 12 };

typedef struct model {
    tg_parameter weight;
    double values[WIDTH], gradients[WIDTH];
    tg_tensor reached; /* a tensor that the function reads without getting it as an input */
    bool longer;
} model;

static model make_model(void)
{
    model m = {.weight = {.name = "w", .dtype = TG_F64, .shape = {1, {WIDTH}}}};
    for (int i = 0; i < WIDTH; i++)
        m.values[i] = 0.9 + 0.0002 * i;
    return m;
}

static tg_tensor block(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    (void)count;
    model *m = user;
    tg_tensor w = tg_parameter_tensor(tape, &m->weight), y = inputs[0];
    for (int layer = 0; layer < DEPTH; layer++) {
        tg_tensor square = tg_mul(y, y);
        y = tg_div(tg_mul(tg_add(y, m->reached), w), tg_add_scalar(square, 1));
    }
    return y;
}

/* Runs three blocks in a row; gives x's gradient and the tape's peak memory. */
static void run(model *m, bool recompute, double x_gradient[WIDTH], int64_t *bytes)
{
    m->weight.data = m->values;
    m->weight.gradient = m->gradients;
    m->weight.has_gradient = false;
    tg_tape *tape = tg_tape_new();
    double data[WIDTH];
    for (int i = 0; i < WIDTH; i++)
        data[i] = 0.0006 * i - 0.3;
    tg_tensor x = tg_variable(tape, TG_F64, data, TG_SHAPE(WIDTH)), y = x;
    m->reached = tg_mul(x, tg_full(tape, TG_F64, TG_SCALAR, 0.5));
    for (int i = 0; i < 3; i++)
        y = recompute ? tg_checkpoint(block, &y, 1, m) : block(tape, &y, 1, m);
    tg_tensor loss = tg_sum(tg_mul(y, y));
    ck_assert_msg(tg_backward(loss), "%s", tg_tape_error(tape));
    ck_assert(tg_read(tg_gradient(x), TG_F64, x_gradient, WIDTH));
    *bytes = tg_tape_count(tape).bytes_held;
    tg_tape_free(tape);
}

START_TEST(gradients_are_the_same_and_memory_is_less)
{
    model plain = make_model(), recomputed = make_model();
    double expected[WIDTH], got[WIDTH];
    int64_t plain_bytes, recomputed_bytes;
    run(&plain, false, expected, &plain_bytes);
    run(&recomputed, true, got, &recomputed_bytes);
    ck_assert_mem_eq(got, expected, sizeof got);
    ck_assert_mem_eq(recomputed.gradients, plain.gradients, sizeof plain.gradients);
    ck_assert_int_lt(recomputed_bytes, plain_bytes * 2 / 3);
}
END_TEST

static tg_tensor nested(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    (void)tape;
    tg_tensor inner = tg_checkpoint(block, inputs, count, user);
    return tg_mul(inner, tg_checkpoint(block, &inner, 1, user));
}

START_TEST(checkpoints_nest_and_can_be_differentiated_twice)
{
    model m = make_model();
    m.weight.data = m.values;
    m.weight.gradient = m.gradients;
    double seconds[2][WIDTH];
    for (int recompute = 0; recompute < 2; recompute++) {
        tg_tape *tape = tg_tape_new();
        double data[WIDTH];
        for (int i = 0; i < WIDTH; i++)
            data[i] = 0.0006 * i - 0.3;
        tg_tensor x = tg_variable(tape, TG_F64, data, TG_SHAPE(WIDTH)), dx, ddx;
        m.reached = tg_full(tape, TG_F64, TG_SCALAR, 0.5);
        tg_tensor y = recompute ? tg_checkpoint(nested, &x, 1, &m) : nested(tape, &x, 1, &m), sum = tg_sum(y);
        ck_assert_msg(tg_grad(&sum, 1, &x, 1, NULL, true, &dx), "%s", tg_tape_error(tape));
        tg_tensor square = tg_sum(tg_mul(dx, dx));
        ck_assert_msg(tg_grad(&square, 1, &x, 1, NULL, false, &ddx), "%s", tg_tape_error(tape));
        ck_assert(tg_read(ddx, TG_F64, seconds[recompute], WIDTH));
        tg_tape_free(tape);
    }
    ck_assert_mem_eq(seconds[0], seconds[1], sizeof seconds[0]);
    ck_assert(seconds[0][3] != 0);
}
END_TEST

static tg_tensor dropping(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    (void)count;
    tg_tensor y = inputs[0];
    for (int layer = 0; layer < 3; layer++)
        y = tg_dropout(tg_mul(y, y), tg_random_stream(tape, user), 0.5);
    return y;
}

static tg_tensor dropping_twice(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    tg_tensor inner = tg_checkpoint(dropping, inputs, count, user);
    return tg_add(tg_mul_scalar(inner, 0.1), dropping(tape, inputs, count, user));
}

START_TEST(dropout_drops_the_same_when_it_is_computed_again)
{
    double gradients[2][WIDTH];
    uint64_t positions[2];
    for (int recompute = 0; recompute < 2; recompute++) {
        tg_rng rng = tg_rng_seed(5);
        tg_tape *tape = tg_tape_new();
        double data[WIDTH];
        for (int i = 0; i < WIDTH; i++)
            data[i] = 0.5 + 0.0005 * i;
        tg_tensor x = tg_variable(tape, TG_F64, data, TG_SHAPE(WIDTH));
        tg_tensor y = recompute ? tg_checkpoint(dropping_twice, &x, 1, &rng) : dropping_twice(tape, &x, 1, &rng);
        positions[recompute] = rng.position;
        ck_assert_msg(tg_backward(tg_sum(y)), "%s", tg_tape_error(tape));
        ck_assert_uint_eq(rng.position, positions[recompute]); /* the recomputation draws no new random numbers */
        ck_assert(tg_read(tg_gradient(x), TG_F64, gradients[recompute], WIDTH));
        tg_tape_free(tape);
    }
    ck_assert_uint_eq(positions[0], positions[1]);
    int dropped = 0;
    for (int i = 0; i < WIDTH; i++) {
        ck_assert_double_eq(gradients[0][i], gradients[1][i]);
        dropped += gradients[0][i] == 0;
    }
    ck_assert(dropped > WIDTH / 4 && dropped < WIDTH);
}
END_TEST

static tg_tensor same(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    (void)tape, (void)user;
    return inputs[count - 1];
}

static tg_tensor doubled(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    (void)tape, (void)user, (void)count;
    return tg_add(tg_mul_scalar(inputs[0], 3), tg_mul_scalar(inputs[1], 5));
}

static tg_tensor ending(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    (void)count, (void)user;
    tg_tape_reset(tape);
    return inputs[0];
}

START_TEST(a_step_does_not_end_inside_a_checkpoint)
{
    tg_tape *tape = tg_tape_new();
    tg_tensor x = tg_variable(tape, TG_F64, (double[]){2}, TG_SCALAR);
    ck_assert(!tg_ok(tg_checkpoint(ending, &x, 1, NULL)));
    ck_assert_str_eq(tg_tape_error(tape), "tg_tape_reset: a checkpoint is going on");
    tg_tape_reset(tape);
    tg_tape_clear_error(tape);
    x = tg_variable(tape, TG_F64, (double[]){2}, TG_SCALAR);
    ck_assert(tg_backward(tg_checkpoint(same, &x, 1, NULL)));
    tg_tape_free(tape);
}
END_TEST

/* A block of values whose numbers need little memory, so that it is the program whose memory runs out. */
static tg_tensor many_values(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    (void)tape, (void)count, (void)user;
    tg_tensor y = inputs[0];
    for (int i = 0; i < 600; i++)
        y = tg_sin(y);
    return y;
}

START_TEST(want_of_memory_in_a_checkpoint_is_an_error)
{
    double expected = 0;
    for (int nth = 0, failures = 0;; nth++) {
        wrapped_memory_fail_after(nth);
        tg_tape *tape = tg_tape_new();
        tg_tensor x = tg_variable(tape, TG_F64, (double[]){2}, TG_SCALAR), y = x;
        for (int i = 0; i < 5; i++)
            y = tg_checkpoint(many_values, &y, 1, NULL);
        const bool fine = tg_backward(y), reached = wrapped_memory_stop();
        ck_assert_int_eq(fine, !reached);
        ck_assert_int_eq(tg_tape_error(tape) != NULL, reached);
        failures += reached;
        expected = fine ? tg_item(tg_gradient(x)) : 0;
        tg_tape_free(tape);
        if (!reached) {
            ck_assert_int_gt(failures, 10);
            break;
        }
    }
    double x = 2, derivative = 1;
    for (int i = 0; i < 5 * 600; i++) {
        derivative *= cos(x);
        x = sin(x);
    }
    ck_assert_double_eq_tol(expected, derivative, 1e-12 * fabs(derivative));
}
END_TEST

START_TEST(odd_functions_are_taken_as_they_are)
{
    tg_tape *tape = tg_tape_new();
    tg_tensor x = tg_variable(tape, TG_F64, (double[]){2}, TG_SCALAR);
    tg_tensor twice[2] = {x, x};
    ck_assert(tg_checkpoint(same, &x, 1, NULL).value == x.value);
    ck_assert(tg_backward(tg_checkpoint(doubled, twice, 2, NULL))); /* the same tensor as two inputs */
    ck_assert_double_eq(tg_item(tg_gradient(x)), 8);
    ck_assert(!tg_ok(tg_checkpoint(NULL, &x, 1, NULL)));
    ck_assert(!tg_ok(tg_checkpoint(same, NULL, 0, NULL)));
    ck_assert(!tg_ok(tg_checkpoint(same, &(tg_tensor){0}, 1, NULL)));
    tg_tape_free(tape);
}
END_TEST

/* The pass inside overwrites some of its results with later ones. */
static tg_tensor gradient_inside(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    tg_tensor x = inputs[0], y = tg_mul_scalar(tg_sin(tg_mul(x, x)), 2), d;
    (void)tape, (void)count, (void)user;
    y = tg_sum(tg_exp(tg_neg(y)));
    return tg_grad(&y, 1, &x, 1, NULL, false, &d) ? tg_mul(tg_stop_gradient(d), x) : TG_NONE;
}

START_TEST(a_gradient_inside_is_computed_again)
{
    double data[WIDTH], expected[WIDTH];
    for (int i = 0; i < WIDTH; i++)
        data[i] = 0.002 * i - 1;
    for (int step = 0; step < 2; step++) {
        tg_tape *tape = tg_tape_new();
        tg_tensor x = tg_variable(tape, TG_F64, data, TG_SHAPE(WIDTH));
        tg_tensor y = step ? tg_checkpoint(gradient_inside, &x, 1, NULL) : gradient_inside(tape, &x, 1, NULL);
        ck_assert_msg(tg_backward(tg_sum(tg_tanh(y))), "%s", tg_tape_error(tape));
        if (step == 0)
            memcpy(expected, tg_f64(tg_gradient(x)), sizeof expected);
        ck_assert_mem_eq(tg_f64(tg_gradient(x)), expected, sizeof expected);
        tg_tape_free(tape);
    }
}
END_TEST

/* tanh(x) w, where the weight is first read in the middle, so that its hook is called in the middle of the backward
 * pass through this. */
static tg_tensor weighted(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    (void)count;
    model *m = user;
    tg_tensor h = tg_tanh(tg_sin(inputs[0]));
    return tg_mul(tg_add_scalar(h, 1), tg_mul(h, tg_parameter_tensor(tape, &m->weight)));
}

static tg_tensor half(tg_tensor cotangent, void *user)
{
    (void)user;
    return tg_mul_scalar(cotangent, 0.5);
}

/* What is computed again before the hook is read by derivatives that are recorded after it. */
START_TEST(a_hook_in_the_middle_releases_nothing_that_is_read_later)
{
    double data[WIDTH], expected[2][WIDTH];
    for (int i = 0; i < WIDTH; i++)
        data[i] = 0.002 * i - 1;
    for (int step = 0; step < 2; step++) {
        model m = make_model();
        m.weight.data = m.values;
        m.weight.gradient = m.gradients;
        tg_tape *tape = tg_tape_new();
        tg_tensor x = tg_variable(tape, TG_F64, data, TG_SHAPE(WIDTH));
        tg_tensor y = step ? tg_checkpoint(weighted, &x, 1, &m) : weighted(tape, &x, 1, &m);
        tg_add_hook(tg_parameter_tensor(tape, &m.weight), half, NULL);
        ck_assert_msg(tg_backward(tg_sum(tg_square(y))), "%s", tg_tape_error(tape));
        if (step == 0) {
            memcpy(expected[0], tg_f64(tg_gradient(x)), sizeof expected[0]);
            memcpy(expected[1], m.gradients, sizeof expected[1]);
        }
        ck_assert_mem_eq(tg_f64(tg_gradient(x)), expected[0], sizeof expected[0]);
        ck_assert_mem_eq(m.gradients, expected[1], sizeof expected[1]);
        tg_tape_free(tape);
    }
}
END_TEST

/* in + w, and in the later steps another view and sum. */
static tg_tensor growing(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    (void)tape, (void)count;
    tg_tensor y = tg_sub(inputs[0], inputs[1]);
    if (*(const bool *)user)
        y = tg_add(tg_stop_gradient(y), inputs[1]);
    return tg_add(y, inputs[0]);
}

/* The step goes on otherwise where the last one had the result. */
START_TEST(a_function_that_continues_after_its_last_result_can_read_it)
{
    const double data[3] = {1, 2, 3};
    tg_tape *tape = tg_tape_new();
    for (int step = 0; step < 6; step++) {
        const bool longer = step / 2 % 2;
        bool user = longer;
        tg_tape_reset(tape);
        const tg_tensor in[2] = {tg_variable(tape, TG_F64, data, TG_SHAPE(3)),
                                 tg_constant(tape, TG_F64, data, TG_SHAPE(3))};
        tg_tensor y = tg_checkpoint(growing, in, 2, &user);
        ck_assert_msg(tg_backward(tg_sum(y)), "step %d: %s", step, tg_tape_error(tape));
        ck_assert_double_eq(tg_at(y, 1), longer ? 4 : 2);
        ck_assert_double_eq(tg_at(tg_gradient(in[0]), 1), longer ? 1 : 2);
    }
    tg_tape_free(tape);
}
END_TEST

/* tanh(in^2), and in the longer steps a product more. */
static tg_tensor shrinking(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    (void)tape, (void)count;
    model *m = user;
    m->reached = tg_tanh(tg_mul(inputs[0], inputs[0]));
    return m->longer ? tg_mul(m->reached, inputs[0]) : m->reached;
}

static tg_tensor around(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    (void)tape;
    return tg_mul(tg_checkpoint(shrinking, inputs, count, user), inputs[0]);
}

/* A step whose inner checkpoint ends with what was an intermediate result in the last step. */
START_TEST(an_intermediate_result_becomes_the_result_as_on_a_fresh_tape)
{
    const double data[3] = {0.3, -0.7, 1.1}, vector[3] = {1, 2, 3};
    double products[2][3];
    for (int fresh = 0; fresh < 2; fresh++) {
        model m = {.longer = !fresh};
        tg_tape *tape = tg_tape_new();
        for (int step = fresh; step < 2; step++, m.longer = false) {
            tg_tape_reset(tape);
            tg_tensor x = tg_variable(tape, TG_F64, data, TG_SHAPE(3)),
                      v = tg_constant(tape, TG_F64, vector, TG_SHAPE(3)), hvp;
            tg_tensor y = tg_checkpoint(around, &x, 1, &m);
            ck_assert_msg(!tg_data(m.reached), "step %d: the outer checkpoint released it", step);
            ck_assert(tg_hvp(tg_sum(y), &x, &v, 1, &hvp) && tg_read(hvp, TG_F64, products[fresh], 3));
        }
        tg_tape_free(tape);
    }
    ck_assert_mem_eq(products[0], products[1], sizeof products[0]);
}
END_TEST

Suite *checkpoint_suite(void)
{
    Suite *suite = suite_create("checkpoint");
    TCase *tests = tcase_create("checkpoint");
    tcase_add_test(tests, gradients_are_the_same_and_memory_is_less);
    tcase_add_test(tests, checkpoints_nest_and_can_be_differentiated_twice);
    tcase_add_test(tests, dropout_drops_the_same_when_it_is_computed_again);
    tcase_add_test(tests, a_step_does_not_end_inside_a_checkpoint);
    tcase_add_test(tests, want_of_memory_in_a_checkpoint_is_an_error);
    tcase_add_test(tests, a_function_that_continues_after_its_last_result_can_read_it);
    tcase_add_test(tests, an_intermediate_result_becomes_the_result_as_on_a_fresh_tape);
    tcase_add_test(tests, a_gradient_inside_is_computed_again);
    tcase_add_test(tests, a_hook_in_the_middle_releases_nothing_that_is_read_later);
    tcase_add_test(tests, odd_functions_are_taken_as_they_are);
    suite_add_tcase(suite, tests);
    return suite;
}
