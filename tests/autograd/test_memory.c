/* The memory of a step: planned once steps repeat, and less of it on a tape that forgets results. What a step computes
 * does not depend on either. */
#include "autograd/tape/value.h"
#include "tests/support/processor_time.h"
#include "tests/support/wrapped_memory.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

Suite *memory_suite(void);

enum { ROWS = 64, WIDTH = 64, LAYERS = 4, MATRIX = WIDTH * WIDTH, RESULT = 4 * ROWS * WIDTH };

static tg_tape *tape;
static float weights[LAYERS][MATRIX], gradients[LAYERS][MATRIX], batch[ROWS * WIDTH];
static tg_parameter parameters[LAYERS];
static tg_tensor hidden[2 * LAYERS]; /* before and after each activation */
static bool keeps_hidden;            /* with tg_keep */

static void open_tape(void)
{
    tg_rng rng = tg_rng_seed(1);
    tape = tg_tape_new();
    keeps_hidden = false;
    for (int i = 0; i < ROWS * WIDTH; i++)
        batch[i] = (float)tg_rng_normal(&rng);
    for (int l = 0; l < LAYERS; l++) {
        for (int i = 0; i < MATRIX; i++)
            weights[l][i] = 0.1f * (float)tg_rng_normal(&rng);
        parameters[l] = (tg_parameter){.name = "weight",
                                       .dtype = TG_F32,
                                       .shape = TG_SHAPE(WIDTH, WIDTH),
                                       .data = weights[l],
                                       .gradient = gradients[l]};
    }
}

static void close_tape(void)
{
    tg_tape_free(tape);
}

/* The forward pass of a step, whose activation is gelu or, for an operation whose derivative reads its input, sin. */
static tg_tensor forward(tg_tensor (*activation)(tg_tensor x))
{
    tg_tape_reset(tape);
    tg_tensor x = tg_borrow(tape, TG_F32, batch, TG_SHAPE(ROWS, WIDTH));
    for (int l = 0; l < LAYERS; l++) {
        parameters[l].has_gradient = false;
        hidden[2 * l] = tg_linear(x, tg_parameter_tensor(tape, &parameters[l]), TG_NONE);
        if (keeps_hidden)
            tg_keep(hidden[2 * l]);
        hidden[2 * l + 1] = x = activation(hidden[2 * l]);
    }
    return tg_mean(tg_square(x));
}

/* The loss of a step. */
static float train(tg_tensor (*activation)(tg_tensor x))
{
    const tg_tensor loss = forward(activation);
    ck_assert_msg(tg_backward(loss), "%s", tg_tape_error(tape));
    return (float)tg_item(loss);
}

static int64_t used(void)
{
    return tg_tape_count(tape).bytes_used;
}

/* ---- planned memory ---- */

START_TEST(repeated_steps_hold_just_what_they_use)
{
    float before[LAYERS][MATRIX];
    const float loss = train(tg_gelu_exact);
    const int64_t at_first = tg_tape_count(tape).bytes_held;
    memcpy(before, gradients, sizeof before);
    for (int step = 0; step < 4; step++) {
        memset(gradients, 0, sizeof gradients);
        ck_assert_float_eq(train(tg_gelu_exact), loss);
        ck_assert_mem_eq(gradients, before, sizeof before);
    }
    const tg_tape_counts counts = tg_tape_count(tape);
    ck_assert_int_lt(counts.bytes_held, at_first);
    ck_assert_int_lt(counts.bytes_held - counts.bytes_used, 1 << 18); /* the records, in blocks of some size */
    for (int i = 0; i < 2 * LAYERS; i++)
        for (int k = 0; k < i; k++) /* all results can be read, so all lie apart */
            ck_assert_int_ge(labs((long)((const char *)tg_data(hidden[i]) - (const char *)tg_data(hidden[k]))), RESULT);
}
END_TEST

START_TEST(a_trimmed_tape_holds_no_numbers_and_goes_on)
{
    float before[LAYERS][MATRIX];
    const float loss = train(tg_gelu_exact);
    memcpy(before, gradients, sizeof before);
    for (int steps = 1; steps <= 5; steps++) { /* before and after the plan */
        const tg_tensor old = hidden[0];
        tg_tape_trim(tape);
        ck_assert(!tg_ok(old));
        ck_assert_int_eq(tg_tape_count(tape).values, 0);
        ck_assert_int_lt(tg_tape_count(tape).bytes_held, 1 << 17); /* the records */
        for (int step = 0; step < steps; step++) {
            memset(gradients, 0, sizeof gradients);
            ck_assert_float_eq(train(tg_gelu_exact), loss);
            ck_assert_mem_eq(gradients, before, sizeof before);
        }
    }
    tg_tape_trim(tape);
    tg_tape_trim(tape);
    tg_tape_trim(NULL);
    ck_assert_ptr_null(tg_tape_error(tape));
}
END_TEST

