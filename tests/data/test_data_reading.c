/* Tables as programs and people write them: headers of years, gaps in the first row, padded columns, zip codes. */
#include "tests/support/csv_tables.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

Suite *data_reading_suite(void);

static char text[20000];

/* Lines of a region, two numbers and a direction. */
static const char *regions(const char *head, int rows)
{
    static const char *const words[] = {"north", "south", "east"};
    size_t used = (size_t)sprintf(text, "%s", head);
    for (int i = 0; i < rows; i++)
        used += (size_t)sprintf(text + used, "%s,%.1f,%.2f,%s\n", words[i % 3], (i * 37 % 101) * 0.5,
                                (i * 53 % 97) * 0.25, i % 2 ? "up" : "down");
    return text;
}

START_TEST(a_header_may_have_numbers)
{
    static const char *const heads[] = {"region,2019,2020,label\n", "region,2018.,2019,direction\n",
                                        "area,1000,2000,way\n", "area,-1,-2,way\n"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        dataset set = loaded(regions(heads[i], 60), (dataset_options){0});
        ck_assert_msg(set.header && set.rows == 60 && set.classes == 2 && set.features == 5, "%s", heads[i]);
        dataset_free(&set);
    }
}
END_TEST

START_TEST(a_first_row_that_looks_like_the_others_is_data)
{
    /* a word that is found again; numbers inside the range below; years above years; too few rows to see */
    static const char *const heads[] = {"north,2019,2020,up\n", "west,5,6,level\n", "west,2019,6,up\n"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        dataset set = loaded(regions(heads[i], 60), (dataset_options){0});
        ck_assert_msg(!set.header && set.rows == 61, "%s", heads[i]);
        dataset_free(&set);
    }
    dataset set =
        loaded("Smith,2018,2019,a\nJones,2017,2020,b\nBrown,2019,2021,a\nGreen,2011,2012,b\nGray,2015,2016,a\n"
               "Reid,2014,2019,b\nBell,2013,2018,a\nHunt,2012,2017,a\nDean,2011,2016,b\nCole,2010,2015,b\n"
               "Lane,2018,2020,b\nHill,2017,2019,a\nPage,2016,2020,b\nFord,2015,2020,a\n",
               (dataset_options){.ignore = "0"});
    ck_assert(!set.header);
    ck_assert_uint_eq(set.rows, 14);
    dataset_free(&set);
}
END_TEST

/* ---- gaps in the first row ---- */

START_TEST(a_mark_of_a_gap_in_the_first_row_is_no_word)
{
    static const char *const marks[] = {"?", "NA", "", "nan", "-", "None", "#N/A"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        snprintf(text, sizeof text, "30,2,%s,1\n28,1,3,1\n51,2,2,2\n70,1,1,2\n", marks[i]);
        dataset set = loaded(text, (dataset_options){.missing = DATASET_MISSING_MEAN});
        ck_assert_msg(!set.header && set.rows == 4 && set.marks == 1, "'%s'", marks[i]);
        dataset_free(&set);
        snprintf(text, sizeof text, "red,%s,x,1\nred,a,y,3\nblue,b,x,5\nblue,a,y,2\n", marks[i]);
        set = loaded(text, (dataset_options){.missing = DATASET_MISSING_MEAN});
        ck_assert_msg(!set.header && set.rows == 4, "'%s' among words", marks[i]);
        dataset_free(&set);
    }
    dataset set = loaded("#N/A,2,1\n28,1,3\n51,2,2\n70,1,2\n", (dataset_options){.missing = DATASET_MISSING_MEAN});
    ck_assert(!set.header && set.rows == 4 && set.comments == 0 && set.marks == 1);
    dataset_free(&set);
}
END_TEST

/* ---- a comment that is the header ---- */

