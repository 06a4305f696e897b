#include "examples/programs/report/files.h"

#include "examples/programs/system/posix.h"

bool shared_is_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat status;
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && stat(path, &status) == 0 &&
           S_ISREG(status.st_mode) && status.st_size > 0;
}

/* Beside the program's folder: BUILD/plots of BUILD/bin/compare, or share/tapegrad/plots of bin/tapegrad-compare.
 * Nowhere above, where another user may write. */
static bool find_beside_the_program(const char *kind, const char *file, char folder[PATH_MAX])
{
    static const char *const places[] = {"", "share/tapegrad/"};
    char program[PATH_MAX];
    if (!system_own_path(program, sizeof program))
        return false;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(program, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (snprintf(folder, PATH_MAX, "%s/%s%s", program, places[i], kind) < PATH_MAX && shared_is_file(folder, file))
            return true;
    }
    return false;
}

/* Finds a file in a list of data folders separated by colons. */
static bool find_in_data(const char *folders, const char *below, const char *kind, const char *file,
                         char folder[PATH_MAX])
{
    for (; folders && *folders; folders += strspn(folders, ":")) {
        const int length = (int)strcspn(folders, ":");
        if (snprintf(folder, PATH_MAX, "%.*s%s/tapegrad/%s", length, folders, below, kind) < PATH_MAX &&
            shared_is_file(folder, file))
            return true;
        folders += length;
    }
    return false;
}

/* A program that was moved alone searches the data folders of the XDG Base Directory Specification. */
bool shared_find(const char *kind, const char *file, char folder[PATH_MAX])
{
    const char *home = getenv("XDG_DATA_HOME"), *shared = getenv("XDG_DATA_DIRS");
    return find_beside_the_program(kind, file, folder) || find_in_data(home, "", kind, file, folder) ||
           find_in_data(getenv("HOME"), "/.local/share", kind, file, folder) ||
           find_in_data(shared && *shared ? shared : "/usr/local/share:/usr/share", "", kind, file, folder);
}
