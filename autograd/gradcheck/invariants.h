/* Properties that every derivative has, exactly or to rounding. Internal. */
#ifndef TG_GRADCHECK_INVARIANTS_H
#define TG_GRADCHECK_INVARIANTS_H

#include "autograd/gradcheck/function.h"

/* Checks all of a function that is set up; false, with the result written, if one does not hold. */
bool tg_check_invariants(tg_check *c);

/* ---- for those of a kind ---- */

/* The result is about derivative number `order` by variable i; -1 if it is about none in particular. */
void tg_check_set_place(tg_check *c, int order, int64_t i, double analytic, double expected);

/* Compares `found` with the derivative of this order, bit by bit. */
bool tg_check_same(tg_check *c, int order, const double *found, tg_gradcheck_status status, const char *what);

/* Compares <v, J u>, of which J u is given and says where it is from, with <J^T v, u>, where v is the cotangent. */
bool tg_check_is_adjoint(tg_check *c, const double *u, const double *product, const char *of_what);

#endif
