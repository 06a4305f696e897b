/* A study: a grid of runs, which are options of `compare`; what was published; and a sentence for each comparison. The
 * program does the rest: it trains what is missing, keeps the runs, and writes the report.
 *
 *     const study study_shakespeare = {.name = "shakespeare", .about = "activations in a small GPT",
 *                                      .title = "Activations in a small GPT", .protocol = "4 layers, ...",
 *                                      .grids = grids, .grid_count = 4, .cells = cells, .measure = "best_val_loss",
 *                                      .published = published, .comparisons = comparisons};
 *
 * The exit status is 0; 1 where a run failed or a result could not be written; 2 where the study could not begin;
 * signals_status() where it was interrupted.
 */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include "examples/programs/report/sheet.h"
#include "examples/programs/report/statistics.h"
#include "examples/programs/study/runs.h"
#include "plots/plots.h"

/* A published number, which is compared with the median of our seeds. */
typedef struct study_published {
    const char *cell, *source; /* NULL ends the list; "figure 2", "course report" */
    double rate;               /* at which it was measured; 0: not said, so ours is at the best and at the first rate */
    const char *result;        /* "test_loss", or "lowest val_loss": the lowest median after the epochs of the grid */
    double value, within;      /* it is met within this, or between the least and the greatest of our seeds */
    const char *less;          /* of a study with levels: the number is the difference from this form */
} study_published;

/* "Is SwiGLU better than GELU (both reports: yes)?": whether the cell's measure is lower than the other's. */
typedef struct study_comparison {
    const char *cell, *other, *text; /* NULL ends the list */
} study_comparison;

/* Cells of one grid at three scales of the initial weights: PREFIX, a form of `cells`, and the scale. */
enum { STUDY_LEVELS = 3 };
typedef struct study_levels {
    const char *prefix, *about; /* NULL ends the list */
    bool is_text;               /* exp(loss) is a perplexity */
    const char *level[STUDY_LEVELS], *shown[STUDY_LEVELS];
} study_levels;

typedef struct study_results {
    const struct study *of;
    const study_context *c;
    study_sources from;
    study_work work;
    study_outcome outcome;
    plots_outcome drawn; /* by study_picture */
    bool broken;         /* something could not be read or written: */
    tg_error error;
} study_results;

typedef struct study {
    const char *name, *about, *title, *protocol;
    const study_grid *grids;
    int grid_count;

    const char *const *cells; /* that are shown, ended by NULL */
    const char *measure;      /* a result, smaller is better, by which they are compared */
    bool ratio;               /* as a ratio of geometric means, not as a difference of means */
    double rate;              /* all are compared at this rate; 0: each at its best by validation */
    int pairs;                /* so many cells, from the first on, are compared in all pairs */
    const study_published *published;
    const study_comparison *comparisons;
    const study_levels *levels; /* at each of which the cells are compared (levels.c) */

    /* In place of the report that follows from these. */
    void (*report)(study_results *r, sheet *s);
} study;

/* The studies, in the order in which they are listed and, with the name `all`, done. */
#define STUDIES     STUDY(gelu_mnist) STUDY(gelu_autoencoder) STUDY(shakespeare) STUDY(deviation) STUDY(claims)
#define STUDY(name) extern const study study_##name;
STUDIES
#undef STUDY

/* Trains what is missing, and writes and prints the report; the exit status. */
int study_do(const study *s, const study_context *c);

/* Prints why a study cannot start or continue; returns the exit status. */
int study_refuse(const char *message, int status);

/* The reports of a study's data (compared.c, levels.c). */
void study_compare(study_results *r, sheet *s);
void study_compare_levels(study_results *r, sheet *s);

/* "0.442 times (0.321 to 0.770)", "-0.31 (-0.40 to -0.22)": an estimate, of a ratio its logarithm, and its interval. */
enum { STUDY_INTERVAL = 120 };
void study_say_interval(const statistics_estimate *e, const char *format, bool ratio, bool times,
                        char text[STUDY_INTERVAL]);

/* For a report: writes FOLDER/NAME, and draws by a script of plots/ the picture that the report then has, unless
 * something could not be written. */
void study_file(study_results *r, const char *name, files_writer *write, const void *context);
void study_picture(study_results *r, sheet *s, const char *script, const char *file, const char *says);

#endif