START_TEST(without_memory_for_a_plan_all_stays_as_it_is)
{
    float before[LAYERS][MATRIX];
    const float loss = train(tg_gelu_exact);
    memcpy(before, gradients, sizeof before);
    for (int allowed = 0; allowed < 4; allowed++) { /* lifetimes, their lives, and the block */
        tg_tape_free(tape);
        tape = tg_tape_new();
        for (int step = 0; step < 5; step++) {
            if (step == 2) {
                wrapped_memory_fail_after(allowed);
                tg_tape_reset(tape);
                const bool reached = wrapped_memory_stop();
                ck_assert(reached == (allowed < 3));
            }
            ck_assert_float_eq(train(tg_gelu_exact), loss);
            ck_assert_mem_eq(gradients, before, sizeof before);
        }
    }
}
END_TEST

START_TEST(a_replay_uses_planned_memory_too)
{
    float loss = 0;
    for (int step = 0; step < 4; step++)
        loss = train(tg_gelu_exact);
    for (int times = 0; times < 2; times++) {
        for (int i = 0; i < ROWS * WIDTH; i++)
            batch[i] *= 0.5f;
        ck_assert(tg_replay(tape));
    }
    for (int i = 0; i < ROWS * WIDTH; i++)
        batch[i] *= 4;
    for (int l = 0; l < LAYERS; l++)
        parameters[l].has_gradient = false;
    ck_assert(tg_replay(tape));
    ck_assert_float_eq(train(tg_gelu_exact), loss);
}
END_TEST

/* Planned memory changes neither which tensors can be read nor their bits, those of a backward pass included. */
START_TEST(the_same_tensors_can_be_read_as_at_first)
{
    enum { MOST = 64, SIZE = 64 };
    static float wanted[MOST][SIZE];
    bool is_there[MOST] = {false};
    for (int step = 0; step < 4; step++) {
        tg_tape_reset(tape);
        tg_tensor x = tg_variable(tape, TG_F32, batch, TG_SHAPE(8, 8)), y = tg_silu(x), z = tg_swiglu(y, x);
        z = tg_mul(z, tg_transpose(tg_reshape(tg_exp(y), TG_SHAPE(8, 8)), 0, 1));
        ck_assert(tg_backward(tg_sum(tg_square(tg_reshape(z, TG_SHAPE(SIZE))))));
        const int64_t values = tg_tape_count(tape).values;
        ck_assert_int_le(values, MOST);
        for (int64_t i = 0; i < values; i++) {
            const tg_tensor one = tg_tape_tensor(tape, i);
            const size_t bytes = (size_t)(tg_size(one) < SIZE ? tg_size(one) : SIZE) * sizeof(float);
            if (step == 0)
                is_there[i] = tg_data(one) != NULL;
            ck_assert_int_eq(is_there[i], tg_data(one) != NULL);
            if (is_there[i] && step == 0)
                memcpy(wanted[i], tg_data(one), bytes);
            if (is_there[i])
                ck_assert_mem_eq(tg_data(one), wanted[i], bytes);
        }
        ck_assert_msg(!tg_tape_error(tape), "%s", tg_tape_error(tape));
    }
}
END_TEST

/* An empty result lies anywhere, also where the input of its operation lies. */
START_TEST(an_empty_result_overwrites_nothing)
{
    float wanted[ROWS * WIDTH];
    for (int step = 0; step < 12; step++) {
        tg_tape_reset(tape);
        tg_tensor x = tg_exp(tg_borrow(tape, TG_F32, batch, TG_SHAPE(ROWS, WIDTH)));
        tg_tensor none = tg_index_select(x, 0, tg_constant(tape, TG_I32, NULL, TG_SHAPE(0)));
        tg_tensor y = tg_variable(tape, TG_F32, batch, TG_SHAPE(1));
        y = tg_mul(y, step < 6 ? tg_exp(x) : tg_tanh(x)); /* from step 6 on, another plan */
        ck_assert(tg_backward(tg_sum(tg_neg(y))) && tg_size(none) == 0);
        if (step == 0)
            memcpy(wanted, tg_f32(x), sizeof wanted);
        ck_assert_msg(tg_f32(x), "step %d: %s", step, tg_tape_error(tape));
        ck_assert_mem_eq(tg_f32(x), wanted, sizeof wanted);
    }
}
END_TEST

/* On a tape that saves memory a huge step is planned like any other, in little time. */
START_TEST(a_huge_step_is_planned_too)
{
    enum { DEPTH = 100000 };
    int64_t held = 0;
    tg_tape_save_memory(tape, true);
    for (int step = 0; step < 4; step++) {
        const double began = processor_time();
        tg_tape_reset(tape);
        const double seconds = processor_time() - began;
        ck_assert_msg(seconds < in_seconds(1), "a plan of %d results took %g s", DEPTH, seconds);
        tg_tensor x = tg_variable(tape, TG_F32, batch, TG_SHAPE(WIDTH)), y = x;
        for (int i = 0; i < DEPTH; i++)
            y = tg_add(y, x);
        ck_assert(tg_backward(tg_sum(y)));
        held = step == 0 ? tg_tape_count(tape).bytes_held : held;
    }
    ck_assert_int_le(tg_tape_count(tape).bytes_held, held - DEPTH / 2 * WIDTH * (int64_t)sizeof(float));
}
END_TEST

