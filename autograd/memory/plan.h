/* Places for buffers of limited lifetimes in one block, such that those which live at the same time do not overlap.
 * Internal.
 *
 *     tg_life lives[] = {{.of = 0, .first = 0, .last = 2, .size = 256},
 *                        {.of = 1, .first = 1, .last = 1, .size = 64},
 *                        {.of = 2, .first = 3, .last = 4, .size = 192}};
 *     size_t size = tg_plan(lives, 3); // 320: number 2 takes the memory of number 0, at 0; number 1 is at 256
 */
#ifndef TG_PLAN_H
#define TG_PLAN_H

#include <stddef.h>
#include <stdint.h>

typedef struct tg_life {
    int64_t of;          /* the caller's number for it */
    int64_t first, last; /* the times at which it lives, both included */
    size_t size;         /* a multiple of the alignment, which its offset is then, too */
    size_t offset;       /* the distance from the start of the block */
    struct tg_life *next;
} tg_life;

#define TG_NO_PLAN SIZE_MAX

/* Finds all offsets, and sorts the lives in an order of its own. Returns the size of the block; TG_NO_PLAN if out of
 * memory. A million lives take less than a second. */
size_t tg_plan(tg_life *lives, size_t count);

#endif
