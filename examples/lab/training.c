#include "examples/lab/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { EVALUATION_BATCH = 500 };

/* One network on its way. */
typedef struct trainer {
    experiment_settings settings;
    dataset data; /* the experiment's, with the parts of this run */
    tg_mlp *net;
    tg_optimizer *optimizer;
    tg_tape *tape;
    tg_dead_units *dead;
    tg_rng random; /* what dropout and stochastic activations draw from */
    dataset_batches batches;
    float *features, *targets; /* [batch or EVALUATION_BATCH, ...] */
    int32_t *labels;
    long step, steps;
    double best_loss; /* of the validation part */
    int waited;       /* epochs since */
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

/* The loss of a network's output on `rows` rows, whose labels or targets are given. */
static tg_tensor loss_of(const trainer *t, tg_tensor output, const int32_t *labels, const float *targets, int64_t rows,
                         double smoothing)
{
    const dataset *data = &t->data;
    if (data->task == DATASET_REGRESSION)
        return tg_mse(output, tg_borrow(t->tape, TG_F32, targets, TG_SHAPE(rows, (int64_t)data->targets)));
    tg_tensor classes = tg_borrow(t->tape, TG_I32, labels, TG_SHAPE(rows));
    return tg_cross_entropy_with(output, classes, smoothing, TG_NO_LABEL);
}

/* A step on the next batch; its loss, NaN if something went wrong. */
static double train_step(trainer *t, int64_t rows)
{
    tg_tape_reset(t->tape);
    tg_tensor x = tg_borrow(t->tape, TG_F32, t->features, TG_SHAPE(rows, (int64_t)t->data.features));
    tg_tensor output = tg_mlp_forward_with(t->net, x, &t->random, NULL);
    tg_tensor loss = loss_of(t, output, t->labels, t->targets, rows, t->settings.label_smoothing);
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

/* ---- evaluation ---- */

/* What adds up over the rows of a part. */
enum { BINS = 15, MOST_TARGETS = 64 };
typedef struct tally {
    double loss;
    long correct, in_bin[BINS];
    double confidence[BINS], hits[BINS];   /* of the rows whose confidence is in a bin, sums */
    double squares, absolutes;             /* of the errors of the first target, standardised */
    double sum[MOST_TARGETS], sum_squares[MOST_TARGETS], error[MOST_TARGETS]; /* of the standardised targets */
} tally;

/* The class of the largest logit and its probability. */
static int64_t classify(const float *logits, int64_t classes, double *confidence)
{
    int64_t best = 0;
    double sum = 0;
    for (int64_t c = 1; c < classes; c++)
        if (logits[c] > logits[best])
            best = c;
    for (int64_t c = 0; c < classes; c++)
        sum += exp((double)logits[c] - logits[best]);
    *confidence = 1 / sum;
    return best;
}

static void tally_classes(tally *sums, const float *logits, const int32_t *labels, int64_t rows, int64_t classes)
{
    for (int64_t r = 0; logits && r < rows; r++) {
        double confidence;
        const bool hit = classify(logits + r * classes, classes, &confidence) == labels[r];
        int bin = (int)(confidence * BINS);
        bin = bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin; /* NaN is 0 on some machines and anything on others */
        sums->correct += hit;
        sums->in_bin[bin]++;
        sums->confidence[bin] += confidence;
        sums->hits[bin] += hit;
    }
}

static void tally_targets(tally *sums, const float *output, const float *targets, int64_t rows, int64_t width)
{
    for (int64_t i = 0; output && i < rows * width; i++) {
        const int64_t target = i % width;
        const double error = (double)output[i] - targets[i];
        if (target >= MOST_TARGETS)
            continue;
        sums->squares += target == 0 ? error * error : 0;
        sums->absolutes += target == 0 ? fabs(error) : 0;
        sums->error[target] += error * error;
        sums->sum[target] += targets[i];
        sums->sum_squares[target] += (double)targets[i] * targets[i];
    }
}

/* The mean over the targets of 1 - squared error / variance. */
static double determination(const tally *sums, double rows, size_t targets)
{
    double mean = 0;
    for (size_t i = 0; i < targets; i++)
        mean += 1 - sums->error[i] / (sums->sum_squares[i] - sums->sum[i] * sums->sum[i] / rows);
    return mean / (double)targets;
}

static runlog_measures measures_of(const trainer *t, const tally *sums, size_t count)
{
    const dataset *data = &t->data;
    const double rows = (double)count;
    runlog_measures m = RUNLOG_NO_MEASURES;
    m.loss = sums->loss / rows;
    if (data->task == DATASET_CLASSIFICATION) {
        m.accuracy = (double)sums->correct / rows;
        m.calibration = 0;
        for (int bin = 0; bin < BINS; bin++)
            m.calibration += fabs(sums->confidence[bin] - sums->hits[bin]) / rows;
        return m;
    }
    if (data->targets == 1) {
        m.rmse = sqrt(sums->squares / rows) * data->target_scale[0];
        m.mae = sums->absolutes / rows * data->target_scale[0];
    }
    if (data->targets <= MOST_TARGETS)
        m.r2 = determination(sums, rows, data->targets);
    return m;
}

/* How good the net is on a part, without dropout and smoothing. With `dead`, its hidden units are watched. */
static runlog_measures evaluate(trainer *t, const dataset_part *part, tg_dead_units *dead)
{
    const dataset *data = &t->data;
    tally sums = {0};
    for (size_t from = 0; from < part->rows; from += EVALUATION_BATCH) {
        const size_t left = part->rows - from, rows = left < EVALUATION_BATCH ? left : EVALUATION_BATCH;
        const int64_t count = (int64_t)rows;
        tg_mlp_trace trace;
        dataset_gather(data, part, from, rows, t->features, t->labels, t->targets);
        tg_tape_reset(t->tape);
        tg_no_grad_begin(t->tape);
        tg_tensor x = tg_borrow(t->tape, TG_F32, t->features, TG_SHAPE(count, (int64_t)data->features));
        tg_tensor output = tg_mlp_forward_with(t->net, x, NULL, &trace);
        sums.loss += tg_item(loss_of(t, output, t->labels, t->targets, count, 0)) * (double)rows;
        if (data->task == DATASET_CLASSIFICATION)
            tally_classes(&sums, tg_f32(output), t->labels, count, (int64_t)data->classes);
        else
            tally_targets(&sums, tg_f32(output), t->targets, count, (int64_t)data->targets);
        if (dead)
            tg_dead_units_see(dead, &trace);
        tg_no_grad_end(t->tape);
    }
    return measures_of(t, &sums, part->rows);
}

/* The validation part; and the test part where that is the best epoch so far. */
static bool validate(trainer *t, runlog_epoch *row)
{
    tg_dead_units_clear(t->dead);
    const runlog_measures validation = evaluate(t, &t->data.validation, t->dead);
    row->val_loss = validation.loss;
    row->val_accuracy = validation.accuracy;
    row->dead_fraction = tg_dead_units_fraction(t->dead);
    row->test = (runlog_measures)RUNLOG_NO_MEASURES;
    t->waited++;
    if (row->val_loss < t->best_loss) {
        t->best_loss = row->val_loss;
        t->waited = 0;
        if (t->data.test.rows > 0)
            row->test = evaluate(t, &t->data.test, NULL);
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
    *t = (trainer){.settings = settings, .data = e->data, .random = tg_rng_stream(&seed, "training"), .best_loss = INFINITY};
    if (!dataset_split(&t->data, &parts, message, EXPERIMENT_MESSAGE))
        return false;
    snprintf(message, EXPERIMENT_MESSAGE, "out of memory for the network and its data");
    if (!dataset_batches_init(&t->batches, &t->data, &t->data.train, batch, DATASET_KEEP_PARTIAL))
        return false;
    t->steps = (long)dataset_batches_count(&t->batches) * s->epochs;
    t->features = calloc(room * e->data.features, sizeof *t->features);
    t->targets = calloc(room * (e->data.targets + 1), sizeof *t->targets);
    t->labels = calloc(room, sizeof *t->labels);
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
