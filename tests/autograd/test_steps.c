/* State that one step leaves for the next: accumulated gradients, replayed steps, parameters on several tapes and
 * threads, memory. Also data that an operation must not read, because a replayed step would not read it again. */
#include "tests/support/tensors.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

Suite *steps_suite(void);

/* A parameter w of two numbers, whose gradient in sum(batch w) is the batch. */
typedef struct learner {
    tg_parameter w;
    double value[2], gradient[2], batch[2];
} learner;

static void make(learner *l)
{
    *l = (learner){.value = {1, 2}, .batch = {3, 5}};
    l->w = (tg_parameter){.name = "w", .dtype = TG_F64, .shape = {1, {2}}, .data = l->value, .gradient = l->gradient};
}

static tg_tensor product(learner *l)
{
    return tg_sum(tg_mul(tg_borrow(tape, TG_F64, l->batch, TG_SHAPE(2)), tg_parameter_tensor(tape, &l->w)));
}

/* ---- accumulation ---- */

/* A variant of a step around its backward pass; returns how many times it adds the batch's gradient. */
enum { TAILS = 11 };

static int tail_of(learner *l, int which, tg_tensor loss)
{
    tg_tensor w = tg_parameter_tensor(tape, &l->w), d;
    switch (which) {
    case 1:
        tg_sqrt(loss); /* a metric for the log */
        return 0;
    case 2:
        tg_square(w);
        return 0;
    case 3:
        tg_full(tape, TG_F64, TG_SHAPE(2), 1);
        return 0;
    case 4:
        tg_constant(tape, TG_F64, l->batch, TG_SHAPE(2));
        return 0;
    case 5:
        ck_assert(tg_grad(&loss, 1, &w, 1, NULL, true, &d));
        return 0;
    case 6:
        tg_no_grad_begin(tape);
        tg_exp(w);
        tg_no_grad_end(tape);
        return 0;
    case 7:
        tg_tape_reset(tape);
        return 0;
    case 8:
        ck_assert(tg_backward(loss));
        return 1;
    case 9:
        ck_assert(tg_backward(product(l)));
        return 1;
    case 10:
        ck_assert(tg_backward(tg_mul_scalar(loss, 2)));
        return 2;
    default:
        return 0;
    }
}

/* Three micro-batches, with or without an optimiser's step after each; each begins or ends differently. */
START_TEST(no_micro_batch_is_lost_whatever_else_a_step_records)
{
    for (int where = 0; where < 4; where++)
        for (int which = 0; which < TAILS; which++)
            for (int cleared = 0; cleared < 8; cleared++)
                for (int early = 0; early < 2; early++) {
                    learner l;
                    make(&l);
                    tg_tape_free(tape);
                    tape = tg_tape_new();
                    int expected = 0;
                    for (int step = 0; step < 4; step++) {
                        tg_tape_reset(tape);
                        tg_tensor loss = product(&l);
                        const bool extra = step == where;
                        if (extra && early && which != 7)
                            expected += tail_of(&l, which, loss);
                        ck_assert(tg_backward(loss));
                        expected++;
                        if (extra && !early)
                            expected += tail_of(&l, which, loss);
                        ck_assert_msg(l.gradient[0] == 3 * expected && l.gradient[1] == 5 * expected,
                                      "tail %d %s step %d, cleared %d: in step %d the gradient is %g where %d is right",
                                      which, early ? "before" : "after", where, cleared, step, l.gradient[0],
                                      3 * expected);
                        if (cleared >> step & 1) {
                            l.w.has_gradient = false;
                            expected = 0;
                        }
                    }
                }
}
END_TEST

/* ---- replay ---- */

/* A replay overwrites gradients while has_gradient is false and adds to them otherwise, as tg_backward does, whatever
 * the recorded step did. */
