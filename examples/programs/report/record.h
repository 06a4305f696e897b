/* The record of a run, in one struct: what it is, and its numbers. Trainers, folders, logs, tables and verdicts all
 * have this one; fields.def lists its numbers, from which members, columns of files, members of result.json and their
 * readers follow.
 *
 *     runlog_run run = runlog_run_new();                    // all numbers are NaN
 *     run.group = "relu";
 *     run.seed = 3;
 *     runlog_finish_run(&run, 0);
 *     run.net.of[RUNLOG_TEST].accuracy = 0.97;
 *     run.net.values[RUNLOG_TEST * RUNLOG_MEASURES + RUNLOG_MEASURE_accuracy]      // the same number, chosen by index
 *
 * record_read (run/record.h) fills it from a run's folder, runs_read (runs_file.h) from files of other programs, whose
 * measures are any values. */
#pragma once

#include "examples/programs/system/standard.h"

/* ---- its numbers: fields.def names them ---- */

/* The measures of a net on some rows; NaN for those that do not apply to the task or the data. */
enum {
#define MEASURE_FIELD(member, ...) RUNLOG_MEASURE_##member,
#include "examples/programs/report/fields.def"
    RUNLOG_MEASURES
};
typedef union runlog_measures {
    struct {
#define MEASURE_FIELD(member, ...) double member;
#include "examples/programs/report/fields.def"
    };
    double all[RUNLOG_MEASURES];
} runlog_measures;
extern const runlog_measures runlog_no_measures; /* all NaN */

/* One finished epoch of one run. */
enum {
#define EPOCH_FIELD(member, ...) RUNLOG_EPOCH_##member,
#include "examples/programs/report/fields.def"
    RUNLOG_EPOCH_FIELDS
};
typedef struct runlog_epoch {
    int epoch;
    long step; /* steps since the start of the run */
    union {
        struct {
#define EPOCH_FIELD(member, ...) double member;
#include "examples/programs/report/fields.def"
        };
        double all[RUNLOG_EPOCH_FIELDS];
    };
} runlog_epoch;

/* Their names in files, and tags in event files, which may be NULL. */
typedef struct runlog_field {
    const char *name, *tag;
} runlog_field;
extern const runlog_field runlog_measure_fields[RUNLOG_MEASURES], runlog_epoch_fields[RUNLOG_EPOCH_FIELDS];

/* The splits on which the net of a run's best epoch, which is the one that is saved, is measured. */
typedef enum { RUNLOG_TRAIN, RUNLOG_VALIDATION, RUNLOG_TEST, RUNLOG_SPLITS } runlog_split;
extern const char *const runlog_splits[RUNLOG_SPLITS]; /* "train", "validation", "test" */

/* Other results of a run: rows of numbers, by kind. */
typedef enum {
    RUNLOG_STEPS,     /* [, 2]: a step, and the mean training loss of the steps since the previous entry */
    RUNLOG_CONFUSION, /* [classes, classes]: test rows (or else validation rows) by label and by prediction, at the best
                         epoch */
    RUNLOG_NOISE,     /* [, 3]: level of the noise that is added to these rows, loss, accuracy */
    RUNLOG_SURFACE,   /* [side * side, 4]: two features, the predicted class, and its probability */
    RUNLOG_POINTS,    /* [, 3]: two features of a row, and its label */
    RUNLOG_LOSSES,    /* [, 2]: an epoch, and its validation loss; runlog_add_epoch adds them */
    RUNLOG_SERIES
} runlog_series;
enum { RUNLOG_CLASSES = 1000, RUNLOG_SURFACE_SIDE = 120, RUNLOG_POINTS_MOST = 300 };

typedef struct runlog_numbers {
    double *numbers; /* [count] */
    size_t count;
} runlog_numbers;

