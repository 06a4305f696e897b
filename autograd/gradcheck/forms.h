/* An operation in its other forms: in float, in shapes of every rank and length, broadcast each way. Internal. */
#ifndef TG_GRADCHECK_FORMS_H
#define TG_GRADCHECK_FORMS_H

#include "autograd/gradcheck/function.h"

/* Value and gradient in float against double, for the inputs of a check that has passed, rounded to float. */
bool tg_check_single(tg_check *c);

/* The elements of a check of an elementwise operation that has passed, all inputs [n], in other shapes; broadcast as
 * well, if it does. */
bool tg_check_shapes(tg_check *c, bool broadcast);

#endif
