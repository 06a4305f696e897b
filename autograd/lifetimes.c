#include "autograd/lifetimes.h"

#include "autograd/ops.h"
#include "autograd/plan.h"

#include <stdlib.h>

bool tg_has_buffer(const tg_value *value)
{
    return value->op ? !(value->op->flags & TG_VIEW) && !value->sink : !value->parameter && !value->is_borrowed;
}

const tg_value *tg_root_of(const tg_value *value)
{
    while (value->op && value->op->flags & TG_VIEW)
        value = value->inputs[0];
    return value;
}

static void live_until(tg_use *use, int64_t index)
{
    use->until = use->until < index ? index : use->until;
}

/* ---- until when a value is read ---- */

/* By operations. A saved derivative is computed with the value before it, so it reads nothing itself. */
static void add_reads(tg_use *uses, const tg_value *value)
{
    for (int i = 0; !value->is_saved && i < value->input_count; i++)
        live_until(&uses[tg_root_of(value->inputs[i])->index], value->index);
}

/* By the caller: an intermediate result of a checkpoint, until that is closed; its result, until the enclosing one
 * is. */
static void add_reads_in_checkpoint(tg_use *uses, const tg_value *value)
{
    const tg_region *region = value->region;
    while (region && region->result == value)
        region = region->parent;
    if (region && value->slot.released)
        live_until(&uses[tg_root_of(value)->index], region->end - 1);
}

/* True if the caller may read the value at any time, or a replay does; and for values that cannot be computed again. */
static bool stays(const tg_value *value, bool forgets)
{
    const unsigned random_source = TG_SOURCE | TG_RANDOM;
    if (!value->op)
        return true;
    if (value->slot.released || tg_root_of(value)->slot.released)
        return false;
    return !forgets || value->is_kept || value->reader == 0 || (value->op->flags & random_source) == random_source ||
           (value->op == &tg_op_copy && !value->inputs[0]->op); /* as the leaf may have changed */
}

/* ---- which values share a buffer ---- */

/* True if every input that lies in this root's memory does so element by element. */
static bool lies_alike(const tg_value *value, const tg_value *root)
{
    for (int i = 0; i < value->input_count; i++)
        if (tg_root_of(value->inputs[i]) == root && value->inputs[i]->size != root->size)
            return false;
    return true;
}

/* The input whose memory the value may overwrite: the latest one that nothing reads afterwards. NULL: none. */
static const tg_value *overwritten_by(const tg_use *uses, const tg_value *value)
{
    const tg_value *found = NULL;
    const unsigned flags = value->op && !value->is_saved ? value->op->flags : 0;
    for (int i = 0; flags & TG_IN_PLACE && i < value->input_count; i++) {
        const tg_value *root = tg_root_of(value->inputs[i]);
        if (root->op && tg_has_buffer(root) && uses[root->index].until == value->index && root->dtype == value->dtype &&
            (root->size == value->size || !(flags & TG_ELEMENTWISE)) && lies_alike(value, root) &&
            (!found || found->index < root->index))
            found = root;
    }
    return found;
}

static size_t bytes_of(const tg_value *value)
{
    const size_t bytes = (size_t)value->size * tg_dtype_size(value->dtype), unit = TG_BUFFER_ALIGNMENT;
    return (bytes + unit - 1) / unit * unit;
}

/* Lists the lives of the buffers, each with the number of its first value; returns how many. */
static size_t list_lives(const tg_program *program, tg_use *uses, tg_life *lives)
{
    size_t count = 0;
    for (int64_t i = 0; i < program->known; i++) {
        const tg_value *value = tg_program_at(program, i), *before = overwritten_by(uses, value);
        uses[i].owner = before ? uses[before->index].owner : uses[tg_root_of(value)->index].owner;
        if (!tg_has_buffer(value))
            continue;
        if (!before) {
            uses[i].owner = i;
            uses[i].at = count;
            lives[count++] = (tg_life){.of = i, .first = value->op ? i - value->is_saved : 0};
        }
        tg_life *life = &lives[uses[uses[i].owner].at];
        life->size = bytes_of(value) > life->size ? bytes_of(value) : life->size;
        life->last = uses[i].until > life->last ? uses[i].until : life->last;
    }
    return count;
}

bool tg_lifetimes_of(const tg_program *program, bool forgets, tg_lifetimes *l)
{
    const size_t values = (size_t)program->known;
    tg_life *lives = malloc(values * sizeof *lives);
    *l = (tg_lifetimes){.uses = calloc(values, sizeof *l->uses)};
    if (!lives || !l->uses) {
        free(lives);
        tg_lifetimes_free(l);
        return false;
    }
    for (int64_t i = 0; i < program->known; i++) {
        const tg_value *value = tg_program_at(program, i);
        live_until(&l->uses[i], i);
        add_reads(l->uses, value);
        add_reads_in_checkpoint(l->uses, value);
    }
    for (int64_t i = 0; i < program->known; i++)
        if (stays(tg_program_at(program, i), forgets))
            l->uses[tg_root_of(tg_program_at(program, i))->index].until = TG_ALWAYS;
    const size_t count = list_lives(program, l->uses, lives);
    l->size = tg_plan(lives, count);
    for (size_t k = 0; k < count; k++)
        l->uses[lives[k].of].at = lives[k].at;
    free(lives);
    return true;
}

void tg_lifetimes_free(tg_lifetimes *l)
{
    free(l->uses);
    *l = (tg_lifetimes){0};
}