START_TEST(a_replay_adds_to_gradients_and_starts_them_afresh_like_a_backward_pass)
{
    for (int recorded_fresh = 0; recorded_fresh < 2; recorded_fresh++) {
        learner l;
        make(&l);
        l.gradient[0] = l.gradient[1] = 100;
        l.w.has_gradient = !recorded_fresh;
        tg_tape_reset(tape);
        ck_assert(tg_backward(product(&l)));
        ck_assert_double_eq(l.gradient[0], recorded_fresh ? 3 : 103);
        double expected = l.gradient[0];
        for (int run = 0; run < 6; run++) {
            l.batch[0] = 10 * (run + 1);
            if (run % 3 == 1) {
                l.w.has_gradient = false;
                expected = 0;
            }
            ck_assert_msg(tg_replay(tape), "%s", tg_tape_error(tape));
            expected += l.batch[0];
            ck_assert_double_eq(l.gradient[0], expected);
            ck_assert(l.w.has_gradient);
        }
    }
}
END_TEST

START_TEST(a_replayed_step_of_two_backward_passes_adds_both)
{
    learner l;
    make(&l);
    tg_tensor loss = product(&l);
    ck_assert(tg_backward(loss) && tg_backward(tg_mul_scalar(loss, 2)));
    ck_assert_double_eq(l.gradient[0], 9);
    l.w.has_gradient = false;
    l.batch[0] = 7;
    ck_assert_msg(tg_replay(tape), "%s", tg_tape_error(tape));
    ck_assert_double_eq(l.gradient[0], 21);
    ck_assert(tg_replay(tape));
    ck_assert_double_eq(l.gradient[0], 42);
}
END_TEST

START_TEST(a_replay_leaves_constants_and_variables_made_after_a_backward_pass)
{
    enum { SIZE = 16 };
    double values[SIZE], gradient[SIZE], ones[SIZE], first[SIZE];
    for (int i = 0; i < SIZE; i++) {
        values[i] = 0.1 * i;
        ones[i] = 1;
    }
    tg_parameter p = {.name = "p", .dtype = TG_F64, .shape = {1, {SIZE}}, .data = values, .gradient = gradient};
    tg_tensor w = tg_parameter_tensor(tape, &p);
    ck_assert(tg_backward(tg_sum(tg_tanh(tg_square(tg_tanh(w))))));
    memcpy(first, gradient, sizeof first);
    tg_tensor c = tg_constant(tape, TG_F64, ones, TG_SHAPE(SIZE)), v = tg_variable(tape, TG_F64, ones, TG_SHAPE(SIZE));
    ck_assert(tg_backward(tg_sum(tg_mul(tg_mul(c, v), w))));
    for (int run = 0; run < 3; run++) {
        p.has_gradient = false;
        ck_assert_msg(tg_replay(tape), "%s", tg_tape_error(tape));
        for (int i = 0; i < SIZE; i++) {
            ck_assert_double_eq(tg_at(c, i), 1);
            ck_assert_double_eq(tg_at(v, i), 1);
            ck_assert_double_eq(gradient[i], first[i] + 1);
            ck_assert_double_eq(tg_at(tg_gradient(v), i), values[i]);
        }
    }
}
END_TEST

/* A replay keeps data that the program filled in by itself, or is refused. The data never becomes 0. */
START_TEST(a_replay_after_a_jacobian_or_hessian_is_right_or_refused)
{
    for (int which = 0; which < 2; which++) {
        tg_tape_reset(tape);
        tg_tensor x = tg_variable(tape, TG_F64, (double[]){1, 2, 3}, TG_SHAPE(3));
        tg_tensor matrix = which ? tg_hessian(tg_sum(tg_mul(x, tg_square(x))), x) : tg_jacobian(tg_square(x), x),
                  s = tg_sum(matrix);
        ck_assert_double_eq(tg_item(s), which ? 36 : 12);
        if (tg_replay(tape)) {
            ck_assert_double_eq(tg_item(s), which ? 36 : 12);
            ck_assert_double_eq(tg_at(matrix, 4), which ? 12 : 4);
        } else
            expect_error("tg_replay");
    }
}
END_TEST

static tg_tensor cube(tg_tape *t, const tg_tensor *in, int count, void *user)
{
    (void)t, (void)count, (void)user;
    return tg_mul(in[0], tg_square(in[0]));
}

static tg_tensor cube_deeper(tg_tape *t, const tg_tensor *in, int count, void *user)
{
    (void)t;
    return tg_add(tg_checkpoint(cube, in, count, user), in[0]);
}

