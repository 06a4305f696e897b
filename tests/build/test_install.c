/* The files that `make install` installs are enough for C and C++ programs outside the tree: tests/install.sh writes
 * and runs some. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *install_suite(void);

static char folder[sizeof P_tmpdir + 40];

static const char *build(void)
{
    return getenv("TG_BUILD") ? getenv("TG_BUILD") : "build";
}

static void run(const char *what)
{
    char command[100];
    snprintf(command, sizeof command, "tests/install.sh %s %s", what, folder);
    ck_assert_msg(system(command) == 0, "failed: %s", command);
}

static void install_into_a_folder(void)
{
    snprintf(folder, sizeof folder, "%s/tapegrad-install-XXXXXX",
             P_tmpdir); /* a path without blanks, as $(pkg-config) splits words */
    ck_assert_ptr_nonnull(mkdtemp(folder));
    run("install");
}

static void remove_the_folder(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(headers_are_found_by_both_names_and_nothing_else_of_ours_is_on_the_include_path)
{
    run("headers");
}
END_TEST

START_TEST(an_install_for_a_package_does_not_know_its_staging_folder)
{
    run("staged");
}
END_TEST

START_TEST(blanks_in_paths_and_moved_programs_do_no_harm)
{
    run("blanks");
}
END_TEST

START_TEST(the_library_as_one_file_compiles_by_one_command_and_gives_the_same_bytes)
{
    run("amalgamation");
}
END_TEST

START_TEST(the_part_for_mlps_is_smaller_and_gives_the_same_bytes)
{
    run("parts");
}
END_TEST

START_TEST(the_static_library_serves_a_program)
{
    run("static");
}
END_TEST

START_TEST(cplusplus_takes_sizes_and_axes_of_every_integer_type_without_a_warning)
{
    run("cplusplus");
}
END_TEST

START_TEST(a_program_may_close_the_shared_library_after_threads_have_worked)
{
    run("unload");
}
END_TEST

START_TEST(the_recipe_of_the_readme_works_as_printed_on_its_program)
{
    run("recipe");
}
END_TEST

START_TEST(the_programs_of_the_guides_print_what_they_say)
{
    run("guide");
}
END_TEST

START_TEST(the_libraries_export_what_the_public_headers_declare_and_the_reference_has_all_of_it)
{
    char command[5000];
    snprintf(command, sizeof command, "tests/symbols.sh '%s'", build());
    ck_assert_int_eq(system(command), 0);
}
END_TEST

Suite *install_suite(void)
{
    Suite *suite = suite_create("install");
    TCase *symbols = tcase_create("symbols");
    tcase_add_test(symbols, the_libraries_export_what_the_public_headers_declare_and_the_reference_has_all_of_it);
    suite_add_tcase(suite, symbols);

    if (strstr(build(), "sanitize")) /* the sanitizers' libraries do not link into programs without them */
        return suite;
    TCase *programs = tcase_create("programs");
    tcase_set_timeout(programs, 1200);
    tcase_add_unchecked_fixture(programs, install_into_a_folder, remove_the_folder);
    tcase_add_test(programs, headers_are_found_by_both_names_and_nothing_else_of_ours_is_on_the_include_path);
    tcase_add_test(programs, an_install_for_a_package_does_not_know_its_staging_folder);
    tcase_add_test(programs, blanks_in_paths_and_moved_programs_do_no_harm);
    tcase_add_test(programs, the_library_as_one_file_compiles_by_one_command_and_gives_the_same_bytes);
    tcase_add_test(programs, the_part_for_mlps_is_smaller_and_gives_the_same_bytes);
    tcase_add_test(programs, the_static_library_serves_a_program);
    tcase_add_test(programs, cplusplus_takes_sizes_and_axes_of_every_integer_type_without_a_warning);
    tcase_add_test(programs, a_program_may_close_the_shared_library_after_threads_have_worked);
    tcase_add_test(programs, the_recipe_of_the_readme_works_as_printed_on_its_program);
    tcase_add_test(programs, the_programs_of_the_guides_print_what_they_say);
    suite_add_tcase(suite, programs);
    return suite;
}
