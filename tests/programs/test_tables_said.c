/* What the programs say about tables helps: the advice about cells that cannot be read, rows that deceive, and gaps that
 * only predict meets. */
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *tables_said_suite(void);

/* Writes a table of two numbers, a word and a class, with a line of its own before row number `at`, if there is one. */
static void write_with(const char *name, int rows, int at, const char *line)
{
    FILE *file = fopen(temporary_path(name), "w");
    ck_assert_ptr_nonnull(file);
    fputs("a,b,colour,size\n", file);
    for (int i = 0; i <= rows; i++) {
        if (line && i == at)
            fprintf(file, "%s\n", line);
        if (i < rows)
            fprintf(file, "%d.5,%d,%s,%s\n", i % 7, i * 5 % 11, i % 3 ? "red" : "blue", i % 7 < 3 ? "small" : "large");
    }
    fclose(file);
}

/* ---- advice about cells ---- */

/* A line that cannot be read, and what the message says to do about it. */
static const struct advice {
    int at;
    const char *line, *said, *follow;
} advice[] = {
    {50, "#DIV/0!,2,red,small", "use --missing drop or --missing mean", "cp odd.csv new.csv"},
    {100, "Total,900,,", "leave the line out: sed 102d", "sed 102d odd.csv > new.csv"},
    {50, "a,b,colour,size", "awk 'NR == 1 { head = $0 } NR == 1 || $0 != head' leaves it out",
     "awk 'NR == 1 { head = $0 } NR == 1 || $0 != head' odd.csv > new.csv"},
    {50, "\u22123.5,2,red,small", "sed 's/\u2212/-/g'", "sed 's/\u2212/-/g' odd.csv > new.csv"},
    {50, "3.5.1,2,red,small", "leave the line out: sed 52d", "sed 52d odd.csv > new.csv"},
};

START_TEST(advice_about_cells_helps)
{
    const struct advice *a = &advice[_i];
    write_with("odd.csv", 100, a->at, a->line);
    expect_refused(train_run("train", "--data odd.csv --epochs 1 --hidden 4 --no-plots --out m"), a->said);
    ck_assert_msg(!strstr(train_output, "--categorical"), "%s", train_output);
    temporary_write("follow", a->follow, strlen(a->follow));
    ck_assert_int_eq(train_run("sh", "follow"), 0);
    expect_fine(train_run("train", "--data new.csv --epochs 1 --hidden 4 --no-plots --out m%s",
                          strstr(a->said, "--missing drop") ? " --missing drop" : ""));
}
END_TEST

Suite *tables_said_suite(void)
{
    Suite *suite = suite_create("tables_said");
    TCase *tests = tcase_create("said");
    tcase_add_checked_fixture(tests, train_folder_make, temporary_folder_remove);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, advice_about_cells_helps, 0, sizeof advice / sizeof *advice);
    suite_add_tcase(suite, tests);
    return suite;
}
