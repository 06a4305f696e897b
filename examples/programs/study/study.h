/* A study: what it trains, and the report that follows from the results. The program does the rest.
 *
 *     typedef struct results {
 *         study_results of; // first: what every study has
 *         double loss[FORMS];
 *     } results;
 *     const study study_shakespeare = {"shakespeare", "activations in a small GPT", sizeof(results), report,
 *                                      .title = "Activations in a small GPT", .grids = grids, .grid_count = 4};
 *
 * The exit status is 0; 1 where a run failed or a result could not be written; 2 where the study could not begin;
 * signals_status() where it was interrupted.
 */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include "examples/programs/report/sheet.h"
#include "examples/programs/report/statistics.h"
#include "examples/programs/study/grid.h"
#include "plots/plots.h"

typedef struct study_results {
    const study_context *c;
    study_context owner; /* of the study whose records these are */
    study_sources from;
    study_work work;
    study_outcome outcome;
    plots_outcome drawn; /* by study_picture */
    bool broken;         /* something could not be read or written: */
    tg_error error;
} study_results;

typedef struct study {
    const char *name, *about;
    size_t size; /* of its results, which begin as zeros */

    /* Gathers from the records what is shown, and says it. */
    void (*report)(void *results, sheet *s);
    const char *title;

    const char *of; /* the study whose records `work` has at first; NULL: its own */

    /* Its runs: none, those of some grids, or what `add` adds, which may do a part of the work first and returns false
     * when memory runs out. It reads the data of the grids. */
    const study_grid *grids;
    int grid_count;
    bool (*add)(void *results);

    bool staged; /* its runs depend on each other, so single runs cannot be selected */
} study;

/* The studies, in the order in which they are listed: examples/programs/study/NAME.c or so. */
#define STUDIES             \
    STUDY(gelu_mnist)       \
    STUDY(gelu_autoencoder) \
    STUDY(gelu_noise)       \
    STUDY(glu_tabular) STUDY(migration) STUDY(shakespeare) STUDY(cost) STUDY(claims)
#define STUDY(name) extern const study study_##name;
STUDIES
#undef STUDY

/* Trains what is missing, and writes and prints the report; the exit status. */
int study_do(const study *s, const study_context *c);

/* Prints why a study cannot start or continue; returns the exit status. */
int study_refuse(const char *message, int status);

/* For a report: writes FOLDER/NAME, and draws by a script of plots/ the picture that the report then has, unless
 * something could not be written. */
void study_file(study_results *r, const char *name, files_writer *write, const void *context);
void study_picture(study_results *r, sheet *s, const char *script, const char *file, const char *says);

/* Adds a number and its 95 % interval to those of the report: KEY, KEY_low and KEY_high. */
void study_put_interval(sheet *s, const char *key, double number, double low, double high);
void study_put_estimate(sheet *s, const char *key, const statistics_estimate *e);

/* A number of another study's report (sheet_number), of the quick version if this is one; NaN if there is none. */
double study_number(const study_context *c, const char *name, const char *key);

/* How the test loss differs between two things that were trained on the same tables and seeds. */
typedef struct study_change {
    statistics_estimate ratio; /* logarithm of the ratio of the losses, over the tables */
    int lower, higher; /* tables with a significant difference: t tests, paired by seed, corrected by Holm's method */
} study_change;

/* From the logarithms of the losses: [tables][seeds]. */
study_change study_change_of(const double to[][STUDY_SEEDS], const double from[][STUDY_SEEDS], int tables, int seeds);

/* ---- a measure over the epochs, beside what was published ---- */

typedef struct study_mark {
    const char *kind; /* "validation" or "train" */
    int epoch;
    double loss; /* NaN: not published */
} study_mark;

typedef struct study_curve {
    char panel[40];
    const char *name;
    double rate;
    int count;
    const study_record *records[STUDY_SEEDS];
    const study_mark *mark; /* [marks] */
    int marks;
} study_curve;

enum { STUDY_CURVES = 8 };
typedef struct study_curves {
    const char *measure;
    study_column column, train; /* the measure, and the same in training */
    int epochs, count;
    study_curve curve[STUDY_CURVES];
} study_curves;

/* Writes curves.csv and published.csv, and draws them if there is a record. */
void study_put_curves(study_results *r, sheet *s, const study_curves *curves, const char *says);

#endif
