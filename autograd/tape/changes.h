/* Parameters that change while a step is under way, and constants that tg_set changes. Internal.
 *
 *     forward pass: y = w x      an optimiser's step: w = w - 0.1 g      backward pass: dy / dx = w, which w?
 *
 * Every change of a parameter, or by tg_set, gets the next number of one counter. A parameter has that of its latest
 * change as its version. The run notes the counter when a step or a replay begins (`began`), a leaf when the step
 * places it (`change`). To read a parameter whose version is newer than both is an error. As long as the counter has
 * not moved since the step began, that is one comparison for each operation.
 */
#ifndef TG_CHANGES_H
#define TG_CHANGES_H

#include "autograd/tape/program.h"

#include <stdatomic.h>

extern atomic_int_fast64_t tg_changes;

/* The number of the latest change of a parameter, or by tg_set. */
static inline int64_t tg_latest_change(void)
{
    return atomic_load_explicit(&tg_changes, memory_order_relaxed);
}

/* A new number, for the parameters that change now. */
int64_t tg_next_change(void);

/* True if this leaf has not changed since its step read it, in a run that began at this change; otherwise the error is
 * recorded. */
bool tg_is_unchanged(const tg_value *leaf, int64_t began);

/* The first leaf that values first .. end - 1 read and that has changed since; NULL: none. */
const tg_value *tg_changed_leaf(const tg_program *program, int64_t first, int64_t end, int64_t began);

#endif
