#include "autograd/base/arena.h"

#include "autograd/base/platform.h"

#include <stdbool.h>
#include <stdlib.h>

enum { SMALLEST_CHUNK = 1 << 14, LARGEST_STEP = 1 << 26 };

/* Moves to a new chunk after the current one: a fourth of all chunks so far, within limits, and large enough for the
 * request. False if out of memory. */
static bool add_chunk(tg_arena *arena, size_t size)
{
    size_t want = (size_t)arena->bytes_held / 4;
    if (want < SMALLEST_CHUNK)
        want = SMALLEST_CHUNK;
    if (want > LARGEST_STEP)
        want = LARGEST_STEP;
    if (want < size)
        want = size;
    if (want > SIZE_MAX - 2 * TG_CHUNK_ALIGNMENT)
        return false;
    want = (want + TG_CHUNK_ALIGNMENT - 1) / TG_CHUNK_ALIGNMENT * TG_CHUNK_ALIGNMENT;
    tg_chunk *chunk = tg_aligned_new(TG_CHUNK_ALIGNMENT, want + TG_CHUNK_ALIGNMENT);
    if (!chunk)
        return false;
    tg_chunk **link = arena->current ? &arena->current->next : &arena->first;
    *chunk = (tg_chunk){.next = *link, .size = want, .before = arena->bytes_used};
    *link = arena->current = chunk;
    arena->bytes_held += (int64_t)want;
    arena->allocations++;
    return true;
}

void *tg_arena_take_slowly(tg_arena *arena, size_t size, size_t alignment)
{
    size_t room = size + alignment; /* at the end of the chunk's used part */
    if (room < size)
        return NULL;
    while (arena->current && arena->current->next) {
        arena->current = arena->current->next;
        arena->current->before = arena->bytes_used;
        if (arena->current->size - arena->current->used >= room)
            return tg_arena_take(arena, size, alignment);
    }
    return add_chunk(arena, room) ? tg_arena_take(arena, size, alignment) : NULL;
}

void tg_arena_rewind(tg_arena *arena, int64_t position)
{
    tg_chunk *chunk = arena->first;
    while (chunk != arena->current && chunk->before + (int64_t)chunk->used < position)
        chunk = chunk->next;
    for (tg_chunk *after = chunk; after; after = after->next)
        after->used = after == chunk ? (size_t)(position - chunk->before) : 0;
    arena->current = chunk;
    arena->bytes_used = position;
}

void tg_arena_trim(tg_arena *arena, int64_t used_before)
{
    enum { SLACK = 1 << 20 };
    arena->recent_use -= arena->recent_use / 8;
    arena->recent_use = used_before > arena->recent_use ? used_before : arena->recent_use;
    const bool empty = arena->bytes_used == 0; /* not even the first chunk is used */
    tg_chunk **link = empty ? &arena->first : &arena->current->next;
    while (*link && arena->bytes_held > 2 * arena->recent_use + SLACK) {
        tg_chunk *chunk = *link;
        *link = chunk->next;
        arena->bytes_held -= (int64_t)chunk->size;
        tg_aligned_free(chunk);
    }
    if (empty && (arena->current = arena->first))
        arena->first->before = 0;
}

void tg_arena_free(tg_arena *arena)
{
    for (tg_chunk *chunk = arena->first, *next; chunk; chunk = next) {
        next = chunk->next;
        tg_aligned_free(chunk);
    }
    *arena = (tg_arena){.allocations = arena->allocations};
}
