/* From when to when each result of a program is read, and which results share memory. Internal.
 *
 *     tg_use *uses = tg_find_offsets(program, saves_memory, &size);
 *     offset = uses[uses[i].buffer].offset; // of value number i, in a block of `size` bytes
 *
 * The program is a whole step, which has been computed, and which later steps repeat. A result that the caller may read
 * lives until the step ends: any that a pass or a checkpoint has not released or, if the tape saves memory, any of
 * these that no operation reads or that tg_keep was given. The others live until an operation reads them for the last
 * time. Results share memory if they do not live at the same time.
 */
#ifndef TG_LIFETIMES_H
#define TG_LIFETIMES_H

#include "autograd/tape/run.h"

/* Of one value:
 *
 *     value    0 h      1 v, a view of h   2 y = gelu(v), in place of h   3 dy, which reads y
 *     root     0        0                  2                              3
 *     until    2                           3                              3
 *     buffer   0                           0                              3
 */
typedef struct tg_use {
    int64_t root;   /* the value whose memory a view shows; itself if it is none */
    int64_t until;  /* of a root: the last value that reads it, or TG_ALWAYS */
    int64_t buffer; /* of a root: the first value in its buffer, itself or one in place of which it is computed */
    size_t offset;  /* of that first value: the buffer's distance from the start of the block */
    bool is_read;   /* by an operation */
} tg_use;

/* The uses of all known values, to be freed, and the size of the block; NULL if out of memory. */
tg_use *tg_find_offsets(const tg_program *program, bool saves_memory, size_t *size);

/* Points the values' slots into this block; `until` says when it is overwritten there. */
void tg_set_buffers(tg_program *program, const tg_use *uses, char *block);

#endif