/* Two losses in turn, of which one reads what the other stops: as a GAN does it. Every step records anew, and is
 * right. */
START_TEST(two_losses_in_turn_on_a_tape_that_saves_memory_give_what_they_give_on_fresh_ones)
{
    tg_tape_save_memory(tape, true);
    for (int step = 0; step < 12; step++) {
        double gradient[2];
        tg_tape *both[2] = {tape, tg_tape_new()};
        for (int k = 0; k < 2; k++) {
            tg_tape_reset(both[k]);
            tg_tensor x = tg_variable(both[k], TG_F32, batch, TG_SHAPE(WIDTH)), made = tg_tanh(tg_exp(tg_tanh(x)));
            tg_tensor judged = tg_gelu_exact(tg_mul(step % 2 ? made : tg_stop_gradient(made), x));
            ck_assert_msg(tg_backward(tg_mean(tg_square(judged))), "step %d: %s", step, tg_tape_error(both[k]));
            gradient[k] = tg_at(tg_gradient(x), 3);
        }
        ck_assert_double_eq(gradient[0], gradient[1]);
        tg_tape_free(both[1]);
    }
}
END_TEST

START_TEST(a_long_chain_of_views_is_planned_at_once)
{
    enum { DEPTH = 10000 };
    double seconds = 0;
    for (int step = 0; step < 4; step++) {
        const double began = processor_time();
        tg_tape_reset(tape);
        seconds += processor_time() - began;
        tg_tensor x = tg_variable(tape, TG_F32, batch, TG_SHAPE(WIDTH));
        for (int i = 0; i < DEPTH; i++)
            x = tg_reshape(x, i % 2 ? TG_SHAPE(WIDTH) : TG_SHAPE(8, 8));
        ck_assert(tg_backward(tg_sum(x)));
    }
    ck_assert_double_lt(seconds, in_seconds(1));
}
END_TEST

static tg_tensor one_of_two(tg_tape *of, const tg_tensor *inputs, int count, void *user)
{
    tg_tensor first = tg_exp(inputs[0]), last = tg_exp(first);
    (void)of, (void)count;
    return *(bool *)user ? first : last;
}

/* From step 4 on the result is what was an intermediate result before, whose memory was used again. */
START_TEST(another_result_of_a_checkpoint_can_be_read)
{
    for (int step = 0; step < 6; step++) {
        bool first = step >= 4;
        tg_tape_reset(tape);
        tg_tensor x = tg_variable(tape, TG_F32, batch, TG_SHAPE(ROWS, WIDTH));
        tg_tensor y = tg_checkpoint(one_of_two, &x, 1, &first);
        ck_assert(tg_backward(tg_sum(x)));
        ck_assert_msg(tg_f32(y), "step %d: %s", step, tg_tape_error(tape));
        ck_assert_double_eq_tol(tg_at(y, 5), first ? exp(tg_at(x, 5)) : exp(exp(tg_at(x, 5))), 1e-5);
    }
}
END_TEST

/* ---- tapes that forget ---- */

static void ck_assert_error(const char *expected)
{
    ck_assert_ptr_nonnull(tg_tape_error(tape));
    ck_assert_str_eq(tg_tape_error(tape), expected);
    tg_tape_clear_error(tape);
}

START_TEST(a_tape_that_forgets_needs_less_for_the_same_step)
{
    float before[LAYERS][MATRIX], loss = 0;
    for (int step = 0; step < 4; step++)
        loss = train(tg_gelu_exact);
    const int64_t all = used();
    memcpy(before, gradients, sizeof before);
    tg_tape_reset(tape);
    tg_tape_save_memory(tape, true);
    for (int step = 0; step < 4; step++) {
        memset(gradients, 0, sizeof gradients);
        ck_assert_float_eq(train(tg_gelu_exact), loss);
        ck_assert_mem_eq(gradients, before, sizeof before);
    }
    ck_assert_int_le(used(), all - LAYERS * RESULT); /* the inputs of the activations at least */
    tg_tape_reset(tape);
    tg_tape_save_memory(tape, false);
    for (int step = 0; step < 4; step++)
        train(tg_gelu_exact);
    ck_assert_int_eq(used(), all);
}
END_TEST

/* The same in every step, not only once there is a plan. */
START_TEST(reading_what_may_be_forgotten_is_an_error)
{
    tg_tape_save_memory(tape, true);
    for (int step = 0; step < 4; step++) {
        tg_tensor loss = forward(tg_gelu_exact);
        ck_assert(tg_backward(loss));
        ck_assert_double_eq(tg_item(loss), tg_at(loss, 0));
        ck_assert_ptr_null(tg_data(hidden[0]));
        ck_assert_error("tg_data: tensor 2 (linear) may be forgotten, as an operation has used it and the tape saves "
                        "memory: read it before, or call tg_keep on it first");
        tg_keep(hidden[1]);
        ck_assert_error("tg_keep: tensor 3 (gelu_exact) has been used already, so the tape may have forgotten it");
        tg_tape_save_memory(tape, false);
        ck_assert_error("tg_tape_save_memory: a step has begun; call it right after tg_tape_new or tg_tape_reset");
    }
}
END_TEST

