/* The list of built-in operations, from ops.def. */
#include "autograd/ops.h"

#include <string.h>

static const struct {
    const tg_op *op;
    const char *formula;
} operations[] = {
#define TG_OP(function, op, parameters, formula) {&op, formula},
#include "autograd/ops.def"
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* The functions of those that have tensors only, and no attributes. */
#define TG_OP(function, op, parameters, formula)
#define TG_UNARY_OP(function, op, x, formula) \
    tg_tensor function(tg_tensor x)           \
    {                                         \
        return tg_apply(&op, NULL, 1, &x);    \
    }
#define TG_BINARY_OP(function, op, a, b, formula)                \
    tg_tensor function(tg_tensor a, tg_tensor b)                 \
    {                                                            \
        return tg_apply(&op, NULL, 2, (const tg_tensor[]){a, b}); \
    }
#define TG_TERNARY_OP(function, op, a, b, c, formula)               \
    tg_tensor function(tg_tensor a, tg_tensor b, tg_tensor c)       \
    {                                                               \
        return tg_apply(&op, NULL, 3, (const tg_tensor[]){a, b, c}); \
    }
#include "autograd/ops.def"

const tg_op *tg_op_at(int index)
{
    return index >= 0 && index < OPERATIONS ? operations[index].op : NULL;
}

const tg_op *tg_op_find(const char *name)
{
    for (int i = 0; name && i < OPERATIONS; i++)
        if (strcmp(operations[i].op->name, name) == 0)
            return operations[i].op;
    return NULL;
}

const char *tg_op_formula(const tg_op *op)
{
    for (int i = 0; i < OPERATIONS; i++)
        if (operations[i].op == op)
            return operations[i].formula;
    return NULL;
}

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
    if (!op->derivative && !(op->flags & (TG_CONSTANT | TG_SOURCE)))
        return "its derivative (or the flag TG_CONSTANT, if it has none by nature)";
    return NULL;
}
