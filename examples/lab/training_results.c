/* How good a network is, and what else there is to tell of it. */
#include "examples/lab/training_internal.h"

#include <math.h>
#include <stdlib.h>

/* The loss of a network's output. */
tg_tensor trainer_loss(const trainer *t, tg_tensor output, int64_t rows, double smoothing)
{
    const dataset *data = &t->data;
    if (data->task == DATASET_REGRESSION)
        return tg_mse(output, tg_borrow(t->tape, TG_F32, t->targets, TG_SHAPE(rows, (int64_t)data->targets)));
    tg_tensor classes = tg_borrow(t->tape, TG_I32, t->labels, TG_SHAPE(rows));
    return tg_cross_entropy_with(output, classes, smoothing, TG_NO_LABEL);
}

/* What adds up over the rows of a part. */
enum { BINS = 15, MOST_TARGETS = 64 };
typedef struct tally {
    double loss;
    long correct, in_bin[BINS];
    double confidence[BINS], hits[BINS];   /* of the rows whose confidence is in a bin, sums */
    double squares, absolutes;             /* of the errors of the first target, standardised */
    double *confusion;                     /* [classes, classes], or NULL */
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
        const int64_t answer = classify(logits + r * classes, classes, &confidence);
        const bool hit = answer == labels[r];
        int bin = (int)(confidence * BINS);
        bin = bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin; /* NaN is 0 on some machines and anything on others */
        sums->correct += hit;
        sums->in_bin[bin]++;
        sums->confidence[bin] += confidence;
        sums->hits[bin] += hit;
        if (sums->confusion)
            sums->confusion[labels[r] * classes + answer]++;
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

/* The next rows of a part, with noise. */
static tg_tensor gather(trainer *t, const dataset_part *part, size_t from, size_t rows, double noise, tg_rng *random)
{
    const dataset *data = &t->data;
    dataset_gather(data, part, from, rows, t->features, t->labels, t->targets);
    for (size_t i = 0; noise > 0 && i < rows * data->features; i++)
        t->features[i] += (float)(noise * (2 * tg_rng_uniform(random) - 1));
    return tg_borrow(t->tape, TG_F32, t->features, TG_SHAPE((int64_t)rows, (int64_t)data->features));
}

runlog_measures trainer_evaluate(trainer *t, const dataset_part *part, const question *how)
{
    const dataset *data = &t->data;
    tally sums = {.confusion = how->confusion};
    const tg_rng seed = tg_rng_seed((uint64_t)t->seed);
    tg_rng random = tg_rng_stream(&seed, "noise"); /* the same for every size and activation */
    for (size_t from = 0; from < part->rows; from += EVALUATION_BATCH) {
        const size_t left = part->rows - from, rows = left < EVALUATION_BATCH ? left : EVALUATION_BATCH;
        const int64_t count = (int64_t)rows;
        tg_mlp_trace trace;
        tg_tape_reset(t->tape);
        tg_no_grad_begin(t->tape);
        tg_tensor x = gather(t, part, from, rows, how->noise, &random);
        tg_tensor output = tg_mlp_forward_with(how->net ? how->net : t->net, x, NULL, &trace);
        sums.loss += tg_item(trainer_loss(t, output, count, 0)) * (double)rows;
        if (data->task == DATASET_CLASSIFICATION)
            tally_classes(&sums, tg_f32(output), t->labels, count, (int64_t)data->classes);
        else
            tally_targets(&sums, tg_f32(output), t->targets, count, (int64_t)data->targets);
        if (how->dead)
            tg_dead_units_see(how->dead, &trace);
        tg_no_grad_end(t->tape);
    }
    return measures_of(t, &sums, part->rows);
}

/* ---- the net at the best epoch ---- */

/* The part that is reported. */
static const dataset_part *reported_part(const trainer *t)
{
    return t->data.test.rows > 0 ? &t->data.test : &t->data.validation;
}

static void tell_confusion(trainer *t, const training_watch *watch)
{
    const size_t classes = t->data.classes;
    double *counts = classes <= RUNLOG_CLASSES ? calloc(classes * classes + 1, sizeof *counts) : NULL;
    if (counts) {
        trainer_evaluate(t, reported_part(t), &(question){.net = t->kept, .confusion = counts});
        watch->on_series(watch->context, RUNLOG_CONFUSION, counts, classes * classes);
    }
    free(counts);
}

static void tell_noise(trainer *t, const experiment *e, const training_watch *watch)
{
    double sizes[OPTIONS_NUMBERS];
    const program_option *option = options_find(&experiment_program, "test-noise");
    const int count = e->settings.test_noise ? options_numbers(option, e->settings.test_noise, sizes, OPTIONS_NUMBERS) : 0;
    for (int i = 0; i < count; i++) {
        const runlog_measures m = trainer_evaluate(t, reported_part(t), &(question){.net = t->kept, .noise = sizes[i]});
        watch->on_series(watch->context, RUNLOG_NOISE, (double[]){sizes[i], m.loss, m.accuracy}, 3);
    }
}

/* What feature i of a row is in the source. */
static double in_source(const dataset *data, size_t i, double value)
{
    return value * data->feature_scale[i] + data->feature_mean[i];
}

/* The range of a feature over all rows, a tenth wider on either side. */
static void find_range(const dataset *data, size_t feature, double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (size_t row = 0; row < data->rows; row++) {
        range[0] = fmin(range[0], data->x[row * data->features + feature]);
        range[1] = fmax(range[1], data->x[row * data->features + feature]);
    }
    const double margin = 0.1 * (range[1] - range[0]) + (range[1] > range[0] ? 0 : 1);
    range[0] -= margin;
    range[1] += margin;
}

/* One row of the surface: x, y, the class and how sure the net is of it. */
static void tell_surface_row(trainer *t, double y, const double range[2], const training_watch *watch)
{
    const dataset *data = &t->data;
    double row[RUNLOG_SURFACE_SIDE][4];
    for (int i = 0; i < RUNLOG_SURFACE_SIDE; i++) {
        t->features[2 * i] = (float)(range[0] + (range[1] - range[0]) * i / (RUNLOG_SURFACE_SIDE - 1));
        t->features[2 * i + 1] = (float)y;
    }
    tg_tape_reset(t->tape);
    tg_no_grad_begin(t->tape);
    tg_tensor x = tg_borrow(t->tape, TG_F32, t->features, TG_SHAPE(RUNLOG_SURFACE_SIDE, 2));
    const float *logits = tg_f32(tg_mlp_forward(t->kept, x));
    for (int i = 0; logits && i < RUNLOG_SURFACE_SIDE; i++) {
        row[i][0] = in_source(data, 0, t->features[2 * i]);
        row[i][1] = in_source(data, 1, y);
        row[i][2] = (double)classify(logits + i * (int64_t)data->classes, (int64_t)data->classes, &row[i][3]);
    }
    tg_no_grad_end(t->tape);
    if (logits)
        watch->on_series(watch->context, RUNLOG_SURFACE, row[0], sizeof row / sizeof row[0][0]);
}

static void tell_surface(trainer *t, const training_watch *watch)
{
    const dataset *data = &t->data;
    const dataset_part *part = reported_part(t);
    double across[2], up[2];
    find_range(data, 0, across);
    find_range(data, 1, up);
    for (int i = 0; i < RUNLOG_SURFACE_SIDE; i++)
        tell_surface_row(t, up[0] + (up[1] - up[0]) * i / (RUNLOG_SURFACE_SIDE - 1), across, watch);
    for (size_t i = 0; i < part->rows && i < RUNLOG_POINTS_MOST; i++) {
        const float *x = data->x + 2 * (size_t)part->row[i];
        watch->on_series(watch->context, RUNLOG_POINTS,
                         (double[]){in_source(data, 0, x[0]), in_source(data, 1, x[1]), data->labels[part->row[i]]}, 3);
    }
}

void trainer_tell(trainer *t, const experiment *e, int run, const training_watch *watch)
{
    if (!watch->on_series)
        return;
    if (t->data.task == DATASET_CLASSIFICATION) {
        tell_confusion(t, watch);
        if (t->data.features == 2 && experiment_seed(e, run) == e->settings.seed && experiment_fold(e, run) == 0)
            tell_surface(t, watch);
    }
    tell_noise(t, e, watch);
}
