/* Memory of each thread, to pack operands in. Internal to the library.
 *
 *     float *packed = tg_scratch();               // TG_SCRATCH bytes; the next kernel on this thread overwrites them
 *
 * A thread of the pool gets its memory before it starts (parallel.c), and not with its first product: which thread
 * takes a part is chance, and a training step that has been taken before allocates nothing.
 */
#ifndef TG_SCRATCH_H
#define TG_SCRATCH_H

enum { TG_SCRATCH = 2400 << 10 }; /* bytes; packing a matrix fills two thirds of it most often */

/* The calling thread's memory, aligned to 64 bytes; allocated on the first call and freed when the thread ends. NULL if
 * out of memory. */
void *tg_scratch(void);

/* For a thread that is about to start, which owns it after tg_scratch_own. NULL if out of memory: then the thread's
 * first call allocates it. */
void *tg_scratch_new(void);
void tg_scratch_own(void *memory);

#endif