/* The measures of single rows, in the order of rows.csv: their mean is the measure of the split. */
enum {
#define ROW_FIELD(member, ...) RUNLOG_ROW_##member,
#include "examples/programs/report/fields.def"
    RUNLOG_ROW_MEASURES
};
/* rows.csv as numbers: a row's number in its table, and its values by the net and by a constant prediction. */
enum { RUNLOG_ROW = 1 + 2 * RUNLOG_ROW_MEASURES };

/* ---- a run ---- */

enum { RUNLOG_VALUES = RUNLOG_SPLITS * RUNLOG_MEASURES };

/* What a net gets, or a constant prediction on the same rows. */
typedef struct runlog_values {
    bool measured[RUNLOG_SPLITS]; /* on these splits */
    union {
        runlog_measures of[RUNLOG_SPLITS];
        double values[RUNLOG_VALUES]; /* NaN: it diverged, or has no such value */
    };
    const double *rows[RUNLOG_MEASURES]; /* [row_count]: of the rows below; their mean is the measure; NULL: unknown */
} runlog_values;

/* The test loss with another activation, or with rounded weights. */
typedef struct runlog_variant {
    char name[64];
    double loss;
} runlog_variant;

enum {
#define RUN_FIELD(member) RUNLOG_RUN_##member,
#include "examples/programs/report/fields.def"
    RUNLOG_RUN_FIELDS
};

typedef struct runlog_run {
    const char *group;     /* what is compared: an activation, a net; */
    int activation, point; /* in a log its place there, and that of its point of a search */
    uint64_t seed;
    int fold;      /* from 1; 0: none */
    double number; /* the value of the first setting of its point */
    bool finished;
    union {
        struct {
#define RUN_FIELD(member) long member;
#include "examples/programs/report/fields.def"
        };
        long whole[RUNLOG_RUN_FIELDS];
    };
    runlog_values net, constant; /* of the best epoch's net */
    size_t row_count;            /* test rows, or else validation rows; 0: unknown */
    const uint32_t *rows;        /* [row_count]: their numbers in the table */
    double *row_memory;          /* of the rows and their values */
    /* [row_count]: in the loss, and in other measures; 1 on average; owned; NULL: all are 1, or unknown */
    double *row_weights[2];
    runlog_epoch *epoch; /* [count] */
    int count;
    runlog_numbers series[RUNLOG_SERIES];
    runlog_variant *variant; /* [variants] */
    int variants;
} runlog_run;

/* The name of a whole number in result.json. */
extern const char *const runlog_run_fields[RUNLOG_RUN_FIELDS];

/* A run without anything; all its values are NaN. What it points to is freed with it, unless it is a log's. */
runlog_run runlog_run_new(void);
void runlog_run_free(runlog_run *run);

/* Adds the next epoch; and the loss of a variant. */
void runlog_add_epoch(runlog_run *to, const runlog_epoch *epoch);
void runlog_add_variant(runlog_run *to, const char *name, double loss);

/* Appends whole rows of numbers to those of this kind. */
void runlog_add_series(runlog_run *to, runlog_series kind, const double *numbers, size_t count);

/* Sets the test rows (or else validation rows), [count, RUNLOG_ROW] as rows.csv has them. */
void runlog_set_rows(runlog_run *to, const double *rows, size_t count);

/* Sets the weights of these rows in the loss, or in `others`, 1 on average. Each value v with the weight w has then been
 * set as m + w (v - m), m being the weighted mean, so that plain means and variances are those of a weighted mean. */
void runlog_set_row_weights(runlog_run *to, bool others, const double *weights);

/* Ends a run; if it diverged, in an epoch, it has no measures. */
void runlog_finish_run(runlog_run *to, long diverged);

/* The last epoch that the trainer marked as the best so far; NULL if there is none. */
const runlog_epoch *runlog_best_epoch(const runlog_run *run);

/* The class, from 1, that a run predicts for all its test rows; 0: several, or unknown. */
int runlog_only_answer(const runlog_run *run, size_t classes);
