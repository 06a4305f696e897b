/* Groups of runs compared with the first group, seed by seed: means, intervals, differences, and their output.
 *
 *     comparison c = {.group = "activation", .measure_count = 1, .runs = runs, .run_count = 20,
 *                     .measures = {{.name = "test_accuracy", .title = "test acc %", .words = "test accuracy",
 *                                   .share = true, .more_is_better = true, .judged = true}}};
 *     // runs: {.group = "relu", .seed = 1, .finished = true, .values = {0.97}}, ...
 *     comparison_print(&c, "table", stdout);      // the table, explanations, and a verdict for each difference
 *     comparison_write_summary(&c, file);         // everything, as CSV
 *
 * Averages are over one value for each seed or, with folds, for each run. Results from splits of one file depend on
 * each other; `overlap` corrects the intervals and tests for that (statistics.h). */
#ifndef REPORT_COMPARISON_H
#define REPORT_COMPARISON_H

#include "examples/programs/report/statistics.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { COMPARISON_MEASURES = 16 };

typedef struct comparison_measure {
    const char *name;    /* in files: "test_accuracy" */
    const char *title;   /* heading of its column: "test acc %"; NULL: only in the summary */
    const char *words;   /* in sentences: "test accuracy" */
    const char *meaning; /* half a sentence that explains the column; NULL: no explanation */
    bool share;          /* between 0 and 1 */
    bool more_is_better;
    bool judged; /* shows differences in a column, with a star if significant, and in a sentence */
} comparison_measure;

typedef struct comparison_run {
    const char *group;
    uint64_t seed;
    int fold;
    bool finished;
    long parameters;                    /* 0: unknown */
    double step_seconds;                /* NaN: unknown */
    double values[COMPARISON_MEASURES]; /* [measure_count]; NaN if it diverged or has no such value */
} comparison_run;

typedef struct comparison {
    const char *group; /* kind of the groups: "activation" */
    comparison_measure measures[COMPARISON_MEASURES];
    int measure_count;
    comparison_run *runs; /* [run_count] */
    int run_count;
    const char *note;   /* the source of the numbers; may be NULL */
    const char *remedy; /* advice against divergence; may be NULL */
    double chance;      /* the loss of guessing, for a judged measure that is not a share; 0: unknown */
    int still_falling;  /* number of runs whose validation loss was still falling at their end */
    int test_samples;   /* number of test samples in a run; 0: unknown, or no accuracy */
    double overlap;  /* test samples / training samples, if each seed or fold draws both from the same file; else 0 */
    bool same_folds; /* all seeds have the same folds: each fold counts as one value, its mean over the seeds */
} comparison;

/* The summary of a group. */
typedef struct comparison_result {
    statistics_estimate value;
    statistics_range range;         /* 95 % interval of the mean; within 0 and 1 for a share */
    statistics_estimate difference; /* difference from the first group; count is 0 for that group itself */
    statistics_test test;           /* of that difference */
    double corrected;               /* its p-value, corrected; NaN if the measure is not judged */
} comparison_result;

typedef struct comparison_group {
    const char *name;
    int runs; /* finished ones */
    int unfinished;
    int pairs; /* number of seeds, or folds of the one seed, finished by this group and by the first */
    long parameters;
    double step_seconds; /* NaN: unknown */
    comparison_result of[COMPARISON_MEASURES];
} comparison_group;

/* The summaries of all groups in the order of their first runs; to be freed. */
comparison_group *comparison_groups(const comparison *c, int *count);

/* Prints the comparison in a format of table.h, with notes and verdicts if the format has them. */
void comparison_print(const comparison *c, const char *format, FILE *out);

/* A row for each group: count, mean, deviation and 95 % interval of each measure, and the differences to the first
 * group, paired, with p-values: of the t test, the same corrected for the number of comparisons (Holm), and of the sign
 * test. */
void comparison_write_summary(const comparison *c, FILE *to);

#endif
