/* The functions that programs compute under the name GELU or another activation: those of the library, and the
 * approximations and variants that runtimes use instead.
 *
 *     for (int i = 0; i < identify_form_count(); i++)
 *         printf("%s: %s\n", identify_form_at(i)->name, identify_form_at(i)->formula);
 */
#ifndef IDENTIFY_FORMS_H
#define IDENTIFY_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <tapegrad.h>

/* ---- the floating-point formats in which programs compute activations ---- */

enum { IDENTIFY_F64, IDENTIFY_F32, IDENTIFY_F16, IDENTIFY_BF16, IDENTIFY_FORMATS };

typedef struct identify_format {
    const char *name;
    int digits; /* binary digits of a normal number: its relative rounding error is at most 2^-digits */
    int least;  /* exponent of the smallest number above 0 */
} identify_format;

extern const identify_format identify_formats[IDENTIFY_FORMATS];

/* The nearest number of the format. */
double identify_round(const identify_format *format, double x);

double identify_ulp(const identify_format *format, double x);

/* Some processors and libraries replace results below this by 0. */
double identify_smallest_normal(const identify_format *format);

/* True if a decimal number with the uncertainty `quantum` may be a printed number of the format; sets that number. It
 * is at most half a quantum away, or the decimal is its shortest text that reads back. */
bool identify_printed(const identify_format *format, double decimal, double quantum, double *number);

/* For the shortest text that reads back as x: its number of significant decimal digits, and how many of them follow the
 * point (negative: that many zeros precede the point). */
void identify_decimals(double x, int *significant, int *behind);

/* ---- the forms ---- */

typedef struct identify_form {
    const char *name, *formula;
    tg_activation activation;   /* the library's activation, unless it is one of these: */
    double (*function)(double); /* another function; */
    double low, high;           /* slope * x + shift, between these; */
    double shift;
    double (*erfc)(double); /* x Phi(x) by this approximation of 1 - erf; */
    double slope;           /* x for x > 0, else this times x */
    const char *used;       /* where that is used; may be NULL */
} identify_form;

enum { IDENTIFY_FORMS = 40, IDENTIFY_MOST = 4096 /* at most: forms, and points that are used */ };

int identify_form_count(void);
const identify_form *identify_form_at(int i);

/* Programs, models and libraries that compute it; may be NULL. */
const char *identify_form_used(const identify_form *form);

/* y[i] = form(x[i]) in double, within a few ulp. Resets the tape; false if memory runs out. */
bool identify_evaluate(const identify_form *form, tg_tape *tape, int64_t count, const double x[], double y[]);

/* ---- the values that a form may give at a point in some format: the bounds that identify.h explains ---- */

/* From the narrowest interval to the widest, each within the next. */
enum { IDENTIFY_ROUNDED, IDENTIFY_CAREFUL, IDENTIFY_PLAIN, IDENTIFY_ROUGH, IDENTIFY_ARITHMETICS };

typedef struct identify_interval {
    double low, high, value; /* NaN if the form has no finite value */
    double step;             /* expected distance between values in the interval; 0: the format's */
} identify_interval;

/* allowed[count] of x[count], numbers of the format. Resets the tape; false if memory runs out. */
bool identify_intervals(const identify_form *form, const identify_format *format, int kind, tg_tape *tape, size_t count,
                        const double x[], identify_interval allowed[]);

#endif
