/* The runs of a study: grids of runs as data, which are all combinations of some options of `compare`, over rates and
 * seeds. Those without a record are trained, a few at once; the records of all are read.
 *
 *     static const study_grid depth = {.name = "depth", .data = STUDY_DIGITS,
 *                                      .fixed = "split=redrawn batch=64 epochs=84",
 *                                      .factors = {"activation=relu,gelu_exact", "hidden=64x2,64x4"},
 *                                      .rates = {1e-3, 3e-3}, .seeds = 5};
 *
 *     study_work work = {.c = &context};
 *     study_grids_add(&work, &depth, 1, &sources);   // depth-relu-hidden64x2-lr0.001-seed1 and so on: 40 runs
 *     study_outcome outcome = study_work_do(&work, stderr);
 *     study_cell gelu = study_cell_of(&work, "depth-gelu_exact-hidden64x4");
 *     double loss[STUDY_SEEDS];
 *     int seeds = study_cell_values(&gelu, gelu.best, "test_loss", loss);
 *     study_work_free(&work);
 *
 * runs.csv in the study's folder keeps what a report needs, and stays small enough for a repository: a row for each
 * complete run with its group (the cell and the rate), options, lr, seed, state, epochs, and the numbers of
 * study_record_result. `compare --runs` reads it.
 */
#ifndef STUDY_RUNS_H
#define STUDY_RUNS_H

#include "examples/programs/run/record.h"
#include "examples/programs/run/run.h"
#include "examples/programs/run/sweep.h"

#include <limits.h>
#include <stdio.h>

enum { STUDY_NAME = 120, STUDY_SEEDS = 32, GRID_FACTORS = 4, GRID_RATES = 8, GRID_EPOCHS = 8 };

/* The training data, in the folder of --data; the quick version has synthetic data instead. */
typedef enum study_source {
    STUDY_DIGITS, /* optdigits, a table of 8 x 8 pixels */
    STUDY_MNIST,
    STUDY_PLAYS,    /* Shakespeare's, the first text */
    STUDY_PERLDIAG, /* Perl's manual of diagnostics, which Debian's perl-modules has in /usr/share/perl */
    STUDY_SOURCES
} study_source;

typedef struct study_sources {
    bool is_loaded[STUDY_SOURCES];
    run_source source[STUDY_SOURCES];
} study_sources;

typedef struct study_settings {
    const char *out, *data;
    const char *only; /* shell pattern: trains only missing runs with a matching name, at least one; NULL: all */
    bool quick, report_only, no_plots;
    bool overwrite; /* retrain runs that have a record with other settings, instead of refusing */
    sweep sweep;
    int epochs;
    options_given given;
} study_settings;

typedef struct study_context {
    const study_settings *settings;
    const char *command;    /* that repeats it */
    char folder[PATH_MAX];  /* OUT/NAME, or OUT/NAME-quick */
    char records[PATH_MAX]; /* its records: FOLDER/runs */
} study_context;

/* `out` has at most STUDY_OUT letters, so that there is room for runs and their files. */
enum { STUDY_OUT = PATH_MAX - 4 * STUDY_NAME };
study_context study_context_of(const study_settings *settings, const char *name, const char *command);

/* ---- grids ---- */

/* The name of a cell has its grid and the values of its factors: words unchanged, numbers after the option's name. */
typedef struct study_grid {
    const char *name; /* prefix of the names of its cells; NULL: none */
    study_source data;
    const char *fixed, *quick;         /* options of all runs; options that the quick version adds or replaces */
    const char *factors[GRID_FACTORS]; /* "option=value,value"; a flag has the values 0 and 1 */
    double rates[GRID_RATES];          /* ended by 0 */
    int seeds;                         /* the quick version has two */
    int epochs[GRID_EPOCHS];           /* after which the losses are among the results */
    bool reconstructs;                 /* as in run_spec */
    bool keeps_model;                  /* saves last.safetensors, from which a longer run continues */
    /* Adds further measures of a finished run's network to its results; NULL: none. */
    void (*more)(trainer *finished, json_t *results);
} study_grid;

/* Loads what some grids train on. False, said, if that fails; to be freed also then. */
bool study_sources_load(study_sources *from, const study_context *c, const study_grid grids[], int count);
void study_sources_free(study_sources *from);

/* ---- runs ---- */

