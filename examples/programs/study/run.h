/* One training run of a study: a run (examples/programs/run) with a name, on rows that were read once for all runs.
 *
 *     study_run run = {.name = "relu-dropout0-lr0.001-seed1", .from = &mnist, .spec = study_spec()};
 *     run.spec.net = (net_spec){.hidden = "128x8", .activation = "relu", .init = "unit_rows"};
 *     run.spec.lr = 1e-3, run.spec.batch = 128, run.spec.epochs = 50, run.spec.validation = "first:5000";
 *     if (!study_run_train(&run, folder, false, NULL, &error)) ... // continues FOLDER/NAME
 *     if (!study_record_read(&run.record, &run, folder, &error)) ...
 *     double loss = study_record_result(&run.record, "best_val_loss");
 *     study_record_free(&run.record);
 *
 * The number of epochs is not part of a run's identity: more epochs continue it, if its model was kept. A run gives the
 * same numbers, whether it was interrupted or not.
 */
#ifndef STUDY_RUN_H
#define STUDY_RUN_H

#include "examples/programs/run/record.h"
#include "examples/programs/run/run.h"

enum { STUDY_NAME = 120 };

/* Measures after an epoch; NaN if not measured. */
typedef enum study_column {
    STUDY_STEP_LOSS,  /* mean loss of the epoch's steps, as they were taken */
    STUDY_VAL_LOSS,   /* of the validation rows */
    STUDY_TEST_LOSS,  /* of the test rows, only without validation rows */
    STUDY_TRAIN_LOSS, /* of the training rows after the epoch, without dropout */
    STUDY_COLUMNS
} study_column;

typedef struct study_record {
    int epochs;
    runlog_epoch *epoch; /* [epochs], the first at 0; NULL: only results are known */
    int diverged;        /* the epoch in which the loss became infinite or NaN, which ends a run; 0: none */
    bool complete;       /* has all its epochs, or diverged before */
    json_t *results;     /* numbers of the run: those of the end, and those that the epochs give; NULL: none */
} study_record;

typedef struct study_run {
    char name[STUDY_NAME];         /* of its folder: letters, digits, and - . _ */
    const char *cell;              /* the run's cell in its grid: its name without rate and seed */
    const char *options;           /* the grid's options, in one text; NULL: none */
    const struct study_grid *grid; /* NULL: none */
    const run_source *from;        /* rows or a text, of the name spec.data */
    run_spec spec;
    bool keeps_model;  /* saves last.safetensors, from which a longer run continues */
    bool keeps_curves; /* in curves.csv.gz (work.h) */
    /* Adds further measures of the finished run's network to the results; NULL: none. */
    void (*more)(trainer *finished, json_t *results);
    study_record record; /* empty, or read */
} study_run;

/* Common settings of studies' runs: Adam at a constant rate, without decay and clipping. */
run_spec study_spec(void);

/* Trains until spec.epochs are recorded in FOLDER/NAME. With `overwrite`, results of other options there are removed;
 * otherwise they are an error. `link`, for progress, may be NULL. Divergence is a result, not a failure. False and one
 * line if the run cannot be made or written. */
bool study_run_train(const study_run *run, const char *folder, bool overwrite, jobs_link *link, tg_error *error);

/* True if its record in FOLDER/NAME is complete. */
bool study_run_is_complete(const study_run *run, const char *folder);

/* True if FOLDER/NAME contains another run, with one line that names the difference. */
bool study_record_is_foreign(const study_run *run, const char *folder, tg_error *error);

/* Reads FOLDER/NAME; an empty record if there is none of this run. False and one line if it cannot be read. */
bool study_record_read(study_record *record, const study_run *run, const char *folder, tg_error *error);
void study_record_free(study_record *record);

/* A number after epoch 1, 2, ...; NaN if there is none. */
double study_record_at(const study_record *record, int epoch, study_column column);

/* A number of the results; NaN where there is none. Those that the epochs give, where they are measured:
 *
 *     best_epoch, best_val_loss, best_val_accuracy, test_loss, test_accuracy
 *                     at the lowest validation loss or, without validation rows, after the last epoch
 *     epoch_2_loss    mean loss of the steps of the second epoch
 *     dead            share of the hidden units that are dead after the last epoch
 *     gap             validation less training loss after the last epoch
 *     rise            largest ratio of one epoch's validation loss to that before
 *     gradient_range  largest mean norm of an epoch's gradients over the least
 */
double study_record_result(const study_record *record, const char *name);

#endif
