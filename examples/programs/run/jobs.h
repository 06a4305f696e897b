/* Runs numbered jobs, a few at once, each in a child process of its own.
 *
 *     static int train(int job, jobs_link *link, void *context)        // runs in the child
 *     {
 *         for (int epoch = 1; epoch <= 20; epoch++) {
 *             const double loss = train_one_epoch(job, epoch);         // which writes its results into a file
 *             if (isnan(loss))
 *                 return jobs_fail(link, "the loss is not a number after epoch %d", epoch);
 *             jobs_progress now = {.fraction = epoch / 20., .epoch = epoch, .epochs = 20, .loss = loss,
 *                                  .accuracy = NAN};
 *             jobs_report(link, &now);                                 // may be called every step
 *         }
 *         return 0;
 *     }
 *     ...
 *     jobs_outcome outcome = jobs_run(&(jobs_config){.count = 40, .at_once = 2, .run = train, .context = &table});
 *     if (outcome.interrupted)
 *         return signals_status();
 *
 * A job has its own process so that a crash, a leak or a BLAS with global state stays its own. Jobs are told apart only
 * by their number, start in order and share nothing, so results do not depend on `at_once`. They leave them in files,
 * or in memory that is mapped as shared before they start.
 *
 * SIGINT, SIGTERM and SIGHUP (a closed terminal) end the pool early: the children are stopped, and jobs_run returns
 * `interrupted` with the signals handled as before the call, so that a second Ctrl-C ends the program at once. Children
 * die with the parent, however it dies.
 *
 * The program must have no threads (system/child.h). On Windows it is started again for each job, which is found by its
 * name: what comes before jobs_run must have no effect when it is done twice.
 */
#pragma once

#include "examples/programs/run/progress.h"

typedef struct jobs_link jobs_link; /* a child's line to the parent */

/* ---- in the child ------------------------------------------------------------------------------------------- */

/* Reports the progress of the job to the parent. Cheap enough for every step: sends at most 20 times a second, unless
 * the epoch has changed, and drops the message rather than wait for the parent. A fraction of 1 always arrives. */
void jobs_report(jobs_link *link, const jobs_progress *now);

/* Sends the reason of a failure, one line; use as `return jobs_fail(link, ...)`. Returns 1. */
int jobs_fail(jobs_link *link, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- in the parent ------------------------------------------------------------------------------------------ */

typedef struct jobs_config {
    int count;     /* number of jobs, which are counted from 0 */
    int at_once;   /* how many may run at the same time; 0 means 1 */
    void *context; /* argument of every function below */

    /* The job itself, in the child. Returns 0 for success; the child then exits without running atexit handlers. */
    int (*run)(int job, jobs_link *link, void *context);

    /* In the parent. A name must live until the end; NULL without `out` and `folder`. The second is called about ten
     * times a second, and may be NULL. */
    const char *(*name)(int job, void *context);
    void (*on_tick)(void *context);

    FILE *out;        /* for progress; NULL shows nothing */
    const char *unit; /* unit and measured as in progress_config */
    const char *measured;

    /* For jobs that another process might do at the same time: FOLDER/NAME, which is made if it is missing, is locked
     * while the job runs. A job that is finished by then is passed over. If another process has locked it, no further
     * job starts, and the outcome has the error. */
    const char *folder; /* NULL: not locked */
    bool (*is_finished)(int job, void *context);
} jobs_config;

typedef struct {
    int done, failed;
    int stopped;      /* jobs ended by an interruption, or never started because of it */
    bool interrupted; /* by SIGINT, SIGTERM or SIGHUP */
    bool refused;     /* another process does one of the jobs; `error` says which */
    tg_error error;
} jobs_outcome;

/* Runs all jobs and returns when the last child has ended. */
jobs_outcome jobs_run(const jobs_config *config);
