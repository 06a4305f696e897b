#include "autograd/tape.h"

#include "autograd/tape/changes.h"
#include "autograd/tape/repeat.h"
#include "autograd/tape/tape_internal.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

void tg_before_cut(tg_program *program, int64_t count)
{
    tg_run_cut(&((tg_tape *)program)->run, program, count);
}

tg_tape *tg_tape_make(void)
{
    static atomic_uint_fast64_t tapes;
    tg_tape *tape = calloc(1, sizeof *tape);
    if (!tape)
        return NULL;
    /* Serials differ between tapes, so that a handle of a freed tape is not taken for one of a new tape at the same
     * address. */
    tape->program.serial = (atomic_fetch_add(&tapes, 1) + 1) * TG_TAPE_SERIALS;
    tape->program.context.pass_start = TG_NO_PASS;
    return tape;
}

void tg_tape_free(tg_tape *tape)
{
    if (!tape)
        return;
    tg_program_free(&tape->program);
    tg_run_free(&tape->run);
    tg_arena_free(&tape->step_memory);
    tg_arena_free(&tape->scratch);
    free(tape);
}

/* What is still running (we may be inside its hook or function); NULL if nothing. */
static const char *what_goes_on(const tg_tape *tape)
{
    return tape->passes > 0 ? "a backward pass" : tape->program.context.region ? "a checkpoint" : NULL;
}

void tg_tape_reset(tg_tape *tape)
{
    if (!tape || !tg_tape_allows(tape, "tg_tape_reset"))
        return;
    if (what_goes_on(tape)) {
        tg_tape_fail(tape, "tg_tape_reset: %s is going on", what_goes_on(tape));
        return;
    }
    tg_program *program = &tape->program;
    const bool starts_anew = tg_program_failed(program);
    for (tg_feature *feature = tape->run.features; feature; feature = feature->next)
        if (feature->kind->reset)
            feature->kind->reset(feature, tape);
    tg_program_reset(program);
    if (starts_anew) /* not even the values before the error are used again */
        tg_program_cut(program, 0);
    tg_run_reset(&tape->run);
    tape->no_grad = 0;
    tape->not_replayed = NULL;
    tg_arena_rewind(&tape->step_memory, 0);
    tg_arena_rewind(&tape->scratch, 0);
}

void tg_tape_trim(tg_tape *tape)
{
    tg_tape_reset(tape);
    if (!tape || tape->program.count > 0) /* it could not be reset */
        return;
    tg_program_cut(&tape->program, 0);
    tg_arena_free(&tape->run.arena);
}

void *tg_tape_find(const tg_tape *tape, const tg_feature_kind *kind)
{
    tg_feature *feature = tape->run.features;
    while (feature && feature->kind != kind)
        feature = feature->next;
    return feature;
}

void *tg_tape_have(tg_tape *tape, const tg_feature_kind *kind)
{
    tg_feature *feature = tg_tape_find(tape, kind);
    if (feature)
        return feature;
    feature = calloc(1, kind->size);
    if (!feature)
        return NULL;
    feature->kind = kind;
    tg_feature **link = &tape->run.features;
    while (*link && (*link)->kind->level < kind->level)
        link = &(*link)->next;
    feature->next = *link;
    *link = feature;
    tape->program.allocations++;
    if (kind->reset)
        kind->reset(feature, tape);
    return feature;
}

bool tg_tape_may_forget(const tg_value *value)
{
    return tg_tape_at(value)->saves_memory && value->op && !value->is_kept && tg_is_read(value);
}

bool tg_tape_make_readable(tg_tape *tape, const tg_op *op, int input, const tg_value *value)
{
    if (tg_run_released(value))
        return tg_tape_fail(tape,
                            "%s: input %d is an intermediate result of a checkpoint, which has forgotten it; let its "
                            "function return it",
                            op->name, input);
    if (!tg_run_overwritten(&tape->run, value))
        return true;
    const tg_value *changed = tg_changed_leaf(&tape->program, 0, tape->run.computed, tape->run.began);
    if (changed)
        return tg_tape_fail(
            tape,
            "%s: input %d, tensor %lld (%s), is forgotten, as the tape saves memory and the steps before "
            "did not use it here, and it cannot be computed again, as %s has changed: call tg_keep on "
            "it first, or record such steps on another tape",
            op->name, input, (long long)value->index, value->op->name,
            tg_name_of(changed) ? tg_name_of(changed) : tg_kind_of(changed));
    tg_program_cut(&tape->program, tape->program.count); /* this is not what the steps before did */
    return tg_run_unshare(&tape->run, &tape->program);
}

