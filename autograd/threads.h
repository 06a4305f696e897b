/* How many threads an operation may use.
 *
 *     tg_set_threads(1);          // this process shares the processor with others like it
 *
 * At the start that is TG_THREADS of the environment, which may be more than there are processors; without it
 * OPENBLAS_NUM_THREADS or OMP_NUM_THREADS, but no more than there are processors; else one for each processor. Long
 * loops of the library and large matrix products are cut into as many pieces, where it makes no difference to the
 * numbers: one thread and several give the same bits.
 */
#ifndef TG_THREADS_H
#define TG_THREADS_H

#include "autograd/api.h"

TG_API_BEGIN

/* Sets the number for the whole process; less than 1 means one per processor. May be called from any thread; running
 * work is not affected. The library uses at most 32 chunks, whatever the number. */
void tg_set_threads(int threads);

/* The current number; at least 1. */
int tg_threads(void);

TG_API_END
#endif
