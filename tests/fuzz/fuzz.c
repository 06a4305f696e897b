#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const fuzz_target fuzz_targets[] = {
#define FUZZ_TARGET(name, what) {#name, fuzz_##name},
#include "tests/fuzz/targets.def"
    {NULL, NULL}};

void fuzz_require(bool condition, const char *problem)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", problem);
    abort();
}

bool fuzz_is_one_line(const char *message)
{
    return *message && !strchr(message, '\n');
}

static char folder[64];
static pid_t owner;

static void remove_folder(void)
{
    if (getpid() == owner)
        rmdir(folder);
}

const char *fuzz_folder(void)
{
    if (owner != getpid()) {
        owner = getpid();
        snprintf(folder, sizeof folder, "%s/tapegrad-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        fuzz_require(mkdtemp(folder) != NULL, "no folder for files");
        atexit(remove_folder);
    }
    return folder;
}

static const char *path_of(const char *name)
{
    static char paths[2][128];
    static unsigned next;
    char *path = paths[next++ % 2];
    snprintf(path, sizeof paths[0], "%s/%s", fuzz_folder(), name);
    return path;
}

const char *fuzz_file(const char *name, const void *bytes, size_t size)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "wb");
    fuzz_require(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "a file cannot be written");
    return path;
}

void fuzz_remove(const char *name)
{
    unlink(path_of(name));
}

const char *fuzz_model_file(const uint8_t *bytes, size_t size)
{
    if (size && bytes[0] == '!')
        return fuzz_file("model", bytes + 1, size - 1);
    const uint8_t *end = size ? memchr(bytes, 0, size) : NULL;
    const size_t header = end ? (size_t)(end - bytes) : size, numbers = end ? size - header - 1 : 0;
    uint8_t *whole = calloc(1, 8 + header + numbers);
    fuzz_require(whole != NULL, "out of memory");
    for (int i = 0; i < 8; i++)
        whole[i] = (uint8_t)((uint64_t)header >> 8 * i);
    if (header)
        memcpy(whole + 8, bytes, header);
    if (numbers)
        memcpy(whole + 8 + header, end + 1, numbers);
    const char *path = fuzz_file("model", whole, 8 + header + numbers);
    free(whole);
    return path;
}
