/* Writes a file in one piece or not at all. Internal to nn. */
#ifndef TG_FILE_INTERNAL_H
#define TG_FILE_INTERNAL_H

#include "nn/files/safetensors_internal.h"

typedef struct tg_file_piece {
    const void *bytes;
    size_t size;
} tg_file_piece;

/* Writes the pieces to a new file beside `path`, and puts it in its place when all of it is on the disk. After a
 * power failure it is the old file or the new one, whole; the folder is not made safe, so that it may be the old one
 * for some seconds. False, with the error, and what was there before left alone, if that cannot be done. */
bool tg_file_write(const char *path, const tg_file_piece *pieces, int count, tg_error *error);

#endif
