#include "autograd/reverse/joint.h"

bool tg_note_use(tg_tape *tape, tg_noted *noted, tg_value *value, tg_value *cotangent)
{
    tg_noted_use *use = tg_tape_scratch(tape, 1, sizeof *use);
    if (!use)
        return false;
    *use = (tg_noted_use){noted->last, value, cotangent};
    noted->last = use;
    noted->count++;
    return true;
}

tg_tensor tg_join_uses(tg_tape *tape, tg_noted *noted)
{
    tg_noted_use *rest = NULL, **next = &rest, *use = noted->last;
    const tg_op *op = use->value->op;
    tg_joint j = {.in = tg_tensor_of(use->value->inputs[0])};
    j.uses = tg_tape_scratch(tape, (size_t)noted->count, sizeof *j.uses);
    j.room = tg_tape_scratch(tape, 2 * (size_t)noted->count + 1, sizeof *j.room);
    if (!j.uses || !j.room)
        return (tg_tensor){0};
    for (; use; use = use->earlier) /* the last one that was noted was recorded first */
        if (use->value->op->joint == op->joint)
            j.uses[j.count++] = (tg_joint_use){tg_tensor_of(use->value), tg_tensor_of(use->cotangent)};
        else {
            *next = use;
            next = &use->earlier;
        }
    *next = NULL;
    noted->last = rest;
    noted->count -= j.count;
    return op->joint(&j);
}
