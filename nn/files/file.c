#include "nn/files/file_internal.h"

#include "autograd/base/platform.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tg_file_refuse(tg_error *error, const char *path, const char *problem, ...)
{
    tg_error made;
    va_list arguments;
    va_start(arguments, problem);
    tg_fail_arguments(&made, problem, arguments);
    va_end(arguments);
    return tg_fail(error, "%.200s: %s", path ? path : "model file", made.text);
}

static bool write_all(FILE *out, const tg_file_piece *pieces, int count)
{
    bool fine = true;
    for (int i = 0; fine && i < count; i++)
        fine = pieces[i].size == 0 || fwrite(pieces[i].bytes, 1, pieces[i].size, out) == pieces[i].size;
    return fine && tg_file_sync(out);
}

/* A new file. A file of this name can only be left over from a killed process with the same number. */
static FILE *create(const char *path)
{
    FILE *file = tg_file_create(path);
    return !file && errno == EEXIST && tg_file_remove(path) ? tg_file_create(path) : file;
}

/* Writes through a temporary file named `beside`. Returns 0, or the error's number. */
static int replace(const char *path, char *beside, const tg_file_piece *pieces, int count)
{
    FILE *out = create(beside);
    if (!out)
        return errno;
    errno = 0;
    bool fine = write_all(out, pieces, count);
    int error = errno;
    if (fclose(out) != 0 && fine) {
        fine = false;
        error = errno;
    }
    if (fine && tg_file_replace(beside, path))
        return 0;
    error = fine ? errno : error ? error : EIO;
    tg_file_remove(beside);
    return error;
}

bool tg_file_write(const char *path, const tg_file_piece *pieces, int count, tg_error *error)
{
    const size_t room = strlen(path) + 40;
    char *beside = malloc(room);
    if (!beside)
        return tg_file_refuse(error, path, "out of memory");
    snprintf(beside, room, "%s.%ld.tmp", path, tg_process_number());
    const int number = replace(path, beside, pieces, count);
    free(beside);
    return number == 0 || tg_file_refuse(error, path, "%s", strerror(number));
}
