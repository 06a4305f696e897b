/* What a wrong derivative looks like: a factor, a transposed index, another input's. Internal. */
#ifndef TG_GRADCHECK_SUSPECT_H
#define TG_GRADCHECK_SUSPECT_H

#include "autograd/gradcheck/jacobian.h"
#include "autograd/text.h"

/* Adds a sentence on the derivatives by the input that is part number `part`. */
void tg_check_suspect(tg_text *text, const tg_check *c, const tg_check_jacobian *j, int part);

#endif
