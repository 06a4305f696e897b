/* Scratch memory of each thread, for packing operands. Internal to the library.
 *
 *     float *packed = tg_scratch();               // TG_SCRATCH bytes; the next kernel on this thread overwrites them
 *
 * A thread of the pool gets its memory before it starts (parallel.c), not at its first product: it is random which
 * thread takes a part, and a repeated training step must allocate nothing.
 */
#ifndef TG_SCRATCH_H
#define TG_SCRATCH_H

enum { TG_SCRATCH = 2400 << 10 }; /* bytes; packing a matrix usually fills two thirds of it */

/* The calling thread's memory, aligned to 64 bytes; allocated on the first call and freed when the thread ends. NULL if
 * out of memory. */
void *tg_scratch(void);

/* Memory for a thread that is about to start, which owns it after tg_scratch_own. NULL if out of memory: then the
 * thread's first call of tg_scratch allocates it. */
void *tg_scratch_new(void);
void tg_scratch_own(void *memory);

#endif
