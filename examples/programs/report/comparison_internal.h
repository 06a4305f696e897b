/* Parts of a printed comparison: its picture, and what it says of the constant prediction. */
#pragma once

#include "examples/programs/report/comparison.h"

/* The beginning of a name, for "%.*s". */
#define SHORT(name) plain_length(name, 64), name

/* The group whose runs show what a constant prediction gets: the first of which all are known. NULL: none. */
const comparison_group *comparison_with_constant(const comparison *c, const comparison_group *groups, int count,
                                                 int measure);

/* "no net beats the constant prediction, 80.00 % (relu comes nearest: -0.3 points, -1.6 to 1.0)", "no net significantly
 * beats the constant prediction, 80.00 % (relu, the best: +0.3 points, -1.0 to 1.6)", or which do not; empty if all do,
 * or if that is unknown. */
void comparison_say_constant(const comparison *c, const comparison_group *groups, int count, int measure, int decimals,
                             char *text, size_t size);

/* True if a run is compared with its constant prediction in this measure: it is judged, and known of any run. */
bool comparison_is_beside_constant(const comparison *c, int measure);

/* True if a run has learned more than its constant prediction knows: its loss is lower, or it classifies more rows
 * correctly than chance explains (McNemar: two standard deviations), for a net that is right but too sure has a large
 * loss. With `surely` its loss has to be lower than chance explains, too, where that of each row is known. True if that
 * is unknown. */
bool comparison_has_learned(const comparison *c, const runlog_run *run, bool surely);

/* The number of a group's runs that predict one class for all their test rows, and its name; NULL: several, or none. */
int comparison_only_answer(const comparison *c, const comparison_group *group, const char **name);

typedef struct comparison_picture {
    const comparison *c;
    const comparison_group *groups;
    const comparison_pair *pairs; /* [count] */
    int count, measure;
} comparison_picture;

/* Draws a row for each pair with its difference and 95 % interval, in percent of a loss or in points of an accuracy: in
 * characters for "table", as SVG for "html", and nothing in other formats. */
void comparison_print_picture(const comparison_picture *p, const char *format, FILE *out);
