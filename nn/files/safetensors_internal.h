/* The header of a safetensors file, error messages of readers and writers, and files that are written whole. Internal
 * to nn. */
#ifndef TG_SAFETENSORS_INTERNAL_H
#define TG_SAFETENSORS_INTERNAL_H

#include "nn/files/safetensors.h"

typedef struct tg_file_header {
    tg_file_tensor *tensors; /* in the order of names */
    int count;
    tg_metadata *metadata;
    int metadata_count;
} tg_file_header;

/* Parses the JSON of a header and modifies it: strings are unescaped in place, and the names point into it. `data_size`
 * is the number of bytes after it. False, with the error, if it is not valid; free the header in either case. */
bool tg_file_header_read(tg_file_header *header, char *json, size_t size, int64_t data_size, const char *path,
                         tg_error *error);
void tg_file_header_free(tg_file_header *header);

/* Sets "PATH: PROBLEM", with "model file" for a missing path; false. */
#if defined __GNUC__
__attribute__((format(printf, 3, 4)))
#endif
bool tg_file_refuse(tg_error *error, const char *path, const char *problem, ...);

/* A type of the format; NULL for an unknown name. */
typedef struct tg_file_dtype {
    const char *name;
    int64_t size;                        /* bytes per element */
    double (*value)(const void *number); /* NULL: it cannot be read */
} tg_file_dtype;

const tg_file_dtype *tg_file_dtype_of(const char *name);

typedef struct tg_file_piece {
    const void *bytes;
    size_t size;
} tg_file_piece;

/* Writes the pieces to a new file beside `path`, and renames it to `path` when all of it is on the disk. After a power
 * failure `path` is the complete old file or the complete new one. The folder is not synced, so a power failure some
 * seconds after the call may still bring back the old file. False, with the error and an existing file unchanged, if it
 * fails. */
bool tg_file_write(const char *path, const tg_file_piece *pieces, int count, tg_error *error);

#endif
