/* The operations of a user's shared library, which exports them with TG_USER_OPS (autograd/op.h).
 *
 *     tg_error error;
 *     const tg_op *const *ops = user_ops_load("./my_ops.so", &error);
 *     if (!ops)
 *         fprintf(stderr, "gradcheck: --load: %s\n", error.text);
 *
 * The shared library calls tapegrad's functions in this program. It stays loaded.
 */
#pragma once

#include "autograd/op.h"
#include "examples/programs/system/standard.h"

/* Returns the operations, ended by NULL: at least one, each complete, with samples and a unique name. NULL and one line
 * on failure. */
const tg_op *const *user_ops_load(const char *path, tg_error *error);

/* From here on, if a fault ends the program, a message names the operation that was being checked. */
void user_ops_guard(void);
void user_ops_checking(const char *name);
