/* Error messages of readers and writers, and files that are written whole. Internal to nn. */
#ifndef TG_FILE_INTERNAL_H
#define TG_FILE_INTERNAL_H

#include "autograd/error.h"

#include <stddef.h>

/* Sets "PATH: PROBLEM", with "model file" for a missing path; false. */
TG_FORMAT(printf, 3, 4)
bool tg_file_refuse(tg_error *error, const char *path, const char *problem, ...);

typedef struct tg_file_piece {
    const void *bytes;
    size_t size;
    size_t element; /* bytes of each of its numbers, of which the file has the lowest byte first; 0: it has none */
} tg_file_piece;

/* Writes the pieces to a new file beside `path`, and renames it to `path` when all of it is on the disk. After a power
 * failure `path` is the complete old file or the complete new one. The folder is not synced, so a power failure some
 * seconds after the call may still bring back the old file. False, with the error and an existing file unchanged, if it
 * fails. */
bool tg_file_write(const char *path, const tg_file_piece *pieces, int count, tg_error *error);

#endif
