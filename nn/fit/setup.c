/* What is before the first step: the configuration is checked, and memory is allocated. */
#include "nn/fit/fit_internal.h"

#include "optim/optimizer.h"

#include <stdlib.h>

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

bool tg_fit_trains(const tg_fit_config *config)
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
    const char *train = tg_fit_trains(config) ? tg_fit_rows_error(&config->train) : NULL;
    if (train)
        return train;
    if (config->drop_partial && config->train.count < config->batch * config->accumulate)
        return "there are fewer training rows than a step takes";
    if (tg_fit_trains(config) && config->train.count < config->least_rows)
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

/* Frees the memory of a large tape that waits while another works. */
static void trim(tg_tape *waiting, const tg_tape *working)
{
    enum { WORTH_RECORDING_ANEW = 1 << 24 };
    if (waiting != working && tg_tape_count(waiting).bytes_held > WORTH_RECORDING_ANEW)
        tg_tape_trim(waiting);
}

tg_tape *tg_fit_tape(const tg_fit *fit, tg_fit_tapes *tapes, int64_t rows)
{
    tg_tape **tape = rows == tapes->rows ? &tapes->full : &tapes->rest;
    trim(fit->training.rest, *tape);
    trim(fit->evaluation.full, *tape);
    trim(fit->evaluation.rest, *tape);
    if (*tape)
        return *tape;
    *tape = tg_tape_new();
    if (tapes->trains) {
        tg_tape_save_memory(*tape, true);
        tg_tape_round(*tape, fit->config.round);
    }
    return *tape;
}

static bool allocate(tg_fit *fit)
{
    const tg_fit_config *config = &fit->config;
    const bool validates = config->valid.count > 0, averages = config->ema.decay != 0;
    fit->training = (tg_fit_tapes){.rows = (config->batch + config->shards - 1) / config->shards, .trains = true};
    fit->epochs = calloc((size_t)config->epochs, sizeof *fit->epochs);
    bool fine = tg_fit_feed_init(&fit->train, &config->train, config->batch, false) &&
                tg_fit_tape(fit, &fit->training, fit->training.rows) && fit->epochs;
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
    if (config->round != TG_FLOAT32 && (tg_parameters_dtype(fit->parameters) != TG_F32 || config->communicator))
        return tg_fail_first(&fit->error, "training: only models of floats, in one process, can be rounded to 16 bits");
    fit->scale = config->round == TG_FLOAT16 ? 65536 : 1;
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
    fit->evaluation = (tg_fit_tapes){.rows = fit->config.evaluation_batch};
    const char *wrong = config_error(&fit->config);
    if (wrong)
        tg_fail_first(&fit->error, "training: %s", wrong);
    else if (!tg_fit_tape(fit, &fit->evaluation, fit->evaluation.rows))
        tg_fail_first(&fit->error, "out of memory");
    else if (tg_fit_trains(config) && prepare(fit) && config->folder && config->resume)
        tg_fit_restore(fit);
    return fit;
}

void tg_fit_free(tg_fit *fit)
{
    if (!fit)
        return;
    tg_tape_free(fit->training.full);
    tg_tape_free(fit->training.rest);
    tg_tape_free(fit->evaluation.full);
    tg_tape_free(fit->evaluation.rest);
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
