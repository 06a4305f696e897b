/* `gradcheck --command`: functions of another program, over a pipe. */
#include "tests/support/temporary_files.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

Suite *gradcheck_command_suite(void);

/* The other program: y = x^2 of two numbers, with several ways to misbehave. It finds requests by their numbers. */
static const char source[] =
    "#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
    "static int is(const char *mode, const char *name) { return strcmp(mode, name) == 0; }\n"
    "static void describe(const char *name, const char *more)\n{\n"
    "    printf(\"{\\\"function\\\": \\\"%s\\\", \\\"inputs\\\": [{\\\"name\\\": \\\"x\\\", \\\"shape\\\": [2], "
    "\\\"data\\\": "
    "[0.5, -2]}], \"\n"
    "           \"\\\"outputs\\\": [[2]], \\\"gives\\\": [\\\"vjp\\\"]%s}\\n\", name, more);\n"
    "    fflush(stdout);\n}\n"
    "int main(int count, char **arguments)\n{\n"
    "    static char line[1 << 16];\n"
    "    const char *mode = arguments[1];\n"
    "    int asked = 0, functions = is(mode, \"two\") ? 2 : 1;\n"
    "    (void)count;\n"
    "    if (is(mode, \"none\")) return 0;\n"
    "    if (is(mode, \"fails\")) return 4;\n"
    "    if (is(mode, \"list\")) { puts(\"[1, 2]\"); return 0; }\n"
    "    if (is(mode, \"type\")) { describe(\"square\", \", \\\"type\\\": \\\"f16\\\"\"); return 0; }\n"
    "    if (is(mode, \"gives\")) { puts(\"{\\\"function\\\": \\\"f\\\", \\\"inputs\\\": [{\\\"shape\\\": [], "
    "\\\"data\\\": 1}], \\\"outputs\\\": [[]]}\"); return 0; }\n"
    "    if (is(mode, \"data\")) { puts(\"{\\\"function\\\": \\\"f\\\", \\\"inputs\\\": [{\\\"shape\\\": [3], "
    "\\\"data\\\": [1]}], \\\"outputs\\\": [[]]}\"); return 0; }\n"
    "    if (is(mode, \"huge\")) { puts(\"{\\\"function\\\": \\\"f\\\", \\\"inputs\\\": [{\\\"shape\\\": [1000000000], "
    "\\\"data\\\": []}], \\\"outputs\\\": [[]]}\"); return 0; }\n"
    "    if (is(mode, \"unnamed\")) { puts(\"{}\"); return 0; }\n"
    "    for (int f = 0; f < functions; f++) {\n"
    "        describe(is(mode, \"name\") ? \"a <b> & \\\\u0007 \\\\\\\"c\\\\\\\" \\\\u00e4\" : f ? \"second\" : "
    "\"square\", is(mode, "
    "\"float\") ? \", \\\"type\\\": \\\"f32\\\"\" : is(mode, \"promise\") ? \", \\\"value_rtol\\\": [0.1]\" : "
    "is(mode, \"negative\") ? \", \\\"rtol\\\": -1\" : is(mode, \"text\") ? \", \\\"rtol\\\": \\\"1\\\"\" : "
    "is(mode, \"half\") ? \", \\\"directions\\\": 2.5\" : is(mode, \"yes\") ? \", \\\"here_only\\\": 1\" : "
    "is(mode, \"promises\") ? \", \\\"value_atol\\\": [1, 2]\" : is(mode, \"unmoved\") ? \", "
    "\\\"projects\\\": true\" : \"\");\n"
    "        while (fgets(line, sizeof line, stdin)) {\n"
    "            double x[4];\n"
    "            int found = 0;\n"
    "            char *end, *at = strstr(line, \"\\\"in\\\"\");\n"
    "            if (strstr(line, \"\\\"end\\\"\")) break;\n"
    "            for (; *at && found < 4; at++) {\n"
    "                const double number = strtod(at, &end);\n"
    "                if (end != at && (*at == '-' || (*at >= '0' && *at <= '9'))) { x[found++] = number; at = end - 1; "
    "}\n"
    "            }\n"
    "            if (++asked > 20) {\n"
    "                if (is(mode, \"dies\")) return 3;\n"
    "                if (is(mode, \"ends\")) return 0;\n"
    "                if (is(mode, \"crashes\")) raise(SIGSEGV);\n"
    "                if (is(mode, \"rubbish\")) { puts(\"Traceback\\a (most recent call last):\"); fflush(stdout); "
    "continue; }\n"
    "                if (is(mode, \"hangs\")) for (;;) pause();\n"
    "                if (is(mode, \"closes\")) { close(1); for (;;) pause(); }\n"
    "                if (is(mode, \"endless\")) for (;;) if (fputs(\"xxxxxxxxxxxxxxxx\", stdout) < 0) return 1;\n"
    "                if (is(mode, \"orphan\") && fork() == 0) { printf(\"\\n\"); for (;;) pause(); }\n"
    "                if (is(mode, \"orphan\")) return 0;\n"
    "            }\n"
    "            const double factor = is(mode, \"promise\") ? 2.01 : is(mode, \"wrong\") || f == 1 || is(mode, "
    "\"name\") ? 1.8 : 2;\n"
    "            if (is(mode, \"raises\") && asked % 7 == 0) puts(\"{\\\"error\\\": \\\"ValueError: not "
    "there\\\"}\");\n"
    "            else if (strstr(line, \"\\\"project\\\"\")) puts(\"{\\\"error\\\": \\\"ValueError: off\\\"}\");\n"
    "            else if (is(mode, \"says\")) puts(\"{\\\"error\\\": \\\"ValueError: no\\\"}\");\n"
    "            else if (is(mode, \"sizes\")) puts(\"{\\\"out\\\": [[1, 2, 3]]}\");\n"
    "            else if (is(mode, \"arrays\")) puts(\"{\\\"out\\\": [[1, 2], [1]]}\");\n"
    "            else if (is(mode, \"words\")) puts(\"{\\\"out\\\": [[1, {}]]}\");\n"
    "            else if (is(mode, \"nan\")) puts(\"{\\\"out\\\": [[1, null]]}\");\n"
    "            else if (found == 4) printf(\"{\\\"out\\\": [[%.17g, %.17g]]}\\n\", factor * x[0] * x[2], factor * "
    "x[1] * x[3]);\n"
    "            else printf(\"{\\\"out\\\": [[%.17g, [%.17g]]]}\\n\", x[0] * x[0], x[1] * x[1]);\n"
    "            fflush(stdout);\n"
    "        }\n"
    "    }\n"
    "    if (is(mode, \"stays\")) for (;;) pause();\n"
    "    return 0;\n}\n";

