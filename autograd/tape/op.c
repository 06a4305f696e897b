#include "autograd/op.h"

#include "autograd/tape/value.h"

double tg_field_number(const tg_field *field, const void *attributes)
{
    const char *at = (const char *)attributes + field->offset;
    if (field->type == TG_FIELD_REAL)
        return field->size == sizeof(float) ? (double)*(const float *)at : *(const double *)at;
    switch (field->size) {
    case sizeof(bool):
        return *(const bool *)at;
    case sizeof(int32_t):
        return *(const int32_t *)at;
    default:
        return (double)*(const int64_t *)at;
    }
}

const char *tg_op_missing(const tg_op *op)
{
    if (!op)
        return "the operation itself (it is NULL)";
    if (!op->name)
        return "its name";
    if (op->arity < TG_VARIADIC || (op->arity == 0) != !!(op->flags & TG_SOURCE))
        return "its arity (only a TG_SOURCE has no inputs)";
    if (op->flags & TG_ELEMENTWISE) {
        if (!op->loop)
            return "its loop";
        if (op->arity < 1 || op->arity > 4)
            return "an arity from 1 to 4, as an elementwise operation needs";
    } else {
        if (!op->shape)
            return "its shape rule";
        if (!op->forward && !(op->flags & TG_VIEW))
            return "its forward function";
    }
    if (op->saved && op->flags & TG_ELEMENTWISE && (op->arity != 1 || !op->saved->loop))
        return "what a saved derivative needs: one input, and a saved operation that is elementwise";
    if (!op->joint != !op->joint_inputs)
        return "the function or the inputs of its joint derivative";
    if (!op->derivative && !(op->flags & (TG_CONSTANT | TG_SOURCE)))
        return "its derivative (or the flag TG_CONSTANT, if it has none by nature)";
    return NULL;
}

/* ---- values, for shape rules and forward functions ---- */

const tg_op *tg_value_op(const tg_value *value)
{
    return value ? value->op : NULL;
}

const void *tg_value_attributes(const tg_value *value)
{
    return value ? value->attributes : NULL;
}

int tg_value_input_count(const tg_value *value)
{
    return value ? value->input_count : 0;
}

const tg_value *tg_value_input(const tg_value *value, int index)
{
    return value && index >= 0 && index < value->input_count ? value->inputs[index] : NULL;
}

tg_dtype tg_value_dtype(const tg_value *value)
{
    return value ? value->dtype : TG_F32;
}

const tg_shape *tg_value_shape(const tg_value *value)
{
    static const tg_shape none = {0};
    return value ? value->shape : &none;
}

int64_t tg_value_size(const tg_value *value)
{
    return value ? value->size : 0;
}

void tg_value_set(tg_value *out, tg_dtype dtype, tg_shape shape)
{
    if (!out)
        return;
    out->dtype = dtype;
    *out->shape = shape;
}