START_TEST(a_replay_goes_through_checkpoints)
{
    /* 3 x^2 + 1 */
    double number = 2;
    tg_tensor x = tg_variable(tape, TG_F64, &number, TG_SHAPE(1)),
              loss = tg_sum(tg_checkpoint(cube_deeper, &x, 1, NULL));
    ck_assert(tg_backward(loss));
    ck_assert_double_eq(tg_item(tg_gradient(x)), 13);
    for (int run = 0; run < 3; run++) {
        number = 3 + run;
        ck_assert(tg_set(x, TG_F64, &number, TG_SHAPE(1)));
        ck_assert_msg(tg_replay(tape), "%s", tg_tape_error(tape));
        ck_assert_double_eq(tg_item(loss), number * number * number + number);
        ck_assert_double_eq(tg_item(tg_gradient(x)), 3 * number * number + 1);
    }
}
END_TEST

/* ---- one parameter on two tapes, and one model in eight threads ---- */

START_TEST(two_tapes_of_one_thread_keep_a_parameter_apart)
{
    double value = 2, gradient = 0;
    tg_parameter p = {.name = "p", .dtype = TG_F64, .shape = {1, {1}}, .data = &value, .gradient = &gradient};
    tg_tape *other = tg_tape_new();
    for (int step = 0; step < 5; step++) {
        tg_tape_reset(tape);
        tg_tape_reset(other);
        p.has_gradient = false;
        tg_tensor linear = tg_mul_scalar(tg_parameter_tensor(tape, &p), 10);
        tg_tensor linear_there = tg_mul_scalar(tg_parameter_tensor(other, &p), 100);
        tg_tensor square = tg_square(tg_parameter_tensor(tape, &p)),
                  square_there = tg_square(tg_parameter_tensor(other, &p));
        tg_tensor x = tg_parameter_tensor(tape, &p), there = tg_parameter_tensor(other, &p), d;
        ck_assert(x.value == tg_parameter_tensor(tape, &p).value &&
                  there.value == tg_parameter_tensor(other, &p).value);
        tg_tensor y = tg_sum(tg_add(linear, square)), z = tg_sum(tg_add(linear_there, square_there));
        ck_assert(tg_grad(&y, 1, &x, 1, NULL, false, &d));
        ck_assert_double_eq(tg_item(d), 14);
        ck_assert(tg_grad(&z, 1, &there, 1, NULL, false, &d));
        ck_assert_double_eq(tg_item(d), 104);
        ck_assert(tg_backward(y));
        ck_assert_double_eq(gradient, 14);
        ck_assert_double_eq(tg_item(tg_gradient(x)), 14);
        ck_assert(tg_backward(z));
        ck_assert_double_eq(gradient, 118);
        ck_assert_ptr_null(tg_tape_error(other));
    }
    tg_tape_free(other);
}
END_TEST

enum { ROWS = 64, INPUTS = 8, OUTPUTS = 3, THREADS = 8 };

typedef struct evaluation {
    const tg_mlp *net;
    const float *x;
    float first[ROWS * OUTPUTS];
    int different, errors;
} evaluation;

static void *evaluate(void *argument)
{
    evaluation *e = argument;
    tg_tape *own = tg_tape_new();
    for (int step = 0; step < 50; step++) {
        tg_tape_reset(own);
        tg_tensor y = tg_mlp_forward(e->net, tg_borrow(own, TG_F32, e->x, TG_SHAPE(ROWS, INPUTS)));
        float out[ROWS * OUTPUTS];
        e->errors += !tg_read(y, TG_F32, out, ROWS * OUTPUTS);
        if (step == 0)
            memcpy(e->first, out, sizeof out);
        e->different += memcmp(e->first, out, sizeof out) != 0;
    }
    tg_tape_free(own);
    return NULL;
}

