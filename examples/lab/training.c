#include "examples/lab/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { VALIDATION_BATCH = 500 };

/* One network on its way. */
typedef struct trainer {
    const experiment *e;
    tg_mlp *net;
    tg_optimizer *optimizer;
    tg_tape *tape;
    tg_dead_units *dead;
    tg_rng random; /* what dropout and stochastic activations draw from */
    dataset_batches batches;
    float *features, *targets; /* [batch, ...] */
    int32_t *labels;
    long step, steps;
    double seconds;
} trainer;

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static tg_mlp_config network(const experiment *e, int run)
{
    const experiment_settings *s = &e->settings;
    const dataset *data = &e->data;
    tg_mlp_config config = {
        .inputs = (int64_t)data->features,
        .outputs = (int64_t)(data->task == DATASET_CLASSIFICATION ? data->classes : data->targets),
        .activation = experiment_activation(e, run),
        .equal_width = s->gated[0] == 'w',
        .dropout = s->dropout,
    };
    tg_init_from_name(s->init, &config.init);
    tg_norm_from_name(s->norm, &config.norm);
    for (int i = 0; e->hidden[i]; i++)
        config.hidden[i] = e->hidden[i];
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

/* The loss of a network's output on `rows` rows, whose labels or targets are given. */
static tg_tensor loss_of(const trainer *t, tg_tensor output, const int32_t *labels, const float *targets, int64_t rows,
                         double smoothing)
{
    const dataset *data = &t->e->data;
    if (data->task == DATASET_REGRESSION)
        return tg_mse(output, tg_borrow(t->tape, TG_F32, targets, TG_SHAPE(rows, (int64_t)data->targets)));
    tg_tensor classes = tg_borrow(t->tape, TG_I32, labels, TG_SHAPE(rows));
    return tg_cross_entropy_with(output, classes, smoothing, TG_NO_LABEL);
}

/* A step on the next batch; its loss, NaN if something went wrong. */
static double train_step(trainer *t, int64_t rows)
{
    tg_tape_reset(t->tape);
    tg_tensor x = tg_borrow(t->tape, TG_F32, t->features, TG_SHAPE(rows, (int64_t)t->e->data.features));
    tg_tensor output = tg_mlp_forward_with(t->net, x, &t->random, NULL);
    tg_tensor loss = loss_of(t, output, t->labels, t->targets, rows, t->e->settings.label_smoothing);
    double value = tg_item(loss);
    return tg_backward(loss) && tg_optimizer_step(t->optimizer) ? value : NAN;
}

/* ---- one epoch ---- */

static void report(const trainer *t, const training_watch *watch, int epoch, double loss, double accuracy)
{
    const experiment_settings *s = &t->e->settings;
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

static bool train_epoch(trainer *t, int seed, runlog_epoch *row, const training_watch *watch, double accuracy)
{
    double loss_sum = 0, norm_sum = 0, started = clock_seconds();
    long batches = 0, rows_seen = 0;
    size_t rows;
    dataset_batches_start(&t->batches, (uint64_t)seed, (uint64_t)row->epoch);
    while ((rows = dataset_batches_next(&t->batches, t->features, t->labels, t->targets)) > 0) {
        double loss = train_step(t, (int64_t)rows);
        if (!isfinite(loss))
            return false;
        t->step++;
        batches++;
        rows_seen += (long)rows;
        loss_sum += loss * (double)rows;
        norm_sum += tg_optimizer_gradient_norm(t->optimizer);
        double now = clock_seconds();
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

/* ---- validation ---- */

static long correct_rows(tg_tensor output, const int32_t *labels)
{
    const float *logits = tg_f32(output);
    const int64_t rows = tg_dim(output, 0), classes = tg_dim(output, 1);
    long correct = 0;
    for (int64_t r = 0; logits && r < rows; r++) {
        int64_t best = 0;
        for (int64_t c = 1; c < classes; c++)
            if (logits[r * classes + c] > logits[r * classes + best])
                best = c;
        correct += best == labels[r];
    }
    return correct;
}

/* Loss, accuracy and dead units on the part that validates, without dropout and smoothing. */
static bool validate(trainer *t, runlog_epoch *row)
{
    const dataset *data = &t->e->data;
    const dataset_part *part = &data->validation;
    double loss = 0;
    long correct = 0;
    tg_dead_units_clear(t->dead);
    for (size_t from = 0; from < part->rows; from += VALIDATION_BATCH) {
        const size_t left = part->rows - from, rows = left < VALIDATION_BATCH ? left : VALIDATION_BATCH;
        const int32_t *labels = part->labels ? part->labels + from : NULL;
        const float *targets = part->targets ? part->targets + from * data->targets : NULL;
        tg_mlp_trace trace;
        tg_tape_reset(t->tape);
        tg_no_grad_begin(t->tape);
        tg_tensor x = tg_borrow(t->tape, TG_F32, part->features + from * data->features,
                                TG_SHAPE((int64_t)rows, (int64_t)data->features));
        tg_tensor output = tg_mlp_forward_with(t->net, x, NULL, &trace);
        loss += tg_item(loss_of(t, output, labels, targets, (int64_t)rows, 0)) * (double)rows;
        correct += labels ? correct_rows(output, labels) : 0;
        tg_dead_units_see(t->dead, &trace);
        tg_no_grad_end(t->tape);
    }
    row->val_loss = loss / (double)part->rows;
    row->val_accuracy = part->labels ? (double)correct / (double)part->rows : NAN;
    row->dead_fraction = tg_dead_units_fraction(t->dead);
    return !tg_tape_error(t->tape);
}

/* ---- the whole run ---- */

static bool open_trainer(trainer *t, const experiment *e, int run)
{
    const experiment_settings *s = &e->settings;
    const tg_mlp_config config = network(e, run);
    const size_t batch = (size_t)s->batch;
    const tg_rng seed = tg_rng_seed((uint64_t)experiment_seed(e, run)), initial = tg_rng_stream(&seed, "weights");
    *t = (trainer){.e = e, .random = tg_rng_stream(&seed, "training")};
    if (!dataset_batches_init(&t->batches, &e->data, &e->data.train, batch, DATASET_KEEP_PARTIAL))
        return false;
    t->steps = (long)dataset_batches_count(&t->batches) * s->epochs;
    t->features = calloc(batch * e->data.features, sizeof *t->features);
    t->targets = calloc(batch * (e->data.targets + 1), sizeof *t->targets);
    t->labels = calloc(batch, sizeof *t->labels);
    t->net = tg_mlp_new(&initial, &config);
    t->tape = tg_tape_new();
    t->dead = tg_dead_units_new(t->net);
    if (!t->features || !t->targets || !t->labels || !t->net || !t->tape || !t->dead)
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

bool training_run(const experiment *e, int run, const training_watch *watch, char message[EXPERIMENT_MESSAGE])
{
    trainer t;
    tg_set_threads(1); /* runs share the processors among themselves */
    bool fine = open_trainer(&t, e, run);
    if (!fine)
        snprintf(message, EXPERIMENT_MESSAGE, "out of memory for the network and its data");
    double accuracy = NAN;
    for (int epoch = 1; fine && epoch <= e->settings.epochs; epoch++) {
        runlog_epoch row = {.epoch = epoch};
        fine = train_epoch(&t, experiment_seed(e, run), &row, watch, accuracy) && validate(&t, &row);
        if (!fine) {
            snprintf(message, EXPERIMENT_MESSAGE, "epoch %d, step %ld: %s", epoch, t.step + 1, reason(&t));
            break;
        }
        accuracy = row.val_accuracy;
        report(&t, watch, epoch, row.val_loss, accuracy);
        watch->on_epoch(watch->context, &row);
    }
    close_trainer(&t);
    return fine;
}
