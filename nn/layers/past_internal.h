/* What layers keep of the positions before, so that a model can read a sequence a few positions at a time: keys and
 * values of attention, the state of a recurrent layer. nn/models/decoder.h uses it. Internal to nn.
 *
 *     tg_past past = {.most = 256};                                   // positions at most
 *     tg_layer_pass pass = {.past = &past};
 *     tg_tensor y = tg_model_forward_with(model, x, &pass);           // x [1, positions]
 *     tg_past_advance(&past, positions);                              // the next x follows this one
 *
 * The numbers are copied from the tape while the pass runs, so the pass is one in evaluation, without gradients, and
 * not one that is replayed.
 */
#ifndef TG_PAST_INTERNAL_H
#define TG_PAST_INTERNAL_H

#include "nn/layers/layer.h"

typedef struct tg_past {
    int64_t most, seen; /* positions: room, and those before this pass */
    int next;           /* the number of the next room that is asked for in this pass */
    int count;
    void **rooms; /* [count] */
} tg_past;

/* The layer's own memory in this pass, the same in the next one; zeros at first. NULL, with an error on the tape, if
 * out of memory. */
void *tg_past_room(tg_past *past, tg_tape *tape, size_t bytes);

/* Appends rows [1, positions, size] to those of earlier passes; returns all of them, [1, seen + positions, size]. */
tg_tensor tg_past_append(tg_past *past, tg_tensor rows);

/* Ends a pass of so many positions. */
void tg_past_advance(tg_past *past, int64_t positions);

void tg_past_free(tg_past *past);

#endif
