#include "tests/wrapped_memory.h"

#include <stddef.h>

static bool armed, failed;
static int left;
static _Atomic int64_t asked_for; /* several threads may ask */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void wrapped_memory_fail_after(int allocations)
{
    armed = true;
    failed = false;
    left = allocations;
}

bool wrapped_memory_stop(void)
{
    armed = false;
    return failed;
}

int64_t wrapped_memory_count(void)
{
    return asked_for;
}

static bool fails(void)
{
    asked_for++;
    if (!armed || left-- > 0)
        return false;
    failed = true;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}
