/* Learning rate schedules against their formulas. */
#include <check.h>
#include <math.h>
#include <string.h>
#include <tapegrad.h>

Suite *schedule_suite(void);

START_TEST(schedules_have_the_values_of_their_formulas)
{
    tg_schedule cosine = {.kind = TG_WARMUP_COSINE, .warmup = 4, .steps = 10, .end = 0.1};
    static const struct {
        int64_t step;
        double factor;
    } known[] = {
        {-3, 0.25}, {0, 0.25}, {1, 0.5},        {3, 1}, {4, 1}, {6, 0.1 + 0.9 * 0.75}, {7, 0.55}, {8, 0.1 + 0.9 * 0.25},
        {10, 0.1},  {11, 0.1}, {INT64_MAX, 0.1}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        ck_assert_double_eq_tol(tg_schedule_factor(&cosine, known[i].step), known[i].factor, 1e-15);
    tg_schedule plain = {.kind = TG_WARMUP_COSINE, .steps = 8};
    ck_assert_double_eq(tg_schedule_factor(&plain, 0), 1);
    ck_assert_double_eq_tol(tg_schedule_factor(&plain, 2), (1 + sqrt(0.5)) / 2, 1e-15);

    tg_schedule steps = {.kind = TG_STEP_DECAY, .warmup = 2, .period = 3, .decay = 0.5};
    static const double factors[] = {0.5, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.25};
    for (int step = 0; step < 9; step++)
        ck_assert_double_eq(tg_schedule_factor(&steps, step), factors[step]);
    steps.decay = 0;
    ck_assert_double_eq_tol(tg_schedule_factor(&steps, 5), 0.1, 1e-16);
    ck_assert_double_eq(tg_schedule_factor(&(tg_schedule){0}, 1000), 1);
    tg_schedule constant = {.kind = TG_CONSTANT_RATE, .warmup = 4}; /* is not ignored */
    ck_assert_double_eq(tg_schedule_factor(&constant, 0), 0.25);
    ck_assert_double_eq(tg_schedule_factor(&constant, 3), 1);
    ck_assert_double_eq(tg_schedule_factor(&constant, 1000), 1);
    ck_assert_double_eq(tg_schedule_factor(NULL, 3), 1);
}
END_TEST

/* LinearLR and OneCycleLR of PyTorch 2.15 with a rate of 1. */
START_TEST(line_and_cycle_are_those_of_pytorch)
{
    static const double line[10] = {1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.2};
    static const double cycle[20] = {0.040000000000000036, 0.1316718427000253,
                                     0.37167184270002529,  0.66832815729997475,
                                     0.90832815729997474,  1,
                                     0.98746400623508734,  0.95048463201347366,
                                     0.89091617757105002,  0.81174565394976306,
                                     0.71694300179130077,  0.61126202193628931,
                                     0.50000199999999995,  0.38874197806371075,
                                     0.28306099820869923,  0.18825834605023697,
                                     0.10908782242895004,  0.049519367986526286,
                                     0.012539993764912554, 4e-06};
    const tg_schedule linear = {.kind = TG_LINEAR_DECAY, .steps = 8, .end = 0.2},
                      one_cycle = {.kind = TG_ONE_CYCLE, .steps = 20};
    for (int step = 0; step < 10; step++)
        ck_assert_double_eq_tol(tg_schedule_factor(&linear, step), line[step], 1e-15);
    for (int step = 0; step < 20; step++)
        ck_assert_double_eq_tol(tg_schedule_factor(&one_cycle, step), cycle[step], 1e-15);
    ck_assert_double_eq_tol(tg_schedule_factor(&one_cycle, 100), 4e-6, 1e-20);
    tg_schedule longer = {.kind = TG_LINEAR_DECAY, .steps = 7, .end = 0.1};
    ck_assert_double_eq(tg_schedule_factor(&longer, 7), 0.1); /* not 1 - (1 - 0.1) */
}
END_TEST

START_TEST(stable_decay_and_inverse_root_have_the_values_of_their_formulas)
{
    static const double stable[] = {0.5, 1, 1, 1, 1, 1, 1, 0.75, 0.5, 0.25, 0, 0};
    const tg_schedule s = {.kind = TG_STABLE_DECAY, .warmup = 2, .steps = 10, .period = 4},
                      fifth = {.kind = TG_STABLE_DECAY, .steps = 10, .end = 0.5},
                      root = {.kind = TG_INVERSE_SQRT, .warmup = 4};
    for (int step = 0; step < 12; step++)
        ck_assert_double_eq(tg_schedule_factor(&s, step), stable[step]);
    ck_assert_double_eq(tg_schedule_factor(&fifth, 8), 1);
    ck_assert_double_eq(tg_schedule_factor(&fifth, 9), 0.75);
    for (int step = 4; step < 40; step++) /* min(1 / sqrt(step), step / warmup^1.5), multiplied by sqrt(warmup) */
        ck_assert_double_eq_tol(tg_schedule_factor(&root, step), sqrt(4. / step), 1e-15);
    ck_assert_double_eq(tg_schedule_factor(&root, 1), 0.5);
    ck_assert_ptr_null(tg_schedule_error(&root));
    ck_assert_ptr_nonnull(strstr(tg_schedule_error(&(tg_schedule){.kind = TG_INVERSE_SQRT}), "units of the warm-up"));
    ck_assert(tg_schedule_error(&(tg_schedule){.kind = TG_ONE_CYCLE, .steps = 20, .warmup = 1}));
    ck_assert(tg_schedule_error(&(tg_schedule){.kind = TG_STABLE_DECAY, .warmup = 8, .steps = 10, .period = 4}));
    ck_assert(tg_schedule_error(&(tg_schedule){.kind = TG_LINEAR_DECAY}));
    ck_assert_ptr_null(tg_schedule_error(&s));
}
END_TEST

/* A setting has an effect if it changes the factor of some step. */
START_TEST(schedules_use_the_settings_that_they_name)
{
    static const char *const names[] = {"warmup", "steps", "end", "period", "decay"};
    for (int kind = 0; tg_schedule_name((tg_schedule_kind)kind); kind++)
        for (int i = 0; i < 5; i++) {
            tg_schedule s = {.kind = (tg_schedule_kind)kind, .steps = 20, .period = 5}, other = s;
            other.warmup = i == 0 ? 3 : 0;
            other.steps = i == 1 ? 25 : 20;
            other.end = i == 2 ? 0.5 : 0;
            other.period = i == 3 ? 6 : 5;
            other.decay = i == 4 ? 0.5 : 0;
            bool differs = false;
            for (int step = 0; step < 30; step++)
                differs |= tg_schedule_factor(&s, step) != tg_schedule_factor(&other, step);
            differs &= !tg_schedule_error(&other);
            ck_assert_msg(differs == tg_schedule_uses(s.kind, names[i]), "%s, %s", tg_schedule_name(s.kind), names[i]);
        }
    ck_assert(!tg_schedule_uses(TG_WARMUP_COSINE, "step") && !tg_schedule_uses((tg_schedule_kind)99, "steps"));
}
END_TEST

START_TEST(the_optimiser_follows_its_schedule)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_parameters_add(set, "a", TG_SCALAR, true);
    tg_schedule schedule = {.kind = TG_WARMUP_COSINE, .warmup = 2, .steps = 6, .end = 0.125};
    tg_optimizer *sgd = tg_optimizer_new(set, &(tg_optimizer_config){.kind = TG_SGD, .lr = 0.5, .schedule = schedule});
    double at = 0;
    for (int step = 0; step < 8; step++) {
        double rate = 0.5 * tg_schedule_factor(&schedule, step);
        ck_assert_double_eq(tg_optimizer_rate(sgd), rate);
        *(double *)tg_parameters_gradients(set) = 1; /* steps count from here */
        ck_assert(tg_optimizer_step(sgd));
        at -= rate;
        ck_assert_double_eq(*(double *)tg_parameters_values(set), at);
    }
    tg_optimizer_free(sgd);
    tg_parameters_free(set);
}
END_TEST

