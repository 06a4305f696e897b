#include "examples/gradcheck/check_file.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* Splits the path into folder and name; false and one line if it cannot be the path of a file. */
static bool cut(const char *path, char folder[PATH_MAX], const char **name, tg_error *error)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    const int length = slash == path ? 1 : slash ? (int)(slash - path) : 1;
    if (**name && snprintf(folder, PATH_MAX, "%.*s", length, slash ? path : ".") < PATH_MAX)
        return true;
    return tg_fail(error, "'%.300s' is not the name of a file", path);
}

/* True for a terminal, a pipe or a device, which is written directly. */
static bool is_device(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

bool check_file_possible(const char *path, tg_error *error)
{
    char folder[PATH_MAX];
    const char *name;
    return is_device(path) || (cut(path, folder, &name, error) && files_check_folder(folder, error) &&
                               files_check_name(folder, name, error));
}

static bool write_device(const char *path, check_file_writer *write, const void *context, tg_error *error)
{
    FILE *to = fopen(path, "we");
    const bool opened = to && write(context, to);
    const bool written = opened && fflush(to) == 0 && !ferror(to);
    if (!written)
        tg_fail(error, "cannot write '%.300s': %s", path, strerror(errno));
    if (to)
        fclose(to);
    return written;
}

bool check_file_write(const char *path, check_file_writer *write, const void *context, tg_error *error)
{
    char folder[PATH_MAX];
    const char *name;
    if (is_device(path))
        return write_device(path, write, context, error);
    return cut(path, folder, &name, error) && files_make_folder(folder, error) &&
           files_write(folder, name, write, context, error);
}
