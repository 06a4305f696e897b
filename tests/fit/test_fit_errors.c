/* Errors in the training loop. */
#include "tests/support/fit_runs.h"
#include "tests/support/wrapped_memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

Suite *fit_errors_suite(void);

/* ---- errors in the loop ---- */

static bool gives_up(void *context, const int32_t *rows, int64_t count, tg_rng *rng, void *const *columns)
{
    (void)context, (void)rows, (void)count, (void)rng, (void)columns;
    return false;
}

static tg_tensor no_number(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    (void)score;
    return tg_mul_scalar(tg_mse(tg_mlp_forward_with(net, batch[0], training, NULL), batch[1]), INFINITY);
}

/* A loss of 0 whose gradient is not finite. */
static tg_tensor no_gradient(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    (void)score;
    tg_tensor error = tg_mse(tg_mlp_forward_with(net, batch[0], training, NULL), batch[1]);
    return tg_sqrt(tg_sub(error, error));
}

static tg_tensor no_scalar(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    (void)score;
    return tg_mlp_forward_with(net, batch[0], training, NULL);
}

static tg_tensor no_tensor(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    (void)net, (void)batch, (void)training, (void)score;
    return TG_NONE;
}

/* A loss on a tape of its own. */
static tg_tensor elsewhere(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    static tg_tape *other;
    (void)net, (void)batch, (void)training, (void)score;
    if (!other)
        other = tg_tape_new();
    return tg_full(other, TG_F32, TG_SCALAR, 1);
}

static tg_tensor no_shapes(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    (void)net, (void)training, (void)score;
    return tg_mse(batch[0], batch[1]);
}

static void from_one(void *context, int64_t epoch, tg_rng *rng, int32_t *rows, int64_t count)
{
    (void)context, (void)epoch, (void)rng;
    for (int64_t i = 0; i < count; i++)
        rows[i]++;
}

static const char *error_of(void (*spoil)(tg_fit_config *))
{
    static char error[1000];
    fit_run r;
    fit_begin(&r, 0, TG_NORM_NONE);
    spoil(&r.config);
    r.fit = tg_fit_new(&r.config);
    ck_assert(!tg_fit_run(r.fit) && tg_fit_error(r.fit) && !tg_fit_run(r.fit));
    snprintf(error, sizeof error, "%s", tg_fit_error(r.fit));
    fit_end(&r);
    return error;
}

static const tg_communicator three = {.rank = 0, .size = 3};

#define SPOILS(name, statement)        \
    static void name(tg_fit_config *c) \
    {                                  \
        statement;                     \
    }
SPOILS(loss_missing, c->loss = NULL)
SPOILS(optimizer_missing, c->optimizer = NULL)
SPOILS(batch_negative, c->batch = -1)
SPOILS(passes_negative, c->accumulate = -1)
SPOILS(epochs_many, c->epochs = 2000000)
SPOILS(patience_negative, c->patience = -1)
SPOILS(evaluation_batch_negative, c->evaluation_batch = -1)
SPOILS(epochs_before_negative, c->epochs_before = -1)
SPOILS(epochs_before_many, c->epochs_before = 5)
SPOILS(epochs_before_with_folder, (c->epochs_before = 1, c->folder = "no"))
SPOILS(epochs_before_with_averages, (c->epochs_before = 1, c->ema.decay = 0.9))
SPOILS(order_of_other_rows, c->order = from_one)
SPOILS(decay_wrong, c->ema.decay = 1)
SPOILS(no_rows, c->train.count = 0)
SPOILS(valid_rows_negative, c->valid.count = -1)
SPOILS(no_columns, c->train.column[0].data = NULL)
SPOILS(column_without_data, c->train.columns = 3)
SPOILS(type_unknown, c->train.column[1].dtype = (tg_dtype)9)
SPOILS(shape_wrong, c->train.column[1].shape = TG_SHAPE(-2))
SPOILS(too_few_rows, (c->drop_partial = true, c->batch = 50))
SPOILS(least_rows_negative, c->least_rows = -1)
SPOILS(least_rows_too_many, (c->batch = 4, c->least_rows = 5))
SPOILS(least_rows_beyond_all, (c->batch = 50, c->least_rows = 15))
SPOILS(shards_negative, c->shards = -1)
SPOILS(shards_without_rows, (c->batch = 5, c->shards = 6))
SPOILS(processes_without_shards, (c->shards = 2, c->communicator = &three))
SPOILS(metadata_missing, c->metadata_count = 1)
SPOILS(fill_gives_up, c->train.fill = gives_up)
SPOILS(valid_fill_gives_up, c->valid.fill = gives_up)
SPOILS(loss_infinite, c->loss = no_number)
SPOILS(gradient_infinite, c->loss = no_gradient)
SPOILS(loss_no_scalar, c->loss = no_scalar)
SPOILS(loss_inert, c->loss = no_tensor)
SPOILS(loss_elsewhere, c->loss = elsewhere)
SPOILS(shapes_differ, c->loss = no_shapes)

