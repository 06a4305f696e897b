/* Messages of the programs about the columns of a CSV file. */
#include "examples/programs/data/number.h"
#include "examples/programs/report/columns.h"
#include "tests/support/csv_tables.h"
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *data_columns_suite(void);

static void expect_column(const dataset *set, size_t i, const char *kind, size_t entries, double low, double high,
                          const char *example, size_t missing)
{
    const dataset_column *column = &set->column[i];
    ck_assert_str_eq(column->kind, kind);
    ck_assert_uint_eq(column->entries, entries);
    ck_assert(isnan(low) ? isnan(column->low) : column->low == low);
    ck_assert(isnan(high) ? isnan(column->high) : column->high == high);
    ck_assert_str_eq(column->example, example);
    ck_assert_uint_eq(column->missing, missing);
    ck_assert_ptr_null(column->doubt);
}

START_TEST(columns_are_described)
{
    dataset set =
        loaded(csv_flowers, (dataset_options){.ignore = "id", .target = "kind", .missing = DATASET_MISSING_MEAN});
    ck_assert_uint_eq(set.columns, 5);
    ck_assert_str_eq(set.column[3].name, "petals");
    expect_column(&set, 0, "ignored", 0, NAN, NAN, "a1", 0);
    expect_column(&set, 1, "categorical", 2, NAN, NAN, "red", 1);
    expect_column(&set, 2, "number", 0, 1, 5, "1", 1);
    expect_column(&set, 3, "number", 0, 5, 6, "5", 1);
    expect_column(&set, 4, "class", 2, NAN, NAN, "rose", 1);
    dataset_free(&set);
    set = loaded("1,2.5\n3,-7.25\n4,0\n", (dataset_options){0});
    ck_assert_ptr_null(set.column[0].name);
    expect_column(&set, 0, "number", 0, 1, 4, "1", 0);
    expect_column(&set, 1, "target", 0, -7.25, 2.5, "2.5", 0);
    dataset_free(&set);
}
END_TEST