START_TEST(a_comment_with_a_word_for_each_column_is_the_header)
{
    static const struct {
        const char *text, *first;
        size_t comments;
    } cases[] = {
        {"#Label,a,b\nx,1.5,2\ny,2.5,3\nx,1,1\n", "Label", 0},
        {"# made by hand\n# Label , a , b\nx,1.5,2\ny,2.5,3\nx,1,1\n", "Label", 1},
        {"# Label a b\n1 1.5  2\n2 2.5 3\n1 1 1\n", "Label", 0},
        {"#\"La\"\"bel\";a;b\n\nx;1,5;2\ny;2,5;3\nx;1;1\n", "La\"bel", 0},
        {"#made,by hand\nx,1.5,2\ny,2.5,3\nx,1,1\n", NULL, 1},        /* one too few */
        {"#made,in,2019\nx,1.5,2\ny,2.5,3\nx,1,1\n", NULL, 1},        /* a number */
        {"#made,by,\nx,1.5,2\ny,2.5,3\nx,1,1\n", NULL, 1},            /* no name */
        {"#made, \"by,hand\nx,1.5,2\ny,2.5,3\nx,1,1\n", NULL, 1},     /* half a quote */
        {"#p,q,r\nLabel,a,b\nx,1.5,2\ny,2.5,3\nx,1,1\n", "Label", 1}, /* above another header */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dataset set = loaded(cases[i].text, (dataset_options){0});
        ck_assert_msg(set.header == (cases[i].first != NULL) && set.comments == cases[i].comments && set.rows == 3,
                      "%s", cases[i].text);
        if (cases[i].first)
            ck_assert_str_eq(set.column[0].name, cases[i].first);
        dataset_free(&set);
    }
    dataset set = loaded(cases[0].text, (dataset_options){.header = DATASET_HEADER_NO});
    ck_assert(!set.header && set.comments == 1);
    dataset_free(&set);
}
END_TEST

/* ---- separators ---- */

START_TEST(padded_numbers_before_a_tab_are_columns)
{
    static const char *const padded = " 18.0   8   307.0  1\t\"chevelle malibu\"\n 15.0   8   ?      2\t\"a\tb\"\n"
                                      " 9.0    4   97.5   3\t\"toyota\"\n",
                             *const thousands = "12 345\t13 456\n1 234\t5 678\n";
    dataset set = loaded(padded, (dataset_options){.target = "3", .ignore = "4", .missing = DATASET_MISSING_MEAN});
    ck_assert_uint_eq(set.columns, 5);
    ck_assert_double_eq_tol(set.column[1].high, 8, 1e-9);
    dataset_free(&set);
    tg_error error;
    ck_assert(!csv_load(thousands, (dataset_options){0}, &set, &error)); /* numbers written for people */
    ck_assert_msg(strstr(error.text, "'1 234' is written for people"), "%s", error.text);
}
END_TEST

/* ---- empty line ends ---- */

START_TEST(empty_columns_and_rows_at_the_end_are_left_out)
{
    dataset set = loaded("a;b;t;;\n1,5;2;1;;\n2,5;1;3;;\n3,5;4;2;;\n;;;;\n;;;;\n", (dataset_options){0});
    ck_assert_uint_eq(set.columns, 3);
    ck_assert_uint_eq(set.unnamed, 2);
    ck_assert_uint_eq(set.rows, 3);
    ck_assert_uint_eq(set.empty, 2);
    ck_assert_uint_eq(set.dropped, 0);
    ck_assert_double_eq_tol(set.column[2].high, 3, 1e-9);
    dataset_free(&set);
    set = loaded("1.5,2,1,\n2.5,1,3,\n3.5,4,2,\n", (dataset_options){0});
    ck_assert_uint_eq(set.columns, 3);
    dataset_free(&set);
    csv_expect_error("a,b,t,notes\n1,2,1,\n2,1,3,\n", (dataset_options){.target = "t"},
                     ": column 'notes' has no value in any row; --ignore 'notes' leaves it out");
}
END_TEST

/* ---- zip codes ---- */