/* A result can be read until it is used, and to the end if it is kept, nothing uses it, or it is a gradient. */
START_TEST(other_results_can_be_read)
{
    float wanted[2][ROWS * WIDTH], *got = malloc(sizeof wanted[0]);
    tg_tape_save_memory(tape, true);
    for (int step = 0; step < 6; step++) {
        tg_tape_reset(tape);
        tg_tensor x = tg_variable(tape, TG_F32, batch, TG_SHAPE(ROWS, WIDTH));
        tg_tensor y = tg_mul_scalar(x, 2);
        if (step % 2)
            ck_assert_ptr_nonnull(tg_data(y));
        tg_tensor z = tg_keep(tg_exp(y)), unused = tg_neg(z), w = tg_retain_gradient(tg_mul(z, y));
        ck_assert(tg_backward(tg_mean(tg_square(w))));
        for (int i = 0; i < 3; i++)
            w = tg_exp(tg_neg(tg_square(w))); /* to use the memory of others */
        ck_assert_ptr_nonnull(tg_data(tg_gradient(x)));
        ck_assert(tg_read(z, TG_F32, got, ROWS * WIDTH));
        if (step == 0)
            memcpy(wanted[0], got, sizeof wanted[0]);
        ck_assert_mem_eq(wanted[0], got, sizeof wanted[0]);
        for (int i = 0; i < ROWS * WIDTH; i++)
            ck_assert_float_eq(tg_f32(unused)[i], -got[i]);
        ck_assert_msg(!tg_tape_error(tape), "%s", tg_tape_error(tape));
    }
    free(got);
}
END_TEST

/* What a step uses later than the steps before did is computed again, unless it was kept. */
START_TEST(a_step_may_use_what_earlier_steps_did_not)
{
    float wanted[LAYERS][MATRIX];
    for (int way = 0; way < 3; way++) { /* a tape that keeps all; one that forgets; one that was told what to keep */
        tg_tape_reset(tape);
        tg_tape_save_memory(tape, way > 0);
        keeps_hidden = way == 2;
        for (int step = 0; step < 8; step++) {
            tg_tensor loss = forward(tg_gelu_exact);
            const bool differs = step == 4 || step == 6;
            if (differs)
                loss = tg_add(loss, tg_mean(tg_tanh(hidden[0])));
            memset(gradients, 0, sizeof gradients);
            ck_assert(tg_backward(loss));
            if (differs && way == 0)
                memcpy(wanted, gradients, sizeof wanted);
            else if (differs)
                ck_assert_mem_eq(wanted, gradients, sizeof wanted);
        }
    }
}
END_TEST

static tg_tensor pass_on(tg_tensor cotangent, void *user)
{
    (void)user;
    return cotangent;
}

/* After a pass too, which does not write its gradients once more. */
START_TEST(a_step_may_use_after_a_pass_what_that_overwrote)
{
    float wanted[LAYERS][MATRIX], sum = 0;
    for (int way = 0; way < 3; way++) { /* a tape that keeps all; one that forgets, without and with a hook */
        tg_tape_free(tape);
        tape = tg_tape_new();
        tg_tape_save_memory(tape, way > 0);
        for (int step = 0; step < 4; step++)
            train(tg_gelu_exact);
        memset(gradients, 0, sizeof gradients);
        const tg_tensor loss = forward(tg_gelu_exact);
        ck_assert(way != 2 || tg_add_hook(hidden[1], pass_on, NULL));
        ck_assert(tg_backward(loss));
        const tg_tensor late = tg_sum(tg_tanh(hidden[0]));
        ck_assert_msg(tg_ok(late), "%s", tg_tape_error(tape));
        if (way == 0) {
            memcpy(wanted, gradients, sizeof wanted);
            sum = (float)tg_item(late);
        }
        ck_assert_mem_eq(wanted, gradients, sizeof wanted);
        ck_assert_float_eq(sum, (float)tg_item(late));
        train(tg_gelu_exact);
        ck_assert(tg_ok(tg_tanh(hidden[0])));
    }
}
END_TEST

/* What the caller had read stays where it was until the step ends. */
START_TEST(a_pointer_outlives_what_is_computed_again)
{
    tg_tape_save_memory(tape, true);
    for (int step = 0; step < 5; step++) {
        tg_tape_reset(tape);
        tg_tensor x = tg_borrow(tape, TG_F32, batch, TG_SHAPE(ROWS, WIDTH)), y = tg_exp(x), kept = tg_keep(tg_neg(x));
        tg_tensor z = tg_neg(tg_neg(tg_neg(tg_add(y, kept))));
        const float *read = tg_f32(kept);
        for (int time = 0; step == 4 && time < 2; time++) {
            ck_assert(tg_ok(tg_tanh(y)));
            for (int i = 0; i < ROWS * WIDTH; i++)
                ck_assert(read[i] == -batch[i] && tg_f32(kept)[i] == -batch[i]);
        }
        ck_assert(tg_ok(z));
    }
}
END_TEST

