/* One run of a comparison: a network of one activation trained from one seed.
 *
 *     training_watch watch = {.context = &mine, .on_epoch = keep_row, .on_step = show_progress};
 *     char message[EXPERIMENT_MESSAGE];
 *     if (!training_run(&e, run, &watch, message))
 *         fprintf(stderr, "%s\n", message);
 */
#ifndef LAB_TRAINING_H
#define LAB_TRAINING_H

#include "examples/lab/experiment.h"
#include "examples/lab/jobs.h"
#include "examples/lab/runlog.h"

typedef struct training_watch {
    void *context;
    void (*on_epoch)(void *context, const runlog_epoch *epoch);
    void (*on_step)(void *context, const jobs_progress *now); /* may be NULL */

    /* What runlog_add_series takes: the losses of the steps after each epoch, the rest at the end. May be NULL. */
    void (*on_series)(void *context, runlog_series kind, const double *numbers, size_t count);
} training_watch;

/* Trains run number `run` of the experiment, for which it splits the experiment's data anew: in a process of its own,
 * or one run after the other. False and one line when the network cannot be made or training stops making sense. */
bool training_run(const experiment *e, int run, const training_watch *watch, char message[EXPERIMENT_MESSAGE]);

/* The number of parameters of run `run`'s network; -1 when it cannot be made, or no step can be taken as the options
 * say, with one line. */
long training_parameters(const experiment *e, int run, char message[EXPERIMENT_MESSAGE]);

#endif
