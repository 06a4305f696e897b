#include "examples/lab/training_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static tg_mlp_config network(const experiment *e, int run)
{
    const experiment_settings settings = experiment_of_run(e, run), *s = &settings;
    const dataset *data = &e->data;
    tg_mlp_config config = {
        .inputs = (int64_t)data->features,
        .outputs = (int64_t)(data->task == DATASET_CLASSIFICATION ? data->classes : data->targets),
        .activation = experiment_activation(e, run),
        .equal_width = s->gated[0] == 'w',
        .dropout = s->dropout,
        .residual = s->residual,
    };
    tg_init_from_name(s->init, &config.init);
    tg_norm_from_name(s->norm, &config.norm);
    experiment_hidden(e, run, config.hidden);
    return config;
}

static tg_optimizer_config steps(const experiment_settings *s, long count)
{
    tg_optimizer_config config = {.lr = s->lr, .weight_decay = s->weight_decay, .clip_norm = s->clip, .momentum = s->momentum,
                                  .nesterov = s->momentum > 0};
    tg_optimizer_from_name(s->optimizer, &config.kind);
    tg_schedule_from_name(s->schedule, &config.schedule.kind);
    config.schedule.steps = count;
    config.schedule.warmup = (int64_t)(s->warmup * (double)count);
    config.schedule.period = count / 3 > 0 ? count / 3 : 1; /* "step": a tenth after each third */
    return config;
}

long training_parameters(const experiment *e, int run, char message[EXPERIMENT_MESSAGE])
{
    const tg_mlp_config config = network(e, run);
    const char *error = tg_mlp_config_error(&config);
    int64_t widths[TG_MLP_HIDDEN + 1];
    if (error)
        snprintf(message, EXPERIMENT_MESSAGE, "the network cannot be made: %s", error);
    return error ? -1 : (long)tg_mlp_size(&config, widths);
}

/* ---- one batch ---- */

/* A step on the next batch; its loss, NaN if something went wrong. */
static double train_step(trainer *t, int64_t rows)
{
    tg_tape_reset(t->tape);
    tg_tensor x = tg_borrow(t->tape, TG_F32, t->features, TG_SHAPE(rows, (int64_t)t->data.features));
    tg_tensor output = tg_mlp_forward_with(t->net, x, &t->random, NULL);
    tg_tensor loss = trainer_loss(t, output, rows, t->settings.label_smoothing);
    double value = tg_item(loss);
    return tg_backward(loss) && tg_optimizer_step(t->optimizer) ? value : NAN;
}

/* ---- one epoch ---- */

static void report(const trainer *t, const training_watch *watch, int epoch, double loss, double accuracy)
{
    const experiment_settings *s = &t->settings;
    if (!watch->on_step)
        return;
    const jobs_progress now = {.fraction = (double)t->step / (double)t->steps,
                               .step = t->step,
                               .steps = t->steps,
                               .epoch = epoch,
                               .epochs = s->epochs,
                               .loss = loss,
                               .accuracy = accuracy,
                               .rate = t->seconds > 0 ? (double)t->step * s->batch / t->seconds : 0};
    watch->on_step(watch->context, &now);
}

/* The mean loss of so many steps becomes an entry. */
static void keep_loss(trainer *t, double loss)
{
    t->chunk_sum += loss;
    t->chunk_steps++;
    if (t->step % t->every != 0 || t->chunked == TRAINING_CHUNKS)
        return;
    t->chunk[2 * t->chunked] = (double)t->step;
    t->chunk[2 * t->chunked + 1] = t->chunk_sum / (double)t->chunk_steps;
    t->chunked++;
    t->chunk_sum = 0;
    t->chunk_steps = 0;
}

static void send_losses(trainer *t, const training_watch *watch)
{
    if (watch->on_series && t->chunked > 0)
        watch->on_series(watch->context, RUNLOG_STEPS, t->chunk, 2 * t->chunked);
    t->chunked = 0;
}

static bool train_epoch(trainer *t, runlog_epoch *row, const training_watch *watch, double accuracy)
{
    double loss_sum = 0, norm_sum = 0, started = jobs_clock();
    long batches = 0, rows_seen = 0;
    size_t rows;
    dataset_batches_start(&t->batches, (uint64_t)t->seed, (uint64_t)row->epoch);
    while ((rows = dataset_batches_next(&t->batches, t->features, t->labels, t->targets)) > 0) {
        double loss = train_step(t, (int64_t)rows);
        if (!isfinite(loss))
            return false;
        t->step++;
        keep_loss(t, loss);
        batches++;
        rows_seen += (long)rows;
        loss_sum += loss * (double)rows;
        norm_sum += tg_optimizer_gradient_norm(t->optimizer);
        double now = jobs_clock();
        t->seconds += now - started;
        started = now;
        report(t, watch, row->epoch, loss_sum / (double)rows_seen, accuracy);
    }
    row->step = t->step;
    row->seconds = t->seconds;
    row->train_loss = loss_sum / (double)rows_seen;
    row->grad_norm = norm_sum / (double)batches;
    return true;
}

