#include "tests/support/temporary_files.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256];

void temporary_folder_make(void)
{
    const char *parent = getenv("TMPDIR");
#if defined _WIN32
    static int made;
    snprintf(folder, sizeof folder, "%.200s/tapegrad-test-%d-%d", parent ? parent : getenv("TEMP"), getpid(), made++);
    ck_assert_int_eq(mkdir(folder), 0);
#else
    snprintf(folder, sizeof folder, "%.200s/tapegrad-test-XXXXXX", parent ? parent : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
#endif
}

/* A file, a link and an empty folder are removed at once, others when they have been emptied. */
static bool delete_all(const char *path)
{
    DIR *opened = remove(path) == 0 ? NULL : opendir(path);
    for (const struct dirent *entry; opened && (entry = readdir(opened));) {
        char inner[1024];
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) < (int)sizeof inner)
            delete_all(inner);
    }
    if (opened) {
        closedir(opened);
        rmdir(path);
    }
    return access(path, F_OK) != 0;
}

void temporary_folder_remove(void)
{
    ck_assert(delete_all(folder));
}

const char *temporary_folder(void)
{
    return folder;
}

const char *temporary_path(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%.200s", folder, name);
    return path;
}

/* A path without a file: some file systems write to the disk at once when a file is replaced, and the test would
 * wait. */
static const char *free_path(const char *name)
{
    const char *path = temporary_path(name);
    remove(path);
    return path;
}

void temporary_write(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(free_path(name), "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

void temporary_delete(const char *name)
{
    ck_assert_int_eq(unlink(temporary_path(name)), 0);
}

bool temporary_exists(const char *name)
{
    return access(temporary_path(name), F_OK) == 0;
}

char *temporary_text(const char *name)
{
    static char text[1 << 20];
    FILE *file = fopen(temporary_path(name), "r");
    ck_assert_msg(file != NULL, "%s is not there", name);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}
