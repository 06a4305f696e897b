/* The program `gradcheck`, run as users run it. */
#include "autograd/registry.h"
#include "examples/programs/gradcheck/check_table.h"
#include "examples/programs/gradcheck/steps.h"
#include "tests/support/pseudo_terminal.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *gradcheck_program_suite(void);

static const char *program(void)
{
    static char path[500];
    const char *build = getenv("TG_BUILD");
    snprintf(path, sizeof path, "%s/bin/gradcheck", build ? build : "build");
    return path;
}

/* Runs a shell command in which %s is the program; returns its output and exit status. */
static int run_shell(const char *format, char *text, size_t size)
{
    char line[1500];
    snprintf(line, sizeof line, format, program());
    FILE *pipe = popen(line, "r");
    ck_assert_ptr_nonnull(pipe);
    size_t length = fread(text, 1, size - 1, pipe);
    text[length] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run(const char *arguments, char *text, size_t size)
{
    char format[1000];
    snprintf(format, sizeof format, "%%s %s </dev/null", arguments);
    return run_shell(format, text, size);
}

static const char *last_line(char *text)
{
    size_t length = strlen(text);
    if (length > 0 && text[length - 1] == '\n')
        text[length - 1] = '\0';
    const char *end = strrchr(text, '\n');
    return end ? end + 1 : text;
}

/* ---- what is checked ---- */

START_TEST(a_formula_is_checked_by_its_inputs_and_trained_numbers)
{
    char text[20000];
    ck_assert_int_eq(run("--csv --formula 'x sigmoid(b x) + c x, b = 1, c = 0.1 per unit'", text, sizeof text), 0);
    ck_assert_ptr_nonnull(strstr(text, ",passed,"));
    ck_assert_int_eq(run("--list --formula 'u tanh(b v), b = 2'", text, sizeof text), 0);
    ck_assert_ptr_nonnull(strstr(text, "u tanh(b v), b = 2       3  yours"));
    ck_assert_int_eq(run("tanh --formula 'mine: log(x) + 1 / x' --order 3", text, sizeof text), 0);
    ck_assert(strstr(text, "\nmine ") && strstr(text, "\ntanh "));
    ck_assert_str_eq(last_line(text), "2 passed, 0 failed");
}
END_TEST

/* The branch that is not taken has an infinite derivative, which gives NaN. */
START_TEST(a_formula_whose_derivative_is_not_its_slope_fails)
{
    char text[20000];
    ck_assert_int_eq(run("--formula 'where(x > 0, sqrt(x), 0)'", text, sizeof text), 1);
    ck_assert_ptr_nonnull(strstr(text, "x at [0, "));
    ck_assert_ptr_nonnull(strstr(text, "gives nan, finite differences 0"));
    ck_assert_int_eq(run("--formula 'sqrt(-1 - x^2)'", text, sizeof text), 1);
    ck_assert_int_eq(run("--formula 'x > 0'", text, sizeof text), 2);
    ck_assert_ptr_nonnull(strstr(text, "no derivative by nature, nothing to check: x > 0"));
    ck_assert_int_eq(run("--formula 'where(x > b, 1, 2), b = 0'", text, sizeof text), 2);
    ck_assert_int_eq(run("--formula '(x > 0) + b, b = 0'", text, sizeof text), 0);
    ck_assert_int_eq(run("--formula 'x +' 2>&1", text, sizeof text), 2);
    ck_assert_ptr_nonnull(strstr(text, "gradcheck: --formula: column 4, at the end: expected a number"));
    ck_assert_int_eq(run("--formula 'x' --command cat 2>&1", text, sizeof text), 2);
}
END_TEST

START_TEST(the_last_line_counts_what_passed_and_what_failed)
{
    char text[20000];
    ck_assert_int_eq(run("gelu_exact --order 2", text, sizeof text), 0);
    ck_assert_ptr_nonnull(strstr(text, "gelu_exact"));
    ck_assert_str_eq(last_line(text), "1 passed, 0 failed");
    ck_assert_int_eq(run("mlp.swiglu tanh --order 1 --seeds 2", text, sizeof text), 0);
    ck_assert_str_eq(last_line(text), "2 passed, 0 failed");
}
END_TEST

START_TEST(names_may_be_patterns)
{
    char text[20000];
    ck_assert_int_eq(run("'gelu_*k' 'mlp.[rs][mw]*' softmax --order 1", text, sizeof text), 0);
    ck_assert(strstr(text, "gelu_quick ") && strstr(text, "mlp.rms ") && strstr(text, "mlp.swiglu ") &&
              strstr(text, "softmax "));
    ck_assert_ptr_null(strstr(text, "gelu_exact"));
    ck_assert_str_eq(last_line(text), "4 passed, 0 failed");
}
END_TEST

START_TEST(csv_is_nothing_but_csv)
{
    static const char begins[] =
        "operation,result,worst_relative_error,order,derivatives,samples,category,where\ntanh,passed,";
    char text[20000];
    ck_assert_int_eq(run("tanh --csv 2>/dev/null", text, sizeof text), 0);
    ck_assert(strncmp(text, begins, sizeof begins - 1) == 0);
    ck_assert_ptr_nonnull(strstr(text, ",transcendental,\"sample "));
    ck_assert_int_eq(run("tanh --csv 2>&1 >/dev/null", text, sizeof text), 0);
    ck_assert_str_eq(text, "1 passed, 0 failed\n");
}
END_TEST

START_TEST(a_list_has_everything_and_checks_nothing)
{
    static char text[1 << 16];
    ck_assert_int_eq(run("--list", text, sizeof text), 0);
    int lines = 0, all = 1;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    while (tg_op_at(all - 1))
        all++;
    for (int i = 0; layer_check_at(i); i++)
        all++;
    ck_assert_int_eq(lines, all); /* and the titles */
    ck_assert_ptr_nonnull(strstr(text, "2       arithmetic      a + b\n"));
    ck_assert_ptr_nonnull(strstr(text, "any     shape"));
    ck_assert_ptr_nonnull(strstr(text, "1       model           two blocks, tied embedding\n"));
    ck_assert_int_eq(run("--list 'tanh*'", text, sizeof text), 0);
    ck_assert_str_eq(text, "operation  inputs  category        what it is\n"
                           "tanh            1  transcendental  tanh x\n"
                           "tanh_grad       2  transcendental  a times the derivative of tanh at x\n");
}
END_TEST

static const struct {
    const char *arguments, *says;
} mistakes[] = {
    {"gelu", "gradcheck: there is no operation or layer 'gelu': did you mean gelu_tanh, gelu_exact or gelu_quick?\n"},
    {"tanh sotfmax", "gradcheck: there is no operation or layer 'sotfmax': did you mean softmax?\n"},
    {"tg_sigmiod", "gradcheck: there is no operation or layer 'tg_sigmiod': did you mean sigmoid?\n"},
    {"RMSNorm", "'RMSNorm': did you mean norm_layer.rms, mlp.rms or block.t5?\n"},
    {"xyzzy", "gradcheck: there is no operation or layer 'xyzzy'\n"},
    {"'gelu_q?'", "gradcheck: no operation or layer matches the pattern 'gelu_q?'\n"},
    {"--list zz", "gradcheck: there is no operation or layer 'zz'"},
    {"--list --junit=x.xml", "gradcheck: --junit: --list checks nothing\n"},
    {"--list --plot tanh", "gradcheck: --plot: --list checks nothing\n"},
    {"--list --csv", "gradcheck: --csv: --list checks nothing\n"},
    {"--list --order 1 tanh", "gradcheck: --order: --list checks nothing\n"},
    {"--list --seed 3", "gradcheck: --seed: --list checks nothing\n"},
    {"--list --seeds 3", "gradcheck: --seeds: --list checks nothing\n"},
    {"--list --out x", "gradcheck: --out: --list checks nothing\n"},
    {"tanh --out x", "gradcheck: --out is for --plot only\n"},
    {"--order 0", "gradcheck: --order: '0' is not a whole number from 1 to 4\n"},
    {"--seeds many", "gradcheck: --seeds: 'many' is not a whole number from 1"},
    {"--plot mlp.swiglu", "gradcheck: --plot: mlp.swiglu is a model, and only operations are drawn"},
    {"--plot thna", "gradcheck: --plot: there is no operation 'thna': did you mean tanh"},
    {"--plot sign", "gradcheck: --plot: sign has no derivative"},
    {"--plot tanh:1", "gradcheck: --plot: tanh has no input 1: it has 1, numbered from 0\n"},
    {"--plot mul:1:1000000",
     "gradcheck: --plot: mul has no element 1000000 in input 1: in its largest sample there are"},
    {"--plot tanh:0:1:2", "'tanh:0:1:2' is not NAME, NAME:INPUT or NAME:INPUT:ELEMENT"},
    {"--plot tanh:-1", "'tanh:-1' is not NAME, NAME:INPUT or NAME:INPUT:ELEMENT"},
    {"tanh --plot tanh --out /proc/nothing", "gradcheck: --out: cannot write into the folder '/proc'"},
};

START_TEST(a_mistake_gets_a_line_that_names_it_and_status_2)
{
    char arguments[400], text[2000];
    snprintf(arguments, sizeof arguments, "%s 2>&1 >/dev/null", mistakes[_i].arguments);
    ck_assert_int_eq(run(arguments, text, sizeof text), 2);
    ck_assert_msg(strstr(text, mistakes[_i].says) != NULL, "'%s' says: %s", mistakes[_i].arguments, text);
}
END_TEST

START_TEST(nothing_to_check_is_not_passed)
{
    char text[2000];
    ck_assert_int_eq(run("sign argmax", text, sizeof text), 2);
    ck_assert_ptr_nonnull(strstr(text, "no derivative by nature, nothing to check: argmax, sign\n"));
    ck_assert_str_eq(last_line(text), "0 passed, 0 failed");
}
END_TEST

/* ---- how it ends ---- */

START_TEST(what_cannot_be_written_is_told)
{
    char text[2000];
    if (access("/dev/full", W_OK) == 0) {
        ck_assert_int_eq(run("tanh 2>&1 >/dev/full", text, sizeof text), 2);
        ck_assert_str_eq(text, "gradcheck: cannot write to standard output: No space left on device\n");
    }
    ck_assert_int_eq(run("--list 2>&1 >&-", text, sizeof text), 2);
    ck_assert_ptr_nonnull(strstr(text, "cannot write to standard output"));
}
END_TEST

/* Starts the program with its output going to a descriptor, and with default signal handlers. It runs when this
 * returns. */
static pid_t start(int output, const char *const arguments[])
{
    extern char **environ;
    char *argv[8] = {(char *)(size_t)program()};
    pid_t child;
    posix_spawn_file_actions_t actions;
    for (int i = 0; arguments[i]; i++)
        argv[i + 1] = (char *)(size_t)arguments[i];
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    ck_assert_int_eq(posix_spawn(&child, argv[0], &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

START_TEST(a_closed_pipe_ends_it_quietly)
{
    int ends[2], status;
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    const pid_t child = start(ends[1], (const char *const[]){"--list", NULL});
    close(ends[1]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
}
END_TEST

/* True if a process catches SIGINT, according to the system. */
static bool catches_interrupts(pid_t child)
{
    char path[64], line[256];
    unsigned long long caught = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)child);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "SigCgt: %llx", &caught);
    if (file)
        fclose(file);
    return caught >> (SIGINT - 1) & 1;
}

START_TEST(an_interruption_leaves_the_table_so_far)
{
    char text[20000];
    int status;
    FILE *output = tmpfile();
    ck_assert_ptr_nonnull(output);
    const pid_t child = start(fileno(output), (const char *const[]){"--seeds", "1000000", "tanh", "softmax", NULL});
    while (!catches_interrupts(child))
        usleep(10000);
    kill(child, _i ? SIGTERM : SIGINT);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == (_i ? 143 : 130));
    rewind(output);
    text[fread(text, 1, sizeof text - 1, output)] = '\0';
    fclose(output);
    int checked = -1; /* none, if it came before the first */
    ck_assert(strstr(text, "interrupted: ") &&
              sscanf(strstr(text, "interrupted: "), "interrupted: %d of 2 are checked", &checked) == 1);
    ck_assert(checked == 0 || checked == 1);
    ck_assert_int_eq(strstr(text, "\ntanh ") != NULL, checked);
    ck_assert_ptr_nonnull(strstr(text, checked ? "1 passed, 0 failed\n" : "0 passed, 0 failed\n"));
}
END_TEST

/* ---- the picture ---- */

START_TEST(the_error_over_the_step_is_drawn_for_any_element)
{
    static const char *const files[] = {"steps.csv", "steps.png", "steps.svg"};
    char arguments[400], text[4000];
    if (system("gnuplot --version >/dev/null 2>&1") != 0) {
        printf("skipped: gnuplot is not installed\n");
        return;
    }
    snprintf(arguments, sizeof arguments, "--plot mul:1:2 --out '%s'", temporary_folder());
    ck_assert_int_eq(run(arguments, text, sizeof text), 0);
    ck_assert_ptr_nonnull(strstr(text, "\nmul "));
    ck_assert_ptr_nonnull(strstr(text, "\n1 passed, 0 failed\ndrawn: "));
    for (int i = 0; i < 3; i++)
        ck_assert_msg(temporary_exists(files[i]), "there is no %s", files[i]);
    ck_assert_ptr_nonnull(strstr(temporary_text("steps.csv"), "\nmul,element 2 of input 1 in sample 0: there it is "));
    ck_assert_ptr_nonnull(strstr(temporary_text("steps.svg"), "element 2 of input 1 in sample 0"));
}
END_TEST

START_TEST(the_error_over_the_step_is_a_v)
{
    static const subject tanh_ = {.name = "tanh", .op = &tg_op_tanh}, product = {.name = "mul", .op = &tg_op_mul};
    steps_curve curve;
    tg_error error;
    int at = 0;
    ck_assert(steps_compute(&(steps_place){&tanh_, -1, -1}, 0, &curve, &error));
    ck_assert_int_eq(curve.count, STEPS);
    for (int k = 0; k < STEPS; k++)
        at = curve.steps[k].central < curve.steps[at].central ? k : at;
    ck_assert_double_lt(curve.steps[at].central, 1e-9);
    ck_assert(at > 8 && at < 30); /* near the cube root of the rounding */
    ck_assert_double_gt(curve.steps[0].central, 1e-4);
    ck_assert_double_gt(curve.steps[STEPS - 1].central, 1e-6);
    ck_assert_double_lt(curve.steps[6].twice, curve.steps[6].once);
    ck_assert_double_lt(curve.steps[6].once, curve.steps[6].central);
    for (int input = 0; input < 2; input++) {
        ck_assert(steps_compute(&(steps_place){&product, input, 1}, 0, &curve, &error));
        ck_assert_double_lt(curve.steps[10].central, 1e-9); /* a product is linear in each factor */
    }
    ck_assert(!steps_compute(&(steps_place){&product, 2, -1}, 0, &curve, &error));
}
END_TEST

/* ---- the table ---- */

static const subject sine = {.name = "sin", .category = "transcendental"},
                     tangent = {.name = "hyperbolic_tangent_of_this", .category = "x"},
                     pole = {.name = "pole", .category = "x"};
static const check_row some_rows[] = {
    {&sine,
     2,
     {.passed = true,
      .where = "sample 0, input 0 at [1, 2], order 2",
      .relative = 1.2e-9,
      .samples = 3,
      .comparisons = 1234}},
    {&tangent, 2, {.status = TG_GRADCHECK_WRONG, .why = "hyperbolic_tangent_of_this: it is wrong", .relative = 0.5}},
    {&pole, 2, {.status = TG_GRADCHECK_CANNOT_TELL, .why = "pole: differences do not converge"}},
};

static void print_results(FILE *out, const void *context)
{
    check_table_print(context, out);
    check_table_print_counts(context, out);
}

/* The output of a table on a terminal of this width or, with 0, in a file. */
static char *printed(const check_table *of, int columns)
{
    return terminal_output(columns, 40, print_results, of);
}

static int longest_line(const char *text)
{
    int longest = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        const int length = (int)strcspn(line, "\n");
        longest = length > longest ? length : longest;
        if (!line[length])
            break;
    }
    return longest;
}