START_TEST(digits_with_leading_zeros_that_repeat_are_categories)
{
    static const struct {
        const char *codes[4];
        bool categories;
    } cases[] = {
        {{"00501", "90210", "02134", "00501"}, true},
        {{"\"001\"", "002", "010", "002"}, true},
        {{"501", "90210", "02134", "501"}, false}, /* not equally many */
        {{"01", "02", "12", "01"}, false},         /* months */
        {{"501", "902", "234", "501"}, false},     /* no zeros */
        {{"0.50", "0.90", "0.75", "0.50"}, false},
        {{"-050", "0090", "0075", "-050"}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t used = (size_t)sprintf(text, "zip,a,t\n");
        for (int row = 0; row < 24; row++)
            used += (size_t)sprintf(text + used, "%s,%d,%d.5\n", cases[i].codes[row % 4], row * 5 % 7, row % 5);
        dataset set = loaded(text, (dataset_options){0});
        ck_assert_msg(set.column[0].zeros == cases[i].categories && set.categorical == cases[i].categories, "%s",
                      cases[i].codes[0]);
        if (cases[i].categories)
            ck_assert_uint_eq(strlen(set.feature[0].category), strspn(set.feature[0].category, "0123456789"));
        dataset_free(&set);
    }
    size_t used = (size_t)sprintf(text, "number,t\n"); /* numbers of a fixed width that do not repeat */
    for (int row = 0; row < 24; row++)
        used += (size_t)sprintf(text + used, "%05d,%d.5\n", row * 7, row % 5);
    dataset set = loaded(text, (dataset_options){0});
    ck_assert_uint_eq(set.categorical, 0);
    dataset_free(&set);
}
END_TEST

/* ---- what deceives ---- */

START_TEST(identifiers_are_seen_before_rare_entries_are_joined)
{
    size_t used = (size_t)sprintf(text, "customer,x,t\n");
    for (int row = 0; row < 600; row++)
        used += (size_t)sprintf(text + used, "C%03d,%d,%d.5\n", row < 500 ? row : row - 500, row * 5 % 7, row % 5);
    dataset set = loaded(text, (dataset_options){0});
    ck_assert_uint_eq(set.column[0].entries, 500);
    ck_assert_ptr_nonnull(set.column[0].doubt);
    ck_assert_str_eq(set.column[0].doubt, "looks like an identifier");
    ck_assert_uint_eq(set.features, 101);
    dataset_free(&set);
}
END_TEST

START_TEST(codes_of_gaps_are_pointed_out)
{
    static const struct {
        double code;
        bool far;
    } cases[] = {{-999, true}, {-200, true}, {9999, true}, {-9, true}, {-5, false}, {12, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t used = (size_t)sprintf(text, "x,t\n");
        for (int row = 0; row < 40; row++)
            used += (size_t)sprintf(text + used, "%g,%d.5\n", row % 10 ? row % 7 + 0.5 : cases[i].code, row % 5);
        dataset set = loaded(text, (dataset_options){0});
        ck_assert_msg(isnan(set.column[0].gap) != cases[i].far, "%g", cases[i].code);
        if (cases[i].far)
            ck_assert(set.column[0].gap == cases[i].code && set.column[0].gaps == 4);
        dataset_free(&set);
    }
}
END_TEST

Suite *data_reading_suite(void)
{
    Suite *suite = suite_create("data_reading");
    TCase *tests = tcase_create("reading");
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, a_header_may_have_numbers);
    tcase_add_test(tests, a_first_row_that_looks_like_the_others_is_data);
    tcase_add_test(tests, a_mark_of_a_gap_in_the_first_row_is_no_word);
    tcase_add_test(tests, a_comment_with_a_word_for_each_column_is_the_header);
    tcase_add_test(tests, padded_numbers_before_a_tab_are_columns);
    tcase_add_test(tests, empty_columns_and_rows_at_the_end_are_left_out);
    tcase_add_test(tests, digits_with_leading_zeros_that_repeat_are_categories);
    tcase_add_test(tests, identifiers_are_seen_before_rare_entries_are_joined);
    tcase_add_test(tests, codes_of_gaps_are_pointed_out);
    suite_add_tcase(suite, tests);
    return suite;
}
