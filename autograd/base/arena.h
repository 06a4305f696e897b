/* A growable arena: memory is taken piece by piece and freed all at once. Internal to the library.
 *
 *     chunk 0 [used used used ....]   chunk 1 [used used ..........]   chunk 2 [not reached yet]
 *
 * Chunks are kept when the arena is emptied, so the same sequence of requests finds the same memory again and
 * never calls malloc. tg_arena_trim frees chunks that have become too small because requests grow.
 */
#ifndef TG_ARENA_H
#define TG_ARENA_H

#include <stddef.h>
#include <stdint.h>

enum { TG_CHUNK_ALIGNMENT = 64 };

typedef struct tg_chunk {
    struct tg_chunk *next;
    size_t used, size; /* of the memory after this header; the header is as long as the alignment */
    int64_t before;    /* bytes in use in the chunks before this one */
} tg_chunk;

typedef struct tg_arena {
    tg_chunk *first, *current;
    int64_t bytes_used, bytes_held, allocations;
    int64_t recent_use; /* for tg_arena_trim */
} tg_arena;

/* The slow path, if the chunk is missing or full. */
void *tg_arena_take_slowly(tg_arena *arena, size_t size, size_t alignment);

/* `size` bytes, uninitialised, aligned to `alignment` (a power of two, at most 64); NULL if out of memory. */
static inline void *tg_arena_take(tg_arena *arena, size_t size, size_t alignment)
{
    tg_chunk *chunk = arena->current;
    if (chunk) {
        size_t start = (chunk->used + alignment - 1) & ~(alignment - 1);
        if (start <= chunk->size && size <= chunk->size - start) {
            arena->bytes_used += (int64_t)(start + size - chunk->used);
            chunk->used = start + size;
            return (unsigned char *)chunk + TG_CHUNK_ALIGNMENT + start;
        }
    }
    return tg_arena_take_slowly(arena, size, alignment);
}

/* The current position: the bytes in use. */
static inline int64_t tg_arena_here(const tg_arena *arena)
{
    return arena->bytes_used;
}

/* Ends what was taken since this position; the chunks stay. */
void tg_arena_rewind(tg_arena *arena, int64_t position);

/* To be called after a rewind, with the bytes in use before it: frees chunks after the current position until the arena
 * has at most a mebibyte plus twice the recent use. The recent use is `used_before`, or seven eighths of its previous
 * value if that is more. */
void tg_arena_trim(tg_arena *arena, int64_t used_before);

void tg_arena_free(tg_arena *arena); /* frees the chunks; the arena may be used again */

#endif
