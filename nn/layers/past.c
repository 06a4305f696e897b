#include "nn/layers/past_internal.h"

#include "nn/config_internal.h"

#include <stdlib.h>
#include <string.h>

/* The layer's own room in this pass, the same in the next one; zeros at first. NULL, with an error on the tape, if out
 * of memory. */
static tg_past_room *next_room(tg_past *past, tg_tape *tape, size_t bytes)
{
    if (past->next == past->count) {
        tg_past_room *rooms = realloc(past->rooms, ((size_t)past->count + 1) * sizeof *rooms);
        void *numbers = calloc(1, bytes);
        past->rooms = rooms ? rooms : past->rooms;
        if (!rooms || !numbers) {
            free(numbers);
            tg_tape_fail(tape, "out of memory: %zu bytes for the positions before", bytes);
            return NULL;
        }
        past->rooms[past->count++] = (tg_past_room){.numbers = numbers};
    }
    return &past->rooms[past->next++];
}

tg_tensor tg_past_state(tg_past *past, tg_tape *tape, tg_dtype dtype, tg_shape shape)
{
    tg_past_room *room = next_room(past, tape, (size_t)tg_shape_size(&shape) * tg_dtype_size(dtype));
    return room ? room->before = tg_constant(tape, dtype, room->numbers, shape) : TG_NONE;
}

bool tg_past_leave(tg_past *past, int room, tg_tensor after)
{
    const void *numbers = tg_data(after);
    if (!numbers || room >= past->count)
        return false;
    past->rooms[room].after = after;
    memcpy(past->rooms[room].numbers, numbers, (size_t)tg_size(after) * tg_dtype_size(tg_dtype_of(after)));
    return true;
}

tg_tensor tg_past_append(tg_past *past, tg_tensor rows)
{
    const void *numbers = tg_data(rows);
    if (!numbers)
        return TG_NONE;
    tg_tape *tape = tg_tape_of(rows);
    const tg_dtype dtype = tg_dtype_of(rows);
    const int64_t positions = tg_dim(rows, 1), size = tg_dim(rows, 2);
    const tg_shape all = TG_SHAPE(1, past->seen + positions, size);
    const size_t bytes = (size_t)size * tg_dtype_size(dtype);
    tg_past_room *room = next_room(past, tape, (size_t)past->most * bytes);
    if (!room)
        return TG_NONE;
    memcpy((char *)room->numbers + (size_t)past->seen * bytes, numbers, (size_t)positions * bytes);
    room->after = rows;
    room->grows = true;
    room->before =
        past->copies ? tg_constant(tape, dtype, room->numbers, all) : tg_borrow(tape, dtype, room->numbers, all);
    return room->before;
}

tg_tensor tg_past_positions(tg_past *past, tg_tape *tape, int64_t count)
{
    int32_t *numbers = malloc((size_t)count * sizeof *numbers + 1);
    if (!numbers)
        return TG_FAIL(tape, "out of memory: the numbers of %lld positions", (long long)count);
    for (int64_t i = 0; i < count; i++)
        numbers[i] = (int32_t)(past->seen + i);
    past->positions = tg_constant(tape, TG_I32, numbers, TG_SHAPE(count));
    free(numbers);
    return past->positions;
}

void tg_past_advance(tg_past *past, int64_t positions)
{
    past->seen += positions;
    past->next = 0;
}

void tg_past_free(tg_past *past)
{
    for (int i = 0; i < past->count; i++)
        free(past->rooms[i].numbers);
    free(past->rooms);
    *past = (tg_past){0};
}