/* But not if a parameter, from which it was computed, has changed since. */
START_TEST(what_has_changed_is_not_computed_again)
{
    tg_tape_save_memory(tape, true);
    for (int step = 0; step < 4; step++)
        train(tg_gelu_exact);
    ck_assert(tg_backward(forward(tg_gelu_exact)));
    tg_parameter_changed(&parameters[0]);
    ck_assert(!tg_ok(tg_tanh(hidden[0])));
    ck_assert_error("tanh: input 0, tensor 2 (linear), is forgotten, as the tape saves memory and the steps before did "
                    "not use it here, and it cannot be computed again, as weight has changed: call tg_keep on it "
                    "first, or record such steps on another tape");
}
END_TEST

/* A pass as well; and so its loss, which no derivative reads, can be read. */
START_TEST(a_pass_computes_again_what_it_reads)
{
    tg_tape_save_memory(tape, true);
    for (int step = 0; step < 5; step++) {
        tg_tape_reset(tape);
        tg_tensor x = tg_variable(tape, TG_F32, batch, TG_SHAPE(ROWS, WIDTH)), y = tg_exp(x), z = tg_neg(x);
        ck_assert(tg_ok(tg_neg(tg_neg(tg_neg(y)))) && tg_ok(tg_neg(tg_neg(tg_neg(z)))));
        if (step < 4)
            continue;
        ck_assert(tg_backward_from(y, x)); /* the derivative of exp reads its result, so that is computed again */
        for (int i = 0; i < ROWS * WIDTH; i++)
            ck_assert_float_eq_tol(tg_f32(tg_gradient(x))[i], batch[i] * expf(batch[i]), 1e-4f);
        ck_assert(tg_backward_from(z, x) && tg_data(z));
        for (int i = 0; i < ROWS * WIDTH; i++)
            ck_assert_float_eq(tg_f32(z)[i], -batch[i]);
    }
}
END_TEST

/* The loss, although its derivative reads it. */
static tg_tensor read_loss(tg_tensor cotangent, void *user)
{
    ck_assert_double_gt(tg_item(*(tg_tensor *)user), 0);
    return cotangent;
}

START_TEST(a_hook_can_read_the_loss)
{
    tg_tape_save_memory(tape, true);
    for (int step = 0; step < 3; step++) {
        tg_tape_reset(tape);
        tg_tensor x = tg_variable(tape, TG_F32, batch, TG_SHAPE(ROWS, WIDTH)), loss = tg_exp(tg_mean(x));
        ck_assert(tg_add_hook(x, read_loss, &loss) && tg_backward(loss));
        ck_assert_msg(!tg_tape_error(tape), "%s", tg_tape_error(tape));
    }
}
END_TEST

/* An operation that a step has used in another way before is not forgotten for that. */
START_TEST(what_a_step_uses_is_not_what_earlier_steps_used)
{
    tg_tape_save_memory(tape, true);
    for (int step = 0; step < 10; step++) {
        tg_tape_reset(tape);
        tg_tensor x = tg_variable(tape, TG_F32, batch, TG_SHAPE(ROWS, WIDTH)), y = tg_exp(x);
        tg_tensor z = tg_square(step < 4 ? y : x); /* the last use of y is over or, as there is a plan, to come */
        ck_assert(tg_backward(tg_mean(tg_square(step < 6 ? tg_mul(z, z) : tg_add(z, z)))));
        if (step >= 4) {
            ck_assert_ptr_nonnull(tg_data(y));
            ck_assert(tg_ok(tg_neg(tg_neg(tg_neg(y)))));
            ck_assert(tg_ok(tg_square(y)));
        }
        ck_assert_msg(!tg_tape_error(tape), "step %d: %s", step, tg_tape_error(tape));
    }
}
END_TEST

/* An input of tg_grad whose gradient is used on the way to that of another input. */
START_TEST(every_gradient_can_be_read)
{
    tg_tape_save_memory(tape, true);
    for (int step = 0; step < 4; step++) {
        tg_tape_reset(tape);
        tg_tensor x = tg_borrow(tape, TG_F32, batch, TG_SHAPE(ROWS, WIDTH)), y = tg_exp(x);
        tg_tensor z = tg_sum(tg_square(y)), in[2] = {x, y}, d[2];
        ck_assert(tg_grad(&z, 1, in, 2, NULL, step % 2, d));
        for (int i = 0; i < ROWS * WIDTH; i++) {
            const float by_y = tg_f32(d[1])[i];
            ck_assert(by_y > 0 && fabsf(tg_f32(d[0])[i] - by_y * by_y / 2) <= 1e-5f * by_y * by_y);
        }
    }
}
END_TEST

/* A leaf may have changed, so its copy is not computed again but stays. */
START_TEST(a_copy_of_a_leaf_is_not_forgotten)
{
    tg_tape_save_memory(tape, true);
    for (int step = 0; step < 5; step++) {
        for (int i = 0; i < ROWS * WIDTH; i++)
            batch[i] = 0.5f;
        tg_tape_reset(tape);
        tg_tensor copy = tg_copy(tg_borrow(tape, TG_F32, batch, TG_SHAPE(ROWS, WIDTH)));
        tg_tensor x = tg_exp(tg_neg(tg_neg(tg_neg(copy))));
        for (int i = 0; i < ROWS * WIDTH; i++)
            batch[i] = 7;
        if (step == 4)
            x = tg_neg(copy);
        ck_assert_float_eq(tg_f32(x)[5], step == 4 ? -0.5f : expf(-0.5f));
    }
}
END_TEST

