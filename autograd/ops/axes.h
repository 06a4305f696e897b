/* Helpers for the axes of a tensor, for shorthands and forward functions. Internal.
 *
 *     int axis = tg_find_axis("concat", x, -1);        // the last one; -1, with the error recorded, if there is none
 *     tg_blocks b = tg_blocks_of(&shape, axis, 1);     // x[outer, n, inner], n along the axis
 */
#ifndef TG_AXES_H
#define TG_AXES_H

#include "autograd/ops.h"

/* Records "OPERATION(shape of x): message" on x's tape, or that x is inert, and returns an inert tensor. */
TG_FORMAT(printf, 3, 4)
tg_tensor tg_refuse(const char *operation, tg_tensor x, const char *format, ...);

/* Converts an axis that counts from the end; -1, with the error recorded, if x has no such axis. */
int tg_find_axis(const char *operation, tg_tensor x, int axis);

/* The axes as a bitmask, all of them if none is named; -1, with the error recorded, if one does not exist or occurs
 * twice. */
int tg_axis_bits(const char *operation, tg_tensor x, tg_axes axes);

/* A contiguous tensor seen as [outer, n, inner], where n are `count` axes from `first` on. */
typedef struct tg_blocks {
    int64_t outer, n, inner;
} tg_blocks;

tg_blocks tg_blocks_of(const tg_shape *shape, int first, int count);

/* The multi-index of an element, as text: "[1, 0, 4]". */
char *tg_position_text(const tg_shape *shape, int64_t element, char *text, size_t size);

#endif
