/* How good a network is, and what else there is to tell of it. */
#include "examples/run/run.h"

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
    run_tally *sums = &t->sums;
    for (int64_t r = 0; logits && r < rows; r++) {
        double confidence;
        const int64_t answer = classify(logits + r * classes, classes, &confidence);
        const bool hit = answer == labels[r];
        int bin = (int)(confidence * RUN_BINS);
        bin = bin < 0 ? 0 : bin >= RUN_BINS ? RUN_BINS - 1 : bin; /* NaN is 0 on some machines and anything on others */
        sums->correct += hit;
        sums->in_bin[bin]++;
        sums->confidence[bin] += confidence;
        sums->hits[bin] += hit;
        if (t->confusion)
            t->confusion[labels[r] * classes + answer]++;
    }
}

static void see_targets(run_tally *sums, const float *output, const float *targets, int64_t rows, int64_t width)
{
    for (int64_t i = 0; output && i < rows * width; i++) {
        const int64_t target = i % width;
        const double error = (double)output[i] - targets[i];
        if (target >= RUN_TARGETS)
            continue;
        sums->squares += target == 0 ? error * error : 0;
        sums->absolutes += target == 0 ? fabs(error) : 0;
        sums->error[target] += error * error;
        sums->sum[target] += targets[i];
        sums->sum_squares[target] += (double)targets[i] * targets[i];
    }
}

/* The mean over the targets of 1 - squared error / variance. */
static double determination(const run_tally *sums, double rows, size_t targets)
{
    double mean = 0;
    for (size_t i = 0; i < targets; i++)
        mean += 1 - sums->error[i] / (sums->sum_squares[i] - sums->sum[i] * sums->sum[i] / rows);
    return mean / (double)targets;
}

static bool classifies(const trainer *t)
{
    return t->about.task == CARD_CLASSES || t->about.task == CARD_LETTERS;
}

void run_see(trainer *t, tg_tensor output, tg_tensor wanted)
{
    const int64_t width = tg_dim(output, -1), rows = width ? tg_size(output) / width : 0;
    t->sums.rows += (long)rows;
    if (classifies(t))
        see_classes(t, tg_f32(output), tg_i32(wanted), rows, width);
    else if (t->about.task == CARD_TARGETS)
        see_targets(&t->sums, tg_f32(output), tg_f32(wanted), rows, width);
}

/* The measures of what was seen, but for the loss. */
static runlog_measures measures_of(const trainer *t)
{
    const run_tally *sums = &t->sums;
    const dataset *data = &t->from->data;
    const double rows = (double)sums->rows;
    runlog_measures m = RUNLOG_NO_MEASURES;
    if (classifies(t)) {
        m.accuracy = (double)sums->correct / rows;
        m.calibration = 0;
        for (int bin = 0; bin < RUN_BINS; bin++)
            m.calibration += fabs(sums->confidence[bin] - sums->hits[bin]) / rows;
        return m;
    }
    if (t->about.task != CARD_TARGETS)
        return m;
    if (data->targets == 1) {
        m.rmse = sqrt(sums->squares / rows) * data->target_scale[0];
        m.mae = sums->absolutes / rows * data->target_scale[0];
    }
    if (data->targets <= RUN_TARGETS)
        m.r2 = determination(sums, rows, data->targets);
    return m;
}

runlog_measures run_measures(trainer *t, double loss)
{
    runlog_measures m = measures_of(t);
    m.loss = loss;
    t->sums = (run_tally){0};
    return m;
}

/* ---- the net at the best epoch ---- */

/* The part that is reported. */
static dataset_feed *reported_part(trainer *t)
{
    return t->from->data.test.rows > 0 ? &t->from->parts[2] : &t->from->parts[1];
}

/* ---- result.json ---- */

static void put(json_t *results, const char *name, const double *numbers, size_t count)
{
    json_t *array = json_object_get(results, name);
    if (!array)
        json_object_set_new(results, name, array = json_array());
    for (size_t i = 0; i < count; i++) /* JSON has no NaN */
        json_array_append_new(array, isfinite(numbers[i]) ? json_real(numbers[i]) : json_null());
}

