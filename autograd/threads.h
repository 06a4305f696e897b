/* How many threads an operation may use.
 *
 *     tg_set_threads(1);  // several such processes share this processor
 *
 * The initial number is the environment variable TG_THREADS, which may exceed the number of processors; without it
 * OPENBLAS_NUM_THREADS or OMP_NUM_THREADS, limited to the number of processors; else one per processor. Long loops and
 * large matrix products are divided into that many pieces where this does not change the result: one thread and several
 * give the same bits.
 */
#ifndef TG_THREADS_H
#define TG_THREADS_H

#include "autograd/api.h"

TG_API_BEGIN

/* Sets the number for the whole process; less than 1 means one per processor. May be called from any thread; running
 * work is not affected. The library divides work into at most 32 pieces. */
void tg_set_threads(int threads);

/* The current number; at least 1. */
int tg_threads(void);

TG_API_END
#endif
