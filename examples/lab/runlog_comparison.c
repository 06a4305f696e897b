/* A run log as a comparison of its activations. */
#include "examples/lab/runlog_internal.h"
#include "examples/report/comparison.h"
#include "examples/report/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const runlog_epoch *runlog_best_epoch(const runlog_run *run)
{
    const runlog_epoch *best = NULL;
    for (int i = 0; i < run->count; i++)
        if (!isnan(run->epochs[i].val_loss) && (!best || run->epochs[i].val_loss < best->val_loss))
            best = &run->epochs[i];
    return best ? best : run->count ? &run->epochs[run->count - 1] : NULL;
}

/* What a measure is of. */
typedef enum {
    FINAL_LOSS,
    FINAL_ACCURACY,
    BEST_LOSS,
    BEST_ACCURACY,
    LOSS,
    ACCURACY,
    CALIBRATION,
    RMSE,
    MAE,
    R2
} figure;

static double figure_of(const runlog_run *run, figure which)
{
    const runlog_epoch *best = runlog_best_epoch(run), *last = run->count ? &run->epochs[run->count - 1] : NULL;
    if (!best)
        return NAN;
    const double figures[] = {[FINAL_LOSS] = last->val_loss,
                              [FINAL_ACCURACY] = last->val_accuracy,
                              [BEST_LOSS] = best->val_loss,
                              [BEST_ACCURACY] = best->val_accuracy,
                              [LOSS] = best->test.loss,
                              [ACCURACY] = best->test.accuracy,
                              [CALIBRATION] = best->test.calibration,
                              [RMSE] = best->test.rmse,
                              [MAE] = best->test.mae,
                              [R2] = best->test.r2};
    return figures[which];
}

/* The measures in the order of the table, and what a comparison must have for one to exist. */
static const struct kind {
    figure which;
    enum { ANY_TASK, CLASSES, NUMBERS } task;
    enum { ANY_SPLIT, TEST, NO_TEST } split;
    comparison_measure measure;
} kinds[] = {
    {ACCURACY,
     CLASSES,
     TEST,
     {.name = "test_accuracy",
      .title = "test acc %",
      .words = "test accuracy",
      .share = true,
      .more_is_better = true,
      .judged = true,
      .meaning = "share of test samples that are classified correctly, by the net of the epoch with the lowest "
                 "validation loss"}},
    {FINAL_ACCURACY,
     CLASSES,
     NO_TEST,
     {.name = "final_val_accuracy",
      .title = "final acc %",
      .words = "final validation accuracy",
      .share = true,
      .more_is_better = true,
      .judged = true,
      .meaning = "validation accuracy after the last epoch"}},
    {FINAL_ACCURACY, CLASSES, TEST, {.name = "final_val_accuracy", .share = true, .more_is_better = true}},
    {BEST_ACCURACY,
     CLASSES,
     ANY_SPLIT,
     {.name = "best_val_accuracy",
      .title = "val acc %",
      .share = true,
      .more_is_better = true,
      .meaning = "validation accuracy at the epoch with the lowest validation loss"}},
    {LOSS,
     CLASSES,
     TEST,
     {.name = "test_loss",
      .title = "test loss",
      .words = "test loss",
      .judged = true,
      .meaning = "mean cross-entropy on test samples, of the same net"}},
    {LOSS,
     NUMBERS,
     TEST,
     {.name = "test_loss",
      .title = "test std. MSE",
      .words = "test loss",
      .judged = true,
      .meaning = "mean squared error of targets standardised by the training split, by the net of the epoch with the "
                 "lowest validation loss"}},
    {FINAL_LOSS,
     CLASSES,
     NO_TEST,
     {.name = "final_val_loss",
      .title = "final loss",
      .words = "final validation loss",
      .judged = true,
      .meaning = "validation loss (cross-entropy) after the last epoch"}},
    {FINAL_LOSS,
     NUMBERS,
     NO_TEST,
     {.name = "final_val_loss",
      .title = "final std. MSE",
      .words = "final validation loss",
      .judged = true,
      .meaning = "validation loss after the last epoch: mean squared error of targets standardised by the training "
                 "split"}},
    {FINAL_LOSS, ANY_TASK, TEST, {.name = "final_val_loss"}},
    {BEST_LOSS,
     CLASSES,
     ANY_SPLIT,
     {.name = "best_val_loss", .title = "val loss", .meaning = "lowest validation loss of all epochs"}},
    {BEST_LOSS,
     NUMBERS,
     ANY_SPLIT,
     {.name = "best_val_loss", .title = "val std. MSE", .meaning = "lowest validation loss of all epochs"}},
    {RMSE,
     NUMBERS,
     TEST,
     {.name = "test_rmse", .title = "RMSE", .meaning = "root of the mean squared error, in the unit of the target"}},
    {MAE, NUMBERS, TEST, {.name = "test_mae"}},
    {R2,
     NUMBERS,
     TEST,
     {.name = "test_r2",
      .title = "R²",
      .decimals = 3,
      .more_is_better = true,
      .meaning = "share of the targets' variance that is explained"}},
    {CALIBRATION,
     CLASSES,
     TEST,
     {.name = "test_calibration_error",
      .title = "ECE %",
      .share = true,
      .meaning = "expected calibration error, the mean distance of confidence from accuracy in 15 bins"}},
};

