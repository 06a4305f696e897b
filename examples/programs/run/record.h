/* The folders of runs, and the readers of their files, from which all output is made.
 *
 *     if (!record_claim("results/iris-mlp", config, RECORD_SAME, ignored, &error))   // it is ours, or free
 *         return fprintf(stderr, "compare: %s\n", error.text), 2;
 *     ...
 *     record_read("results/iris-mlp/runs/relu-seed1", runlog_at(log, run), &error);  // all epochs so far
 *
 * A folder belongs to the options in its config.json. With the same options the run continues; others are refused.
 *
 * A program that is killed loses at most the current epoch, and no finished run. After a power failure a run with
 * incomplete files counts as unfinished: it continues from its last complete state, or starts over.
 */
#pragma once

#include "examples/programs/report/events.h"

/* Which results the folder may have: those of the same options, those of the same data with any options, or any, which
 * are then removed. */
typedef enum record_claims { RECORD_SAME, RECORD_SAME_DATA, RECORD_OVERWRITE } record_claims;

/* Makes the folder and writes config.json into it. With RECORD_SAME, a folder with other options is refused (options in
 * `ignored` may differ): false and one line, with nothing changed. With RECORD_SAME_DATA, config.json is left for
 * record_configure, as the options may not suit the run's state. */
bool record_claim(const char *folder, json_t *config, record_claims claims, const char *const *ignored,
                  tg_error *error);
bool record_configure(const char *folder, json_t *config, tg_error *error);

/* True if all files that RECORD_OVERWRITE would remove were written by a run. Otherwise one line: a file called runs.csv,
 * and a folder called runs, may be of other origin. */
bool record_may_overwrite(const char *folder, tg_error *error);

/* True if the folder has no results, or those of the same options except the ones in `ignored`. Otherwise one line. */
bool record_is_ours(const char *folder, json_t *config, const char *const *ignored, tg_error *error);

/* False and one line if the results of this folder would overwrite the file of this path; NULL: there is none. */
bool record_spares(const char *folder, const char *path, tg_error *error);

/* Fills a record with what is in a run's folder, and ends it where the run is concluded. What is not there is left out;
 * false and one line if something cannot be read, or if a concluded run has lost test rows: intervals need all. */
bool record_read(const char *folder, runlog_run *run, tg_error *error);

/* The epochs in a run's folder, to be freed; NULL and one line if they cannot be read. */
runlog_epoch *record_epochs(const char *folder, int *count, tg_error *error);

/* Makes a new event file in the run's folder, with all records so far. NULL and one line if it cannot be written. */
events *record_open_events(const char *folder, tg_error *error);

/* The rows on which this model file was trained, and which are now for validation or testing: of both, if its folder
 * is that of a run on the same data with other splits; those for validation, if it is a refit on the same data. `config`
 * is of the run that begins, as in its config.json. */
typedef enum record_seen { RECORD_SEEN_NONE, RECORD_SEEN_VALIDATION, RECORD_SEEN_ALL } record_seen;
record_seen record_seen_rows(const char *model, const json_t *config);

/* True if this model file is a best.safetensors beside a refit. */
bool record_has_refit(const char *model);

/* True if the run is concluded, measured and has all epochs and test rows of its results, which may be taken along
 * (record_results; NULL: not). */
bool record_is_finished(const char *folder, runlog_run *results);

/* Fills a record, but for its epochs and rows, with the results of a run. False if it is not concluded, with
 * one line if they cannot be read. */
bool record_results(const char *folder, runlog_run *run, tg_error *error);

/* The results as result.json has them. */
json_t *record_json(const runlog_run *run);

/* ---- for studies (numbers.c) ---- */

/* The results of the run in a folder, with these numbers where they are measured and finite. `asked` may have "after",
 * a list of epochs, and "reach", a list of losses. NULL without a concluded run, or with one line if it cannot be
 * read. */
json_t *run_numbers(const char *folder, const json_t *asked, tg_error *error);

/* ---- for the trainer ---- */

/* The losses of steps that are not in steps.csv yet, as an entry of it is the mean of several. */
typedef struct record_pending {
    long step; /* the last of them */
    double sum;
    long count;
} record_pending;

/* The files of a run, open for appending; empty for a run without a folder: what is put there is dropped. */
typedef struct record_files {
    const char *folder;
    FILE *curves, *steps, *states; /* states: NULL before the first state with pending losses */
    bool whole;                    /* the epochs have a whole_train_loss */
    double seconds;                /* of training, up to the step from which the run continues */
    record_pending begun, pending; /* of the state from which it continues, and now */
    runlog_epoch best;             /* so far, also without files; epoch 0: none */
} record_files;

/* Opens the files and drops everything after this step; files that end there keep their bytes. `folder` must outlive
 * them. */
bool record_continue(record_files *files, const char *folder, long step, bool whole, tg_error *error);
void record_close(record_files *files);

/* Closes the file of pending losses before record_conclude removes it: Windows removes no open file. */
void record_end_pending(record_files *files);

/* False if the file cannot be written. */
bool record_put_epoch(record_files *files, const runlog_epoch *epoch);
bool record_put_loss(record_files *files, long step, double loss);

/* Writes the pending losses to pending.csv, for a run that continues from this step; record_conclude removes the file.
 * False if it cannot be written. */
bool record_put_pending(record_files *files, long step);

/* Appends the results' measures on the test split to an event file, at the step of the best epoch. False if it cannot
 * be written. */
bool record_put_test(events *to, const runlog_run *results, const char *folder);

/* Writes grid.csv: points of a plane [points, 4], as RUNLOG_SURFACE has them. False and one line on failure. */
bool record_put_surface(const char *folder, const double *numbers, int points, tg_error *error);

/* Writes the results, and the number of their epochs. */
bool record_conclude(const char *folder, const runlog_run *results, tg_error *error);
