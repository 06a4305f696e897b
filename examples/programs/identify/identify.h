/* Identifies the function, and its arithmetic, that made pairs (x, y).
 *
 *     identify_result found;
 *     if (!identify(pairs, count, &found))
 *         return fputs("out of memory\n", stderr), 1;
 *     if (found.form)
 *         printf("%s\n", found.form->name);
 *
 * Each form and format gives intervals for y at each x, for four levels of care in a program. Rounded: within 0.51 ulp
 * of the form's value. Careful: within 2 ulp of the form's values between x (1 - 2u) and x (1 + 2u), u being the
 * format's rounding error. Plain: u max(1, |x|) more, for formulas in which a result near 0 is the difference of larger
 * numbers. Rough: 4 ulp, 8u and 4u max(1, |x|), for programs that round after each operation. In double, where the
 * reference is no more exact than the program, 8 ulp. Printed numbers have half a unit of their last digit more.
 *
 * A candidate with a point outside of the rough interval is ruled out. For the others the probability of a point is the
 * mean, over the four intervals, of 1 / (number of values in the interval), or 0 outside of it. A form is named if all
 * others together have a probability below one in a million, and there are at least IDENTIFY_LEAST points.
 */
#ifndef IDENTIFY_IDENTIFY_H
#define IDENTIFY_IDENTIFY_H

#include "examples/programs/identify/forms.h"

#include <stddef.h>

enum { IDENTIFY_LEAST = 8 };

typedef struct identify_pair {
    double x, y; /* finite */
} identify_pair;

/* A form in its best format. */
typedef struct identify_candidate {
    const identify_form *form;
    const identify_format *format; /* where it fits best */
    double share;          /* probability among all forms; 0: in every format, some point lies outside its interval */
    size_t fits;           /* points in the rough interval */
    double worst, worst_x; /* largest distance of y from the form, in ulp of the largest of 1, |x| and |y| or in
                              units of the last digit of y, whichever is larger; and where */
    unsigned formats;      /* bit f: it may have been computed in identify_formats[f]; 0: ruled out */
} identify_candidate;

typedef struct identify_result {
    size_t points;                                 /* different ones that were used */
    identify_candidate candidates[IDENTIFY_FORMS]; /* the most probable first, then those that miss fewest points */
    int count;
    const identify_form *form; /* the identified form; NULL: several are possible, or none */
} identify_result;

/* Sorts the pairs; duplicates count once, and of more than IDENTIFY_MOST points an even selection is used. False if
 * memory runs out. */
bool identify(identify_pair pairs[], size_t count, identify_result *result);

/* Points that distinguish the forms in f32, f16 and bf16; all three formats represent them exactly. Writes at most
 * IDENTIFY_MOST to x[], ascending, and returns their number; 0 if memory runs out. */
size_t identify_points(double x[IDENTIFY_MOST]);

#endif