/* Steps near the limits of their type: under SANITIZE=undefined nothing overflows. */
START_TEST(steps_may_be_the_largest_or_the_least_number)
{
    for (int kind = 0; tg_schedule_name((tg_schedule_kind)kind); kind++) {
        tg_schedule schedule = {.kind = (tg_schedule_kind)kind, .steps = INT64_MAX, .period = INT64_MAX / 5};
        schedule.warmup = tg_schedule_uses(schedule.kind, "warmup") ? 3 : 0;
        ck_assert_msg(!tg_schedule_error(&schedule), "%s", tg_schedule_error(&schedule));
        schedule.period = kind == TG_STABLE_DECAY ? 0 : schedule.period;
        for (int64_t step = 0; step < INT64_MAX / 2; step = 2 * step + 1)
            ck_assert(tg_schedule_factor(&schedule, step) > 0 && tg_schedule_factor(&schedule, step) <= 1);
        ck_assert(tg_schedule_factor(&schedule, INT64_MAX) <= 1);
        schedule.steps = INT64_MIN;
        schedule.warmup = INT64_MAX;
        ck_assert_ptr_nonnull(tg_schedule_error(&schedule));
    }
}
END_TEST

Suite *schedule_suite(void)
{
    Suite *suite = suite_create("schedule");
    TCase *tests = tcase_create("schedule");
    tcase_add_test(tests, schedules_have_the_values_of_their_formulas);
    tcase_add_test(tests, line_and_cycle_are_those_of_pytorch);
    tcase_add_test(tests, stable_decay_and_inverse_root_have_the_values_of_their_formulas);
    tcase_add_test(tests, schedules_use_the_settings_that_they_name);
    tcase_add_test(tests, the_optimiser_follows_its_schedule);
    tcase_add_test(tests, steps_may_be_the_largest_or_the_least_number);
    suite_add_tcase(suite, tests);
    return suite;
}
