#define _POSIX_C_SOURCE 200809L

#include "nn/fit/fit_internal.h"

#include "autograd/ops.h"
#include "optim/optimizer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double seconds_between_files = 2;

const char *tg_fit_error(const tg_fit *fit)
{
    if (!fit)
        return "out of memory, or there is no configuration";
    return fit->error.text[0] ? fit->error.text : NULL;
}

/* ---- configuration ---- */

static tg_fit_config with_defaults(const tg_fit_config *given)
{
    tg_fit_config config = *given;
    config.batch = config.batch ? config.batch : 32;
    config.evaluation_batch = config.evaluation_batch ? config.evaluation_batch : config.batch;
    config.accumulate = config.accumulate ? config.accumulate : 1;
    config.shards = config.shards ? config.shards : 1;
    config.least_rows = config.least_rows ? config.least_rows : 1;
    config.epochs = config.epochs ? config.epochs : 10;
    return config;
}

/* True if the configuration trains; otherwise it only evaluates. */
static bool trains(const tg_fit_config *config)
{
    return config->optimizer || config->train.count;
}

static const char *config_error(const tg_fit_config *config)
{
    if (!config->loss)
        return "there is no loss function";
    if (config->batch < 1 || config->batch > INT32_MAX || config->evaluation_batch < 1 ||
        config->evaluation_batch > INT32_MAX)
        return "a batch must have 1 row or more, and fewer than 2^31";
    if (config->accumulate < 1 || config->accumulate > 1 << 20)
        return "a step must have 1 pass or more, and at most 2^20";
    if (config->least_rows < 1 || config->least_rows > config->batch)
        return "the least rows of a pass must be 1 or more, and no more than a batch";
    if (config->shards < 1 || config->shards * config->least_rows > config->batch)
        return "there must be 1 shard or more, and rows for each of them in a batch";
    if (config->communicator &&
        (config->communicator->size < 1 || config->communicator->size > config->shards ||
         config->communicator->rank < 0 || config->communicator->rank >= config->communicator->size))
        return "there must be a shard or more for each process";
    if (config->epochs < 1 || config->epochs > TG_FIT_EPOCHS)
        return "there must be 1 epoch or more, and at most a million";
    if (config->epochs_before < 0 || config->epochs_before > config->epochs)
        return "the epochs before must be 0 or more, and no more than all";
    if (config->epochs_before && (config->folder || config->ema.decay != 0))
        return "epochs before are for a run without a folder, which knows of its own, and without averages";
    if (config->patience < 0)
        return "patience must be 0 (never) or a number of epochs";
    if (config->ema.decay != 0 && !(config->ema.decay > 0 && config->ema.decay < 1))
        return "the decay of the averages must be between 0 and 1";
    if (config->metadata_count < 0 || (config->metadata_count && !config->metadata))
        return "the metadata is missing";
    const char *train = trains(config) ? tg_fit_rows_error(&config->train) : NULL;
    if (train)
        return train;
    if (config->drop_partial && config->train.count < config->batch * config->accumulate)
        return "there are fewer training rows than a step takes";
    if (trains(config) && config->train.count < config->least_rows)
        return "there are fewer training rows than a pass takes at least";
    return config->valid.count != 0 ? tg_fit_rows_error(&config->valid) : NULL;
}

/* The rows of an epoch, without those that would not fill the last step, or would make its last pass too small. */
static int64_t rows_of_epoch(const tg_fit_config *config)
{
    const int64_t all = config->train.count, alone = all % config->batch;
    if (config->drop_partial)
        return all - all % (config->batch * config->accumulate);
    return all - (alone < config->least_rows ? alone : 0);
}

static int64_t steps_of_epoch(const tg_fit_config *config)
{
    const int64_t rows = config->batch * config->accumulate, all = rows_of_epoch(config);
    return all / rows + (all % rows > 0);
}

int64_t tg_fit_steps(const tg_fit_config *config)
{
    if (!config)
        return 0;
    const tg_fit_config full = with_defaults(config);
    return config_error(&full) ? 0 : full.epochs * steps_of_epoch(&full);
}

/* ---- life ---- */

