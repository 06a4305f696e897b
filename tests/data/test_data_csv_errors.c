/* Error messages of the reader of CSV files for invalid tables and options. */
#include "tests/support/csv_tables.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

Suite *data_csv_errors_suite(void);

static const dataset_options standard = {0};

#define PH "; --categorical 'pH' makes each cell a category, --ignore 'pH' leaves the column out"

START_TEST(errors_name_line_and_column)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", ": the file is empty"},
        {"\n\n", ": the file is empty"},
        {"a,b\n", ": only a header, expected rows below it"},
        {"a,b\n1,2\n3\n", ":3: 1 field, expected 2 as in line 1"},
        {"a,b\n1,2\n\n3,4,5\n", ":4: 3 fields, expected 2 as in line 1"},
        {"1,2\n3,4,", ":2: 3 fields, expected 2 as in line 1; the separator at the end of the line makes one more"},
        {"a,b\n1,2\n# half way\n3,4\n",
         ":3: 1 field, expected 2 as in line 1; a line that begins with # is a comment only above the first row"},
        {"a,\"two\nlines\"\n1,2\n3\n", ":4: 1 field, expected 2 as in line 1"},
        {"a,pH,t\n1,2,0.5\n1,abc,1.5\n", ":3, column 'pH': 'abc' is not a number" PH},
        {"1,2,0.5\n1,abc,1.5\n", ":2, column 1 (of 0 to 2): 'abc' is not a number; --categorical '1' makes each cell a "
                                 "category, --ignore '1' leaves "
                                 "the column out"},
        {"a,pH,t\n1,2,0.5\n1,,1.5\n",
         ":3, column 'pH': empty, expected a number; use --missing drop or --missing mean"},
        {"a,pH,t\n1,2,0.5\n1,nan,1.5\n",
         ":3, column 'pH': 'nan', expected a number; use --missing drop or --missing mean"},
        {"a,pH,t\n1,2,0.5\n1,None,1.5\n",
         ":3, column 'pH': 'None', expected a number; use --missing drop or --missing mean"},
        {"a,pH,t\n1,\\N,0.5\n1,2,1.5\n",
         ":2, column 'pH': '\\N', expected a number; use --missing drop or --missing mean"},
        {"a,pH,t\n1,,0.5\n1,-,1.5\n", ": column 'pH' has no value in any row; --ignore 'pH' leaves it out"},
        {"a,pH,t\n1,2,0.5\n1,-inf,1.5\n",
         ":3, column 'pH': '-inf' is not a number up to 3.4e+38; --ignore 'pH' leaves it out"},
        {"a,pH,t\n1,2,0.5\n1,1e39,1.5\n",
         ":3, column 'pH': '1e39' is not a number up to 3.4e+38; --ignore 'pH' leaves it out"},
        {"a,pH,t\n1,2,0.5\n1,0x10,1.5\n", ":3, column 'pH': '0x10' is not a number" PH},
        {"a,pH,t\n1,2,0.5\n1,1.5.2,1.5\n", ":3, column 'pH': '1.5.2' is not a number" PH},
        {"a,pH,t\n1,2,0.5\n1,\"x\ny\",1.5\n", ":3, column 'pH': 'x?y' is not a number" PH},
        {"a,t\n1,2\n3,x\n5,7\n", ":3, column 't': 'x' is not a number; --task classification makes each cell a class"},
        {"a,t\n1,x\n3,\n5,y\n", ":3, column 't': empty, expected a word; use --missing drop or --missing mean"},
        {"a,t\nx,1\n,2\ny,1\n", ":3, column 'a': empty, expected a word; use --missing drop or --missing mean"},
        {"a,t\n1,x\n3,x\n", ":2, column 't': the only class in the file, expected at least 2"},
        {"a,t\n1,3\n3,3\n4,3\n", ":2, column 't': 3 is the only number in the file, expected different ones"},
        {"1,2.50\n3,2.5\n", ":1, column 1 (of 0 to 1): 2.5 is the only number in the file, expected different ones"},
        {"oops,2,3\n4,5,6\n", ":1: 'oops' is a word among numbers, expected a row of names or a row of data; "
                              "choose --header yes or --header no"},
        {"a\n1\n2\n", ": 1 column, all of them targets, expected features as well"},
        {"a,b\n1,\"2\n3,4\n", ":2: a quote opens in this row and never closes"},
        {"a,b\n1,2\"5\n3,4\n", ":2: a quote inside a field, expected fields either quoted as a whole, with quotes "
                               "inside doubled, or not at all"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        csv_expect_error(cases[i].text, (dataset_options){0}, cases[i].message);
}
END_TEST

