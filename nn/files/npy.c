#define _POSIX_C_SOURCE 200809L /* fseeko */

#include "nn/files/npy.h"

#include "nn/files/file_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
enum { HEADER_MOST = 4096, ALIGNMENT = 64 };

/* ---- reading: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } with keys in any order ---- */

/* If this text follows, after spaces, skips it; false otherwise. */
static bool takes(const char **at, const char *text)
{
    while (**at == ' ' || **at == '\n')
        ++*at;
    const size_t length = strlen(text);
    if (strncmp(*at, text, length) != 0)
        return false;
    *at += length;
    return true;
}

/* (), (3,) or (3, 4) */
static bool read_shape(const char **at, tg_shape *shape)
{
    *shape = (tg_shape){0};
    if (!takes(at, "("))
        return false;
    while (!takes(at, ")")) {
        char *end;
        takes(at, ""); /* spaces */
        if (**at < '0' || **at > '9' || shape->rank == TG_MAX_RANK)
            return false;
        errno = 0;
        shape->dim[shape->rank++] = strtoll(*at, &end, 10);
        *at = end;
        if (errno || (!takes(at, ",") && **at != ')'))
            return false;
    }
    return true;
}

typedef enum number_type { SINGLE, TWICE, WHOLE, LONG_WHOLE, TYPES } number_type;
static const struct {
    const char *name;
    tg_dtype dtype;
    size_t size; /* in the file */
} types[TYPES] = {{"'<f4'", TG_F32, 4}, {"'<f8'", TG_F64, 8}, {"'<i4'", TG_I32, 4}, {"'<i8'", TG_I32, 8}};

/* NULL, or the error in the header. */
static const char *read_header(const char *at, number_type *type, tg_shape *shape)
{
    bool has_type = false, has_order = false, has_shape = false;
    if (!takes(&at, "{"))
        return "its header is not a dictionary";
    while (!takes(&at, "}")) {
        if (!has_type && takes(&at, "'descr':")) {
            has_type = true;
            for (*type = SINGLE; *type < TYPES && !takes(&at, types[*type].name); ++*type)
                ;
            if (*type == TYPES)
                return "its numbers are not float32, float64, int32 or int64, little-endian";
        } else if (!has_order && takes(&at, "'fortran_order':")) {
            has_order = true;
            if (!takes(&at, "False"))
                return "its order is not row-major: numpy.ascontiguousarray makes it so";
        } else if (!has_shape && takes(&at, "'shape':")) {
            has_shape = true;
            if (!read_shape(&at, shape))
                return "its shape cannot be read";
        } else
            return "its header cannot be read";
        if (!takes(&at, ",") && *at != '}')
            return "its header cannot be read";
    }
    return has_type && has_order && has_shape && tg_shape_size(shape) >= 0 && !takes(&at, "{")
               ? NULL
               : "its header lacks type, order or shape";
}

/* Reads the header's text; returns the error, or NULL. */
static const char *read_start(FILE *file, char header[HEADER_MOST + 1])
{
    unsigned char start[12];
    if (fread(start, 1, 10, file) != 10 || memcmp(start, magic, sizeof magic) != 0 || start[6] < 1 || start[6] > 3)
        return "not a .npy file of version 1 to 3";
    size_t size = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1) {
        if (fread(start + 10, 1, 2, file) != 2)
            return "not a .npy file: it is too short";
        size |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    if (size > HEADER_MOST || fread(header, 1, size, file) != size)
        return "not a .npy file: its header is too long";
    header[size] = '\0';
    return strlen(header) == size ? NULL : "its header cannot be read";
}

/* Converts int64 to int32 in place, in the first half of the memory. */
static bool narrowed(void *data, int64_t size)
{
    char *bytes = data;
    for (int64_t i = 0; i < size; i++) {
        int64_t number;
        memcpy(&number, bytes + 8 * i, 8);
        const int32_t half = (int32_t)number;
        if (number < INT32_MIN || number > INT32_MAX)
            return false;
        memcpy(bytes + 4 * i, &half, 4);
    }
    return true;
}

/* Reads the numbers, which must be all that remains of the file. */
static const char *read_numbers(FILE *file, number_type type, tg_npy *array)
{
    const int64_t size = tg_shape_size(&array->shape);
    const long long from = ftello(file);
    if (from < 0 || fseeko(file, 0, SEEK_END) != 0)
        return strerror(errno);
    const long long left = ftello(file) - from;
    if (size > left / (int64_t)types[type].size || size * (int64_t)types[type].size != left)
        return "its size is not that of its shape";
    array->data = malloc((size_t)left + 1);
    if (!array->data)
        return "out of memory";
    if (fseeko(file, from, SEEK_SET) != 0 || fread(array->data, 1, (size_t)left, file) != (size_t)left)
        return "its numbers cannot be read";
    return type != LONG_WHOLE || narrowed(array->data, size) ? NULL : "a number does not fit into 32 bits";
}

bool tg_npy_read(const char *path, tg_npy *array, tg_error *error)
{
    char header[HEADER_MOST + 1];
    number_type type = SINGLE;
    if (!path || !array)
        return tg_file_refuse(error, path, "there is no name or no place");
    *array = (tg_npy){0};
    FILE *file = fopen(path, "rb");
    if (!file)
        return tg_file_refuse(error, path, "%s", strerror(errno));
    const char *problem = read_start(file, header);
    if (!problem)
        problem = read_header(header, &type, &array->shape);
    if (!problem) {
        array->dtype = types[type].dtype;
        problem = read_numbers(file, type, array);
    }
    fclose(file);
    if (!problem)
        return true;
    tg_npy_free(array);
    return tg_file_refuse(error, path, "%s", problem);
}

void tg_npy_free(tg_npy *array)
{
    if (!array)
        return;
    free(array->data);
    *array = (tg_npy){0};
}

/* ---- writing ---- */

bool tg_npy_write(const char *path, tg_dtype dtype, tg_shape shape, const void *data, tg_error *error)
{
    static const number_type of[] = {[TG_F32] = SINGLE, [TG_F64] = TWICE, [TG_I32] = WHOLE};
    char header[512];
    const int64_t size = tg_shape_size(&shape);
    if (!path || (unsigned)dtype > TG_I32 || size < 0 || (size > 0 && !data))
        return tg_file_refuse(error, path, "there is no name, type, shape or data");
    memcpy(header, magic, sizeof magic);
    header[6] = 1;
    header[7] = 0;
    int used = 10 + snprintf(header + 10, sizeof header - 10, "{'descr': %s, 'fortran_order': False, 'shape': (",
                             types[of[dtype]].name);
    for (int i = 0; i < shape.rank; i++)
        used += snprintf(header + used, sizeof header - (size_t)used, "%lld,%s", (long long)shape.dim[i],
                         i + 1 < shape.rank ? " " : "");
    used += snprintf(header + used, sizeof header - (size_t)used, "), }");
    while (used % ALIGNMENT != ALIGNMENT - 1)
        header[used++] = ' ';
    header[used++] = '\n';
    header[8] = (char)((used - 10) & 0xff);
    header[9] = (char)((used - 10) >> 8);
    const tg_file_piece pieces[] = {{header, (size_t)used}, {data, (size_t)size * tg_dtype_size(dtype)}};
    return tg_file_write(path, pieces, 2, error);
}
