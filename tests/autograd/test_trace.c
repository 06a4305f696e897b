/* A step that begins like the one before reuses its records. Whatever steps follow each other on one tape, each gives
 * the same bits as on a tape of its own. */
#include "autograd/memory/planner.h"

#include <check.h>
#include <math.h>
#include <string.h>
#include <tapegrad.h>

Suite *trace_suite(void);

/* ---- steps at random ---- */

enum { PARAMETERS = 3, SIZE = 4, TENSORS = 24, KEPT = 64 };

/* The data that a step works with and its results, so that two steps can be compared. */
typedef struct world {
    tg_tape *tape;
    bool forgets, reads_some; /* the tape does; only what is given to tg_keep is compared */
    int forgotten;            /* steps that needed what the tape had forgotten */
    tg_parameter parameters[PARAMETERS];
    float values[PARAMETERS][SIZE], gradients[PARAMETERS][SIZE];
    float batch[2][SIZE]; /* borrowed, in turn */
    tg_rng rng;
    int hooked;             /* calls of the hook */
    float kept[KEPT][SIZE]; /* every result that a user could have read */
    int kept_count;
} world;

static void open_world(world *w)
{
    memset(w, 0, sizeof *w);
    w->tape = tg_tape_new();
    w->rng = tg_rng_seed(5);
    for (int p = 0; p < PARAMETERS; p++) {
        w->parameters[p] = (tg_parameter){
            .name = "p", .dtype = TG_F32, .shape = {1, {SIZE}}, .data = w->values[p], .gradient = w->gradients[p]};
        for (int i = 0; i < SIZE; i++)
            w->values[p][i] = 0.3f * (float)(p + 1) - 0.2f * (float)i;
    }
}

static void keep(world *w, tg_tensor x)
{
    if (w->kept_count < KEPT && tg_size(x) == SIZE)
        memcpy(w->kept[w->kept_count++], tg_f32(x), sizeof w->kept[0]);
    else if (w->kept_count < KEPT && tg_size(x) == 1)
        w->kept[w->kept_count++][0] = tg_f32(x)[0];
    else if (w->kept_count < KEPT)
        w->kept[w->kept_count++][0] = -77; /* an inert tensor, which both must have */
}

static tg_tensor count_and_double(tg_tensor cotangent, void *user)
{
    ++*(int *)user;
    return tg_mul_scalar(cotangent, 2);
}

static tg_tensor bend(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    (void)tape, (void)count, (void)user;
    return tg_tanh(tg_square(inputs[0]));
}

/* An operation on earlier tensors, chosen by `choice`. */
static tg_tensor some_operation(world *w, uint64_t choice, tg_tensor a, tg_tensor b)
{
    switch (choice) {
    case 0:
        return tg_add(a, b);
    case 1:
        return tg_mul(a, b);
    case 2:
        return tg_tanh(a);
    case 3:
        return tg_gelu_exact(a);
    case 4:
        return tg_mul_scalar(a, 0.7);
    case 5:
        return tg_dropout(a, tg_random_stream(w->tape, &w->rng), 0.5);
    case 6:
        return tg_reshape(tg_reshape(a, TG_SHAPE(2, 2)), TG_SHAPE(SIZE));
    case 7:
        return tg_relu(tg_sub(a, b));
    case 8:
        return tg_parameter_tensor(w->tape, &w->parameters[0]);
    case 9:
        return tg_constant(w->tape, TG_F32, w->batch[1], TG_SHAPE(SIZE));
    default:
        return tg_full(w->tape, TG_F32, TG_SHAPE(SIZE), 1);
    }
}

/* A step that also uses features other than plain operations. */
static tg_tensor something_else(world *w, uint64_t choice, tg_tensor a, tg_tensor b)
{
    tg_tensor y = a;
    switch (choice) {
    case 0:
        tg_retain_gradient(a);
        break;
    case 1:
        tg_add_hook(a, count_and_double, &w->hooked);
        break;
    case 2:
        tg_no_grad_begin(w->tape);
        y = tg_mul(a, b);
        tg_no_grad_end(w->tape);
        break;
    case 3:
        tg_scope_begin(w->tape, "scope");
        y = tg_mul(a, b);
        tg_scope_end(w->tape);
        break;
    case 4:
        tg_scope_begin(w->tape, "scope");
        tg_scope_end(w->tape);
        break;
    case 5:
        y = tg_checkpoint(bend, &a, 1, NULL);
        break;
    case 6:
        tg_grad(&b, 1, &a, 1, NULL, true, &y);
        break;
    case 7:
        tg_backward_from(a, b);
        break;
    default:
        tg_backward(tg_sum(tg_square(a)));
    }
    return y;
}

