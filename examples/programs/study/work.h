/* The runs of a study: those without a record are trained, a few at once; the records of all are read.
 *
 *     study_work work = {.c = &context};
 *     study_grids_add(&work, grids, count, &sources);
 *     study_outcome outcome = study_work_do(&work, stderr);
 *     study_work_free(&work);
 *
 * Runs start in the order in which they were added. Two files of the study's folder keep what a report needs, and stay
 * small enough for a repository:
 *
 *     runs.csv        a row for each complete run: group (the cell and the rate), options, lr, seed, state, epochs, and
 *                     the numbers of study_record_result. `compare --runs` reads it
 *     curves.csv.gz   for studies that show curves, a row for each epoch of these runs
 */
#ifndef STUDY_WORK_H
#define STUDY_WORK_H

#include "examples/programs/run/sweep.h"
#include "examples/programs/study/run.h"

#include <limits.h>
#include <stdio.h>

typedef struct study_settings {
    const char *out, *data;
    const char *only; /* shell pattern: trains only missing runs with a matching name, at least one; NULL: all */
    bool quick, report_only, no_plots;
    bool overwrite; /* retrain runs that have a record with other settings, instead of refusing */
    sweep sweep;
    int epochs;
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

void study_work_free(study_work *work);

/* Trains the missing runs and reads all records, of folders or, where there is none, of the kept files, which
 * it writes. Reports progress and failures on `out`. */
study_outcome study_work_do(study_work *work, FILE *out);

#endif
