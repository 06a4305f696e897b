#include "autograd/listing.h"

#include "autograd/tape/tape_internal.h"

#include <string.h>

/* A column: text that `write` adds, padded to `width`. */
static void add_column(tg_text *text, int width, const tg_value *value, void (*write)(tg_text *, const tg_value *))
{
    size_t start = text->used;
    write(text, value);
    int wide = (int)(text->used - start);
    tg_text_add(text, "%*s ", wide < width ? width - wide : 0, "");
}

static void add_kind(tg_text *text, const tg_value *value)
{
    tg_text_add(text, "%s", tg_kind_of(value));
}

static void add_inputs(tg_text *text, const tg_value *value)
{
    for (int i = 0; i < value->input_count; i++)
        tg_text_add(text, "%s%lld", i ? " " : "", (long long)value->inputs[i]->index);
}

size_t tg_tape_table(const tg_tape *tape, char *bytes, size_t size)
{
    tg_text text = {bytes, size, 0};
    tg_text_add(&text, "%6s  %-20s %-18s %-14s %12s  %-20s %s\n", "number", "operation", "result", "inputs", "bytes",
                "in", "name and attributes");
    for (int64_t i = 0; tape && i < tape->program.count; i++) {
        const tg_value *value = tg_program_at(&tape->program, i);
        bool owns = !value->parameter && !(value->op && value->op->flags & TG_VIEW);
        tg_text_add(&text, "%6lld  ", (long long)i);
        add_column(&text, 20, value, add_kind);
        add_column(&text, 18, value, tg_text_type);
        add_column(&text, 14, value, add_inputs);
        tg_text_add(&text, "%12lld  ", owns ? (long long)value->size * (long long)tg_dtype_size(value->dtype) : 0LL);
        add_column(&text, 20, value, tg_text_scope);
        const char *name = tg_name_of(value);
        tg_text_add(&text, "%s%s", name ? name : "", name && value->attributes ? " " : "");
        tg_text_attributes(&text, value);
        tg_text_add(&text, "\n");
    }
    return text.used;
}

tg_tensor tg_tape_tensor(const tg_tape *tape, int64_t index)
{
    const bool is_there = tape && index >= 0 && index < tape->program.count;
    return tg_tensor_of(is_there ? tg_program_at(&tape->program, index) : NULL);
}

/* Escapes text for a quoted string of DOT. */
static void add_escaped(tg_text *text, const char *bytes)
{
    for (; *bytes; bytes++)
        tg_text_add(text, *bytes == '\n' ? "\\n" : *bytes == '"' || *bytes == '\\' ? "\\%c" : "%c", *bytes);
}

static void add_node(tg_text *text, const tg_value *value)
{
    const char *name = tg_name_of(value);
    tg_text_add(text, "    v%lld [label=\"", (long long)value->index);
    add_escaped(text, tg_kind_of(value));
    tg_text_add(text, name ? " " : "");
    add_escaped(text, name ? name : "");
    tg_text_add(text, "\\n");
    tg_text_attributes(text, value);
    tg_text_add(text, value->op && value->attributes ? "\\n" : "");
    tg_text_type(text, value);
    tg_text_add(text, "\"%s];\n",
                value->parameter ? ", style=filled, fillcolor=lightyellow"
                : !value->op     ? ", style=filled, fillcolor=lightgrey"
                                 : "");
}

/* The first pass of this step in which a value was recorded: a pass inside a hook ends, and is listed, before the one
 * around it. -1 for a value of the forward pass. */
static int pass_of(const tg_program *program, const tg_value *value)
{
    for (int k = 0; k < program->passes.next; k++) {
        const tg_pass *pass = program->passes.items[k];
        if (pass->start <= value->index && value->index < pass->end)
            return k;
    }
    return -1;
}

size_t tg_tape_dot(const tg_tape *tape, char *bytes, size_t size)
{
    tg_text text = {bytes, size, 0};
    const int passes = tape ? tape->program.passes.next : 0;
    const int64_t count = tape ? tape->program.count : 0;
    tg_text_add(&text, "digraph tape {\n    node [shape=box, fontname=\"sans-serif\"];\n");
    for (int pass = -1; pass < passes; pass++) {
        if (pass >= 0)
            tg_text_add(&text, "    subgraph cluster_%d {\n    label=\"backward pass %d\"; fontname=\"sans-serif\";\n",
                        pass, pass + 1);
        for (int64_t i = 0; i < count; i++)
            if (pass_of(&tape->program, tg_program_at(&tape->program, i)) == pass)
                add_node(&text, tg_program_at(&tape->program, i));
        tg_text_add(&text, pass >= 0 ? "    }\n" : "");
    }
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < tg_program_at(&tape->program, i)->input_count; k++)
            tg_text_add(&text, "    v%lld -> v%lld;\n", (long long)tg_program_at(&tape->program, i)->inputs[k]->index,
                        (long long)i);
    tg_text_add(&text, "}\n");
    return text.used;
}

/* ---- summary of the model, from the step that it recorded ---- */

/* A line: the values recorded under one scope. */
typedef struct layer {
    int64_t parameters;
    double operations;
    const tg_value *result; /* the last one */
} layer;

/* True for values that the model itself computes: not those of a backward pass or a recomputation, and not leaves. */
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

/* Adds up all values with the scope of value number `first`; false if an earlier line has that scope, or none
 * counts. */
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
        tg_shape_text(l->result->shape, shape, sizeof shape);
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
