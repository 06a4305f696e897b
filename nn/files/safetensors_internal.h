/* The header of a safetensors file, and error messages of readers and writers. Internal to nn. */
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

/* Bytes per element of a type of the format; 0 for an unknown one. */
int64_t tg_file_dtype_size(const char *dtype);

#endif
