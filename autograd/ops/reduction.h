/* What the reductions over adjacent axes share: their attributes and shape rule, and how shorthands reach them.
 * Internal.
 *
 *     x [outer, n, inner] -> y [outer, inner]        n: `count` axes from `first` on
 */
#ifndef TG_REDUCTION_H
#define TG_REDUCTION_H

#include "autograd/ops/axes.h"

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

#endif
