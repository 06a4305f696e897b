/* A replayed step gives the same bits as a recorded one. */
#include <check.h>
#include <math.h>
#include <string.h>
#include <tapegrad.h>

Suite *replay_suite(void);

enum { ROWS = 4, COLUMNS = 3 };

typedef struct learner {
    tg_tape *tape;
    tg_parameter weight;
    float values[COLUMNS], gradient[COLUMNS];
    float batch[ROWS * COLUMNS];
    tg_tensor x, loss;
} learner;

static void make(learner *l)
{
    *l = (learner){.tape = tg_tape_new(),
                   .weight = {.name = "w", .dtype = TG_F32, .shape = {1, {COLUMNS}}},
                   .values = {0.5f, -1, 2}};
    l->weight.data = l->values;
    l->weight.gradient = l->gradient;
}

static void fill(learner *l, int step)
{
    for (int i = 0; i < ROWS * COLUMNS; i++)
        l->batch[i] = 0.1f * (float)((i * 7 + step * 3) % 11) - 0.4f;
}

static bool record(learner *l)
{
    tg_tape_reset(l->tape);
    l->x = tg_borrow(l->tape, TG_F32, l->batch, TG_SHAPE(ROWS, COLUMNS));
    tg_tensor w = tg_parameter_tensor(l->tape, &l->weight);
    tg_tensor y = tg_div(tg_mul(tg_mul(l->x, w), w), tg_add_scalar(tg_mul(l->x, l->x), 1));
    l->loss = tg_sum(tg_mul(y, y));
    return tg_backward(l->loss);
}

static void descend(learner *l)
{
    for (int i = 0; i < COLUMNS; i++)
        l->values[i] -= 0.1f * l->gradient[i];
    l->weight.has_gradient = false;
}

START_TEST(replayed_steps_are_recorded_steps_to_the_bit)
{
    learner recorded, replayed;
    make(&recorded);
    make(&replayed);
    for (int step = 0; step < 20; step++) {
        fill(&recorded, step);
        fill(&replayed, step);
        ck_assert(record(&recorded));
        ck_assert(step == 0 ? record(&replayed) : tg_replay(replayed.tape));
        ck_assert_float_eq(tg_f32(recorded.loss)[0], tg_f32(replayed.loss)[0]);
        ck_assert_mem_eq(recorded.gradient, replayed.gradient, sizeof recorded.gradient);
        ck_assert(replayed.weight.has_gradient);
        descend(&recorded);
        descend(&replayed);
    }
    ck_assert_mem_eq(recorded.values, replayed.values, sizeof recorded.values);
    ck_assert_float_ne(recorded.values[0], 0.5f); /* something was learnt */
    tg_tape_free(recorded.tape);
    tg_tape_free(replayed.tape);
}
END_TEST

START_TEST(a_replay_without_a_step_of_the_optimiser_adds_to_the_gradient)
{
    learner l;
    make(&l);
    fill(&l, 1);
    ck_assert(record(&l));
    float once[COLUMNS];
    memcpy(once, l.gradient, sizeof once);
    ck_assert(tg_replay(l.tape));
    for (int i = 0; i < COLUMNS; i++)
        ck_assert_float_eq(l.gradient[i], 2 * once[i]);
    l.weight.has_gradient = false;
    ck_assert(tg_replay(l.tape));
    ck_assert_mem_eq(l.gradient, once, sizeof once);
    tg_tape_free(l.tape);
}
END_TEST

START_TEST(new_data_must_have_the_old_shape)
{
    tg_tape *tape = tg_tape_new();
    float data[6] = {1, 2, 3, 4, 5, 6};
    tg_tensor x = tg_constant(tape, TG_F32, data, TG_SHAPE(2, 3)), sum = tg_sum(x);
    data[0] = 100;
    ck_assert(tg_set(x, TG_F32, data, TG_SHAPE(2, 3)) && tg_replay(tape));
    ck_assert_double_eq(tg_item(sum), 120);
    ck_assert(!tg_set(x, TG_F32, data, TG_SHAPE(3, 2)));
    ck_assert_ptr_nonnull(strstr(tg_tape_error(tape), "f32[3, 2] does not fit into f32[2, 3]"));
    tg_tape_clear_error(tape);
    ck_assert(!tg_set(sum, TG_F32, data, TG_SCALAR)); /* a result is not an input */
    tg_tape_clear_error(tape);
    ck_assert(!tg_set(tg_borrow(tape, TG_F32, data, TG_SHAPE(6)), TG_F32, data, TG_SHAPE(6)));
    tg_tape_free(tape);
}
END_TEST

static tg_tensor cube(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    (void)tape, (void)count, (void)user;
    return tg_mul(inputs[0], tg_square(inputs[0]));
}

