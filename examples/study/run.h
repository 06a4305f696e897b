/* One training run of a study: a network trained with Adam at one rate from one seed, and measured after every epoch.
 *
 *     study_run run = {.name = "relu-keep1-lr0.001-seed1", .data = &mnist, .parts = {.validation = "first:5000"},
 *                      .net = {.inputs = 784, .hidden = {128, 128}, .outputs = 10, .activation = TG_RELU, .init =
 * TG_INIT_UNIT_ROWS}, .lr = 1e-3, .batch = 128, .epochs = 50, .seed = 1}; double seconds = study_run_seconds(&run,
 * message);            // for one epoch, from a timed sample if (!study_run_train(&run, folder, NULL, message)) ... //
 * goes on where FOLDER/NAME.json and FOLDER/NAME.state end
 *
 * The rate is constant and there is no decay. The number of epochs is no part of a run's key: more epochs continue what
 * is there, if the state was kept. The same run gives the same numbers, whether it was interrupted or not.
 */
#ifndef STUDY_RUN_H
#define STUDY_RUN_H

#include "examples/data/dataset.h"
#include "examples/lab/jobs.h"
#include "examples/study/record.h"

#include <tapegrad.h>

enum { STUDY_MESSAGE = 640 };

typedef struct study_run {
    char name[STUDY_NAME]; /* of its files: letters, digits, and - . _ */
    const char *group;     /* runs of a group take about the same time an epoch */
    const dataset *data;
    dataset_parts parts;
    bool all_rows;     /* trains on the validation rows too, and measures no validation */
    bool reconstructs; /* an autoencoder: the targets are the inputs */
    tg_mlp_config net;
    const char *start; /* a model file to start from; NULL: initial weights from the seed */
    double lr;
    int batch, epochs, seed;
    bool drop_partial; /* every batch is full */
    int train_every;   /* epochs between measurements of the training rows, for STUDY_TRAIN_LOSS; 0: never */
    bool counts_dead;  /* measures STUDY_DEAD */
    bool keeps_state;  /* in FOLDER/NAME.state: a long run can go on, and its network can be read from there */
} study_run;

/* All that the numbers follow from, in words. */
void study_run_key(const study_run *run, char key[STUDY_KEY]);

/* Trains until run->epochs are recorded in `folder`, which is there. `link`, to whom progress is told, may be NULL. A
 * run that diverges is a result and no failure. False and one line if it cannot be made or written. */
bool study_run_train(const study_run *run, const char *folder, jobs_link *link, char message[STUDY_MESSAGE]);

/* Seconds that an epoch takes, measurements included, from a sample of a quarter of a second or so; NaN and one line if
 * the run cannot be made. */
double study_run_seconds(const study_run *run, char message[STUDY_MESSAGE]);

/* The network of a run that kept its state, after run->epochs; NULL and one line if it is not there. To be freed. */
tg_mlp *study_run_net(const study_run *run, const char *folder, char message[STUDY_MESSAGE]);

#endif
