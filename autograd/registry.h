/* The built-in operations, ops.def, as a list.
 *
 *     for (int i = 0; tg_op_at(i); i++)
 *         printf("%-20s %s\n", tg_op_at(i)->name, tg_op_formula(tg_op_at(i)));
 */
#ifndef TG_REGISTRY_H
#define TG_REGISTRY_H

#include "autograd/op.h"

TG_API_BEGIN

/* The built-in operations in the order of ops.def; NULL past the end, or if none has that name. */
const tg_op *tg_op_at(int index);
const tg_op *tg_op_find(const char *name);
const char *tg_op_formula(const tg_op *op);  /* the line in ops.def; NULL for a user's own */
const char *tg_op_category(const tg_op *op); /* "arithmetic", "activation", ...; NULL for a user's own */

TG_API_END
#endif