START_TEST(numbers_written_for_people_are_refused)
{
    static const char *const numbers[] = {"1.234,56", "-1,234.56", "1.234.567",  "1'234'567.5", "12 345,6",
                                          "3,5",      "1,234,567", "+999.999,1", "30.9%",       "$309,470.80",
                                          "3094'708", "-$5",       "12 \u20ac",  "\u00a3 1,000"},
                             *const words[] = {"1.5.2",  "2024.01.05", "1,2,3",  "555 12",
                                               "1.23,4", "a,b",        "1.234,", "3,5 m"};
    char text[2000], message[400];
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        snprintf(text, sizeof text, "a,b,c\n1,\"%s\",2\n2,\"%s\",3\n", numbers[i], numbers[i]);
        snprintf(message, sizeof message,
                 ":2, column 'b': '%s' is written for people, expected a number such as 1234.56; --categorical 'b' "
                 "makes each cell a category, --ignore 'b' leaves the column out",
                 numbers[i]);
        csv_expect_error(text, standard, message);
        snprintf(message, sizeof message,
                 ":2, column 'b': '%s' is written for people, expected a number such as 1234.56", numbers[i]);
        csv_expect_error(text, (dataset_options){.target = "b"}, message);
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        dataset set;
        tg_error error;
        snprintf(text, sizeof text, "a,b,c\n1,\"%s\",2\n2,\"%s\",3\n", words[i], words[i]);
        ck_assert_msg(csv_load(text, standard, &set, &error), "%s", error.text);
        ck_assert_uint_eq(set.categorical, 1);
        dataset_free(&set);
    }
}
END_TEST

START_TEST(a_few_numbers_written_for_people_are_refused_among_others)
{
    csv_expect_error("a;t\n1;2,5\n2;999,5\n3;1.234,56\n4;7,5\n", standard,
                     ":4, column 't': '1.234,56' is written for people, expected a number such as 1234.56");
    csv_expect_error(
        "a;t\n1;2,5\n2.000,5;999,5\n3;4\n4;7,5\n", standard,
        ":3, column 'a': '2.000,5' is written for people, expected a number such as 1234.56; --categorical 'a' "
        "makes each cell a category, --ignore 'a' leaves the column out");
}
END_TEST

START_TEST(categories_may_look_like_numbers_when_asked_for)
{
    dataset set;
    tg_error error;
    ck_assert_msg(csv_load("a,t\n10.100.200,2\n10.100.201,3\n10.100.200,4\n", (dataset_options){.categorical = "a"},
                           &set, &error),
                  "%s", error.text);
    ck_assert_uint_eq(set.features, 2);
    ck_assert_str_eq(set.feature[0].category, "10.100.200");
    dataset_free(&set);
}
END_TEST

START_TEST(numbers_and_words_mix_when_asked_for)
{
    static const char table[] = "deps,t\n0,1\n3+,2\n00,1\n0,2\n1.0,3+\n";
    dataset set;
    tg_error error;
    const dataset_options asked = {.categorical = "deps", .task = DATASET_CLASSIFICATION};
    ck_assert_msg(csv_load(table, asked, &set, &error), "%s", error.text);
    ck_assert_uint_eq(set.features, 4);
    static const char *const names[] = {"0", "00", "1.0", "3+"};
    for (size_t i = 0; i < 4; i++)
        ck_assert_str_eq(set.feature[i].category, names[i]);
    ck_assert_uint_eq(set.classes, 3);
    ck_assert_str_eq(set.class_names[2], "3+");
    ck_assert_mem_eq(set.labels, ((int32_t[]){0, 1, 0, 1, 2}), 5 * sizeof(int32_t));
    dataset_free(&set);
    ck_assert_msg(csv_load("size,t\nS,x\nM,4\n38,y\n", standard, &set, &error), "%s", error.text);
    ck_assert_str_eq(set.feature[0].category, "38"); /* most are words */
    ck_assert_str_eq(set.class_names[0], "4");
    dataset_free(&set);
}
END_TEST

