#include "autograd/tape/describe.h"

const char *tg_name_of(const tg_value *value)
{
    const tg_given_name *name = value->program->names;
    while (name && name->index != value->index)
        name = name->next;
    return name ? name->text : !value->op && value->parameter ? value->parameter->name : NULL;
}

const char *tg_kind_of(const tg_value *value)
{
    if (value->op)
        return value->op->name;
    return value->parameter ? "parameter" : tg_is_variable(value) ? "variable" : "constant";
}

void tg_text_type(tg_text *text, const tg_value *value)
{
    char shape[128];
    tg_text_add(text, "%s%s", tg_dtype_name(value->dtype), tg_shape_text(value->shape, shape, sizeof shape));
}

void tg_text_attributes(tg_text *text, const tg_value *value)
{
    const tg_field *field = value->op && value->attributes ? value->op->fields : NULL;
    for (const char *between = ""; field && field->name; field++, between = ", ") {
        char shape[128];
        if (field->type == TG_FIELD_POINTER)
            continue;
        tg_text_add(text, "%s%s=", between, field->name);
        switch (field->type) {
        case TG_FIELD_BOOL:
            tg_text_add(text, "%s", tg_field_number(field, value->attributes) != 0 ? "yes" : "no");
            break;
        case TG_FIELD_SHAPE:
            tg_text_add(text, "%s",
                        tg_shape_text((const tg_shape *)((const char *)value->attributes + field->offset), shape,
                                      sizeof shape));
            break;
        default:
            tg_text_add(text, "%.*g", field->type == TG_FIELD_INT ? 19 : 6, tg_field_number(field, value->attributes));
        }
    }
}

void tg_text_call(tg_text *text, const tg_value *value)
{
    enum { SHOWN = 4 };
    tg_text_add(text, "%s(", value->op && value->op->name ? value->op->name : "?");
    for (int i = 0; i < value->input_count && i < SHOWN; i++) {
        const tg_value *input = value->inputs[i];
        tg_text_add(text, i ? ", " : "");
        const char *name = tg_name_of(input);
        if (name)
            tg_text_add(text, "%s ", name);
        tg_text_type(text, input);
    }
    tg_text_add(text, value->input_count > SHOWN ? ", ...)" : ")");
}

/* From the outermost scope inwards. Scopes may be nested too deeply for a recursion. */
void tg_text_scope(tg_text *text, const tg_value *value)
{
    enum { SHOWN = 100 };
    int depth = 0;
    for (const tg_scope *scope = value->scope; scope; scope = scope->parent)
        depth++;
    for (int level = 0; level < depth && level < SHOWN; level++) {
        const tg_scope *scope = value->scope;
        for (int i = level + 1; i < depth; i++)
            scope = scope->parent;
        tg_text_add(text, level ? ".%s" : "%s", scope->name);
    }
    if (depth > SHOWN)
        tg_text_add(text, "...");
}

void tg_text_place(tg_text *text, const tg_value *value)
{
    tg_text_add(text, " (operation %lld of the tape", (long long)value->index);
    if (value->scope) {
        tg_text_add(text, ", in ");
        tg_text_scope(text, value);
    }
    tg_text_add(text, ")");
}
