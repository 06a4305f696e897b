/* The runs of one or several experiments as one list of jobs: which are missing, and their training, a few at once,
 * each in a folder and a process of its own.
 *
 *     pool all = {.folder = "results/iris/runs"};
 *     for (int run = 0; run < e.runs; run++)
 *         pool_add(&all, &e, run, "");                    // relu-lr0.01-seed1 and so on
 *     pool_look(&all, &e.settings.sweep, NULL, NULL);
 *     jobs_outcome outcome = pool_train(&all, &(jobs_config){.at_once = 2, .out = stderr});
 *     pool_free(&all);
 */
#pragma once

#include "examples/programs/run/experiment.h"
#include "examples/programs/run/run.h"

enum { POOL_NAME = EXPERIMENT_POINT + 64 };

typedef struct pool_run {
    const experiment *of;
    int number;           /* of the experiment's runs */
    char name[POOL_NAME]; /* of its folder: letters, digits, and - . _ */
    bool complete;
} pool_run;

typedef struct pool {
    const char *folder; /* that has the folders of the runs */
    /* Each folder has a config.json of its run: one of other options is refused, and one of fewer epochs is continued.
     * Otherwise all that is in `folder` is of these experiments, and a run that has ended is complete. */
    bool of_their_own;
    bool overwrite; /* runs of other options are not refused but removed */
    /* Measures a finished run; NULL: run_results, with the picture of a plane for the first seed. */
    run_measurer *measure;

    int count;
    pool_run *run;      /* [count] */
    int pending_count;  /* runs that this process is to train, */
    int *pending;       /* [pending_count]: their places in `run`; */
    int complete_count; /* and complete ones, when pool_look was called */
} pool;

/* Adds run number `number` of an experiment, which must live as long. */
void pool_add(pool *to, const experiment *e, int number, const char *prefix);

/* The folder of a run; false if its name is too long. */
bool pool_path(const pool *all, int which, char path[PATH_MAX]);

/* True if the folder has the complete run. The experiment must be prepared. */
bool pool_is_complete(const pool *all, int which);

/* False, with one line that names the difference, if the folder contains a run of other options. Only for runs with a
 * config.json of their own. */
bool pool_is_ours(const pool *all, int which, tg_error *error);

/* Finds the complete runs, and those that this process is to train: missing ones of its part for which `wanted` (NULL:
 * all) is true. Runs that are marked as complete are not looked for. */
void pool_look(pool *all, const sweep *part, bool (*wanted)(const void *context, const char *name),
               const void *context);

/* Adds all runs to a log, in the order of the list, with what their folders have. */
void pool_read(const pool *all, runlog *log);

/* Trains the pending runs. `how` has at_once, out, measured and on_tick, whose context is the list. */
jobs_outcome pool_train(pool *all, const jobs_config *how);

void pool_free(pool *all);
