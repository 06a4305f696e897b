/* What `make install` leaves behind is enough for a C and a C++ program outside the tree. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *install_suite(void);

static char folder[300];

static void run(const char *format, const char *argument)
{
    char command[2000];
    snprintf(command, sizeof command, format, argument);
    ck_assert_msg(system(command) == 0, "failed: %s", command);
}

static void write_file(const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

/* The body compiles as C and as C++: d(x^2)/dx at 3. */
static const char program[] =
    "#include <tapegrad.h>\n"
    "#include <stdio.h>\n"
    "int main(void)\n"
    "{\n"
    "    tg_tape *tape = tg_tape_new();\n"
    "    double three[1] = {3};\n"
    "    tg_tensor x = tg_variable(tape, TG_F64, three, TG_SHAPE(1));\n"
    "    bool fine = tg_backward(tg_sum(tg_mul(x, x))) && tg_item(tg_gradient(x)) == 6;\n"
    "    printf(\"%s\\n\", fine ? \"six\" : tg_tape_error(tape));\n"
    "    tg_tape_free(tape);\n"
    "    return fine ? 0 : 1;\n"
    "}\n";

START_TEST(the_libraries_export_what_the_public_headers_declare_and_nothing_else)
{
    run("tests/symbols.sh \"%s\"", getenv("TG_BUILD") ? getenv("TG_BUILD") : "build");
}
END_TEST

/* Sizes and axes of every integer type, as C takes them; and the version that the headers and the library agree on. */
static const char strict_program[] =
    "#include <tapegrad.h>\n"
    "#include <cstring>\n"
    "#include <vector>\n"
    "enum { ROWS = 2 };\n"
    "int main()\n"
    "{\n"
    "    std::vector<double> numbers(6, 1.5);\n"
    "    const size_t columns = numbers.size() / ROWS;\n"
    "    const int64_t last = -1;\n"
    "    tg_tape *tape = tg_tape_new();\n"
    "    tg_tensor x = tg_constant(tape, TG_F64, numbers.data(), TG_SHAPE(ROWS, columns));\n"
    "    tg_tensor rows = tg_sum_over(x, TG_AXES(last), false), all = tg_sum_over(x, TG_AXES(0u, 1), false);\n"
    "    tg_tensor rest = tg_sum_over(tg_add(x, TG_NONE), TG_ALL_AXES, false);\n"
    "    bool fine = tg_rank(rows) == 1 && tg_item(all) == 9 && tg_shape_of(all).rank == TG_SCALAR.rank && !tg_ok(rest) &&\n"
    "                TG_SHAPE().rank == 0 && TG_SHAPE(columns).dim[0] == 3 &&\n"
    "                std::strcmp(tg_version(), TG_VERSION) == 0 && TG_VERSION[0] == '0' + TG_VERSION_MAJOR &&\n"
    "                TG_VERSION[2] == '0' + TG_VERSION_MINOR && TG_VERSION[4] == '0' + TG_VERSION_PATCH;\n"
    "    tg_tape_free(tape);\n"
    "    return fine ? 0 : 1;\n"
    "}\n";

START_TEST(a_program_outside_the_tree_builds_and_runs_in_c_and_cplusplus_shared_and_static)
{
    if (getenv("ASAN_OPTIONS") && strstr(getenv("TG_BUILD") ? getenv("TG_BUILD") : "", "sanitize")) {
        printf("skipped: the sanitizer's library does not link into a program without it\n");
        return;
    }
    snprintf(folder, sizeof folder, "%s/install-XXXXXX", getenv("TG_BUILD") ? getenv("TG_BUILD") : "build");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    write_file("program.c", program);
    write_file("program.cc", program);
    run("MAKEFLAGS= make install DEPENDENCIES=skip BUILD=\"${TG_BUILD:-build}\" CC=\"${TG_CC:-cc}\" PREFIX=\"$(realpath %s)/prefix\" > /dev/null", folder);
    run("cd %s && cc -std=c11 -Wall -Wextra -Wpedantic -Werror program.c -o shared "
        "$(PKG_CONFIG_PATH=prefix/lib/pkgconfig pkg-config --cflags --libs tapegrad) && LD_LIBRARY_PATH=prefix/lib ./shared | grep -q six",
        folder);
    run("cd %s && cc -std=c11 program.c -o static $(PKG_CONFIG_PATH=prefix/lib/pkgconfig pkg-config --cflags tapegrad) "
        "prefix/lib/libtapegrad.a $(PKG_CONFIG_PATH=prefix/lib/pkgconfig pkg-config --static --libs-only-l tapegrad | "
        "sed s/-ltapegrad//) $(pkg-config --libs-only-L openblas) && ./static | grep -q six", folder);
    run("cd %s && c++ -std=c++11 -Wall -Wextra -Werror program.cc -o cplusplus "
        "$(PKG_CONFIG_PATH=prefix/lib/pkgconfig pkg-config --cflags --libs tapegrad) && LD_LIBRARY_PATH=prefix/lib ./cplusplus | grep -q six",
        folder);
    write_file("strict.cc", strict_program);
    run("cd %s && c++ -std=c++11 -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Werror strict.cc -o strict "
        "$(PKG_CONFIG_PATH=prefix/lib/pkgconfig pkg-config --cflags --libs tapegrad) && LD_LIBRARY_PATH=prefix/lib ./strict",
        folder);
    run("rm -r %s", folder);
}
END_TEST

Suite *install_suite(void)
{
    Suite *suite = suite_create("install");
    TCase *tests = tcase_create("install");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, the_libraries_export_what_the_public_headers_declare_and_nothing_else);
    tcase_add_test(tests, a_program_outside_the_tree_builds_and_runs_in_c_and_cplusplus_shared_and_static);
    suite_add_tcase(suite, tests);
    return suite;
}
