/* The code in the README and the guides occurs in the tree; the README's first commands work in a fresh clone. */
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *readme_suite(void);
Suite *readme_commands_suite(void);

static char *contents(const char *path)
{
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "cannot read %s", path);
    char *text = calloc(1, 1 << 18);
    ck_assert_uint_lt(fread(text, 1, (1 << 18) - 1, file), (1 << 18) - 1);
    fclose(file);
    return text;
}

static const struct {
    const char *path, *page;
    int lines; /* fewer than these */
} programs[] = {{"examples/xor.c", "README.md", 30},
                {"examples/quickstart.c", "docs/library.md", 60},
                {"examples/fit.c", "docs/library.md", 60},
                {"docs/first_steps/square.c", "docs/first-steps.md", 30},
                {"docs/tour/step.c", "docs/tour.md", 50},
                {"docs/layers/depthwise.h", "docs/layers.md", 50},
                {"docs/layers/separable_net.h", "docs/layers.md", 100},
                {"docs/layers/own.c", "docs/layers.md", 100}};

START_TEST(the_programs_in_the_documents_are_those_in_the_tree)
{
    char *page = contents(programs[_i].page), *program = contents(programs[_i].path);
    ck_assert_msg(strstr(page, program) != NULL, "%s shows another program than %s", programs[_i].page,
                  programs[_i].path);
    int lines = 0;
    for (const char *c = program; *c; c++)
        lines += *c == '\n';
    ck_assert_int_lt(lines, programs[_i].lines);
    free(page);
    free(program);
}
END_TEST

/* A step that fails, for a gradient that is not finite, must not go unseen in a loop that people copy. */
START_TEST(every_loop_that_is_shown_looks_at_the_optimisers_step)
{
    ck_assert_int_eq(system("! grep -nE '^ *tg_optimizer_step\\(' README.md docs/*.md docs/*/*.c examples/*.c"), 0);
    ck_assert_int_eq(system("! grep -nE '[*,)] +tg_optimizer_step\\(' autograd/*.h nn/*.h nn/*/*.h optim/*.h"), 0);
}
END_TEST

/* The index names every page, the README six of them, on two screens. */
START_TEST(the_readme_is_short_and_the_index_whole)
{
    ck_assert_int_eq(system("[ $(wc -l < README.md) -le 150 ]"), 0);
    ck_assert_int_eq(system("[ $(grep -o '](docs/[a-z-]*\\.md)' README.md | sort -u | wc -l) = 6 ]"), 0);
    ck_assert_int_eq(
        system("for page in docs/*.md; do page=${page#docs/}; [ $page = README.md ] || grep -q \"]($page)\" "
               "docs/README.md || { echo \"docs/README.md lacks $page\"; exit 1; }; done"),
        0);
}
END_TEST

START_TEST(the_commands_of_the_readme_work_in_a_fresh_clone)
{
    char command[400];
    snprintf(command, sizeof command, "tests/readme.sh '%s'", temporary_folder());
    ck_assert_int_eq(system(command), 0);
}
END_TEST

Suite *readme_commands_suite(void)
{
    Suite *suite = suite_create("readme_commands");
    TCase *tests = tcase_create("commands");
    tcase_set_timeout(tests, 1800);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, the_commands_of_the_readme_work_in_a_fresh_clone);
    suite_add_tcase(suite, tests);
    return suite;
}

Suite *readme_suite(void)
{
    Suite *suite = suite_create("readme");
    TCase *tests = tcase_create("readme");
    tcase_add_loop_test(tests, the_programs_in_the_documents_are_those_in_the_tree, 0,
                        sizeof programs / sizeof programs[0]);
    tcase_add_test(tests, the_readme_is_short_and_the_index_whole);
    tcase_add_test(tests, every_loop_that_is_shown_looks_at_the_optimisers_step);
    suite_add_tcase(suite, tests);
    return suite;
}
