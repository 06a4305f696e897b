/* Memory between pages that must not be touched: a read or write just before or behind the data ends in a signal.
 *
 *     guarded_memory place;
 *     guarded_memory_open(&place, 1 << 20);                                  // room for that many bytes
 *     float *x = guarded_memory_put(&place, numbers, bytes, GUARDED_BEHIND); // a copy; NULL numbers: 0xA5 everywhere
 *     ...
 *     guarded_memory_intact(&place);                                         // false: written on the other side of it
 *     guarded_memory_close(&place);
 *
 *     [no access] [0xA5 ....... | data] [no access]      GUARDED_BEHIND
 *     [no access] [data | 0xA5 .......] [no access]      GUARDED_BEFORE
 */
#ifndef TESTS_GUARDED_MEMORY_H
#define TESTS_GUARDED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

typedef enum guarded_side { GUARDED_BEHIND, GUARDED_BEFORE } guarded_side;

typedef struct guarded_memory {
    unsigned char *mapped, *room; /* with the pages around it, and without */
    size_t page, size;            /* size of the room: whole pages */
    unsigned char *data;
    size_t bytes;
} guarded_memory;

void guarded_memory_open(guarded_memory *place, size_t most_bytes);
void *guarded_memory_put(guarded_memory *place, const void *data, size_t bytes, guarded_side side);
bool guarded_memory_intact(const guarded_memory *place);
void guarded_memory_close(guarded_memory *place);

#endif
