/* Compares the training loop with a hand-written loop: its steps, the weights it keeps, when it ends. */
#include "tests/support/fit_runs.h"
#include "tests/support/wrapped_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *fit_suite(void);

/* ---- steps ---- */

/* The rows of every batch that the loop asked for. */
typedef struct record {
    int count, sizes[100];
    int32_t rows[100][FIT_ROWS];
} record;

static bool fill(void *context, const int32_t *rows, int64_t count, tg_rng *rng, void *const *columns)
{
    record *r = context;
    (void)rng;
    for (int64_t i = 0; i < count; i++) {
        memcpy((double *)columns[0] + 3 * i, fit_x[rows[i]], sizeof fit_x[0]);
        memcpy((double *)columns[1] + 2 * i, fit_y[rows[i]], sizeof fit_y[0]);
        r->rows[r->count][i] = rows[i];
    }
    r->sizes[r->count++] = (int)count;
    return true;
}

/* From now on, `seen` collects the rows of the run's batches. */
static void watch(fit_run *r, record *seen)
{
    *seen = (record){0};
    r->config.train.fill = fill;
    r->config.train.context = seen;
}

START_TEST(steps_are_those_of_a_loop_by_hand)
{
    static record seen;
    fit_run loop, hand;
    fit_begin(&loop, 0, TG_NORM_LAYER);
    fit_begin(&hand, 0, TG_NORM_LAYER);
    watch(&loop, &seen);
    loop.config.valid.count = 0;
    fit_train(&loop);
    ck_assert_int_eq(seen.count, 4 * 3);
    double sum = 0;
    for (int b = 0; b < seen.count; b++) {
        double bx[FIT_ROWS][3], by[FIT_ROWS][2];
        for (int i = 0; i < seen.sizes[b]; i++) {
            memcpy(bx[i], fit_x[seen.rows[b][i]], sizeof bx[0]);
            memcpy(by[i], fit_y[seen.rows[b][i]], sizeof by[0]);
        }
        tg_tape_reset(tape);
        tg_tensor in = tg_borrow(tape, TG_F64, bx, TG_SHAPE(seen.sizes[b], 3)),
                  out = tg_borrow(tape, TG_F64, by, TG_SHAPE(seen.sizes[b], 2));
        tg_tensor loss = tg_mse(tg_mlp_forward(hand.net, in), out);
        sum += b >= 9 ? tg_item(loss) * seen.sizes[b] / (FIT_ROWS - FIT_VALID) : 0;
        ck_assert(tg_backward(loss) && tg_optimizer_step(hand.optimizer));
    }
    fit_assert_same_weights(&loop, &hand);
    assert_relative(tg_fit_epoch_at(loop.fit, 3)->train_loss, sum, 1e-14);
    ck_assert_int_eq(tg_fit_epoch_at(loop.fit, 3)->step, 12);
    fit_end(&loop);
    fit_end(&hand);
}
END_TEST

/* Trains a run with averages and the hand-written loop side by side. After each epoch hand.net has the averages, and
 * losses[epoch] is their validation loss. */
