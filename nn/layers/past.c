#include "nn/layers/past_internal.h"

#include <stdlib.h>
#include <string.h>

void *tg_past_room(tg_past *past, tg_tape *tape, size_t bytes)
{
    if (past->next == past->count) {
        void **rooms = realloc(past->rooms, ((size_t)past->count + 1) * sizeof *rooms);
        void *room = calloc(1, bytes);
        past->rooms = rooms ? rooms : past->rooms;
        if (!rooms || !room) {
            free(room);
            tg_tape_fail(tape, "out of memory: %zu bytes for the positions before", bytes);
            return NULL;
        }
        past->rooms[past->count++] = room;
    }
    return past->rooms[past->next++];
}

tg_tensor tg_past_append(tg_past *past, tg_tensor rows)
{
    const void *numbers = tg_data(rows);
    if (!numbers)
        return TG_NONE;
    const int64_t positions = tg_dim(rows, 1), size = tg_dim(rows, 2);
    const size_t bytes = (size_t)size * tg_dtype_size(tg_dtype_of(rows));
    char *room = tg_past_room(past, tg_tape_of(rows), (size_t)past->most * bytes);
    if (!room)
        return TG_NONE;
    memcpy(room + (size_t)past->seen * bytes, numbers, (size_t)positions * bytes);
    return tg_borrow(tg_tape_of(rows), tg_dtype_of(rows), room, TG_SHAPE(1, past->seen + positions, size));
}

void tg_past_advance(tg_past *past, int64_t positions)
{
    past->seen += positions;
    past->next = 0;
}

void tg_past_free(tg_past *past)
{
    for (int i = 0; i < past->count; i++)
        free(past->rooms[i]);
    free(past->rooms);
    *past = (tg_past){0};
}
