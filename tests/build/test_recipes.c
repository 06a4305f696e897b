/* The programs of docs/recipes.md: each compiles without warnings and prints what the page says; the exported net
 * computes probabilities; the gradient check passes the right gradient and fails the wrong one; lines are as many as
 * said. */
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *recipes_suite(void);

static char tree[PATH_MAX], build[PATH_MAX];

static void start(void)
{
    temporary_folder_make();
    setenv("TG_PRODUCTS", "own", 1); /* OpenBLAS sums in a different order */
    ck_assert_ptr_nonnull(realpath(".", tree));
    ck_assert_ptr_nonnull(realpath(getenv("TG_BUILD") ? getenv("TG_BUILD") : "build", build));
}

static void compile_and_run(const char *name, const char *to)
{
    const char *compiler = getenv("TG_CC") ? getenv("TG_CC") : "cc";
    const char *sanitize = getenv("SANITIZE") ? getenv("SANITIZE") : ""; /* as the library that is linked */
    expect_fine(
        train_run(compiler,
                  "%s %s%s -std=c11 -O1 -Wall -Wextra -Werror -I'%s' -I'%s/include' '%s/docs/recipes/%s.c' -o %s "
                  "-L'%s' -ltapegrad -lm -Wl,-rpath,'%s' && ./%s > %s",
                  getenv("CFLAGS") ? getenv("CFLAGS") : "", *sanitize ? "-fsanitize=" : "", sanitize, tree, build, tree,
                  name, name, build, build, name, to));
}

START_TEST(each_prints_what_the_page_says)
{
    static const char *const names[] = {"gan", "two_inputs", "ode", "cartpole", "frozen", "find_nan"};
    expect_fine(train_run("sh", "-c ': > all'"));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        compile_and_run(names[i], "out");
        expect_fine(train_run("sh", "-c 'cat out >> all'"));
    }
    expect_fine(train_run("sed", "-n '/^mean radius/,/^NaN at/p' '%s/docs/recipes.md' > said && diff said all", tree));
}
END_TEST

START_TEST(the_exported_net_gives_probabilities)
{
    static const char use[] = "#include <stdio.h>\nint net_predict(const float x[4], float y[3]);\n"
                              "int main(void) { float x[4] = {1, 2, 3, 4}, y[3]; net_predict(x, y);\n"
                              "printf(\"%.4f\\n\", y[0] + y[1] + y[2]); return 0; }\n";
    const char *compiler = getenv("TG_CC") ? getenv("TG_CC") : "cc";
    compile_and_run("export_net", "net.c");
    temporary_write("use.c", use, strlen(use));
    expect_fine(train_run("sh", "-c '%s use.c net.c -o use -lm && ./use'", compiler));
    ck_assert_str_eq(train_output, "1.0000\n");
}
END_TEST

START_TEST(the_gradient_of_numpy_is_checked)
{
    const char *python = access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
    expect_fine(train_run(
        "cp", "'%s/docs/recipes/numpy_gradient.py' '%s/examples/programs/gradcheck/tapegrad_check.py' .", tree, tree));
    if (train_run(python, "-c 'import numpy'") != 0)
        return; /* not installed */
    train_run("gradcheck", "--command '%s numpy_gradient.py'", python);
    ck_assert_msg(strstr(train_output, "1 passed, 1 failed"), "%s", train_output);
    static const char *const begins[] = {"softmax    passed ", "<lambda>   FAILED "};
    char page[20000];
    const char *line;
    FILE *file = fopen("docs/recipes.md", "r");
    ck_assert_ptr_nonnull(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    for (int i = 0; i < 2; i++) { /* the line of the page, but for its error, which depends on NumPy */
        ck_assert(strstr(train_output, begins[i]) && (line = strstr(page, begins[i])));
        const char *rest = line + strlen("softmax    passed      1.0e-12");
        const int length = (int)strcspn(rest, "\n");
        char said[200];
        snprintf(said, sizeof said, "%.*s\n", length, rest);
        ck_assert_msg(strstr(train_output, said), "the page has '%s', and it prints\n%s", said, train_output);
    }
}
END_TEST

START_TEST(where_an_optimiser_steps_its_error_is_printed)
{
    expect_fine(train_run("sh",
                          "-c 'cd %s && ! grep -l tg_optimizer_step examples/*.c docs/*/*.c | "
                          "xargs grep -L tg_optimizer_error | grep .'",
                          tree));
}
END_TEST

START_TEST(programs_have_the_lines_that_the_page_says)
{
    char line[600], file[200];
    int count, listed = 0;
    FILE *page = fopen("docs/recipes.md", "r");
    ck_assert_ptr_nonnull(page);
    while (fgets(line, sizeof line, page)) {
        const char *link = strstr(line, "](");
        if (!link || sscanf(link, "](%199[^)]) | %d |", file, &count) != 2)
            continue;
        char path[240];
        snprintf(path, sizeof path, "docs/%s", file);
        FILE *source = fopen(path, "r");
        ck_assert_msg(source, "%s", path);
        int lines = 0;
        for (int c; (c = getc(source)) != EOF;)
            lines += c == '\n';
        fclose(source);
        ck_assert_msg(lines == count, "%s has %d lines", path, lines);
        listed++;
    }
    fclose(page);
    ck_assert_int_ge(listed, 11);
}
END_TEST

Suite *recipes_suite(void)
{
    Suite *suite = suite_create("recipes");
    TCase *tests = tcase_create("recipes");
    tcase_set_timeout(tests, 300);
    tcase_add_checked_fixture(tests, start, temporary_folder_remove);
    tcase_add_test(tests, each_prints_what_the_page_says);
    tcase_add_test(tests, the_exported_net_gives_probabilities);
    tcase_add_test(tests, the_gradient_of_numpy_is_checked);
    tcase_add_test(tests, where_an_optimiser_steps_its_error_is_printed);
    tcase_add_test(tests, programs_have_the_lines_that_the_page_says);
    suite_add_tcase(suite, tests);
    return suite;
}
