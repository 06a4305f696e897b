/* Checks an operation in other forms: in float, in shapes of every rank and length, broadcast each way. Internal. */
#ifndef TG_GRADCHECK_FORMS_H
#define TG_GRADCHECK_FORMS_H

#include "autograd/gradcheck/function.h"

/* Compares value and gradient in float with those in double, on the inputs of a passed check, rounded to float. */
bool tg_check_single(tg_check *c);

/* Repeats a passed check of an elementwise operation, all inputs [n], with the same elements in other shapes, and
 * broadcast if the operation broadcasts. */
bool tg_check_shapes(tg_check *c, bool broadcast);

#endif
