/* The tests where there is no fork, so that one that fails to return ends them all: a suite for each run.
 *
 *     tests tape       the last line is libcheck's; status 0 if nothing failed
 */
#include <check.h>
#include <stdio.h>
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
    for (size_t i = 0; argc == 2 && i < sizeof suites / sizeof *suites; i++)
        if (strcmp(argv[1], suites[i].name) == 0) {
            SRunner *runner = srunner_create(suites[i].make());
            srunner_set_fork_status(runner, CK_NOFORK);
            srunner_run_all(runner, CK_NORMAL);
            const int failed = srunner_ntests_failed(runner);
            srunner_free(runner);
            return failed ? EXIT_FAILURE : EXIT_SUCCESS;
        }
    return fprintf(stderr, "tests: expected the name of a suite\n"), 2;
}