/* True if x[count - 1] is a new tensor, so that no operation has used it. */
static bool is_new(const tg_tensor *x, int count)
{
    int k = 0;
    while (k < count - 1 && x[k].serial != x[count - 1].serial)
        k++;
    return k == count - 1;
}

/* The step that belongs to `seed`, or its beginning. The numbers come from the world: the same step means the same
 * operations. */
static bool run_step(world *w, uint64_t seed, int length, bool rare)
{
    tg_rng choices = tg_rng_seed(seed);
    tg_tensor x[TENSORS];
    bool is_read[TENSORS] = {false};
    int count = 0;
    tg_planner_of(w->tape)->patience = 0; /* plans as soon as possible */
    tg_tape_reset(w->tape);
    x[count++] = tg_borrow(w->tape, TG_F32, w->batch[0], TG_SHAPE(SIZE));
    x[count++] = tg_variable(w->tape, TG_F32, w->batch[1], TG_SHAPE(SIZE));
    for (int p = 1; p < PARAMETERS; p++)
        x[count++] = tg_parameter_tensor(w->tape, &w->parameters[p]);
    while (count < length) {
        const tg_tensor a = x[tg_rng_below(&choices, (uint64_t)count)], b = x[tg_rng_below(&choices, (uint64_t)count)];
        const bool special = rare && tg_rng_below(&choices, 6) == 0;
        const uint64_t choice = tg_rng_below(&choices, special ? 9 : 11);
        x[count++] = special ? something_else(w, choice, a, b) : some_operation(w, choice, a, b);
        if (tg_tape_error(w->tape) && strstr(tg_tape_error(w->tape), "forgotten"))
            return false;
        tg_tape_clear_error(w->tape); /* there may be nothing that can be differentiated */
        if (!tg_ok(x[count - 1]))
            x[count - 1] = x[0];
        is_read[count - 1] = !w->reads_some || (count % 3 == 0 && is_new(x, count));
        if (w->forgets && is_read[count - 1])
            tg_keep(x[count - 1]);
    }
    if (length == TENSORS)
        tg_backward(tg_sum(tg_add(tg_mul(x[count - 1], x[2]), x[1])));
    if (tg_tape_error(w->tape) && strstr(tg_tape_error(w->tape), "forgotten"))
        return false;
    tg_tape_clear_error(w->tape);
    w->kept_count = 0;
    for (int i = 0; i < count; i++) {
        if (is_read[i])
            keep(w, x[i]);
        keep(w, tg_gradient(x[i]));
    }
    return true;
}

/* Everything but the tape, as it was before a step that failed, which is then run again. */
static void run_step_anyway(world *w, uint64_t seed, int length, bool rare)
{
    world before = *w;
    if (run_step(w, seed, length, rare))
        return;
    for (int p = 0; p < PARAMETERS; p++)
        w->parameters[p].has_gradient = before.parameters[p].has_gradient;
    memcpy(w->gradients, before.gradients, sizeof w->gradients);
    w->rng = before.rng;
    w->hooked = before.hooked;
    w->forgotten++;
    tg_tape_reset(w->tape); /* after an error the next step is recorded as if it were the first */
    tg_tape_clear_error(w->tape);
    ck_assert(run_step(w, seed, length, rare));
}

/* A stand-in for an optimiser's step, after which some gradients accumulate. */
static void descend(world *w, uint64_t which)
{
    for (int p = 0; p < PARAMETERS; p++) {
        if (which >> p & 1)
            continue;
        for (int i = 0; i < SIZE; i++)
            w->values[p][i] -= w->parameters[p].has_gradient ? 0.01f * w->gradients[p][i] : 0;
        w->parameters[p].has_gradient = false;
    }
    for (int i = 0; i < SIZE; i++) {
        w->batch[0][i] = 0.3f * (float)((i * 5 + (int)which) % 7) - 0.8f;
        w->batch[1][i] = 0.2f * (float)((i * 3 + (int)which * 2) % 9) - 0.7f;
    }
}

