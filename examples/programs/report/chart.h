/* Draws curves as SVG inside an HTML file, without any other program: for pages that change while a program runs.
 *
 *     double relu[] = {1, 0.9, 2, 0.7, 3, 0.6};                           // pairs of x and y
 *     chart_write(to, "validation loss", "epoch", &(chart_line){.name = "relu", .pairs = relu, .count = 3}, 1);
 */
#pragma once

#include "examples/programs/system/standard.h"

typedef struct chart_line {
    const char *name;
    int group;           /* lines of a group share its colour and one entry in the legend; 0, 1, ... */
    const double *pairs; /* [count, 2]: x and y; a y that is not finite is a gap */
    size_t count;
} chart_line;

/* Writes nothing if no line has a point. The y axis is logarithmic if all y are positive and the largest is more than
 * ten times the smallest. */
void chart_write(FILE *to, const char *title, const char *across, const chart_line *lines, int count);
