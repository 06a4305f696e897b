#include "tests/support/guarded_memory.h"

#include <check.h>
#include <string.h>
#if defined _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

enum { CANARY = 0xA5, CANARIES = 1024 }; /* padding on the side without a guard page */

#if defined _WIN32

static size_t page_size(void)
{
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    return system.dwPageSize;
}

static unsigned char *reserve(size_t size)
{
    return VirtualAlloc(NULL, size, MEM_RESERVE, PAGE_NOACCESS);
}

static bool permit(unsigned char *room, size_t size)
{
    return VirtualAlloc(room, size, MEM_COMMIT, PAGE_READWRITE) != NULL;
}

static void release(unsigned char *mapped, size_t size)
{
    (void)size;
    VirtualFree(mapped, 0, MEM_RELEASE);
}

#else

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static unsigned char *reserve(size_t size)
{
    void *mapped = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

static bool permit(unsigned char *room, size_t size)
{
    return mprotect(room, size, PROT_READ | PROT_WRITE) == 0;
}

static void release(unsigned char *mapped, size_t size)
{
    munmap(mapped, size);
}

#endif

void guarded_memory_open(guarded_memory *place, size_t most_bytes)
{
    const size_t page = page_size(), size = (most_bytes + CANARIES + page - 1) / page * page;
    unsigned char *mapped = reserve(size + 2 * page);
    ck_assert_ptr_nonnull(mapped);
    *place = (guarded_memory){.mapped = mapped, .room = mapped + page, .page = page, .size = size};
    ck_assert(permit(place->room, size));
}

void *guarded_memory_put(guarded_memory *place, const void *data, size_t bytes, guarded_side side)
{
    ck_assert_uint_le(bytes + CANARIES, place->size);
    unsigned char *canaries =
        side == GUARDED_BEHIND ? place->room + place->size - bytes - CANARIES : place->room + bytes;
    memset(canaries, CANARY, CANARIES);
    place->data = side == GUARDED_BEHIND ? canaries + CANARIES : place->room;
    place->bytes = bytes;
    if (data && bytes > 0)
        memcpy(place->data, data, bytes);
    else
        memset(place->data, CANARY, bytes);
    return place->data;
}

bool guarded_memory_intact(const guarded_memory *place)
{
    const unsigned char *canaries = place->data > place->room ? place->data - CANARIES : place->data + place->bytes;
    for (int i = 0; i < CANARIES; i++)
        if (canaries[i] != CANARY)
            return false;
    return true;
}

void guarded_memory_close(guarded_memory *place)
{
    release(place->mapped, place->size + 2 * place->page);
}
