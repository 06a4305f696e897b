/* Groups of runs compared seed by seed, each with each: means, intervals, differences, and their output.
 *
 *     comparison c = {.group = "activation", .measure_count = 1, .runs = runs, .run_count = 20,
 *                     .measures = {{.name = "test_accuracy", .title = "test acc %", .words = "test accuracy",
 *                                   .share = true, .more_is_better = true, .judged = true}}};
 *     // runs: {.group = "relu", .seed = 1, .finished = true, .net.values = {0.97}}, ...
 *     comparison_print(&c, "table", stdout);      // the answer, a picture of the differences, the table, the pairs
 *     comparison_write_summary(&c, file);         // everything, as CSV
 *
 * Averages are over one value for each seed or, with folds, for each run. Results from splits of one table depend on
 * each other: if `about.redrawn` is set and the runs have their test rows, intervals allow for that
 * (statistics_of_rows). */
#pragma once

#include "examples/programs/report/record.h"
#include "examples/programs/report/statistics.h"

enum { COMPARISON_MEASURES = 16 };
#define COMPARISON_MARGIN 0.01

typedef struct comparison_measure {
    int value;           /* its place among the values of a run */
    bool without_rows;   /* it is of another split than the rows of a run */
    const char *name;    /* in files: "test_accuracy" */
    const char *title;   /* heading of its column: "test acc %"; NULL: only in the summary */
    const char *words;   /* in sentences: "test accuracy" */
    const char *meaning; /* half a sentence that explains the column; NULL: no explanation */
    bool share;          /* between 0 and 1 */
    bool more_is_better;
    bool undirected; /* unknown whether more is better: no verdict, and `judged` is false */
    bool judged;     /* shows differences in a column, with a star if significant, and in sentences */
    bool paired;     /* in the list of pairs, with corrected p-values, as judged ones are */
    bool influence;  /* the values of rows are linearised: no single row has the measure */
    bool spare;      /* its columns are left out where a terminal is too narrow */
} comparison_measure;

/* What is known of all runs together. What it points to lives as long as the comparison. */
typedef struct comparison_about {
    const char *kind;   /* what the groups are, in the heading of their column; NULL: `group` of the comparison */
    const char *note;   /* below the table: the source of the numbers; may be NULL */
    const char *remedy; /* advice against divergence; may be NULL */
    /* Groups whose activation is not finite everywhere, which no remedy mends; NULL ends them; may be NULL. */
    const char *const *lost;
    char *const *class_names; /* [classes]; NULL: no classification */
    size_t classes;
    /* A difference that matters, as a share of the loss, or in accuracy: groups are tested to be equal within it. 0:
     * COMPARISON_MARGIN, and no such test. */
    double margin;
    size_t rows;     /* or groups, of the table; 0: there is none, or their number is unknown */
    bool redrawn;    /* seeds draw training and test rows from one table, */
    bool fixed_test; /* and test rows are the same in all */
    bool weighted;   /* rows weigh differently in the loss, and their values are moved by that */
    bool grouped;    /* splits do not divide groups of rows, which are the rows of runs: clusters */
    bool validates;  /* the runs have values of validation splits that are no larger than the test splits */
    bool same_folds; /* all seeds have the same folds: each fold counts as one value, its mean over the seeds */
    bool unwritten;  /* no folder gets the list of pairs */
} comparison_about;

typedef struct comparison {
    const char *group; /* kind of the groups: "activation" */
    comparison_measure measures[COMPARISON_MEASURES];
    int measure_count;
    const runlog_run *runs; /* [run_count] */
    int run_count;
    comparison_about about;
    bool timed;           /* times of the runs mean something */
    bool has_constant;    /* the runs know what a constant prediction gets, */
    const char *constant; /* and what it predicts: "the mean of the training split"; may be NULL */
    int still_falling;    /* number of runs whose validation loss was still falling at their end, */
    int epochs;           /* and the epochs of the longest of them */
    int test_samples;     /* number of test samples in a run; 0: unknown */
} comparison;