/* The warning about the first of two columns, whose cells come from `cell` for rows 0 to 39. */
static const char *doubt_about(const char *name, const char *(*cell)(int row, char text[40]))
{
    static char text[4000], one[40];
    int used = snprintf(text, sizeof text, "%s,t\n", name);
    for (int row = 0; row < 40; row++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s,%d.5\n", cell(row, one), row * row);
    dataset set = loaded(text, (dataset_options){0});
    const char *doubt = set.column[0].doubt;
    ck_assert_ptr_null(set.column[1].doubt);
    dataset_free(&set);
    return doubt;
}

#define CELLS(name, ...)                            \
    static const char *name(int row, char text[40]) \
    {                                               \
        snprintf(text, 40, __VA_ARGS__);            \
        return text;                                \
    }
CELLS(iso_dates, "2024-%02d-%02d", 1 + row % 12, 1 + row % 28)
CELLS(german_dates, "%d.%d.24", 1 + row % 31, 1 + row % 12)
CELLS(american_dates, "%d/%d/2024", 1 + row % 12, 1 + row % 31)
CELLS(times, "2024-05-%02dT12:%02d:00", 1 + row % 30, row)
CELLS(compact_dates, "2024%02d%02d", 1 + row % 12, 1 + row % 28)
CELLS(mostly_dates, "%s", row == 39 ? "unknown" : "2024-05-31")
CELLS(versions, "40.%d.2024", 1 + row % 3)
CELLS(shuffled, "%d", 100 + row * 7 % 40)
CELLS(repeated, "%d", row == 20 ? 19 : row)
CELLS(far_numbers, "%d", 1000 + row * row * 37 % 5003)
CELLS(codes, "%d", row % 3)
CELLS(halves, "%d.5", row)
CELLS(letters, "customer %d", row)
CELLS(colours, "%s", row % 2 ? "red" : "blue")

START_TEST(numbers_for_people_have_six_digits_and_whole_ones_all)
{
    static const struct {
        double number;
        const char *shown;
    } cases[] = {{0.0001744116569522003, "0.000174412"}, {-2.5, "-2.5"}, {1234567891, "1234567891"}, {0.99999999, "1"},
                 {1e-300 / 3, "3.33333e-301"},           {0, "0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(number_shown(cases[i].number, (char[NUMBER_TEXT]){0}), cases[i].shown);
}
END_TEST

START_TEST(dates_and_identifiers_are_doubted)
{
    static const char date[] = "looks like a date", id[] = "looks like an identifier", rows[] = "numbers the rows";
    const struct {
        const char *name, *(*cell)(int row, char text[40]), *doubt;
    } cases[] = {
        {"x", iso_dates, date},      {"x", german_dates, date},   {"x", american_dates, date},
        {"x", times, date},          {"x", compact_dates, date},  {"x", mostly_dates, NULL},
        {"x", versions, NULL},       {"x", shuffled, rows},       {"x", repeated, NULL},
        {"x", far_numbers, NULL},    {"id", far_numbers, id},     {"user_ID", far_numbers, id},
        {"userId", far_numbers, id}, {"grid", far_numbers, NULL}, {"id", codes, NULL},
        {"id", halves, NULL},        {"x", letters, id},          {"x", colours, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *doubt = doubt_about(cases[i].name, cases[i].cell);
        ck_assert_msg(doubt == cases[i].doubt || (doubt && cases[i].doubt && strcmp(doubt, cases[i].doubt) == 0),
                      "case %zu: %s", i, doubt ? doubt : "no doubt");
    }
}
END_TEST

/* ---- as a user sees it ---- */

static void write_sales(void)
{
    FILE *file = fopen(temporary_path("sales.csv"), "w");
    ck_assert_ptr_nonnull(file);
    fputs("day,temperature,shop,sold\n", file);
    for (int row = 0; row < 60; row++)
        fprintf(file, "2024-%02d-%02d,%d.5,%s,%d\n", 1 + row / 28, 1 + row % 28, row % 9, row % 3 ? "north" : "south",
                row * 31 % 57);
    fclose(file);
}

START_TEST(train_and_compare_show_what_was_read)
{
    static const char *const lines[] = {
        "\ncolumn ",    "\nday ",     "categorical",
        "60 different", "2024-01-01", "\ntemperature ",
        "0.5 to 8.5",   "\nshop ",    "south",
        "\nsold ",      "0 to 56",    "Warning: column 'day' looks like a date; --ignore 'day' leaves it out."};
    write_sales();
    for (int program = 0; program < 2; program++) {
        expect_fine(program ? train_run("compare", "--data csv:sales.csv --activations relu --seeds 1 --epochs 1 "
                                                   "--no-plots --out c")
                            : train_run("train", "--data csv:sales.csv --epochs 1 --no-plots --out m"));
        const char *at = train_output;
        for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
            ck_assert_msg((at = strstr(at, lines[i])), "no '%s' in: %.3000s", lines[i], train_output);
            at += strlen(lines[i]) - 1;
        }
    }
}
END_TEST

START_TEST(wide_files_are_cut_and_names_are_plain)
{
    static char text[20000], seen[20000];
    int used = 0;
    for (int i = 0; i < 100; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "\x1b[31mc%d,", i);
    used += snprintf(text + used, sizeof text - (size_t)used, "t\n");
    for (int row = 0; row < 2; row++) {
        for (int i = 0; i < 100; i++)
            used += snprintf(text + used, sizeof text - (size_t)used, "%d,", 20240101 + row);
        used += snprintf(text + used, sizeof text - (size_t)used, "%d.5\n", row);
    }
    dataset set = loaded(text, (dataset_options){0});
    FILE *out = fmemopen(seen, sizeof seen, "w");
    columns_print(&set, out);
    fclose(out);
    dataset_free(&set);
    ck_assert_ptr_null(strchr(seen, '\x1b'));
    ck_assert_ptr_nonnull(strstr(seen, "?[31mc23 "));
    ck_assert_ptr_null(strstr(seen, "?[31mc24 "));
    ck_assert_ptr_nonnull(strstr(seen, "77 more columns are not shown."));
    ck_assert_ptr_nonnull(strstr(seen, "92 more columns look like dates or identifiers."));
}
END_TEST

START_TEST(the_ends_of_a_range_differ)
{
    static char seen[2000];
    dataset set = loaded("a,t\n1000000000.25,1.5\n1000000000.75,2.5\n", (dataset_options){0});
    FILE *out = fmemopen(seen, sizeof seen, "w");
    columns_print(&set, out);
    fclose(out);
    dataset_free(&set);
    ck_assert_msg(strstr(seen, "1000000000.25 to 1000000000.75"), "%s", seen);
}
END_TEST

START_TEST(tables_come_from_standard_input)
{
    write_sales();
    expect_fine(train_run("train", "--data csv:- --ignore day --epochs 2 --no-plots --out m < sales.csv"));
    expect_fine(train_run("predict", "--model m/best.safetensors --data csv:- < sales.csv > piped"));
    expect_fine(train_run("predict", "--model m/best.safetensors --data csv:sales.csv > read"));
    char *piped = strdup(temporary_text("piped"));
    ck_assert_str_eq(piped, temporary_text("read"));
    free(piped);
    expect_refused(train_run("train", "--data csv:- --out m < /dev/null"), "standard input: the file is empty");
    temporary_write("broken.csv", "a,b\n1,2\n3\n", 10);
    expect_refused(train_run("train", "--data csv:- --out m < broken.csv"), "standard input:3: 1 field, expected 2");
}
END_TEST

Suite *data_columns_suite(void)
{
    Suite *suite = suite_create("data_columns");
    TCase *tests = tcase_create("columns");
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, columns_are_described);
    tcase_add_test(tests, numbers_for_people_have_six_digits_and_whole_ones_all);
    tcase_add_test(tests, dates_and_identifiers_are_doubted);
    tcase_add_test(tests, the_ends_of_a_range_differ);
    tcase_add_test(tests, wide_files_are_cut_and_names_are_plain);
    suite_add_tcase(suite, tests);
    TCase *programs = tcase_create("programs");
    tcase_add_checked_fixture(programs, train_folder_make, temporary_folder_remove);
    tcase_set_timeout(programs, 300);
    tcase_add_test(programs, train_and_compare_show_what_was_read);
    tcase_add_test(programs, tables_come_from_standard_input);
    suite_add_tcase(suite, programs);
    return suite;
}
