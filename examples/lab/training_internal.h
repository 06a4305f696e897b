/* A network on its way, and how good it is. */
#ifndef LAB_TRAINING_INTERNAL_H
#define LAB_TRAINING_INTERNAL_H

#include "examples/lab/training.h"

enum { EVALUATION_BATCH = 500, TRAINING_CHUNKS = 500 };

/* One network on its way. */
typedef struct trainer {
    experiment_settings settings;
    int seed;
    dataset data; /* the experiment's, with the parts of this run */
    tg_mlp *net, *kept; /* and as it was at the best epoch so far */
    tg_optimizer *optimizer;
    tg_tape *tape;
    tg_dead_units *dead;
    tg_rng random; /* what dropout and stochastic activations draw from */
    dataset_batches batches;
    float *features, *targets; /* [batch or EVALUATION_BATCH, ...] */
    int32_t *labels;
    long step, steps;
    double best_loss; /* of the validation part */
    int waited;       /* epochs since */
    double seconds;
    double chunk[2 * TRAINING_CHUNKS + 2]; /* steps and losses that are not sent yet */
    size_t chunked;
    double chunk_sum;
    long chunk_steps, every; /* so many steps are one entry */
} trainer;

/* The loss of a network's output on the rows that were gathered. */
tg_tensor trainer_loss(const trainer *t, tg_tensor output, int64_t rows, double smoothing);

/* How a net is asked; zero is the default everywhere. */
typedef struct question {
    const tg_mlp *net;   /* NULL: the one that trains */
    tg_dead_units *dead; /* watches the hidden units */
    double noise;        /* uniform between -noise and noise is added to each feature */
    double *confusion;   /* [classes, classes]: rows by label and by answer are added */
} question;

/* How good a net is on a part, without dropout and smoothing. */
runlog_measures trainer_evaluate(trainer *t, const dataset_part *part, const question *how);

/* Tells what there is to tell of the net at the best epoch: what it mistakes for what, how noise harms it, and, for two features, which class is
 * where. */
void trainer_tell(trainer *t, const experiment *e, int run, const training_watch *watch);

#endif
