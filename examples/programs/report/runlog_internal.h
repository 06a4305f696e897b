/* The content of a runlog, and the summary from which its files and its table are made. */
#pragma once

#include "examples/programs/report/runlog.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/report/table.h"

/* For people: the activations that are best at the smallest or largest learning rate; empty if none is. To be freed. */
char *runlog_edge_hint(const runlog *log);

struct runlog {
    char *directory;
    runlog_run *runs; /* [count] */
    int count;
    texts activations, points; /* in the order in which they were added */
    bool borrows;              /* the data of the runs, and these texts, belong to another log */
    json_t *options;
    runlog_about about;
    char *note; /* the points of a search that this is about; NULL: all runs */
    tg_error unread;
};

/* True if any run has a test loss. */
bool runlog_has_test(const runlog *log);

/* True if the data has a measure, whatever numbers the runs have. */
bool runlog_has_measure(const runlog_about *about, int measure);

const char *runlog_point(const runlog *log, int run);

/* Makes a comparison whose groups are the activations; its runs are the log's. */
void runlog_comparison(const runlog *log, comparison *c);

/* The point at which an activation's validation loss is lowest, or that is best for all (-1). */
int runlog_best_point(const runlog *log, int activation);

/* The number of rows of each class with each prediction, over all finished runs of an activation; false if there are
 * none. */
bool runlog_confusion(const runlog *log, int activation, double counts[]);

/* True if any run has a series. */
bool runlog_has_series(const runlog *log, runlog_series kind);

/* Values of runs at a point of a curve: one for each seed, the mean over its folds, or for each fold (runlog_by_fold).
 *
 *     runlog_samples s = runlog_samples_new(log);
 *     runlog_sample(&s, run, loss);                // for each run
 *     runlog_write_band(to, &s, false);            // empties it
 *     runlog_samples_free(&s);
 */
typedef struct runlog_samples {
    bool by_fold;
    double *values; /* [count], sums over `runs` */
    uint64_t *units;
    int *runs;
    int count; /* units */
} runlog_samples;

runlog_samples runlog_samples_new(const runlog *log);
void runlog_sample(runlog_samples *s, const runlog_run *run, double value);
void runlog_samples_free(runlog_samples *s);

/* The columns mean, low and high. */
void runlog_write_band(FILE *to, runlog_samples *s, bool share);

/* Write the contents of the files. */
void runlog_write_summary(const runlog *log, FILE *to);
void runlog_write_runs(const runlog *log, FILE *to);
void runlog_write_pairs(const runlog *log, FILE *to);
void runlog_write_search(const runlog *log, FILE *to);

/* config.json of a runlog. */
void runlog_print_options(const void *log, FILE *to);

/* A field of a CSV file: ",0.0123" with nine significant digits, enough to restore every float. */
void runlog_number_field(FILE *to, double number);