static char other[PATH_MAX];

static void compile(void)
{
    char command[2 * PATH_MAX + 100];
    const char *compiler = getenv("TG_CC") ? getenv("TG_CC") : "cc";
    temporary_folder_make();
    temporary_write("other.c", source, sizeof source - 1);
    snprintf(other, sizeof other, "%s", temporary_path("other"));
    snprintf(command, sizeof command, "%s -std=gnu11 -Wall -Werror -o '%s' '%s.c'", compiler, other, other);
    ck_assert_int_eq(system(command), 0);
}

/* Runs gradcheck on the program in a mode; returns the output of both, and the status. */
static int run(const char *mode, const char *options, char *text, size_t size)
{
    char command[2 * PATH_MAX + 500];
    const char *build = getenv("TG_BUILD") ? getenv("TG_BUILD") : "build";
    setenv("TG_OTHER", other, 1); /* so that no shell reads its path */
    snprintf(command, sizeof command, "%s/bin/gradcheck --command '\"$TG_OTHER\" %s' %s 2>&1 </dev/null", build, mode,
             options);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    text[fread(text, 1, size - 1, pipe)] = '\0';
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* True if a process runs the program, in any mode. */
static bool is_running(void)
{
    char command[PATH_MAX + 100];
    snprintf(command, sizeof command,
             "for f in /proc/[0-9]*/exe; do readlink \"$f\"; done 2>/dev/null | grep -qxF '%s'", other);
    return system(command) == 0;
}

static const struct {
    const char *mode, *options;
    int status;
    const char *says;
} modes[] = {
    {"right", "", 0, "\nsquare     passed "},
    {"right", "--seeds 3", 0, "\n1 passed, 0 failed\n"},
    {"right", "--csv", 0, "\nsquare,passed,"},
    {"float", "", 0, "\nsquare     passed "},
    {"two", "", 1, "\n1 passed, 1 failed\n"},
    {"stays", "--limit 0.5", 2, "\n1 passed, 0 failed\n"},
    {"wrong", "", 1, "square, x at [0], order 1: off by 0.1 of its size, where differences and rounding explain "},
    {"wrong", "", 1, "  seems       all derivatives by this input are 0.9 times as large\n"},
    {"says", "", 1, "\nsquare: its value says: ValueError: no\n"},
    {"raises", "", 0, " evaluations failed; the first that failed: its value says: ValueError: not there\n"},
    {"right", "--evaluations 8", 0, "; ended after 8 evaluations: 1 of 2 elements were not looked at\n"},
    {"right", "--directions 2", 0, "\nsquare     passed "},
    {"wrong", "--rtol 0.2", 0, "\n1 passed, 0 failed\n"},
    {"promise", "--here-only", 0, "\nsquare     passed "},
    {"promises", "", 2, "gradcheck: --command: 'square': its value_atol has 2 numbers, where 1 are expected\n"},
    {"negative", "", 1, "\nsquare: expected rtol, atol, value_rtol and value_atol of 0 or more\n"},
    {"text", "", 2, "gradcheck: --command: 'square': its rtol is no number\n"},
    {"half", "", 2, "gradcheck: --command: 'square': its directions is no whole number\n"},
    {"yes", "", 2, "gradcheck: --command: 'square': its here_only is neither true nor false\n"},
    {"unmoved", "", 1, "\nsquare: its project says: ValueError: off\n"},
    {"sizes", "", 1, "\nsquare: array 0 of its value has 3 numbers, where 2 are expected\n"},
    {"arrays", "", 1, "\nsquare: its value gives 2 arrays, where 1 are expected\n"},
    {"words", "", 1, "\nsquare: array 0 of its value is no list of numbers\n"},
    {"nan", "", 1, "the result is nan at element 1\n"},
    {"none", "", 2, "gradcheck: --command: the program has no function to check\n"},
    {"fails", "", 2, "gradcheck: --command: the program ended with status 4\n"},
    {"list", "", 2, "gradcheck: --command: the program has written what is no JSON object: '[1, 2]'\n"},
    {"type", "", 2, "gradcheck: --command: 'square': its type can be f64, f32 or bf16\n"},
    {"gives", "", 2, "gradcheck: --command: 'f': it gives no vjp or jvp\n"},
    {"data", "", 2, "gradcheck: --command: 'f': the data of input 0 has 1 numbers, where 3 are expected\n"},
    {"huge", "", 2, "gradcheck: --command: 'f': the shape of input 0 is none\n"},
    {"unnamed", "", 2,
     "gradcheck: --command: the program describes no function: a line with \"function\" is expected\n"},
    {"dies", "", 2, "gradcheck: --command: the program ended in the middle of a check with status 3\n"},
    {"ends", "", 2, "gradcheck: --command: the program ended in the middle of a check with status 0\n"},
    {"crashes", "", 2, "gradcheck: --command: the program ended in the middle of a check with status 139\n"},
    {"rubbish", "", 2,
     "gradcheck: --command: the program has written what is no JSON object: 'Traceback? (most recent call last):'\n"},
    {"hangs", "--limit 0.3", 2, "gradcheck: --command: the program has written nothing for 0.3 s (--limit)\n"},
    {"closes", "--limit 0.5", 2, "gradcheck: --command: the program has "},
    {"endless", "", 2, "gradcheck: --command: the program writes a line of more than "},
    {"orphan", "--limit 1", 2, "gradcheck: --command: "},
    {"right", "tanh", 2, "gradcheck: --command: checks all functions of that program: no names,"},
    {"right", "--order 2", 2, "gradcheck: --order: functions of --command are checked to first order;"},
    {"right", "--junit /proc/none/x", 2, "gradcheck: --junit: "},
    {"", "", 2, "gradcheck: --command: "},
};

START_TEST(each_program_is_checked_or_refused_in_a_sentence_and_leaves_nothing_behind)
{
    char text[20000];
    const int status = run(modes[_i].mode, modes[_i].options, text, sizeof text);
    ck_assert_msg(status == modes[_i].status, "%s: status %d: %s", modes[_i].mode, status, text);
    ck_assert_msg(strstr(text, modes[_i].says) != NULL, "%s: %s", modes[_i].mode, text);
    ck_assert_msg(!is_running(), "%s is still running", modes[_i].mode);
}
END_TEST

START_TEST(a_command_that_is_not_there_is_refused)
{
    char text[2000], command[1000];
    const char *build = getenv("TG_BUILD") ? getenv("TG_BUILD") : "build";
    snprintf(command, sizeof command, "%s/bin/gradcheck --command /no/such/program 2>&1; echo $?", build);
    FILE *pipe = popen(command, "r");
    text[fread(text, 1, sizeof text - 1, pipe)] = '\0';
    pclose(pipe);
    ck_assert_msg(strstr(text, "gradcheck: --command: the program ended with status 127\n2\n") != NULL, "%s", text);
}
END_TEST

/* It says what the 20 answers so far have shown; the one that was interrupted is no failure of the function. */
START_TEST(interrupted_it_ends_the_program_too)
{
    char text[4000];
    const char *build = getenv("TG_BUILD") ? getenv("TG_BUILD") : "build";
    char program[500], command[PATH_MAX + 20];
    snprintf(program, sizeof program, "%s/bin/gradcheck", build);
    snprintf(command, sizeof command, "'%s' hangs", other);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        freopen("/dev/null", "w", stderr);
        freopen(temporary_path("interrupted"), "w", stdout);
        execl(program, "gradcheck", "--command", command, (char *)NULL);
        _exit(99);
    }
    for (int i = 0; i < 60 && !is_running(); i++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    kill(child, SIGINT);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    ck_assert(!is_running());
    FILE *file = fopen(temporary_path("interrupted"), "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    ck_assert_msg(strstr(text, "derivatives agree") && strstr(text, "; ended after 20 evaluations"), "%s", text);
    ck_assert_msg(!strstr(text, "evaluations failed"), "%s", text);
}
END_TEST

/* ---- Python ---- */

/* Runs gradcheck on a Python program; -1 if there is no Python with this module. */
static int run_python(const char *needs, const char *arguments, const char *options, char *text, size_t size)
{
    char command[2 * PATH_MAX];
    const char *build = getenv("TG_BUILD") ? getenv("TG_BUILD") : "build",
               *python = getenv("TG_TORCH_PYTHON") ? getenv("TG_TORCH_PYTHON") : "python3";
    snprintf(command, sizeof command, "%s -c 'import %s' 2>/dev/null", python, needs);
    if (system(command) != 0)
        return printf("skipped: %s has no %s (TG_TORCH_PYTHON)\n", python, needs), -1;
    snprintf(command, sizeof command, "%s/bin/gradcheck --command '%s %s' %s 2>&1 </dev/null", build, python, arguments,
             options);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    text[fread(text, 1, size - 1, pipe)] = '\0';
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

START_TEST(the_python_example_of_the_guide_runs_as_printed)
{
    static char text[1 << 17];
    char path[PATH_MAX];
    FILE *file = fopen("docs/gradcheck.md", "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *begin = strstr(text, "```python\n# mine.py\n"), *end = begin ? strstr(begin, "\n```\n") : NULL;
    ck_assert(begin && end);
    begin += strlen("```python\n");
    temporary_write("mine.py", begin, (size_t)(end + 1 - begin));
    snprintf(path, sizeof path, "%s", temporary_path("mine.py"));
    const int status = run_python("numpy", path, "", text, sizeof text);
    ck_assert_msg(status == -1 || (status == 0 && strstr(text, "\n3 passed, 0 failed\n")), "%d: %s", status, text);
}
END_TEST

/* The package of the wheel needs no NumPy; the pipe does. */
START_TEST(a_mistake_in_python_is_answered_by_a_sentence)
{
    static char text[1 << 16];
    char command[PATH_MAX];
    const char *build = getenv("TG_BUILD") ? getenv("TG_BUILD") : "build";
    int status = run_python("numpy", "tests/gradcheck/newcomer.py", "", text, sizeof text);
    ck_assert_msg(status == -1 || (status == 1 && strstr(text, "\n3 passed, 4 failed\n")), "%d: %s", status, text);
    snprintf(command, sizeof command,
             "TAPEGRAD_LIBRARY='%s/libtapegrad.so' PYTHONPATH=examples/gradcheck PYTHONDONTWRITEBYTECODE=1 python3 "
             "tests/gradcheck/newcomer.py",
             build);
    if (getenv("SANITIZE") && *getenv("SANITIZE"))
        return (void)printf("skipped: python3 cannot load a library with sanitizers\n");
    if (system("python3 -c 'import ctypes' 2>/dev/null") != 0)
        return (void)printf("skipped: there is no python3\n");
    status = system(command);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* The program fails, and so does --command, if a fault is missed or a right function is called wrong. */
START_TEST(the_known_faults_are_caught_over_the_pipe)
{
    static char text[1 << 18];
    const int status = run_python("torch", "tests/gradcheck/faults.py torch", "", text, sizeof text);
    ck_assert_msg(status == -1 || (status == 1 && strstr(text, "called 0 of 15 right ones wrong")), "%d: %.2000s",
                  status, text);
}
END_TEST

/* ---- JUnit XML ---- */

START_TEST(junit_has_each_result_and_no_character_that_xml_does_not_have)
{
    char text[20000], options[PATH_MAX + 20];
    snprintf(options, sizeof options, "--junit '%s'", temporary_path("check.xml"));
    ck_assert_int_eq(run("name", options, text, sizeof text), 1);
    FILE *file = fopen(temporary_path("check.xml"), "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    ck_assert_msg(strstr(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"gradcheck\" tests=\"1\" "
                               "failures=\"1\" errors=\"0\" time=\"") == text,
                  "%s", text);
    ck_assert_msg(strstr(text, "<testcase classname=\"gradcheck.yours\" name=\"a &lt;b&gt; &amp; ? &quot;c&quot; "
                               "\u00e4\" time=\"") != NULL,
                  "%s", text);
    ck_assert_msg(strstr(text, "<failure type=\"FAILED\" message=\"a &lt;b&gt; &amp; ?") != NULL, "%s", text);
    for (const char *at = text; *at; at++)
        ck_assert((unsigned char)*at >= ' ' || *at == '\n');
    ck_assert_int_eq(run("two", options, text, sizeof text), 1);
    ck_assert_int_eq(run("sizes", options, text, sizeof text), 1);
    file = fopen(temporary_path("check.xml"), "r");
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    ck_assert_msg(strstr(text, "failures=\"0\" errors=\"1\"") &&
                      strstr(text, "    <error type=\"FAILED\" message=\"") &&
                      strstr(text, "</error>\n  </testcase>\n</testsuite>\n"),
                  "%s", text);
}
END_TEST

Suite *gradcheck_command_suite(void)
{
    Suite *suite = suite_create("gradcheck_command");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 120);
    tcase_add_unchecked_fixture(all, compile, temporary_folder_remove);
    tcase_add_loop_test(all, each_program_is_checked_or_refused_in_a_sentence_and_leaves_nothing_behind, 0,
                        sizeof modes / sizeof modes[0]);
    tcase_add_test(all, a_command_that_is_not_there_is_refused);
    tcase_add_test(all, interrupted_it_ends_the_program_too);
    tcase_add_test(all, junit_has_each_result_and_no_character_that_xml_does_not_have);
    TCase *python = tcase_create("python");
    tcase_set_timeout(python, 900);
    tcase_add_checked_fixture(python, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(python, the_python_example_of_the_guide_runs_as_printed);
    tcase_add_test(python, a_mistake_in_python_is_answered_by_a_sentence);
    tcase_add_test(python, the_known_faults_are_caught_over_the_pipe);
    suite_add_tcase(suite, python);
    suite_add_tcase(suite, all);
    return suite;
}
