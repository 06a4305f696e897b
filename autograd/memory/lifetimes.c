#include "autograd/memory/lifetimes.h"

#include "autograd/memory/plan.h"
#include "autograd/reverse/checkpoint_internal.h"

#include <stdlib.h>

/* ---- until when a value is read ---- */

static void live_until(tg_use *uses, const tg_value *value, int64_t index)
{
    tg_use *root = &uses[uses[value->index].root];
    root->until = root->until < index ? index : root->until;
}

/* Reads by operations. A saved derivative is computed with the value before it, so it reads nothing itself. */
static void add_reads(tg_use *uses, const tg_value *value)
{
    for (int i = 0; !value->is_saved && i < value->input_count; i++) {
        live_until(uses, value->inputs[i], value->index);
        uses[value->inputs[i]->index].is_read = true;
    }
}

/* True if the caller may read the value, also after operations have. */
static bool is_for_caller(const tg_use *uses, const tg_value *value, bool saves_memory)
{
    return !saves_memory || value->is_kept || !uses[value->index].is_read;
}

/* Reads by the caller: an intermediate result of a checkpoint, until that is closed; its result, until the enclosing
 * one is; others, until the step ends. A replay reads leaves again. A later step may record more before it closes the
 * checkpoint, and read these there, so the value after the checkpoint does not overwrite them either. */
static void add_reads_of_caller(tg_use *uses, const tg_value *value, bool saves_memory)
{
    const tg_region *region = value->region;
    const bool released = value->slot.released || tg_program_at(value->program, uses[value->index].root)->slot.released;
    while (region && region->result == value)
        region = region->parent;
    if (!released && (tg_is_given(value) || is_for_caller(uses, value, saves_memory)))
        live_until(uses, value, TG_ALWAYS);
    else if (value->slot.released && region && is_for_caller(uses, value, saves_memory))
        live_until(uses, value, region->end < value->program->known ? region->end : TG_ALWAYS);
}

static void find_uses(const tg_program *program, bool saves_memory, tg_use *uses)
{
    for (int64_t i = 0; i < program->known; i++) {
        const tg_value *value = tg_program_at(program, i);
        const bool is_view = value->op && value->op->flags & TG_VIEW;
        uses[i].root = is_view ? uses[value->inputs[0]->index].root : i;
        live_until(uses, value, i);
        add_reads(uses, value);
    }
    for (int64_t i = 0; i < program->known; i++)
        add_reads_of_caller(uses, tg_program_at(program, i), saves_memory);
}

/* ---- which values share a buffer ---- */

static const tg_value *root_of_input(const tg_use *uses, const tg_value *value, int i)
{
    return tg_program_at(value->program, uses[value->inputs[i]->index].root);
}

/* True if element i of each input that shows this root's memory is element i of the root. */
static bool same_elements(const tg_use *uses, const tg_value *value, const tg_value *root)
{
    for (int i = 0; i < value->input_count; i++)
        if (root_of_input(uses, value, i) == root && value->inputs[i]->size != root->size)
            return false;
    return true;
}

/* The input in whose memory the value may be computed: the latest one that nothing reads afterwards. NULL: none. */
static const tg_value *input_in_place(const tg_use *uses, const tg_value *value)
{
    const tg_value *found = NULL;
    const unsigned flags = value->op && !value->is_saved ? value->op->flags : 0;
    for (int i = 0; flags & TG_IN_PLACE && i < value->input_count; i++) {
        const tg_value *root = root_of_input(uses, value, i);
        if (root->op && tg_has_buffer(root) && uses[root->index].until == value->index && root->dtype == value->dtype &&
            (root->size == value->size || !(flags & TG_ELEMENTWISE)) && same_elements(uses, value, root) &&
            (!found || found->index < root->index))
            found = root;
    }
    return found;
}

static size_t bytes_of(const tg_value *value)
{
    const size_t unit = TG_BUFFER_ALIGNMENT;
    return (tg_bytes_of(value) + unit - 1) / unit * unit;
}

/* Lists the lives of the buffers, each with the number of its first value; returns how many. That value's `offset` is
 * the number of the life until it is placed. */
static size_t list_lives(const tg_program *program, tg_use *uses, tg_life *lives)
{
    size_t count = 0;
    for (int64_t i = 0; i < program->known; i++) {
        const tg_value *value = tg_program_at(program, i), *before = input_in_place(uses, value);
        uses[i].buffer = before ? uses[before->index].buffer : i;
        if (!tg_has_buffer(value))
            continue;
        if (!before) {
            uses[i].offset = count;
            lives[count++] = (tg_life){.of = i, .first = value->op ? i - value->is_saved : 0};
        }
        tg_life *life = &lives[uses[uses[i].buffer].offset];
        life->size = bytes_of(value) > life->size ? bytes_of(value) : life->size;
        life->last = uses[i].until > life->last ? uses[i].until : life->last;
    }
    return count;
}

tg_use *tg_find_offsets(const tg_program *program, bool saves_memory, size_t *size)
{
    tg_use *uses = calloc((size_t)program->known, sizeof *uses);
    tg_life *lives = malloc((size_t)program->known * sizeof *lives);
    *size = TG_NO_PLAN;
    if (uses && lives) {
        find_uses(program, saves_memory, uses);
        const size_t count = list_lives(program, uses, lives);
        *size = tg_plan(lives, count);
        for (size_t k = 0; *size != TG_NO_PLAN && k < count; k++)
            uses[lives[k].of].offset = lives[k].offset;
    }
    free(lives);
    if (*size != TG_NO_PLAN) {
        *size = *size > 0 ? *size : TG_BUFFER_ALIGNMENT;
        return uses;
    }
    free(uses);
    return NULL;
}

void tg_set_buffers(tg_program *program, const tg_use *uses, char *block)
{
    for (int64_t i = 0; i < program->known; i++) {
        tg_value *value = tg_program_at(program, i);
        value->slot.arena_position = 0; /* nothing is in the arena any more */
        value->slot.until = uses[i].until;
        if (tg_has_buffer(value))
            value->slot.data = block + uses[uses[i].buffer].offset;
    }
}