START_TEST(marks_of_missing_numbers_are_words_among_words)
{
    dataset set;
    tg_error error;
    const dataset_options mean = {.missing = DATASET_MISSING_MEAN};
    ck_assert_msg(csv_load("a,b,t\n.,None,1\n1,-,2\n2,yes,1.5\n-,no,3\n", mean, &set, &error), "%s", error.text);
    ck_assert_uint_eq(set.column[0].missing, 2);
    ck_assert_uint_eq(set.column[1].missing, 0);
    ck_assert_uint_eq(set.column[1].entries, 4);
    dataset_free(&set);
}
END_TEST

START_TEST(rare_categories_are_joined)
{
    static char text[20000];
    size_t used = (size_t)sprintf(text, "name,t\n");
    for (int i = 0; i < 300; i++) /* n0 to n119 occur twice, n240 to n299 once */
        used += (size_t)sprintf(text + used, "n%03d,%d.5\n", i < 240 ? i / 2 : i, i % 7);
    sprintf(text + used, "n119,1.5\n");
    dataset set;
    tg_error error;
    ck_assert_msg(csv_load(text, standard, &set, &error), "%s", error.text);
    ck_assert_uint_eq(set.features, 100); /* n119 and 98 others; the rest */
    ck_assert_str_eq(set.feature[97].category, "n097");
    ck_assert_str_eq(set.feature[98].category, "n119");
    ck_assert(set.feature[99].other && !set.feature[98].other);
    size_t rest = 0;
    for (size_t row = 0; row < set.rows; row++)
        rest += set.cells[row * set.columns] == 99;
    ck_assert_uint_eq(rest, 301 - 2 * 98 - 3);
    dataset_free(&set);
}
END_TEST

START_TEST(a_first_line_of_words_that_recur_is_data)
{
    dataset set;
    tg_error error;
    ck_assert_msg(csv_load("low,big,acc\nhigh,big,un\nlow,small,un\nlow,big,acc\n", standard, &set, &error), "%s",
                  error.text);
    ck_assert_uint_eq(set.rows, 4);
    ck_assert(!set.header);
    dataset_free(&set);
    ck_assert_msg(csv_load("size,big,acc\nhigh,big,un\nlow,small,un\nlow,big,acc\n", standard, &set, &error), "%s",
                  error.text);
    ck_assert_uint_eq(set.rows, 3);
    ck_assert(set.header);
    dataset_free(&set);
}
END_TEST

START_TEST(rows_may_begin_with_a_hash_below_the_header)
{
    dataset set;
    tg_error error;
    ck_assert_msg(csv_load("# by hand\n#again\ntag,t\n#red,1\n#blue,2\nred,3.5\n#red,2\n", standard, &set, &error),
                  "%s", error.text);
    ck_assert_uint_eq(set.rows, 4);
    ck_assert_uint_eq(set.comments, 2);
    ck_assert_str_eq(set.feature[1].category, "#red");
    dataset_free(&set);
}
END_TEST

START_TEST(a_file_without_its_kind_is_recognised)
{
    dataset set;
    tg_error error;
    char expected[400];
    temporary_write("table.csv", "1,2\n", 4);
    const char *path = temporary_path("table.csv");
    snprintf(expected, sizeof expected, "'%s' is a file; csv:%s reads it as a table", path, path);
    ck_assert(!dataset_load(path, NULL, &set, &error));
    ck_assert_str_eq(error.text, expected);
}
END_TEST

