/* The derivatives of a failing function, element by element, without the random cotangents. Internal. */
#ifndef TG_GRADCHECK_JACOBIAN_H
#define TG_GRADCHECK_JACOBIAN_H

#include "autograd/gradcheck/function.h"

/* The derivative of element j of the derivative below (of the result, at order 1) by variable i: `found` is the
 * analytic derivative for a cotangent that is one at j and else zero, `expected` comes from one-sided differences.
 * Below order 1, cotangents are all one.
 */
typedef struct tg_check_jacobian {
    int64_t rows, columns;    /* j, i */
    double *found, *expected; /* [rows, columns] */
} tg_check_jacobian;

/* False if it is too large, or cannot be computed. The check owns the memory. */
bool tg_check_jacobian_of(tg_check *c, int order, tg_check_jacobian *j);

#endif
