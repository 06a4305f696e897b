/* Collects what runs of a comparison report and writes it into a folder.
 *
 *     char message[RUNLOG_MESSAGE];
 *     if (!runlog_check_directory("results", message))               // before anything is trained
 *         return fprintf(stderr, "compare: --out: %s\n", message), 2;
 *     runlog *log = runlog_new("results");
 *     runlog_option(log, "lr", json_real(1e-3));                      // for config.json
 *     int run = runlog_add_run(log, "gelu_exact", 1, 118282);         // activation, seed, parameters: 0, 1, 2, ...
 *     runlog_add_epoch(log, run, &(runlog_epoch){.epoch = 1, .step = 469, .train_loss = 0.31, ...});
 *     runlog_finish_run(log, run);
 *     if (!runlog_write(log, message))
 *         return fprintf(stderr, "compare: %s\n", message), 1;
 *     runlog_print_table(log, stdout);
 *     runlog_free(log);
 *
 * Files in the folder, each written under a temporary name and renamed when complete:
 *
 *     curves.csv    a row for each run and epoch, in the order of the runs, whatever order they ended in
 *     bands.csv     a row for each activation and epoch: means over the seeds and a band around them; for plotting.
 *                   The band is the 95 % interval of the mean; the least and the greatest for two or three
 *                   seeds, where that interval is too wide to say anything; empty for one
 *     summary.csv   a row for each activation: count, mean, deviation and 95 % interval of final and best validation loss and
 *                   accuracy, and the differences to the first activation, paired by seed
 *     config.json   the options
 *
 * Runs that were added but not finished are in curves.csv as far as they went, and in nothing that is averaged, except
 * that an activation of which no run has finished shows what it has in bands.csv.
 *
 * Functions that take a NULL log do nothing. When memory runs out, runlog_write says so.
 */
#ifndef LAB_RUNLOG_H
#define LAB_RUNLOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { RUNLOG_MESSAGE = 512 }; /* bytes of a message; each is one line that names the path and the reason */

/* One finished epoch of one run: plain bytes, fit to be sent with jobs_record. */
typedef struct {
    int epoch;
    long step;                   /* steps since the run began */
    double train_loss, val_loss; /* means over the part; not finite where training diverged */
    double val_accuracy;         /* 0 to 1; NaN in a regression */
    double grad_norm;
    double dead_fraction; /* of the hidden units */
    double seconds;       /* of training since the run began */
} runlog_epoch;

typedef struct runlog runlog;

/* Whether the files can be written into this folder, which is made for the test, and taken away again, if there is none.
 * Nothing that is there is touched. */
bool runlog_check_directory(const char *directory, char message[RUNLOG_MESSAGE]);

/* Writes nothing yet. Copies its argument, like all functions below. NULL when memory runs out. */
runlog *runlog_new(const char *directory);
void runlog_free(runlog *log);

/* Adds a name and value to config.json; takes over the caller's reference to the value. */
void runlog_option(runlog *log, const char *name, json_t *value);

/* Adds a run, before or while others report, and returns its number, counted from 0; -1 when memory runs out. */
int runlog_add_run(runlog *log, const char *activation, uint64_t seed, long parameters);

/* Adds the next epoch of a run. */
void runlog_add_epoch(runlog *log, int run, const runlog_epoch *epoch);

/* Marks a run as complete. */
void runlog_finish_run(runlog *log, int run);

/* Writes the four files, making the folder if there is none. On failure, false and a message; what stood under the name
 * of the file that failed still stands. */
bool runlog_write(const runlog *log, char message[RUNLOG_MESSAGE]);

/* Prints the comparison of the activations, as many columns as fit into a terminal, all of them elsewhere. */
void runlog_print_table(const runlog *log, FILE *out);

#endif
