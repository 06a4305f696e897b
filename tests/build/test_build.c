/* The Makefile builds all targets and names missing dependencies; includes run downward. Scripts in this folder do the
 * checks. */
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *arrows_suite(void);
Suite *build_suite(void);

static bool succeeds(const char *command)
{
    return system(command) == 0;
}

static const char *build(void)
{
    return getenv("TG_BUILD") ? getenv("TG_BUILD") : "build";
}

START_TEST(a_change_rebuilds_what_depends_on_it)
{
    char command[600];
    snprintf(command, sizeof command, "tests/rebuild.sh '%s'", build());
    ck_assert(succeeds(command));
}
END_TEST

/* Variables that the Makefile exports to the tests. */
START_TEST(tests_know_the_build_and_have_time)
{
    char command[600];
    snprintf(command, sizeof command, "[ -x %s/bin/tests ] && $TG_CC --version >/dev/null", build());
    ck_assert(getenv("TG_BUILD") && getenv("CK_DEFAULT_TIMEOUT"));
    ck_assert_int_ge(atoi(getenv("CK_DEFAULT_TIMEOUT")), 100);
    ck_assert(succeeds(command));
}
END_TEST

START_TEST(tests_that_are_run_by_hand_know_it_too)
{
    char command[600];
    snprintf(command, sizeof command,
             "env -i PATH=\"$PATH\" CK_RUN_CASE=environment %s/bin/tests build | grep -q '^100%%: Checks: 1,'",
             build());
    ck_assert(succeeds(command));
}
END_TEST

START_TEST(the_library_asks_for_a_compiler_alone_and_installing_it_never_calls_a_package_manager)
{
    ck_assert(succeeds("tests/dependencies.sh"));
}
END_TEST

/* Two files of the library are enough for this test, and do not take minutes. Objects of clang are for another linker.
 */
START_TEST(objects_for_link_time_optimisation_make_a_library_that_links)
{
    static const char program[] = "#include \"autograd/rng.h\"\n"
                                  "int main(void) { tg_rng r = tg_rng_seed(3); return tg_rng_normal(&r) > 1e9; }\n";
    char command[1600];
    temporary_write("program.c", program, sizeof program - 1);
    snprintf(
        command, sizeof command,
        "${TG_CC:-cc} --version | grep -q clang && exit; "
        "build=$(mktemp -d '%s/lto-XXXXXX'); " /* not in TMPDIR: make accepts no blank in BUILD */
        "TMPDIR=$build MAKEFLAGS='' SANITIZE= AMALGAMATION=0 make lib DEPENDENCIES=skip BUILD=$build KERNEL_OBJECTS= "
        "CFLAGS='-O2 -flto=2' "
        "LIBRARY_SOURCES='autograd/base/rng.c autograd/base/api.c' >/dev/null && "
        "${TG_CC:-cc} -I. '%s' $build/libtapegrad.a -lm -o '%s' && '%s'; status=$?; rm -r $build; exit $status",
        build(), temporary_path("program.c"), temporary_path("program"), temporary_path("program"));
    ck_assert(succeeds(command));
}
END_TEST

/* No test runs these, for they take hours: make expands all their commands, those of make fuzz among them, and starts
 * none. */
START_TEST(make_can_expand_the_commands_that_tests_never_run)
{
    ck_assert(
        succeeds("MAKEFLAGS='' SANITIZE= make -n check-long bench golden fingerprints DEPENDENCIES=skip >/dev/null"));
}
END_TEST

START_TEST(includes_and_calls_run_downward_only)
{
    char command[600];
    snprintf(command, sizeof command, "tests/arrows.sh \"%s\"", build());
    ck_assert(succeeds(command));
}
END_TEST

START_TEST(the_files_to_read_have_as_many_lines_as_the_tour_says)
{
    ck_assert(succeeds("tests/reading.sh >/dev/null"));
}
END_TEST

/* Appends a line to a file in a copy of the tree. The script must report that line; the unchanged copy must pass. */
static void expect_problem(const char *file, const char *line, const char *problem)
{
    char command[1200];
    snprintf(command, sizeof command,
             "work='%s'; rm -rf \"$work\"/*; mkdir \"$work/docs\"; cp docs/design.md \"$work/docs\"; "
             "cp -r autograd nn optim examples plots \"$work\"; "
             "script=\"$PWD/tests/arrows.sh\"; "
             "cd \"$work\"; \"$script\" && echo '%s' >> %s && ! \"$script\" 2> problems && grep -q '%s' problems",
             temporary_folder(), line, file, problem);
    ck_assert_msg(succeeds(command), "%s in %s is no problem", line, file);
}

START_TEST(an_include_that_runs_up_is_found)
{
    expect_problem("autograd/tape.h", "#include \"autograd/grad.h\"",
                   "autograd/tape.h: includes autograd/grad.h, on whose room its own does not stand");
    expect_problem("autograd/base/rng.c", "#include \"autograd/ops/axes.h\"",
                   "autograd/base/rng.c: .*axes.h, on whose room its own does not stand");
    expect_problem("optim/schedule.h", "#include \"nn/layers/linear.h\"",
                   "optim/schedule.h: includes nn/layers/linear.h, on whose room its own does not stand");
    expect_problem("nn/init.h", "#include \"optim/optimizer.h\"",
                   "nn/init.h: includes optim/optimizer.h, on whose room its own does not stand");
    expect_problem("nn/models/mlp.h", "#include \"nn/layers/attention.h\"",
                   "nn/models/mlp.h: includes nn/layers/attention.h, on whose room its own does not stand");
}
END_TEST

