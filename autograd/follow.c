/* Following the step before. A training loop records the same operations again and again; when a step begins like the one before
 * the reset, what that one left is used once more, piece by piece, as long as the two agree:
 *
 *     values    [x  w  linear  relu  ...  loss | the backward pass ............ ]     as the step before left them
 *                          ^ count: up to here this step has asked for the same
 *
 * A value that agrees has its memory, shape and inputs already; it gets a new serial and is computed. A backward pass from the same
 * place is computed as a whole. At the first disagreement tg_tape_diverge takes the arena back to where the two steps part, and
 * recording goes on as if nothing had been there. Whoever takes memory or pushes values diverges by doing so.
 */
#include "autograd/tape_internal.h"

#include <string.h>

void tg_tape_diverge(tg_tape *tape)
{
    if (!tape->follows)
        return;
    tape->follows = false;
    tape->spares = NULL;
    if (tape->followed_sweep.start < 0 || tape->followed_sweep.start >= tape->count)
        tape->followed_sweep = (tg_sweep_span){0};
    tg_arena_rewind(&tape->arena, tape->count < tape->followed_count
                                      ? tg_tape_value(tape, tape->count)->arena_before
                                      : tape->followed_end);
    for (int64_t i = 0; i < tape->count; i++)
        tg_tape_value(tape, i)->gradient_was_fresh = false;
}

/* The value at the place where the next one goes, if a step may follow it. What a sweep recorded shares buffers that only the sweep
 * knows how to use. */
static tg_value *next_value(const tg_tape *tape)
{
    if (!tape->follows || tape->count == tape->followed_count)
        return NULL;
    tg_value *value = tg_tape_value(tape, tape->count);
    return value->of_sweep || value->detached != (tape->no_grad > 0) || value->scope != tape->scope ? NULL
                                                                                                    : value;
}

/* Makes the next value one of this step. */
static void take_over(tg_tape *tape, tg_value *value)
{
    value->serial = tape->next_serial++;
    value->holds = 0;
    value->hooks = NULL;
    value->name = NULL;
    tape->count++;
}

tg_value *tg_follow_leaf(tg_tape *tape, tg_dtype dtype, const tg_shape *shape, const void *data,
                         const tg_parameter *parameter, bool is_variable)
{
    tg_value *value = next_value(tape);
    if (!value || value->op || value->dtype != dtype || value->parameter != parameter ||
        value->borrowed != (data != NULL) || !tg_shape_equal(&value->shape, shape))
        return NULL;
    const bool trained = parameter && parameter->gradient && dtype != TG_I32;
    if (value->requires_grad != (trained || is_variable))
        return NULL;
    take_over(tape, value);
    value->retains_gradient = is_variable;
    if (data)
        value->data = (void *)(uintptr_t)data;
    tape->evaluated = tape->count;
    return value;
}

static bool field_is_equal(const tg_field *field, const char *a, const char *b)
{
    a += field->offset;
    b += field->offset;
    if (field->type != TG_FIELD_SHAPE)
        return memcmp(a, b, field->size) == 0;
    return tg_shape_equal((const tg_shape *)a, (const tg_shape *)b);
}

/* Attributes whose bytes are equal are. Otherwise it may be that they differ in the gaps between members only, in which compilers leave
 * what they like: then the fields are equal, and between them there is no room for another member of eight bytes. */
static bool attributes_are_equal(const tg_op *op, const void *a, const void *b)
{
    if (memcmp(a, b, op->attributes_size) == 0)
        return true;
    size_t end = 0;
    for (const tg_field *field = op->fields; field && field->name; field++) {
        if (field->offset < end || field->offset - end >= sizeof(double) || !field_is_equal(field, a, b))
            return false;
        end = field->offset + field->size;
    }
    return end > 0 && op->attributes_size - end < sizeof(double);
}

