/* Checkpoints: memory for time.
 *
 * tg_tensor y = tg_checkpoint(block, &x, 1, weights); // keeps y, releases every result inside
 */
#ifndef TG_CHECKPOINT_H
#define TG_CHECKPOINT_H

#include "autograd/tape.h"

TG_API_BEGIN

/* A part of a model as a function; checkpoints and the gradient checker run it. */
typedef tg_tensor (*tg_function)(tg_tape *tape, const tg_tensor *inputs, int count, void *user);

/* Returns function(inputs). Its intermediate results are released at once and recomputed when a backward pass needs
 * them: less memory for one more forward pass; gradients are bit-identical. The function itself is called once; what it
 * recorded is recomputed, with the same random numbers. Parameters and borrowed memory that it reads must not change
 * before that; a tg_copy of either is kept. Only its result can be used outside it. At least one input. (Chen, Xu,
 * Zhang and Guestrin, "Training deep nets with sublinear memory cost", arXiv 1604.06174.) */
tg_tensor tg_checkpoint(tg_function function, const tg_tensor *inputs, int count, void *user);

TG_API_END
#endif
