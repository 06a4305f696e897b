/* Apart from the other temporary files, as not every system has locks and owners of files. */
#include "tests/support/temporary_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int delete_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static const char prefix[] = "tapegrad-tests-";
static char root[PATH_MAX];

/* Opens and locks a folder; -1 if that is impossible, or a run that goes on has it. */
static int lock(const char *name)
{
    const int opened = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened >= 0 && flock(opened, LOCK_EX | LOCK_NB) == 0)
        return opened;
    if (opened >= 0)
        close(opened);
    return -1;
}

/* Tests may have taken permissions away, which a folder needs to be emptied. */
static int permit(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)place;
    return kind == FTW_D || kind == FTW_DNR ? chmod(path, 0700), 0 : 0;
}

static void remove_all(const char *name)
{
    nftw(name, permit, 8, FTW_PHYS);
    nftw(name, delete_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void remove_abandoned(const char *parent)
{
    DIR *opened = opendir(parent);
    for (const struct dirent *entry; opened && (entry = readdir(opened));) {
        char left[PATH_MAX];
        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) != 0 ||
            snprintf(left, sizeof left, "%s/%s", parent, entry->d_name) >= (int)sizeof left)
            continue;
        const int locked = lock(left);
        if (locked >= 0) {
            remove_all(left);
            close(locked);
        }
    }
    if (opened)
        closedir(opened);
}

bool temporary_root_make(void)
{
    const char *given = getenv("TMPDIR"), *parent = given && *given ? given : "/tmp";
    struct stat status;
    int locked = -1;
    remove_abandoned(parent);
    for (int tries = 0; tries < 3 && (locked < 0 || stat(root, &status) != 0);
         tries++) { /* one may be removed before it is locked */
        if (snprintf(root, sizeof root, "%s/%sXXXXXX", parent, prefix) >= (int)sizeof root || !mkdtemp(root))
            return false;
        locked = lock(root); /* until this process and those of its suites end */
    }
    return stat(root, &status) == 0 && setenv("TMPDIR", root, 1) == 0;
}

void temporary_root_remove(void)
{
    remove_all(root);
}
