/* The floating-point formats in which programs compute activations.
 *
 *     const identify_format *f16 = &identify_formats[IDENTIFY_F16];
 *     f16->round(0.1);                              // 0.0999755859375
 *     identify_ulp(f16, 0.1);                       // 2^-14, the distance between its numbers there
 */
#ifndef IDENTIFY_FORMATS_H
#define IDENTIFY_FORMATS_H

#include <stdbool.h>

enum { IDENTIFY_F64, IDENTIFY_F32, IDENTIFY_F16, IDENTIFY_BF16, IDENTIFY_FORMATS };

typedef struct identify_format {
    const char *name;
    int digits; /* binary, of a normal number: its rounding error is 2^-digits of it at most */
    int least;  /* exponent of the smallest number above 0 */
    double (*round)(double);
} identify_format;

extern const identify_format identify_formats[IDENTIFY_FORMATS];

double identify_ulp(const identify_format *format, double x);

/* Below this, some processors and libraries put 0 in place of a result. */
double identify_smallest_normal(const identify_format *format);

/* Whether a decimal number of so much uncertainty, `quantum`, may be how a number of the format was printed, and then
 * which: one at most half a quantum away, or one whose shortest text that reads back as it is this one. */
bool identify_printed(const identify_format *format, double decimal, double quantum, double *number);

/* How many significant decimal digits the shortest text of x has that reads back as x, and how many of them stand
 * behind the point (less than 0: as many zeros before it). */
void identify_decimals(double x, int *significant, int *behind);

#endif
