/* Counts what the program and the library allocate: the linker routes malloc, calloc, realloc and aligned_alloc through
 * here. What OpenBLAS and the C library allocate for themselves does not count. */
#ifndef BENCH_ALLOCATIONS_H
#define BENCH_ALLOCATIONS_H

#include <stdint.h>

int64_t allocations_so_far(void);

#endif
