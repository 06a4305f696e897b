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
