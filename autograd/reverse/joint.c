#include "autograd/reverse/joint.h"

bool tg_may_join_any(const tg_value *value)
{
    const tg_op *op = value->op;
    return op && op->joint && (!op->joins || op->joins(value));
}

bool tg_may_join(const tg_value *value, int input)
{
    return input < 32 && tg_may_join_any(value) && value->op->joint_inputs >> input & 1;
}

tg_tensor tg_join_uses(tg_tape *tape, tg_waiting *waiting)
{
    tg_waiting_use *rest = NULL, **next = &rest, *use = waiting->last;
    const tg_op *op = use->value->op;
    const int input = use->input;
    tg_joint j = {.in = tg_tensor_of(use->value->inputs[input]), .input = input};
    j.uses = tg_tape_scratch(tape, (size_t)waiting->count, sizeof *j.uses);
    j.room = tg_tape_scratch(tape, 2 * (size_t)waiting->count + 1, sizeof *j.room);
    if (!j.uses || !j.room)
        return (tg_tensor){0};
    for (; use; use = use->earlier) /* in the order of the program */
        if (use->value->op->joint == op->joint && use->input == input)
            j.uses[j.count++] = (tg_joint_use){tg_tensor_of(use->value), tg_tensor_of(use->cotangent)};
        else {
            *next = use;
            next = &use->earlier;
        }
    *next = NULL;
    waiting->last = rest;
    waiting->count -= j.count;
    return op->joint(&j);
}
