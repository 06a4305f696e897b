/* Gradient accumulation: the gradient of a batch that does not fit into memory at once, computed part by part.
 *
 *     static tg_tensor part(tg_tape *tape, int number, void *user)        // the mean loss of part `number`
 *     {
 *         const batch *b = user;
 *         tg_tensor x = tg_borrow(tape, TG_F32, b->x + number * 32 * 784, TG_SHAPE(32, 784));
 *         tg_tensor labels = tg_borrow(tape, TG_I32, b->labels + number * 32, TG_SHAPE(32));
 *         return tg_cross_entropy(tg_mlp_forward(b->net, x), labels);
 *     }
 *     ...
 *     double loss;
 *     if (!tg_accumulate(tape, 8, part, &batch, &loss) || !tg_optimizer_step(adamw))  // batches of 256 in 32's memory
 *         return false;
 */
#ifndef TG_ACCUMULATE_H
#define TG_ACCUMULATE_H

#include "autograd/grad.h"

TG_API_BEGIN

/* Records the loss of a part, a scalar, on the tape. */
typedef tg_tensor (*tg_part_loss)(tg_tape *tape, int part, void *user);

/* Adds the gradient of the mean loss of parts 0 .. parts-1 to the gradients of all parameters. If all parts have the
 * same size, this is the gradient of the whole batch, except with batch norm. The tape is reset before every part.
 * `mean`, unless NULL, receives the mean of the losses, NaN on an error. False if the tape has an error; the gradients
 * of earlier parts stay, as with tg_backward. */
bool tg_accumulate(tg_tape *tape, int parts, tg_part_loss loss, void *user, double *mean);

TG_API_END
#endif
