/* The README shows code that is in the tree. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *readme_suite(void);

static char *contents(const char *path)
{
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "cannot read %s", path);
    char *text = calloc(1, 1 << 18);
    ck_assert_uint_lt(fread(text, 1, (1 << 18) - 1, file), (1 << 18) - 1);
    fclose(file);
    return text;
}

START_TEST(the_quickstart_in_the_readme_is_the_program)
{
    char *readme = contents("README.md"), *program = contents("examples/quickstart.c");
    ck_assert_msg(strstr(readme, program) != NULL, "README.md shows another quickstart than examples/quickstart.c");
    int lines = 0;
    for (const char *c = program; *c; c++)
        lines += *c == '\n';
    ck_assert_int_lt(lines, 60);
    free(readme);
    free(program);
}
END_TEST

Suite *readme_suite(void)
{
    Suite *suite = suite_create("readme");
    TCase *tests = tcase_create("readme");
    tcase_add_test(tests, the_quickstart_in_the_readme_is_the_program);
    suite_add_tcase(suite, tests);
    return suite;
}