static void train_beside_averages(fit_run *loop, fit_run *hand, bool validates, double losses[4])
{
    static record seen;
    fit_begin(loop, 0, TG_NORM_BATCH);
    fit_begin(hand, 0, TG_NORM_BATCH);
    watch(loop, &seen);
    loop->config.ema.decay = 0.75;
    loop->config.valid.count = validates ? FIT_VALID : 0;
    fit_train(loop);
    tg_parameters *set = tg_mlp_parameters(hand->net);
    tg_ema *ema = tg_ema_new(set, &(tg_ema_config){.decay = 0.75});
    for (int b = 0; b < seen.count; b++) {
        double bx[FIT_ROWS][3], by[FIT_ROWS][2];
        tg_rng training = tg_rng_seed(1);
        for (int i = 0; i < seen.sizes[b]; i++) {
            memcpy(bx[i], fit_x[seen.rows[b][i]], sizeof bx[0]);
            memcpy(by[i], fit_y[seen.rows[b][i]], sizeof by[0]);
        }
        tg_tape_reset(tape);
        const tg_tensor batch[] = {tg_borrow(tape, TG_F64, bx, TG_SHAPE(seen.sizes[b], 3)),
                                   tg_borrow(tape, TG_F64, by, TG_SHAPE(seen.sizes[b], 2))};
        ck_assert(tg_backward(fit_squared_error(hand->net, batch, &training, NULL)) &&
                  tg_optimizer_step(hand->optimizer) && tg_ema_update(ema));
        if (b % 3 != 2)
            continue;
        tg_ema_swap(ema);
        tg_tape_reset(tape);
        const tg_tensor rest[] = {tg_borrow(tape, TG_F64, fit_x[FIT_ROWS - FIT_VALID], TG_SHAPE(FIT_VALID, 3)),
                                  tg_borrow(tape, TG_F64, fit_y[FIT_ROWS - FIT_VALID], TG_SHAPE(FIT_VALID, 2))};
        losses[b / 3] = tg_item(fit_squared_error(hand->net, rest, NULL, NULL));
        tg_ema_swap(ema);
    }
    tg_ema_swap(ema); /* and keep them: tg_ema_free would put the weights back */
    double *averages = malloc((size_t)tg_parameters_size(set) * sizeof *averages);
    memcpy(averages, tg_parameters_values(set), (size_t)tg_parameters_size(set) * sizeof *averages);
    tg_ema_free(ema);
    memcpy(tg_parameters_values(set), averages, (size_t)tg_parameters_size(set) * sizeof *averages);
    free(averages);
}

START_TEST(with_averages_validation_and_the_best_epoch_are_theirs)
{
    fit_run loop, hand;
    double losses[4];
    train_beside_averages(&loop, &hand, false, losses);
    fit_assert_same_weights(&loop, &hand); /* the last epoch's */
    fit_end(&loop);
    fit_end(&hand);
    train_beside_averages(&loop, &hand, true, losses);
    for (int epoch = 0; epoch < 4; epoch++)
        assert_relative(tg_fit_epoch_at(loop.fit, epoch)->valid_loss, losses[epoch], 1e-13);
    double loss;
    ck_assert(tg_fit_evaluate(loop.fit, &loop.config.valid, &loss, NULL));
    assert_relative(loss, tg_fit_best(loop.fit)->valid_loss, 1e-14);
    fit_end(&loop);
    fit_end(&hand);
}
END_TEST

START_TEST(an_epoch_has_every_row_once_in_an_order_of_its_own)
{
    static record seen;
    fit_run r;
    fit_begin(&r, 0, TG_NORM_NONE);
    watch(&r, &seen);
    fit_train(&r);
    int32_t order[4][FIT_ROWS - FIT_VALID];
    for (int epoch = 0, b = 0; epoch < 4; epoch++) {
        bool met[FIT_ROWS - FIT_VALID] = {false};
        int at = 0;
        for (; at < FIT_ROWS - FIT_VALID; b++)
            for (int i = 0; i < seen.sizes[b]; i++) {
                order[epoch][at++] = seen.rows[b][i];
                ck_assert(!met[seen.rows[b][i]]);
                met[seen.rows[b][i]] = true;
            }
        ck_assert_int_eq(at, FIT_ROWS - FIT_VALID);
        ck_assert(epoch == 0 || memcmp(order[epoch], order[epoch - 1], sizeof order[0]) != 0);
    }
    fit_end(&r);
}
END_TEST

START_TEST(rows_that_do_not_fill_a_step_wait_where_that_is_wished)
{
    static record seen;
    fit_run r;
    fit_begin(&r, 0, TG_NORM_NONE);
    watch(&r, &seen);
    r.config.drop_partial = true;
    r.config.accumulate = 2;
    ck_assert_int_eq(tg_fit_steps(&r.config), 4);
    fit_train(&r);
    ck_assert_int_eq(seen.count, 8);
    for (int b = 0; b < 8; b++)
        ck_assert_int_eq(seen.sizes[b], 5);
    ck_assert_int_eq(tg_optimizer_steps(r.optimizer), 4);
    fit_end(&r);
}
END_TEST

