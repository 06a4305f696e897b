/* Constant tensors. Internal. */
#ifndef TG_BROADCAST_H
#define TG_BROADCAST_H

#include "autograd/tensor.h"

/* Whether a product with this cotangent may be left out: it is all ones, where a backward pass starts, and will not be
 * differentiated through. */
bool tg_is_plain_one(tg_tensor cotangent);

#endif
