#include "tests/bench/allocations.h"

#include <stddef.h>

static int64_t count;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t items, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

int64_t allocations_so_far(void)
{
    return count;
}

void *__wrap_malloc(size_t size)
{
    count++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t items, size_t size)
{
    count++;
    return __real_calloc(items, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    count++;
    return __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    count++;
    return __real_aligned_alloc(alignment, size);
}
