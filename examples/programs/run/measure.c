/* Additional measures of a net at its best epoch. */
#include "examples/programs/run/run.h"
#include "examples/programs/data/words.h"

#include <math.h>
#include <stdlib.h>

/* The split whose measures are reported. */
static dataset_feed *reported_part(trainer *t)
{
    return t->from->test.count > 0 ? &t->from->parts[2] : &t->from->parts[1];
}

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
    double *confusion = classes <= RUNLOG_CLASSES ? calloc(classes * classes + 1, sizeof *confusion) : NULL;
    t->sums.confusion = confusion;
    if (confusion && run_measure(t, t->from->test.count > 0 ? &t->from->test : &t->from->valid, &m))
        put(results, "confusion", confusion, classes * classes);
    free(confusion);
    t->sums.confusion = NULL;
}

static void tell_noise(trainer *t, json_t *results)
{
    const char *sizes = t->spec->test_noise;
    const tg_rng seed = tg_rng_seed((uint64_t)t->spec->seed);
    dataset_feed noisy = *reported_part(t);
    for (char size[64]; next_word(&sizes, size, sizeof size);) {
        runlog_measures m;
        noisy.noise = strtod(size, NULL);
        noisy.random = tg_rng_stream(&seed, "noise"); /* the same for every size and activation */
        const tg_fit_rows rows = dataset_feed_rows(&noisy);
        if (run_measure(t, &rows, &m))
            put(results, "noise", (double[]){noisy.noise, m.loss, m.accuracy}, 3);
    }
}

/* The value of a row's feature i in the units of the source. */
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

/* One row of the surface: x, y, the class and its probability. */
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
        tg_f32(tg_model_forward(t->model, tg_borrow(tape, TG_F32, place, TG_SHAPE(RUNLOG_SURFACE_SIDE, 2)), NULL));
    for (int i = 0; logits && i < RUNLOG_SURFACE_SIDE; i++) {
        row[i][0] = in_source(data, 0, place[i][0]);
        row[i][1] = in_source(data, 1, y);
        row[i][2] = (double)tally_class(logits + i * classes, classes, &row[i][3]);
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

json_t *run_outcome(const trainer *t)
{
    const json_int_t parameters = tg_parameters_size(tg_model_parameters(t->model));
    return tg_fit_diverged(t->fit) ? json_pack("{s:I,s:I}", "parameters", parameters, "diverged",
                                               (json_int_t)tg_fit_epoch_count(t->fit) + 1)
                                   : json_pack("{s:I}", "parameters", parameters);
}

json_t *run_results(trainer *t, bool surface)
{
    json_t *results = run_outcome(t);
    if (tg_fit_diverged(t->fit))
        return results;
    if (results && t->about.task == CARD_CLASSES) {
        tell_confusion(t, results);
        if (t->from->data.features == 2 && surface)
            tell_surface(t, results);
    }
    if (results && !t->from->is_text)
        tell_noise(t, results);
    return results;
}
