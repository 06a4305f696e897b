/* Makes a comparison of the activations of a run log. */
#include "examples/programs/report/runlog_internal.h"
#include "examples/programs/report/comparison.h"
#include "examples/programs/report/table.h"
#include "examples/programs/report/verdict.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const runlog_epoch *runlog_best_epoch(const runlog_run *run)
{
    int i = run->count - 1;
    while (i >= 0 && run->epochs[i].best != 1)
        i--;
    return i >= 0 ? &run->epochs[i] : NULL;
}

enum { ANY, CLASSES, NUMBERS, WITH_TEST, NO_TEST }; /* conditions for a measure */
/* ASKED: shown only if --measures names it, and judged then if there are values of rows; ROWS: a mean of them that no
 * single row has */
enum { SHARE = 1, MORE_IS_BETTER = 2, JUDGED = 4, ASKED = 8, ROWS = 16 };

#define OF(split, measure) RUNLOG_##split, offsetof(runlog_measures, measure)

/* The measures in the order of the table: name, title, words, meaning. */
static const struct kind {
    runlog_split split;
    size_t offset; /* in its measures */
    int task, with, flags;
    const char *name, *title, *words, *meaning;
} kinds[] = {
    {OF(TEST, accuracy), CLASSES, WITH_TEST, SHARE | MORE_IS_BETTER | JUDGED, "test_accuracy", "test acc %",
     "test accuracy", "share of test samples that are classified correctly, by the net of the best epoch"},
    {OF(VALIDATION, accuracy), CLASSES, WITH_TEST, SHARE | MORE_IS_BETTER | ASKED, "best_val_accuracy", "val acc %",
     NULL, "validation accuracy of the net of the best epoch"},
    {OF(VALIDATION, accuracy), CLASSES, NO_TEST, SHARE | MORE_IS_BETTER | JUDGED, "best_val_accuracy", "val acc %",
     "validation accuracy", "validation accuracy of the net of the best epoch"},
    {OF(TEST, loss), CLASSES, WITH_TEST, JUDGED, "test_loss", "test loss", "test loss",
     "mean cross-entropy on test samples, of the net of the best epoch"},
    {OF(TEST, loss), NUMBERS, WITH_TEST, JUDGED, "test_loss", "test loss", "test loss",
     "mean squared error of targets standardised by the training split, by the net of the best epoch"},
    {OF(VALIDATION, loss), ANY, WITH_TEST, ASKED, "best_val_loss", "val loss", NULL,
     "validation loss of the net of the best epoch"},
    {OF(VALIDATION, loss), CLASSES, NO_TEST, JUDGED, "best_val_loss", "val loss", "validation loss",
     "validation loss (cross-entropy) of the net of the best epoch"},
    {OF(VALIDATION, loss), NUMBERS, NO_TEST, JUDGED, "best_val_loss", "val loss", "validation loss",
     "validation loss of the net of the best epoch: mean squared error of targets standardised by the training split"},
    {OF(TRAIN, loss), ANY, ANY, ASKED, "best_train_loss", "train loss", NULL,
     "loss on training samples of the net of the best epoch"},
    {OF(TEST, rmse), NUMBERS, WITH_TEST, ROWS | ASKED, "test_rmse", "RMSE", "test RMSE",
     "root of the mean squared error, in the unit of the target"},
    {OF(TEST, mae), NUMBERS, WITH_TEST, ROWS | ASKED, "test_mae", "MAE", "test MAE",
     "mean absolute error, in the unit of the target"},
    {OF(TEST, r2), NUMBERS, WITH_TEST, ROWS | MORE_IS_BETTER, "test_r2", "R²", "test R²",
     "share of the targets' variance that is explained"},
    {OF(TEST, calibration), CLASSES, WITH_TEST, ROWS | SHARE | ASKED, "test_calibration_error", "ECE %",
     "test calibration error", "expected calibration error, the mean distance of confidence from accuracy in 15 bins"},
    {OF(TEST, balanced), CLASSES, WITH_TEST, ROWS | SHARE | MORE_IS_BETTER | ASKED, "test_balanced_accuracy",
     "balanced %", "test balanced accuracy",
     "balanced accuracy, the mean over the classes of the share of their test samples that are classified correctly"},
    {OF(VALIDATION, balanced), CLASSES, NO_TEST, ROWS | SHARE | MORE_IS_BETTER | ASKED, "best_val_balanced_accuracy",
     "val balanced %", "validation balanced accuracy", "the same, of validation samples"},
    {OF(TEST, f1), CLASSES, WITH_TEST, ROWS | SHARE | MORE_IS_BETTER | ASKED, "test_macro_f1", "macro F1 %",
     "test macro F1", "mean over the classes of F1 on test samples"},
    {OF(VALIDATION, f1), CLASSES, NO_TEST, ROWS | SHARE | MORE_IS_BETTER | ASKED, "best_val_macro_f1", "val macro F1 %",
     "validation macro F1", "mean over the classes of F1 on validation samples"},
    {OF(TEST, auc), CLASSES, WITH_TEST, ROWS | SHARE | MORE_IS_BETTER | ASKED, "test_auc", "AUC %", "test AUC",
     "area under the ROC curve of the second of two classes, on test samples"},
    {OF(VALIDATION, auc), CLASSES, NO_TEST, ROWS | SHARE | MORE_IS_BETTER | ASKED, "best_val_auc", "val AUC %",
     "validation AUC", "area under the ROC curve of the second of two classes, on validation samples"},
};