/* The variance of a single row is undefined, so batch norm refuses it. */
START_TEST(rows_that_are_too_few_for_a_pass_wait_for_another_epoch)
{
    static const struct {
        int batch, accumulate, least;
        int64_t steps; /* per epoch, of 14 rows */
        int passes, last;
    } cases[] = {{13, 1, 2, 1, 1, 13}, {13, 1, 1, 2, 2, 1}, {13, 1, 0, 2, 2, 1}, {12, 1, 2, 2, 2, 2},
                 {5, 1, 5, 2, 2, 5},   {3, 4, 3, 1, 4, 3},  {3, 2, 3, 2, 4, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static record seen;
        fit_run r;
        fit_begin(&r, 0, TG_NORM_NONE);
        watch(&r, &seen);
        r.config.epochs = 1;
        r.config.batch = cases[i].batch;
        r.config.accumulate = cases[i].accumulate;
        r.config.least_rows = cases[i].least;
        ck_assert_int_eq(tg_fit_steps(&r.config), cases[i].steps);
        fit_train(&r);
        ck_assert_int_eq(tg_optimizer_steps(r.optimizer), cases[i].steps);
        ck_assert_int_eq(seen.count, cases[i].passes);
        ck_assert_int_eq(seen.sizes[seen.count - 1], cases[i].last);
        fit_end(&r);
    }
    fit_run r;
    fit_begin(&r, 0, TG_NORM_BATCH);
    r.config.batch = 13;
    r.config.least_rows = 2;
    fit_train(&r);
    ck_assert(isfinite(tg_fit_best(r.fit)->train_loss));
    fit_end(&r);
}
END_TEST

START_TEST(passes_that_add_up_are_one_large_batch)
{
    fit_run large, small;
    fit_begin(&large, 0, TG_NORM_LAYER);
    fit_begin(&small, 0, TG_NORM_LAYER);
    large.config.batch = 12; /* the last step of an epoch has two rows */
    small.config.batch = 4;
    small.config.accumulate = 3;
    fit_train(&large);
    fit_train(&small);
    const double *p = tg_parameters_values(tg_mlp_parameters(large.net)),
                 *q = tg_parameters_values(tg_mlp_parameters(small.net));
    for (int i = 0; i < tg_parameters_size(tg_mlp_parameters(large.net)); i++)
        assert_relative(q[i], p[i], 1e-9);
    assert_relative(tg_fit_epoch_at(small.fit, 3)->train_loss, tg_fit_epoch_at(large.fit, 3)->train_loss, 1e-9);
    fit_end(&large);
    fit_end(&small);
}
END_TEST

/* Puts the last row first; in the first epoch it occurs twice, and the first row not at all. */
static void backwards(void *context, int64_t epoch, tg_rng *rng, int32_t *rows, int64_t count)
{
    (void)context, (void)rng;
    for (int64_t i = 0; i < count; i++)
        rows[i] = (int32_t)(count - 1 - i);
    if (epoch == 1)
        rows[count - 1] = (int32_t)(count - 1);
}

START_TEST(rows_come_in_an_order_that_was_given)
{
    static record seen;
    fit_run r;
    fit_begin(&r, 0, TG_NORM_NONE);
    watch(&r, &seen);
    r.config.order = backwards;
    r.config.epochs = 2;
    fit_train(&r);
    for (int epoch = 0, b = 0; epoch < 2; epoch++)
        for (int left = FIT_ROWS - FIT_VALID; left > 0; b++)
            for (int i = 0; i < seen.sizes[b]; i++) {
                left--;
                ck_assert_int_eq(seen.rows[b][i], epoch == 0 && left == 0 ? FIT_ROWS - FIT_VALID - 1 : left);
            }
    fit_end(&r);
}
END_TEST

/* Shuffles in the same way as the loop. */
static void shuffled(void *context, int64_t epoch, tg_rng *rng, int32_t *rows, int64_t count)
{
    (void)context, (void)epoch;
    tg_rng_shuffle(rng, (size_t)count, rows);
}

START_TEST(a_run_goes_on_behind_epochs_whose_state_its_user_has_kept)
{
    fit_run whole, rest;
    fit_begin(&whole, 0.25, TG_NORM_BATCH);
    fit_begin(&rest, 0.25, TG_NORM_BATCH);
    fit_train(&whole);
    rest.config.epochs = 2;
    fit_train(&rest); /* and its parameters are those of the better epoch, the second */
    ck_assert_int_eq(tg_fit_best(rest.fit)->epoch, 2);
    tg_fit_free(rest.fit);
    rest.config.epochs = 4;
    rest.config.epochs_before = 2;
    rest.config.order = shuffled;
    fit_train(&rest);
    ck_assert_int_eq(tg_fit_epoch_count(rest.fit), 2);
    for (int i = 0; i < 2; i++) {
        const tg_fit_epoch *a = tg_fit_epoch_at(whole.fit, 2 + i), *b = tg_fit_epoch_at(rest.fit, i);
        ck_assert(a->epoch == b->epoch && a->step == b->step && a->rate == b->rate);
        ck_assert(a->train_loss == b->train_loss && a->valid_loss == b->valid_loss &&
                  a->gradient_norm == b->gradient_norm);
    }
    fit_end(&whole);
    fit_end(&rest);
}
END_TEST

static int64_t allocations_at[64];

static bool count_allocations(void *context, const tg_fit_step *now)
{
    (void)context;
    allocations_at[now->step - 1] = wrapped_memory_count();
    return true;
}

START_TEST(after_the_third_epoch_a_step_allocates_nothing)
{
    fit_run r;
    fit_begin(&r, 0.25, TG_NORM_BATCH);
    r.config.on_step = count_allocations;
    r.config.ema.decay = 0.9;
    r.config.epochs = 6;
    fit_train(&r);
    for (int step = 10; step < 18; step++)
        ck_assert_int_eq(allocations_at[step], allocations_at[step - 1]);
    fit_end(&r);
}
END_TEST

/* ---- which epoch is kept ---- */

/* The validation losses of the epochs are those given here. */
typedef struct script {
    const double *loss, *score;
    int next;
    tg_parameter *parameter;
} script;

static tg_tensor scripted(void *context, const tg_tensor *batch, tg_rng *training, double *score)
{
    script *s = context;
    tg_tensor p = tg_parameter_tensor(tg_tape_of(batch[0]), s->parameter);
    if (training)
        return tg_sum(tg_add(p, tg_mul_scalar(tg_sum(batch[0]), 0)));
    *score = s->score ? s->score[s->next] : NAN;
    const double number = s->loss[s->next++];
    return tg_constant(tg_tape_of(p), TG_F64, &number, TG_SCALAR);
}

/* Trains one number, which decreases by 1 in each epoch; gives the epoch that is kept, and the number of epochs. */
static int kept(const double *loss, const double *score, int patience, bool by_score, int64_t *epochs)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    script s = {loss, score, 0, tg_parameters_add(set, "p", TG_SHAPE(1), false)};
    tg_optimizer *sgd = tg_optimizer_new(set, &(tg_optimizer_config){.kind = TG_SGD, .lr = 1});
    tg_fit *fit = tg_fit_new(&(tg_fit_config){.loss = scripted,
                                              .model = &s,
                                              .optimizer = sgd,
                                              .train = {1, {{fit_x, TG_F64}}},
                                              .valid = {1, {{fit_x, TG_F64}}},
                                              .epochs = 6,
                                              .patience = patience,
                                              .best_by_score = by_score});
    ck_assert_msg(tg_fit_run(fit), "%s", tg_fit_error(fit));
    ck_assert(tg_fit_finished(fit));
    *epochs = tg_fit_epoch_count(fit);
    const int epoch = (int)-tg_parameter_get(tg_parameters_at(set, 0), 0);
    ck_assert_int_eq(tg_fit_best(fit)->epoch, epoch);
    tg_fit_free(fit);
    tg_optimizer_free(sgd);
    tg_parameters_free(set);
    return epoch;
}

