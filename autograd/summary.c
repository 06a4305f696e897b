/* What a model is made of, from the step that it recorded. */
#include "autograd/tape_internal.h"
#include "autograd/text.h"

#include <string.h>

/* A line: what was recorded under one scope. */
typedef struct layer {
    int64_t parameters;
    double operations;
    const tg_value *result; /* the last one */
} layer;

/* What the model itself computes: not what a backward pass or a checkpoint does again, and not leaves. */
static bool is_computed(const tg_value *value)
{
    return value->op && !(value->mode & TG_MODE_OF_PASS) && !value->is_saved;
}

static double operations_of(const tg_value *value)
{
    const unsigned moves = TG_VIEW | TG_SOURCE;
    if (value->op->work)
        return value->op->work(value);
    return value->op->flags & moves ? 0 : (double)value->size;
}

static bool same_place(const tg_scope *a, const tg_scope *b)
{
    for (; a && b && a != b; a = a->parent, b = b->parent)
        if (strcmp(a->name, b->name) != 0)
            return false;
    return a == b;
}

/* Adds up all values of the place of value number `first`; false if an earlier one has it too, or nothing of it counts.
 */
static bool add_up(const tg_program *program, int64_t first, layer *l)
{
    const tg_scope *scope = tg_program_at(program, first)->scope;
    *l = (layer){0};
    for (int64_t i = 0; i < program->count; i++) {
        const tg_value *value = tg_program_at(program, i);
        if (value->mode & TG_MODE_OF_PASS || !same_place(value->scope, scope))
            continue;
        if (i < first)
            return false;
        if (value->parameter && value->parameter->gradient)
            l->parameters += value->size;
        if (is_computed(value)) {
            l->operations += operations_of(value);
            l->result = value->mode & TG_MODE_DETACHED ? l->result : value;
        }
    }
    return l->parameters > 0 || l->operations > 0;
}

static void add_line(tg_text *text, const tg_value *value, const layer *l)
{
    char shape[128] = "";
    const size_t start = text->used;
    if (value->scope)
        tg_text_scope(text, value);
    else
        tg_text_add(text, "(outside)");
    const int wide = (int)(text->used - start);
    if (l->result)
        tg_shape_text(&l->result->shape, shape, sizeof shape);
    tg_text_add(text, "%*s %-18s %12lld %14.0f\n", wide < 20 ? 20 - wide : 0, "", shape, (long long)l->parameters,
                l->operations);
}

size_t tg_tape_summary(const tg_tape *tape, char *bytes, size_t size)
{
    tg_text text = {bytes, size, 0};
    layer all = {0}, one;
    tg_text_add(&text, "%-20s %-18s %12s %14s\n", "layer", "result", "parameters", "operations");
    for (int64_t i = 0; tape && i < tape->program.count; i++) {
        const tg_value *value = tg_program_at(&tape->program, i);
        if (value->mode & TG_MODE_OF_PASS ||
            (i > 0 && value->scope && value->scope == tg_program_at(&tape->program, i - 1)->scope))
            continue;
        if (!add_up(&tape->program, i, &one))
            continue;
        add_line(&text, value, &one);
        all.parameters += one.parameters;
        all.operations += one.operations;
    }
    tg_text_add(&text, "%-20s %-18s %12lld %14.0f\n", "all", "", (long long)all.parameters, all.operations);
    return text.used;
}