/* The value of a run; of a constant prediction on the same rows; and of its rows, NULL where they are unknown. */
static inline double comparison_value(const runlog_values *of, const comparison_measure *m)
{
    return of->values[m->value];
}
static inline const double *comparison_rows(const runlog_values *of, const comparison_measure *m)
{
    return m->without_rows ? NULL : of->rows[m->value % RUNLOG_MEASURES];
}

/* True if training makes the measure small, as the loss. */
static inline bool comparison_is_minimised(const comparison_measure *m)
{
    return !m->more_is_better && !m->undirected;
}

/* The summary of a group. */
typedef struct comparison_result {
    statistics_estimate value;
    statistics_range range;         /* 95 % interval of the mean, within what the measure can be */
    statistics_estimate difference; /* difference from the first group; count is 0 for that group itself */
    statistics_test test;           /* of that difference; p from `difference` */
    double corrected;               /* its p-value, corrected; NaN if the measure is not judged */
} comparison_result;

/* A group beside the constant prediction on the same rows: their difference, and its p-value, corrected by Holm among
 * the groups; NaN for fewer than two seeds or folds. */
typedef struct comparison_over {
    statistics_estimate constant; /* the constant prediction's own value */
    statistics_estimate difference;
    double corrected;
} comparison_over;

/* Two groups, a before b, and the difference of b less a, for a judged measure. */
typedef struct comparison_pair {
    int a, b;
    int pairs;    /* runs of the same seed, or of the same fold */
    int measured; /* of these, pairs in which both have the measure */
    statistics_estimate difference;
    statistics_test test;
    double corrected; /* the p-value, corrected by Holm among all pairs of the measure */
    double
        here_p; /* for other splits of the same rows: Student's t over the seeds, corrected; NaN: it is `corrected` */
    int half, rows; /* the fewest test rows that make half of the difference, of how many; 0: unknown */
    double equal_p; /* of the test that both are equal within the margin, likewise; NaN: not tested */
    struct comparison_heaviest {
        double share;
        uint32_t row;
    } heaviest[2]; /* the row with the largest share in the loss of a, and of b, over all seeds; 0: unknown */
    statistics_estimate rows_won; /* share of rows on which b is better, half of equal ones; count 0: unknown */
} comparison_pair;

typedef struct comparison_group {
    const char *name;
    int runs; /* finished ones */
    int unfinished;
    int pairs; /* number of seeds, or folds of the one seed, finished by this group and by the first */
    long parameters;
    double step_seconds; /* NaN: unknown */
    comparison_result of[COMPARISON_MEASURES];
    comparison_over over[COMPARISON_MEASURES]; /* if the comparison has_constant */
} comparison_group;

/* True if a group is significantly better than the constant prediction in a measure. Several seeds with one and the
 * same difference have no p-value, and the mean decides. */
bool comparison_beats(const comparison *c, const comparison_group *group, int measure);

/* The summaries of all groups in the order of their first runs; to be freed. */
comparison_group *comparison_groups(const comparison *c, int *count);

/* All pairs of groups for a judged measure, by a and then b, count (count - 1) / 2 of them; to be freed. */
comparison_pair *comparison_pairs(const comparison *c, const comparison_group *groups, int count, int measure);

/* Prints the comparison in a format of table.h: the answer, the differences with their intervals, the table, the pairs,
 * and hints; then definitions. CSV has the table only. The two parts can be printed apart; "methods" is the format of
 * definitions with the formula of each measure's intervals. */
void comparison_print(const comparison *c, const char *format, FILE *out);
void comparison_print_results(const comparison *c, const char *format, FILE *out);
void comparison_print_definitions(const comparison *c, const char *format, FILE *out);

/* A row for each group: count, mean, deviation and 95 % interval of each measure, and the differences to the first
 * group, paired, with p-values: of the t test, the same corrected by Holm among all pairs of the measure, and of the
 * sign test. */
bool comparison_write_summary(const void *comparison, FILE *to);

/* A row for each judged measure and pair of groups. */
bool comparison_write_pairs(const void *comparison, FILE *to);
