/* The picture of a comparison, for the code that prints it. */
#ifndef REPORT_COMPARISON_INTERNAL_H
#define REPORT_COMPARISON_INTERNAL_H

#include "examples/programs/report/comparison.h"

typedef struct comparison_picture {
    const comparison *c;
    const comparison_group *groups;
    const comparison_pair *pairs; /* [count] */
    int count, measure;
} comparison_picture;

/* Draws a row for each pair with its difference and 95 % interval, in percent of a loss or in points of an accuracy: in
 * characters for "table", as SVG for "html", and nothing in other formats. */
void comparison_print_picture(const comparison_picture *p, const char *format, FILE *out);

#endif
