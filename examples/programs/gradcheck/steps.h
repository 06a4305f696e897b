/* Draws the error of finite differences over the step, a V of truncation and rounding, for an element of an operation.
 *
 *     steps_place place;
 *     if (!steps_find(&all, "gelu_exact:0:3", &place, &error))      // NAME[:input[:element]]
 *         return fprintf(stderr, "gradcheck: --plot: %s\n", error.text), 2;
 *     steps_curve curve;
 *     if (steps_compute(&place, seed, &curve, &error))
 *         outcome = steps_draw(&curve, "results", &error);          // steps.csv, steps.png, steps.svg
 */
#pragma once

#include "examples/programs/gradcheck/subjects.h"
#include "plots/plots.h"

enum { STEPS = 48 };

typedef struct steps_place {
    const subject *what;
    int input;       /* -1: any */
    int64_t element; /* in memory order; -1: any */
} steps_place;

/* The error of a difference: of the plain one, after one extrapolation from steps 2h and h, and after two. Relative,
 * where the derivative is not 0. */
typedef struct steps_error {
    double step; /* relative to the size of the element */
    double central, once, twice;
} steps_error;

typedef struct steps_curve {
    const subject *what;
    char where[160]; /* "element 5 of input 0 in sample 0: ..." */
    steps_error steps[STEPS];
    int count;
} steps_curve;

/* Parses the argument of --plot. False, and one line, if there is no such operation, input or element. */
bool steps_find(const subjects *all, const char *text, steps_place *place, tg_error *error);

/* False, and one line, if there is nothing to draw. */
bool steps_compute(const steps_place *place, uint64_t seed, steps_curve *curve, tg_error *error);

/* Makes the folder, writes steps.csv into it, and draws steps.png and steps.svg. */
plots_outcome steps_draw(const steps_curve *curve, const char *folder, tg_error *error);