static void compare(const world *a, const world *b)
{
    ck_assert_int_eq(a->kept_count, b->kept_count);
    ck_assert_int_eq(a->hooked, b->hooked);
    for (int i = 0; i < a->kept_count; i++)
        ck_assert_mem_eq(a->kept[i], b->kept[i], sizeof a->kept[i]);
    for (int p = 0; p < PARAMETERS; p++) {
        ck_assert_int_eq(a->parameters[p].has_gradient, b->parameters[p].has_gradient);
        if (a->parameters[p].has_gradient)
            ck_assert_mem_eq(a->gradients[p], b->gradients[p], sizeof a->gradients[p]);
    }
}

static int steps_agree(uint64_t seed, bool rare, bool forgets)
{
    enum { STEPS = 40 };
    world same, fresh;
    open_world(&same);
    open_world(&fresh);
    tg_tape_save_memory(same.tape, forgets);
    same.forgets = forgets;
    same.reads_some = fresh.reads_some = forgets;
    tg_rng order = tg_rng_seed(seed);
    uint64_t step = seed * 100;
    for (int i = 0; i < STEPS; i++) {
        if (tg_rng_below(&order, 4) == 0)
            step = seed * 100 + tg_rng_below(&order, 3);
        const int length = tg_rng_below(&order, 5) == 0 ? 6 + (int)tg_rng_below(&order, TENSORS - 6) : TENSORS;
        tg_tape_free(fresh.tape);
        fresh.tape = tg_tape_new();
        run_step_anyway(&same, step, length, rare);
        ck_assert(run_step(&fresh, step, length, rare));
        compare(&same, &fresh);
        ck_assert_int_eq(tg_tape_count(same.tape).values, tg_tape_count(fresh.tape).values);
        const uint64_t which = tg_rng_below(&order, 3) == 0 ? tg_rng_below(&order, 8) : 0;
        descend(&same, which);
        descend(&fresh, which);
    }
    tg_tape_free(same.tape);
    tg_tape_free(fresh.tape);
    return same.forgotten;
}

START_TEST(steps_at_random_give_what_they_give_on_tapes_of_their_own)
{
    for (uint64_t seed = 0; seed < 25; seed++)
        steps_agree(25 * (uint64_t)_i + seed, false, false);
}
END_TEST

START_TEST(so_do_steps_with_hooks_scopes_checkpoints_and_other_derivatives)
{
    for (uint64_t seed = 0; seed < 25; seed++)
        steps_agree(1000 + 25 * (uint64_t)_i + seed, true, false);
}
END_TEST

START_TEST(so_do_steps_on_a_tape_that_forgets)
{
    int forgotten = 0; /* steps that had to be run again */
    for (uint64_t seed = 0; seed < 50; seed++)
        forgotten += steps_agree(2000 + 50 * (uint64_t)_i + seed, seed % 2, true);
    ck_assert_int_lt(forgotten, 50);
}
END_TEST

/* ---- cache hits ---- */

static void record_step(world *w, int64_t size, double factor, bool with_gradient)
{
    tg_tape_reset(w->tape);
    tg_scope_begin(w->tape, "model");
    tg_tensor x = tg_borrow(w->tape, TG_F32, w->batch, TG_SHAPE(size));
    tg_tensor p = tg_reshape(tg_parameter_tensor(w->tape, &w->parameters[0]), TG_SHAPE(SIZE, 1));
    tg_tensor loss = tg_mean(tg_square(tg_mul_scalar(tg_mul(x, p), factor)));
    tg_scope_end(w->tape);
    if (with_gradient)
        ck_assert(tg_backward(loss));
    w->parameters[0].has_gradient = false;
}

START_TEST(a_step_like_the_one_before_is_a_hit_to_its_end_and_another_is_not)
{
    world w;
    open_world(&w);
    const struct {
        int64_t size;
        double factor;
        bool with_gradient, hits;
    } steps[] = {
        {4, 2, true, false}, {4, 2, true, true},  {4, 2, false, true}, /* the beginning of a step */
        {4, 2, true, true},  {2, 2, true, false}, {2, 2, true, true},
        {2, 3, true, false}, {2, 3, false, true}, {2, 3, true, true},
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const int64_t before = tg_tape_count(w.tape).recorded;
        record_step(&w, steps[i].size, steps[i].factor, steps[i].with_gradient);
        ck_assert_msg((tg_tape_count(w.tape).recorded == before) == steps[i].hits, "step %zu", i);
    }
    tg_tape_free(w.tape);
}
END_TEST