START_TEST(failed_passed_and_undecided_are_told_apart_and_explained)
{
    const check_table table = {some_rows, 3};
    char *text = printed(&table, 0);
    ck_assert_ptr_nonnull(strstr(text,
                                 "\nsin                         passed           1.2e-09      2         1234        3  "
                                 "transcendental  sample 0, input 0 at [1, 2], order 2\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nhyperbolic_tangent_of_this  FAILED           5.0e-01  "));
    ck_assert_ptr_nonnull(strstr(text, "\npole                        cannot tell "));
    ck_assert_ptr_nonnull(strstr(text, "\nhyperbolic_tangent_of_this: it is wrong\n"));
    ck_assert_ptr_nonnull(strstr(text, "\npole: differences do not converge\n"));
    ck_assert_str_eq(last_line(text), "1 passed, 1 failed, 1 cannot tell");
}
END_TEST

START_TEST(a_narrow_terminal_has_whole_names_and_fewer_columns)
{
    const check_table table = {some_rows, 3};
    static const int widths[] = {60, 80, 120};
    static const char *const titles[] = {
        "operation                   result       worst error  order\n",
        "operation                   result       worst error  order  derivatives\n",
        "operation                   result       worst error  order  derivatives  samples  category        where\n"};
    for (int i = 0; i < 3; i++) {
        char *text = printed(&table, widths[i]);
        ck_assert_msg(strncmp(text, titles[i], strlen(titles[i])) == 0, "%d: %s", widths[i], text);
        ck_assert_ptr_nonnull(strstr(text, "\nhyperbolic_tangent_of_this  FAILED "));
        ck_assert_int_le(longest_line(text), widths[i]);
    }
}
END_TEST

