/* Makes a comparison of the activations of a run log. */
#include "examples/programs/data/words.h"
#include "examples/programs/report/runlog_internal.h"
#include "examples/programs/report/table.h"
#include "examples/programs/report/verdict.h"

enum { ANY, CLASSES, NUMBERS, PIXELS, WITH_TEST, NO_TEST }; /* conditions for a measure */
/* ASKED: shown only if --measures names it, and judged then if there are values of rows; ROWS: a mean of them that no
 * single row has */
enum { SHARE = 1, MORE_IS_BETTER = 2, JUDGED = 4, ASKED = 8, ROWS = 16 };

#define OF(split, measure) RUNLOG_##split, RUNLOG_MEASURE_##measure

/* The measures in the order of the table: name, title, words, meaning. */
static const struct kind {
    runlog_split split;
    int measure;
    int task, with, flags;
    const char *name, *title, *words, *meaning;
} kinds[] = {
    {OF(TEST, accuracy), CLASSES, WITH_TEST, SHARE | MORE_IS_BETTER | JUDGED, "test_accuracy", "test acc %",
     "test accuracy", "share of test samples that are classified correctly, by the net of the best epoch"},
    {OF(VALIDATION, accuracy), CLASSES, WITH_TEST, SHARE | MORE_IS_BETTER | ASKED, "best_val_accuracy", "val acc %",
     NULL, "validation accuracy of the net of the best epoch"},
    {OF(VALIDATION, accuracy), CLASSES, NO_TEST, SHARE | MORE_IS_BETTER | JUDGED, "best_val_accuracy", "val acc %",
     "validation accuracy",
     "validation accuracy of the net of the best epoch, which the same samples chose: a little too good"},
    {OF(TEST, loss), CLASSES, WITH_TEST, JUDGED, "test_loss", "test loss", "test loss",
     "mean cross-entropy on test samples, of the net of the best epoch"},
    {OF(TEST, loss), NUMBERS, WITH_TEST, JUDGED, "test_loss", "test loss", "test loss",
     "mean squared error of targets standardised by the training split, by the net of the best epoch"},
    {OF(TEST, loss), PIXELS, WITH_TEST, JUDGED, "test_loss", "test loss", "test loss",
     "mean squared error of pixels from 0 to 1, by the net of the best epoch"},
    {OF(VALIDATION, loss), ANY, WITH_TEST, ASKED, "best_val_loss", "val loss", NULL,
     "validation loss of the net of the best epoch"},
    {OF(VALIDATION, loss), CLASSES, NO_TEST, JUDGED, "best_val_loss", "val loss", "validation loss",
     "validation loss (cross-entropy) of the net of the best epoch, which the same samples chose: a little too good"},
    {OF(VALIDATION, loss), NUMBERS, NO_TEST, JUDGED, "best_val_loss", "val loss", "validation loss",
     "validation loss of the net of the best epoch, which the same samples chose: a little too good; mean squared "
     "error of targets standardised by the training split"},
    {OF(VALIDATION, loss), PIXELS, NO_TEST, JUDGED, "best_val_loss", "val loss", "validation loss",
     "validation loss of the net of the best epoch, which the same samples chose: a little too good; mean squared "
     "error of pixels from 0 to 1"},
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
            if (!list_has(all, k->name))
                text_add(all, sizeof all, "%s%s", *all ? "," : "", k->name);
        return tg_fail(error, "--measures: '%.*s' is none of %s", (int)length, at, all);
    }
    return true;
}

const char *runlog_measure_words(const char *name)
{
    for (const struct kind *k = kinds; k < kinds + sizeof kinds / sizeof *kinds; k++)
        if (k->words && strcmp(k->name, name) == 0)
            return k->words;
    return name;
}

/* What a measure is for, if the data is something else; NULL if there is the measure. */
static const char *misses(const runlog_about *about, const struct kind *k)
{
    if (k->split == RUNLOG_TRAIN && !about->measured[RUNLOG_TRAIN])
        return "rows, and a text has none";
    if (runlog_has_measure(about, k->measure))
        return NULL;
    switch (k->measure) {
    case RUNLOG_MEASURE_rmse:
    case RUNLOG_MEASURE_mae:
        return "one target that is a number";
    case RUNLOG_MEASURE_r2:
        return "targets that are numbers";
    case RUNLOG_MEASURE_auc:
        return "two classes";
    default:
        return "classes";
    }
}

bool runlog_fit_measures(const runlog_about *about, tg_error *error)
{
    for (const struct kind *k = kinds; k < kinds + sizeof kinds / sizeof *kinds; k++)
        if (list_has(about->measures, k->name) && misses(about, k))
            return tg_fail(error, "--measures: %s is for %s", k->name, misses(about, k));
    return true;
}

