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

/* What one layer keeps: its numbers, and the tensors of the latest pass before and after the pass's positions. */
typedef struct tg_past_room {
    void *numbers;
    tg_tensor before, after;
    bool grows; /* rows of all positions, and `after` has those of this pass */
} tg_past_room;

struct tg_past {
    int64_t most, seen;  /* positions: room, and those before this pass */
    bool copies;         /* tensors do not borrow the rooms, as the tape will outlive them */
    tg_tensor positions; /* of the latest pass, i32: seen, seen + 1, ...; TG_NONE: no layer has asked for them */
    int next;            /* the number of the next room that is asked for in this pass */
    int count;
    tg_past_room *rooms; /* [count] */
};

/* The state of a layer before this pass, zeros at first. It is room number past->next before the call, for
 * tg_past_leave, which sets the state after it; false, if that is inert or out of memory. */
tg_tensor tg_past_state(tg_past *past, tg_tape *tape, tg_dtype dtype, tg_shape shape);
bool tg_past_leave(tg_past *past, int room, tg_tensor after);

/* Appends rows [1, positions, size] to those of earlier passes; returns all of them, [1, seen + positions, size]. */
tg_tensor tg_past_append(tg_past *past, tg_tensor rows);

/* The numbers of the pass's positions, i32 [count]. */
tg_tensor tg_past_positions(tg_past *past, tg_tape *tape, int64_t count);

/* Ends a pass of so many positions. */
void tg_past_advance(tg_past *past, int64_t positions);

void tg_past_free(tg_past *past);

#endif
