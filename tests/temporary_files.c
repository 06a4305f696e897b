#include "tests/temporary_files.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

static char folder[256];

void temporary_folder_make(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.200s/tapegrad-test-XXXXXX", parent ? parent : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

void temporary_folder_remove(void)
{
    DIR *entries = opendir(folder);
    ck_assert_ptr_nonnull(entries);
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
        unlink(temporary_path(entry->d_name)); /* . and .. stay by themselves */
    closedir(entries);
    ck_assert_int_eq(rmdir(folder), 0);
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

void temporary_write(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(temporary_path(name), "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

void temporary_write_gzip(const char *name, const void *bytes, size_t size)
{
    gzFile file = gzopen(temporary_path(name), "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(gzwrite(file, bytes, (unsigned)size), (int)size);
    ck_assert_int_eq(gzclose(file), Z_OK);
}

void temporary_delete(const char *name)
{
    ck_assert_int_eq(unlink(temporary_path(name)), 0);
}
