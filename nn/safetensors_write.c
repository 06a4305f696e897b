/* Writing safetensors: the header in memory first, checked as a reader will check it. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */

#include "nn/file_internal.h"
#include "nn/safetensors_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the header ---- */

static void write_string(FILE *out, const char *string)
{
    fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)string; *s; s++)
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else
            fputc(*s, out);
    fputc('"', out);
}

static int64_t bytes_of(const tg_file_item *item)
{
    return tg_shape_size(&item->shape) * (int64_t)tg_dtype_size(item->dtype);
}

static void write_header(FILE *out, const tg_file_item *items, int count, const tg_metadata *metadata,
                         int lines)
{
    static const char *const dtypes[] = {[TG_F32] = "F32", [TG_F64] = "F64", [TG_I32] = "I32"};
    int64_t at = 0;
    fputs(lines ? "{\"__metadata__\":{" : "{", out);
    for (int i = 0; i < lines; i++) {
        fputs(i ? "," : "", out);
        write_string(out, metadata[i].key);
        fputc(':', out);
        write_string(out, metadata[i].value);
    }
    fputs(lines ? "}" : "", out);
    for (int i = 0; i < count; i++) {
        fputs(i || lines ? "," : "", out);
        write_string(out, items[i].name);
        fprintf(out, ":{\"dtype\":\"%s\",\"shape\":[", dtypes[items[i].dtype]);
        for (int axis = 0; axis < items[i].shape.rank; axis++)
            fprintf(out, "%s%lld", axis ? "," : "", (long long)items[i].shape.dim[axis]);
        fprintf(out, "],\"data_offsets\":[%lld,%lld]}", (long long)at, (long long)(at + bytes_of(&items[i])));
        at += bytes_of(&items[i]);
    }
    fputc('}', out);
}

/* The header in memory, with spaces behind it so that the numbers begin at a multiple of 8 bytes, checked as a reader will; NULL and the problem
 * if it would refuse. */
static char *header_of(const tg_file_item *items, int count, const tg_metadata *metadata, int lines,
                       size_t *size, char problem[TG_FILE_MESSAGE])
{
    char *text = NULL;
    int64_t data = 0;
    FILE *out = open_memstream(&text, size);
    strcpy(problem, "out of memory");
    if (!out)
        return NULL;
    write_header(out, items, count, metadata, lines);
    while (!ferror(out) && ftell(out) % 8 != 0)
        fputc(' ', out);
    char *copy = fclose(out) == 0 ? malloc(*size + 1) : NULL;
    for (int i = 0; i < count; i++)
        data += bytes_of(&items[i]);
    tg_file_header header = {0};
    const bool fine = copy && tg_file_header_read(&header, memcpy(copy, text, *size), *size, data, problem);
    if (copy)
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
                          int metadata_count, char message[TG_FILE_MESSAGE])
{
    char problem[TG_FILE_MESSAGE];
    const char *wrong = path ? wrong_items(items, count, metadata, metadata_count) : "there is no name";
    if (wrong)
        return tg_file_refuse(message, path, wrong);
    size_t size;
    unsigned char length[8];
    char *header = header_of(items, count, metadata, metadata_count, &size, problem);
    tg_file_piece *pieces = calloc((size_t)count + 2, sizeof *pieces);
    bool fine = header && pieces;
    if (!fine)
        tg_file_refuse(message, path, header ? "out of memory" : problem);
    else {
        for (int i = 0; i < 8; i++)
            length[i] = (unsigned char)((uint64_t)size >> (8 * i));
        pieces[0] = (tg_file_piece){length, 8};
        pieces[1] = (tg_file_piece){header, size};
        for (int i = 0; i < count; i++)
            pieces[i + 2] = (tg_file_piece){items[i].data, (size_t)bytes_of(&items[i])};
        fine = tg_file_write(path, pieces, count + 2, message);
    }
    free(pieces);
    free(header);
    return fine;
}
