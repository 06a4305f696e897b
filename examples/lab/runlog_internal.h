/* What a runlog holds, and the summary that its files and its table are made from. */
#ifndef LAB_RUNLOG_INTERNAL_H
#define LAB_RUNLOG_INTERNAL_H

#include "examples/lab/runlog.h"
#include "examples/lab/statistics.h"

typedef struct {
    char *activation;
    uint64_t seed;
    int fold;
    char *point;   /* of a search, in words; empty where there is none */
    double number; /* the first of its numbers */
    long parameters;
    bool finished;
    runlog_epoch *epochs; /* [count], room for [capacity] */
    int count, capacity;
    struct {
        double *numbers; /* [count], room for [capacity] */
        size_t count, capacity;
    } series[RUNLOG_SERIES];
} runlog_run;

struct runlog {
    char *directory;
    runlog_run *runs; /* [count], room for [capacity] */
    int count, capacity;
    json_t *options;
    char *note;
    char **class_names; /* [classes] */
    size_t classes;
    bool lost; /* memory ran out and something is missing */
};

/* The figures that are averaged over seeds. */
typedef enum {
    RUNLOG_FINAL_LOSS, /* of the validation part, after the last epoch */
    RUNLOG_FINAL_ACCURACY,
    RUNLOG_BEST_LOSS, /* of the validation part, at the best epoch */
    RUNLOG_BEST_ACCURACY,
    RUNLOG_TEST_LOSS, /* of the test part, at the best epoch */
    RUNLOG_TEST_ACCURACY,
    RUNLOG_TEST_CALIBRATION,
    RUNLOG_TEST_RMSE,
    RUNLOG_TEST_MAE,
    RUNLOG_TEST_R2,
    RUNLOG_METRICS
} runlog_metric;

typedef struct {
    const char *name;
    bool share; /* between 0 and 1: an accuracy */
    bool more_is_better;
} runlog_metric_kind;
extern const runlog_metric_kind runlog_metrics[RUNLOG_METRICS];

typedef struct {
    const char *activation;
    int runs; /* finished ones */
    int unfinished;
    int pairs; /* seeds, or folds of the one seed, finished by this activation and by the first */
    long parameters;
    double seconds_per_step; /* NaN without runs */
    statistics_estimate value[RUNLOG_METRICS];
    statistics_range range[RUNLOG_METRICS];         /* 95 % interval of the mean; within 0 and 1 for a share */
    statistics_estimate difference[RUNLOG_METRICS]; /* to the first activation; of count 0 for that itself */
    statistics_test test[RUNLOG_METRICS];           /* of that difference */
    double corrected[RUNLOG_METRICS]; /* its p-value, corrected; NaN where the metric is not among those judged */
} runlog_group;

/* The activations in the order of their first runs; to be freed. NULL when memory runs out. */
runlog_group *runlog_groups(const runlog *log, int *count);

/* Whether no run before this one has its activation. */
bool runlog_is_first_of_activation(const runlog *log, int run);

/* Whether all runs have one seed: then each fold is a value of its own. */
bool runlog_has_one_seed(const runlog *log);

/* Whether there are classes or any run has an accuracy; whether any has a test part. */
bool runlog_has_accuracy(const runlog *log);
bool runlog_has_test(const runlog *log);

/* The loss and the accuracy that differences are judged by: of the test part, or else of the validation part at the
 * last epoch. */
runlog_metric runlog_loss(const runlog *log);
runlog_metric runlog_accuracy(const runlog *log);

/* The epoch of the lowest validation loss; the last where none is a number; NULL without epochs. */
const runlog_epoch *runlog_best_epoch(const runlog_run *run);

/* The point where an activation's validation loss is lowest; `losses` has room for all runs. */
const char *runlog_best_point(const runlog *log, const char *activation, double losses[]);

/* How many rows of a class got which answer, over all finished runs of an activation; false where there is nothing of
 * that. */
bool runlog_confusion(const runlog *log, const char *activation, double counts[]);

/* Whether any run has a series. */
bool runlog_has_series(const runlog *log, runlog_series kind);

/* The columns mean, low and high of a curve's point, from the values of the seeds. */
void runlog_write_band(FILE *to, const double values[], int count, bool share);

/* Whether the bands of an activation count a run: a finished one, or any where none has finished. */
bool runlog_band_counts(const runlog *log, const runlog_run *run);

/* The files' contents. False when memory runs out. */
bool runlog_write_curves(const runlog *log, FILE *to);
bool runlog_write_bands(const runlog *log, FILE *to);
bool runlog_write_summary(const runlog *log, FILE *to);
bool runlog_write_steps(const runlog *log, FILE *to);
bool runlog_write_confusion(const runlog *log, FILE *to);
bool runlog_write_noise(const runlog *log, FILE *to);
bool runlog_write_surface(const runlog *log, FILE *to);
bool runlog_write_points(const runlog *log, FILE *to);
bool runlog_write_search(const runlog *log, FILE *to);

/* Fields of a CSV file: ",0.0123" with nine significant digits, enough to give back every float; "," and nothing for
 * what is not defined; a text, in quotes where it needs them. */
void runlog_number_field(FILE *to, double number);
void runlog_empty_field(FILE *to);
void runlog_text(FILE *to, const char *text);

#endif
