#include <zlib.h>

#include "examples/programs/data/internal.h"
#include "examples/programs/system/posix.h"

static bool is_too_large(size_t size, const char *path, tg_error *error)
{
    return size > (size_t)DATASET_FILE_LIMIT << 20 &&
           !tg_fail(error, "%s: more than %d megabytes, unpacked; data is kept in memory: use a part of the rows", path,
                    DATASET_FILE_LIMIT);
}

/* The size that a regular file declares: for a gzip file what its last four bytes say, which is not the size if the
 * file is cut short, has several members, or more than 4 GB; 0 if unknown. */
static size_t size_said(int file, const struct stat *status)
{
    unsigned char head[2] = {0}, tail[4] = {0};
    const off_t size = status->st_size;
    if (!S_ISREG(status->st_mode))
        return 0;
    if (size <= 18 || pread(file, head, 2, 0) != 2 || head[0] != 0x1f || head[1] != 0x8b)
        return (size_t)size;
    return pread(file, tail, 4, size - 4) == 4
               ? tail[0] | (size_t)tail[1] << 8 | (size_t)tail[2] << 16 | (size_t)tail[3] << 24
               : 0;
}

/* Waits until something is written into a named pipe. */
static bool wait_for_writer(int file, const char *path, tg_error *error)
{
    enum { SECONDS = 10 };
    return system_wait_for_data(file, SECONDS) ||
           tg_fail(error, "%s: a named pipe, into which no program has written for %d seconds", path, SECONDS);
}

/* True if that much can be unpacked, none of which is kept. */
static bool unpacks_to_more(gzFile file, size_t limit)
{
    char some[1 << 14];
    size_t size = 0;
    for (int got; size <= limit && (got = gzread(file, some, sizeof some)) > 0;)
        size += (size_t)got;
    return size > limit;
}

/* Opens a file once, as a named pipe has its content only once. */
static gzFile open_file(const char *path, tg_error *error)
{
    struct stat status = {0};
    const bool standard = strcmp(path, "-") == 0;
    const int file = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    path = dataset_path_name(path);
    bool fine = (file >= 0 && fstat(file, &status) == 0) || tg_fail(error, "%s: %s", path, strerror(errno));
    if (fine && !standard && S_ISFIFO(status.st_mode))
        fine = wait_for_writer(file, path, error);
    if (fine && !standard)
        fine = system_end_nonblocking(file) || tg_fail(error, "%s: %s", path, strerror(errno));
    const size_t said = fine && !standard ? size_said(file, &status) : 0, limit = (size_t)DATASET_FILE_LIMIT << 20;
    fine = fine && (said != (size_t)status.st_size || !is_too_large(said, path, error)); /* not packed */
    gzFile opened = fine ? gzdopen(file, "rb") : NULL;
    if (fine && !opened)
        tg_fail(error, "%s: out of memory", path);
    if (!opened && file >= 0)
        close(file);
    if (opened && said > limit && (unpacks_to_more(opened, limit) || gzrewind(opened) != 0)) {
        is_too_large(said, path, error);
        gzclose(opened);
        return NULL;
    }
    return opened;
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
        contents->bytes[contents->size] = 0; /* there was room for another byte */
        return true;
    }
}

bool dataset_read_file(const char *path, dataset_bytes *contents, tg_error *error)
{
    *contents = (dataset_bytes){0};
    gzFile file = open_file(path, error);
    if (!file)
        return false;
    path = dataset_path_name(path);
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