/* The validation part; and the test part where that is the best epoch so far. */
static bool validate(trainer *t, runlog_epoch *row)
{
    tg_dead_units_clear(t->dead);
    const runlog_measures validation = trainer_evaluate(t, &t->data.validation, &(question){.dead = t->dead});
    row->val_loss = validation.loss;
    row->val_accuracy = validation.accuracy;
    row->dead_fraction = tg_dead_units_fraction(t->dead);
    row->test = (runlog_measures)RUNLOG_NO_MEASURES;
    t->waited++;
    if (row->val_loss < t->best_loss) {
        t->best_loss = row->val_loss;
        t->waited = 0;
        tg_parameters_copy(tg_mlp_parameters(t->kept), tg_mlp_parameters(t->net));
        if (t->data.test.rows > 0)
            row->test = trainer_evaluate(t, &t->data.test, &(question){0});
    }
    return !tg_tape_error(t->tape);
}

/* ---- the whole run ---- */

static bool open_trainer(trainer *t, const experiment *e, int run, char message[EXPERIMENT_MESSAGE])
{
    const experiment_settings settings = experiment_of_run(e, run), *s = &settings;
    const tg_mlp_config config = network(e, run);
    const size_t batch = (size_t)s->batch, room = batch > EVALUATION_BATCH ? batch : EVALUATION_BATCH;
    const dataset_parts parts = experiment_parts(e, run);
    const tg_rng seed = tg_rng_seed((uint64_t)experiment_seed(e, run)), initial = tg_rng_stream(&seed, "weights");
    *t = (trainer){.settings = settings, .data = e->data, .random = tg_rng_stream(&seed, "training"), .best_loss = INFINITY,
                   .seed = experiment_seed(e, run)};
    if (!dataset_split(&t->data, &parts, message, EXPERIMENT_MESSAGE))
        return false;
    snprintf(message, EXPERIMENT_MESSAGE, "out of memory for the network and its data");
    if (!dataset_batches_init(&t->batches, &t->data, &t->data.train, batch, DATASET_KEEP_PARTIAL))
        return false;
    t->steps = (long)dataset_batches_count(&t->batches) * s->epochs;
    t->every = (t->steps + TRAINING_CHUNKS - 1) / TRAINING_CHUNKS;
    t->features = calloc(room * e->data.features, sizeof *t->features);
    t->targets = calloc(room * (e->data.targets + 1), sizeof *t->targets);
    t->labels = calloc(room, sizeof *t->labels);
    t->net = tg_mlp_new(&initial, &config);
    t->kept = tg_mlp_new(&initial, &config);
    t->tape = tg_tape_new();
    t->dead = tg_dead_units_new(t->net);
    if (!t->features || !t->targets || !t->labels || !t->net || !t->kept || !t->tape || !t->dead)
        return false;
    const tg_optimizer_config how = steps(s, t->steps);
    t->optimizer = tg_optimizer_new(tg_mlp_parameters(t->net), &how);
    return t->optimizer != NULL;
}

static void close_trainer(trainer *t)
{
    tg_optimizer_free(t->optimizer);
    tg_dead_units_free(t->dead);
    tg_tape_free(t->tape);
    tg_mlp_free(t->net);
    tg_mlp_free(t->kept);
    free(t->features);
    free(t->targets);
    free(t->labels);
    dataset_batches_free(&t->batches);
}

/* Why training stopped at this step. */
static const char *reason(const trainer *t)
{
    const char *tape = tg_tape_error(t->tape), *step = tg_optimizer_error(t->optimizer);
    return tape ? tape : step ? step : "the loss is infinite or not a number; a smaller --lr or --clip may help";
}

/* Whether there is no such epoch: the last was before it, or too many were without a lower validation loss. */
static bool is_over(const trainer *t, int epoch)
{
    const experiment_settings *s = &t->settings;
    return epoch > s->epochs || (s->patience > 0 && t->waited >= s->patience);
}

bool training_run(const experiment *e, int run, const training_watch *watch, char message[EXPERIMENT_MESSAGE])
{
    trainer t;
    tg_set_threads(1); /* runs share the processors among themselves */
    bool fine = open_trainer(&t, e, run, message);
    double accuracy = NAN;
    for (int epoch = 1; fine && !is_over(&t, epoch); epoch++) {
        runlog_epoch row = {.epoch = epoch};
        fine = train_epoch(&t, &row, watch, accuracy) && validate(&t, &row);
        if (!fine) {
            snprintf(message, EXPERIMENT_MESSAGE, "epoch %d, step %ld: %s", epoch, t.step + 1, reason(&t));
            break;
        }
        accuracy = row.val_accuracy;
        report(&t, watch, epoch, row.val_loss, accuracy);
        send_losses(&t, watch);
        watch->on_epoch(watch->context, &row);
    }
    if (fine)
        trainer_tell(&t, e, run, watch);
    close_trainer(&t);
    return fine;
}
