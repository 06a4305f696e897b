#include "tests/support/cut_finely.h"

#include "autograd/kernels/parallel.h"

#include <stdlib.h>

bool cut_finely;
const int many_threads[MANY_THREADS] = {2, 3, 4, 5, 7, 8, 16, 33};

void __real_tg_parallel(size_t count, size_t least, size_t unit, tg_parallel_part part, void *context);
void __wrap_tg_parallel(size_t count, size_t least, size_t unit, tg_parallel_part part, void *context);

void __wrap_tg_parallel(size_t count, size_t least, size_t unit, tg_parallel_part part, void *context)
{
    const bool fine = cut_finely || getenv("TG_CUT_FINELY");
    __real_tg_parallel(count, fine ? 0 : least, unit, part, context);
}
