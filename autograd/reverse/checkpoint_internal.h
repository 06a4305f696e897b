/* Recomputation: a backward pass recomputes the values that a checkpoint released. Internal.
 *
 *     program  [ .. (a  b  c) d .. loss | the backward pass: .. derivatives of d .. (b' c') derivatives of c, b, a .. ]
 *                    ^ region with result c; a, random and an input of b, was kept
 *
 * The pass appends the values of the region once more, with the same inputs and random streams; they replace the
 * released ones. So a replay computes them too, and a pass with create_graph can be differentiated. Those of a nested
 * region are appended twice: for the values after it, and for its own derivatives.
 */
#ifndef TG_CHECKPOINT_INTERNAL_H
#define TG_CHECKPOINT_INTERNAL_H

#include "autograd/checkpoint.h"
#include "autograd/tape/tape_internal.h"

/* True for what cannot be computed again: leaves, random sources, and copies of leaves, which may have changed. */
bool tg_is_given(const tg_value *value);

/* A region that has been recomputed. */
typedef struct tg_recomputed {
    const struct tg_recomputed *next;
    const tg_region *region;
} tg_recomputed;

typedef struct tg_recompute {
    tg_tape *tape;
    int64_t first, end;  /* values first .. end - 1 may have been released: those that the pass walks */
    tg_value **stand_in; /* the recomputed value of each, or NULL; the whole array is NULL at first */
    const tg_recomputed *regions;
} tg_recompute;

/* Ensures that a value, and all values that it was computed from, can be read. */
bool tg_recompute_for(tg_recompute *recompute, const tg_value *value);

/* The value, or the recomputed one that replaces it. */
static inline tg_value *tg_stand_in(const tg_recompute *r, tg_value *value)
{
    const bool known = r->stand_in && value->index >= r->first && value->index < r->end;
    tg_value *other = known ? r->stand_in[value->index - r->first] : NULL;
    return other ? other : value;
}

#endif