START_TEST(evaluation_only_reads_the_model_in_eight_threads_at_once)
{
    tg_rng rng = tg_rng_seed(1);
    tg_mlp *net = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = INPUTS, .hidden = {64, 64}, .outputs = OUTPUTS});
    static float x[ROWS * INPUTS];
    for (int i = 0; i < ROWS * INPUTS; i++)
        x[i] = (float)tg_rng_normal(&rng);
    tg_parameter before[6];
    for (int i = 0; i < 6; i++)
        before[i] = *tg_parameters_at(tg_mlp_parameters(net), i);
    pthread_t threads[THREADS];
    static evaluation e[THREADS];
    for (int i = 0; i < THREADS; i++) {
        e[i] = (evaluation){.net = net, .x = x};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, evaluate, &e[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(e[i].different + e[i].errors, 0);
        ck_assert_mem_eq(e[i].first, e[0].first, sizeof e[0].first);
    }
    for (int i = 0; i < 6; i++) /* not even the records take a byte more */
        ck_assert_mem_eq(tg_parameters_at(tg_mlp_parameters(net), i), &before[i], sizeof before[i]);
    tg_mlp_free(net);
}
END_TEST

/* ---- memory ---- */

START_TEST(large_tensors_that_grow_a_little_each_step_do_not_pile_up)
{
    const int64_t size = (71 << 20) / 8;
    int64_t largest = 0;
    for (int step = 0; step < 12; step++) {
        tg_tape_reset(tape);
        ck_assert(tg_ok(tg_full(tape, TG_F64, TG_SHAPE(size + 8 * step), 1)));
        const tg_tape_counts counts = tg_tape_count(tape);
        largest = counts.bytes_used > largest ? counts.bytes_used : largest;
        ck_assert_msg(counts.bytes_held <= 4 * largest, "step %d: %lld bytes held, and no step needs more than %lld",
                      step, (long long)counts.bytes_held, (long long)largest);
    }
    ck_assert_int_gt(largest, size * 8);
}
END_TEST

START_TEST(a_no_grad_scope_left_open_ends_with_its_step)
{
    learner l;
    make(&l);
    tg_no_grad_begin(tape);
    ck_assert(tg_ok(product(&l)));
    tg_tape_reset(tape);
    tg_no_grad_begin(tape); /* its end is that of the only scope */
    ck_assert(tg_ok(product(&l)));
    tg_no_grad_end(tape);
    ck_assert_msg(tg_backward(product(&l)), "%s", tg_tape_error(tape));
    ck_assert_double_eq(l.gradient[1], 5);
}
END_TEST

START_TEST(a_gradient_that_is_kept_is_kept_in_its_step_only)
{
    const double three = 3;
    for (int step = 0; step < 3; step++) {
        tg_tape_reset(tape);
        tg_tensor x = tg_variable(tape, TG_F64, &three, TG_SCALAR), y = tg_square(x);
        if (step == 0)
            tg_retain_gradient(y);
        ck_assert(tg_backward(tg_square(y)));
        ck_assert_double_eq(tg_item(tg_gradient(x)), 108);
        ck_assert(tg_ok(tg_gradient(y)) == (step == 0));
    }
}
END_TEST

Suite *steps_suite(void)
{
    Suite *suite = suite_create("steps");
    TCase *tests = tcase_create("steps");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, no_micro_batch_is_lost_whatever_else_a_step_records);
    tcase_add_test(tests, a_replay_adds_to_gradients_and_starts_them_afresh_like_a_backward_pass);
    tcase_add_test(tests, a_replayed_step_of_two_backward_passes_adds_both);
    tcase_add_test(tests, a_replay_leaves_constants_and_variables_made_after_a_backward_pass);
    tcase_add_test(tests, a_replay_after_a_jacobian_or_hessian_is_right_or_refused);
    tcase_add_test(tests, a_replay_goes_through_checkpoints);
    tcase_add_test(tests, two_tapes_of_one_thread_keep_a_parameter_apart);
    tcase_add_test(tests, evaluation_only_reads_the_model_in_eight_threads_at_once);
    tcase_add_test(tests, a_no_grad_scope_left_open_ends_with_its_step);
    tcase_add_test(tests, a_gradient_that_is_kept_is_kept_in_its_step_only);
    tcase_add_test(tests, large_tensors_that_grow_a_little_each_step_do_not_pile_up);
    suite_add_tcase(suite, tests);
    return suite;
}