/* ---- lifetimes ---- */

/* While the function of a checkpoint runs, it can read what it has made. */
static tg_tensor checked(tg_tape *of, const tg_tensor *inputs, int count, void *user)
{
    tg_tensor x = inputs[0], y = tg_exp(x), z = y;
    (void)of, (void)count, (void)user;
    for (int i = 0; i < 4; i++)
        z = tg_add_scalar(z, 1);
    for (int i = 0; i < ROWS * WIDTH; i += 7)
        ck_assert_float_eq(tg_f32(z)[i], tg_f32(y)[i] + 1 + 1 + 1 + 1);
    return tg_neg(z);
}

START_TEST(an_open_checkpoint_keeps_what_it_made)
{
    for (int step = 0; step < 4; step++) {
        tg_tape_reset(tape);
        tg_tensor x = tg_variable(tape, TG_F32, batch, TG_SHAPE(ROWS, WIDTH));
        ck_assert(tg_backward(tg_sum(x))); /* so that nothing is computed again */
        ck_assert(tg_backward(tg_sum(tg_checkpoint(checked, &x, 1, NULL))));
    }
}
END_TEST

/* Steps without a backward pass need nothing twice, and then one has it. */
static tg_tensor twice(tg_tape *of, const tg_tensor *inputs, int count, void *user)
{
    (void)of, (void)count, (void)user;
    return tg_tanh(tg_exp(tg_tanh(inputs[0])));
}

START_TEST(a_checkpoint_is_computed_again_from_what_it_read)
{
    float wanted[ROWS * WIDTH];
    for (int way = 0; way < 3; way++) { /* a tape that keeps all; one that forgets; one that was told what to keep */
        tg_tape_reset(tape);
        tg_tape_save_memory(tape, way > 0);
        for (int step = 0; step < 5; step++) {
            tg_tape_reset(tape);
            tg_tensor x = tg_variable(tape, TG_F32, batch, TG_SHAPE(ROWS, WIDTH)), y = tg_sin(x);
            if (way == 2)
                tg_keep(y);
            y = tg_sum(tg_checkpoint(twice, &y, 1, NULL));
            if (step < 4)
                continue;
            ck_assert(tg_backward(y));
            if (way == 0)
                memcpy(wanted, tg_f32(tg_gradient(x)), sizeof wanted);
            else
                ck_assert_mem_eq(tg_f32(tg_gradient(x)), wanted, sizeof wanted);
        }
    }
}
END_TEST

/* A checkpoint whose function goes on longer than in the steps before, or returns what was an intermediate result: on a
 * tape that keeps everything nothing of an open checkpoint is forgotten. */
typedef struct growing {
    bool goes_on, returns_first;
} growing;

static tg_tensor grows(tg_tape *of, const tg_tensor *inputs, int count, void *user)
{
    const growing *g = user;
    const tg_tensor y = tg_exp(inputs[0]);
    tg_tensor z = y;
    (void)of, (void)count;
    for (int i = 0; i < 4; i++)
        z = tg_add_scalar(z, 1);
    for (int i = 0; i < 3 && g->goes_on; i++)
        z = tg_mul(z, y);
    return g->returns_first ? y : z;
}

START_TEST(a_checkpoint_that_differs_finds_what_it_made)
{
    for (int way = 0; way < 8; way++) {
        float wanted[ROWS * WIDTH], result[ROWS * WIDTH];
        tg_tape_free(tape);
        tape = tg_tape_new();
        for (int step = 5; step >= 0; step--) { /* the first step is like the last one, on a tape without a plan */
            const bool differs = step == 5 || step == 0;
            growing g = {differs && way & 1, differs && way & 2};
            if (step == 4) {
                tg_tape_free(tape);
                tape = tg_tape_new();
            }
            tg_tape_reset(tape);
            tg_tensor x = tg_variable(tape, TG_F32, batch, TG_SHAPE(ROWS, WIDTH));
            tg_tensor y = tg_checkpoint(grows, &x, 1, &g);
            if (way & 4 || differs)
                y = tg_neg(tg_square(tg_neg(tg_square(y))));
            ck_assert_msg(tg_read(y, TG_F32, step == 5 ? wanted : result, ROWS * WIDTH), "%s", tg_tape_error(tape));
            if (step == 0)
                ck_assert_msg(memcmp(wanted, result, sizeof wanted) == 0, "way %d", way);
        }
    }
}
END_TEST

/* An operation must not overwrite what it reads again, out of order. */
START_TEST(rows_that_broadcast_are_not_overwritten)
{
    float wanted[ROWS * WIDTH];
    tg_tape_save_memory(tape, true);
    for (int step = 0; step < 4; step++) {
        tg_tape_reset(tape);
        tg_tensor y = tg_exp(tg_borrow(tape, TG_F32, batch, TG_SHAPE(ROWS, WIDTH)));
        tg_tensor z = tg_mul(y, tg_narrow(y, 0, 1, 1));
        if (step == 0)
            memcpy(wanted, tg_f32(z), sizeof wanted);
        ck_assert_mem_eq(tg_f32(z), wanted, sizeof wanted);
    }
}
END_TEST

