/* A training run: a specification and a folder. All programs use this trainer: train shows one run in detail, compare
 * has a grid of runs.
 *
 *     trainer r;
 *     run_setup setup = {.spec = spec, .from = &from, .folder = "results/iris/runs/relu-seed1"};
 *     if (!run_open(&r, &setup, &error))                  // continues from the folder's files
 *         ...
 *     if (run_train(&r, &error) && run_finished(&r))      // appends losses after each epoch
 *         run_conclude(&r, run_results, &error);   // measures the net of the best epoch, once
 *     run_close(&r);
 *
 * Files in the folder (record.h reads them): curves.csv, a line an epoch; steps.csv, losses of steps; best.safetensors
 * and last.safetensors, as tg_fit keeps them; once the run is concluded, result.json, with the measures of the weights
 * in best.safetensors, rows.csv, the loss of each test row, and grid.csv for a
 * picture of a plane. Until then pending.csv has losses that are not in steps.csv. A run that was killed continues from
 * last.safetensors, which is at most one epoch old, or two seconds if epochs are shorter. Later lines of the other
 * files are cut off. The run ends with the same numbers as one that was never killed.
 */
#pragma once

#include "examples/programs/report/events.h"
#include "examples/programs/run/record.h"
#include "examples/programs/run/jobs.h"
#include "examples/programs/report/runlog.h"
#include "examples/programs/run/tally.h"

enum { RUN_CHUNKS = 500 };

typedef struct run_setup {
    run_spec spec;          /* completed by run_spec_complete */
    run_source *from;       /* opened; split by run_open */
    const char *folder;     /* exists; NULL: nothing is written */
    bool numbers_only;      /* run_conclude removes the model files, also those of a diverged run */
    const tg_card *started; /* from the file of spec.start, by card_adopt; or NULL */
    bool begun;             /* the weights are in the folder; those of spec.start are for a refit only */
    bool timed;             /* the epochs have their seconds, which differ from one call to the next */
    bool surface;           /* run_results has the picture of a plane */
    bool profile;           /* times operations, and leaves out an incomplete last step */
    bool together;          /* runs on all processes of the team (team.h), each with the same rows */
    jobs_link *link;        /* called after a step or epoch; may be NULL */
    void *context;          /* for on_progress, */
    /* Called at the same times; may be NULL; false stops the run. */
    bool (*on_progress)(void *context, const jobs_progress *now);
} run_setup;

typedef struct trainer {
    run_setup setup;
    run_spec *spec; /* the setup's */
    run_source *from;
    tg_card *about; /* belongs to the model */
    tg_model *model;
    tg_model *refit; /* the net that was trained again, or the mean of several; NULL: none was */
    int softened;    /* inputs with long tails that the refit softens (dataset_soften) */
    tg_optimizer *optimizer;
    tg_dead_units *dead; /* of an mlp; NULL for others */
    tg_fit *fit;
    tg_tape *tape; /* the training steps' */
    int64_t steps_of_epoch;
    double weight_scale;       /* makes the mean weight of the training rows 1, */
    double class_scale;        /* and this of a refit's with the weights of classes */
    tally sums;                /* tally of the current evaluation */
    double accuracy;           /* results of the last validation */
    double seconds, since;     /* seconds of training, and the start of the current part */
    double step_seconds;       /* time and number of this process's steps, without the first */
    int64_t timed_steps, rows; /* rows on which this process has trained */
    events *board;             /* with --tensorboard */
    record_files files;        /* of the folder */
    long every;                /* number of steps in one entry of steps.csv */
    bool broken;               /* a file could not be written: error says why */
    tg_error error;
} trainer;

/* The number of parameters of a run; -1 and one line if the net cannot be made, or its steps are impossible. */
long run_parameters(const run_spec *s, const run_source *from, tg_error *error);

/* False and one line if the run cannot be made or its files cannot be read; then it need not be closed. */
bool run_open(trainer *r, const run_setup *setup, tg_error *error);
void run_close(trainer *r);

/* Trains to the end, or until on_progress stops it. False and one line if training fails. */
bool run_train(trainer *r, tg_error *error);

/* The net that is kept: that of the best epoch, or after a refit the new one. */
static inline const tg_model *run_model(const trainer *r)
{
    return r->refit ? r->refit : r->model;
}

bool run_finished(const trainer *r);

/* If --refit says so, trains --nets nets again from the first step on training and validation rows, and measures and
 * keeps their mean from here on. The first is trained for as many steps as the best epoch had, another one for as many
 * as with validation rows of its own, unless these are the first rows. Validation losses or
 * --soften choose whether inputs with long tails are softened. The validation rows must be measured before. */
bool run_refit(trainer *r, tg_error *error);

/* Measures a run, into its record, by run_outcome, run_results or both of the functions below; writes result.json.
 * False and one line on failure. */
typedef bool run_measurer(trainer *r, runlog_run *results, tg_error *error);
bool run_conclude(trainer *r, run_measurer *measure, tg_error *error);

/* Measures the net on the validation or test split, without dropout and smoothing; false if tg_fit has an error. */
bool run_measure(trainer *r, const tg_fit_rows *rows, runlog_measures *m);

/* ---- measure.c ---- */

/* The number of parameters and the epoch in which the run diverged, or its best epoch and the measures of that epoch's
 * net on each split (not on the training split of a text). False and one line on failure. */
bool run_outcome(trainer *r, runlog_run *results, tg_error *error);

/* The same with a confusion matrix, the loss under noise and, if the setup wants it of two features, the class at each
 * point of a grid; and writes rows.csv and, if asked, predictions.csv. */
bool run_results(trainer *r, runlog_run *results, tg_error *error);

/* Adds the loss and accuracy under noise, as the specification asks for. */
void run_noise(trainer *r, runlog_run *results);

/* Adds the test loss with each activation of --test-as, or with weights of each format, in place of the net's own. A
 * net that was trained again has none. */
void run_variants(trainer *r, runlog_run *results);
