#include "examples/programs/report/files.h"

#include "examples/programs/report/memory.h"
#include "examples/programs/system/posix.h"

#include <ftw.h>

static bool complain(tg_error *error, const char *what, const char *path, const char *why)
{
    return tg_fail(error, "cannot %s '%.300s': %s", what, path, why);
}

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Copies the name of a folder, which must fit. */
static bool copy_name(char path[PATH_MAX], const char *folder, tg_error *error)
{
    const size_t length = strlen(folder);
    if (length == 0 || length >= PATH_MAX)
        return complain(error, "create the folder", folder, length ? "the name is too long" : "the name is empty");
    memcpy(path, folder, length + 1);
    return true;
}

static bool refuse_folder(tg_error *error, const char *path, int reason)
{
    return complain(error, "create the folder", path,
                    reason == EEXIST || reason == ENOTDIR ? "a file has this name" : strerror(reason));
}

bool files_make_folder(const char *folder, tg_error *error)
{
    char path[PATH_MAX];
    if (!copy_name(path, folder, error))
        return false;
    for (char *end = path + 1; end; *end++ = '/') {
        end += strcspn(end, "/");
        const bool last = !*end;
        *end = '\0';
        const int reason = mkdir(path, 0777) == 0 ? 0 : errno;
        if (reason && !is_directory(path))
            return refuse_folder(error, path, reason);
        if (last)
            break;
    }
    return true;
}

const char *files_machine(void)
{
    static char text[66];
    if (!text[0]) {
        text[0] = '@';
        if (gethostname(text + 1, sizeof text - 2) != 0)
            text[1] = '\0';
    }
    return text;
}

bool files_path(const char *folder, const char *name, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

bool files_exists(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return files_path(folder, name, path) && access(path, F_OK) == 0;
}

static bool join(char path[PATH_MAX], const char *folder, const char *before, const char *name, tg_error *error)
{
    const int length =
        before ? snprintf(path, PATH_MAX, "%s/.%s.%s.%ld%s", folder, name, before, (long)getpid(), files_machine())
               : snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return length < PATH_MAX || complain(error, "write into the folder", folder, "the name is too long");
}

/* Creates a file that did not exist. A file of this name can only be left over from a killed process with our number,
 * or be a link of another user. It is removed; the target of a link is not changed. */
static int create(const char *path)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, descriptor = open(path, flags, 0666);
    return descriptor < 0 && errno == EEXIST && unlink(path) == 0 ? open(path, flags, 0666) : descriptor;
}

static bool check_writable(const char *folder, tg_error *error)
{
    char path[PATH_MAX];
    if (!join(path, folder, "try", "file", error))
        return false;
    files_remove_left(folder, ".file.try.", files_machine());
    int probe = create(path);
    if (probe < 0)
        return complain(error, "write into the folder", folder, strerror(errno));
    close(probe);
    unlink(path);
    return true;
}

bool files_check_folder(const char *folder, tg_error *error)
{
    char path[PATH_MAX];
    if (!copy_name(path, folder, error))
        return false;
    /* finds the nearest folder that exists; creates nothing below it, where another process may be about to write */
    struct stat status;
    while (stat(path, &status) != 0) {
        const int reason = errno;
        const bool is_link = lstat(path, &status) == 0 && !S_ISDIR(status.st_mode); /* no folder made just now */
        if ((reason != ENOENT && reason != ENOTDIR) || is_link)
            return refuse_folder(error, path, reason == ENOENT ? EEXIST : reason);
        char *slash = strrchr(path, '/');
        strcpy(!slash ? path : slash == path ? path + 1 : slash, slash ? "" : ".");
    }
    return S_ISDIR(status.st_mode) ? check_writable(path, error) : refuse_folder(error, path, ENOTDIR);
}

/* True for the name of a temporary file or folder of any process: NAME.safetensors.NUMBER.tmp as the library writes, or
 * .NAME.new.NUMBER@MACHINE and the like. */
