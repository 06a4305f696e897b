#include "autograd/threads.h"

#include "autograd/kernels/parallel.h"

void tg_set_threads(int threads)
{
    tg_parallel_set_threads(threads);
}

int tg_threads(void)
{
    return tg_parallel_threads();
}
