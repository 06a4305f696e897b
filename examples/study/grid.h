/* Grids of runs as data: all combinations of some options, over rates and seeds.
 *
 *     static const study_grid depth = {.name = "depth", .data = STUDY_DIGITS,
 *                                      .fixed = "split=redrawn batch=64 epochs=84",
 *                                      .factors = {"activation=relu,gelu_exact", "hidden=64x2,64x4"},
 *                                      .rates = {1e-3, 3e-3}, .seeds = 5};
 *     study_sources from;
 *     study_sources_load(c, &from);
 *     study_grid_add(&work, c, &depth, &from);         // depth-relu-hidden64x2-lr0.001-seed1 and so on: 40 runs
 *     study_work_do(&work, stderr);
 *     study_cell gelu = study_cell_of(&work, c, &depth, "depth-gelu_exact-hidden64x4");
 *     double loss = study_cell_at_best(&gelu, gelu.best, 1, STUDY_TEST_LOSS);        // of seed 1
 *
 * The options are those of `compare`. A cell is named by its grid and the values of its factors: a word as it is, a
 * number behind the option's name.
 */
#ifndef STUDY_GRID_H
#define STUDY_GRID_H

#include "examples/run/text.h"
#include "examples/study/study.h"

/* What is trained on: handwritten digits of 8 x 8 pixels as a table, MNIST, Shakespeare's plays; moons, glyphs and
 * sentences of a few words in the quick version. */
typedef enum study_source { STUDY_DIGITS, STUDY_MNIST, STUDY_PLAYS } study_source;

typedef struct study_sources {
    dataset rows[STUDY_PLAYS];
    text_source plays;
} study_sources;

/* False, said, if one of them is not there. */
bool study_sources_load(const study_context *c, study_sources *from);
void study_sources_free(study_sources *from);

enum { GRID_FACTORS = 4, GRID_RATES = 8 };

typedef struct study_grid {
    const char *name;
    study_source data;
    const char *fixed, *quick;         /* options of all runs; those that the quick version has besides, or instead */
    const char *factors[GRID_FACTORS]; /* "option=value,value"; a flag has the values 0 and 1 */
    double rates[GRID_RATES];          /* ended by 0; the quick version tries the first two */
    int seeds;                         /* the quick version has two */
    void (*more)(trainer *finished, json_t *results); /* as in study_run */
} study_grid;

/* Adds the runs of a grid. False where one of its options is none, or memory runs out. */
bool study_grid_add(study_work *work, const study_context *c, const study_grid *grid, const study_sources *from);

/* The runs of one combination. */
typedef struct study_cell {
    const study_work *work;
    const study_grid *grid;
    const char *name;
    int seeds, rates;
    double
        best; /* the rate with the lowest validation loss, a geometric mean over the seeds; 0: not all are complete */
} study_cell;
study_cell study_cell_of(const study_work *work, const study_context *c, const study_grid *grid, const char *name);

/* The record of a run of the cell; NULL where it is not complete. */
const study_record *study_cell_record(const study_cell *cell, double rate, int seed);

/* A measure of a run, after the epoch with its lowest validation loss; NaN where the run diverged or is not complete.
 */
double study_cell_at_best(const study_cell *cell, double rate, int seed, study_column column);

#endif
