#include "tests/support/guarded_memory.h"

#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CANARY = 0xA5, CANARIES = 1024 }; /* padding on the side without a guard page */

void guarded_memory_open(guarded_memory *place, size_t most_bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (most_bytes + CANARIES + page - 1) / page * page;
    unsigned char *mapped = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(mapped != MAP_FAILED);
    *place = (guarded_memory){.mapped = mapped, .room = mapped + page, .page = page, .size = size};
    ck_assert_int_eq(mprotect(place->room, size, PROT_READ | PROT_WRITE), 0);
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
    munmap(place->mapped, place->size + 2 * place->page);
}