/* What is predicted; of runs of unknown data, by their curves. */
static int task_of(const runlog *log)
{
    bool classes = log->about.compared.classes > 0 || log->about.of == RUNLOG_TEXT || log->about.of == RUNLOG_PAIRS;
    for (int i = 0; i < log->count && log->about.of == RUNLOG_ANYTHING; i++)
        for (int e = 0; e < log->runs[i].count && !classes; e++)
            classes = !isnan(log->runs[i].epoch[e].val_accuracy);
    return log->about.of == RUNLOG_COPIES ? PIXELS : classes ? CLASSES : NUMBERS;
}

/* True if the data has the measure; of runs of unknown data, if any run has the number. */
static bool is_known(const runlog *log, const struct kind *k)
{
    if (log->about.of != RUNLOG_ANYTHING)
        return !misses(&log->about, k);
    bool any = false, known = false;
    for (int i = 0; i < log->count; i++) {
        any |= log->runs[i].finished && !log->runs[i].diverged;
        known |= !isnan(log->runs[i].net.of[k->split].all[k->measure]);
    }
    return known || !any;
}

static bool is_shown(const runlog *log, const struct kind *k)
{
    return log->about.measures ? list_has(log->about.measures, k->name) : !(k->flags & ASKED);
}

static int list_measures(const runlog *log, comparison_measure measures[])
{
    const int task = task_of(log), with = runlog_has_test(log) ? WITH_TEST : NO_TEST;
    int count = 0;
    bool decided = false; /* a measure before decides which run is better */
    for (const struct kind *k = kinds; k < kinds + sizeof kinds / sizeof *kinds; k++) {
        if ((k->task != ANY && k->task != task) || (k->with != ANY && k->with != with) ||
            ((k->task != CLASSES || k->flags & ASKED) && !is_known(log, k)))
            continue;
        measures[count++] = (comparison_measure){
            .value = k->split * RUNLOG_MEASURES + k->measure,
            .without_rows = k->split != (runlog_has_test(log) ? RUNLOG_TEST : RUNLOG_VALIDATION),
            .name = k->name,
            .title = is_shown(log, k) ? k->title : NULL,
            .words = k->words,
            .meaning = k->meaning,
            .share = k->flags & SHARE,
            .more_is_better = k->flags & MORE_IS_BETTER,
            .judged = k->flags & JUDGED || (k->flags & ROWS && log->about.measures && is_shown(log, k)),
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
        losses[i] = run->epoch[i].val_loss;
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
    for (int i = 0; i < log->count && runlog_has_test(log); i++)
        if (log->runs[i].listed_rows > 0)
            return (int)log->runs[i].listed_rows;
    return 0;
}

/* What a constant prediction predicts, for all rows alike. */
static const char *constant_words(const runlog *log)
{
    if (log->about.of == RUNLOG_TEXT || log->about.of == RUNLOG_PAIRS)
        return "predicts characters by their frequencies in the training split";
    return log->about.compared.class_names
               ? "predicts the shares of the classes in the training split, and the largest class"
               : "predicts the mean of the training split";
}

void runlog_comparison(const runlog *log, comparison *c)
{
    *c = (comparison){.group = "activation",
                      .about = log->about.compared,
                      .runs = log->runs,
                      .constant = constant_words(log),
                      .run_count = log->count,
                      .timed = is_timed(log),
                      .test_samples = test_samples(log)};
    c->about.validates &= runlog_has_test(log);
    c->measure_count = list_measures(log, c->measures);
    for (const runlog_run *run = log->runs; run < log->runs + log->count; run++) {
        const bool falls = run->finished && !run->diverged && still_falls(run);
        c->has_constant |=
            !isnan(run->constant.of[RUNLOG_VALIDATION].loss) || !isnan(run->constant.of[RUNLOG_TEST].loss);
        c->still_falling += falls;
        c->epochs = falls && run->count > c->epochs ? run->count : c->epochs;
    }
}

void runlog_write_summary(const runlog *log, FILE *to)
{
    comparison c;
    runlog_comparison(log, &c);
    comparison_write_summary(&c, to);
}

void runlog_write_pairs(const runlog *log, FILE *to)
{
    comparison c;
    runlog_comparison(log, &c);
    comparison_write_pairs(&c, to);
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
}

static bool same_points(const runlog *a, const runlog *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = a->runs[i].point == b->runs[i].point;
    return same;
}

void runlog_print_best(const runlog *log, const char *format, FILE *out)
{
    runlog *best = runlog_is_search(log) ? runlog_at_best(log, false) : NULL;
    print_results(best ? best : log, format, out);
    if (best)
        runlog_free(best);
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
    if (best)
        runlog_free(best);
}

void runlog_print_table_as(const runlog *log, const char *format, FILE *out)
{
    runlog_print_results(log, format, out);
    runlog_print_definitions(log, format, out);
}
