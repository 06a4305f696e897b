/* build/bin/accuracy and its output. */
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

Suite *accuracy_suite(void);

static char output[1 << 16];

/* Runs build/bin/accuracy; its exit status. `output` has standard output or, with `errors`, both streams. */
static int run(const char *arguments, bool errors)
{
    const char *build = getenv("TG_BUILD");
    char command[2000];
    snprintf(command, sizeof command, "%s/bin/accuracy %s 2>%s </dev/null", build ? build : "build", arguments,
             errors ? "&1" : "/dev/null");
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(the_csv_has_a_line_for_each_precision_order_and_instruction_set)
{
    ck_assert_int_eq(run("--csv --kernels gelu_exact,exp", false), 0);
    static const char heading[] = "kernel,precision,order,isa,max_ulp,max_abs,at\n";
    ck_assert_int_eq(strncmp(output, heading, strlen(heading)), 0);
    int lines = 0, baseline = 0;
    for (char *line = strtok(output + strlen(heading), "\n"); line; line = strtok(NULL, "\n")) {
        char kernel[20], precision[20], isa[20];
        int order;
        double ulp, absolute, at;
        ck_assert_int_eq(sscanf(line, "%19[^,],%19[^,],%d,%19[^,],%lf,%lf,%lf", kernel, precision, &order, isa, &ulp,
                                &absolute, &at),
                         7);
        ck_assert_msg(ulp > 0.4 && ulp <= 5, "%s", line);
        ck_assert_msg((absolute > 0) == (order > 0), "%s", line);
        baseline += strcmp(isa, "baseline") == 0;
        lines++;
    }
    ck_assert_int_eq(baseline, 2 * (3 + 1));
    ck_assert_int_eq(lines % baseline, 0);
}
END_TEST

START_TEST(the_table_fits_a_terminal_and_ends_with_the_verdict)
{
    ck_assert_int_eq(run("--kernels silu", false), 0);
    ck_assert_ptr_nonnull(strstr(output, "silu        f''"));
    ck_assert_ptr_nonnull(strstr(output, "and the edges: all bounds hold\n"));
    for (char *line = strtok(output, "\n"); line; line = strtok(NULL, "\n"))
        ck_assert_msg(strlen(line) <= 80, "%s", line);
}
END_TEST

/* Reads the largest error of each of the four ways from the picture's data. */
START_TEST(the_picture_shows_who_loses_digits)
{
    static char arguments[1000], line[200];
    double naive = 0, erfc = 0, ours = 0;
    snprintf(arguments, sizeof arguments, "--kernels sqrt --no-plots --python true --out '%s'", temporary_folder());
    ck_assert_msg(run(arguments, true) == 0, "%s", output);
    ck_assert_ptr_nonnull(strstr(output, "without PyTorch: true cannot import it"));
    snprintf(arguments, sizeof arguments, "%s/exactness.csv", temporary_folder());
    FILE *file = fopen(arguments, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_str_eq(fgets(line, sizeof line, file), "form,x,ulp\n");
    while (fgets(line, sizeof line, file)) {
        char form[20];
        double x, ulp;
        if (sscanf(line, "%19[^,],%lf,%lf", form, &x, &ulp) != 3)
            continue;
        double *worst = strcmp(form, "naive") == 0 ? &naive : strcmp(form, "erfc") == 0 ? &erfc : &ours;
        *worst = ulp > *worst ? ulp : *worst;
    }
    fclose(file);
    ck_assert_double_gt(naive, 1e6);
    ck_assert_double_gt(erfc, 10);
    ck_assert_double_le(ours, 2);
    ck_assert_double_gt(ours, 0.5);
}
END_TEST

START_TEST(options_that_do_not_go_together_get_one_line_and_status_2)
{
    static const char *const wrong[] = {"--no-plots", "--kernels nonsense", "--jobs 0"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_msg(run(wrong[i], true) == 2, "%s: %s", wrong[i], output);
        ck_assert_ptr_eq(strchr(output, '\n'), output + strlen(output) - 1);
    }
}
END_TEST

Suite *accuracy_suite(void)
{
    Suite *suite = suite_create("accuracy");
    TCase *tests = tcase_create("accuracy");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, the_csv_has_a_line_for_each_precision_order_and_instruction_set);
    tcase_add_test(tests, the_table_fits_a_terminal_and_ends_with_the_verdict);
    tcase_add_test(tests, the_picture_shows_who_loses_digits);
    tcase_add_test(tests, options_that_do_not_go_together_get_one_line_and_status_2);
    suite_add_tcase(suite, tests);
    return suite;
}
