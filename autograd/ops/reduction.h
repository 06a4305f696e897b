/* Shared by the reductions: attributes, shape rules, and helpers of the convenience functions. Internal.
 *
 *     x [outer, n, inner] -> y [outer, inner]        n: the reduced axes, if they are adjacent
 */
#ifndef TG_REDUCTION_H
#define TG_REDUCTION_H

#include "autograd/ops/axes.h"
#include "autograd/tape/strided.h"

#include <stddef.h>

typedef struct tg_reduce_attributes {
    int axes;       /* bit i: reduces axis i, if there is one */
    int keep;       /* 0 or 1: keeps the axes with size 1 */
    int correction; /* of the variance; the other operations' attributes end before it */
} tg_reduce_attributes;

extern const tg_field tg_reduce_fields[3];
#define TG_REDUCE_ATTRIBUTES .attributes_size = offsetof(tg_reduce_attributes, correction), .fields = tg_reduce_fields

/* The shape without the axes, or with them of size 1. Refuses integers, and axes that the operation cannot reduce: it
 * needs any, adjacent, or the last ones. */
bool tg_reduce_shape(tg_value *out);
bool tg_reduce_block_shape(tg_value *out);
bool tg_reduce_last_shape(tg_value *out);

/* The input as [outer, n, inner], for adjacent axes. */
tg_blocks tg_reduce_blocks(const tg_shape *in, const tg_reduce_attributes *a);

/* NAME_forward: the kernel over these blocks, called with these arguments between their sizes and the result. An empty
 * tensor may have many blocks. */
#define TG_BLOCKS_FORWARD(name, kernel, blocks, ...)                                                                  \
    static void name##_forward(const tg_call *call)                                                                   \
    {                                                                                                                 \
        const tg_value *out = call->value;                                                                            \
        const tg_blocks b = blocks;                                                                                   \
        if (out->size > 0)                                                                                            \
            TG_KERNEL_CALL(out->inputs[0]->dtype, kernel, (size_t)b.outer, (size_t)b.n, (size_t)b.inner, __VA_ARGS__, \
                           call->out);                                                                                \
    }
#define TG_REDUCED_BLOCKS tg_reduce_blocks(out->inputs[0]->shape, out->attributes)

/* The tensor with the reduced axes kept as 1, so that it broadcasts against the input. */
tg_tensor tg_as_kept(tg_tensor reduced, tg_tensor input, const tg_reduce_attributes *a);

/* Applies the operation over a set of axes, which are first moved after the others if the operation needs that. */
typedef enum tg_reduce_needs { TG_ANY_AXES, TG_AXES_SIDE_BY_SIDE, TG_LAST_AXES } tg_reduce_needs;
tg_tensor tg_reduce(const tg_op *op, tg_reduce_needs needs, tg_tensor x, tg_axes axes, bool keep, int correction);

/* ---- sums, of any set of axes ---- */

/* What to sum, neighbouring axes of one kind merged:
 *
 *     kept      summed        the innermost axis is
 *     [4]   x   [2]  [5]      run_summed:   sums of runs;           here [2, 4, 5] over axes 0 and 2
 *     [4]   x   [2]  block    otherwise:    sums of whole blocks,   here [4, 2, 3] over axis 1
 */
typedef struct tg_sum_plan {
    tg_strided kept, summed;
    bool run_summed;
    int64_t run; /* size of the innermost axis, which is in neither */
} tg_sum_plan;

/* `axes`: bit i for axis i. */
tg_sum_plan tg_plan_sum(const tg_shape *in, int axes);

#endif