tg_tensor tg_keep(tg_tensor x)
{
    tg_value *value = tg_value_of(x);
    if (!value || value->is_kept)
        return x;
    tg_tape *tape = tg_tape_at(value);
    if (tg_tape_may_forget(value)) {
        tg_tape_fail(tape, "tg_keep: tensor %lld (%s) has been used already, so the tape may have forgotten it",
                     (long long)value->index, value->op->name);
        return x;
    }
    value->is_kept = true;
    if (tape->saves_memory) /* the plan did not know that; what it would overwrite the value with is recorded anew */
        tg_program_cut(&tape->program, tape->program.count);
    return x;
}

tg_tape_counts tg_tape_count(const tg_tape *tape)
{
    if (!tape)
        return (tg_tape_counts){0};
    const tg_program *program = &tape->program;
    const tg_run *run = &tape->run;
    const int64_t page_bytes = TG_PAGE_VALUES * (int64_t)sizeof(tg_value);
    int64_t used = program->arena.bytes_used + run->arena.bytes_used;
    if (program->count < program->known) {
        const tg_value *next = tg_program_at(program, program->count);
        used = next->arena_position + next->slot.arena_position;
    }
    if (program->count > 0 && run->block)
        used += (int64_t)run->block->size;
    const tg_arena *arenas[] = {&program->arena, &run->arena, &tape->step_memory, &tape->scratch};
    int64_t held = program->pages.count * page_bytes + (int64_t)run->addend.size;
    for (const tg_run_block *block = run->block; block; block = block->earlier)
        held += (int64_t)block->size;
    int64_t allocations = program->allocations;
    for (size_t i = 0; i < sizeof arenas / sizeof arenas[0]; i++) {
        held += arenas[i]->bytes_held;
        allocations += arenas[i]->allocations;
    }
    return (tg_tape_counts){
        .values = program->count,
        .bytes_used = used + tape->step_memory.bytes_used + program->count * (int64_t)sizeof(tg_value),
        .bytes_held = held,
        .allocations = allocations,
        .recorded = program->recorded,
    };
}

/* ---- errors ---- */

bool tg_tape_fail(tg_tape *tape, const char *format, ...)
{
    if (!tape || tg_program_failed(&tape->program))
        return false;
    tg_error error;
    va_list arguments;
    va_start(arguments, format);
    tg_fail_arguments(&error, format, arguments);
    va_end(arguments);
    return tg_program_fail(&tape->program, "%s", error.text);
}

const char *tg_tape_error(const tg_tape *tape)
{
    if (!tape)
        return "no tape: it is NULL, perhaps because tg_tape_new was out of memory";
    return tg_program_failed(&tape->program) ? tape->program.error.text : NULL;
}

void tg_tape_clear_error(tg_tape *tape)
{
    if (!tape || !tg_program_failed(&tape->program))
        return;
    tape->program.error.text[0] = '\0';
    tg_program_cut(&tape->program, tape->program.count); /* what this step has not reached */
}

bool tg_tape_allows(tg_tape *tape, const char *function)
{
    const tg_op *rule = tape->program.context.rule;
    if (rule)
        tg_tape_fail(
            tape,
            "%s: not inside the shape rule or derivative of %s, which says once, for all steps, how numbers are to be "
            "computed; make it of operations",
            function, rule->name);
    return !rule;
}

void *tg_tape_scratch(tg_tape *tape, size_t count, size_t size)
{
    void *bytes = count < SIZE_MAX / size ? tg_arena_take(&tape->scratch, count * size, _Alignof(max_align_t)) : NULL;
    if (!bytes)
        tg_tape_fail(tape, "out of memory: a backward pass over %zu tensors", count);
    return bytes ? memset(bytes, 0, count * size) : NULL;
}