/* True if a list, comma-separated, has the name. */
static bool is_in(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = names; at && *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] != '\0'))
        if (strcspn(at, ",") == length && strncmp(at, name, length) == 0)
            return true;
    return false;
}

bool runlog_check_measures(const char *names, tg_error *error)
{
    for (const char *at = names; at && *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] != '\0')) {
        const size_t length = strcspn(at, ",");
        bool known = false;
        for (const struct kind *k = kinds; k < kinds + sizeof kinds / sizeof *kinds; k++)
            known |= strlen(k->name) == length && strncmp(k->name, at, length) == 0;
        if (known)
            continue;
        char all[512] = "";
        for (const struct kind *k = kinds; k < kinds + sizeof kinds / sizeof *kinds; k++)
            if (!is_in(all, k->name))
                snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", *all ? "," : "", k->name);
        return tg_fail(error, "--measures: '%.*s' is none of %s", (int)length, at, all);
    }
    return true;
}

static double figure_in(const runlog_run *run, const struct kind *k, const runlog_measures *of)
{
    return run->diverged ? NAN : *(const double *)((const char *)of + k->offset);
}

static double figure_on(const runlog_run *run, const struct kind *k, runlog_split split)
{
    return figure_in(run, k, &run->of[split]);
}

static double figure_of(const runlog_run *run, const struct kind *k)
{
    return figure_on(run, k, k->split);
}

/* What a measure is for, if the data is something else; NULL if there is the measure. */
static const char *misses(const runlog_about *about, const struct kind *k)
{
    const bool rows = about->of == RUNLOG_ROWS_OF_TABLE;
    switch (k->offset) {
    case offsetof(runlog_measures, rmse):
    case offsetof(runlog_measures, mae):
        return rows && about->targets == 1 ? NULL : "one target that is a number";
    case offsetof(runlog_measures, r2):
        return rows && about->targets > 0 ? NULL : "targets that are numbers";
    case offsetof(runlog_measures, auc):
        return rows && about->classes == 2 ? NULL : "two classes";
    case offsetof(runlog_measures, calibration):
    case offsetof(runlog_measures, balanced):
    case offsetof(runlog_measures, f1):
        return rows && about->classes > 0 ? NULL : "classes";
    case offsetof(runlog_measures, accuracy):
        return about->of == RUNLOG_TEXT || about->classes > 0 ? NULL : "classes";
    default:
        return about->of == RUNLOG_TEXT && k->split == RUNLOG_TRAIN ? "rows, and a text has none" : NULL;
    }
}

bool runlog_fit_measures(const runlog_about *about, tg_error *error)
{
    for (const struct kind *k = kinds; k < kinds + sizeof kinds / sizeof *kinds; k++)
        if (is_in(about->measures, k->name) && misses(about, k))
            return tg_fail(error, "--measures: %s is for %s", k->name, misses(about, k));
    return true;
}

static bool has_classes(const runlog *log)
{
    return log->about.classes > 0 || log->has_accuracy;
}

/* True if the data has the measure; of runs of unknown data, if any run has the number. */
static bool is_known(const runlog *log, const struct kind *k)
{
    if (log->about.of != RUNLOG_ANYTHING)
        return !misses(&log->about, k);
    bool any = false, known = false;
    for (int i = 0; i < log->count; i++) {
        any |= log->runs[i].finished && !log->runs[i].diverged;
        known |= !isnan(figure_of(&log->runs[i], k));
    }
    return known || !any;
}

static bool is_shown(const runlog *log, const struct kind *k)
{
    return log->about.measures ? is_in(log->about.measures, k->name) : !(k->flags & ASKED);
}