START_TEST(every_mistake_is_told)
{
    static const struct {
        void (*spoil)(tg_fit_config *);
        const char *part;
    } mistakes[] = {{loss_missing, "no loss function"},
                    {optimizer_missing, "the optimiser is NULL"},
                    {batch_negative, "a batch must have"},
                    {passes_negative, "a step must have"},
                    {epochs_many, "at most a million"},
                    {patience_negative, "patience"},
                    {evaluation_batch_negative, "a batch must have"},
                    {epochs_before_negative, "the epochs before must be"},
                    {epochs_before_many, "the epochs before must be"},
                    {epochs_before_with_folder, "without a folder"},
                    {epochs_before_with_averages, "without averages"},
                    {order_of_other_rows, "epoch 1: its order has a row that is none of the 14"},
                    {decay_wrong, "decay of the averages"},
                    {no_rows, "number of rows"},
                    {valid_rows_negative, "number of rows"},
                    {no_columns, "one to four columns"},
                    {column_without_data, "no data"},
                    {type_unknown, "no known type"},
                    {shape_wrong, "shape of a column"},
                    {too_few_rows, "fewer training rows"},
                    {least_rows_negative, "the least rows of a pass"},
                    {least_rows_too_many, "the least rows of a pass"},
                    {least_rows_beyond_all, "fewer training rows than a pass takes at least"},
                    {shards_negative, "1 shard or more"},
                    {shards_without_rows, "rows for each of them in a batch"},
                    {processes_without_shards, "a shard or more for each process"},
                    {metadata_missing, "metadata"},
                    {fill_gives_up, "the batch of step 1 could not be made"},
                    {valid_fill_gives_up, "evaluation: batch 1 could not be made"},
                    {loss_infinite, "epoch 1, step 1: the loss is infinite or not a number before any step is taken"},
                    {loss_no_scalar, "epoch 1, step 1: the loss is no scalar"},
                    {loss_inert, "epoch 1, step 1: the loss is no scalar"},
                    {loss_elsewhere, "epoch 1, step 1: the loss is no scalar of the batch's tape"},
                    {shapes_differ, "epoch 1, step 1: mse"}};
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        ck_assert_msg(strstr(error_of(mistakes[i].spoil), mistakes[i].part), "%s: %s", mistakes[i].part,
                      error_of(mistakes[i].spoil));
}
END_TEST

/* A case has its fault in the loss, in its gradient, or elsewhere. */
START_TEST(divergence_is_told_from_other_errors)
{
    static const struct {
        void (*spoil)(tg_fit_config *);
        bool diverged;
    } faults[] = {{loss_infinite, true}, {gradient_infinite, true}, {loss_no_scalar, false},
                  {loss_inert, false},   {shapes_differ, false},    {fill_gives_up, false}};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        fit_run r;
        fit_begin(&r, 0, TG_NORM_NONE);
        faults[i].spoil(&r.config);
        fit_start(&r);
        ck_assert(!tg_fit_diverged(r.fit) && !tg_fit_run(r.fit));
        ck_assert_msg(tg_fit_diverged(r.fit) == faults[i].diverged, "%s", tg_fit_error(r.fit));
        ck_assert_ptr_null(strstr(tg_fit_error(r.fit), "learning rate")); /* none was used */
        fit_end(&r);
    }
}
END_TEST

/* Fails in the second pass of a step, once. */
static tg_tensor no_number_once(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    static int calls;
    tg_tensor loss = fit_squared_error(net, batch, training, score);
    return calls++ == 1 ? tg_mul_scalar(loss, INFINITY) : loss;
}

