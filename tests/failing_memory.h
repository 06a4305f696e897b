/* Makes an allocation fail on purpose, to drive every out-of-memory path.
 *
 *     for (int nth = 0; ; nth++) {
 *         failing_memory_after(nth);            // the next nth allocations succeed, later ones fail
 *         bool fine = work();
 *         bool reached = failing_memory_stop(); // whether one failed
 *         ...
 *         if (!reached)
 *             break;
 *     }
 *
 * The linker routes malloc, calloc, realloc and aligned_alloc of the test program through here.
 */
#ifndef FAILING_MEMORY_H
#define FAILING_MEMORY_H

#include <stdbool.h>

void failing_memory_after(int allocations);
bool failing_memory_stop(void);

#endif