static int list_measures(const runlog *log, comparison_measure measures[], const struct kind *of[])
{
    const int task = has_classes(log) ? CLASSES : NUMBERS, with = log->has_test ? WITH_TEST : NO_TEST;
    int count = 0;
    bool decided = false; /* a measure before decides which run is better */
    for (const struct kind *k = kinds; k < kinds + sizeof kinds / sizeof *kinds; k++) {
        if ((k->task != ANY && k->task != task) || (k->with != ANY && k->with != with) ||
            ((k->task != CLASSES || k->flags & ASKED) && !is_known(log, k)))
            continue;
        of[count] = k;
        measures[count++] = (comparison_measure){.name = k->name,
                                                 .title = is_shown(log, k) ? k->title : NULL,
                                                 .words = k->words,
                                                 .meaning = k->meaning,
                                                 .share = k->flags & SHARE,
                                                 .more_is_better = k->flags & MORE_IS_BETTER,
                                                 .judged = k->flags & JUDGED ||
                                                           (k->flags & ROWS && log->about.measures && is_shown(log, k)),
                                                 .paired = k->flags & (JUDGED | ROWS),
                                                 .influence = k->flags & ROWS,
                                                 .spare = decided && !log->about.measures};
        decided |= k->flags & JUDGED;
    }
    return count;
}

static bool still_falls(const runlog_run *run)
{
    double *losses = memory_checked(calloc((size_t)run->count + 1, sizeof *losses));
    for (int i = 0; i < run->count; i++)
        losses[i] = run->epochs[i].val_loss;
    const bool falls = verdict_still_falls(losses, run->count);
    free(losses);
    return falls;
}

/* Jobs that run at the same time share the processor's caches and power, so their times mean little. */
static bool is_timed(const runlog *log)
{
    const json_t *jobs = json_object_get(log->options, "jobs");
    return !jobs || json_integer_value(jobs) == 1;
}

/* Test samples of the first run that counted them. */
static int test_samples(const runlog *log)
{
    double samples = 0;
    for (int i = 0; i < log->count && samples == 0 && log->has_test; i++)
        for (size_t k = 0; k < log->runs[i].series[RUNLOG_CONFUSION].count; k++)
            samples += log->runs[i].series[RUNLOG_CONFUSION].numbers[k];
    return (int)samples;
}

/* The number of the class that a run predicts for all its test rows, from 1; 0: it predicts several, or none is known. */
static int only_answer(const runlog *log, const runlog_run *run)
{
    const size_t classes = log->about.classes;
    const double *counts = run->series[RUNLOG_CONFUSION].numbers;
    int only = 0, answers = 0;
    if (run->diverged || classes < 2 || run->series[RUNLOG_CONFUSION].count != classes * classes)
        return 0;
    for (size_t k = 0; k < classes; k++) {
        double rows = 0;
        for (size_t i = 0; i < classes; i++)
            rows += counts[i * classes + k];
        only = rows > 0 ? (int)k + 1 : only;
        answers += rows > 0;
    }
    return answers == 1 ? only : 0;
}

/* Test rows of runs: their numbers, losses and right answers. */
typedef struct row_memory {
    double *values;
    uint32_t *rows;
} row_memory;

static size_t rows_of(const runlog_run *run)
{
    return run->series[RUNLOG_ROWS].count / RUNLOG_ROW;
}

/* Memory for the runs and, behind them, for their rows: one block, so that freeing the runs frees all. */
static row_memory make_room(const runlog *log, comparison *c)
{
    const size_t runs = (size_t)log->count + 1;
    size_t rows = 0;
    for (int i = 0; i < log->count; i++)
        rows += rows_of(&log->runs[i]);
    c->runs = memory_checked(
        calloc(1, runs * sizeof *c->runs + rows * ((RUNLOG_ROW - 1) * sizeof(double) + sizeof(uint32_t))));
    double *values = (double *)(c->runs + runs);
    return (row_memory){values, (uint32_t *)(values + (RUNLOG_ROW - 1) * rows)};
}

/* The measures whose values a row of RUNLOG_ROWS has, behind its number. */
static const size_t row_measures[RUNLOG_ROW_MEASURES] = {
    offsetof(runlog_measures, loss), offsetof(runlog_measures, accuracy), offsetof(runlog_measures, balanced),
    offsetof(runlog_measures, f1),   offsetof(runlog_measures, auc),      offsetof(runlog_measures, r2),
    offsetof(runlog_measures, rmse), offsetof(runlog_measures, mae),      offsetof(runlog_measures, calibration)};

/* Hands the values of rows to the measures of the split that they are of. */
static void add_rows(const runlog *log, const runlog_run *run, const struct kind *const of[], comparison_run *to,
                     int measures, row_memory *m)
{
    const double *from = run->series[RUNLOG_ROWS].numbers;
    const size_t count = to->row_count = rows_of(run);
    to->rows = m->rows;
    for (size_t i = 0; i < count; i++)
        m->rows[i] = (uint32_t)from[RUNLOG_ROW * i];
    for (size_t v = 0; v < RUNLOG_ROW - 1; v++) {
        double *const values = m->values + v * count;
        for (size_t i = 0; i < count; i++)
            values[i] = from[RUNLOG_ROW * i + 1 + v];
        for (int k = 0; k < measures && count > 0; k++)
            if (of[k]->split == (log->has_test ? RUNLOG_TEST : RUNLOG_VALIDATION) && !isnan(values[0]) &&
                of[k]->offset == row_measures[v % RUNLOG_ROW_MEASURES])
                (v < RUNLOG_ROW_MEASURES ? to->row_values : to->constant.row_values)[k] = values;
    }
    m->values += (RUNLOG_ROW - 1) * count;
    m->rows += count;
}

