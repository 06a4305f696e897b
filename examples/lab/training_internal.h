/* A network on its way, and how good it is. */
#ifndef LAB_TRAINING_INTERNAL_H
#define LAB_TRAINING_INTERNAL_H

#include "examples/data/feed.h"
#include "examples/lab/training.h"

enum { TRAINING_CHUNKS = 500, TRAINING_BINS = 15, TRAINING_TARGETS = 64 };

/* What adds up over the rows of an evaluation. */
typedef struct tally {
    long correct, in_bin[TRAINING_BINS];
    double confidence[TRAINING_BINS], hits[TRAINING_BINS]; /* of the rows whose confidence is in a bin, sums */
    double squares, absolutes;                             /* of the errors of the first target, standardised */
    double sum[TRAINING_TARGETS], sum_squares[TRAINING_TARGETS],
        error[TRAINING_TARGETS]; /* of the standardised targets */
} tally;

/* One network on its way. */
typedef struct trainer {
    experiment_settings settings;
    int seed;
    const training_watch *watch;
    dataset data; /* the experiment's, with the parts of this run */
    dataset_feed train, validation, test;
    tg_mlp *net;
    tg_optimizer *optimizer;
    tg_fit *fit;
    tg_dead_units *dead;
    tg_rng random;                         /* what dropout and stochastic activations draw from */
    tally sums;                            /* of the evaluation that runs */
    double *confusion;                     /* [classes, classes]: its rows by label and by answer, or NULL */
    double accuracy;                       /* of the last validation */
    double seconds, since;                 /* of training; since when it runs */
    double chunk[2 * TRAINING_CHUNKS + 2]; /* steps and losses that are not sent yet */
    size_t chunked;
    double chunk_sum;
    long chunk_steps, every; /* so many steps are one entry */
} trainer;

/* Adds the rows of an evaluation's batch. */
void trainer_see(trainer *t, tg_tensor output, tg_tensor wanted);

/* How good the rows were that were seen, which are forgotten; with this mean loss. */
runlog_measures trainer_measures(trainer *t, double loss, size_t rows);

/* How good the net is on a part, without dropout and smoothing; false if tg_fit says what is wrong. */
bool trainer_evaluate(trainer *t, dataset_feed *part, runlog_measures *measures);

/* Tells what there is to tell of the net at the best epoch: what it mistakes for what, how noise harms it, and, for two
 * features, which class is where. */
void trainer_tell(trainer *t, const experiment *e, int run);

#endif
