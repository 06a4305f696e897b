#include "autograd/tape/repeat.h"

#include <string.h>

/* The next value of the last step, if it was recorded in this context; otherwise NULL. */
static tg_value *next_value(const tg_program *program)
{
    if (program->count == program->known)
        return NULL;
    const tg_context *now = &program->context;
    tg_value *value = tg_program_at(program, program->count);
    return value->mode == now->mode && value->scope == now->scope && value->region == now->region ? value : NULL;
}

/* ---- operations ---- */

/* True if two sets of attributes of an operation are the same: equal bytes or, if `fields` covers every byte, equal
 * fields, as unused dimensions of a shape do not count. */
static bool attributes_equal(const tg_op *op, const void *a, const void *b)
{
    if (memcmp(a, b, op->attributes_size) == 0)
        return true;
    size_t end = 0;
    for (const tg_field *field = op->fields; field && field->name; field++) {
        const void *in_a = (const char *)a + field->offset, *in_b = (const char *)b + field->offset;
        if (field->offset != end ||
            !(field->type == TG_FIELD_SHAPE ? tg_shape_equal(in_a, in_b) : memcmp(in_a, in_b, field->size) == 0))
            return false;
        end += field->size;
    }
    return end == op->attributes_size;
}

tg_value *tg_repeat_operation(tg_program *program, const tg_op *op, const void *attributes, int count,
                              const tg_tensor *inputs)
{
    tg_value *value = next_value(program);
    if (!value || value->op != op || value->input_count != count || value->is_saved)
        return NULL;
    for (int i = 0; i < count; i++)
        if (tg_value_of(inputs[i]) != value->inputs[i])
            return NULL;
    if (op->attributes_size > 0 && !(attributes && attributes_equal(op, value->attributes, attributes)))
        return NULL;
    program->count += 1 + (op->saved && tg_saved_of(value));
    return value;
}

/* ---- leaves ---- */

bool tg_leaf_requires_grad(const tg_new_leaf *l)
{
    return l->is_variable || (l->parameter && l->parameter->gradient && l->dtype != TG_I32);
}

bool tg_is_like(const tg_value *value, const tg_new_leaf *l)
{
    return !value->op && value->dtype == l->dtype && value->parameter == l->parameter &&
           value->is_borrowed == (l->data != NULL) && value->requires_grad == tg_leaf_requires_grad(l) &&
           tg_shape_equal(value->shape, l->shape);
}

tg_value *tg_repeat_leaf(tg_program *program, const tg_new_leaf *l)
{
    tg_value *value = next_value(program);
    if (!value || !tg_is_like(value, l))
        return NULL;
    program->count++;
    if (l->data)
        value->slot.data = l->data;
    return value;
}

/* ---- passes and checkpoints ---- */

static void *next_item(const tg_list *list)
{
    return list->next < list->count ? list->items[list->next] : NULL;
}

const tg_pass *tg_repeat_pass(tg_program *program, const tg_pass *asked)
{
    const tg_pass *pass = next_item(&program->passes);
    if (!pass || pass->start != program->count || pass->end > program->known || pass->mode != asked->mode ||
        pass->region != asked->region || pass->create_graph != asked->create_graph ||
        pass->output_count != asked->output_count || pass->input_count != asked->input_count ||
        pass->retained_count != asked->retained_count ||
        memcmp(pass->values, asked->values, tg_pass_values(asked) * sizeof *asked->values) != 0)
        return NULL;
    program->count = pass->end;
    program->passes.next++;
    return pass;
}

tg_region *tg_repeat_region(tg_program *program)
{
    tg_region *region = next_item(&program->regions);
    if (!region || region->start != program->count || region->parent != program->context.region)
        return NULL;
    program->regions.next++;
    return region;
}

/* ---- the end ---- */

/* Clears gradients that are removed values. */
static void forget_gradients(tg_program *program, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        tg_value *value = tg_program_at(program, i);
        while (value->gradient && value->gradient->index >= count)
            value->gradient = value->gradient->earlier;
    }
}

static void forget_passes(tg_list *passes, int64_t count)
{
    while (passes->count > 0 && ((tg_pass *)passes->items[passes->count - 1])->end > count)
        passes->count--;
    passes->next = passes->next < passes->count ? passes->next : passes->count;
}

/* A checkpoint that begins at `count` and is open already has no values yet; it stays. */
static void forget_regions(tg_list *regions, int64_t count, uint64_t step_serial)
{
    for (; regions->count > 0; regions->count--) {
        const tg_region *last = regions->items[regions->count - 1];
        const bool is_open = regions->count <= regions->next && last->closed_in != step_serial;
        if (last->start < count + is_open)
            break;
    }
    regions->next = regions->next < regions->count ? regions->next : regions->count;
    for (int i = 0; i < regions->count; i++) {
        tg_region *region = regions->items[i];
        if (region->end > count) { /* it will be ended again */
            region->end = -1;
            region->result = NULL;
        }
    }
}

void tg_program_cut(tg_program *program, int64_t count)
{
    if (count >= program->known)
        return;
    tg_before_cut(program, count);
    forget_gradients(program, count);
    forget_passes(&program->passes, count);
    forget_regions(&program->regions, count, tg_step_serial(program));
    tg_arena_rewind(&program->arena, tg_program_at(program, count)->arena_position);
    program->known = count;
}

/* Names that a hook of a failed pass has given. */
static void forget_names(tg_program *program, int64_t count)
{
    const tg_given_name **link = &program->names;
    while (*link)
        if ((*link)->index >= count)
            *link = (*link)->next;
        else
            link = (const tg_given_name **)&(*link)->next;
}

void tg_program_remove(tg_program *program, int64_t count)
{
    forget_names(program, count);
    if (program->count > count)
        program->serial++; /* once more at most TG_MOST_REMOVALS times, as then nothing is appended */
    program->count = count;
    tg_program_cut(program, count);
}