START_TEST(the_best_epochs_weights_are_left_and_patience_ends_the_run)
{
    static const double loss[] = {5, 3, 4, 3, 2, 6}, score[] = {1, 2, 9, 3, 9, 1}, broken[] = {NAN, 7, NAN, 8, 7, 7};
    int64_t epochs;
    ck_assert_int_eq(kept(loss, NULL, 0, false, &epochs), 5);
    ck_assert_int_eq(epochs, 6);
    ck_assert_int_eq(kept(loss, NULL, 2, false, &epochs), 2);
    ck_assert_int_eq(epochs, 4);
    ck_assert_int_eq(kept(loss, NULL, 3, false, &epochs), 5);
    ck_assert_int_eq(epochs, 6);
    ck_assert_int_eq(kept(loss, score, 0, true, &epochs), 3);
    ck_assert_int_eq(kept(loss, NULL, 0, true, &epochs), 5); /* without a score */
    ck_assert_int_eq(kept(broken, NULL, 0, false, &epochs), 2);
    /* measures that differ by rounding only, as sums over batches of another size do */
    static const double even[] = {5, 3, 3 - 4e-15, 3 - 8e-15, 3, 3}, tied[] = {1, 0.9, 0.7, 1 + 4e-15, 1, 1};
    ck_assert_int_eq(kept(even, NULL, 0, false, &epochs), 2);
    ck_assert_int_eq(kept(even, tied, 0, true, &epochs), 1);
}
END_TEST

