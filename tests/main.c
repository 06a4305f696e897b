/* Runs every suite of suites.def, or those named on the command line, and ends with libcheck's line of counts. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

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

int main(int argc, char **argv)
{
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
