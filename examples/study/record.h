/* What a training run has measured, epoch by epoch, kept in a file of its own.
 *
 *     study_record record = {0};
 *     study_record_read(&record, "results/studies/gelu-mnist/runs", "relu-keep1-lr0.001-seed1", key);   // empty if
 * there is none study_record_add(&record, &(study_epoch){.of = {[STUDY_VAL_LOSS] = 0.09, ...}});
 *     study_record_write(&record, folder, name, key, message);
 *     double loss = study_record_at(&record, 10, STUDY_VAL_LOSS);                                        // after epoch
 * 10 study_record_free(&record);
 *
 * The file is NAME.json. `key` says in words all that the numbers follow from: a file with another key counts as none.
 * It is written under a temporary name and renamed, so that it is whole whenever the program ends.
 */
#ifndef STUDY_RECORD_H
#define STUDY_RECORD_H

#include "examples/lab/files.h"

enum { STUDY_KEY = 1024, STUDY_NAME = 120 };

/* What is known after an epoch; NaN for what was not measured. */
typedef enum study_column {
    STUDY_STEP_LOSS,    /* mean loss of the epoch's steps, as they were taken */
    STUDY_TRAIN_LOSS,   /* of the training rows after the epoch, without dropout */
    STUDY_VAL_LOSS,     /* of the validation rows */
    STUDY_VAL_ACCURACY, /* 0 to 1; NaN but in a classification */
    STUDY_TEST_LOSS,    /* of the test rows: where the validation loss is the lowest so far, at the end, or without
                           validation rows */
    STUDY_TEST_ACCURACY,
    STUDY_DEAD,    /* share of the hidden units whose derivative is next to zero on all validation rows */
    STUDY_SECONDS, /* of training since the run began */
    STUDY_COLUMNS
} study_column;

typedef struct study_epoch {
    double of[STUDY_COLUMNS];
} study_epoch;

typedef struct study_record {
    int epochs;
    study_epoch *epoch; /* [epochs], the first at 0 */
    long parameters;
    int diverged; /* the epoch in which the loss was no number any more, which ends a run; 0: none */
} study_record;

/* Reads FOLDER/NAME.json; an empty record where there is none with this key. */
void study_record_read(study_record *record, const char *folder, const char *name, const char *key);

/* Whether FOLDER/NAME.json is whole and of another key, with one line that says in what they differ. */
bool study_record_is_foreign(const char *folder, const char *name, const char *key, char message[FILES_MESSAGE]);
bool study_record_write(const study_record *record, const char *folder, const char *name, const char *key,
                        char message[FILES_MESSAGE]);
void study_record_free(study_record *record);

/* Adds an epoch; false if memory runs out. */
bool study_record_add(study_record *record, const study_epoch *epoch);

/* A number after epoch 1, 2, ...; NaN where there is none. */
double study_record_at(const study_record *record, int epoch, study_column column);

/* The epoch with the lowest number in a column, among the first `epochs`; 0 where there is none. */
int study_record_lowest(const study_record *record, int epochs, study_column column);

/* Whether a run of so many epochs is over. */
bool study_record_complete(const study_record *record, int epochs);

#endif