START_TEST(checkpoints_are_replayed)
{
    tg_tape *tape = tg_tape_new();
    double data[20], twice[20];
    for (int i = 0; i < 20; i++)
        twice[i] = 2 * (data[i] = i);
    tg_tensor x = tg_variable(tape, TG_F64, data, TG_SHAPE(20)), y = tg_checkpoint(cube, &x, 1, NULL);
    ck_assert(tg_backward(tg_sum(tg_checkpoint(cube, &y, 1, NULL)))); /* x^9 */
    ck_assert(tg_set(x, TG_F64, twice, TG_SHAPE(20)) && tg_replay(tape));
    for (int i = 0; i < 20; i++)
        ck_assert_double_eq(tg_at(tg_gradient(x), i), 9 * pow(twice[i], 8));
    tg_tape_free(tape);
}
END_TEST

/* When a set grows, its parameters move; recorded and replayed steps find them at their new place. */
START_TEST(parameters_that_have_moved_are_found)
{
    tg_tape *tape = tg_tape_new();
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_parameter *a = tg_parameters_add(set, "a", TG_SHAPE(2), true),
                 *b = tg_parameters_add(set, "b", TG_SHAPE(2), true);
    tg_parameter_fill(a, 2);
    tg_parameter_fill(b, 3);
    tg_tensor loss = tg_sum(tg_mul(tg_parameter_tensor(tape, a), tg_parameter_tensor(tape, b)));
    ck_assert(tg_backward(loss));
    tg_parameters_clear_gradients(set);
    ck_assert_ptr_nonnull(tg_parameters_add(set, "late", TG_SHAPE(100, 100), true));
    tg_parameter_fill(a, 5);
    ck_assert(tg_replay(tape));
    ck_assert_double_eq(tg_item(loss), 30);
    ck_assert_double_eq(((const double *)b->gradient)[0], 5);
    tg_parameters_free(set);
    tg_tape_free(tape);
}
END_TEST

START_TEST(a_parameter_that_lost_its_gradient_is_an_error)
{
    for (int pending = 0; pending < 2; pending++) {
        learner l;
        make(&l);
        tg_tensor w = tg_parameter_tensor(l.tape, &l.weight);
        ck_assert(tg_backward(tg_sum(tg_square(w))));
        l.weight.has_gradient = pending;
        l.weight.gradient = NULL; /* frozen */
        ck_assert(!tg_replay(l.tape));
        ck_assert_ptr_nonnull(tg_tape_error(l.tape));
        ck_assert_ptr_nonnull(
            strstr(tg_tape_error(l.tape), "parameter w has no gradient any more: record the step again"));
        tg_tape_free(l.tape);
    }
}
END_TEST

START_TEST(what_a_failed_replay_has_not_computed_has_no_numbers)
{
    learner l;
    make(&l);
    fill(&l, 0);
    ck_assert(record(&l));
    tg_tape_watch(l.tape, true);
    tg_tensor twice = tg_mul_scalar(l.loss, 2);
    ck_assert_double_eq(tg_item(twice), 2 * tg_item(l.loss));

    const float x = l.batch[4];
    l.batch[4] = NAN;
    ck_assert(!tg_replay(l.tape));
    tg_tape_clear_error(l.tape);
    ck_assert_msg(isnan(tg_item(l.loss)) && !tg_data(twice), "%g of the step before", tg_item(l.loss));
    ck_assert(tg_ok(tg_add_scalar(l.x, 1)) == false); /* computes what is left, which fails again */
    tg_tape_clear_error(l.tape);

    l.batch[4] = x;
    tg_tensor more = tg_add_scalar(twice, 1);
    ck_assert_double_eq(tg_item(more), 1 + 2 * tg_item(l.loss));
    ck_assert(isfinite(tg_item(more)));
    tg_tape_free(l.tape);
}
END_TEST

START_TEST(what_cannot_be_replayed_says_so)
{
    tg_tape *tape = tg_tape_new();
    ck_assert(!tg_replay(NULL));
    ck_assert(!tg_replay(tape));
    ck_assert_ptr_nonnull(strstr(tg_tape_error(tape), "nothing is recorded"));
    tg_tape_free(tape);
}
END_TEST

Suite *replay_suite(void)
{
    Suite *suite = suite_create("replay");
    TCase *tests = tcase_create("replay");
    tcase_add_test(tests, replayed_steps_are_recorded_steps_to_the_bit);
    tcase_add_test(tests, a_replay_without_a_step_of_the_optimiser_adds_to_the_gradient);
    tcase_add_test(tests, new_data_must_have_the_old_shape);
    tcase_add_test(tests, checkpoints_are_replayed);
    tcase_add_test(tests, parameters_that_have_moved_are_found);
    tcase_add_test(tests, a_parameter_that_lost_its_gradient_is_an_error);
    tcase_add_test(tests, what_a_failed_replay_has_not_computed_has_no_numbers);
    tcase_add_test(tests, what_cannot_be_replayed_says_so);
    suite_add_tcase(suite, tests);
    return suite;
}
