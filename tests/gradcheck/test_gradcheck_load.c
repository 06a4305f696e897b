/* `gradcheck --load`: operations of a user's shared library. */
#include "tests/support/temporary_files.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *gradcheck_load_suite(void);

/* Prepares the test's folder as a user's: programs under build/, a compiler that finds the headers, a package. */
static void settle(void)
{
    char tree[PATH_MAX], out[2 * PATH_MAX], package[500];
    const char *sanitize = getenv("SANITIZE") ? getenv("SANITIZE") : "";
    const int length = snprintf(package, sizeof package,
                                "Name: tapegrad\nDescription: -\nVersion: 0\nCflags: -Itree -Ibuild/include\n"
                                "Libs: build/libtapegrad.a -ldl -pthread %s%s\n",
                                *sanitize ? "-fsanitize=" : "", sanitize);
    const char *build = getenv("TG_BUILD") ? getenv("TG_BUILD") : "build";
    temporary_folder_make();
    ck_assert_ptr_nonnull(getcwd(tree, sizeof tree));
    snprintf(out, sizeof out, build[0] == '/' ? "%.0s%s" : "%s/%s", tree, build);
    ck_assert_int_eq(symlink(out, temporary_path("build")), 0);
    ck_assert_int_eq(symlink(tree, temporary_path("tree")), 0);
    temporary_write("tapegrad.pc", package, (size_t)length);
    setenv("PKG_CONFIG_PATH", temporary_folder(), 1);
}

