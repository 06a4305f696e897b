#include "autograd/memory/recordings.h"

#include "autograd/memory/lifetimes.h"

#include <stdlib.h>
#include <string.h>

/* ---- which graphs come again ---- */

static uint64_t mix(uint64_t number, uint64_t with)
{
    return (number ^ with) * 0x9E3779B97F4A7C15u;
}

/* The same for the same operations on inputs of the same sizes, and hardly ever for others. */
static uint64_t number_of(const tg_program *program)
{
    enum { LOOKED_AT = 16 };
    uint64_t number = (uint64_t)program->known;
    for (int64_t i = 0; i < program->known; i += program->known / LOOKED_AT + 1) {
        const tg_value *value = tg_program_at(program, i);
        number = mix(number, (uintptr_t)value->op + (uint64_t)value->size);
        for (int k = 0; k < value->input_count; k++)
            number = mix(number, (uint64_t)value->inputs[k]->index);
    }
    return number;
}

void tg_recordings_note(tg_recordings *all, const tg_program *program)
{
    if (program->recorded == all->recorded || all->keeps)
        return;
    all->recorded = program->recorded;
    const uint64_t number = number_of(program);
    for (int i = 0; i < TG_RECORDINGS; i++)
        all->keeps |= all->seen[i] == number;
    all->missed = 0;
    all->latest = (all->latest + 1) % TG_RECORDINGS;
    all->seen[all->latest] = number;
}

/* ---- what two recordings have in common ---- */

static bool same_inputs(const tg_value *a, const tg_value *b)
{
    bool same = a->input_count == b->input_count;
    for (int i = 0; same && i < a->input_count; i++)
        same = a->inputs[i]->index == b->inputs[i]->index;
    return same;
}

/* True if value `a` of this step could be value `b` of the recording, which was made elsewhere but at the same place.
 */
static bool same_value(const tg_value *a, const tg_value *b)
{
    return a->op == b->op && a->dtype == b->dtype && a->parameter == b->parameter && a->scope == b->scope &&
           a->mode == b->mode && !b->region && !b->sink && a->requires_grad == b->requires_grad &&
           a->is_variable == b->is_variable && a->is_borrowed == b->is_borrowed && a->is_saved == b->is_saved &&
           (b->is_kept || !a->is_kept) && same_inputs(a, b) && tg_shape_equal(a->shape, b->shape) &&
           (!a->attributes || tg_attributes_equal(a->op, a->attributes, b->attributes));
}

/* True if the program, which has just got another record, can go on from the values of this step before `count`. Those
 * that this step has overwritten must not be read any more. */
static bool goes_on(const tg_tape *tape, const tg_recording *from, int64_t count)
{
    bool same = true;
    for (int64_t i = 0; same && i < count; i++) {
        const tg_value *a = tg_recording_at(from, i), *b = tg_program_at(&tape->program, i);
        same = same_value(a, b) && (!tg_run_overwritten(&tape->run, a) || b->slot.until < count);
    }
    return same;
}

/* ---- the numbers of the values so far ---- */

static size_t bytes_of(const tg_value *value)
{
    return tg_has_buffer(value) ? (size_t)value->size * tg_dtype_size(value->dtype) : 0;
}

static bool save_numbers(tg_recordings *all, const tg_recording *from, int64_t count)
{
    size_t size = 0;
    for (int64_t i = 0; i < count; i++)
        size += bytes_of(tg_recording_at(from, i));
    if (size > all->size) {
        free(all->numbers);
        all->numbers = malloc(size);
        all->size = all->numbers ? size : 0;
    }
    size_t at = 0;
    for (int64_t i = 0; size <= all->size && i < count; i++) {
        const tg_value *value = tg_recording_at(from, i);
        if (bytes_of(value) > 0)
            memcpy(all->numbers + at, value->slot.data, bytes_of(value));
        at += bytes_of(value);
    }
    return size <= all->size;
}

/* Gives the program's values those of the step so far: what was saved, where memory is not the value's own, and what
 * belongs to the step. */
static void set_numbers(const tg_recordings *all, const tg_program *program, const tg_recording *from, int64_t count)
{
    size_t at = 0;
    for (int64_t i = 0; i < count; i++) {
        const tg_value *old = tg_recording_at(from, i);
        tg_value *value = tg_program_at(program, i);
        if (bytes_of(value) > 0)
            memcpy(value->slot.data, all->numbers + at, bytes_of(value));
        else if (value->op && value->op->flags & TG_VIEW)
            value->slot.data =
                (char *)value->inputs[0]->slot.data + ((char *)old->slot.data - (char *)old->inputs[0]->slot.data);
        else if (!value->op && !tg_has_buffer(value))
            value->slot.data = old->slot.data;
        value->change = old->change;
        at += bytes_of(value);
    }
}

/* ---- turning ---- */

static void use_block(tg_program *program, char *block)
{
    for (int64_t i = 0; program->planned != block && i < program->known; i++) {
        tg_value *value = tg_program_at(program, i);
        if (tg_has_buffer(value))
            value->slot.data = block + ((uintptr_t)value->slot.data - (uintptr_t)program->planned);
    }
    program->planned = block;
}

/* Plans the buffers of the program, which is not computed now, as if in a block at NULL. */
static bool plan(tg_program *program, bool saves_memory)
{
    size_t size;
    tg_use *uses = tg_find_places(program, saves_memory, &size);
    if (uses)
        tg_place_buffers(program, uses, NULL, size);
    free(uses);
    return uses != NULL;
}

