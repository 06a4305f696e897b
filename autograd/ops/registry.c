#include "autograd/registry.h"

#include "autograd/ops.h"

#include <string.h>

/* The lines of the list: operations, and between them the categories of the operations that follow. */
static const struct {
    const tg_op *op;
    const char *text; /* formula, or category */
} lines[] = {
#define TG_CATEGORY(category)                    {NULL, category},
#define TG_OP(function, op, parameters, formula) {&op, formula},
#include "autograd/ops.def"
};
enum { LINES = sizeof lines / sizeof lines[0] };

/* The functions of operations on tensors alone, without attributes. */
#define TG_OP(function, op, parameters, formula)
#define TG_UNARY_OP(function, op, x, formula) \
    tg_tensor function(tg_tensor x)           \
    {                                         \
        return tg_apply(&op, NULL, 1, &x);    \
    }
#define TG_BINARY_OP(function, op, a, b, formula)                 \
    tg_tensor function(tg_tensor a, tg_tensor b)                  \
    {                                                             \
        return tg_apply(&op, NULL, 2, (const tg_tensor[]){a, b}); \
    }
#define TG_TERNARY_OP(function, op, a, b, c, formula)                \
    tg_tensor function(tg_tensor a, tg_tensor b, tg_tensor c)        \
    {                                                                \
        return tg_apply(&op, NULL, 3, (const tg_tensor[]){a, b, c}); \
    }
#include "autograd/ops.def"

const tg_op *tg_op_at(int index)
{
    for (int i = 0; index >= 0 && i < LINES; i++)
        if (lines[i].op && index-- == 0)
            return lines[i].op;
    return NULL;
}

const tg_op *tg_op_find(const char *name)
{
    for (int i = 0; name && i < LINES; i++)
        if (lines[i].op && strcmp(lines[i].op->name, name) == 0)
            return lines[i].op;
    return NULL;
}

const char *tg_op_formula(const tg_op *op)
{
    for (int i = 0; op && i < LINES; i++)
        if (lines[i].op == op)
            return lines[i].text;
    return NULL;
}

const char *tg_op_category(const tg_op *op)
{
    const char *category = NULL;
    for (int i = 0; op && i < LINES; i++)
        if (!lines[i].op)
            category = lines[i].text;
        else if (lines[i].op == op)
            return category;
    return NULL;
}
