/* Runs every suite of suites.def, or those named on the command line, and ends with libcheck's line of counts. */
#include <check.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TG_SUITE(name) Suite *name##_suite(void);
#include "tests/suites.def"
#undef TG_SUITE

static const struct {
    const char *name;
    Suite *(*make)(void);
} suites[] = {
#define TG_SUITE(name) {#name, name##_suite},
#include "tests/suites.def"
#undef TG_SUITE
};

/* Reads build/environment, which has the variables that `make check` sets; true if it set any. */
static bool completes_environment(void)
{
    char path[PATH_MAX + 32], line[4096];
    bool any = false;
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    for (int up = 0; up < 2; up++) /* from build/bin/tests */
        while (length > 0 && path[--length] != '/')
            ;
    if (length <= 0)
        return false;
    strcpy(path + length, "/environment");
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        char *value = strchr(line, '=');
        line[strcspn(line, "\n")] = '\0';
        if (!value)
            continue;
        *value++ = '\0';
        any |= !getenv(line) && setenv(line, value, 1) == 0;
    }
    if (file)
        fclose(file);
    return any;
}

static bool is_suite(const char *name)
{
    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++)
        if (strcmp(name, suites[i].name) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    for (int a = 1; a < argc; a++)
        if (!is_suite(argv[a]))
            return fprintf(stderr, "tests: there is no suite '%s' in tests/suites.def\n", argv[a]), 2;
    if (completes_environment()) /* and starts again, as sanitizers have already read theirs */
        execv("/proc/self/exe", argv);
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
        int wanted = argc < 2;
        for (int a = 1; a < argc; a++)
            wanted |= strcmp(argv[a], suites[i].name) == 0;
        if (wanted)
            srunner_add_suite(runner, suites[i].make());
    }
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
