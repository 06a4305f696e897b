/* Shared by the studies: their context, data, statistics over seeds, and their end.
 *
 *     static int my_study(const study_context *c)
 *     {
 *         study_work work = study_work_of(c);
 *         ... add runs ...
 *         study_outcome outcome = study_work_do(&work, stderr);
 *         sheet *s = sheet_new("..."); ... write the results ...
 *         return study_end(c, &work, &outcome, s, "study_curves.gp");
 *     }
 *
 * A study returns the exit status: 0; 1 if a run failed or a result could not be written; 2 if it could not begin;
 * signals_status() if it was interrupted.
 */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include "examples/report/sheet.h"
#include "examples/report/statistics.h"
#include "examples/run/text.h"
#include "examples/study/work.h"

#include <limits.h>

typedef struct study_settings {
    const char *out, *data, *only;
    bool quick, report_only, no_plots, overwrite;
    sweep sweep;
    int epochs;
} study_settings;

typedef struct study_context {
    const study_settings *settings;
    const char *name;       /* of the study */
    const char *command;    /* that repeats it */
    char folder[PATH_MAX];  /* OUT/NAME, or OUT/NAME-quick */
    char records[PATH_MAX]; /* its records: FOLDER/runs */
} study_context;

typedef struct study {
    const char *name, *about;
    int (*run)(const study_context *c);
    bool no_runs; /* trains nothing, so that options of training have no effect */
    bool no_data; /* reads none */
    bool staged;  /* its runs depend on each other, so single runs cannot be selected */
} study;

/* The studies, in the order in which they are listed. */
int study_gelu_mnist(const study_context *c);
int study_gelu_autoencoder(const study_context *c);
int study_gelu_noise(const study_context *c);
int study_glu_tabular(const study_context *c);
int study_migration(const study_context *c);
int study_shakespeare(const study_context *c);
int study_siren(const study_context *c);
int study_pinn(const study_context *c);
int study_cost(const study_context *c);
int study_claims(const study_context *c);

/* The context of the study with this name; false if the folder's name is too long. */
bool study_context_of(study_context *c, const study_settings *settings, const char *name, const char *command);

/* Prints why a study cannot start or continue; returns the exit status. */
int study_refuse(const char *message, int status);

/* Loads DATA/PATH as "KIND:DATA/PATH" with these options (NULL: none); in a quick study the synthetic data `made`, with
 * this many rows. False, with a message printed, on failure. */
bool study_load(const study_context *c, const char *kind, const char *path, const char *made, size_t rows,
                const dataset_options *options, dataset *set);

/* Loads Shakespeare's plays, DATA/tinyshakespeare/input.txt; in a quick study a few short sentences. */
bool study_load_text(const study_context *c, text_source *text);

/* An empty list of runs with records in the study's folder. */
study_work study_work_of(const study_context *c);

/* Draws with the script (NULL: nothing), writes and prints the report, and frees report and work. Returns the exit
 * status. */
int study_end(const study_context *c, study_work *work, const study_outcome *outcome, sheet *s, const char *script);

/* Writes a first paragraph: the number of complete runs, and a note if this is the quick version. */
void study_say_state(const study_context *c, const study_work *work, const study_outcome *outcome, sheet *s);

/* Adds a number and its 95 % interval to those of the report: KEY, KEY_low and KEY_high. */
void study_put_interval(sheet *s, const char *key, double number, double low, double high);
void study_put_estimate(sheet *s, const char *key, const statistics_estimate *e);

/* A number of another study's report (sheet_number), of the quick version if this is one; NaN if there is none. */
double study_number(const study_context *c, const char *name, const char *key);

/* ---- numbers over seeds ---- */

enum { STUDY_SEEDS = 32 };

/* Median, least and greatest; NaN without values. The range of five runs contains the true median with a probability of
 * 94 %. */
typedef struct study_spread {
    int count;
    double median, low, high;
} study_spread;
study_spread study_spread_of(const double values[], int count);

/* The spread of a column after an epoch; and the epoch with the lowest median, 0 if there is none. */
study_spread study_spread_at(const study_record *const records[], int count, int epoch, study_column column);
int study_lowest_median(const study_record *const records[], int count, int epochs, study_column column);

#endif
