/* A small curve in letters, which grows to the right while a run goes on; no state but its points, no terminal.
 *
 *     progress_curve curve = {0};
 *     progress_curve_add(&curve, 0.25, 1.7);                      // a quarter of the run, the loss there
 *     for (int line = 0; line < PROGRESS_CURVE_LINES; line++)
 *         progress_curve_write(&curve, line, true, out), putc('\n', out);
 */
#ifndef LAB_PROGRESS_CURVE_H
#define LAB_PROGRESS_CURVE_H

#include <stdbool.h>
#include <stdio.h>

enum { PROGRESS_CURVE_LINES = 6, PROGRESS_CURVE_COLUMNS = 56, PROGRESS_CURVE_WIDTH = PROGRESS_CURVE_COLUMNS + 9 };

typedef struct progress_curve {
    double sum[PROGRESS_CURVE_COLUMNS]; /* of the points in a column */
    int count[PROGRESS_CURVE_COLUMNS];
} progress_curve;

/* What is not finite is left out. */
void progress_curve_add(progress_curve *curve, double fraction, double loss);

/* Whether two columns have points: before that there is nothing to see. */
bool progress_curve_is_there(const progress_curve *curve);

/* Logarithmic where the highest is more than ten times the lowest. One line of at most PROGRESS_CURVE_WIDTH columns,
 * the highest first, without a newline. */
void progress_curve_write(const progress_curve *curve, int line, bool utf8, FILE *to);

#endif
