/* Results of other programs as runs to compare: CSV files of W&B, TensorBoard and users' own scripts.
 *
 *     runs_file from;
 *     if (!runs_read("results.csv", &(runs_wanted){0}, &from, &error))
 *         return fprintf(stderr, "compare: %s\n", error.text), 2;
 *     comparison_print(&from.c, "table", stdout);
 *     runs_free(&from);
 *
 * Three forms are recognised by their header:
 *
 *     group,seed,step,loss,accuracy       a row for each run, or for each step of a run; then that of the last step
 *                                         counts. The group is a column group, activation, model, method, config,
 *                                         name or run; or else the first column of words; or, of a log of steps, the
 *                                         file's name. The seed is a column seed, if any, or a column run of numbers
 *                                         beside words. Other words are the same in all rows of a run
 *     Step,relu-seed1 - loss,...          W&B's export of a chart: a column for each run and measure
 *     Wall time,Step,Value                TensorBoard's export of a curve: the file is called
 *                                         run-RUN-tag-MEASURE.csv
 *
 * Without a column for it, the seed is the number at the end of a run's name (relu-seed1, relu_1). Without that, runs
 * of a group are numbered in order. Groups, seeds and folds are texts. An empty cell means no value; NaN and inf mean
 * that the run diverged; another word among the numbers of a measure is an error with its line and column.
 */
#pragma once

#include "examples/programs/report/html.h"
#include "examples/programs/report/comparison.h"
#include "examples/programs/report/memory.h"

typedef struct runs_curve {
    double *pairs; /* [count, 2]: step and number, by step */
    size_t count;
    double last; /* the largest step */
} runs_curve;

typedef struct runs_file {
    comparison c;
    runlog_run *runs;        /* its runs; a measure's place among their values is its number */
    texts names;             /* to which the comparison points */
    texts seeds, folds;      /* those of a run are the numbers of these texts */
    runs_curve *curves;      /* [c.run_count, COMPARISON_MEASURES], if there are steps */
    bool steps, numbered;    /* there are steps; seeds only number the runs */
    const char *unused;      /* a column of words that is no key; NULL: none */
    const char *more, *less; /* runs_wanted's */
} runs_file;

/* Lists of columns, with commas between. */
typedef struct runs_wanted {
    const char *measures;    /* to compare; NULL: all columns of numbers except steps, seeds and times */
    const char *more, *less; /* of which more, or less, is better; NULL: by their names, see direction.h */
} runs_wanted;

/* Reads a CSV file, or all those of a folder in the order of their names. False and one line, and nothing to free, if
 * there is nothing to compare. */
bool runs_read(const char *path, const runs_wanted *wanted, runs_file *out, tg_error *error);
void runs_free(runs_file *from);

/* The curves of a measure for chart_write, to be freed. */
chart_line *runs_lines(const runs_file *from, int measure);
