#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "examples/programs/data/internal.h"

static bool is_too_large(size_t size, const char *path, tg_error *error)
{
    return size > (size_t)DATASET_FILE_LIMIT << 20 &&
           !tg_fail(error, "%s: more than %d megabytes, unpacked; data is kept in memory: use a part of the rows", path,
                    DATASET_FILE_LIMIT);
}

/* The size that a file declares: for a gzip file that of its last member, up to 4 GB; 0 if unknown. */
static size_t size_said(const char *path)
{
    unsigned char head[2] = {0}, tail[4] = {0};
    struct stat status;
    FILE *file = fopen(path, "rbe");
    size_t size = file && fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) ? (size_t)status.st_size : 0;
    if (size > 18 && fread(head, 1, 2, file) == 2 && head[0] == 0x1f && head[1] == 0x8b)
        size = fseek(file, -4, SEEK_END) == 0 && fread(tail, 1, 4, file) == 4
                   ? tail[0] | (size_t)tail[1] << 8 | (size_t)tail[2] << 16 | (size_t)tail[3] << 24
                   : 0;
    if (file)
        fclose(file);
    return size;
}

/* Appends the rest of the file to `contents`. */
static bool read_all(gzFile file, const char *path, dataset_bytes *contents, tg_error *error)
{
    size_t capacity = 0;
    for (;;) {
        if (contents->size == capacity) {
            capacity = capacity ? capacity * 2 : (size_t)1 << 16;
            unsigned char *larger = realloc(contents->bytes, capacity);
            if (!larger)
                return tg_fail(error, "%s: out of memory after %zu bytes", path, contents->size);
            contents->bytes = larger;
        }
        size_t room = capacity - contents->size;
        int got = gzread(file, contents->bytes + contents->size, room > 1 << 24 ? 1 << 24 : (unsigned)room);
        if (got > 0) {
            contents->size += (size_t)got;
            if (is_too_large(contents->size, path, error))
                return false;
            continue;
        }
        /* At the end of a truncated file, gzread returns 0 as at any other end: only gzerror shows the difference. */
        int code;
        const char *message = gzerror(file, &code);
        if (code == Z_ERRNO)
            return tg_fail(error, "%s: %s", path, strerror(errno));
        if (code == Z_BUF_ERROR)
            return tg_fail(error, "%s: gzip data ends too early, after %zu unpacked bytes", path, contents->size);
        if (code != Z_OK && code != Z_STREAM_END) {
            const char *reason = strrchr(message, ':'); /* zlib puts the path in front */
            return tg_fail(error, "%s: gzip data is corrupt (%s)", path, reason ? reason + 2 : message);
        }
        return true;
    }
}

bool dataset_read_file(const char *path, dataset_bytes *contents, tg_error *error)
{
    *contents = (dataset_bytes){0};
    const bool standard = strcmp(path, "-") == 0;
    if (!standard && is_too_large(size_said(path), path, error))
        return false;
    errno = 0;
    const int input = standard ? dup(STDIN_FILENO) : -1;
    gzFile file = !standard ? gzopen(path, "rb") : input >= 0 ? gzdopen(input, "rb") : NULL;
    path = dataset_path_name(path);
    if (!file && input >= 0)
        close(input);
    if (!file)
        return tg_fail(error, "%s: %s", path, errno ? strerror(errno) : "out of memory");
    gzbuffer(file, 1 << 17);
    bool whole = read_all(file, path, contents, error);
    size_t length = strlen(path);
    if (whole && contents->size == 0 && gzdirect(file))
        whole = tg_fail(error, "%s: the file is empty", path);
    else if (whole && gzdirect(file) && length > 3 && strcmp(path + length - 3, ".gz") == 0)
        whole = tg_fail(error, "%s: not gzip data, expected by its name", path);
    gzclose(file);
    if (!whole) {
        free(contents->bytes);
        *contents = (dataset_bytes){0};
    }
    return whole;
}
