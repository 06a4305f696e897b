/* Draws charts of a gradient check as SVG inside an HTML page, with colours that colour-blind readers can distinguish
 * (Okabe and Ito), and marks of different shapes.
 *
 *     check_chart_errors(to, &table);          // the worst relative error of each row, by category
 *     check_chart_steps(to, &curve);           // the error of a difference over its step
 */
#ifndef GRADCHECK_CHECK_CHARTS_H
#define GRADCHECK_CHECK_CHARTS_H

#include "examples/gradcheck/check_table.h"
#include "examples/gradcheck/steps.h"

/* The CSS of both charts, for the head of the page. */
extern const char check_chart_style[];

/* A mark for a result, in a line of text. */
void check_chart_mark(FILE *to, verdict which);

void check_chart_errors(FILE *to, const check_table *table);
void check_chart_steps(FILE *to, const steps_curve *curve);

#endif
