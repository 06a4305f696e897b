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
    int digits; /* binary digits of a normal number: its relative rounding error is at most 2^-digits */
    int least;  /* exponent of the smallest number above 0 */
    double (*round)(double);
} identify_format;

extern const identify_format identify_formats[IDENTIFY_FORMATS];

double identify_ulp(const identify_format *format, double x);

/* Some processors and libraries replace results below this by 0. */
double identify_smallest_normal(const identify_format *format);

/* True if a decimal number with the uncertainty `quantum` may be a printed number of the format; sets that number. It
 * is at most half a quantum away, or the decimal is its shortest text that reads back. */
bool identify_printed(const identify_format *format, double decimal, double quantum, double *number);

/* For the shortest text that reads back as x: its number of significant decimal digits, and how many of them follow the
 * point (negative: that many zeros precede the point). */
void identify_decimals(double x, int *significant, int *behind);

#endif
