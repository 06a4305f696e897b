/* The operations: every line of ops.def as a function tg_NAME, and the shorthands below.
 *
 *     tg_tensor loss = tg_mean(tg_square(tg_sub(y, target)));
 */
#ifndef TG_OPS_H
#define TG_OPS_H

#include "autograd/op.h"
#include "autograd/rng.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A set of axes; negative ones count from the end. TG_AXES(0, -1), or TG_ALL_AXES. */
typedef struct tg_axes {
    int count; /* 0 means all axes */
    int axis[TG_MAX_RANK];
} tg_axes;

#ifdef __cplusplus
#define TG_ALL_AXES (tg_axes())
#else
#define TG_AXES(...) ((tg_axes){.count = (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), .axis = {__VA_ARGS__}})
#define TG_ALL_AXES  ((tg_axes){.count = 0})
#endif

#define TG_OP(name, parameters, formula) \
    extern const tg_op tg_op_##name;     \
    tg_tensor tg_##name parameters;
#include "autograd/ops.def"
#undef TG_OP

/* ---- shorthands: compositions of the operations above ---- */

/* The sum of all elements, a scalar. */
tg_tensor tg_sum(tg_tensor x);

/* x summed down to `shape`, from which x's shape can be had by broadcasting: the adjoint of tg_expand. */
tg_tensor tg_sum_to(tg_tensor x, tg_shape shape);

/* -x. */
tg_tensor tg_neg(tg_tensor x);

#ifdef __cplusplus
}
#endif
#endif
