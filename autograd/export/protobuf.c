#include "autograd/export/protobuf.h"

#include <string.h>

/* The wire type of a field: the lowest three bits of its tag. */
enum { VARINT = 0, LENGTH = 2, FIXED32 = 5, LENGTH_BYTES = 5 };

static void put(tg_text *to, const void *bytes, size_t size)
{
    if (size > 0 && to->used + size <= to->size)
        memcpy(to->bytes + to->used, bytes, size);
    to->used += size;
}

/* Seven bits per byte, the lowest first; the top bit means that more follow. Writes at least `bytes` bytes. */
static void put_varint(tg_text *to, uint64_t number, int bytes)
{
    for (int i = 1; i < bytes || number > 0x7f; i++, number >>= 7)
        put(to, &(uint8_t){(uint8_t)(number | 0x80)}, 1);
    put(to, &(uint8_t){(uint8_t)number}, 1);
}

static void put_tag(tg_text *to, int field, int kind)
{
    put_varint(to, (uint64_t)field << 3 | (uint64_t)kind, 1);
}

void tg_proto_int(tg_text *to, int field, int64_t number)
{
    put_tag(to, field, VARINT);
    put_varint(to, (uint64_t)number, 1);
}

void tg_proto_float(tg_text *to, int field, float number)
{
    put_tag(to, field, FIXED32);
    put(to, &number, sizeof number);
}

void tg_proto_bytes(tg_text *to, int field, const void *bytes, size_t size)
{
    put_tag(to, field, LENGTH);
    put_varint(to, size, 1);
    put(to, bytes, size);
}

void tg_proto_text(tg_text *to, int field, const char *text)
{
    tg_proto_bytes(to, field, text, strlen(text));
}

size_t tg_proto_begin(tg_text *to, int field)
{
    put_tag(to, field, LENGTH);
    put_varint(to, 0, LENGTH_BYTES);
    return to->used;
}

void tg_proto_end(tg_text *to, size_t begin)
{
    tg_text length = {to->bytes, to->size, begin - LENGTH_BYTES};
    put_varint(&length, to->used - begin, LENGTH_BYTES);
}
