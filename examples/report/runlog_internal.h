/* The content of a runlog, and the summary from which its files and its table are made. */
#ifndef REPORT_RUNLOG_INTERNAL_H
#define REPORT_RUNLOG_INTERNAL_H

#include "examples/report/runlog.h"
#include "examples/report/comparison.h"
#include "examples/report/table.h"

typedef struct runlog_numbers {
    double *numbers; /* [count], room for [capacity] */
    size_t count, capacity;
} runlog_numbers;

typedef struct {
    char *activation;
    uint64_t seed;
    int fold;
    char *point;   /* the point of a search as text; empty without a search */
    double number; /* the value of its first setting */
    long parameters;
    bool finished, diverged;
    runlog_epoch *epochs; /* [count], room for [capacity] */
    int count;
    size_t capacity;
    runlog_numbers series[RUNLOG_SERIES];
} runlog_run;

struct runlog {
    char *directory;
    runlog_run *runs; /* [count], room for [capacity] */
    int count;
    size_t capacity;
    bool borrows; /* the data of the runs belong to another log */
    json_t *options;
    runlog_about about;
    char *note; /* that of `about` where it is ours */
    bool lost;  /* memory ran out, so data is missing */
};

/* Makes a comparison whose groups are the activations; free its `runs`. False when memory runs out. */
bool runlog_comparison(const runlog *log, comparison *c);

/* True if no earlier run has its activation. */
bool runlog_is_first_of_activation(const runlog *log, int run);

/* True if there are classes or any run has an accuracy; true if any has a test split. */
bool runlog_has_accuracy(const runlog *log);
bool runlog_has_test(const runlog *log);

/* The epoch with the lowest validation loss; the last one if none is a number; NULL without epochs. */
const runlog_epoch *runlog_best_epoch(const runlog_run *run);

/* The point at which an activation's validation loss is lowest, or that is best for all (NULL); `losses` has room for
 * all runs. */
const char *runlog_best_point(const runlog *log, const char *activation, double losses[]);

/* The number of rows of each class with each prediction, over all finished runs of an activation; false if there are
 * none. */
bool runlog_confusion(const runlog *log, const char *activation, double counts[]);

/* True if any run has a series. */
bool runlog_has_series(const runlog *log, runlog_series kind);

/* The columns mean, low and high of a point of a curve, from the values of the seeds. */
void runlog_write_band(FILE *to, const double values[], int count, bool share);

/* Write the contents of the files. False when memory runs out. */
bool runlog_write_summary(const runlog *log, FILE *to);
bool runlog_write_search(const runlog *log, FILE *to);

/* config.json of a runlog. */
void runlog_print_options(const void *log, FILE *to);

/* A field of a CSV file: ",0.0123" with nine significant digits, enough to restore every float. */
void runlog_number_field(FILE *to, double number);

#endif
