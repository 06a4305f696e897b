/* Properties that every derivative has, exactly or to rounding. Internal. */
#ifndef TG_GRADCHECK_INVARIANTS_H
#define TG_GRADCHECK_INVARIANTS_H

#include "autograd/gradcheck/function.h"

/* Checks all invariants of a function that is set up; false, with the result written, if one fails. */
bool tg_check_invariants(tg_check *c);

/* ---- for those of a kind ---- */

/* Makes the result name derivative number `order` by variable i; -1 for no variable in particular. */
void tg_check_set_place(tg_check *c, int order, int64_t i, double analytic, double expected);

/* Compares `found` with the derivative of this order, bit by bit. */
bool tg_check_same(tg_check *c, int order, const double *found, tg_gradcheck_status status, const char *what);

/* Compares <v, J u> with <J^T v, u>, where v is the cotangent. The caller gives J u and its source, for messages. */
bool tg_check_is_adjoint(tg_check *c, const double *u, const double *product, const char *of_what);

#endif
