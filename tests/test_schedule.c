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
        *(double *)tg_parameters_gradients(set) = 1; /* counts from here on */
        ck_assert(tg_optimizer_step(sgd));
        at -= rate;
        ck_assert_double_eq(*(double *)tg_parameters_values(set), at);
    }
    tg_optimizer_free(sgd);
    tg_parameters_free(set);
}
END_TEST

Suite *schedule_suite(void)
{
    Suite *suite = suite_create("schedule");
    TCase *tests = tcase_create("schedule");
    tcase_add_test(tests, schedules_have_the_values_of_their_formulas);
    tcase_add_test(tests, the_optimiser_follows_its_schedule);
    suite_add_tcase(suite, tests);
    return suite;
}
