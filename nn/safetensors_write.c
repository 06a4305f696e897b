/* Writing safetensors: beside the old file first, and in its place when all of it is on the disk. */
#define _POSIX_C_SOURCE 200809L

#include "nn/safetensors_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static bool write_all(FILE *out, const char *header, size_t size, const tg_file_item *items, int count)
{
    unsigned char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)((uint64_t)size >> (8 * i));
    bool fine = fwrite(length, 1, 8, out) == 8 && fwrite(header, 1, size, out) == size;
    for (int i = 0; fine && i < count; i++) {
        const size_t bytes = (size_t)bytes_of(&items[i]);
        fine = bytes == 0 || fwrite(items[i].data, 1, bytes, out) == bytes;
    }
    return fine && fflush(out) == 0 && fsync(fileno(out)) == 0;
}

/* Puts what happened to names in the folder of `path` on the disk; the path is cut to its folder. */
static void sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        slash[1] = '\0';
    const int descriptor = open(slash ? path : ".", O_RDONLY);
    if (descriptor < 0)
        return;
    fsync(descriptor);
    close(descriptor);
}

/* Writes to a new file of the name `beside` and puts it in the place of `path`. 0, or the error's number. */
static int replace(const char *path, char *beside, const char *header, size_t size, const tg_file_item *items,
                   int count)
{
    const int descriptor = open(beside, O_WRONLY | O_CREAT | O_EXCL, 0666);
    FILE *out = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (!out)
        return errno;
    errno = 0;
    bool fine = write_all(out, header, size, items, count);
    int error = errno;
    if (fclose(out) != 0 && fine) {
        fine = false;
        error = errno;
    }
    if (fine && rename(beside, path) == 0) {
        sync_folder(beside);
        return 0;
    }
    error = fine ? errno : error ? error : EIO;
    unlink(beside);
    return error;
}

static bool refuse(char message[TG_FILE_MESSAGE], const char *path, const char *problem)
{
    snprintf(message, TG_FILE_MESSAGE, "%.200s: %.350s", path ? path : "model file", problem);
    return false;
}

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
        return refuse(message, path, wrong);
    size_t size;
    char *header = header_of(items, count, metadata, metadata_count, &size, problem);
    const size_t room = strlen(path) + 40;
    char *beside = malloc(room);
    bool fine = header && beside;
    if (!fine)
        refuse(message, path, header ? "out of memory" : problem);
    else {
        snprintf(beside, room, "%s.%ld.tmp", path, (long)getpid());
        const int error = replace(path, beside, header, size, items, count);
        fine = error == 0 || refuse(message, path, strerror(error));
    }
    free(beside);
    free(header);
    return fine;
}
