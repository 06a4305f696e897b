/* Writing safetensors: the header in memory first, checked as a reader will check it. */
#include "nn/files/safetensors_internal.h"

#include "autograd/base/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the header ---- */

static int64_t bytes_of(const tg_file_item *item)
{
    return tg_shape_size(&item->shape) * (int64_t)tg_dtype_size(item->dtype);
}

static void put_string(FILE *to, const char *string)
{
    fputc('"', to);
    for (; *string; string++)
        if ((unsigned char)*string < ' ')
            fprintf(to, "\\u%04x", (unsigned)*string);
        else
            fprintf(to, *string == '"' || *string == '\\' ? "\\%c" : "%c", *string);
    fputc('"', to);
}

/* "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]} */
static void put_item(FILE *to, const tg_file_item *item, int64_t at)
{
    static const char *const dtypes[] = {[TG_F32] = "F32", [TG_F64] = "F64", [TG_I32] = "I32"};
    put_string(to, item->name);
    fprintf(to, ":{\"dtype\":\"%s\",\"shape\":[", dtypes[item->dtype]);
    for (int axis = 0; axis < item->shape.rank; axis++)
        fprintf(to, "%s%lld", axis ? "," : "", (long long)item->shape.dim[axis]);
    fprintf(to, "],\"data_offsets\":[%lld,%lld]}", (long long)at, (long long)(at + bytes_of(item)));
}

/* Returns how many bytes of numbers follow. */
static int64_t put_header(FILE *to, const tg_file_item *items, int count, const tg_metadata *metadata, int lines)
{
    int64_t at = 0;
    fputs(lines ? "{\"__metadata__\":{" : "{", to);
    for (int i = 0; i < lines; i++) {
        fputs(i ? "," : "", to);
        put_string(to, metadata[i].key);
        fputc(':', to);
        put_string(to, metadata[i].value);
    }
    fputs(lines ? "}" : "", to);
    for (int i = 0; i < count; i++) {
        fputs(i || lines ? "," : "", to);
        put_item(to, &items[i], at);
        at += bytes_of(&items[i]);
    }
    fputc('}', to);
    return at;
}

/* The header in memory, padded with spaces so that the numbers begin at a multiple of 8 bytes, checked as a reader
 * will; NULL, with the error, if it would refuse. */
static char *header_of(const tg_file_item *items, int count, const tg_metadata *metadata, int lines, size_t *size,
                       const char *path, tg_error *error)
{
    char *text = NULL, *copy = NULL;
    FILE *to = tg_memory_open(&text, size);
    const int64_t data = to ? put_header(to, items, count, metadata, lines) : 0;
    if (to)
        fprintf(to, "%*s", (int)(-(uint64_t)tg_file_tell(to) % 8), "");
    const bool made = to && tg_memory_close(to, &text, size) && (copy = malloc(*size + 1));
    tg_file_header header = {0};
    const bool fine = made ? tg_file_header_read(&header, memcpy(copy, text, *size), *size, data, path, error)
                           : tg_file_refuse(error, path, "out of memory");
    tg_file_header_free(&header);
    free(copy);
    if (fine)
        return text;
    free(text);
    return NULL;
}

/* ---- the file ---- */

static const char *wrong_items(const tg_file_item *items, int count, const tg_metadata *metadata, int lines)
{
    if (count < 0 || lines < 0 || (count && !items) || (lines && !metadata))
        return "there are no tensors";
    for (int i = 0; i < count; i++)
        if (!items[i].name || (unsigned)items[i].dtype > TG_I32 || tg_shape_size(&items[i].shape) < 0 ||
            (!items[i].data && tg_shape_size(&items[i].shape) > 0))
            return "a tensor without a name, type, shape or data";
    for (int i = 0; i < lines; i++)
        if (!metadata[i].key || !metadata[i].value)
            return "a line of metadata without key or value";
    return NULL;
}

bool tg_safetensors_write(const char *path, const tg_file_item *items, int count, const tg_metadata *metadata,
                          int metadata_count, tg_error *error)
{
    const char *wrong = path ? wrong_items(items, count, metadata, metadata_count) : "there is no name";
    if (wrong)
        return tg_file_refuse(error, path, "%s", wrong);
    size_t size;
    unsigned char length[8];
    char *header = header_of(items, count, metadata, metadata_count, &size, path, error);
    tg_file_piece *pieces = calloc((size_t)count + 2, sizeof *pieces);
    bool fine = header && (pieces || tg_file_refuse(error, path, "out of memory"));
    if (fine) {
        for (int i = 0; i < 8; i++)
            length[i] = (unsigned char)((uint64_t)size >> (8 * i));
        pieces[0] = (tg_file_piece){length, 8, 0};
        pieces[1] = (tg_file_piece){header, size, 0};
        for (int i = 0; i < count; i++)
            pieces[i + 2] = (tg_file_piece){items[i].data, (size_t)bytes_of(&items[i]), tg_dtype_size(items[i].dtype)};
        fine = tg_file_write(path, pieces, count + 2, error);
    }
    free(pieces);
    free(header);
    return fine;
}
