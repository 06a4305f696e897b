/* Groups of runs compared with the first group, seed by seed: means, intervals, differences, and how they are shown.
 *
 *     comparison c = {.group = "activation", .measure_count = 1, .runs = runs, .run_count = 20,
 *                     .measures = {{.name = "test_accuracy", .title = "test acc %", .words = "test accuracy",
 *                                   .share = true, .more_is_better = true, .judged = true}}};
 *     // runs: {.group = "relu", .seed = 1, .finished = true, .values = {0.97}}, ...
 *     comparison_print(&c, "table", stdout);      // the table, what it means, and a verdict for each difference
 *     comparison_write_summary(&c, file);         // everything, as CSV
 *
 * What is averaged is one value for each seed or, with folds, for each run. Where results depend on each other, as they
 * come from splits of one file, `overlap` corrects the intervals and tests: statistics.h.
 */
#ifndef REPORT_COMPARISON_H
#define REPORT_COMPARISON_H

#include "examples/report/statistics.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { COMPARISON_MEASURES = 16 };

typedef struct comparison_measure {
    const char *name;    /* in files: "test_accuracy" */
    const char *title;   /* over its column: "test acc %"; NULL: it is in the summary only */
    const char *words;   /* in sentences: "test accuracy" */
    const char *meaning; /* half a sentence that explains the column; NULL: none is needed */
    bool share;          /* between 0 and 1 */
    bool more_is_better;
    bool judged; /* differences have a column, a star where they are significant, and a sentence */
} comparison_measure;

typedef struct comparison_run {
    const char *group;
    uint64_t seed;
    int fold;
    bool finished;
    long parameters;                    /* 0: unknown */
    double step_seconds;                /* NaN: unknown */
    double values[COMPARISON_MEASURES]; /* [measure_count]; NaN where it diverged or has none */
} comparison_run;

typedef struct comparison {
    const char *group; /* what the groups are: "activation" */
    comparison_measure measures[COMPARISON_MEASURES];
    int measure_count;
    comparison_run *runs; /* [run_count] */
    int run_count;
    const char *note;   /* of where the numbers come from; may be NULL */
    const char *remedy; /* what helps against divergence; may be NULL */
    double chance;      /* the loss of guessing: of a judged measure that is no share; 0: unknown */
    int still_falling;  /* runs whose validation loss still fell at their end */
    int test_samples;   /* of a run; 0: unknown, or no accuracy */
    double overlap;  /* test samples / training samples, where each seed or fold draws both from the same file; or 0 */
    bool same_folds; /* all seeds have the same folds: one value for each fold, the mean over the seeds */
} comparison;

/* What the runs of a group come to. */
typedef struct comparison_result {
    statistics_estimate value;
    statistics_range range;         /* 95 % interval of the mean; within 0 and 1 for a share */
    statistics_estimate difference; /* to the first group; of count 0 for that itself */
    statistics_test test;           /* of that difference */
    double corrected;               /* its p-value, corrected; NaN where the measure is not judged */
} comparison_result;

typedef struct comparison_group {
    const char *name;
    int runs; /* finished ones */
    int unfinished;
    int pairs; /* seeds, or folds of the one seed, finished by this group and by the first */
    long parameters;
    double step_seconds; /* NaN: unknown */
    comparison_result of[COMPARISON_MEASURES];
} comparison_group;

/* In the order of their first runs; to be freed. NULL when memory runs out. */
comparison_group *comparison_groups(const comparison *c, int *count);

/* In a format of table.h, with notes and verdicts where it has them. False when memory runs out. */
bool comparison_print(const comparison *c, const char *format, FILE *out);

/* A row for each group: count, mean, deviation and 95 % interval of each measure, and the differences to the first
 * group, paired, with p-values: of the t test, the same corrected for the number of comparisons (Holm), and of the sign
 * test. False when memory runs out. */
bool comparison_write_summary(const comparison *c, FILE *to);

#endif
