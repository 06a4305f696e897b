/* Elementwise operations over inputs that broadcast. Internal. */
#ifndef TG_ELEMENTWISE_H
#define TG_ELEMENTWISE_H

#include "autograd/tape/value.h"

/* Computes an operation into the value's buffer, and its saved derivative into `saved` if that is not NULL. */
void tg_elementwise_forward(const tg_value *out, void *saved);

#endif
