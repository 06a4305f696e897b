/* Shows the progress of running jobs: a live line each on a terminal, plain lines in a file or pipe.
 *
 *     const char *names[] = {"relu seed 1", "relu seed 2", "gelu_exact seed 1"};
 *     progress *view = progress_new(&(progress_config){.out = stderr, .count = 3, .names = names, .unit = "samples"});
 *     progress_start(view, job);
 *     progress_update(view, job, &now);
 *     progress_tick(view);                               // repaints; about ten times a second
 *     progress_end(view, job, JOBS_DONE, NULL);          // its line becomes permanent
 *     progress_free(view);                               // removes the live lines
 *
 * On a terminal:
 *
 *     ✓ relu seed 1         20 epochs  loss 0.0712  accuracy 97.94 %  in 1:12
 *     relu seed 2        ━━━━━━━━━━━━━━━━━━━╸          64 %  13/20  loss 0.0802  97.61 %  61.2k/s  0:26
 *     gelu_exact seed 1  ━━━━                          14 %   3/20  loss 0.1410  95.80 %  58.9k/s  1:01
 *     all                ━━━━━━━━━━━━━━━━━╸            59 %  1/3 done                              1:01
 *
 * Elsewhere, without control codes, a line when a job ends and about one for each tenth of it, unless that
 * would be more than one in two seconds.
 *
 * No cleanup is needed when the program is killed: the cursor is hidden only within the single write of a repaint.
 * NO_COLOR and TERM=dumb are respected, characters are ASCII unless the locale is UTF-8, lines fit the window.
 */
#pragma once

#include "examples/programs/system/standard.h"

/* The progress of a job. Zero means unknown; in loss and accuracy NaN does. */
typedef struct {
    double fraction; /* of the whole job, 0 to 1 */
    long step, steps;
    int epoch, epochs;
    double loss;
    double accuracy; /* 0 to 1 */
    double rate;     /* steps or samples a second */
    int best;        /* the best epoch so far; 0: none is chosen */
    double best_loss, best_accuracy;
} jobs_progress;

typedef enum { JOBS_DONE, JOBS_FAILED, JOBS_STOPPED } jobs_state;

/* Seconds of a monotonic clock. */
double jobs_clock(void);

typedef struct progress progress;

typedef struct {
    FILE *out; /* NULL shows nothing */
    int count;
    const char *const *names; /* [count]; must outlive the view */
    const char *unit;         /* unit of jobs_progress.rate: "steps", "samples" */
    const char *measured;     /* split of a job's last loss and accuracy: "validation"; NULL: not shown */
} progress_config;

/* NULL when memory runs out; every function below then does nothing, so a run can continue. */
progress *progress_new(const progress_config *config);
void progress_free(progress *view);

void progress_start(progress *view, int job);
void progress_update(progress *view, int job, const jobs_progress *now);
void progress_end(progress *view, int job, jobs_state state, const char *message);
void progress_tick(progress *view);

/* Appends a loss to a curve, which is shown below the live line if the terminal has room; infinities and NaN are
 * skipped. */
void progress_point(progress *view, double loss);

/* "0:26", "1h02m" or "4d03h", at most 6 characters; "-:--" for NaN. */
const char *progress_duration(double seconds, char text[32]);
