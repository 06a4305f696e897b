/* Uses of a value whose derivatives are joined (op.h, tg_joint): they wait, with their cotangents, until a backward
 * pass reaches the value. Internal. */
#ifndef TG_JOINT_H
#define TG_JOINT_H

#include "autograd/tape/tape_internal.h"

typedef struct tg_waiting_use {
    struct tg_waiting_use *earlier; /* has waited longer; later in the program, as a pass goes backwards */
    tg_value *value, *cotangent;
    int input;
} tg_waiting_use;

/* For each value of a pass: its uses that wait. */
typedef struct tg_waiting {
    int32_t count;
    tg_waiting_use *last;
} tg_waiting;

/* True if the use of input number `input` by a value may be joined with others. */
bool tg_may_join(const tg_value *value, int input);

/* The same of any of its inputs. */
bool tg_may_join_any(const tg_value *value);

/* Records the joint derivative of some of the waiting uses, which then wait no more: of the last one, and of those
 * whose operations have the same function. Inert, with the error recorded, if that fails. */
tg_tensor tg_join_uses(tg_tape *tape, tg_waiting *waiting);

#endif