/* Whether it is the same operation on the same tensors. */
static bool agrees(const tg_value *value, const tg_op *op, const void *attributes, int count,
                   const tg_tensor *inputs)
{
    const tg_tape *tape = value->tape;
    bool requires_grad = false;
    if (value->op != op || value->input_count != count || value->is_saved ||
        !value->attributes != !op->attributes_size)
        return false;
    for (int i = 0; i < count; i++) {
        if (inputs[i].value != value->inputs[i] || !tg_value_of(inputs[i]))
            return false;
        requires_grad |= value->inputs[i]->requires_grad;
    }
    if (value->requires_grad != (requires_grad && !tape->no_grad && !(op->flags & TG_CONSTANT)))
        return false;
    return op->attributes_size == 0 ||
           (attributes && attributes_are_equal(op, value->attributes, attributes));
}

tg_value *tg_follow_operation(tg_tape *tape, const tg_op *op, const void *attributes, int count,
                              const tg_tensor *inputs)
{
    const int64_t before = tape->count;
    tg_value *value = next_value(tape);
    if (!value || !agrees(value, op, attributes, count, inputs))
        return NULL;
    take_over(tape, value);
    value->retains_gradient = false;
    if (op->saved && value->requires_grad)
        take_over(tape, tg_tape_value(tape, tape->count));
    if (!tg_value_compute(value)) {
        tape->count = before; /* what failed is not on the tape */
        return NULL;
    }
    tape->evaluated = tape->count;
    return value;
}

bool tg_follow_scope(tg_tape *tape, const char *name)
{
    if (!tape->follows || tape->count == tape->followed_count)
        return false;
    const tg_scope *scope = tg_tape_value(tape, tape->count)->scope;
    while (scope && scope->parent != tape->scope)
        scope = scope->parent;
    if (!scope || scope->name != name)
        return false;
    tape->scope = scope;
    return true;
}

/* ---- a backward pass ---- */

void tg_follow_no_sweep(tg_tape *tape)
{
    tape->followed_sweep.start = -1;
}

void tg_follow_remember_sweep(tg_tape *tape, const tg_value *output, const tg_value *cotangent, int64_t start)
{
    if (tape->followed_sweep.start !=
        0) { /* one of several: each would have to know what the others did to the gradients */
        tg_follow_no_sweep(tape);
        return;
    }
    tape->followed_sweep = (tg_sweep_span){output, cotangent, start, tape->count};
    for (int64_t i = 0; i < start; i++) {
        tg_value *value = tg_tape_value(tape, i);
        value->retained = value->retains_gradient;
        value->reached = tg_ok(value->gradient);
    }
}

/* Whether a parameter or tensor asks of the sweep what it asked then. */
static bool asks_the_same(const tg_value *value)
{
    const tg_parameter *parameter = value->parameter;
    if (value->retains_gradient != value->retained)
        return false;
    return !parameter || !value->reached ||
           (parameter->has_gradient != value->gradient_was_fresh &&
            parameter->gradient == value->gradient.value->data);
}

bool tg_follow_sweep(tg_tape *tape, const tg_value *output, const tg_value *cotangent)
{
    const tg_sweep_span span = tape->followed_sweep;
    if (!tape->follows || span.output != output || span.cotangent != cotangent || span.start != tape->count)
        return false;
    for (int64_t i = 0; i < span.start; i++)
        if (!asks_the_same(tg_tape_value(tape, i)))
            return false;
    for (int64_t i = span.start; i < span.end; i++)
        tg_tape_value(tape, i)->serial = tape->next_serial++;
    tape->count = span.end;
    for (int64_t i = 0; i < span.start; i++) {
        tg_value *value = tg_tape_value(tape, i);
        if (!value->reached)
            continue;
        value->gradient = tg_tensor_of(value->gradient.value);
        if (value->parameter)
            value->parameter->has_gradient = true;
    }
    for (; tape->evaluated < span.end; tape->evaluated++) {
        tg_value *value = tg_tape_value(tape, tape->evaluated);
        if (value->op && !tg_value_compute(value))
            break;
    }
    return true;
}
