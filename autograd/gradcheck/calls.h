/* Calls of the functions of a black box. Internal. */
#ifndef TG_GRADCHECK_CALLS_H
#define TG_GRADCHECK_CALLS_H

#include "autograd/gradcheck/function.h"

enum { TG_CHECK_VALUE, TG_CHECK_VJP, TG_CHECK_JVP, TG_CHECK_JACOBIAN };

/* The functions of the kind: allocates the arrays; computes value and gradient at x, where `out` is not NULL. */
bool tg_check_measure_box(tg_check *c);
bool tg_check_call_box(tg_check *c, int level, const double *x, double *const *out /* [2] */);

/* The function that gradients are computed from. */
int tg_check_source_of_gradients(const tg_check *c);

/* J u at x, from the jvp or the Jacobian. */
bool tg_check_product(tg_check *c, int which, const double *x, const double *u, double *out);

#endif