/* tg_keep on what steps before did not keep. */
START_TEST(what_is_kept_later_is_there)
{
    float wanted[ROWS * WIDTH];
    tg_tape_save_memory(tape, true);
    for (int step = 0; step < 8; step++) {
        tg_tape_reset(tape);
        tg_tensor x = tg_variable(tape, TG_F32, batch, TG_SHAPE(ROWS, WIDTH)), y = tg_exp(x);
        if (step == 0)
            memcpy(wanted, tg_f32(y), sizeof wanted);
        if (step >= 4)
            tg_keep(y);
        for (int i = 0; i < 4; i++)
            x = tg_neg(tg_add_scalar(i ? x : y, 1));
        ck_assert(tg_backward(tg_mean(x)));
        if (step >= 4)
            ck_assert_mem_eq(tg_data(y), wanted, sizeof wanted);
        ck_assert_msg(!tg_tape_error(tape), "%s", tg_tape_error(tape));
    }
}
END_TEST

/* ---- results that overwrite inputs ---- */

static void root_loop(const tg_loop *l)
{
    const float *x = l->in[0];
    float *y = l->out, *dy = l->saved;
    for (size_t i = 0; i < l->n; i++) {
        y[i] = sqrtf(x[i]);
        dy[i] = 0.5f / y[i];
    }
}

static void root_derivative(const tg_derive *d)
{
    d->gradient[0] = tg_mul(d->cotangent, d->saved);
}

static const tg_sample root_samples[] = {{.input = {{.shape = {1, {5}}, .low = 1, .high = 2}}}};
static const tg_op root = {.name = "root",
                           .arity = 1,
                           .flags = TG_ELEMENTWISE | TG_IN_PLACE,
                           .loop = root_loop,
                           .saved = &tg_op_rsqrt,
                           .derivative = root_derivative,
                           TG_SAMPLES(root_samples)};

/* The root of 0 has an infinite derivative, which is noticed when its argument, 0, is overwritten already. */
START_TEST(an_infinite_saved_derivative_names_what_it_overwrote)
{
    tg_tape_save_memory(tape, true);
    for (int step = 0; step < 4; step++) {
        float numbers[3] = {4, step == 3 ? 0.f : 1.f, 9};
        tg_tape_reset(tape);
        tg_tape_watch(tape, step == 3);
        tg_tensor y = tg_mul_scalar(tg_variable(tape, TG_F32, numbers, TG_SHAPE(3)), 1);
        y = tg_apply(&root, NULL, 1, &y);
        if (step == 3)
            ck_assert_error("infinity at element 1 of rsqrt(f32[3]) in step 4 (operation 3 of the tape); "
                            "input 0: overwritten by the result");
        else
            ck_assert(tg_backward(tg_sum(y)));
    }
}
END_TEST

/* Each operation that may do so, on its samples, on a tape that keeps everything and on one that lets it. */
static bool overwrites(const tg_op *op, const tg_sample *sample)
{
    enum { MOST = 4096 };
    static double result[2][MOST], data[TG_SAMPLE_INPUTS][MOST];
    const int count = sample->count ? sample->count : op->arity;
    tg_rng rng = tg_rng_seed(3);
    bool overwritten = false;
    for (int i = 0; i < count; i++)
        for (int64_t k = 0; k < tg_shape_size(&sample->input[i].shape); k++)
            data[i][k] = 0.1 + tg_rng_uniform(&rng);
    for (int forgets = 0; forgets < 2; forgets++) {
        tg_tape *own = tg_tape_new();
        tg_tape_save_memory(own, forgets);
        for (int step = 0; step < 4; step++) {
            tg_tensor in[TG_SAMPLE_INPUTS];
            tg_tape_reset(own);
            for (int i = 0; i < count; i++)
                in[i] = tg_exp(tg_constant(own, TG_F64, data[i], sample->input[i].shape));
            tg_tensor y = tg_apply(op, sample->attributes, count, in);
            if (!tg_ok(y)) /* not made for these numbers */
                break;
            ck_assert(tg_size(y) <= MOST && tg_read(y, TG_F64, result[forgets], tg_size(y)));
            for (int i = 0; i < count; i++)
                overwritten |= in[i].value->slot.data == y.value->slot.data;
        }
        tg_tape_free(own);
    }
    ck_assert_msg(memcmp(result[0], result[1], sizeof result[0]) == 0, "%s", op->name);
    return overwritten;
}

START_TEST(operations_in_place_give_the_same_bits)
{
    int count = 0;
    const tg_op *op;
    for (int i = 0; (op = tg_op_at(i)); i++) {
        bool any = !(op->flags & TG_IN_PLACE);
        for (int s = 0; s < op->sample_count && op->flags & TG_IN_PLACE; s++)
            any |= overwrites(op, &op->samples[s]);
        ck_assert_msg(any, "%s overwrites nothing", op->name);
        count += op->flags & TG_IN_PLACE ? 1 : 0;
    }
    ck_assert_int_gt(count, 60);
}
END_TEST

