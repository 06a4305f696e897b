/* The operations of a user's shared library, which exports them with TG_USER_OPS (autograd/op.h).
 *
 *     tg_error error;
 *     const tg_op *const *ops = user_ops_load("./my_ops.so", &error);
 *     if (!ops)
 *         fprintf(stderr, "gradcheck: --load: %s\n", error.text);
 *
 * The library calls functions of tapegrad, which are those of this program. It stays loaded.
 */
#ifndef GRADCHECK_USER_OPS_H
#define GRADCHECK_USER_OPS_H

#include "autograd/op.h"
#include <tapegrad.h>

/* The operations, ended by NULL, one at least, each complete, with samples and a name of its own; or NULL and one line
 * that says what is wrong. */
const tg_op *const *user_ops_load(const char *path, tg_error *error);

/* From here on, a signal that ends the program because of a fault says which operation was being checked. */
void user_ops_guard(void);
void user_ops_checking(const char *name);

#endif
