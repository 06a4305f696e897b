/* Uses of a value whose derivatives are joined (op.h, tg_joint): a backward pass notes their cotangents until it
 * reaches the value. Internal. */
#ifndef TG_JOINT_H
#define TG_JOINT_H

#include "autograd/tape/tape_internal.h"

typedef struct tg_noted_use {
    struct tg_noted_use *earlier; /* the one that was noted before it: the program has that later */
    tg_value *value, *cotangent;
    int input;
} tg_noted_use;

/* For each value of a pass: the uses that have been noted. */
typedef struct tg_noted {
    int32_t count;
    tg_noted_use *last;
} tg_noted;

/* True if the use of input number `input` by a value may be joined with others. */
bool tg_may_join(const tg_value *value, int input);

/* The same of any of its inputs. */
bool tg_may_join_any(const tg_value *value);

/* Records the joint derivative of some of the noted uses, and forgets these: those of the operation that was noted
 * last, and of others with the same function. Inert, with the error recorded, if that fails. */
tg_tensor tg_join_uses(tg_tape *tape, tg_noted *noted);

#endif