START_TEST(an_old_name_warns_with_the_new_one)
{
    char command[1000];
    snprintf(command, sizeof command,
             "echo '#include <tapegrad.h>\nint main(void) { return !tg_model_activation(0, 0, 0); }' | "
             "${TG_CC:-cc} -std=c11 -Wall -Wextra -I. -I'%s/include' -fsyntax-only -x c - 2>&1 | "
             "grep -c 'warning.*tg_model_activation.*use tg_weights_activation'",
             build());
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* Two objects replace the core's: here the random number generator calls the tape. */
START_TEST(a_call_that_runs_up_is_found)
{
    char command[1200];
    snprintf(command, sizeof command,
             "work='%s'; mkdir -p \"$work/obj/autograd/base\" \"$work/obj/autograd/tape\"; compile() { ${TG_CC:-cc} -c "
             "-x c - -o "
             "\"$work/obj/autograd/$1.o\"; }; "
             "echo 'void tg_tape_free(void); void tg_rng_seed(void) { tg_tape_free(); }' | compile base/rng; "
             "echo 'void tg_tape_free(void) {}' | compile tape/tape; "
             "! tests/arrows.sh \"$work\" 2> \"$work/problems\" && "
             "grep -q 'autograd/base/rng.c: calls tg_tape_free of autograd/tape/tape.c' \"$work/problems\"",
             temporary_folder());
    ck_assert(succeeds(command));
}
END_TEST

START_TEST(a_look_behind_the_public_headers_is_found)
{
    expect_problem("examples/programs/compare.c", "#include \"autograd/kernels/kernels.h\"",
                   "examples/programs/compare.c: .*not public");
    expect_problem("nn/layers/linear.c", "#include \"autograd/tape/tape_internal.h\"",
                   "nn/layers/linear.c: .*not public");
    expect_problem("examples/programs/run/run.c", "#include <cblas.h>",
                   "examples/programs/run/run.c: includes <cblas.h>");
    expect_problem("autograd/reverse/grad.c", "#include <tapegrad.h>",
                   "autograd/reverse/grad.c: includes <tapegrad.h>");
}
END_TEST

START_TEST(only_one_file_of_the_library_knows_the_operating_system)
{
    expect_problem("nn/files/file.c", "#if defined _WIN32", "nn/files/file.c: knows the operating system");
    expect_problem("optim/optimizer.c", "#include <unistd.h>", "optim/optimizer.c: knows the operating system");
    expect_problem("autograd/base/arena.c", "void *a(void) { return aligned_alloc(64, 64); }",
                   "autograd/base/arena.c: knows the operating system");
}
END_TEST

/* platform.c includes headers under conditions that other files include too. */
START_TEST(the_one_file_keeps_every_include_under_a_condition)
{
    char command[800];
    snprintf(command, sizeof command,
             "sed -n '/---- autograd.base.platform.c/,/---- autograd.base.rng.c/p' '%s/amalgamation/tapegrad.c' > "
             "'%s/platform'; sed -n '/^#if/,$ { s/#include <\\(.*\\)>/\\1/p }' autograd/base/platform.c | "
             "while read -r header; do grep -q \"#include <$header>\" '%s/platform' || exit 1; done",
             build(), temporary_folder(), temporary_folder());
    ck_assert(succeeds(command));
}
END_TEST

START_TEST(a_circle_of_includes_is_found)
{
    expect_problem("examples/programs/run/progress.h", "#include \"examples/programs/run/jobs.h\"",
                   "circle: examples/programs/run/jobs includes");
}
END_TEST

START_TEST(a_file_without_a_room_is_found)
{
    expect_problem("autograd/new.c", "", "autograd/new.c: is in no room");
    expect_problem("nn/models/mlp.c", "#include \"linear.h\"", "nn/models/mlp.c: .*no file");
}
END_TEST

/* The quick ones, for each `make check`. */
Suite *arrows_suite(void)
{
    Suite *suite = suite_create("arrows");
    TCase *tests = tcase_create("arrows");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, includes_and_calls_run_downward_only);
    tcase_add_test(tests, the_files_to_read_have_as_many_lines_as_the_tour_says);
    suite_add_tcase(suite, tests);
    return suite;
}

Suite *build_suite(void)
{
    Suite *suite = suite_create("build");
    TCase *tests = tcase_create("build");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, a_change_rebuilds_what_depends_on_it);
    tcase_add_test(tests, the_library_asks_for_a_compiler_alone_and_installing_it_never_calls_a_package_manager);
    tcase_add_test(tests, objects_for_link_time_optimisation_make_a_library_that_links);
    tcase_add_test(tests, make_can_expand_the_commands_that_tests_never_run);
    tcase_add_test(tests, an_include_that_runs_up_is_found);
    tcase_add_test(tests, an_old_name_warns_with_the_new_one);
    tcase_add_test(tests, a_call_that_runs_up_is_found);
    tcase_add_test(tests, a_look_behind_the_public_headers_is_found);
    tcase_add_test(tests, only_one_file_of_the_library_knows_the_operating_system);
    tcase_add_test(tests, the_one_file_keeps_every_include_under_a_condition);
    tcase_add_test(tests, a_circle_of_includes_is_found);
    tcase_add_test(tests, a_file_without_a_room_is_found);
    tcase_add_test(tests, tests_that_are_run_by_hand_know_it_too);
    suite_add_tcase(suite, tests);
    TCase *environment = tcase_create("environment");
    tcase_add_test(environment, tests_know_the_build_and_have_time);
    suite_add_tcase(suite, environment);
    return suite;
}
