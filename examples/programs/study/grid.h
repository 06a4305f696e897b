/* Grids of runs as data: all combinations of some options, over rates and seeds.
 *
 *     static const study_grid depth = {.name = "depth", .data = STUDY_DIGITS,
 *                                      .fixed = "split=redrawn batch=64 epochs=84",
 *                                      .factors = {"activation=relu,gelu_exact", "hidden=64x2,64x4"},
 *                                      .rates = {1e-3, 3e-3}, .seeds = 5};
 *
 *     study_grids_add(work, &depth, 1, &sources);   // depth-relu-hidden64x2-lr0.001-seed1 and so on: 40 runs
 *     study_work_do(work, stderr);
 *     study_cell gelu = study_cell_of(work, "depth-gelu_exact-hidden64x4");
 *     double loss[STUDY_SEEDS];
 *     int seeds = study_cell_values(&gelu, gelu.best, "test_loss", loss);
 *
 * The options are those of `compare`. The name of a cell has its grid and the values of its factors: words unchanged,
 * numbers after the option's name.
 */
#ifndef STUDY_GRID_H
#define STUDY_GRID_H

#include "examples/programs/study/work.h"

/* The training data, in the folder of --data; the quick version has synthetic data instead. */
typedef enum study_source {
    STUDY_DIGITS, /* optdigits, a table of 8 x 8 pixels */
    STUDY_MNIST,
    STUDY_PLAYS, /* Shakespeare's, the only text */
    STUDY_SOURCES
} study_source;

const char *study_source_name(study_source which);

typedef struct study_sources {
    bool is_loaded[STUDY_SOURCES];
    run_source source[STUDY_SOURCES];
} study_sources;

enum { GRID_FACTORS = 4, GRID_RATES = 8 };

typedef struct study_grid {
    const char *name; /* prefix of the names of its cells; NULL: none */
    study_source data;
    const char *fixed, *quick;         /* options of all runs; options that the quick version adds or replaces */
    const char *factors[GRID_FACTORS]; /* "option=value,value"; a flag has the values 0 and 1 */
    double rates[GRID_RATES];          /* ended by 0 */
    int seeds;                         /* the quick version has two */
    bool keeps_model, reconstructs;    /* as in study_run and run_spec */
    bool keeps_curves;                 /* in curves.csv.gz */
    void (*more)(trainer *finished, json_t *results);
} study_grid;

/* Loads what some grids train on. False, said, if that fails; to be freed also then. */
bool study_sources_load(study_sources *from, const study_context *c, const study_grid grids[], int count);
void study_sources_free(study_sources *from);

/* Adds the runs of some grids, all of the first seed first. False where an option is none, or memory runs out. */
bool study_grids_add(study_work *work, const study_grid grids[], int count, const study_sources *from);

enum { STUDY_SEEDS = 32 };

/* ---- cells ---- */

/* The runs of one combination. */
typedef struct study_cell {
    const study_work *work;
    const study_grid *grid;
    const char *name;
    int seeds, rates; /* numbers of them */
    int complete;     /* seeds, from the first on, that are complete at the best rate */
    bool whole;       /* all seeds are complete at all rates, and there are any */
    double best;      /* of the rates with the most complete seeds that with the lowest validation loss; 0: none */
} study_cell;

/* The cell with this name; without seeds and rates if there is none. */
study_cell study_cell_of(const study_work *work, const char *name);

/* The record of a run of the cell; NULL if the run is not complete. */
const study_record *study_cell_record(const study_cell *cell, double rate, int seed);

/* A number of the results (study_record_result) of each seed at a rate, NaN for a run that diverged or is not complete;
 * returns the number of seeds, from the first on, that are complete. */
double study_cell_value(const study_cell *cell, double rate, const char *name, int seed);
int study_cell_values(const study_cell *cell, double rate, const char *name, double values[STUDY_SEEDS]);

#endif