static void tell_confusion(trainer *t, json_t *results)
{
    const size_t classes = t->from->data.classes;
    runlog_measures m;
    t->confusion = classes <= RUNLOG_CLASSES ? calloc(classes * classes + 1, sizeof *t->confusion) : NULL;
    if (t->confusion && run_measure(t, reported_part(t), &m))
        put(results, "confusion", t->confusion, classes * classes);
    free(t->confusion);
    t->confusion = NULL;
}

static void tell_noise(trainer *t, json_t *results)
{
    double sizes[OPTIONS_NUMBERS];
    const program_option option = {.type = OPTION_REALS, .high = 1e6};
    const int count = t->spec->test_noise ? options_numbers(&option, t->spec->test_noise, sizes, OPTIONS_NUMBERS) : 0;
    const tg_rng seed = tg_rng_seed((uint64_t)t->spec->seed);
    dataset_feed noisy = *reported_part(t);
    for (int i = 0; i < count; i++) {
        runlog_measures m;
        noisy.noise = sizes[i];
        noisy.random = tg_rng_stream(&seed, "noise"); /* the same for every size and activation */
        if (run_measure(t, &noisy, &m))
            put(results, "noise", (double[]){sizes[i], m.loss, m.accuracy}, 3);
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
static void tell_surface_row(trainer *t, json_t *results, tg_tape *tape, double y, const double range[2])
{
    const dataset *data = &t->from->data;
    const int64_t classes = (int64_t)data->classes;
    float place[RUNLOG_SURFACE_SIDE][2];
    double row[RUNLOG_SURFACE_SIDE][4];
    for (int i = 0; i < RUNLOG_SURFACE_SIDE; i++) {
        place[i][0] = (float)(range[0] + (range[1] - range[0]) * i / (RUNLOG_SURFACE_SIDE - 1));
        place[i][1] = (float)y;
    }
    tg_tape_reset(tape);
    const float *logits =
        tg_f32(net_forward(t->model, tg_borrow(tape, TG_F32, place, TG_SHAPE(RUNLOG_SURFACE_SIDE, 2)), NULL));
    for (int i = 0; logits && i < RUNLOG_SURFACE_SIDE; i++) {
        row[i][0] = in_source(data, 0, place[i][0]);
        row[i][1] = in_source(data, 1, y);
        row[i][2] = (double)classify(logits + i * classes, classes, &row[i][3]);
    }
    if (logits)
        put(results, "surface", row[0], sizeof row / sizeof row[0][0]);
}

static void tell_surface(trainer *t, json_t *results)
{
    const dataset *data = &t->from->data;
    const dataset_part *part = reported_part(t)->part;
    tg_tape *tape = tg_tape_new();
    double across[2], up[2];
    find_range(data, 0, across);
    find_range(data, 1, up);
    tg_no_grad_begin(tape);
    for (int i = 0; i < RUNLOG_SURFACE_SIDE; i++)
        tell_surface_row(t, results, tape, up[0] + (up[1] - up[0]) * i / (RUNLOG_SURFACE_SIDE - 1), across);
    tg_tape_free(tape);
    for (size_t i = 0; i < part->rows && i < RUNLOG_POINTS_MOST; i++) {
        const float *x = data->x + 2 * (size_t)part->row[i];
        put(results, "points",
            (double[]){in_source(data, 0, x[0]), in_source(data, 1, x[1]), data->labels[part->row[i]]}, 3);
    }
}

json_t *run_results(trainer *t, bool surface)
{
    json_t *results = json_pack("{s:I}", "parameters", (json_int_t)tg_parameters_size(net_parameters(t->model)));
    if (results && t->about.task == CARD_CLASSES) {
        tell_confusion(t, results);
        if (t->from->data.features == 2 && surface)
            tell_surface(t, results);
    }
    if (results && !t->from->is_text)
        tell_noise(t, results);
    return results;
}
