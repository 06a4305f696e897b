/* GELU and SiLU, with two derivatives, to 120 bits by MPFR, from the textbook's formulas.
 *
 *     exact_place *place = exact_new("gelu_exact");
 *     exact_find(place, -13);
 *     double ulp = exact_ulps(place, 1, y, true);     // of y as the first derivative in double
 *     exact_free(place);
 *
 * There is no place if the program was built without MPFR, or for another function.
 */
#ifndef ACCURACY_EXACT_H
#define ACCURACY_EXACT_H

#include <stdbool.h>

typedef struct exact_place exact_place;

bool exact_is_built(void);

/* Owned by the caller; NULL if there is no such function, no MPFR or no memory. */
exact_place *exact_new(const char *function);
void exact_free(exact_place *place);

/* For a finite x; the next two are about this x. */
void exact_find(exact_place *place, double x);

/* The error of y, a float or double, in units in the last place of the exact number; infinite for a y that is not
 * finite. */
double exact_ulps(exact_place *place, int order, double y, bool is_double);
double exact_error(exact_place *place, int order, double y);

#endif