START_TEST(of_several_seeds_a_failure_counts_more_than_what_cannot_be_told)
{
    tg_gradcheck_result total = some_rows[0].result;
    total.comparisons = 10;
    gradcheck_result_join(&total, &some_rows[2].result);
    ck_assert_int_eq(verdict_of(&total), VERDICT_CANNOT_TELL);
    gradcheck_result_join(&total, &some_rows[0].result);
    ck_assert_int_eq(verdict_of(&total), VERDICT_CANNOT_TELL);
    gradcheck_result_join(&total, &some_rows[1].result);
    gradcheck_result_join(&total, &some_rows[2].result);
    ck_assert_int_eq(verdict_of(&total), VERDICT_FAILED);
    ck_assert_int_eq(total.comparisons, 10 + 1234);
    ck_assert_int_eq(total.samples, 3);
}
END_TEST

Suite *gradcheck_program_suite(void)
{
    Suite *suite = suite_create("gradcheck_program");
    TCase *tests = tcase_create("gradcheck_program");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, a_formula_is_checked_by_its_inputs_and_trained_numbers);
    tcase_add_test(tests, a_formula_whose_derivative_is_not_its_slope_fails);
    tcase_add_test(tests, the_last_line_counts_what_passed_and_what_failed);
    tcase_add_test(tests, names_may_be_patterns);
    tcase_add_test(tests, csv_is_nothing_but_csv);
    tcase_add_test(tests, a_list_has_everything_and_checks_nothing);
    tcase_add_loop_test(tests, a_mistake_gets_a_line_that_names_it_and_status_2, 0,
                        (int)(sizeof mistakes / sizeof mistakes[0]));
    tcase_add_test(tests, nothing_to_check_is_not_passed);
    tcase_add_test(tests, what_cannot_be_written_is_told);
    tcase_add_test(tests, a_closed_pipe_ends_it_quietly);
    tcase_add_loop_test(tests, an_interruption_leaves_the_table_so_far, 0, 2);
    tcase_add_test(tests, the_error_over_the_step_is_drawn_for_any_element);
    tcase_add_test(tests, the_error_over_the_step_is_a_v);
    tcase_add_test(tests, failed_passed_and_undecided_are_told_apart_and_explained);
    tcase_add_test(tests, a_narrow_terminal_has_whole_names_and_fewer_columns);
    tcase_add_test(tests, of_several_seeds_a_failure_counts_more_than_what_cannot_be_told);
    suite_add_tcase(suite, tests);
    return suite;
}