/* Takes up one of those set aside, in place of the one in use, if the step can go on there. */
static bool take_up(tg_recordings *all, tg_tape *tape, int k, tg_fits *fits, const void *next)
{
    tg_program *program = &tape->program;
    const int64_t count = program->count;
    tg_recording *other = &all->kept[k];
    if (other->known <= count)
        return false;
    tg_program_exchange(program, other);
    if (!fits(tape, next) || (!program->size && !plan(program, tape->saves_memory)) || !goes_on(tape, other, count) ||
        !save_numbers(all, other, count) || !tg_run_hold(&tape->run, program->size)) {
        tg_program_exchange(program, other);
        return false;
    }
    use_block(program, tape->run.block);
    set_numbers(all, program, other, count);
    const tg_recording used = *other;
    memmove(other, other + 1, (size_t)(all->count - k - 1) * sizeof *other);
    all->kept[all->count - 1] = used;
    tg_run_turn(&tape->run, count);
    return true;
}

/* Records a value of this step once more. */
static bool append_again(tg_tape *tape, const tg_value *from)
{
    tg_program *program = &tape->program;
    tg_value *value = tg_program_append(program);
    if (!value)
        return false;
    const int64_t at = value->at;
    *value = *from;
    value->at = at;
    value->gradient = NULL;
    value->slot = (tg_slot){.at = tg_arena_here(&tape->run.arena)};
    value->inputs = tg_program_take(program, (size_t)from->input_count * sizeof *value->inputs, sizeof(void *));
    for (int i = 0; value->inputs && i < from->input_count; i++)
        value->inputs[i] = tg_program_at(program, from->inputs[i]->index);
    void *attributes =
        from->attributes ? tg_program_take(program, from->op->attributes_size, _Alignof(max_align_t)) : NULL;
    if (attributes)
        value->attributes = memcpy(attributes, from->attributes, from->op->attributes_size);
    value->shape = tg_program_take(program, sizeof *value->shape, _Alignof(tg_shape));
    if (value->shape)
        *value->shape = *from->shape;
    return !program->failed && (!tg_has_buffer(value) || tg_run_allocate(&tape->run, value));
}

/* Sets the recording in use aside, instead of the one that was not used for longest, and begins another with the values
 * of this step so far. */
static bool set_aside(tg_recordings *all, tg_tape *tape)
{
    tg_program *program = &tape->program;
    const int64_t count = program->count;
    tg_recording used = {0};
    for (int64_t i = 0; i < count; i++)
        if (tg_run_overwritten(&tape->run, tg_program_at(program, i)))
            return false;
    if (all->count == TG_RECORDINGS) {
        used = all->kept[0];
        memmove(all->kept, all->kept + 1, (size_t)--all->count * sizeof used);
    }
    used.known = 0;
    used.size = 0;
    used.passes.count = used.passes.next = used.regions.count = used.regions.next = 0;
    tg_arena_empty(&used.arena);
    tg_program_exchange(program, &used);
    const bool saved = save_numbers(all, &used, count);
    if (!saved)
        tg_program_exchange(program, &used);
    all->kept[all->count++] = used;
    if (!saved)
        return false;
    tg_run_turn(&tape->run, count);
    program->count = 0;
    for (int64_t i = 0; i < count; i++)
        if (!append_again(tape, tg_recording_at(&used, i))) {
            tg_program_cut(program, i);
            return false;
        }
    set_numbers(all, program, &used, count);
    return true;
}

bool tg_recordings_turn(tg_recordings *all, tg_tape *tape, tg_fits *fits, const void *next)
{
    tg_program *program = &tape->program;
    all->keeps |= program->size > 0; /* it has been repeated */
    if (!all->keeps || program->lent || tape->passes > 0 || program->region || program->passes.next > 0 ||
        program->regions.next > 0 || !tg_run_to(&tape->run, program, program->count))
        return false;
    for (int k = 0; k < all->count; k++)
        if (take_up(all, tape, k, fits, next)) {
            all->missed = 0;
            return true;
        }
    if (++all->missed > 2 * TG_RECORDINGS)
        tg_recordings_forget(all);
    else
        set_aside(all, tape);
    return false;
}

/* ---- memory ---- */

size_t tg_recordings_size(const tg_recordings *all)
{
    size_t most = 0;
    for (int k = 0; k < all->count; k++)
        most = all->kept[k].size > most ? all->kept[k].size : most;
    return most;
}

int64_t tg_recordings_held(const tg_recordings *all)
{
    int64_t held = (int64_t)all->size;
    for (int k = 0; k < TG_RECORDINGS; k++)
        held += all->kept[k].arena.bytes_held + all->kept[k].block_count * TG_BLOCK_VALUES * (int64_t)sizeof(tg_value);
    return held;
}

void tg_recordings_forget(tg_recordings *all)
{
    for (int k = 0; k < all->count; k++) {
        all->kept[k].known = 0;
        all->kept[k].size = 0;
        tg_arena_free(&all->kept[k].arena);
    }
    all->keeps = false;
    memset(all->seen, 0, sizeof all->seen);
}

void tg_recordings_free(tg_recordings *all)
{
    for (int k = 0; k < all->count; k++)
        tg_recording_free(&all->kept[k]);
    free(all->numbers);
}
