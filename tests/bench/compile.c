#include "tests/bench/compile.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    const bool written = file && fputs(text, file) >= 0;
    return (file ? fclose(file) == 0 : false) && written;
}

void *bench_compile(const char *text, const char *name, const char *compiler, const char *keep, const char *option)
{
    char folder[300], source[500], object[500], command[1400];
    void *library = NULL;
    snprintf(folder, sizeof folder, "%s/bench_XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : P_tmpdir);
    const char *in = *keep ? keep : mkdtemp(folder);
    if (*keep)
        mkdir(keep, 0777);
    snprintf(source, sizeof source, "%s/%s.c", in ? in : ".", name);
    snprintf(object, sizeof object, "%s/%s.so", in ? in : ".", name);
    snprintf(command, sizeof command,
             "%s -std=c99 -O3 -march=native -ffp-contract=off -fno-math-errno -shared -fPIC '%s' -o '%s' -lm", compiler,
             source, object);
    if (!in || !write_text(source, text))
        fprintf(stderr, "bench: %s cannot be written\n", source);
    else if (system(command) != 0)
        fprintf(stderr, "bench: %s needs a C compiler; this failed: %s\n", option, command);
    else if (!(library = dlopen(object, RTLD_NOW | RTLD_LOCAL)))
        fprintf(stderr, "bench: %s\n", dlerror());
    if (in && !*keep) {
        unlink(source);
        unlink(object);
        rmdir(in);
    }
    return library;
}
