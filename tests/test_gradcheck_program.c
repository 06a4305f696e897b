/* The program `gradcheck` as a user meets it, and the layers it checks. */
#include "examples/gradcheck/check_table.h"
#include "examples/gradcheck/layer_checks.h"
#include "tests/temporary_files.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *gradcheck_program_suite(void);

/* Runs build/bin/gradcheck with these arguments; what it prints, and its exit status. */
static int run(const char *arguments, char *text, size_t size)
{
    const char *build = getenv("TG_BUILD");
    char command[1000];
    snprintf(command, sizeof command, "%s/bin/gradcheck %s </dev/null", build ? build : "build", arguments);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    size_t length = fread(text, 1, size - 1, pipe);
    text[length] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *last_line(char *text)
{
    size_t length = strlen(text);
    if (length > 0 && text[length - 1] == '\n')
        text[length - 1] = '\0';
    const char *end = strrchr(text, '\n');
    return end ? end + 1 : text;
}

START_TEST(the_last_line_counts_what_passed_and_what_failed)
{
    char text[20000];
    ck_assert_int_eq(run("--op gelu_exact --order 2", text, sizeof text), 0);
    ck_assert_ptr_nonnull(strstr(text, "gelu_exact"));
    ck_assert_str_eq(last_line(text), "1 passed, 0 failed");
    ck_assert_int_eq(run("--op mlp.swiglu --order 1 --seeds 2", text, sizeof text), 0);
    ck_assert_str_eq(last_line(text), "1 passed, 0 failed");
}
END_TEST

START_TEST(csv_is_nothing_but_csv)
{
    char text[20000];
    ck_assert_int_eq(run("--op tanh --csv 2>/dev/null", text, sizeof text), 0);
    ck_assert(strncmp(text,
                      "operation,order,samples,derivatives,worst_relative_error,where,passed\ntanh,3,8,",
                      77) == 0);
    ck_assert_str_eq(strrchr(text, ','), ",1\n");
    ck_assert_int_eq(run("--op tanh --csv 2>&1 >/dev/null", text, sizeof text), 0);
    ck_assert_str_eq(text, "1 passed, 0 failed\n");
}
END_TEST

static const struct {
    const char *arguments, *says;
} mistakes[] = {
    {"--op gelu", "gradcheck: --op: there is no operation or layer 'gelu'\n"},
    {"--order 0", "gradcheck: --order: '0' is not a whole number from 1 to 4\n"},
    {"--seeds many", "gradcheck: --seeds: 'many' is not a whole number from 1"},
    {"--plot --op mlp.swiglu", "gradcheck: --plot: mlp.swiglu is a layer"},
    {"--op tanh --plot --out /proc/nothing", "gradcheck: --out: cannot create the folder '/proc/nothing'"},
    {"tanh", "'tanh' is not an option"},
};

START_TEST(a_mistake_gets_a_line_that_names_it_and_status_2)
{
    char arguments[400], text[2000];
    snprintf(arguments, sizeof arguments, "%s 2>&1 >/dev/null", mistakes[_i].arguments);
    ck_assert_int_eq(run(arguments, text, sizeof text), 2);
    ck_assert_msg(strstr(text, mistakes[_i].says) != NULL, "'%s' says: %s", mistakes[_i].arguments, text);
}
END_TEST

START_TEST(the_error_over_the_step_is_drawn)
{
    if (system("gnuplot --version >/dev/null 2>&1") != 0) {
        printf("skipped: gnuplot is not installed\n");
        return;
    }
    static const char *const files[] = {"steps.csv", "steps.png", "steps.svg"};
    char arguments[400], text[2000], path[400];
    snprintf(arguments, sizeof arguments, "--op sigmoid --plot --out %s", temporary_folder());
    ck_assert_int_eq(run(arguments, text, sizeof text), 0);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", temporary_folder(), files[i]);
        ck_assert_msg(access(path, R_OK) == 0, "there is no %s", files[i]);
    }
}
END_TEST

START_TEST(a_failure_is_counted_and_explained)
{
    tg_gradcheck_result good = {.passed = true, .where = "sample 0"},
               bad = {.status = TG_GRADCHECK_WRONG, .why = "tanh: it is wrong"};
    check_table *table = check_table_new(false);
    ck_assert_ptr_nonnull(table);
    check_table_add(table, "sin", 2, &good);
    check_table_add(table, "tanh", 2, &bad);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    check_table_print(table, out);
    ck_assert_int_eq(check_table_count(table, out), 1);
    check_table_free(table);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "FAILED"));
    ck_assert_ptr_nonnull(strstr(text, "\ntanh: it is wrong\n"));
    ck_assert_str_eq(last_line(text), "1 passed, 1 failed");
    free(text);
}
END_TEST

START_TEST(every_layer_is_right_to_second_order)
{
    const layer_check *layer = layer_check_at(_i);
    for (uint64_t seed = 0; seed < (getenv("TG_LONG") ? 100 : 3); seed++) {
        tg_gradcheck_result result = layer_check_run(layer, &(tg_gradcheck_options){.order = 2, .seed = seed});
        ck_assert_msg(result.passed, "%s", result.why);
        ck_assert_msg(result.relative < 1e-7, "%s: %g", layer->name, result.relative);
    }
}
END_TEST

Suite *gradcheck_program_suite(void)
{
    Suite *suite = suite_create("gradcheck_program");
    TCase *tests = tcase_create("gradcheck_program");
    int layers = 0;
    while (layer_check_at(layers))
        layers++;
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, the_last_line_counts_what_passed_and_what_failed);
    tcase_add_test(tests, csv_is_nothing_but_csv);
    tcase_add_loop_test(tests, a_mistake_gets_a_line_that_names_it_and_status_2, 0,
                        (int)(sizeof mistakes / sizeof mistakes[0]));
    tcase_add_test(tests, the_error_over_the_step_is_drawn);
    tcase_add_test(tests, a_failure_is_counted_and_explained);
    tcase_add_loop_test(tests, every_layer_is_right_to_second_order, 0, layers);
    suite_add_tcase(suite, tests);
    return suite;
}