static bool is_temporary(const char *name)
{
    static const char *const begins[] = {".new.", ".try.", ".pictures."};
    static const char model[] = ".safetensors.";
    const char *number = strstr(name, model);
    char *rest;
    const char *end = number ? ".tmp" : NULL;
    number = number ? number + sizeof model - 1 : NULL;
    for (size_t i = 0; *name == '.' && !number && i < sizeof begins / sizeof *begins; i++)
        if ((number = strstr(name, begins[i])))
            number += strlen(begins[i]);
    if (!number || !isdigit((unsigned char)*number))
        return false;
    strtol(number, &rest, 10);
    return end ? strcmp(rest, end) == 0 : *rest == '@' || !*rest;
}

/* Removes what earlier processes have left, which were killed while they wrote. */
static void remove_temporaries(const char *folder)
{
    char path[PATH_MAX];
    DIR *opened = opendir(folder);
    for (const struct dirent *entry; opened && (entry = readdir(opened));)
        if (is_temporary(entry->d_name) && files_path(folder, entry->d_name, path))
            files_remove_all(path);
    if (opened)
        closedir(opened);
}

int files_take_folder(const char *folder, bool shared, tg_error *error)
{
    enum { TRIES = 20 }; /* one second in total: children of a killed process may need a moment to end */
    int taken = SYSTEM_LOCKED;
    for (int i = 0; i < TRIES && (taken = system_lock(folder, shared)) == SYSTEM_LOCKED; i++)
        system_sleep(0.05);
    if (taken >= 0 && !shared)
        remove_temporaries(folder);
    return taken != SYSTEM_LOCKED
               ? taken
               : (tg_fail(error, "another process is working in the folder '%.300s'", folder), FILES_TAKEN);
}

void files_share_folder(int taken)
{
    if (taken >= 0)
        system_share(taken);
}

void files_release_folder(int taken)
{
    if (taken >= 0)
        system_unlock(taken);
}

bool files_check_name(const char *folder, const char *name, tg_error *error)
{
    char path[PATH_MAX];
    return join(path, folder, NULL, name, error) &&
           (!is_directory(path) || complain(error, "write the file", path, "a folder has this name"));
}

/* True if a name is BEGIN, the number of a process that no longer runs, and END. */
static bool is_left(const char *name, const char *begin, const char *end)
{
    char *rest;
    if (strncmp(name, begin, strlen(begin)) != 0 || !isdigit((unsigned char)name[strlen(begin)]))
        return false;
    const long owner = strtol(name + strlen(begin), &rest, 10);
    return strcmp(rest, end) == 0 && owner > 0 && owner <= INT_MAX && !system_process_exists(owner);
}

void files_remove_left(const char *folder, const char *begin, const char *end)
{
    char path[PATH_MAX];
    DIR *opened = opendir(folder);
    for (const struct dirent *entry; opened && (entry = readdir(opened));)
        if (is_left(entry->d_name, begin, end) && files_path(folder, entry->d_name, path))
            files_remove_all(path);
    if (opened)
        closedir(opened);
}

/* True for a device, a pipe or a socket, which is written as it is: a rename would replace it. */
static bool is_device(mode_t mode)
{
    return !S_ISREG(mode) && !S_ISDIR(mode) && !S_ISLNK(mode);
}

/* Writes the opened file; the reason why it failed, 0 for none. */
static int fill(int descriptor, files_writer *write, const void *context)
{
    FILE *to = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    int reason = errno;
    if (!to && descriptor >= 0)
        close(descriptor);
    if (!to)
        return reason;
    errno = 0;
    const bool made = write(context, to), broken = ferror(to);
    errno = made && !broken ? 0 : errno ? errno : broken ? EIO : ENOMEM;
    const bool well = made && !broken && fflush(to) == 0;
    reason = well ? 0 : errno ? errno : EIO;
    return fclose(to) != 0 && well ? errno : reason;
}

static bool write_device(const char *path, files_writer *write, const void *context, tg_error *error)
{
    const int to = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe without a reader is an error */
    if (to >= 0)
        system_end_nonblocking(to);
    const int reason = fill(to, write, context);
    return !reason || tg_fail(error, "cannot write '%.300s': %s", path, strerror(reason));
}

