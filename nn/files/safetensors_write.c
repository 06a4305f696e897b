/* Writing safetensors: the header in memory first, checked as a reader will check it. */
#define _POSIX_C_SOURCE 200809L /* stpcpy */

#include "nn/files/file_internal.h"
#include "nn/files/safetensors_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the header ---- */

static int64_t bytes_of(const tg_file_item *item)
{
    return tg_shape_size(&item->shape) * (int64_t)tg_dtype_size(item->dtype);
}

/* Room for a string with its quotes, each byte escaped as \u000a; and for the rest of a tensor's entry: five words
 * and ten numbers. */
static size_t room_for(const char *string)
{
    return 6 * strlen(string) + 3;
}
enum { ROOM_AROUND = 64 + 20 * (TG_MAX_RANK + 2) };

static char *put(char *end, const char *text)
{
    return stpcpy(end, text);
}

static char *put_string(char *end, const char *string)
{
    *end++ = '"';
    for (; *string; string++)
        if ((unsigned char)*string < ' ')
            end += snprintf(end, 7, "\\u%04x", (unsigned)*string);
        else {
            if (*string == '"' || *string == '\\')
                *end++ = '\\';
            *end++ = *string;
        }
    *end++ = '"';
    return end;
}

static char *put_number(char *end, int64_t number)
{
    return end + snprintf(end, 21, "%lld", (long long)number);
}

/* "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]} */
static char *put_item(char *end, const tg_file_item *item, int64_t at)
{
    static const char *const dtypes[] = {[TG_F32] = "F32", [TG_F64] = "F64", [TG_I32] = "I32"};
    end = put(put_string(end, item->name), ":{\"dtype\":\"");
    end = put(put(end, dtypes[item->dtype]), "\",\"shape\":[");
    for (int axis = 0; axis < item->shape.rank; axis++)
        end = put_number(put(end, axis ? "," : ""), item->shape.dim[axis]);
    end = put_number(put(end, "],\"data_offsets\":["), at);
    end = put_number(put(end, ","), at + bytes_of(item));
    return put(end, "]}");
}

static char *put_header(char *end, const tg_file_item *items, int count, const tg_metadata *metadata, int lines)
{
    int64_t at = 0;
    end = put(end, lines ? "{\"__metadata__\":{" : "{");
    for (int i = 0; i < lines; i++) {
        end = put_string(put(end, i ? "," : ""), metadata[i].key);
        end = put_string(put(end, ":"), metadata[i].value);
    }
    end = put(end, lines ? "}" : "");
    for (int i = 0; i < count; i++) {
        end = put_item(put(end, i || lines ? "," : ""), &items[i], at);
        at += bytes_of(&items[i]);
    }
    return put(end, "}");
}

/* The header in memory, padded with spaces so that the numbers begin at a multiple of 8 bytes, checked as a reader
 * will; NULL, with the error, if it would refuse. */
static char *header_of(const tg_file_item *items, int count, const tg_metadata *metadata, int lines, size_t *size,
                       const char *path, tg_error *error)
{
    size_t room = 32;
    int64_t data = 0;
    for (int i = 0; i < lines; i++)
        room += room_for(metadata[i].key) + room_for(metadata[i].value) + 2;
    for (int i = 0; i < count; i++) {
        room += room_for(items[i].name) + ROOM_AROUND;
        data += bytes_of(&items[i]);
    }
    char *text = malloc(room), *copy = malloc(room), *end = text;
    tg_file_header header = {0};
    bool fine = text && copy;
    if (!fine)
        tg_file_refuse(error, path, "out of memory");
    else {
        end = put_header(text, items, count, metadata, lines);
        while ((end - text) % 8 != 0)
            *end++ = ' ';
        *size = (size_t)(end - text);
        fine = tg_file_header_read(&header, memcpy(copy, text, *size), *size, data, path, error);
        tg_file_header_free(&header);
    }
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
        pieces[0] = (tg_file_piece){length, 8};
        pieces[1] = (tg_file_piece){header, size};
        for (int i = 0; i < count; i++)
            pieces[i + 2] = (tg_file_piece){items[i].data, (size_t)bytes_of(&items[i])};
        fine = tg_file_write(path, pieces, count + 2, error);
    }
    free(pieces);
    free(header);
    return fine;
}
