/* The header of a safetensors file. Internal to nn. */
#ifndef TG_SAFETENSORS_INTERNAL_H
#define TG_SAFETENSORS_INTERNAL_H

#include "nn/files/file_internal.h"
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

/* A type of the format; NULL for an unknown name. */
typedef struct tg_file_dtype {
    const char *name;
    int64_t size;                        /* bytes per element */
    double (*value)(const void *number); /* NULL: it cannot be read */
} tg_file_dtype;

const tg_file_dtype *tg_file_dtype_of(const char *name);

#endif