/* ---- evaluation ---- */

START_TEST(other_rows_are_evaluated_as_by_hand)
{
    fit_run r;
    fit_begin(&r, 0.25, TG_NORM_BATCH);
    fit_train(&r);
    double loss, score;
    ck_assert(tg_fit_evaluate(r.fit, &r.config.train, &loss, &score));
    tg_tensor in = tg_borrow(tape, TG_F64, fit_x, TG_SHAPE(FIT_ROWS - FIT_VALID, 3)),
              out = tg_borrow(tape, TG_F64, fit_y, TG_SHAPE(FIT_ROWS - FIT_VALID, 2));
    assert_relative(loss, tg_item(tg_mse(tg_mlp_forward(r.net, in), out)), 1e-12);
    ck_assert(isfinite(score));
    const tg_fit_rows none = {0};
    ck_assert(!tg_fit_evaluate(r.fit, &none, &loss, NULL));
    ck_assert_ptr_nonnull(strstr(tg_fit_error(r.fit), "evaluation: the number of rows"));
    fit_end(&r);
}
END_TEST

START_TEST(evaluations_may_have_batches_of_their_own)
{
    static record seen;
    fit_run r;
    fit_begin(&r, 0, TG_NORM_NONE);
    r.config.evaluation_batch = 8;
    fit_start(&r);
    watch(&r, &seen);
    ck_assert(tg_fit_evaluate(r.fit, &r.config.train, NULL, NULL));
    ck_assert(seen.count == 2 && seen.sizes[0] == 8 && seen.sizes[1] == 6);
    fit_end(&r);
}
END_TEST

START_TEST(without_rows_and_optimiser_it_only_evaluates)
{
    fit_run r, other;
    double loss, again;
    fit_begin(&r, 0, TG_NORM_NONE);
    other = r;
    fit_start(&r);
    ck_assert(tg_fit_evaluate(r.fit, &r.config.train, &loss, NULL));
    other.fit = tg_fit_new(&(tg_fit_config){.loss = fit_squared_error, .model = r.net, .batch = 5});
    ck_assert(tg_fit_evaluate(other.fit, &r.config.train, &again, NULL));
    ck_assert_double_eq(loss, again);
    ck_assert(!tg_fit_error(other.fit) && !tg_fit_finished(other.fit) && !tg_fit_run(other.fit));
    ck_assert_ptr_nonnull(strstr(tg_fit_error(other.fit), "neither rows nor an optimiser"));
    tg_fit_free(other.fit);
    fit_end(&r);
}
END_TEST