bool files_write(const char *folder, const char *name, files_writer *write, const void *context, tg_error *error)
{
    struct stat status;
    char path[PATH_MAX], temporary[PATH_MAX], left[NAME_MAX + 8];
    if (!join(path, folder, NULL, name, error) || !join(temporary, folder, "new", name, error))
        return false;
    if (lstat(path, &status) == 0 && is_device(status.st_mode))
        return write_device(path, write, context, error);
    snprintf(left, sizeof left, ".%.*s.new.", NAME_MAX, name);
    files_remove_left(folder, left, files_machine());
    int reason = fill(create(temporary), write, context);
    if (!reason && rename(temporary, path) == 0)
        return true;
    reason = reason ? reason : errno;
    unlink(temporary);
    return complain(error, "write the file", path, strerror(reason));
}

/* Splits the path of a file into folder and name; false and one line if it cannot be one. */
static bool cut(const char *path, char folder[PATH_MAX], const char **name, tg_error *error)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    const int length = slash && slash != path ? (int)(slash - path) : 1;
    return (**name && snprintf(folder, PATH_MAX, "%.*s", length, slash ? path : ".") < PATH_MAX) ||
           tg_fail(error, "'%.300s' is not the name of a file", path);
}

bool files_check_path(const char *path, tg_error *error)
{
    struct stat status;
    char folder[PATH_MAX];
    const char *name;
    return (stat(path, &status) == 0 && is_device(status.st_mode)) ||
           (cut(path, folder, &name, error) && files_check_folder(folder, error) &&
            files_check_name(folder, name, error));
}

bool files_write_path(const char *path, bool make, files_writer *write, const void *context, tg_error *error)
{
    struct stat status;
    char folder[PATH_MAX];
    const char *name;
    if (stat(path, &status) == 0 && is_device(status.st_mode)) /* /dev/stdout is a link */
        return write_device(path, write, context, error);
    return cut(path, folder, &name, error) && (!make || files_make_folder(folder, error)) &&
           files_write(folder, name, write, context, error);
}

/* Some systems have no file numbers; then the same path is the same file. */
bool files_are_one(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino &&
           (one.st_ino || strcmp(a, b) == 0);
}

char *files_text(void (*write)(const void *context, FILE *to), const void *context)
{
    char *text;
    size_t size;
    FILE *to = memory_checked(system_open_memory(&text, &size));
    write(context, to);
    return memory_checked(system_close_memory(to, &text, &size) ? text : NULL);
}

static FILE *fail_to_read(const char *folder, const char *name, const char *why, tg_error *error)
{
    tg_fail(error, "cannot read '%.300s%s%.300s': %s", folder ? folder : "", folder ? "/" : "", name, why);
    return NULL;
}

FILE *files_read(const char *folder, const char *name, tg_error *error)
{
    char path[PATH_MAX];
    struct stat status;
    *error = (tg_error){0};
    if (folder && !join(path, folder, NULL, name, error))
        return NULL;
    const int descriptor = open(folder ? path : name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return errno == ENOENT ? NULL : fail_to_read(folder, name, strerror(errno), error);
    const int unknown = fstat(descriptor, &status);
    FILE *file = !unknown && S_ISREG(status.st_mode) ? fdopen(descriptor, "r") : NULL;
    if (file)
        return file;
    fail_to_read(folder, name,
                 unknown || S_ISREG(status.st_mode) ? strerror(errno)
                 : S_ISDIR(status.st_mode)          ? strerror(EISDIR)
                                                    : "it is not a regular file",
                 error);
    close(descriptor);
    return NULL;
}

bool files_end_reading(FILE *file, const char *folder, const char *name, tg_error *error)
{
    const bool whole = !ferror(file);
    const int reason = errno;
    fclose(file);
    if (!whole)
        fail_to_read(folder, name, reason ? strerror(reason) : "an error of the disk", error);
    return whole;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(path);
}

void files_remove_all(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void files_remove(const char *folder, const char *name)
{
    tg_error error;
    char path[PATH_MAX];
    if (join(path, folder, NULL, name, &error) && !is_directory(path))
        unlink(path);
}
