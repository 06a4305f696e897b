#include "tests/support/wrapped_memory.h"

#include "autograd/threads.h"

#include <stdlib.h>

static bool armed, failed;
static int left;
static size_t largest = SIZE_MAX;
static _Atomic int64_t asked_for; /* atomic, as several threads may allocate */

#if defined _WIN32
/* The C library is in the program, and does not expect its own allocations to fail: only the library's calls are
 * renamed (tests/elsewhere/run.sh). */
#define __real_malloc  malloc
#define __real_calloc  calloc
#define __real_realloc realloc
#else
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
#endif
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void wrapped_memory_fail_after(int allocations)
{
    tg_set_threads(1);
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

void wrapped_memory_refuse_over(size_t bytes)
{
    largest = bytes;
}

static bool fails(size_t size)
{
    asked_for++;
    if (size > largest)
        return true;
    if (!armed || left-- > 0)
        return false;
    failed = true;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails(size) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails(count > 0 && size > SIZE_MAX / count ? SIZE_MAX : count * size) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails(size) ? NULL : __real_realloc(old, size);
}

#if defined _WIN32

extern void *(*wrapped_aligned_malloc)(size_t size, size_t alignment);

static void *counted(size_t size, size_t alignment)
{
    return fails(size) ? NULL : _aligned_malloc(size, alignment);
}

void *(*wrapped_aligned_malloc)(size_t size, size_t alignment) = counted; /* imported functions are pointers */

#else

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails(size) ? NULL : __real_aligned_alloc(alignment, size);
}

#endif
