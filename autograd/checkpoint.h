/* Checkpoints: memory for time.
 *
 *     tg_tensor y = tg_checkpoint(block, &x, 1, weights);      // keeps y, and none of the results inside
 */
#ifndef TG_CHECKPOINT_H
#define TG_CHECKPOINT_H

#include "autograd/tape.h"

TG_API_BEGIN

/* A part of a model as a function: what checkpointing and the gradient checker run. */
typedef tg_tensor (*tg_function)(tg_tape *tape, const tg_tensor *inputs, int count, void *user);

/* function(inputs), whose own intermediate results are forgotten at once and computed again while a backward pass needs
 * them: less memory for one more forward pass, with the same gradients to the bit. The function is called once; what it
 * recorded is computed again, on the same random numbers. What it reads of a parameter or of borrowed memory should not
 * change before that; a tg_copy of either is kept. Only its result can be used outside it. At least one input. (Chen,
 * Xu, Zhang and Guestrin, "Training deep nets with sublinear memory cost", arXiv 1604.06174.) */
tg_tensor tg_checkpoint(tg_function function, const tg_tensor *inputs, int count, void *user);

TG_API_END
#endif
