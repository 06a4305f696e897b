/* What the reductions over adjacent axes share: their attributes and shape rule, and how shorthands reach them.
 * Internal.
 *
 *     x [outer, n, inner] -> y [outer, inner]        n: `count` axes from `first` on
 */
#ifndef TG_REDUCTION_H
#define TG_REDUCTION_H

#include "autograd/ops/axes.h"
#include "autograd/strided.h"

typedef struct tg_reduce_attributes {
    int first, count;
    int correction; /* of the variance */
} tg_reduce_attributes;

extern const tg_field tg_reduce_fields[4];
#define TG_REDUCE_ATTRIBUTES TG_ATTRIBUTES(tg_reduce_attributes, tg_reduce_fields)

/* The shape without the axes reduced. Refuses integers, and `count` axes that are not there. */
bool tg_reduce_shape(tg_value *out);

/* How the input lies before the operation. */
tg_blocks tg_reduce_blocks(const tg_value *out);

/* The tensor as it would be with the axes kept: what broadcasts against the input. */
tg_tensor tg_as_kept(tg_tensor reduced, tg_tensor input, const tg_reduce_attributes *a);

/* Applies the operation over a set of axes. */
tg_tensor tg_reduce(const tg_op *op, tg_tensor x, tg_axes axes, int correction, bool keep);

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
