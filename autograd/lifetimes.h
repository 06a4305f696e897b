/* Which results of a program may share memory: from when to when each is read. Internal.
 *
 *     tg_lifetimes l;
 *     if (tg_lifetimes_of(program, forgets, &l)) // value number i is l.uses[i].at bytes into a block of l.size
 *         ...
 *     tg_lifetimes_free(&l);
 *
 * The program is a whole step, which has been computed, and which later steps repeat. A result that can be read until
 * the step ends shares no memory with later ones: any that a pass or a checkpoint has not released or, if the tape
 * forgets, any that no operation reads or that is kept. The others live until they are read for the last time.
 */
#ifndef TG_LIFETIMES_H
#define TG_LIFETIMES_H

#include "autograd/program.h"

enum { TG_BUFFER_ALIGNMENT = 64 };

/* Of one value. */
typedef struct tg_use {
    int64_t until; /* the last value that reads it, or TG_ALWAYS */
    int64_t owner; /* the value whose memory it shares: itself, one that it overwrites or is a view of */
    size_t at;     /* of an owner: its place */
} tg_use;

#define TG_ALWAYS INT64_MAX

typedef struct tg_lifetimes {
    tg_use *uses;
    size_t size;
} tg_lifetimes;

/* False if out of memory. */
bool tg_lifetimes_of(const tg_program *program, bool forgets, tg_lifetimes *lifetimes);
void tg_lifetimes_free(tg_lifetimes *lifetimes);

/* The value whose memory a view shows; for others the value itself. */
const tg_value *tg_root_of(const tg_value *value);

/* True for a value with a buffer of the run: no view, and not in memory of the caller or of a parameter. */
bool tg_has_buffer(const tg_value *value);

#endif