START_TEST(errors_of_options_name_what_there_is)
{
    static const char table[] = "a,b,b\n1,2,3\n4,5,6\n";
    csv_expect_error(table, (dataset_options){.target = "c"},
                     ": no column 'c', expected a name of the header or a number from -3 to 2");
    csv_expect_error(
        "length,width\n1,2\n3,4\n", (dataset_options){.target = "lenght"},
        ": no column 'lenght', expected a name of the header or a number from -2 to 1; did you mean length");
    csv_expect_error(table, (dataset_options){.target = "3"},
                     ": no column '3', expected a name of the header or a number from -3 to 2");
    csv_expect_error("1,2\n3,4\n", (dataset_options){.target = "a"}, ": no column 'a', expected a number from -2 to 1");
    csv_expect_error("1,2\n3,4\n", (dataset_options){.target = ""}, ": no column '', expected a number from -2 to 1");
    csv_expect_error(table, (dataset_options){.target = "b"},
                     ": 2 columns are called 'b', expected a number, such as 1");
    csv_expect_error(table, (dataset_options){.target = "a,-3"}, ": target '-3' is named twice");
    csv_expect_error(table, (dataset_options){.target = "0,1,2"},
                     ": 3 columns, all of them targets, expected features as well");
    csv_expect_error(table, (dataset_options){.target = "0,1", .task = DATASET_CLASSIFICATION},
                     ": 2 target columns, expected one for a classification");
    csv_expect_error("a,t\n1,0.5\n2,1\n", (dataset_options){.task = DATASET_CLASSIFICATION},
                     ":2, column 't': a fraction, expected a whole number or a name for a class");
    csv_expect_error("a,s,t\n1,5,2\n2,7,2\n", (dataset_options){.target = "s,t"},
                     ":2, column 't': 2 is the only number in the file, expected different ones");
    csv_expect_error("a,t\n1,2\n2,2\n", (dataset_options){.task = DATASET_CLASSIFICATION},
                     ":2, column 't': the only class in the file, expected at least 2");
    csv_expect_error("a,t\n1,x\n2,y\n", (dataset_options){.task = DATASET_REGRESSION},
                     ":2, column 't': 'x' is not a number; --task classification makes each cell a class");
    csv_expect_error("a,b\n1,2\n3,4\n", (dataset_options){.header = DATASET_HEADER_NO},
                     ":1, column 0 (of 0 to 1): 'a' is not a number; --categorical '0' makes each cell a category, "
                     "--ignore '0' leaves the column out; column '1' has 'b' in line 1");
}
END_TEST

/* Sixty rows of three columns, in which some cells of `a` are replaced by words. */
static const char *with_words(const char *const *words, int count, const char *last)
{
    static char text[4000];
    size_t used = (size_t)sprintf(text, "a,b,t\n");
    for (int i = 0; i < 60; i++) {
        char number[20];
        snprintf(number, sizeof number, "%d.5", i % 7);
        used += (size_t)sprintf(text + used, "%s,%d,%d\n", i % 20 == 9 && i / 20 < count ? words[i / 20] : number,
                                i % 5, i % 11 + 30);
    }
    sprintf(text + used, "%s", last);
    return text;
}