/* A net of results that are long enough to be divided among threads, in two types. */
static tg_tensor wide_net(tg_dtype dtype, tg_tensor *x)
{
    enum { ROWS_OF_WIDE = 33, WIDTH_OF_WIDE = 2000 };
    static float numbers[ROWS_OF_WIDE * WIDTH_OF_WIDE];
    static double wide[ROWS_OF_WIDE * WIDTH_OF_WIDE];
    for (int i = 0; i < ROWS_OF_WIDE * WIDTH_OF_WIDE; i++)
        wide[i] = (double)(numbers[i] = 0.001f * (float)((i * 37) % 4001 - 2000));
    *x =
        tg_variable(tape, dtype, dtype == TG_F32 ? (const void *)numbers : wide, TG_SHAPE(ROWS_OF_WIDE, WIDTH_OF_WIDE));
    tg_tensor row = tg_mean_over(*x, TG_AXES(0), true), y = tg_gelu_exact(tg_mul(tg_exp(*x), row));
    y = tg_swiglu(tg_add(y, row), tg_sin(tg_clamp(y, -1, 1)));
    y = tg_softplus(tg_sub(row, tg_layer_norm(y, TG_NONE, TG_NONE, 1e-5)));
    return tg_mean(tg_square(tg_geglu(tg_power(y, 3), tg_elu(tg_reshape(y, TG_SHAPE(ROWS_OF_WIDE, -1)), 0.5))));
}

START_TEST(threads_overwrite_what_they_have_read)
{
    for (tg_dtype dtype = TG_F32; dtype <= TG_F64; dtype++) {
        double *wanted = NULL;
        for (int saves = 0; saves < 2; saves++) {
            tg_tape_reset(tape);
            tg_tape_save_memory(tape, saves);
            tg_set_threads(saves ? 3 : 1);
            for (int step = 0; step < 4; step++) {
                tg_tape_reset(tape);
                tg_tensor x;
                ck_assert_msg(tg_backward(wide_net(dtype, &x)), "%s", tg_tape_error(tape));
                const tg_tensor g = tg_gradient(x);
                const size_t bytes = (size_t)tg_size(g) * tg_dtype_size(dtype);
                wanted = wanted ? wanted : memcpy(malloc(bytes), tg_data(g), bytes);
                ck_assert(memcmp(tg_data(g), wanted, bytes) == 0);
            }
        }
        free(wanted);
    }
}
END_TEST

Suite *memory_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("memory");
    tcase_add_checked_fixture(tests, open_tape, close_tape);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, repeated_steps_hold_just_what_they_use);
    tcase_add_test(tests, a_trimmed_tape_holds_no_numbers_and_goes_on);
    tcase_add_test(tests, without_memory_for_a_plan_all_stays_as_it_is);
    tcase_add_test(tests, a_replay_uses_planned_memory_too);
    tcase_add_test(tests, the_same_tensors_can_be_read_as_at_first);
    tcase_add_test(tests, an_empty_result_overwrites_nothing);
    tcase_add_test(tests, a_huge_step_is_planned_too);
    tcase_add_test(tests, two_losses_in_turn_on_a_tape_that_saves_memory_give_what_they_give_on_fresh_ones);
    tcase_add_test(tests, a_long_chain_of_views_is_planned_at_once);
    tcase_add_test(tests, another_result_of_a_checkpoint_can_be_read);
    tcase_add_test(tests, a_tape_that_forgets_needs_less_for_the_same_step);
    tcase_add_test(tests, reading_what_may_be_forgotten_is_an_error);
    tcase_add_test(tests, other_results_can_be_read);
    tcase_add_test(tests, a_step_may_use_what_earlier_steps_did_not);
    tcase_add_test(tests, a_step_may_use_after_a_pass_what_that_overwrote);
    tcase_add_test(tests, a_pointer_outlives_what_is_computed_again);
    tcase_add_test(tests, what_has_changed_is_not_computed_again);
    tcase_add_test(tests, a_pass_computes_again_what_it_reads);
    tcase_add_test(tests, a_hook_can_read_the_loss);
    tcase_add_test(tests, what_a_step_uses_is_not_what_earlier_steps_used);
    tcase_add_test(tests, every_gradient_can_be_read);
    tcase_add_test(tests, a_copy_of_a_leaf_is_not_forgotten);
    tcase_add_test(tests, an_open_checkpoint_keeps_what_it_made);
    tcase_add_test(tests, a_checkpoint_is_computed_again_from_what_it_read);
    tcase_add_test(tests, a_checkpoint_that_differs_finds_what_it_made);
    tcase_add_test(tests, rows_that_broadcast_are_not_overwritten);
    tcase_add_test(tests, what_is_kept_later_is_there);
    tcase_add_test(tests, an_infinite_saved_derivative_names_what_it_overwrote);
    tcase_add_test(tests, threads_overwrite_what_they_have_read);
    tcase_add_test(tests, operations_in_place_give_the_same_bits);
    suite_add_tcase(suite, tests);
    return suite;
}
