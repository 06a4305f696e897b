/* Features of a tape have an order that does not depend on the order in which they are switched on: every pair of them
 * in both orders. */
#include "tests/support/tensors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

Suite *features_suite(void);

enum { SIZE = 4, STEPS = 5 };
enum { WATCH, ROUND, SAVE_MEMORY, TIME, REPLAY, HOOK, CHECKPOINT, FEATURES };
static const char *const names[FEATURES] = {"watch", "round", "save_memory", "time", "replay", "hook", "checkpoint"};

/* What a step can show. */
typedef struct shown {
    double loss, gradient[SIZE];
    int looks;
    bool timed;
    char error[256];
} shown;

typedef struct world {
    tg_tape *tape;
    bool uses[FEATURES];
    int looks;
} world;

static tg_tensor body(tg_tape *of, const tg_tensor *in, int count, void *user)
{
    (void)of, (void)count, (void)user;
    return tg_tanh(tg_mul(tg_mul_scalar(in[0], 0.3), in[0]));
}

static tg_tensor look(tg_tensor cotangent, void *user)
{
    ((world *)user)->looks++;
    return tg_mul_scalar(cotangent, 0.5);
}

static void use(world *w, int feature)
{
    w->uses[feature] = true;
    if (feature == WATCH)
        tg_tape_watch(w->tape, true);
    else if (feature == ROUND)
        tg_tape_round(w->tape, TG_FLOAT16);
    else if (feature == SAVE_MEMORY)
        tg_tape_save_memory(w->tape, true);
    else if (feature == TIME)
        tg_tape_time(w->tape, true);
}

/* The features that are used in a step are used in the order of the pair too. */
static shown run_step(world *w, int step, const int pair[2])
{
    float data[SIZE];
    shown s = {.loss = NAN};
    for (int i = 0; i < SIZE; i++)
        data[i] = (step == 3 ? 300.0f : 0.7f) * (float)(i + 1); /* whose squares overflow in 16 bits */
    tg_tensor x = tg_variable(w->tape, TG_F32, data, TG_SHAPE(SIZE)), y = x;
    for (int k = 0; k < 2; k++)
        if (w->uses[pair[k]] && pair[k] == HOOK)
            tg_add_hook(y, look, w);
        else if (w->uses[pair[k]] && pair[k] == CHECKPOINT)
            y = tg_checkpoint(body, &y, 1, NULL);
    tg_tensor loss = tg_mean(tg_square(tg_add(tg_mul(y, x), x)));
    if (tg_backward(loss)) {
        if (w->uses[REPLAY] && !w->uses[HOOK])
            tg_replay(w->tape);
        s.loss = tg_item(loss);
        tg_read(tg_gradient(x), TG_F64, s.gradient, SIZE);
    }
    tg_operation_time time;
    s.timed = tg_tape_time_at(w->tape, 1, &time) && time.seconds > 0;
    s.looks = w->looks;
    if (tg_tape_error(w->tape))
        snprintf(s.error, sizeof s.error, "%s", tg_tape_error(w->tape));
    tg_tape_clear_error(w->tape);
    return s;
}

/* The pair is switched on before the first step, or one of them only before the third. */
static void run_steps(int one, int other, bool late, shown *all)
{
    world w = {.tape = tg_tape_new()};
    use(&w, one);
    if (!late)
        use(&w, other);
    for (int step = 0; step < STEPS; step++) {
        tg_tape_reset(w.tape);
        if (late && step == 2)
            use(&w, other);
        const int pair[2] = {one < other ? one : other, one < other ? other : one};
        all[step] = run_step(&w, step, pair);
    }
    tg_tape_free(w.tape);
}

START_TEST(every_pair_gives_the_same_in_both_orders)
{
    static shown first[STEPS], second[STEPS];
    const int one = _i / FEATURES, other = _i % FEATURES;
    for (int late = 0; late < 2; late++) {
        memset(first, 0, sizeof first);
        memset(second, 0, sizeof second);
        run_steps(one, other, late, first);
        run_steps(other, one, late, second);
        for (int step = late ? 2 : 0; step < STEPS; step++) {
            const bool hooked = one == HOOK || other == HOOK; /* it has seen the first steps in one order only */
            ck_assert_msg(memcmp(&first[step].loss, &second[step].loss, sizeof(double)) == 0 &&
                              memcmp(first[step].gradient, second[step].gradient, sizeof first->gradient) == 0 &&
                              strcmp(first[step].error, second[step].error) == 0 &&
                              first[step].timed == second[step].timed &&
                              ((late && hooked) || first[step].looks == second[step].looks),
                          "%s and %s, step %d: loss %g or %g, error \"%s\" or \"%s\"", names[one], names[other], step,
                          first[step].loss, second[step].loss, first[step].error, second[step].error);
        }
    }
}
END_TEST

START_TEST(a_watch_sees_what_rounding_makes_of_a_number)
{
    for (int watch_first = 0; watch_first < 2; watch_first++) {
        tg_tape *t = tg_tape_new();
        for (int k = 0; k < 2; k++)
            if (k == watch_first)
                tg_tape_round(t, TG_FLOAT16);
            else
                tg_tape_watch(t, true);
        tg_tensor x = tg_variable(t, TG_F32, (float[]){300, 1}, TG_SHAPE(2));
        ck_assert(!tg_backward(tg_mean(tg_mul(x, x))));
        ck_assert_msg(tg_tape_error(t) && strstr(tg_tape_error(t), "infinity at element 0 of mul("), "%s",
                      tg_tape_error(t) ? tg_tape_error(t) : "no error");
        tg_tape_free(t);
    }
}
END_TEST

Suite *features_suite(void)
{
    Suite *suite = suite_create("features");
    TCase *tests = tcase_create("features");
    tcase_add_loop_test(tests, every_pair_gives_the_same_in_both_orders, 0, FEATURES * FEATURES);
    tcase_add_test(tests, a_watch_sees_what_rounding_makes_of_a_number);
    suite_add_tcase(suite, tests);
    return suite;
}
