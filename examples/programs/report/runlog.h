/* Collects the results of the runs of a comparison and writes them into a folder.
 *
 *     tg_error error;
 *     if (!runlog_check_directory("results", &error))               // before anything is trained
 *         return fprintf(stderr, "compare: --out: %s\n", error.text), 2;
 *     runlog *log = runlog_new("results");
 *     runlog_options(log, json_pack("{s:f}", "lr", 1e-3));            // for config.json
 *     int run = runlog_add_run(log, "gelu_exact", 1, 0, 118282);     // activation, seed, fold, parameters: 0, ...
 *     runlog_add_epoch(runlog_at(log, run), &(runlog_epoch){.epoch = 1, .step = 469, .train_loss = 0.31, ..., .best = 1});
 *     runlog_at(log, run)->net.of[RUNLOG_TEST] = (runlog_measures){.loss = 0.28, ...};      // of the best epoch's net
 *     runlog_finish_run(runlog_at(log, run), 0);
 *     if (!runlog_write(log, &error))
 *         return fprintf(stderr, "compare: %s\n", error.text), 1;
 *     runlog_print_table_as(log, "table", stdout);
 *     runlog_free(log);
 *
 * Files in the folder, each written under a temporary name and renamed when complete:
 *
 *     runs.csv       a row for each run: its options that vary, its best epoch, and the measures of that epoch's net
 *     curves.csv     a row for each run and epoch, in the order of the runs
 *     bands.csv      a row for each activation and epoch: means over the seeds and a band around them, for pictures.
 *                    The band is the 95 % interval of the mean; for two or three seeds, where that interval is too wide
 *                    to be useful, the least and the greatest value; empty for one. The column runs has their number.
 *                    A run that ended earlier than others (patience) keeps its last values
 *     summary.csv    a row for each activation: comparison_write_summary
 *     pairs.csv      a row for each pair of activations and each measure that decides: comparison_write_pairs
 *     step_bands.csv a row for each activation and step, or for several steps, so that there are about 500 rows:
 *                    training loss, and validation loss at the end of an epoch, as in bands.csv
 *     confusion.csv  a row for each activation and class: the weight of its samples with each prediction, over seeds
 *     noise.csv      a row for each activation and level of noise: loss and accuracy as in bands.csv
 *     surface.csv, points.csv
 *                    for two features: the class that the first run of each activation predicts at each point of a
 *                    grid, and its test samples
 *     search.csv     a row for each activation and point of a search: mean and 95 % interval of the best epoch's
 *                    validation loss
 *     config.json    the options
 *
 * A file that would be empty is not written. runlog_remove_report removes confusion.csv, of which a reader sees more in
 * a report. In a search, all files except runs.csv, curves.csv and search.csv are for each activation's best point.
 *
 * Averages are over one value for each seed, the mean over its folds, as folds of one seed share most of their training
 * rows. With one seed each fold counts as one value.
 *
 * Unfinished runs are in runs.csv and curves.csv with their epochs so far, and in no average; but if no run of an
 * activation has finished, bands.csv has its unfinished runs.
 */
#pragma once

#include "examples/programs/report/comparison.h"

#include <jansson.h>

typedef struct runlog runlog;

/* True if the files can be written into this folder or, if it does not exist, into the nearest existing parent. Nothing
 * is created; existing files are not touched. */
bool runlog_check_directory(const char *directory, tg_error *error);

/* The name of a file that runlog_write may write; NULL after the last. */
const char *runlog_file(int which);

/* Writes nothing yet. Copies its argument, like most functions below. */
runlog *runlog_new(const char *directory);
void runlog_free(runlog *log);

