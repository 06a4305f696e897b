/* One training run of a study: a run (examples/run) with a name, on rows that were read once for all runs.
 *
 *     study_run run = {.name = "relu-dropout0-lr0.001-seed1", .from = &mnist, .spec = study_spec()};
 *     run.spec.data = "mnist";
 *     run.spec.net = (net_spec){.hidden = "128x8", .activation = "relu", .init = "unit_rows"};
 *     run.spec.lr = 1e-3, run.spec.batch = 128, run.spec.epochs = 50, run.spec.validation = "first:5000";
 *     double seconds = study_run_seconds(&run, &error);            // for one epoch, from a timed sample
 *     if (!study_run_train(&run, folder, false, NULL, &error)) ... // continues FOLDER/NAME
 *     study_record record;
 *     study_record_read(&record, &run, folder);
 *     double loss = study_record_at(&record, 10, STUDY_VAL_LOSS);   // after epoch 10
 *     study_record_free(&record);
 *
 * The number of epochs is not part of a run's identity: more epochs continue it, if its model was kept. A run gives the
 * same numbers, whether it was interrupted or not.
 */
#ifndef STUDY_RUN_H
#define STUDY_RUN_H

#include "examples/programs/run/record.h"
#include "examples/programs/run/run.h"

enum { STUDY_NAME = 120 };

typedef struct study_run {
    char name[STUDY_NAME];         /* name of its folder: letters, digits, and - . _ */
    const char *group;             /* runs of a group take about the same time an epoch; the cell of a grid's run */
    const struct study_grid *grid; /* NULL: none */
    double epoch_seconds;          /* that time; 0: not measured */
    const run_source *from;        /* rows or a text, of the name spec.data */
    run_spec spec;
    bool keeps_model; /* saves last.safetensors, from which a longer run continues and the network can be read */
    /* Adds further measures of the finished run's network to the results; NULL: none. */
    void (*more)(trainer *finished, json_t *results);
} study_run;

/* Common settings of studies' runs: Adam at a constant rate, without decay and clipping. The caller sets splits, net,
 * rate, batch, epochs and seed. */
run_spec study_spec(void);

/* Trains until spec.epochs are recorded in FOLDER/NAME. With `overwrite`, results of other options there are removed;
 * otherwise they are an error. `link`, for progress, may be NULL. Divergence is a result, not a failure. False and one
 * line if the run cannot be made or written. */
bool study_run_train(const study_run *run, const char *folder, bool overwrite, jobs_link *link, tg_error *error);

/* True if its record in FOLDER/NAME is complete. */
bool study_run_is_complete(const study_run *run, const char *folder);

/* Seconds that an epoch takes, measurements included, from a sample of a quarter of a second or so; NaN and one line if
 * the run cannot be made. */
double study_run_seconds(const study_run *run, tg_error *error);

/* The network of a run that kept its model, after spec.epochs; NULL and one line if it is not there. To be freed. */
tg_model *study_run_net(const study_run *run, const char *folder, tg_error *error);

/* Splits `data` into the rows on which the run is trained and measured. */
bool study_run_split(const study_run *run, dataset *data, tg_error *error);

/* ---- results ---- */

/* Measures after an epoch; NaN if not measured. */
typedef enum study_column {
    STUDY_STEP_LOSS,     /* mean loss of the epoch's steps, as they were taken */
    STUDY_TRAIN_LOSS,    /* of the training rows after the epoch, without dropout */
    STUDY_VAL_LOSS,      /* of the validation rows */
    STUDY_VAL_ACCURACY,  /* 0 to 1; NaN but in a classification */
    STUDY_TEST_LOSS,     /* of the test rows; of the best epoch only, or of each without validation rows */
    STUDY_TEST_ACCURACY, /* of the best epoch only */
    STUDY_DEAD,          /* share of the hidden units whose derivative is next to zero on all validation rows */
    STUDY_GRADIENT,      /* mean norm of the gradient over the epoch's steps */
    STUDY_COLUMNS
} study_column;

typedef struct study_record {
    int epochs;
    runlog_epoch *epoch; /* [epochs], the first at 0 */
    int diverged;        /* the epoch in which the loss became infinite or NaN, which ends a run; 0: none */
    bool ended;          /* ended before its last epoch, as it had converged */
    bool complete;       /* has all its epochs, or ended or diverged before */
    json_t *results;     /* of a concluded run, else NULL */
} study_record;

/* Reads FOLDER/NAME; an empty record if there is none of this run. */
void study_record_read(study_record *record, const study_run *run, const char *folder);

/* True if FOLDER/NAME contains another run, with one line that names the difference. */
bool study_record_is_foreign(const study_run *run, const char *folder, tg_error *error);
void study_record_free(study_record *record);

/* A number after epoch 1, 2, ...; NaN if there is none. A run that converged keeps its last number. */
double study_record_at(const study_record *record, int epoch, study_column column);

/* Number `index` of an array of the results, or the number itself; NaN where there is none. */
double study_record_result(const study_record *record, const char *name, size_t index);

#endif