START_TEST(after_an_error_a_step_is_recorded_anew)
{
    world w;
    open_world(&w);
    record_step(&w, 4, 1, true);
    tg_tape_fail(w.tape, "on purpose");
    tg_tape_reset(w.tape);
    tg_tape_clear_error(w.tape);
    const int64_t before = tg_tape_count(w.tape).recorded;
    record_step(&w, 4, 1, true);
    ck_assert_int_eq(tg_tape_count(w.tape).recorded, before + tg_tape_count(w.tape).values);
    tg_tape_free(w.tape);
}
END_TEST

START_TEST(a_trace_is_watched_too)
{
    world w;
    open_world(&w);
    for (int i = 0; i < SIZE; i++)
        w.batch[0][i] = 1;
    record_step(&w, 4, 1, true);
    tg_tape_watch(w.tape, true);
    w.batch[0][2] = INFINITY;
    w.values[0][0] = 0; /* 0 times infinity */
    tg_tape_reset(w.tape);
    tg_scope_begin(w.tape, "model");
    tg_tensor x = tg_borrow(w.tape, TG_F32, w.batch, TG_SHAPE(SIZE));
    ck_assert(!tg_ok(tg_mul(x, tg_reshape(tg_parameter_tensor(w.tape, &w.parameters[0]), TG_SHAPE(SIZE, 1)))));
    ck_assert_ptr_nonnull(strstr(tg_tape_error(w.tape), "NaN at element 2 of mul("));
    tg_tape_free(w.tape);
}
END_TEST

START_TEST(parameters_that_moved_are_found_where_they_are)
{
    world w;
    float moved[SIZE] = {3, 3, 3, 3}, gradient[SIZE] = {0};
    open_world(&w);
    descend(&w, 7); /* fills the batch */
    record_step(&w, 4, 1, true);
    w.parameters[0].data = moved;
    w.parameters[0].gradient = gradient;
    record_step(&w, 4, 1, true);
    ck_assert_float_ne(gradient[0], 0);
    tg_tape_free(w.tape);
}
END_TEST

/* The caller reads elements before the step goes on otherwise than the one before it. */
START_TEST(elements_stay_where_they_are_until_the_step_ends)
{
    tg_tape *t = tg_tape_new();
    for (int step = 0; step < 60; step++) {
        tg_tape_reset(t);
        float numbers[SIZE];
        for (int i = 0; i < SIZE; i++)
            numbers[i] = (float)step + (float)i / 8;
        const tg_tensor x = tg_variable(t, TG_F32, numbers, TG_SHAPE(SIZE)), h = tg_mul_scalar(x, 2);
        const float *in = tg_f32(x), *out = tg_data(h);
        tg_tensor y = tg_add_scalar(h, 1);
        for (int k = 0; k <= step % 3; k++)
            y = k == 1 ? tg_add(y, h) : tg_sin(tg_mul_scalar(y, step % 3 + 1));
        ck_assert(tg_backward(tg_sum(y)));
        for (int i = 0; i < SIZE; i++)
            ck_assert(in[i] == numbers[i] && out[i] == 2 * numbers[i]);
    }
    tg_tape_free(t);
}
END_TEST

Suite *trace_suite(void)
{
    Suite *suite = suite_create("trace");
    TCase *tests = tcase_create("trace");
    tcase_add_loop_test(tests, steps_at_random_give_what_they_give_on_tapes_of_their_own, 0, 8);
    tcase_add_loop_test(tests, so_do_steps_with_hooks_scopes_checkpoints_and_other_derivatives, 0, 8);
    tcase_add_loop_test(tests, so_do_steps_on_a_tape_that_forgets, 0, 8);
    tcase_add_test(tests, a_step_like_the_one_before_is_a_hit_to_its_end_and_another_is_not);
    tcase_add_test(tests, elements_stay_where_they_are_until_the_step_ends);
    tcase_add_test(tests, after_an_error_a_step_is_recorded_anew);
    tcase_add_test(tests, a_trace_is_watched_too);
    tcase_add_test(tests, parameters_that_moved_are_found_where_they_are);
    suite_add_tcase(suite, tests);
    return suite;
}