void runlog_comparison(const runlog *log, comparison *c)
{
    const struct kind *of[COMPARISON_MEASURES];
    *c = (comparison){.group = "activation",
                      .note = log->about.note,
                      .remedy = log->about.remedy,
                      .run_count = log->count,
                      .test_samples = test_samples(log),
                      .class_names = log->about.class_names,
                      .margin = log->about.margin,
                      .tests_margin = log->about.margin > 0,
                      .redrawn = log->about.redrawn,
                      .validates = log->about.validates && log->has_test,
                      .same_folds = log->about.same_folds};
    row_memory rows = make_room(log, c);
    c->measure_count = list_measures(log, c->measures, of);
    for (int i = 0; i < log->count; i++) {
        const runlog_run *run = &log->runs[i];
        const runlog_epoch *last = run->count ? &run->epochs[run->count - 1] : NULL;
        const bool timed = last && last->step > 0 && is_timed(log);
        c->runs[i] = (comparison_run){.group = runlog_activation(log, i),
                                      .seed = run->seed,
                                      .fold = run->fold,
                                      .finished = run->finished,
                                      .parameters = run->parameters,
                                      .step_seconds = timed ? last->seconds / (double)last->step : NAN};
        for (int m = 0; m < c->measure_count; m++) {
            c->runs[i].values[m] = figure_of(run, of[m]);
            c->runs[i].validation[m] = figure_on(run, of[m], RUNLOG_VALIDATION);
            c->runs[i].constant.values[m] = figure_in(run, of[m], &run->constant[of[m]->split]);
            c->runs[i].constant.validation[m] = figure_in(run, of[m], &run->constant[RUNLOG_VALIDATION]);
        }
        c->runs[i].only_answer = only_answer(log, run);
        c->has_constant |= !isnan(run->constant[RUNLOG_VALIDATION].loss) || !isnan(run->constant[RUNLOG_TEST].loss);
        add_rows(log, run, of, &c->runs[i], c->measure_count, &rows);
        const bool falls = run->finished && !run->diverged && still_falls(run);
        c->still_falling += falls;
        c->epochs = falls && run->count > c->epochs ? run->count : c->epochs;
    }
}

void runlog_write_summary(const runlog *log, FILE *to)
{
    comparison c;
    runlog_comparison(log, &c);
    comparison_write_summary(&c, to);
    free(c.runs);
}

void runlog_write_pairs(const runlog *log, FILE *to)
{
    comparison c;
    runlog_comparison(log, &c);
    comparison_write_pairs(&c, to);
    free(c.runs);
}

/* ---- output ---- */

static void print_results(const runlog *log, const char *format, FILE *out)
{
    comparison c;
    runlog_comparison(log, &c);
    const char *note = log->note ? log->note : log->about.unsearched;
    if (note)
        table_print_sentence(note, false, format, out);
    comparison_print_results(&c, format, out);
    free(c.runs);
}

static bool same_points(const runlog *a, const runlog *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = a->runs[i].point == b->runs[i].point;
    return same;
}

void runlog_print_results(const runlog *log, const char *format, FILE *out)
{
    if (!runlog_is_search(log)) {
        print_results(log, format, out);
        return;
    }
    runlog *best = runlog_at_best(log, false), *common = runlog_at_best(log, true);
    char *hint = log->about.tried ? NULL : runlog_edge_hint(log);
    if (hint && hint[0])
        table_print_sentence(hint, true, format, out);
    print_results(best, format, out);
    if (!log->about.tried && !same_points(best, common)) {
        fputs("\n", out);
        print_results(common, format, out);
    }
    runlog_free(best);
    runlog_free(common);
    free(hint);
}

void runlog_print_definitions(const runlog *log, const char *format, FILE *out)
{
    comparison c;
    runlog *best = runlog_is_search(log) ? runlog_at_best(log, false) : NULL;
    runlog_comparison(best ? best : log, &c);
    comparison_print_definitions(&c, format, out);
    free(c.runs);
    if (best)
        runlog_free(best);
}

void runlog_print_table_as(const runlog *log, const char *format, FILE *out)
{
    runlog_print_results(log, format, out);
    runlog_print_definitions(log, format, out);
}
