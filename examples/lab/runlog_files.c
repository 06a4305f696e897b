/* The folder of a run log and how files get into it. */
#include "examples/lab/runlog_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_config(const runlog *log, FILE *to)
{
    int failed = json_dumpf(log->options, to, JSON_INDENT(2) | JSON_REAL_PRECISION(15)); /* 0.1 stays 0.1 */
    fputc('\n', to);
    return !failed || ferror(to); /* the caller looks at the stream */
}

static const struct {
    const char *name;
    bool (*write)(const runlog *log, FILE *to);
} files[] = {
    {"curves.csv", runlog_write_curves},
    {"bands.csv", runlog_write_bands},
    {"summary.csv", runlog_write_summary},
    {"config.json", write_config},
};
enum { FILES = sizeof files / sizeof files[0] };

static bool complain(char message[RUNLOG_MESSAGE], const char *what, const char *path, const char *why)
{
    snprintf(message, RUNLOG_MESSAGE, "cannot %s '%.300s': %s", what, path, why);
    return false;
}

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Makes the folder and those it lies in. `kept` gets a length of the path that ends before the first folder made is
 * named in full: what is longer is new. */
static bool make_directories(const char *directory, size_t *kept, char message[RUNLOG_MESSAGE])
{
    char path[PATH_MAX];
    size_t length = strlen(directory);
    *kept = length;
    if (length == 0 || length >= sizeof path)
        return complain(message, "create the folder", directory,
                        length ? "the name is too long" : "the name is empty");
    for (size_t end = 1; end <= length; end++) {
        if (end < length && directory[end] != '/')
            continue;
        memcpy(path, directory, end);
        path[end] = '\0';
        int reason = mkdir(path, 0777) == 0 ? 0 : errno;
        if (!reason)
            *kept = *kept < end ? *kept : end - 1;
        else if (!is_directory(path))
            return complain(message, "create the folder", path,
                            reason == EEXIST ? "a file of this name is in the way" : strerror(reason));
    }
    return true;
}

/* Removes again the folders that make_directories made. */
static void remove_directories(const char *directory, size_t kept)
{
    char path[PATH_MAX];
    if (strlen(directory) >= sizeof path)
        return;
    strcpy(path, directory);
    for (size_t length = strlen(path); length > kept; path[length] = '\0') {
        rmdir(
            path); /* fails where a folder could not be made, and where another program has put something in */
        while (length > kept && path[length - 1] != '/')
            length--;
        while (length > kept && path[length - 1] == '/')
            length--;
    }
}

static bool join(char path[PATH_MAX], const char *directory, const char *before, const char *name,
                 char message[RUNLOG_MESSAGE])
{
    int length = before ? snprintf(path, PATH_MAX, "%s/.%s.%s.%ld", directory, name, before, (long)getpid())
                        : snprintf(path, PATH_MAX, "%s/%s", directory, name);
    return length < PATH_MAX || complain(message, "write into the folder", directory, "the name is too long");
}

static bool check_writable(const char *directory, char message[RUNLOG_MESSAGE])
{
    char path[PATH_MAX];
    for (int i = 0; i < FILES; i++) {
        if (!join(path, directory, NULL, files[i].name, message))
            return false;
        if (is_directory(path))
            return complain(message, "write the file", path, "a folder of this name is in the way");
    }
    if (!join(path, directory, "try", "curves.csv", message))
        return false;
    int probe = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (probe < 0)
        return complain(message, "write into the folder", directory, strerror(errno));
    close(probe);
    unlink(path);
    return true;
}

bool runlog_check_directory(const char *directory, char message[RUNLOG_MESSAGE])
{
    size_t kept;
    bool possible = make_directories(directory, &kept, message) && check_writable(directory, message);
    remove_directories(directory, kept);
    return possible;
}

/* Writes one file under a temporary name beside the final one, so that the old one stands until the new one is whole. */
static bool write_file(const runlog *log, int file, char message[RUNLOG_MESSAGE])
{
    char path[PATH_MAX], temporary[PATH_MAX];
    if (!join(path, log->directory, NULL, files[file].name, message) ||
        !join(temporary, log->directory, "new", files[file].name, message))
        return false;
    FILE *to = fopen(temporary, "we");
    if (!to)
        return complain(message, "write the file", temporary, strerror(errno));
    bool made = files[file].write(log, to);
    errno = made ? 0 : ENOMEM;
    bool well = made && fflush(to) == 0 && !ferror(to) &&
                (fsync(fileno(to)) == 0 || errno == EINVAL); /* cannot be synced */
    int reason = errno;
    if (fclose(to) != 0 && well)
        well = false, reason = errno;
    if (well && rename(temporary, path) == 0)
        return true;
    reason = well ? errno : reason ? reason : EIO;
    unlink(temporary);
    return complain(message, "write the file", path, strerror(reason));
}

bool runlog_write(const runlog *log, char message[RUNLOG_MESSAGE])
{
    size_t kept;
    if (!log || log->lost) {
        snprintf(message, RUNLOG_MESSAGE,
                 "the results are not written: memory ran out while they were collected");
        return false;
    }
    if (!make_directories(log->directory, &kept, message))
        return false;
    for (int i = 0; i < FILES; i++)
        if (!write_file(log, i, message))
            return false;
    return true;
}
