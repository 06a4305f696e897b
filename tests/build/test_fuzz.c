/* Runs every input in tests/fuzz/corpus through its target; the corpus contains all inputs that ever failed. */
#include "tests/fuzz/fuzz.h"

#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

Suite *fuzz_suite(void);

START_TEST(every_input_that_is_kept_passes)
{
    const fuzz_target *target = &fuzz_targets[_i];
    char pattern[200];
    glob_t found;
    snprintf(pattern, sizeof pattern, "tests/fuzz/corpus/%s/*", target->name);
    ck_assert_msg(glob(pattern, 0, NULL, &found) == 0, "there is no %s", pattern);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        static unsigned char bytes[1 << 20];
        FILE *file = fopen(found.gl_pathv[i], "rb");
        ck_assert_ptr_nonnull(file);
        const size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        unsigned char *exact = malloc(size + 1); /* at the end of its block, where a sanitizer sees a read past it */
        ck_assert_ptr_nonnull(exact);
        for (size_t k = 0; k < size; k++)
            exact[k + 1] = bytes[k];
        target->run(exact + 1, size);
        free(exact);
    }
    globfree(&found);
}
END_TEST

Suite *fuzz_suite(void)
{
    Suite *suite = suite_create("fuzz");
    TCase *tests = tcase_create("fuzz");
    int targets = 0;
    while (fuzz_targets[targets].name)
        targets++;
    tcase_add_loop_test(tests, every_input_that_is_kept_passes, 0, targets);
    suite_add_tcase(suite, tests);
    return suite;
}
