/* Additional measures of a net at its best epoch. */
#include "examples/programs/run/run.h"
#include "examples/programs/run/constant.h"
#include "examples/programs/run/predictions.h"
#include "examples/programs/data/words.h"

/* The split whose measures are reported. */
static int reported(const trainer *t)
{
    return t->from->test.count > 0 ? RUNLOG_TEST : RUNLOG_VALIDATION;
}

void run_noise(trainer *t, runlog_run *results)
{
    const char *sizes = t->spec->test_noise;
    const tg_rng seed = tg_rng_seed((uint64_t)t->spec->seed);
    dataset_feed noisy = t->from->parts[reported(t)];
    for (char size[64]; next_word(&sizes, size, sizeof size);) {
        runlog_measures m;
        noisy.noise = strtod(size, NULL);
        noisy.random = tg_rng_stream(&seed, "noise"); /* the same for every size and activation */
        const tg_fit_rows rows = dataset_feed_rows(&noisy);
        if (run_measure(t, &rows, &m))
            runlog_add_series(results, RUNLOG_NOISE, (double[]){noisy.noise, m.loss, m.accuracy}, 3);
    }
}

/* Copies weights; the trained numbers of another activation, whatever their names, are no weights. */
static bool take_weights(tg_parameters *set, const tg_parameters *from, bool numbers)
{
    const size_t bytes = tg_parameters_bytes(set);
    float *own = malloc(bytes + 1), *values = tg_parameters_values(set);
    if (own)
        memcpy(own, values, bytes);
    const bool copied = own && tg_parameters_copy(set, from) > 0;
    for (int i = 0; copied && !numbers && i < tg_parameters_count(set); i++) {
        const tg_parameter *p = tg_parameters_at(set, i);
        if (strstr(p->name, ".activation."))
            memcpy(p->data, own + ((float *)p->data - values), (size_t)tg_shape_size(&p->shape) * sizeof *own);
    }
    free(own);
    return copied;
}

/* The test loss of a net with the same weights, rounded to a format, and this activation; NaN if the loss is not finite,
 * or if one of both is gated, as a gate has weights of its own. */
static double loss_of_variant(trainer *t, const run_variant *variant)
{
    const tg_rng rng = tg_rng_seed(1);
    tg_error error;
    runlog_measures m = runlog_no_measures;
    net_spec spec = t->spec->net;
    tg_model *own = t->model;
    if (net_is_gated(variant->activation) != net_is_gated(spec.activation))
        return NAN;
    const bool same = strcmp(variant->activation, spec.activation) == 0;
    spec.activation = variant->activation;
    t->model = net_new(&spec, &rng, &error);
    tg_parameters *set = t->model ? tg_model_parameters(t->model) : NULL;
    if (set && take_weights(set, tg_model_parameters(own), same)) {
        float *weights = tg_parameters_values(set);
        for (int64_t i = 0; i < tg_parameters_size(set); i++)
            weights[i] = tg_round(variant->format, weights[i]);
        tg_parameters_changed(set);
        if (!run_measure(t, &t->from->test, &m) || !isfinite(m.loss))
            m.loss = NAN;
    }
    tg_model_free(t->model);
    t->model = own;
    return m.loss;
}