/* What is known of all runs together. What it points to lives as long as the log. */
typedef struct runlog_about {
    comparison_about compared;
    const char *unsearched; /* above the table: what the order may depend on and was not searched; may be NULL */
    const char *tried;      /* above the table: the points of a search that no option asks for, whose result is one
                             * table; else NULL */
    const char *wider;      /* the options of a search that tries more than these; NULL: none is advised */
    const char *measures;   /* names of the table's columns, comma-separated; NULL: those that decide, and R2 */
    bool searched;          /* the learning rate was, as far as the search goes */
    enum {
        RUNLOG_ANYTHING,
        RUNLOG_ROWS_OF_TABLE,
        RUNLOG_COPIES,
        RUNLOG_TEXT,
        RUNLOG_PAIRS
    } of;                         /* decides which measures there are */
    bool measured[RUNLOG_SPLITS]; /* the splits of which there are measures */
    size_t targets;               /* of a regression on rows */
    bool one_run; /* the folder is that of the only run, whose record has the curves: no curves.csv is written */
} runlog_about;
void runlog_describe(runlog *log, const runlog_about *about);

/* The content of config.json; takes over the caller's reference to the object. */
void runlog_options(runlog *log, json_t *options);

/* The number of an activation in the order of tables, which is that in which activations and runs are added. */
int runlog_add_activation(runlog *log, const char *name);

/* Adds a run, before or while others report, and returns its number, counted from 0; folds are
 * counted from 1, and 0 is none. */
int runlog_add_run(runlog *log, const char *activation, uint64_t seed, int fold, long parameters);

/* Sets a run's point of a search: the values of the searched settings as text ("lr 0.001"), and the first of them. */
void runlog_set_point(runlog *log, int run, const char *point, double number);

/* The record of a run, to be filled, until the next one is added. */
runlog_run *runlog_at(runlog *log, int run);

/* Some of the results could not be read: runlog_write fails with the first of these messages. */
void runlog_fail(runlog *log, const char *why);

/* Writes the files, making the folder if there is none. On failure, false and a message; an earlier file with the name
 * that failed stays. */
bool runlog_write(const runlog *log, tg_error *error);

/* Removes the report of an earlier call, whose numbers would be old, and the files that only a report is made of. */
void runlog_remove_report(const char *directory);

/* True if there are several points. */
bool runlog_is_search(const runlog *log);

/* True if averages are over folds, not over seeds: of one seed, or if all seeds have the same folds. */
bool runlog_by_fold(const runlog *log);

/* A log with the runs of one point for each activation: each activation's best point, or with `common` the point that
 * is best for all. Best means the lowest mean validation loss of the best epochs (for all: of its logarithm); a point
 * with an unfinished run is chosen only if there is no other. Its results begin with the points. Free it before `log`,
 * whose runs it uses. */
runlog *runlog_at_best(const runlog *log, bool common);

/* The first run, in the order in which they were added, at the best point of an activation. */
int runlog_best_run(const runlog *log, int activation);

/* The first run of the activation, at its best point, whose mean validation loss is lowest; -1 if all diverged or none
 * has finished its runs. Of activations that share it, the first; `shared` says so. */
int runlog_winner(const runlog *log, bool *shared);

/* Prints the comparison of the activations; for a search, that of runlog_at_best, and the common one if it differs. The
 * format is "table" (as many columns as fit into a terminal; elsewhere all), or with all columns "markdown", "latex"
 * (the rows of a tabular, and notes as comments), "csv" (without notes) or "html". */
void runlog_print_table_as(const runlog *log, const char *format, FILE *out);

/* Of a search, the comparison at each activation's best point alone. */
void runlog_print_best(const runlog *log, const char *format, FILE *out);

/* The same in two parts, for a report: what was found; and what its words mean. */
void runlog_print_results(const runlog *log, const char *format, FILE *out);
void runlog_print_definitions(const runlog *log, const char *format, FILE *out);

/* A measure's name in sentences: "test loss" of "test_loss". */
const char *runlog_measure_words(const char *name);

/* True if every name of a list of measures is one; NULL is. Otherwise false and one line with all names. */
bool runlog_check_measures(const char *names, tg_error *error);

/* The same of measures that the data does not have: AUC, unless there are two classes. */
bool runlog_fit_measures(const runlog_about *about, tg_error *error);