static bool allocate(tg_fit *fit)
{
    const tg_fit_config *config = &fit->config;
    const bool validates = config->valid.count > 0, averages = config->ema.decay != 0;
    fit->training = tg_tape_new();
    tg_tape_save_memory(fit->training, true);
    fit->epochs = calloc((size_t)config->epochs, sizeof *fit->epochs);
    bool fine = tg_fit_feed_init(&fit->train, &config->train, config->batch, false) && fit->training && fit->epochs;
    if (validates)
        fine = tg_fit_feed_init(&fit->valid, &config->valid, config->evaluation_batch, true) && fine;
    if (averages)
        fine = (fit->ema = tg_ema_new(fit->parameters, &config->ema)) && fine;
    fine = (fit->best_values = malloc(tg_parameters_bytes(fit->parameters) + 1)) && fine;
    if (config->shards > 1)
        fine = tg_fit_shards_init(fit) && fine;
    return fine || tg_fail_first(&fit->error, "out of memory for the batches and the best weights");
}

/* Puts a run before its first step. */
static bool prepare(tg_fit *fit)
{
    const tg_fit_config *config = &fit->config;
    fit->parameters = tg_optimizer_parameters(config->optimizer);
    if (!fit->parameters)
        return tg_fail_first(&fit->error, "training: %s", tg_optimizer_error(NULL));
    fit->steps_of_epoch = steps_of_epoch(config);
    fit->rows_of_epoch = rows_of_epoch(config);
    fit->step = config->epochs_before * fit->steps_of_epoch;
    return allocate(fit);
}

tg_fit *tg_fit_new(const tg_fit_config *config)
{
    tg_fit *fit = config ? calloc(1, sizeof *fit) : NULL;
    if (!fit)
        return NULL;
    fit->config = with_defaults(config);
    fit->best = fit->ordered = -1;
    fit->evaluation = tg_tape_new();
    const char *wrong = config_error(&fit->config);
    if (wrong)
        tg_fail_first(&fit->error, "training: %s", wrong);
    else if (!fit->evaluation)
        tg_fail_first(&fit->error, "out of memory");
    else if (trains(config) && prepare(fit) && config->folder && config->resume)
        tg_fit_restore(fit);
    return fit;
}

void tg_fit_free(tg_fit *fit)
{
    if (!fit)
        return;
    tg_tape_free(fit->training);
    tg_tape_free(fit->evaluation);
    tg_fit_feed_free(&fit->train);
    tg_fit_feed_free(&fit->valid);
    tg_ema_free(fit->ema);
    free(fit->epochs);
    free(fit->best_values);
    free(fit->nodes);
    free(fit->moved);
    free(fit->packed);
    free(fit);
}

static int64_t epochs_done(const tg_fit *fit)
{
    return fit->config.epochs_before + fit->epoch_count;
}

bool tg_fit_finished(const tg_fit *fit)
{
    if (!fit)
        return false;
    const int64_t waited = fit->epoch_count - 1 - fit->best;
    return epochs_done(fit) == fit->config.epochs ||
           (fit->config.patience && fit->epoch_count && waited >= fit->config.patience);
}

bool tg_fit_diverged(const tg_fit *fit)
{
    return fit && fit->diverged;
}

int64_t tg_fit_epoch_count(const tg_fit *fit)
{
    return fit ? fit->epoch_count : 0;
}

const tg_fit_epoch *tg_fit_epoch_at(const tg_fit *fit, int64_t index)
{
    return fit && index >= 0 && index < fit->epoch_count ? &fit->epochs[index] : NULL;
}

const tg_fit_epoch *tg_fit_best(const tg_fit *fit)
{
    return fit ? tg_fit_epoch_at(fit, fit->best) : NULL;
}

/* ---- a step ---- */

tg_rng tg_fit_stream(const tg_fit *fit, const char *name, int64_t number)
{
    const tg_rng seed = tg_rng_seed(fit->config.seed), named = tg_rng_stream(&seed, name);
    return tg_rng_split(&named, (uint64_t)number);
}