START_TEST(advice_for_a_few_cells_is_about_cells)
{
    csv_expect_error(
        with_words((const char *[]){"1.2.3"}, 1, ""), standard,
        ":11, column 'a': '1.2.3' is not a number; it is the only such cell: correct it, or leave the line "
        "out: sed 11d");
    csv_expect_error(
        with_words((const char *[]){"gone", "gone", "gone"}, 3, ""), standard,
        ":11, column 'a': 'gone' is not a number, as in 3 of 60 rows; if it marks a missing value, write NA "
        "instead and use --missing drop or --missing mean");
    csv_expect_error(with_words((const char *[]){"gone", "lost"}, 2, ""), standard,
                     ":11, column 'a': 'gone' is not a number; 2 of 60 cells are no numbers: correct them, or write NA "
                     "instead and use --missing drop or --missing mean");
    csv_expect_error(with_words((const char *[]){"#DIV/0!", "#REF!"}, 2, ""), standard,
                     ":11, column 'a': '#DIV/0!', expected a number; use --missing drop or --missing mean");
    csv_expect_error(
        with_words((const char *[]){"\u22121.5"}, 1, ""), standard,
        ":11, column 'a': '\u22121.5' is written for people, expected a number such as 1234.56; its minus is "
        "not that of ASCII: sed 's/\u2212/-/g'");
    csv_expect_error(with_words(NULL, 0, "a,b,t\n1,2,3\n"), standard,
                     ":62: the header again; awk 'NR == 1 { head = $0 } NR == 1 || $0 != head' leaves it out");
    csv_expect_error(
        with_words(NULL, 0, "Total,15,\n"), standard,
        ":62, column 'a': 'Total' is not a number; it is the only such cell and in the last row, which may "
        "have totals: correct it, or leave the line out: sed 62d; column 't' misses 1 value");
}
END_TEST

START_TEST(all_errors_of_a_file_are_in_one_message)
{
    csv_expect_error(
        "a,b,c,d,w,t\n1,,,x,2,3\n2,7,,x,two,\n3,,,y,1,4\n", (dataset_options){.weights = "w"},
        ":2, column 'b': empty, expected a number; use --missing drop or --missing mean; column 'c' has no "
        "value; column 'w' has 'two' in line 3; column 't' misses 1 value");
    csv_expect_error("1,,,,,,,,9\n2,3,3,3,3,3,3,3,8\n", standard,
                     ":1, column 1 (of 0 to 8): empty, expected a number; use --missing drop or --missing mean; column "
                     "'2' misses 1 value; column '3' misses 1 value; column '4' misses 1 value; column '5' misses 1 "
                     "value; column '6' misses 1 value; and 1 more column");
    csv_expect_error("a,b\n1,2\n3\n4,5\n6,7,8\n9\n", standard,
                     ":3: 1 field, expected 2 as in line 1; so it is with 2 more lines");
}
END_TEST

START_TEST(files_that_are_no_text_are_refused)
{
    temporary_write("table.csv", "a,b\n1,2\0\n", 9);
    tg_error error;
    char spec[300], expected[400];
    snprintf(spec, sizeof spec, "csv:%s", temporary_path("table.csv"));
    snprintf(expected, sizeof expected, "%s: a zero byte at offset 7, expected text in ASCII or UTF-8", spec + 4);
    dataset set;
    ck_assert(!dataset_load(spec, NULL, &set, &error));
    ck_assert_str_eq(error.text, expected);
    temporary_write("table.csv",
                    "\xff\xfe"
                    "a\0,\0",
                    6);
    snprintf(expected, sizeof expected, "%s: UTF-16, expected UTF-8; iconv -f UTF-16 -t UTF-8 converts the file",
             spec + 4);
    ck_assert(!dataset_load(spec, NULL, &set, &error));
    ck_assert_str_eq(error.text, expected);
    snprintf(spec, sizeof spec, "csv:%s", temporary_folder());
    snprintf(expected, sizeof expected, "%s: Is a directory", spec + 4);
    ck_assert(!dataset_load(spec, NULL, &set, &error));
    ck_assert_str_eq(error.text, expected);
    ck_assert(!dataset_load("csv:no/such.csv", NULL, &set, &error));
    ck_assert_str_eq(error.text, "no/such.csv: No such file or directory");
}
END_TEST