typedef struct study_record {
    int epochs;
    runlog_epoch *epoch; /* [epochs], the first at 0; NULL: only results are known */
    int diverged;        /* the epoch in which the loss became infinite or NaN, which ends a run; 0: none */
    bool complete;       /* has all its epochs, or diverged before */
    json_t *results;     /* numbers of the run: those of the end, and those that the epochs give; NULL: none */
} study_record;

typedef struct study_run {
    char name[STUDY_NAME]; /* of its folder: letters, digits, and - . _ */
    const char *cell;      /* the run's cell in its grid: its name without rate and seed */
    const char *options;   /* the grid's options, in one text */
    const study_grid *grid;
    const run_source *from; /* rows or a text, of the name spec.data, read once for all runs */
    run_spec spec;
    study_record record; /* empty, or read */
} study_run;

/* Common settings of studies' runs: Adam at a constant rate, without decay and clipping. */
run_spec study_spec(void);

/* Trains until spec.epochs are recorded in FOLDER/NAME; more epochs continue a run if its model was kept, and it has
 * the same numbers whether it was interrupted or not. With `overwrite`, results of other options there are removed;
 * otherwise they are an error. `link`, for progress, may be NULL. Divergence is a result, not a failure. False and one
 * line if the run cannot be made or written. */
bool study_run_train(const study_run *run, const char *folder, bool overwrite, jobs_link *link, tg_error *error);

/* True if its record in FOLDER/NAME is complete. */
bool study_run_is_complete(const study_run *run, const char *folder);

/* True if FOLDER/NAME contains another run, with one line that names the difference. */
bool study_record_is_foreign(const study_run *run, const char *folder, tg_error *error);

/* Reads FOLDER/NAME; an empty record if there is none of this run. False and one line if it cannot be read. */
bool study_record_read(study_record *record, const study_run *run, const char *folder, tg_error *error);
void study_record_free(study_record *record);

/* A number of the results; NaN where there is none. Those that the epochs give, where they are measured:
 *
 *     best_epoch, best_val_loss, best_val_accuracy, test_loss, test_accuracy
 *                     at the lowest validation loss or, without validation rows, after the last epoch
 *     epoch_2_loss    mean loss of the steps of the second epoch
 *     dead            share of the hidden units that are dead after the last epoch
 *     gap             validation less training loss after the last epoch
 *     rise            largest ratio of one epoch's validation loss to that before
 *     gradient_range  largest mean norm of an epoch's gradients over the least
 *     train_loss_10, val_loss_10, test_loss_10    after the epochs that the grid names
 */
double study_record_result(const study_record *record, const char *name);

/* ---- all runs ---- */

typedef struct study_work {
    const study_context *c;
    int count, pending_count;
    study_run *run;      /* [count], with records after study_work_do */
    study_run **pending; /* [pending_count]: that this process may train */
} study_work;

typedef struct study_outcome {
    int complete, failed; /* failed runs of work->count; each was reported */
    bool interrupted;
    int broken; /* nothing could be done: the exit status; `error` has the reason */
    tg_error error;
} study_outcome;

/* Adds the runs of some grids, all of the first seed first. False where an option is none, or memory runs out. */
bool study_grids_add(study_work *work, const study_grid grids[], int count, const study_sources *from);

/* Trains the missing runs, in the order in which they were added, and reads all records, of folders or, where there is
 * none, of the kept files, which it writes. Reports progress and failures on `out`. */
study_outcome study_work_do(study_work *work, FILE *out);
void study_work_free(study_work *work);

/* ---- cells ---- */

/* The runs of one combination. */
typedef struct study_cell {
    const study_work *work;
    const study_grid *grid;
    const char *name;
    int seeds, rates;
    bool whole;  /* all seeds are complete at all rates, and there are any */
    double best; /* of the rates with the most complete seeds that with the lowest validation loss; 0: none */
} study_cell;

/* The cell with this name; without seeds and rates if there is none. */
study_cell study_cell_of(const study_work *work, const char *name);

/* The record of a run of the cell; NULL if the run is not complete. */
const study_record *study_cell_record(const study_cell *cell, double rate, int seed);

/* A number of the results of each seed at a rate, NaN for a run that diverged or is not complete; returns the number of
 * seeds, from the first on, that are complete. */
double study_cell_value(const study_cell *cell, double rate, const char *name, int seed);
int study_cell_values(const study_cell *cell, double rate, const char *name, double values[STUDY_SEEDS]);

#endif
