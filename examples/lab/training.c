#include "examples/lab/training_internal.h"

#include <math.h>
#include <stdio.h>

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
    tg_optimizer_config config = {.lr = s->lr,
                                  .weight_decay = s->weight_decay,
                                  .clip_norm = s->clip,
                                  .momentum = s->momentum,
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
    const experiment_settings s = experiment_of_run(e, run);
    const tg_mlp_config config = network(e, run);
    const tg_optimizer_config how = steps(&s, s.epochs * experiment_steps(e, run));
    const char *no_network = tg_mlp_config_error(&config), *no_steps = tg_optimizer_config_error(&how);
    int64_t widths[TG_MLP_HIDDEN + 1];
    if (no_network)
        snprintf(message, EXPERIMENT_MESSAGE, "the network cannot be made: %s", no_network);
    else if (no_steps)
        snprintf(message, EXPERIMENT_MESSAGE, "%s", no_steps);
    return no_network || no_steps ? -1 : (long)tg_mlp_size(&config, widths);
}

/* ---- while it runs ---- */

static tg_tensor loss(void *context, const tg_tensor *batch, tg_rng *training, double *score)
{
    trainer *t = context;
    tg_mlp_trace trace;
    tg_tensor output = tg_mlp_forward_with(t->net, batch[0], training ? &t->random : NULL, training ? NULL : &trace);
    (void)score; /* there are several: trainer_measures */
    if (!training) {
        trainer_see(t, output, batch[1]);
        tg_dead_units_see(t->dead, &trace);
    }
    if (t->data.task == DATASET_REGRESSION)
        return tg_mse(output, batch[1]);
    return tg_cross_entropy_with(output, batch[1], training ? t->settings.label_smoothing : 0, TG_NO_LABEL);
}

static void order(void *context, int64_t epoch, tg_rng *rng, int32_t *rows, int64_t count)
{
    (void)rng;
    dataset_feed_order((uint64_t)((trainer *)context)->seed, epoch, rows, count);
}

static void report(const trainer *t, int64_t epoch, int64_t step, int64_t steps, double loss_now)
{
    const experiment_settings *s = &t->settings;
    if (!t->watch->on_step)
        return;
    const jobs_progress now = {.fraction = (double)step / (double)steps,
                               .step = (long)step,
                               .steps = (long)steps,
                               .epoch = (int)epoch,
                               .epochs = s->epochs,
                               .loss = loss_now,
                               .accuracy = t->accuracy,
                               .rate = t->seconds > 0 ? (double)step * s->batch / t->seconds : 0};
    t->watch->on_step(t->watch->context, &now);
}

/* The mean loss of so many steps becomes an entry. */
static void keep_loss(trainer *t, const tg_fit_step *now)
{
    t->chunk_sum += now->loss;
    t->chunk_steps++;
    if (now->step % t->every != 0 || t->chunked == TRAINING_CHUNKS)
        return;
    t->chunk[2 * t->chunked] = (double)now->step;
    t->chunk[2 * t->chunked + 1] = t->chunk_sum / (double)t->chunk_steps;
    t->chunked++;
    t->chunk_sum = 0;
    t->chunk_steps = 0;
}

static void send_losses(trainer *t)
{
    if (t->watch->on_series && t->chunked > 0)
        t->watch->on_series(t->watch->context, RUNLOG_STEPS, t->chunk, 2 * t->chunked);
    t->chunked = 0;
}

static bool on_step(void *context, const tg_fit_step *now)
{
    trainer *t = context;
    const double time = jobs_clock();
    t->seconds += time - t->since;
    t->since = time;
    keep_loss(t, now);
    report(t, now->epoch, now->step, now->steps, now->mean_loss);
    return true;
}

/* The validation part is measured; and so is the test part, where that is the best epoch so far. */
static bool on_epoch(void *context, const tg_fit_epoch *now)
{
    trainer *t = context;
    runlog_epoch row = {.epoch = (int)now->epoch,
                        .step = (long)now->step,
                        .train_loss = now->train_loss,
                        .val_loss = now->valid_loss,
                        .val_accuracy = trainer_measures(t, now->valid_loss, t->data.validation.rows).accuracy,
                        .grad_norm = now->gradient_norm,
                        .dead_fraction = tg_dead_units_fraction(t->dead),
                        .test = RUNLOG_NO_MEASURES,
                        .seconds = t->seconds};
    if (now->best && t->data.test.rows > 0 && !trainer_evaluate(t, &t->test, &row.test))
        return false;
    tg_dead_units_clear(t->dead);
    t->accuracy = row.val_accuracy;
    report(t, now->epoch, now->step, now->step / now->epoch * t->settings.epochs, row.val_loss);
    send_losses(t);
    t->watch->on_epoch(t->watch->context, &row);
    t->since = jobs_clock();
    return true;
}

/* ---- the whole run ---- */

static bool open_trainer(trainer *t, const experiment *e, int run, char message[EXPERIMENT_MESSAGE])
{
    const tg_mlp_config net = network(e, run);
    const dataset_parts parts = experiment_parts(e, run);
    const tg_rng seed = tg_rng_seed((uint64_t)t->seed), initial = tg_rng_stream(&seed, "weights");
    t->random = tg_rng_stream(&seed, "training");
    t->data = e->data;
    if (!dataset_split(&t->data, &parts, message, EXPERIMENT_MESSAGE))
        return false;
    t->train = (dataset_feed){&t->data, &t->data.train};
    t->validation = (dataset_feed){&t->data, &t->data.validation};
    t->test = (dataset_feed){&t->data, &t->data.test};
    t->net = tg_mlp_new(&initial, &net);
    t->dead = tg_dead_units_new(t->net);
    if (!t->net || !t->dead)
        return snprintf(message, EXPERIMENT_MESSAGE, "out of memory for the network"), false;
    const experiment_settings *s = &t->settings;
    tg_fit_config config = {.loss = loss,
                            .model = t,
                            .train = dataset_feed_rows(&t->train),
                            .valid = dataset_feed_rows(&t->validation),
                            .batch = s->batch,
                            .least_rows = experiment_least_rows(e),
                            .evaluation_batch = 500,
                            .epochs = s->epochs,
                            .patience = s->patience,
                            .on_step = on_step,
                            .on_epoch = on_epoch,
                            .order = order,
                            .context = t};
    const tg_optimizer_config how = steps(s, (long)tg_fit_steps(&config));
    config.optimizer = t->optimizer = tg_optimizer_new(tg_mlp_parameters(t->net), &how);
    t->every = (how.schedule.steps + TRAINING_CHUNKS - 1) / TRAINING_CHUNKS;
    t->fit = tg_fit_new(&config);
    return true; /* or the run fails with its error */
}

static void close_trainer(trainer *t)
{
    tg_fit_free(t->fit);
    tg_optimizer_free(t->optimizer);
    tg_dead_units_free(t->dead);
    tg_mlp_free(t->net);
}

bool training_run(const experiment *e, int run, const training_watch *watch, char message[EXPERIMENT_MESSAGE])
{
    trainer t = {
        .settings = experiment_of_run(e, run), .seed = experiment_seed(e, run), .watch = watch, .accuracy = NAN};
    tg_set_threads(1); /* runs share the processors among themselves */
    bool fine = open_trainer(&t, e, run, message);
    t.since = jobs_clock();
    if (fine && !(fine = tg_fit_run(t.fit)))
        snprintf(message, EXPERIMENT_MESSAGE, "%.*s", EXPERIMENT_MESSAGE - 1, tg_fit_error(t.fit));
    if (fine)
        trainer_tell(&t, e, run);
    close_trainer(&t);
    return fine;
}
