#include "nn/files/file_internal.h"

#include "autograd/base/platform.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
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

/* The bytes of each number in the opposite order. */
static bool write_reversed(FILE *out, const tg_file_piece *piece)
{
    const unsigned char *bytes = piece->bytes;
    bool fine = true;
    for (size_t i = 0; fine && i < piece->size; i++)
        fine = putc(bytes[i / piece->element * piece->element + piece->element - 1 - i % piece->element], out) != EOF;
    return fine;
}

static bool write_piece(FILE *out, const tg_file_piece *piece)
{
    const uint16_t one = 1;
    if (piece->element && !*(const unsigned char *)&one) /* this processor has the highest byte first */
        return write_reversed(out, piece);
    return piece->size == 0 || fwrite(piece->bytes, 1, piece->size, out) == piece->size;
}

static bool write_all(FILE *out, const tg_file_piece *pieces, int count)
{
    bool fine = true;
    for (int i = 0; fine && i < count; i++)
        fine = write_piece(out, &pieces[i]);
    return fine && tg_file_sync(out);
}

/* A new file beside `path`, named by the process. Where there is one already, of another thread, a process with the same
 * number in another container, or one that was killed, by numbers that no process has. */
static FILE *create(const char *path, char *beside, size_t room)
{
    enum { MOST_PROCESSES = 1 << 22, TRIES = 100 };
    FILE *file = NULL;
    errno = EEXIST;
    for (long k = 0; !file && errno == EEXIST && k < TRIES; k++) {
        snprintf(beside, room, "%s.%ld.tmp", path, tg_process_number() + k * MOST_PROCESSES);
        file = tg_file_create(beside);
    }
    return file;
}

/* Writes through a temporary file, whose name has room in `beside`. Returns 0, or the error's number. */
static int replace(const char *path, char *beside, size_t room, const tg_file_piece *pieces, int count)
{
    FILE *out = create(path, beside, room);
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
    const int number = replace(path, beside, room, pieces, count);
    free(beside);
    return number == 0 || tg_file_refuse(error, path, "%s", strerror(number));
}
