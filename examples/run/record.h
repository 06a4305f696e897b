/* The folders of runs, and the readers of their files, from which all output is made.
 *
 *     if (!record_claim("results/iris-mlp", config, RECORD_SAME, ignored, &error))   // it is ours, or free
 *         return fprintf(stderr, "compare: %s\n", error.text), 2;
 *     ...
 *     record_read("results/iris-mlp/runs/relu-seed1", log, run);                    // all epochs so far
 *
 * A folder belongs to the options in its config.json. With the same options the run continues; others are refused.
 *
 * A program that is killed loses at most the current epoch, and no finished run. After a power failure a run with
 * incomplete files counts as unfinished: it continues from its last complete state, or starts over.
 */
#ifndef RUN_RECORD_H
#define RUN_RECORD_H

#include "examples/report/events.h"

/* Which results the folder may have: those of the same options, those of any options, or any, which are then
 * removed. */
typedef enum record_claims { RECORD_SAME, RECORD_ANY, RECORD_OVERWRITE } record_claims;

/* Makes the folder and writes config.json into it. With RECORD_SAME, a folder with other options is refused (options in
 * `ignored` may differ): false and one line, with nothing changed. */
bool record_claim(const char *folder, json_t *config, record_claims claims, const char *const *ignored,
                  tg_error *error);

/* True if the folder has no results, or those of the same options except the ones in `ignored`. Otherwise one line. */
bool record_is_ours(const char *folder, json_t *config, const char *const *ignored, tg_error *error);

/* Adds the records of a run's folder to run number `run` of the log, including its end. False if there are none. */
bool record_read(const char *folder, runlog *log, int run);

/* The epochs in a run's folder, to be freed; NULL if there are none. */
runlog_epoch *record_epochs(const char *folder, int *count);

/* Makes a new event file in the run's folder, with all records so far. NULL and one line if it cannot be written. */
events *record_open_events(const char *folder, tg_error *error);

/* True if the run is concluded and has all its epochs; and its results, NULL if it is not. */
bool record_is_finished(const char *folder);
json_t *record_results(const char *folder);

/* ---- for the trainer ---- */

/* Opens the files for appending and drops everything after this step. Also gives the seconds of training so far, and
 * the sum and number of the losses that steps.csv does not contain yet. `whole`, here and below: the epochs have a
 * whole_train_loss.
 */
bool record_continue(const char *folder, long step, bool whole, FILE **curves, FILE **steps, double *seconds,
                     double *sum, long *pending, tg_error *error);

bool record_put_epoch(FILE *curves, const runlog_epoch *epoch, bool whole);

/* Writes pairs of step and loss, and the pending losses. */
bool record_put_steps(FILE *steps, const double *pairs, size_t count, long step, double sum, long pending);

/* Writes the results, and the number of their epochs. */
bool record_conclude(const char *folder, json_t *results, tg_error *error);

#endif