/* Bytes with which files of other programs begin, and what the message names: the kind, and how to convert it. */
static const struct foreign {
    const char *bytes;
    size_t size;
    const char *kind, *remedy;
} foreign[] = {
#define FOREIGN(bytes, kind, remedy)          \
    {                                         \
        bytes, sizeof bytes - 1, kind, remedy \
    }
    FOREIGN("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "a pointer of Git LFS",
            "git lfs pull"),
    FOREIGN("PK\3\4\24\0\6\0\10\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\23\0\0\0[Content_Types].xml<Types/>",
            "an Excel workbook (.xlsx)", "soffice --headless --convert-to csv"),
    FOREIGN("PK\3\4\24\0\0\0\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0x.npy\x93NUMPY", "arrays of NumPy (.npz)",
            "numpy.savetxt('table.csv', f[f.files[0]]"),
    FOREIGN("PK\3\4\24\0\0\0\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0x.csva,b\n1,2\n", "a zip archive", "unzip"),
    FOREIGN("\x93NUMPY\1\0v\0{'descr': '<f8'}\n", "an array of NumPy (.npy)", "numpy.savetxt("),
    FOREIGN("PAR1\x15\4\x15\0", "a Parquet file", "read_parquet"),
    FOREIGN("\xfd\67zXZ\0\0\4", "packed by xz", "xz -dc"),
    FOREIGN("BZh91AY&SY\0\1", "packed by bzip2", "bzip2 -dc"),
    FOREIGN("SQLite format 3\0\20\0", "an SQLite database", "sqlite3 -header -csv"),
    FOREIGN("\x80\4\x95\33\0\0\0", "a pickle of Python, which runs the code in it", "read_pickle"),
    FOREIGN("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "an Excel workbook (.xls)", "soffice"),
    FOREIGN("\x89HDF\r\n\x1a\n\0", "an HDF5 file", "read_hdf"),
    FOREIGN("<!DOCTYPE html>\n<html>not found</html>\n", "a page in HTML", "another"),
    FOREIGN("[{\"a\": 1}, {\"a\": 2}]\n", "JSON", "read_json('"),
    FOREIGN("{\"a\": 1}\n{\"a\": 2}\n", "lines of JSON", "lines=True"),
    FOREIGN("\30\0\0\0\0\0\0\0\xa3\x7fK\"\t\0\0\0\0\0\0\xe0\x3f\x1a\rbrain.Event:2",
            "an event file of TensorBoard, expected CSV", "'Show data download links'"),
};

START_TEST(files_of_other_programs_are_refused_by_name)
{
    tg_error error;
    dataset set;
    char spec[300], command[400];
    snprintf(spec, sizeof spec, "csv:%s", temporary_path("table.csv"));
    temporary_write("table.csv", foreign[_i].bytes, foreign[_i].size);
    ck_assert(!dataset_load(spec, NULL, &set, &error));
    snprintf(command, sizeof command, ": %s", foreign[_i].kind);
    ck_assert_msg(strstr(error.text, command) && strstr(error.text, foreign[_i].remedy), "%s", error.text);
}
END_TEST

START_TEST(words_that_begin_like_other_formats_are_read)
{
    static const char *const texts[] = {"PAR1,b\n1,2\n3,4\n", "BZh1,b\n1,2\n3,4\n", "ustar,b\n1,2\n3,4\n",
                                        "PK,b\n1,2\n3,4\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        dataset set = loaded(texts[i], standard);
        ck_assert(set.header);
        dataset_free(&set);
    }
}
END_TEST

START_TEST(what_columns_are_not_is_told)
{
    static char many[8000];
    size_t used = (size_t)sprintf(many, "name,t\n");
    for (int i = 0; i < 101; i++)
        used += (size_t)sprintf(many + used, "n%d,%d\n", i, i % 2);
    csv_expect_error(
        many, standard,
        ": column 'name' has 101 different entries ('n0' is the first), of which none has two rows; --ignore "
        "'name' leaves it out");
    csv_expect_error(csv_flowers, (dataset_options){.ignore = "colour"},
                     ":3, column 'size': 'NA', expected a number; use --missing drop or --missing mean; column "
                     "'petals' misses 1 value; column 'kind' misses 1 value");
    csv_expect_error(
        "x,t\n1,a\n2,?\n3,b\n", standard,
        ":3, column 't': a mark of a missing value, expected a word; use --missing drop or --missing mean");
    csv_expect_error("x,t\n1,0\n2,1\n", (dataset_options){.ignore = "x"},
                     ": 2 columns, none of them a feature, expected at least one");
    csv_expect_error("x,t\n1,0\n2,1\n", (dataset_options){.ignore = "t"},
                     ": column 't' is a target (--target; by default the last column), expected a feature");
    csv_expect_error("x,y,t\n1,0,0\n2,1,1\n", (dataset_options){.ignore = "x", .categorical = "y,0"},
                     ": column '0' is ignored, expected a feature");
    csv_expect_error(
        "x,t\n1,0\n2,1\n", (dataset_options){.weights = "t"},
        ": column 't' is a target (--target; by default the last column), expected another one for weights");
    csv_expect_error("x,w,t\n1,1,0\n2,1,1\n", (dataset_options){.weights = "w", .categorical = "w"},
                     ": column 'w' is of weights, expected a feature");
    csv_expect_error("x,w,t\n1,1,0\n2,-1,1\n", (dataset_options){.weights = "w"},
                     ":3, column 'w': a negative weight, expected a number from 0 on");
    csv_expect_error("x,w,t\n1,1,0\n2,two,1\n", (dataset_options){.weights = "w"},
                     ":3, column 'w': 'two' is not a number");
    csv_expect_error("x,w,t\n1,1,0\n2,,1\n", (dataset_options){.weights = "w"},
                     ":3, column 'w': empty, expected a number; use --missing drop or --missing mean");
    csv_expect_error("x,t\n1,0\n2,1\n", (dataset_options){.ignore = "z"},
                     ": no column 'z', expected a name of the header or a number from -2 to 1");
    csv_expect_error("@relation iris\n@attribute a numeric\n@data\n1,2\n", standard,
                     ": an ARFF file, expected CSV; sed '1,/^@data/Id; /^%/d' leaves the rows, whose columns then have "
                     "no names");
    csv_expect_error("% Fisher\n\n@RELATION iris\n@DATA\n1,2\n", standard,
                     ": an ARFF file, expected CSV; sed '1,/^@data/Id; /^%/d' leaves the rows, whose columns then have "
                     "no names");
    csv_expect_error("+1 1:0.5 3:2 # first\n-1 2:1\n", standard,
                     ": a libsvm file (label index:value ...), expected CSV with a cell for every column; "
                     "scikit-learn's load_svmlight_file reads it");
    csv_expect_error("x,y,t\n,1,0\n2,,1\n", (dataset_options){.missing = DATASET_MISSING_DROP},
                     ": every row has a missing cell");
}
END_TEST

Suite *data_csv_errors_suite(void)
{
    Suite *suite = suite_create("data_csv_errors");
    TCase *tests = tcase_create("errors");
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, what_columns_are_not_is_told);
    tcase_add_test(tests, errors_name_line_and_column);
    tcase_add_test(tests, numbers_written_for_people_are_refused);
    tcase_add_test(tests, a_few_numbers_written_for_people_are_refused_among_others);
    tcase_add_test(tests, categories_may_look_like_numbers_when_asked_for);
    tcase_add_test(tests, numbers_and_words_mix_when_asked_for);
    tcase_add_test(tests, marks_of_missing_numbers_are_words_among_words);
    tcase_add_test(tests, rare_categories_are_joined);
    tcase_add_test(tests, a_first_line_of_words_that_recur_is_data);
    tcase_add_test(tests, rows_may_begin_with_a_hash_below_the_header);
    tcase_add_test(tests, a_file_without_its_kind_is_recognised);
    tcase_add_test(tests, errors_of_options_name_what_there_is);
    tcase_add_test(tests, advice_for_a_few_cells_is_about_cells);
    tcase_add_test(tests, all_errors_of_a_file_are_in_one_message);
    tcase_add_test(tests, files_that_are_no_text_are_refused);
    tcase_add_loop_test(tests, files_of_other_programs_are_refused_by_name, 0, sizeof foreign / sizeof *foreign);
    tcase_add_test(tests, words_that_begin_like_other_formats_are_read);
    suite_add_tcase(suite, tests);
    return suite;
}
