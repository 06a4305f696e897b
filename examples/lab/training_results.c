/* How good a network is, and what else there is to tell of it. */
#include "examples/lab/training_internal.h"

#include <math.h>
#include <stdlib.h>

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

static void see_classes(trainer *t, const float *logits, const int32_t *labels, int64_t rows, int64_t classes)
{
    tally *sums = &t->sums;
    for (int64_t r = 0; logits && r < rows; r++) {
        double confidence;
        const int64_t answer = classify(logits + r * classes, classes, &confidence);
        const bool hit = answer == labels[r];
        int bin = (int)(confidence * TRAINING_BINS);
        bin = bin < 0                ? 0
              : bin >= TRAINING_BINS ? TRAINING_BINS - 1
                                     : bin; /* NaN is 0 on some machines and anything on others */
        sums->correct += hit;
        sums->in_bin[bin]++;
        sums->confidence[bin] += confidence;
        sums->hits[bin] += hit;
        if (t->confusion)
            t->confusion[labels[r] * classes + answer]++;
    }
}

static void see_targets(tally *sums, const float *output, const float *targets, int64_t rows, int64_t width)
{
    for (int64_t i = 0; output && i < rows * width; i++) {
        const int64_t target = i % width;
        const double error = (double)output[i] - targets[i];
        if (target >= TRAINING_TARGETS)
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

void trainer_see(trainer *t, tg_tensor output, tg_tensor wanted)
{
    const int64_t rows = tg_dim(output, 0), width = tg_dim(output, 1);
    if (t->data.task == DATASET_CLASSIFICATION)
        see_classes(t, tg_f32(output), tg_i32(wanted), rows, width);
    else
        see_targets(&t->sums, tg_f32(output), tg_f32(wanted), rows, width);
}

/* The measures of what was seen, but for the loss. */
static runlog_measures measures_of(const trainer *t, size_t count)
{
    const tally *sums = &t->sums;
    const dataset *data = &t->data;
    const double rows = (double)count;
    runlog_measures m = RUNLOG_NO_MEASURES;
    if (data->task == DATASET_CLASSIFICATION) {
        m.accuracy = (double)sums->correct / rows;
        m.calibration = 0;
        for (int bin = 0; bin < TRAINING_BINS; bin++)
            m.calibration += fabs(sums->confidence[bin] - sums->hits[bin]) / rows;
        return m;
    }
    if (data->targets == 1) {
        m.rmse = sqrt(sums->squares / rows) * data->target_scale[0];
        m.mae = sums->absolutes / rows * data->target_scale[0];
    }
    if (data->targets <= TRAINING_TARGETS)
        m.r2 = determination(sums, rows, data->targets);
    return m;
}

runlog_measures trainer_measures(trainer *t, double loss, size_t rows)
{
    runlog_measures m = measures_of(t, rows);
    m.loss = loss;
    t->sums = (tally){0};
    return m;
}

bool trainer_evaluate(trainer *t, dataset_feed *part, runlog_measures *measures)
{
    const tg_fit_rows rows = dataset_feed_rows(part);
    double loss = NAN;
    const bool fine = tg_fit_evaluate(t->fit, &rows, &loss, NULL);
    *measures = trainer_measures(t, loss, part->part->rows);
    return fine;
}

/* ---- the net at the best epoch ---- */

/* The part that is reported. */
static dataset_feed *reported_part(trainer *t)
{
    return t->data.test.rows > 0 ? &t->test : &t->validation;
}

static void tell_confusion(trainer *t)
{
    const size_t classes = t->data.classes;
    runlog_measures m;
    t->confusion = classes <= RUNLOG_CLASSES ? calloc(classes * classes + 1, sizeof *t->confusion) : NULL;
    if (t->confusion && trainer_evaluate(t, reported_part(t), &m))
        t->watch->on_series(t->watch->context, RUNLOG_CONFUSION, t->confusion, classes * classes);
    free(t->confusion);
    t->confusion = NULL;
}

static void tell_noise(trainer *t, const experiment *e)
{
    double sizes[OPTIONS_NUMBERS];
    const program_option *option = options_find(&experiment_program, "test-noise");
    const int count =
        e->settings.test_noise ? options_numbers(option, e->settings.test_noise, sizes, OPTIONS_NUMBERS) : 0;
    const tg_rng seed = tg_rng_seed((uint64_t)t->seed);
    dataset_feed noisy = *reported_part(t);
    for (int i = 0; i < count; i++) {
        runlog_measures m;
        noisy.noise = sizes[i];
        noisy.random = tg_rng_stream(&seed, "noise"); /* the same for every size and activation */
        if (trainer_evaluate(t, &noisy, &m))
            t->watch->on_series(t->watch->context, RUNLOG_NOISE, (double[]){sizes[i], m.loss, m.accuracy}, 3);
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
static void tell_surface_row(trainer *t, tg_tape *tape, double y, const double range[2])
{
    const dataset *data = &t->data;
    const int64_t classes = (int64_t)data->classes;
    float place[RUNLOG_SURFACE_SIDE][2];
    double row[RUNLOG_SURFACE_SIDE][4];
    for (int i = 0; i < RUNLOG_SURFACE_SIDE; i++) {
        place[i][0] = (float)(range[0] + (range[1] - range[0]) * i / (RUNLOG_SURFACE_SIDE - 1));
        place[i][1] = (float)y;
    }
    tg_tape_reset(tape);
    const float *logits =
        tg_f32(tg_mlp_forward(t->net, tg_borrow(tape, TG_F32, place, TG_SHAPE(RUNLOG_SURFACE_SIDE, 2))));
    for (int i = 0; logits && i < RUNLOG_SURFACE_SIDE; i++) {
        row[i][0] = in_source(data, 0, place[i][0]);
        row[i][1] = in_source(data, 1, y);
        row[i][2] = (double)classify(logits + i * classes, classes, &row[i][3]);
    }
    if (logits)
        t->watch->on_series(t->watch->context, RUNLOG_SURFACE, row[0], sizeof row / sizeof row[0][0]);
}

static void tell_surface(trainer *t)
{
    const dataset *data = &t->data;
    const dataset_part *part = reported_part(t)->part;
    tg_tape *tape = tg_tape_new();
    double across[2], up[2];
    find_range(data, 0, across);
    find_range(data, 1, up);
    tg_no_grad_begin(tape);
    for (int i = 0; i < RUNLOG_SURFACE_SIDE; i++)
        tell_surface_row(t, tape, up[0] + (up[1] - up[0]) * i / (RUNLOG_SURFACE_SIDE - 1), across);
    tg_tape_free(tape);
    for (size_t i = 0; i < part->rows && i < RUNLOG_POINTS_MOST; i++) {
        const float *x = data->x + 2 * (size_t)part->row[i];
        t->watch->on_series(t->watch->context, RUNLOG_POINTS,
                            (double[]){in_source(data, 0, x[0]), in_source(data, 1, x[1]), data->labels[part->row[i]]},
                            3);
    }
}

void trainer_tell(trainer *t, const experiment *e, int run)
{
    if (!t->watch->on_series)
        return;
    if (t->data.task == DATASET_CLASSIFICATION) {
        tell_confusion(t);
        if (t->data.features == 2 && experiment_seed(e, run) == e->settings.seed && experiment_fold(e, run) == 0)
            tell_surface(t);
    }
    tell_noise(t, e);
}
