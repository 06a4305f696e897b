/* The values that a form may give at a point in some format: the bounds that identify.h explains. */
#ifndef IDENTIFY_INTERVAL_H
#define IDENTIFY_INTERVAL_H

#include "examples/identify/formats.h"
#include "examples/identify/forms.h"

/* From the narrowest interval to the widest, each within the next. */
enum { IDENTIFY_ROUNDED, IDENTIFY_CAREFUL, IDENTIFY_PLAIN, IDENTIFY_ROUGH, IDENTIFY_ARITHMETICS };

typedef struct identify_interval {
    double low, high, value; /* NaN if the form has no finite value */
    double step;             /* expected distance between values in the interval; 0: the format's */
} identify_interval;

/* allowed[count] of x[count], numbers of the format; `memory` is for 6 * count numbers. Resets the tape; false if
 * memory runs out. */
bool identify_intervals(const identify_form *form, const identify_format *format, int kind, tg_tape *tape, size_t count,
                        const double x[], double memory[], identify_interval allowed[]);

#endif