static int list_measures(const runlog *log, comparison_measure measures[], figure figures[])
{
    const int task = runlog_has_accuracy(log) ? CLASSES : NUMBERS, split = runlog_has_test(log) ? TEST : NO_TEST;
    int count = 0;
    for (const struct kind *k = kinds; k < kinds + sizeof kinds / sizeof *kinds; k++)
        if ((k->task == ANY_TASK || (int)k->task == task) && (k->split == ANY_SPLIT || (int)k->split == split)) {
            figures[count] = k->which;
            measures[count++] = k->measure;
        }
    return count;
}

static bool still_falls(const runlog_run *run)
{
    double *losses = calloc((size_t)run->count + 1, sizeof *losses);
    for (int i = 0; losses && i < run->count; i++)
        losses[i] = run->epochs[i].val_loss;
    const bool falls = losses && verdict_still_falls(losses, run->count);
    free(losses);
    return falls;
}

/* Jobs that run at the same time share the processor's caches and power: then times say little. */
static bool is_timed(const runlog *log)
{
    const json_t *jobs = json_object_get(log->options, "jobs");
    return !jobs || json_integer_value(jobs) == 1;
}

/* Test samples of the first run that has counted them. */
static int test_samples(const runlog *log)
{
    double samples = 0;
    for (int i = 0; i < log->count && samples == 0 && runlog_has_test(log); i++)
        for (size_t k = 0; k < log->runs[i].series[RUNLOG_CONFUSION].count; k++)
            samples += log->runs[i].series[RUNLOG_CONFUSION].numbers[k];
    return (int)samples;
}

static const char *remedy(const runlog *log)
{
    const char *norm = json_string_value(json_object_get(log->options, "norm"));
    return norm && strcmp(norm, "none") == 0 ? "a normalisation (--norm rms) or a lower learning rate (--lr)"
                                             : "a lower learning rate (--lr)";
}

bool runlog_comparison(const runlog *log, comparison *c)
{
    figure figures[COMPARISON_MEASURES];
    *c = (comparison){.group = "activation", .note = log->note, .remedy = remedy(log), .run_count = log->count};
    c->runs = calloc((size_t)log->count + 1, sizeof *c->runs);
    c->measure_count = list_measures(log, c->measures, figures);
    c->test_samples = test_samples(log);
    for (int i = 0; c->runs && i < log->count; i++) {
        const runlog_run *run = &log->runs[i];
        const runlog_epoch *last = run->count ? &run->epochs[run->count - 1] : NULL;
        const bool timed = last && last->step > 0 && is_timed(log);
        c->runs[i] = (comparison_run){.group = run->activation,
                                      .seed = run->seed,
                                      .fold = run->fold,
                                      .finished = run->finished,
                                      .parameters = run->parameters,
                                      .step_seconds = timed ? last->seconds / (double)last->step : NAN};
        for (int m = 0; m < c->measure_count; m++)
            c->runs[i].values[m] = figure_of(run, figures[m]);
        c->still_falling += run->finished && still_falls(run);
    }
    return c->runs != NULL;
}

bool runlog_write_summary(const runlog *log, FILE *to)
{
    comparison c;
    const bool written = runlog_comparison(log, &c) && comparison_write_summary(&c, to);
    free(c.runs);
    return written;
}

static void print_one(const runlog *log, const char *format, FILE *out)
{
    comparison c;
    if (runlog_comparison(log, &c))
        comparison_print(&c, format, out);
    free(c.runs);
}

void runlog_print_table_as(const runlog *log, const char *format, FILE *out)
{
    if (log && !runlog_is_search(log))
        print_one(log, format, out);
    for (int common = 0; common < 2 && log && runlog_is_search(log); common++) {
        runlog *best = runlog_at_best(log, common);
        fputs(common ? "\n" : "", out);
        if (best)
            print_one(best, format, out);
        runlog_free(best);
    }
}

void runlog_print_table(const runlog *log, FILE *out)
{
    runlog_print_table_as(log, "table", out);
}
