/* Constant tensors. Internal. */
#ifndef TG_BROADCAST_H
#define TG_BROADCAST_H

#include "autograd/tensor.h"

/* True if a product with this cotangent can be omitted: it is all ones, as at the start of a backward pass, and will
 * not be differentiated. */
bool tg_is_plain_one(tg_tensor cotangent);

#endif
