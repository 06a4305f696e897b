/* Counts allocations, and makes one fail on purpose, to drive every out-of-memory path.
 *
 *     for (int nth = 0; ; nth++) {
 *         wrapped_memory_fail_after(nth);            // the next nth allocations succeed, later ones fail
 *         bool fine = work();
 *         bool reached = wrapped_memory_stop(); // whether one failed
 *         ...
 *         if (!reached)
 *             break;
 *     }
 *
 * The linker routes malloc, calloc, realloc and aligned_alloc of the program and the library through here, but not what
 * OpenBLAS and the C library allocate for themselves. From the first call on there is one thread: starting others takes
 * memory, and if that fails the work continues on one. */
#ifndef WRAPPED_MEMORY_H
#define WRAPPED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void wrapped_memory_fail_after(int allocations);
bool wrapped_memory_stop(void);

/* Fails requests of more bytes than this, until it is called with SIZE_MAX. */
void wrapped_memory_refuse_over(size_t bytes);

/* The number of allocations so far. */
int64_t wrapped_memory_count(void);

#endif