const char *tg_tape_problem(const tg_tape *tape, tg_tensor x)
{
    const tg_value *value = tg_value_of(x);
    if (!x.value)
        return "an inert tensor";
    if (!value)
        return tg_step_ended(x) ? "a tensor of a step that ended with tg_tape_reset"
                                : "a tensor of a pass or an operation that failed";
    return tg_tape_at(value) == tape ? NULL : "a tensor of another tape";
}

tg_tape *tg_tape_of_any(const tg_tensor *tensors, int count)
{
    tg_tape *tape = NULL;
    for (int i = 0; tensors && i < count && !tape; i++)
        tape = tg_tape_of(tensors[i]);
    for (int i = 0; tensors && i < count && !tape; i++)
        tape = tensors[i].value ? tg_tape_at(tensors[i].value) : NULL;
    return tape;
}

bool tg_tape_compute(tg_tape *tape)
{
    return tape->program.context.pass_start != TG_NO_PASS
               ? !tg_program_failed(&tape->program)
               : tg_run_to(&tape->run, &tape->program, tape->program.count, TG_NO_PASS);
}

/* ---- handles ---- */

tg_tape *tg_tape_of(tg_tensor x)
{
    const tg_value *value = tg_value_of(x);
    return value ? tg_tape_at(value) : NULL;
}

tg_tensor tg_named(tg_tensor x, const char *name)
{
    const tg_value *value = tg_value_of(x);
    tg_tape *tape = value ? tg_tape_at(value) : NULL;
    tg_given_name *named = tape ? tg_arena_take(&tape->step_memory, sizeof *named, _Alignof(tg_given_name)) : NULL;
    if (named) {
        *named = (tg_given_name){tape->program.names, value->index, name};
        tape->program.names = named;
    } else
        tg_tape_fail(tape, "out of memory: tg_named");
    return x;
}

/* ---- replay ---- */

bool tg_replay(tg_tape *tape)
{
    if (!tape || tg_program_failed(&tape->program) || !tg_tape_allows(tape, "tg_replay"))
        return false;
    if (tape->program.count == 0)
        return tg_tape_fail(tape, "tg_replay: nothing is recorded on the tape");
    if (what_goes_on(tape))
        return tg_tape_fail(tape, "tg_replay: %s is going on", what_goes_on(tape));
    if (tape->not_replayed)
        return tg_tape_fail(tape, "tg_replay: %s, which a replay would not do: record each step", tape->not_replayed);
    tg_run_reset(&tape->run);
    return tg_run_to(&tape->run, &tape->program, tape->program.count, TG_NO_PASS);
}

void tg_forbid_replay(tg_tape *tape, const char *reason)
{
    if (tape && !tape->not_replayed)
        tape->not_replayed = reason;
}

/* ---- scopes ---- */

static void set_no_grad(tg_tape *tape, int depth)
{
    uint8_t *mode = &tape->program.context.mode;
    tape->no_grad = depth;
    *mode = (uint8_t)(depth > 0 ? *mode | TG_MODE_DETACHED : *mode & ~TG_MODE_DETACHED);
}

void tg_no_grad_begin(tg_tape *tape)
{
    if (tape)
        set_no_grad(tape, tape->no_grad + 1);
}

void tg_no_grad_end(tg_tape *tape)
{
    if (tape && tape->no_grad > 0)
        set_no_grad(tape, tape->no_grad - 1);
}

int tg_no_grad_suspend(tg_tape *tape)
{
    const int depth = tape ? tape->no_grad : 0;
    if (tape)
        set_no_grad(tape, 0);
    return depth;
}

void tg_no_grad_resume(tg_tape *tape, int depth)
{
    if (tape)
        set_no_grad(tape, tape->no_grad + depth);
}

void tg_scope_begin(tg_tape *tape, const char *name)
{
    if (tape) /* after an error too, as tg_scope_end leaves it again */
        tg_program_enter_scope(&tape->program, name ? name : "?");
}

void tg_scope_end(tg_tape *tape)
{
    if (tape && tape->program.context.scope)
        tape->program.context.scope = tape->program.context.scope->parent;
}
