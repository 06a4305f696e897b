/* Elementwise operations over inputs that broadcast. Internal. */
#ifndef TG_ELEMENTWISE_H
#define TG_ELEMENTWISE_H

#include "autograd/tape/value.h"

/* Computes the operation of call->value, and its saved derivative if call->saved is set. */
void tg_elementwise_forward(const tg_call *call);

#endif
