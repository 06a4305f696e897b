/* Records an operation on the tape; and errors for its shape rule.
 *
 *     tg_tensor y = tg_apply(&tg_op_cube, NULL, 1, &x);
 */
#ifndef TG_APPLY_H
#define TG_APPLY_H

#include "autograd/op.h"

TG_API_BEGIN

/* Records one operation and runs it: the way every tg_ function of ops.def ends. `attributes` is copied
 * (attributes_size bytes); what they point to must not change what the operation is, for a step that repeats the one
 * before, and tg_replay, go by their bytes alone. Inert inputs, inputs of two tapes, wrong counts or shapes give an
 * inert tensor, with the error on the tape. */
tg_tensor tg_apply(const tg_op *op, const void *attributes, int count, const tg_tensor *inputs);

/* The same for an operation without inputs (TG_SOURCE). */
tg_tensor tg_apply_on(tg_tape *tape, const tg_op *op, const void *attributes);

/* For shape rules, and for forward functions that find invalid data: records "NAME(shapes): message" and returns false.
 * */
#if defined __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
bool tg_expected(const tg_value *out, const char *format, ...);

/* For shape rules: converts an axis that counts from the end; -1, with the error recorded, if there is no such axis. */
int tg_axis_of(tg_value *out, const tg_shape *shape, int axis);

/* For shape rules: true if all inputs have one floating type; otherwise records an error. The core checks those of
 * elementwise operations. */
bool tg_same_floating_type(tg_value *out);

TG_API_END
#endif