/* Runs shell lines in the folder until one fails; returns the output of both streams, and the status. */
static int run(const char *lines, char *text, size_t size)
{
    char script[4000];
    const int length = snprintf(script, sizeof script, "set -e\ncc() { command ${TG_CC:-cc} \"$@\"; }\ncd '%s'\n%s\n",
                                temporary_folder(), lines);
    ck_assert_int_lt(length, (int)sizeof script);
    temporary_write("script", script, (size_t)length);
    char command[PATH_MAX + 40];
    snprintf(command, sizeof command, "sh '%s' 2>&1 </dev/null", temporary_path("script"));
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    text[fread(text, 1, size - 1, pipe)] = '\0';
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- the guide ---- */

/* The block in this language below a heading of docs/gradcheck.md. */
static char *block_of(const char *heading, const char *language)
{
    static char text[1 << 16];
    char fence[40];
    FILE *file = fopen("docs/gradcheck.md", "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    char *at = strstr(text, heading);
    ck_assert_ptr_nonnull(at);
    snprintf(fence, sizeof fence, "\n```%s\n", language);
    at = strstr(at, fence);
    ck_assert_ptr_nonnull(at);
    at += strlen(fence);
    char *end = strstr(at, "```\n");
    ck_assert_ptr_nonnull(end);
    *end = '\0';
    return at;
}

START_TEST(the_example_of_the_guide_runs_as_printed)
{
    char text[8000];
    const char *program = block_of("### Operations of your own", "c");
    temporary_write("my_ops.c", program, strlen(program));
    ck_assert_msg(run(block_of("### Operations of your own", "sh"), text, sizeof text) == 0, "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "\nmy_snake   passed "));
    ck_assert_ptr_nonnull(strstr(text, "\n1 passed, 0 failed\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nmy_snake        1  yours"));
}
END_TEST

START_TEST(the_black_box_of_the_guide_runs_as_printed)
{
    char text[8000];
    const char *heading = "## Functions of your own, in C", *program = block_of(heading, "c");
    temporary_write("my_function.c", program, strlen(program));
    ck_assert_msg(run(block_of(heading, "sh"), text, sizeof text) == 0, "%s", text);
    ck_assert_msg(strstr(text, " derivatives agree, the worst to ") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "\nenergy, x at [0], order 1: off by 1 of its size, where differences ") != NULL, "%s",
                  text);
    ck_assert_msg(strstr(text, "\n  seems       wrong by 3 of the input's 4 elements\n") != NULL, "%s", text);
}
END_TEST

/* ---- libraries of several kinds ---- */

static const char source[] =
    "#include <math.h>\n"
    "#include <tapegrad.h>\n"
    "static double f(double x) { return\n"
    "#ifdef HOPELESS\n"
    "    sin(1e8 * x); }\n" /* it oscillates too fast for steps of the usual size */
    "#else\n"
    "    x * x; }\n"
    "#endif\n"
    "static void loop(const tg_loop *l)\n"
    "{\n"
    "#ifdef CRASH\n"
    "    *(volatile int *)0 = 0;\n"
    "#endif\n"
    "    for (size_t i = 0; i < l->n; i++)\n"
    "        if (l->dtype == TG_F32) ((float *)l->out)[i] = (float)f(((const float *)l->in[0])[i]);\n"
    "        else ((double *)l->out)[i] = f(((const double *)l->in[0])[i]);\n"
    "}\n"
    "static void derivative(const tg_derive *d)\n"
    "{\n"
    "#ifdef HOPELESS\n"
    "    tg_tensor slope = tg_mul_scalar(tg_cos(tg_mul_scalar(d->in[0], 1e8)), 1e8);\n"
    "#else\n"
    "    tg_tensor slope = tg_mul_scalar(d->in[0], FACTOR);\n"
    "#endif\n"
    "    d->gradient[0] = tg_mul(d->cotangent, slope);\n"
    "}\n"
    "static const tg_sample samples[] = {{.input = {{.shape = {1, {5}}}}}};\n"
    "static const tg_op op = {.name = NAME, .arity = 1, .flags = TG_ELEMENTWISE, .loop = loop, .derivative = "
    "derivative,\n"
    "#ifndef WITHOUT_SAMPLES\n"
    "    TG_SAMPLES(samples)\n"
    "#endif\n"
    "};\n"
    "static const tg_op incomplete = {.name = \"incomplete\", .arity = 1, .flags = TG_ELEMENTWISE, .loop = loop, "
    "TG_SAMPLES(samples)};\n"
    "const tg_op *const used[] = {&op, &incomplete};\n"
    "#ifdef EXPORTS\n"
    "TG_USER_OPS(EXPORTS)\n"
    "#endif\n";

static const struct {
    const char *flags, *arguments;
    int status;
    const char *says;
} libraries[] = {
    {"-DEXPORTS='&op'", "", 0, "\nparabola   passed "},
    {"-DEXPORTS='&op'", "'para*' tanh", 0, "\n2 passed, 0 failed\n"},
    {"-DEXPORTS='&op'", "parabole", 2, "there is no operation or layer 'parabole': did you mean parabola?\n"},
    {"-DEXPORTS='&op'", "--plot parabola:1", 2, "--plot: parabola has no input 1"},
    {"-DEXPORTS='&op' -DFACTOR=2.5", "", 1, "\nparabola   FAILED "},
    {"-DEXPORTS='&op' -DFACTOR=2.5", "", 1, "\n  seems       all derivatives by this input are 1.25 times as large\n"},
    {"-DEXPORTS='&op' -DHOPELESS", "--order 1", 3, "\n0 passed, 0 failed, 1 cannot tell\n"},
    {"-DEXPORTS='&op' -DCRASH", "", 139, "gradcheck: the program crashed while it checked 'parabola'\n"},
    {"", "", 2,
     "gradcheck: --load: './ops.so': exports no operations: end one of its files with TG_USER_OPS(&my_op)\n"},
    {"-DEXPORTS=NULL", "", 2, "gradcheck: --load: './ops.so': there are no operations in TG_USER_OPS\n"},
    {"-DEXPORTS='&op,&incomplete'", "", 2, "'./ops.so': operation 1 'incomplete' lacks its derivative"},
    {"-DEXPORTS='&op,&op'", "", 2, "'./ops.so': operation 1 'parabola' has a name that another operation has\n"},
    {"-DEXPORTS='&op' -DNAME='\"tanh\"'", "", 2,
     "'./ops.so': operation 0 'tanh' has a name that another operation has\n"},
    {"-DEXPORTS='&op' -DNAME=0", "", 2, "'./ops.so': operation 0 lacks its name\n"},
    {"-DEXPORTS='&op' -DWITHOUT_SAMPLES", "", 2, "'./ops.so': operation 0 'parabola' lacks samples"},
};

START_TEST(a_library_is_checked_or_refused_with_the_reason)
{
    char lines[1000], text[8000];
    const char *flags = libraries[_i].flags;
    temporary_write("ops.c", source, sizeof source - 1);
    snprintf(lines, sizeof lines,
             "cc -shared -fPIC %s %s %s ops.c -o ops.so $(pkg-config --cflags tapegrad)\nbuild/bin/gradcheck --load "
             "./ops.so %s",
             flags, strstr(flags, "FACTOR") ? "" : "-DFACTOR=2", strstr(flags, "NAME=") ? "" : "-DNAME='\"parabola\"'",
             libraries[_i].arguments);
    const int status = run(lines, text, sizeof text);
    ck_assert_msg(status == libraries[_i].status, "%d: %s", status, text);
    ck_assert_msg(strstr(text, libraries[_i].says) != NULL, "%s: %s", libraries[_i].flags, text);
}
END_TEST

START_TEST(a_library_of_another_version_is_refused)
{
    static const char old[] = "#include <tapegrad.h>\n"
                              "#undef TG_VERSION\n"
                              "#define TG_VERSION \"0.0.9\"\n"
                              "TG_USER_OPS(&tg_op_tanh)\n";
    static const char smaller[] = "#include <tapegrad.h>\n"
                                  "static const tg_op *const none[] = {0};\n"
                                  "extern const tg_user_ops tg_user_ops_exported;\n"
                                  "const tg_user_ops tg_user_ops_exported = {TG_VERSION, sizeof(tg_op) - 8, none};\n";
    char text[4000];
    const char *lines =
        "cc -shared -fPIC old.c -o old.so $(pkg-config --cflags tapegrad)\nbuild/bin/gradcheck --load ./old.so";
    temporary_write("old.c", old, sizeof old - 1);
    ck_assert_int_eq(run(lines, text, sizeof text), 2);
    ck_assert_msg(strstr(text, "'./old.so': was compiled with the headers of tapegrad 0.0.9, and this is ") != NULL,
                  "%s", text);
    temporary_write("old.c", smaller, sizeof smaller - 1);
    ck_assert_int_eq(run(lines, text, sizeof text), 2);
    ck_assert_msg(strstr(text, "where an operation has another size: compile it again") != NULL, "%s", text);
}
END_TEST

START_TEST(what_is_no_library_is_told)
{
    char text[4000];
    ck_assert_int_eq(run("build/bin/gradcheck --load ./nowhere.so", text, sizeof text), 2);
    ck_assert_ptr_nonnull(
        strstr(text, "gradcheck: --load: ./nowhere.so: cannot open shared object file: No such file"));
    temporary_write("text.so", "text", 4);
    ck_assert_int_eq(run("build/bin/gradcheck --load ./text.so", text, sizeof text), 2);
    ck_assert_ptr_nonnull(strstr(text, "gradcheck: --load: ./text.so: file too short"));
    ck_assert_int_eq(run("build/bin/gradcheck --load text.so", text, sizeof text), 2);
    ck_assert_ptr_nonnull(
        strstr(text, "gradcheck: --load: 'text.so': write './text.so' for the file in this folder\n"));
}
END_TEST

Suite *gradcheck_load_suite(void)
{
    Suite *suite = suite_create("gradcheck_load");
    TCase *tests = tcase_create("gradcheck_load");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, settle, temporary_folder_remove);
    tcase_add_test(tests, the_example_of_the_guide_runs_as_printed);
    tcase_add_test(tests, the_black_box_of_the_guide_runs_as_printed);
    tcase_add_loop_test(tests, a_library_is_checked_or_refused_with_the_reason, 0,
                        (int)(sizeof libraries / sizeof libraries[0]));
    tcase_add_test(tests, a_library_of_another_version_is_refused);
    tcase_add_test(tests, what_is_no_library_is_told);
    suite_add_tcase(suite, tests);
    return suite;
}
