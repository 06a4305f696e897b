/* Grids of runs as data: all combinations of some options, over rates and seeds.
 *
 *     static const study_grid depth = {.name = "depth", .data = STUDY_DIGITS,
 *                                      .fixed = "split=redrawn batch=64 epochs=84",
 *                                      .factors = {"activation=relu,gelu_exact", "hidden=64x2,64x4"},
 *                                      .rates = {1e-3, 3e-3}, .seeds = 5};
 *
 *     study_grids_add(work, c, &depth, 1, &sources);   // depth-relu-hidden64x2-lr0.001-seed1 and so on: 40 runs
 *     study_work_do(work, stderr);
 *     study_cell gelu = study_cell_of(work, c, &depth, "depth-gelu_exact-hidden64x4", 0);
 *     double loss = study_cell_at_best(&gelu, gelu.best, 1, STUDY_TEST_LOSS);        // of seed 1
 *
 * The options are those of `compare`. The name of a cell has its grid and the values of its factors: words unchanged,
 * numbers after the option's name.
 */
#ifndef STUDY_GRID_H
#define STUDY_GRID_H

#include "examples/run/source.h"
#include "examples/study/work.h"

/* The training data, in the folder of --data; the quick version has synthetic data instead, and only the first
 * STUDY_QUICK_TABLES tables. */
typedef enum study_source {
    STUDY_CONCRETE,
    STUDY_ENERGY,
    STUDY_AIRFOIL,
    STUDY_IRIS,
    STUDY_QUICK_TABLES,
    STUDY_WDBC = STUDY_QUICK_TABLES,
    STUDY_WINE_RED,
    STUDY_WINE_WHITE,
    STUDY_CALIFORNIA,
    STUDY_DIGITS, /* optdigits, a table of 8 x 8 pixels */
    STUDY_TABLES,
    STUDY_MNIST = STUDY_TABLES,
    STUDY_PLAYS, /* Shakespeare's, the only text */
    STUDY_SOURCES
} study_source;

const char *study_source_name(study_source which);

typedef struct study_sources {
    const char *name[STUDY_SOURCES];
    dataset rows[STUDY_PLAYS];
    text_source plays;
} study_sources;

/* Loads the sources from `first` up to `end`. False, said, if that fails; to be freed also then. */
bool study_sources_load(study_sources *from, const study_context *c, study_source first, study_source end);
void study_sources_free(study_sources *from);

enum { GRID_FACTORS = 4, GRID_RATES = 8 };

typedef struct study_grid {
    const char *name; /* prefix of the names of its cells; NULL: none */
    study_source data;
    const char *fixed, *quick;         /* options of all runs; options that the quick version adds or replaces */
    const char *factors[GRID_FACTORS]; /* "option=value,value"; a flag has the values 0 and 1 */
    double rates[GRID_RATES];          /* ended by 0; the quick version tries the first two */
    int seeds;                         /* the quick version has two */
    bool keeps_model, reconstructs;    /* as in study_run and run_spec */
    void (*more)(trainer *finished, json_t *results);
} study_grid;

enum { STUDY_SEEDS = 32 };

/* Adds the runs of some grids, all of the first seed first. False where an option is none, or memory runs out. */
bool study_grids_add(study_work *work, const study_context *c, const study_grid grids[], int count,
                     const study_sources *from);

/* The runs of one combination. */
typedef struct study_cell {
    const study_work *work;
    const study_grid *grid;
    char name[STUDY_NAME];
    int seeds, rates; /* numbers of them */
    double best;      /* the rate of the lowest validation loss (geometric mean over seeds); 0: some are incomplete */
} study_cell;

/* The cell with this name, with its first `seeds` seeds; 0: all. */
study_cell study_cell_of(const study_work *work, const study_context *c, const study_grid *grid, const char *name,
                         int seeds);

/* A run of the cell, and its record; NULL if it is not complete. */
const study_run *study_cell_run(const study_cell *cell, double rate, int seed);
const study_record *study_cell_record(const study_cell *cell, double rate, int seed);

/* The records that are complete, or with `begun` at least begun; returns their number. */
int study_cell_records(const study_cell *cell, double rate, bool begun, const study_record *records[STUDY_SEEDS]);

/* A measure of a run, after the epoch with its lowest validation loss; NaN if the run diverged or is not complete.
 */
double study_cell_at_best(const study_cell *cell, double rate, int seed, study_column column);

/* Across seeds, the logarithm of the test loss is used: without normalisation, one outlier row may be off by a factor
 * of a thousand. */
void study_cell_losses(const study_cell *cell, double rate, double logarithms[STUDY_SEEDS]);

#endif