/* A second run of the same optimiser must not use anything of the failed step, even after other backward passes. */
START_TEST(a_run_after_a_failed_one_begins_without_its_gradients)
{
    fit_run fresh, again;
    fit_begin(&fresh, 0, TG_NORM_NONE);
    fit_begin(&again, 0, TG_NORM_NONE);
    fresh.config.accumulate = again.config.accumulate = 2;
    fit_train(&fresh);
    again.config.loss = no_number_once;
    fit_start(&again);
    ck_assert(!tg_fit_run(again.fit) && tg_fit_diverged(again.fit));
    ck_assert(!tg_parameters_have_gradient(tg_mlp_parameters(again.net)));
    tg_fit_free(again.fit);
    tg_tensor x = tg_constant(tape, TG_F64, fit_x, TG_SHAPE(FIT_ROWS, 3)); /* a backward pass outside the run */
    ck_assert(tg_backward(tg_sum(tg_mlp_forward(again.net, x))));
    fit_train(&again);
    fit_assert_same_weights(&fresh, &again);
    fit_assert_same_epochs(&fresh, &again);
    fit_end(&fresh);
    fit_end(&again);
}
END_TEST

START_TEST(an_evaluation_without_a_scalar_is_an_error)
{
    static tg_fit_loss *const losses[] = {no_scalar, no_tensor};
    for (int i = 0; i < 2; i++) {
        fit_run r;
        fit_begin(&r, 0, TG_NORM_NONE);
        r.fit = tg_fit_new(&(tg_fit_config){.loss = losses[i], .model = r.net});
        ck_assert(!tg_fit_evaluate(r.fit, &r.config.valid, NULL, NULL));
        ck_assert_str_eq(tg_fit_error(r.fit), "evaluation: the loss is no scalar of the batch's tape");
        fit_end(&r);
    }
}
END_TEST

static bool evaluates_nothing(void *context, const tg_fit_epoch *now)
{
    const tg_fit_rows none = {0};
    (void)now;
    tg_fit_evaluate(*(tg_fit **)context, &none, NULL, NULL);
    return true;
}

START_TEST(a_failed_evaluation_in_a_callback_fails_the_run)
{
    fit_run r;
    fit_begin(&r, 0, TG_NORM_NONE);
    r.config.on_epoch = evaluates_nothing;
    r.config.context = &r.fit;
    fit_start(&r);
    ck_assert(!tg_fit_run(r.fit));
    ck_assert_int_eq(tg_fit_epoch_count(r.fit), 1);
    ck_assert_ptr_nonnull(strstr(tg_fit_error(r.fit), "evaluation: the number of rows"));
    fit_end(&r);
}
END_TEST

START_TEST(too_little_memory_is_an_error)
{
    bool reached = true;
    for (int nth = 0; reached; nth++) {
        fit_run r;
        fit_begin(&r, 0.25, TG_NORM_BATCH);
        fit_in_folder(&r, "memory");
        r.config.epochs = 2;
        r.config.ema.decay = 0.9;
        wrapped_memory_fail_after(nth);
        r.fit = tg_fit_new(&r.config);
        const bool fine = tg_fit_run(r.fit);
        reached = wrapped_memory_stop();
        ck_assert_int_eq(fine, !reached);
        ck_assert(fine || tg_fit_error(r.fit));
        fit_end(&r);
        ck_assert_int_lt(nth, 2000);
    }
}
END_TEST

START_TEST(null_is_survived)
{
    ck_assert_ptr_null(tg_fit_new(NULL));
    ck_assert(tg_fit_error(NULL) && !tg_fit_run(NULL) && !tg_fit_finished(NULL) && !tg_fit_diverged(NULL) &&
              !tg_fit_evaluate(NULL, NULL, NULL, NULL));
    ck_assert(tg_fit_epoch_count(NULL) == 0 && !tg_fit_epoch_at(NULL, 0) && !tg_fit_best(NULL) &&
              !tg_fit_write_curves(NULL, "x"));
    ck_assert(tg_fit_steps(NULL) == 0 && !tg_optimizer_parameters(NULL));
    tg_fit_free(NULL);
}
END_TEST

Suite *fit_errors_suite(void)
{
    Suite *suite = suite_create("fit_errors");
    TCase *tests = tcase_create("fit_errors");
    tcase_add_checked_fixture(tests, fit_suite_start, fit_suite_finish);
    tcase_add_test(tests, every_mistake_is_told);
    tcase_add_test(tests, divergence_is_told_from_other_errors);
    tcase_add_test(tests, a_run_after_a_failed_one_begins_without_its_gradients);
    tcase_add_test(tests, an_evaluation_without_a_scalar_is_an_error);
    tcase_add_test(tests, a_failed_evaluation_in_a_callback_fails_the_run);
    tcase_add_test(tests, too_little_memory_is_an_error);
    tcase_add_test(tests, null_is_survived);
    suite_add_tcase(suite, tests);
    return suite;
}
