#include "autograd/arena.h"

#include <stdlib.h>

enum { SMALLEST_CHUNK = 1 << 16, LARGEST_STEP = 1 << 26, CHUNK_ALIGNMENT = 64 };

typedef struct tg_chunk {
    struct tg_chunk *next;
    size_t used, size; /* of the bytes behind this header, which is as long as the alignment */
} tg_chunk;

static unsigned char *chunk_bytes(tg_chunk *chunk)
{
    return (unsigned char *)chunk + CHUNK_ALIGNMENT;
}

static void *take_from(tg_arena *arena, tg_chunk *chunk, size_t size, size_t alignment)
{
    size_t start = (chunk->used + alignment - 1) & ~(alignment - 1);
    if (start > chunk->size || size > chunk->size - start)
        return NULL;
    arena->bytes_used += (int64_t)(start + size - chunk->used);
    chunk->used = start + size;
    return chunk_bytes(chunk) + start;
}

/* A new chunk behind the current one: as large as all so far, within limits, and large enough for the request. */
static tg_chunk *new_chunk(tg_arena *arena, size_t size)
{
    size_t want = (size_t)arena->bytes_held;
    if (want < SMALLEST_CHUNK)
        want = SMALLEST_CHUNK;
    if (want > LARGEST_STEP)
        want = LARGEST_STEP;
    if (want < size)
        want = size;
    if (want > SIZE_MAX - 2 * CHUNK_ALIGNMENT)
        return NULL;
    want = (want + CHUNK_ALIGNMENT - 1) / CHUNK_ALIGNMENT * CHUNK_ALIGNMENT;
    tg_chunk *chunk = aligned_alloc(CHUNK_ALIGNMENT, want + CHUNK_ALIGNMENT);
    if (!chunk)
        return NULL;
    chunk->used = 0;
    chunk->size = want;
    tg_chunk **link = arena->current ? &arena->current->next : &arena->first;
    chunk->next = *link;
    *link = chunk;
    arena->bytes_held += (int64_t)want;
    arena->allocations++;
    return chunk;
}

void *tg_arena_take(tg_arena *arena, size_t size, size_t alignment)
{
    if (size == 0)
        size = 1;
    while (arena->current) {
        void *bytes = take_from(arena, arena->current, size, alignment);
        if (bytes)
            return bytes;
        if (!arena->current->next)
            break;
        arena->current = arena->current->next;
    }
    tg_chunk *chunk = new_chunk(arena, size);
    if (!chunk)
        return NULL;
    arena->current = chunk;
    return take_from(arena, chunk, size, alignment);
}

tg_arena_position tg_arena_here(const tg_arena *arena)
{
    return (tg_arena_position){arena->current, arena->current ? arena->current->used : 0, arena->bytes_used};
}

void tg_arena_rewind(tg_arena *arena, tg_arena_position position)
{
    tg_chunk *after = position.chunk ? position.chunk->next : arena->first;
    for (; after; after = after->next)
        after->used = 0;
    if (position.chunk)
        position.chunk->used = position.used;
    arena->current = position.chunk ? position.chunk : arena->first;
    arena->bytes_used = position.bytes_used;
}

void tg_arena_empty(tg_arena *arena)
{
    tg_arena_rewind(arena, (tg_arena_position){0});
}

void tg_arena_free(tg_arena *arena)
{
    for (tg_chunk *chunk = arena->first, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    *arena = (tg_arena){0};
}