void run_variants(trainer *t, runlog_run *results)
{
    const char *list = t->spec->test_as;
    run_variant variant;
    tg_error error;
    while (t->from->test.count > 0 && !t->refit && run_spec_next_variant(t->spec, &list, &variant, &error))
        runlog_add_variant(results, variant.name, loss_of_variant(t, &variant));
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

enum { SURFACE_NUMBERS = 4 }; /* x, y, the class and its probability */

static void fill_surface_row(trainer *t, tg_tape *tape, double y, const double range[2],
                             double row[RUNLOG_SURFACE_SIDE][SURFACE_NUMBERS])
{
    const dataset *data = &t->from->data;
    const int64_t classes = (int64_t)data->classes;
    float place[RUNLOG_SURFACE_SIDE][2];
    for (int i = 0; i < RUNLOG_SURFACE_SIDE; i++) {
        place[i][0] = (float)(range[0] + (range[1] - range[0]) * i / (RUNLOG_SURFACE_SIDE - 1));
        place[i][1] = (float)y;
    }
    tg_tape_reset(tape);
    const float *logits =
        tg_f32(tg_model_forward(run_model(t), tg_borrow(tape, TG_F32, place, TG_SHAPE(RUNLOG_SURFACE_SIDE, 2)), NULL));
    for (int i = 0; logits && i < RUNLOG_SURFACE_SIDE; i++) {
        row[i][0] = dataset_in_source(data, 0, place[i][0]);
        row[i][1] = dataset_in_source(data, 1, y);
        row[i][2] = (double)tally_class(logits + i * classes, classes, &row[i][3]);
    }
}

/* The class at each point of a grid, into a file of the record; and some rows, into the results. */
static bool write_surface(trainer *t, runlog_run *results, tg_error *error)
{
    const dataset *data = &t->from->data;
    const dataset_part *part = t->from->parts[reported(t)].part;
    double(*surface)[RUNLOG_SURFACE_SIDE][SURFACE_NUMBERS] = calloc(RUNLOG_SURFACE_SIDE, sizeof *surface);
    tg_tape *tape = surface ? tg_tape_new() : NULL;
    double across[2], up[2];
    find_range(data, 0, across);
    find_range(data, 1, up);
    tg_no_grad_begin(tape);
    for (int i = 0; tape && i < RUNLOG_SURFACE_SIDE; i++)
        fill_surface_row(t, tape, up[0] + (up[1] - up[0]) * i / (RUNLOG_SURFACE_SIDE - 1), across, surface[i]);
    const bool fine =
        !tape || tg_tape_error(tape)
            ? tg_fail(error, "%s", tape ? tg_tape_error(tape) : "out of memory")
            : record_put_surface(t->setup.folder, surface[0][0], RUNLOG_SURFACE_SIDE * RUNLOG_SURFACE_SIDE, error);
    tg_tape_free(tape);
    free(surface);
    for (size_t i = 0; i < part->rows && i < RUNLOG_POINTS_MOST; i++) {
        const float *x = data->x + 2 * (size_t)part->row[i];
        runlog_add_series(
            results, RUNLOG_POINTS,
            (double[]){dataset_in_source(data, 0, x[0]), dataset_in_source(data, 1, x[1]), data->labels[part->row[i]]},
            3);
    }
    return fine;
}

/* ---- the splits ---- */

/* What is kept of the rows of the splits. */
typedef struct kept {
    predictions rows;
    double *confusion; /* [classes, classes], of the reported split; NULL: no classes, or too many */
} kept;

static void free_rows(tally_rows *of)
{
    free(of->loss);
    free(of->hit);
    free(of->output);
}

static void free_kept(kept *k)
{
    free(k->confusion);
    for (int split = 0; split < RUNLOG_SPLITS; split++)
        free_rows(&k->rows.split[split]);
    free_rows(&k->rows.constant);
}

static bool allocate_rows(tally_rows *to, size_t rows, size_t width)
{
    to->loss = calloc(rows + 1, sizeof *to->loss);
    to->hit = calloc(rows + 1, sizeof *to->hit);
    to->output = calloc(rows * width + 1, sizeof *to->output);
    return to->loss && to->hit && to->output;
}

static const tg_fit_rows *rows_of(const trainer *t, int split)
{
    const tg_fit_rows *all[RUNLOG_SPLITS] = {&t->from->train, &t->from->valid, &t->from->test};
    return all[split];
}

/* Losses and outputs of the reported split, which comparisons need row by row, and of all if they are asked for. */
static bool allocate(kept *k, const trainer *t)
{
    const bool all = t->spec->keep_predictions;
    const size_t classes =
        t->about->task == TG_CARD_CLASSES && t->about->classes <= RUNLOG_CLASSES ? t->about->classes : 0;
    const size_t width = tg_card_results(t->about);
    bool fine = allocate_rows(&k->rows.constant, (size_t)rows_of(t, reported(t))->count, width);
    k->rows.of = t->about;
    k->rows.from = t->from;
    for (int split = all ? RUNLOG_TRAIN : reported(t); split < (all ? RUNLOG_SPLITS : reported(t) + 1); split++)
        fine &= allocate_rows(&k->rows.split[split], (size_t)rows_of(t, split)->count, width);
    k->confusion = classes ? calloc(classes * classes, sizeof *k->confusion) : NULL;
    return fine && (k->confusion || !classes);
}

/* Adds what a constant prediction gets on the rows of a split. */
static bool measure_constant(trainer *t, int split, kept *k, runlog_run *results, tg_error *error)
{
    tally_rows *each = split == reported(t) && k->rows.constant.loss ? &k->rows.constant : NULL;
    results->constant.measured[split] = true;
    return constant_measure(t->about, t->from, rows_of(t, split), each, &results->constant.of[split]) ||
           tg_fail(error, "out of memory");
}

/* Measures each split, and adds the measures to the results. A refit trains on the validation rows, which are therefore
 * measured before it. */
static bool measure(trainer *t, kept *k, runlog_run *results, tg_error *error)
{
    static const int order[RUNLOG_SPLITS] = {RUNLOG_VALIDATION, RUNLOG_TRAIN, RUNLOG_TEST};
    bool fine = true;
    for (int i = 0; fine && i < RUNLOG_SPLITS; i++) {
        const int split = order[i];
        if (i == 1 && !run_refit(t, error))
            return false;
        tally_rows *each = &k->rows.split[split];
        if (rows_of(t, split)->count == 0 || (split == RUNLOG_TRAIN && t->from->is_text && !t->from->letters.pairs))
            continue; /* training windows of a text are drawn at random */
        t->sums = (tally){.confusion = split == reported(t) ? k->confusion : NULL,
                          .each = each->loss ? each : NULL,
                          .by_class = t->about->task == TG_CARD_CLASSES};
        fine = run_measure(t, rows_of(t, split), &results->net.of[split]) || tg_fail(error, "%s", tg_fit_error(t->fit));
        t->sums = (tally){0};
        results->net.measured[split] = fine;
        fine = fine && measure_constant(t, split, k, results, error);
    }
    return fine;
}

/* The outcome of a run; with `k`, keeps rows there. */
static bool outcome(trainer *t, kept *k, runlog_run *results, tg_error *error)
{
    const tg_fit_epoch *best = tg_fit_best(t->fit);
    results->parameters = (long)tg_parameters_size(tg_model_parameters(t->model));
    if (tg_fit_diverged(t->fit))
        results->diverged = (long)tg_fit_epoch_count(t->fit) + 1;
    else if (!measure(t, k, results, error))
        return false;
    else
        results->best_epoch = best ? (long)best->epoch : 0;
    results->softened = t->softened;
    return true;
}

bool run_outcome(trainer *t, runlog_run *results, tg_error *error)
{
    return outcome(t, &(kept){0}, results, error);
}

static bool write_rows(const trainer *t, const kept *k, tg_error *error)
{
    const char *folder = t->setup.folder;
    return t->from->is_text || (predictions_write_rows(&k->rows, (runlog_split)reported(t), folder, error) &&
                                (!t->spec->keep_predictions || predictions_write(&k->rows, folder, error)));
}

bool run_results(trainer *t, runlog_run *results, tg_error *error)
{
    kept k = {0};
    if (tg_fit_diverged(t->fit))
        return run_outcome(t, results, error);
    bool fine = (t->from->is_text || allocate(&k, t) || tg_fail(error, "out of memory")) &&
                outcome(t, &k, results, error) && write_rows(t, &k, error);
    if (t->setup.surface && t->about->task == TG_CARD_CLASSES && t->from->data.features == 2)
        fine = fine && write_surface(t, results, error);
    if (fine && k.confusion)
        runlog_add_series(results, RUNLOG_CONFUSION, k.confusion, t->about->classes * t->about->classes);
    if (fine && !t->from->is_text)
        run_noise(t, results);
    if (fine)
        run_variants(t, results);
    free_kept(&k);
    return fine;
}
