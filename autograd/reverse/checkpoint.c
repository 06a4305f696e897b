/* Checkpoints: a range of the program of which only the result is kept. (Chen, Xu, Zhang and Guestrin, "Training deep
 * nets with sublinear memory cost", arXiv 1604.06174.) */
#include "autograd/reverse/checkpoint_internal.h"

#include "autograd/ops.h"
#include "autograd/tape/repeat.h"

#include <string.h>

/* ---- forgetting ---- */

bool tg_is_given(const tg_value *value)
{
    const unsigned random_source = TG_SOURCE | TG_RANDOM;
    return !value->op || (value->op->flags & random_source) == random_source ||
           (value->op == &tg_op_copy && !value->inputs[0]->op);
}

/* True for values that stay when a region ends: those that cannot be computed again; and the result, the values that it
 * is a view of, and their saved derivatives. */
static bool outlives(const tg_region *region, const tg_value *value)
{
    if (tg_is_given(value))
        return true;
    for (const tg_value *base = region->result; base;
         base = base->op && base->op->flags & TG_VIEW ? base->inputs[0] : NULL)
        if (value == base || (value->is_saved && value->index == base->index + 1))
            return true;
    return false;
}

/* Releases the buffers of a region. */
static void forget(tg_tape *tape, const tg_region *region)
{
    for (int64_t i = region->start; i < region->end; i++) {
        tg_value *value = tg_program_at(&tape->program, i);
        if (outlives(region, value)) {
            value->slot.released = false; /* it may have been an intermediate value in the previous step */
            continue;
        }
        if (value->op->flags & TG_VIEW)
            value->slot.released = value->inputs[0]->slot.released;
        else
            tg_run_release(&tape->run, value);
    }
}

/* Begins a region at the end of the program, inside the current one, or reuses the one that the previous step began
 * here. */
static tg_region *open_region(tg_program *program)
{
    tg_region *region = tg_repeat_region(program);
    if (!region) {
        region = tg_program_take(program, sizeof *region, _Alignof(tg_region));
        if (!region || !tg_program_list(program, &program->regions, region))
            return NULL;
        *region = (tg_region){.parent = program->context.region, .start = program->count, .end = -1};
    }
    program->context.region = region;
    return region;
}

static void close_region(tg_tape *tape, tg_region *region, const tg_value *result)
{
    tg_program *program = &tape->program;
    program->context.region = region->parent;
    if (region->end != program->count || region->result != result) {
        tg_program_cut(program, program->count);
        region->end = program->count;
        region->result = result;
        forget(tape, region);
    }
    region->closed_in = tg_step_serial(program);
    if (region->end == region->start) /* nothing was recorded: removes the region */
        program->regions.count = --program->regions.next;
}

tg_tensor tg_checkpoint(tg_function function, const tg_tensor *inputs, int count, void *user)
{
    if (!function || !inputs || count < 1)
        return (tg_tensor){0};
    tg_tape *tape = tg_tape_of_any(inputs, count);
    for (int i = 0; tape && i < count; i++) {
        const char *problem = tg_tape_problem(tape, inputs[i]);
        if (problem)
            tg_tape_fail(tape, "tg_checkpoint: input %d is %s", i, problem);
    }
    if (!tape || tg_program_failed(&tape->program) || !tg_tape_allows(tape, "tg_checkpoint"))
        return (tg_tensor){0};
    if (tape->no_grad > 0) /* no backward pass will follow */
        return function(tape, inputs, count, user);
    tg_region *region = open_region(&tape->program);
    if (!region)
        return (tg_tensor){0};
    tg_tensor result = function(tape, inputs, count, user);
    const char *problem = tg_tape_problem(tape, result);
    if (problem)
        tg_tape_fail(tape, "tg_checkpoint: the function returned %s", problem);
    const tg_value *value = tg_program_failed(&tape->program) ? NULL : tg_value_of(result);
    close_region(tape, region, value && value->index >= region->start ? value : NULL);
    return value ? result : (tg_tensor){0};
}

/* ---- recomputing ---- */

/* Appends a copy of a released value, whose inputs are the values that replace the original's. The result of a nested
 * region was appended with the region around it. */
static bool append_again(tg_recompute *r, const tg_region *region, int64_t index)
{
    tg_program *program = &r->tape->program;
    const tg_value *value = tg_program_at(program, index);
    tg_value **stand_in = &r->stand_in[index - r->first];
    if (!value->op || !value->slot.released || (*stand_in && outlives(region, value)))
        return true;
    tg_value *again = tg_program_append(program);
    if (!again)
        return false;
    again->slot.arena_position = tg_arena_here(&r->tape->run.arena);
    memcpy(again, value, offsetof(tg_value, mode)); /* operation, attributes, inputs, shape and type */
    if (!tg_program_take_inputs(again, value->input_count))
        return false;
    for (int i = 0; i < value->input_count; i++) {
        again->inputs[i] = tg_stand_in(r, value->inputs[i]);
        tg_note_read(again->inputs[i], again->index);
        if (!tg_tape_make_readable(r->tape, value->op, i, again->inputs[i]))
            return false;
    }
    again->scope = value->scope;
    again->requires_grad = value->requires_grad;
    again->is_saved = value->is_saved;
    again->mode |= value->mode & (TG_MODE_DETACHED | TG_MODE_WITHOUT_GRAPH);
    *stand_in = again;
    return true;
}

/* Appends the released values of a region once more, those of nested regions too. */
static bool recompute_region(tg_recompute *r, const tg_region *region)
{
    tg_recomputed *one = tg_tape_scratch(r->tape, 1, sizeof *one);
    if (!r->stand_in)
        r->stand_in = tg_tape_scratch(r->tape, (size_t)(r->end - r->first), sizeof *r->stand_in);
    if (!one || !r->stand_in)
        return false;
    *one = (tg_recomputed){.next = r->regions, .region = region};
    r->regions = one;
    for (int64_t index = region->start; index < region->end; index++)
        if (!append_again(r, region, index))
            return false;
    return true;
}

/* True if the region has been recomputed. The list begins with the one recomputed last and, as a pass goes backwards,
 * leads to later and later siblings. So the search ends at one behind the region: many in a row take no long search. */
static bool is_recomputed(const tg_recompute *r, const tg_region *region)
{
    for (const tg_recomputed *known = r->regions; known; known = known->next) {
        if (known->region == region)
            return true;
        if (known->region->parent == region->parent && known->region->start >= region->end)
            return false;
    }
    return false;
}

bool tg_recompute_for(tg_recompute *r, const tg_value *value)
{
    for (;;) {
        const tg_region *missing = NULL; /* the outermost closed one that has not been recomputed */
        for (const tg_region *region = value->region; region; region = region->parent)
            if (region->closed_in == tg_step_serial(value->program) && !is_recomputed(r, region))
                missing = region;
        if (!missing)
            return true;
        if (!recompute_region(r, missing))
            return false;
    }
}