/* An epoch whose logits are NaN must not count as the best one just because the first class is frequent. */
START_TEST(a_row_with_nan_has_no_largest_logit)
{
    static const int32_t labels[] = {0, 0, 1, 2, 1};
    for (int dtype = TG_F32; dtype <= TG_F64; dtype++) {
        static const float singles[] = {NAN, NAN, NAN, NAN, 1, 0, 2, 3, NAN, NAN, 1, 2, 0, 9, 1};
        double twice[15];
        for (int i = 0; i < 15; i++)
            twice[i] = singles[i];
        const void *logits = dtype == TG_F32 ? (const void *)singles : twice;
        tg_tensor l = tg_constant(tape, (tg_dtype)dtype, logits, TG_SHAPE(5, 3)),
                  y = tg_constant(tape, TG_I32, labels, TG_SHAPE(5));
        ck_assert_double_eq(tg_accuracy(l, y), 0.2);
    }
}
END_TEST

START_TEST(accuracy_counts_the_largest_logit)
{
    static const float logits[] = {1, 2, 0, 3, -1, -2, 0, 0, 5, 7, 7, 0};
    static const int32_t labels[] = {1, 0, 0, 0}, masked[] = {1, TG_NO_LABEL, 0, TG_NO_LABEL};
    tg_tensor l = tg_constant(tape, TG_F32, logits, TG_SHAPE(2, 2, 3)),
              classes = tg_constant(tape, TG_I32, labels, TG_SHAPE(2, 2));
    ck_assert_double_eq(tg_accuracy(l, classes), 0.75);
    ck_assert_double_eq(tg_accuracy(l, tg_constant(tape, TG_I32, masked, TG_SHAPE(2, 2))), 0.5);
    ck_assert(!tg_tape_error(tape));
    ck_assert_double_nan(tg_accuracy(l, tg_constant(tape, TG_I32, labels, TG_SHAPE(3))));
    ck_assert_str_eq(tg_tape_error(tape), "tg_accuracy: expected logits [..., classes] and labels [...] of i32");
    tg_tape_clear_error(tape);
    ck_assert_double_nan(tg_accuracy(TG_NONE, classes));
    tg_tape_clear_error(tape);
    ck_assert_double_nan(tg_accuracy(l, TG_NONE));
}
END_TEST

Suite *fit_suite(void)
{
    Suite *suite = suite_create("fit");
    TCase *tests = tcase_create("fit");
    tcase_add_checked_fixture(tests, fit_suite_start, fit_suite_finish);
    tcase_add_test(tests, steps_are_those_of_a_loop_by_hand);
    tcase_add_test(tests, with_averages_validation_and_the_best_epoch_are_theirs);
    tcase_add_test(tests, an_epoch_has_every_row_once_in_an_order_of_its_own);
    tcase_add_test(tests, rows_that_do_not_fill_a_step_wait_where_that_is_wished);
    tcase_add_test(tests, rows_that_are_too_few_for_a_pass_wait_for_another_epoch);
    tcase_add_test(tests, passes_that_add_up_are_one_large_batch);
    tcase_add_test(tests, rows_come_in_an_order_that_was_given);
    tcase_add_test(tests, a_run_goes_on_behind_epochs_whose_state_its_user_has_kept);
    tcase_add_test(tests, after_the_third_epoch_a_step_allocates_nothing);
    tcase_add_test(tests, the_best_epochs_weights_are_left_and_patience_ends_the_run);
    tcase_add_test(tests, other_rows_are_evaluated_as_by_hand);
    tcase_add_test(tests, evaluations_may_have_batches_of_their_own);
    tcase_add_test(tests, without_rows_and_optimiser_it_only_evaluates);
    tcase_add_test(tests, a_row_with_nan_has_no_largest_logit);
    tcase_add_test(tests, accuracy_counts_the_largest_logit);
    suite_add_tcase(suite, tests);
    return suite;
}