double tg_fit_pass(tg_fit *fit, int64_t number, int64_t shard, int64_t first, int64_t count, double share)
{
    const tg_fit_config *config = &fit->config;
    const int64_t of_run = (fit->step * config->accumulate + number) * config->shards + shard;
    tg_tensor batch[TG_FIT_COLUMNS];
    tg_rng training = tg_fit_stream(fit, "training", of_run);
    tg_tape_reset(fit->training);
    if (!tg_fit_feed_take(&fit->train, fit->training, first, count, tg_fit_stream(fit, "batch", of_run), batch)) {
        tg_fail_first(&fit->error, "training: the batch of step %lld could not be made", (long long)fit->step + 1);
        return NAN;
    }
    tg_tensor loss = config->loss(config->model, batch, &training, NULL);
    const double value = tg_size(loss) == 1 ? tg_item(loss) : NAN;
    if (isfinite(value) && tg_backward(share == 1 ? loss : tg_mul_scalar(loss, share)))
        return value;
    const char *error = tg_tape_error(fit->training);
    fit->diverged = !error && tg_ok(loss) && tg_size(loss) == 1;
    if (!error)
        error =
            fit->diverged ? "the loss is infinite or not a number; a smaller learning rate may help" : TG_FIT_NO_SCALAR;
    tg_fail_first(&fit->error, "epoch %lld, step %lld: %s", (long long)epochs_done(fit) + 1, (long long)fit->step + 1,
                  error);
    return NAN;
}

/* Orders the rows at the start of an epoch, or when a run resumes within one. */
static bool begin_epoch(tg_fit *fit)
{
    const int64_t epoch = epochs_done(fit);
    if (fit->ordered == epoch)
        return true;
    fit->ordered = epoch;
    return tg_fit_feed_begin(&fit->train, &fit->config, epoch + 1, tg_fit_stream(fit, "order", epoch)) ||
           tg_fail_first(&fit->error, "epoch %lld: its order has a row that is none of the %lld", (long long)epoch + 1,
                         (long long)fit->config.train.count);
}

/* Sets `stop` if a process wants no further step. */
static bool take_step(tg_fit *fit, tg_fit_step *now, bool *stop)
{
    const tg_fit_config *config = &fit->config;
    const int64_t in_epoch = fit->step % fit->steps_of_epoch, first = in_epoch * config->batch * config->accumulate;
    int64_t left = fit->rows_of_epoch - first;
    left = left < config->batch * config->accumulate ? left : config->batch * config->accumulate;
    *now = (tg_fit_step){.epoch = epochs_done(fit) + 1,
                         .epochs = config->epochs,
                         .step = fit->step + 1,
                         .steps = config->epochs * fit->steps_of_epoch,
                         .rows = left,
                         .rate = tg_optimizer_rate(config->optimizer)};
    tg_fit_sums sums = {0};
    const bool fine = tg_fit_shards_step(fit, first, now->rows, &sums);
    *stop = sums.stops > 0;
    if (!fine || *stop)
        return fine;
    now->loss = sums.loss;
    const bool reached = tg_parameters_have_gradient(fit->parameters),
               stepped = fit->is_spread ? tg_fit_spread_update(fit) : tg_optimizer_step(config->optimizer);
    now->gradient_norm = tg_optimizer_gradient_norm(config->optimizer);
    fit->diverged = reached && !stepped && !fit->error.text[0];
    if (!stepped)
        return tg_fail_first(&fit->error, "epoch %lld: %s", (long long)now->epoch,
                             tg_optimizer_error(config->optimizer));
    tg_ema_update(fit->ema);
    fit->step++;
    fit->loss_sum += sums.rows_loss;
    fit->norm_sum += now->gradient_norm;
    now->mean_loss = fit->loss_sum / (double)(first + left);
    return true;
}

/* ---- the run ---- */

/* The measure that the best epoch minimises. */
static double measure(const tg_fit *fit, const tg_fit_epoch *epoch)
{
    return fit->config.best_by_score ? -epoch->valid_score : epoch->valid_loss;
}

/* True if an epoch is better than the best so far: any number is better than NaN. Of equal epochs the first is the
 * best; measures are equal if they differ by rounding only, so that the size of evaluation batches does not decide. */
