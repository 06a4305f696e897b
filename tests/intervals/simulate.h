/* How often do intervals of a comparison cover the truth, where the truth is known?
 *
 *     simulation_cell cell = {.population = "classes", .rows = 200, .tables = 200, .seeds = 30};
 *     simulation s = simulate(&cell, 1);
 *     simulation_result r = simulation_judge(&s, SIMULATION_ACCURACY, 0, SIMULATION_ROWS, 10);
 *     printf("%.1f %% covered\n", 100 * r.coverage);
 *     simulation_free(&s);
 *
 * Each table is a sample of a population. Each seed splits it anew (60 % training, 20 % validation, 20 % test) and
 * trains nets with ReLU, GELU and SwiGLU, and a second ReLU net that differs by its initial weights only: for that pair
 * the true difference is 0. For the others it is the mean over all tables and seeds.  */
#ifndef TESTS_SIMULATE_H
#define TESTS_SIMULATE_H

#include "examples/programs/run/influence.h"

#include <stdbool.h>
#include <stdint.h>

enum { SIMULATION_PAIRS = 3 };                /* gelu, swiglu and the twin, each against relu */
enum { SIMULATION_LEVEL = SIMULATION_PAIRS }; /* in place of a pair: relu itself */

/* Loss, accuracy, and the measures of run/influence.h in its order; those that the population does not have are NaN. */
enum { SIMULATION_LOSS, SIMULATION_ACCURACY, SIMULATION_OTHERS, SIMULATION_MEASURES = SIMULATION_OTHERS + INFLUENCES };
extern const char *const simulation_measures[SIMULATION_MEASURES];

typedef enum {
    SIMULATION_SEEDS,     /* Student's t over the seeds */
    SIMULATION_CORRECTED, /* the same with Nadeau and Bengio's correction, 1 / n + 1 / 3 */
    SIMULATION_ROWS,      /* statistics_of_rows */
    SIMULATION_SAME,      /* Student's t over the seeds for other splits of the same table */
    SIMULATION_METHODS
} simulation_method;

typedef struct simulation_cell {
    const char *population; /* a name of simulation_populations; behind "first:" all seeds test the same rows */
    int rows, tables, seeds;
} simulation_cell;

typedef struct simulation {
    simulation_cell cell; /* its population without "first:" */
    bool first;
    uint32_t *row; /* [tables, seeds, rows / 5] */
    float *value; /* [tables, seeds, nets, measures, rows / 5]: what each test row adds to the measure, with its mean */
    float *valid; /* [tables, seeds, nets, measures]: of the validation rows */
} simulation;

extern const char *const simulation_populations[]; /* ends with NULL */

/* True if the population has classes. And its kind: 0, or 1 if its targets have heavy tails, 2 if one class is rare, so
 * that some nets predict the other for all rows, or 3 if training sometimes fails. */
int simulation_has_classes(const char *population);
int simulation_kind(const char *population);

/* Trains all nets of a cell; memory that runs out ends the program. */
simulation simulate(const simulation_cell *cell, uint64_t seed);
void simulation_free(simulation *s);

typedef struct simulation_result {
    double coverage;    /* share of tables whose 95 % interval has the truth in it */
    double width;       /* median half-width, over the smallest that would cover 95 %: 1.96 deviations of the means */
    double power;       /* share of tables that show a difference which a z test would find in 80 % of cases */
    double false_alarm; /* share of tables with p < 0.05 if the true difference is taken away */
} simulation_result;

/* A method's intervals from the first `seeds` seeds of each table. For other splits of a table the truth is the mean of
 * its remaining seeds, for whose own error the intervals are widened; NaN if none remain. */
simulation_result simulation_judge(const simulation *s, int measure, int pair, simulation_method method, int seeds);

/* True if the population has the measure. */
int simulation_has(const simulation *s, int measure);

#endif
