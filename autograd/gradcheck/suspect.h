/* A guess at what is wrong with a derivative: a factor, transposed indices, the derivative of another input. Internal.
 */
#ifndef TG_GRADCHECK_SUSPECT_H
#define TG_GRADCHECK_SUSPECT_H

#include "autograd/gradcheck/jacobian.h"
#include "autograd/text.h"

/* Adds a sentence about the derivatives by part number `part`. */
void tg_check_suspect(tg_text *text, const tg_check *c, const tg_check_jacobian *j, int part);

#endif
