/* What holds of a derivative exactly, or to rounding, whatever the function is. Internal. */
#ifndef TG_GRADCHECK_INVARIANTS_H
#define TG_GRADCHECK_INVARIANTS_H

#include "autograd/gradcheck/function.h"

/* Checks all of a function that is set up; false, with the result written, if one does not hold. */
bool tg_check_invariants(tg_check *c);

#endif
