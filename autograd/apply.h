/* Records an operation on the tape; and errors for its shape rule.
 *
 *     tg_tensor y = tg_apply(&tg_op_cube, NULL, 1, &x);
 */
#ifndef TG_APPLY_H
#define TG_APPLY_H

#include "autograd/op.h"

TG_API_BEGIN

/* Records one operation and runs it; every tg_ function of ops.def ends with this call. `attributes` is copied
 * (attributes_size bytes). A step that repeats the previous one, and tg_replay, compare these bytes alone, so what a
 * pointer in them points to must not change the operation. Inert inputs, inputs of two tapes, wrong counts or shapes
 * give an inert tensor, with the error on the tape. */
tg_tensor tg_apply(const tg_op *op, const void *attributes, int count, const tg_tensor *inputs);

/* tg_apply for an operation without inputs (TG_SOURCE). */
tg_tensor tg_apply_on(tg_tape *tape, const tg_op *op, const void *attributes);

/* For shape rules, and for forward functions that find invalid data: records "NAME(shapes): message" and returns
 * false. */
TG_FORMAT(printf, 2, 3)
bool tg_expected(const tg_value *out, const char *format, ...);

/* For shape rules: converts an axis that counts from the end; -1, with the error recorded, if there is no such axis. */
int tg_axis_of(tg_value *out, const tg_shape *shape, int axis);

/* For shape rules: true if all inputs have one floating type; otherwise records an error. For elementwise operations
 * the core checks this itself. */
bool tg_same_floating_type(tg_value *out);

TG_API_END
#endif