static bool is_better(const tg_fit *fit, const tg_fit_epoch *now)
{
    const double rounding = 1e-13;
    const tg_fit_epoch *best = tg_fit_best(fit);
    if (!best || fit->config.valid.count == 0)
        return true;
    const double before = measure(fit, best), after = measure(fit, now);
    return before - after > rounding * fabs(before) || (isnan(before) && !isnan(after));
}

/* Evaluates, with the averages in place of the weights if there are any; on_epoch is called with the same weights. */
static bool end_epoch(tg_fit *fit, double rate, bool *stops)
{
    const tg_fit_config *config = &fit->config;
    tg_fit_epoch now = {
        .epoch = epochs_done(fit) + 1, .step = fit->step, .rate = rate, .valid_loss = NAN, .valid_score = NAN};
    now.train_loss = fit->loss_sum / (double)fit->rows_of_epoch;
    now.gradient_norm = fit->norm_sum / (double)fit->steps_of_epoch;
    tg_ema_swap(fit->ema);
    const bool fine = !config->valid.count || tg_fit_feed_evaluate(fit, &fit->valid, &now.valid_loss, &now.valid_score);
    now.best = fine && is_better(fit, &now);
    if (now.best) {
        memcpy(fit->best_values, tg_parameters_values(fit->parameters), tg_parameters_bytes(fit->parameters));
        fit->best = fit->epoch_count;
        fit->best_is_written = false;
    }
    if (fine) {
        fit->epochs[fit->epoch_count++] = now;
        fit->loss_sum = fit->norm_sum = 0;
        *stops |= config->on_epoch && !config->on_epoch(config->context, &fit->epochs[fit->epoch_count - 1]);
    }
    tg_ema_swap(fit->ema);
    return fine;
}

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool save(tg_fit *fit)
{
    const tg_communicator *c = fit->config.communicator;
    const bool needless = fit->config.only_to_resume && tg_fit_finished(fit);
    fit->written = clock_seconds();
    return needless || !fit->config.folder || (c && c->rank > 0) || tg_fit_save(fit);
}

/* Process 0 decides when to write and writes the files; all processes gather the state for them. */
static bool save_when_due(tg_fit *fit)
{
    const tg_communicator *c = fit->config.communicator;
    double due = clock_seconds() - fit->written >= seconds_between_files && (!c || c->rank == 0);
    if (fit->state_is_spread && !tg_fit_add_up(fit, &due, 1))
        return false;
    return due == 0 || (tg_fit_gather_state(fit) && save(fit));
}

/* Runs a step and, if it ends an epoch, the evaluation. Sets `stop` if a callback asks for it. */
static bool advance(tg_fit *fit, bool *stop)
{
    const tg_fit_config *config = &fit->config;
    tg_fit_step now;
    if (!begin_epoch(fit) || !take_step(fit, &now, stop))
        return false;
    if (*stop)
        return true;
    const bool ends = fit->step % fit->steps_of_epoch == 0;
    bool stops = config->on_step && !config->on_step(config->context, &now);
    if (ends && !fit->error.text[0])
        end_epoch(fit, now.rate, &stops);
    fit->wants_stop |= stops;
    *stop = stops && !config->communicator; /* the other processes learn of it in the next step */
    if (fit->error.text[0])                 /* also from an evaluation that a callback ran */
        return false;
    return !ends || save_when_due(fit);
}

bool tg_fit_run(tg_fit *fit)
{
    if (!fit || fit->error.text[0])
        return false;
    if (!trains(&fit->config))
        return tg_fail_first(&fit->error,
                             "training: there are neither rows nor an optimiser, so that it only evaluates");
    bool stop = false, fine = true;
    fit->wants_stop = false;
    const bool begun = !tg_fit_finished(fit);
    fit->written = clock_seconds();
    while (fine && !stop && !tg_fit_finished(fit))
        fine = advance(fit, &stop);
    if (fine && begun)
        fine = tg_fit_gather_state(fit) && save(fit);
    if ((!fine || tg_fit_finished(fit)) && fit->best >= 0)
        memcpy(tg_parameters_values(fit->parameters), fit->best_values, tg_parameters_bytes(fit->parameters));
    return fine;
}
