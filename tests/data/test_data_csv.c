/* The reader of CSV files, on files written here and on real ones. */
#include "examples/programs/data/csv.h"
#include "tests/support/csv_tables.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *data_csv_suite(void);

static const dataset_options standard = {0};

/* ---- values ---------------------------------------------------------------- */

START_TEST(however_it_is_written_the_table_is_the_same)
{
    static const char *const texts[] = {
        "x,y,z,kind\n1,10,-1e3,0\n2,20.5,0,1\n4,0.25,+7,0\n8,3,1.5,1\n",
        "x,y,z,kind\r\n1,10,-1e3,0\r\n2,20.5,0,1\r\n4,0.25,+7,0\r\n8,3,1.5,1\r\n",   /* CR LF */
        "x,y,z,kind\r1,10,-1e3,0\r2,20.5,0,1\r4,0.25,+7,0\r8,3,1.5,1\r",             /* CR */
        "x,y,z,kind\n1,10,-1e3,0\n2,20.5,0,1\n4,0.25,+7,0\n8,3,1.5,1",               /* no last newline */
        "\xEF\xBB\xBFx,y,z,kind\n1,10,-1e3,0\n2,20.5,0,1\n4,0.25,+7,0\n8,3,1.5,1\n", /* byte-order mark */
        "1,10,-1e3,0\n2,20.5,0,1\n4,0.25,+7,0\n8,3,1.5,1\n",                         /* no header */
        "\"x\",\"y,y\",\"z\"\"\",kind\n\" 1\",10,\"-1e3 \",\"0\"\n2,20.5,0,1\n4,0.25,+7,0\n8,3,1.5,1\n",
        "\"x\",\"two\nlines\",z,kind\n1,10,-1e3,0\n2,20.5,0,1\n4,0.25,+7,0\n8,3,1.5,1\n",
        "x , y,z,kind\n 1, 10 ,-1e3,0\n\n2,20.5,0,1\n   \n4,0.25,+7,0\n8,3,1.5,1\n\n\n", /* spaces, blank lines */
        "x;y;z;kind\n1;10;-1e3;0\n2;20.5;0;1\n4;0.25;+7;0\n8;3;1.5;1\n",
        "x\ty\tz\tkind\n1\t10\t-1e3\t0\n2\t20.5\t0\t1\n4\t0.25\t+7\t0\n8\t3\t1.5\t1\n",
        "x;y;z;kind\n1;10;-1e3;0\n2;20,5;0;1\n4;0,25;+7;0\n8;3;1,5;1\n", /* decimal commas */
        "1,0;10;-1e3;0\n2;20,5;0;1\n4;0,25;+7;0\n8,00;3;1,5;1\n",
        "x y z kind\n1 10 -1e3 0\n2 20.5 0 1\n4 0.25 +7 0\n8 3 1.5 1\n",                /* blanks */
        "  x   y  z kind \n 1   10 -1e3 0\n\n 2 20.5\t0 1\n4 0.25 +7 0\n8 3 1,5 1  \n", /* in columns */
        "1,0\t10,0\t-1e3\t0\n2,0\t20,5\t0\t1\n4\t0,25\t+7\t0\n8\t3\t1,5\t1\n",          /* tabs and decimal commas */
        "x\ty, cm\tz\tkind\n1\t10\t-1e3\t0\n2\t20,5\t0\t1\n4\t0,25\t+7\t0\n8\t3\t1,5\t1\n",
        "\"x\"\t\"y, cm\"\t\"z\tz\"\tkind\n\"1\"\t10\t-1e3\t0\n2\t\"20,5\"\t0\t1\n4\t0,25\t+7\t0\n8\t3\t1,5\t1\n",
        "1,0 10,0 -1e3 0\n2,0 20,5 0 1\n4 0,25 +7 0\n8 3 1,5 1\n", /* blanks and decimal commas */
        "x y,cm z kind\n1,0 10,0 -1e3 0\n2,0 20,5 0 1\n4 0,25 +7 0\n8 3 1,5 1\n",
        "\"x\" \"y, cm\" \"z z\" kind\n1,0 10,0 -1e3 0\n2,0 \"20,5\" 0 1\n4 0,25 +7 0\n8 3 1,5 1\n",
        "x, y y, z, kind\n1, 10, -1e3, 0\n2, 20.5, 0, 1\n4, 0.25, +7, 0\n8, 3, 1.5, 1\n", /* commas and blanks */
        "x,\ty,\tz,\tkind\t\n1,\t10,\t-1e3,\t0\n2,\t20.5,\t0,\t1\n4,\t0.25,\t+7,\t0\n8,\t3,\t1.5,\t1\n", /* and tabs */
        "x x;y, cm;z\tz;kind\n1,0;10;-1e3;0\n2;20,5;0;1\n4;0,25;+7;0\n8;3;1,5;1\n",
        "# made by hand\n# \"quoted\nx,y,z,kind\n1,10,-1e3,0\n2,20.5,0,1\n4,0.25,+7,0\n8,3,1.5,1\n",
        "sep=;\nx;y;z;kind\n1;10;-1e3;0\n2;20,5;0;1\n4;0,25;+7;0\n8;3;1,5;1\n",
        "SEP=,\r\nx,y,z,kind\r\n1,10,-1e3,0\r\n2,20.5,0,1\r\n4,0.25,+7,0\r\n8,3,1.5,1\r\n",
        "x|y|z|kind\n1|10|-1e3|0\n2|20,5|0|1\n4|0,25|+7|0\n8|3|1,5|1\n",
        "x,y,z,kind\n1,10,-1e3,-0\n2,20.5,0,1.0\n4,0.25,+7,0e5\n8,3,1.5,01\n",
    };
    static const double values[4][3] = {{1, 10, -1e3}, {2, 20.5, 0}, {4, 0.25, 7}, {8, 3, 1.5}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        dataset set = loaded(texts[i], standard);
        ck_assert_int_eq(set.task, DATASET_CLASSIFICATION);
        ck_assert_str_eq(set.name, "table");
        ck_assert_uint_eq(set.features, 3);
        ck_assert_uint_eq(set.train.rows, 3);
        ck_assert_uint_eq(set.validation.rows, 1);
        for (size_t row = 0; row < 4; row++)
            for (size_t feature = 0; feature < 3; feature++)
                ck_assert_double_eq_tol(csv_original(&set, row, feature), values[row][feature], 1e-4);
        ck_assert_mem_eq(set.labels, ((int32_t[]){0, 1, 0, 1}), 4 * sizeof(int32_t));
        dataset_free(&set);
    }
}
END_TEST

/* A comma between digits is a decimal comma only if blanks separate cells of numbers. */
START_TEST(commas_and_blanks_are_told_apart)
{
    static const struct {
        const char *text;
        size_t features; /* numbers, and a feature for each word */
    } cases[] = {
        {"5,1 3,5 1,4 0,2 setosa\n4,9 3,0 1,3 0,1 setosa\n6,2 2,8 4,8 1,8 virginica\n", 4},
        {"5,1 3,5 setosa\n5,0 3\tsetosa\n6,2 2,8 virginica\n", 2},
        {"5,1 1\n4,9 0\n6,2 0\n", 1},
        {"red 5,1 1\nblue 4,9 0\nred 6,2 0\n", 3},
        {"1,2 pears\n2,3 plums\n", 1},
        {"0,956\t0,948\t0\n0,5\t1\t1\n0,75\t0,5\t0\n1,5\t2\t1\n", 2},
        {"size\tkind\n0,956\tbig, red\n0,5\tsmall, blue\n", 1},
        {"1,2021-05-01 10:00,0\n2,2021-05-01 10:00,1\n", 2},
        {"1,12 Main St,0\n2,12 Main St,1\n", 2},
        {"first name,second name\n1,a\n2,b\n", 1},
        {"first name,kind\na b,0\na b,1\n", 1},
        {"1,a b\n2,a c\n", 1},
        {"1,2\n3,4\n5,2\n", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dataset set;
        tg_error error;
        ck_assert_msg(csv_load(cases[i].text, standard, &set, &error), "%s", error.text);
        ck_assert_msg(set.features == cases[i].features, "%zu features in %s", set.features, cases[i].text);
        dataset_free(&set);
    }
}
END_TEST

/* Against strtod, which shares no code with the reader: all lengths of numbers, and halves between two floats or
 * doubles. */
START_TEST(numbers_are_read_to_the_bit)
{
    tg_rng rng = tg_rng_seed(1);
    char text[80];
    for (int i = 0; i < 1000000; i++) {
        const uint64_t bits = (uint64_t)(tg_rng_uniform(&rng) * 0x1p53) << 11 | (uint64_t)(tg_rng_uniform(&rng) * 2048);
        const int digits = 1 + i % 25, exponent = (int)(tg_rng_uniform(&rng) * 60) - 30;
        double read, half = (double)(bits >> 11) + 0.5;
        if (i % 4 == 0)
            snprintf(text, sizeof text, "%.*e", digits, (double)bits * 1e-19 * pow(10, exponent));
        else if (i % 4 == 1)
            snprintf(text, sizeof text, "-%.*f", digits % 20, (double)(bits >> 11) * pow(10, -digits % 16));
        else if (i % 4 == 2)
            snprintf(text, sizeof text, "%llu.%d", (unsigned long long)(bits >> (i % 60)), i % 1000);
        else
            snprintf(text, sizeof text, "%.17g", half * pow(2, exponent));
        const double wanted = strtod(text, NULL);
        const unsigned char *end = csv_number((const unsigned char *)text, false, &read);
        ck_assert_msg(end && !*end && memcmp(&read, &wanted, sizeof read) == 0, "%s: %.17g, not %.17g", text, read,
                      wanted);
    }
}
END_TEST

START_TEST(packed_files_are_read_too)
{
    static const char text[] = "x,kind\n1,a\n2,b\n";
    temporary_write_gzip("packed.csv.gz", text, strlen(text));
    tg_error error;
    char spec[300];
    snprintf(spec, sizeof spec, "csv:%s", temporary_path("packed.csv.gz"));
    dataset set;
    ck_assert_msg(dataset_load(spec, NULL, &set, &error), "%s", error.text);
    ck_assert_str_eq(set.name, "packed");
    ck_assert_uint_eq(set.classes, 2);
    dataset_free(&set);
}
END_TEST

START_TEST(only_training_rows_decide_the_scale)
{
    /* Validation: 1000 and 7, far off. Training: x = 1, 2, 3, 6 with mean 3 and deviation sqrt(14/4); y = 2 always. */
    dataset set = loaded("x,y,t\n1000,7,99.5\n1,2,0.5\n2,2,1.5\n3,2,1.5\n6,2,2.5\n", standard);
    double deviation = sqrt(14. / 4);
    static const double x[4] = {1, 2, 3, 6};
    ck_assert_double_eq_tol(set.feature_mean[0], 3, 1e-12);
    ck_assert_double_eq_tol(set.feature_scale[0], deviation, 1e-12);
    for (size_t row = 0; row < 4; row++) {
        ck_assert_float_eq_tol(set.x[2 * (row + 1)], (float)((x[row] - 3) / deviation), 1e-6f);
        ck_assert_float_eq(set.x[2 * (row + 1) + 1], 0);
    }
    ck_assert_float_eq_tol(set.x[0], (float)(997 / deviation), 1e-3f);
    ck_assert_float_eq(set.x[1], 0); /* constant in training: 0 everywhere */
    ck_assert_double_eq(set.feature_mean[1], 2);
    ck_assert_double_eq(set.feature_scale[1], 0);

    ck_assert_int_eq(set.task, DATASET_REGRESSION);
    ck_assert_ptr_null(set.labels);
    ck_assert_double_eq_tol(set.target_mean[0], 1.5, 1e-12);
    ck_assert_double_eq_tol(set.target_scale[0], sqrt(0.5), 1e-12);
    ck_assert_float_eq_tol(set.y[1], (float)(-1 / sqrt(0.5)), 1e-6f);
    ck_assert_float_eq_tol(set.y[0], (float)(98 / sqrt(0.5)), 1e-3f);
    dataset_free(&set);
}
END_TEST

/* Squares of such values are 0 in double precision. */
START_TEST(tiny_values_have_a_deviation)
{
    dataset set = loaded("x,t\n0,5e-201\n1e-200,1.5e-200\n2e-200,5e-201\n3e-200,1.5e-200\n", standard);
    ck_assert_double_eq_tol(set.feature_scale[0] * 1e200, sqrt(2. / 3), 1e-12);
    ck_assert_float_eq_tol(set.x[3], (float)sqrt(1.5), 1e-6f);
    ck_assert_double_eq_tol(set.target_scale[0] * 1e200, sqrt(2. / 9), 1e-12);
    ck_assert_float_eq_tol(set.y[2], (float)-sqrt(2), 1e-6f);
    ck_assert_int_eq(dataset_soften(&set, true), 0); /* nor are these tails long */
    dataset_free(&set);
}
END_TEST

START_TEST(large_values_do_not_cost_the_deviation)
{
    dataset set = loaded("x,t\n0,0.5\n1000000001,1.5\n1000000002,0.5\n1000000003,1.5\n", standard);
    ck_assert_double_eq_tol(set.feature_mean[0], 1000000002, 1e-6);
    ck_assert_double_eq_tol(set.feature_scale[0], sqrt(2. / 3), 1e-9);
    ck_assert_float_eq(set.x[2], 0);
    dataset_free(&set);
    set = loaded("x,t\n0,0.5\n0.1,1.5\n0.1,0.5\n0.1,1.5\n", standard); /* 0.1 + 0.1 + 0.1 rounds */
    ck_assert_double_eq(set.feature_scale[0], 0);
    dataset_free(&set);
}
END_TEST

/* ---- columns and cells without standardisation ---- */

/* The features of all rows, as in the file. */
static void expect_features(const dataset *set, size_t rows, size_t features, const double *expected)
{
    ck_assert_uint_eq(set->rows, rows);
    ck_assert_uint_eq(set->features, features);
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < features; i++)
            if (!isnan(expected[row * features + i]) && set->feature_scale[i] > 0)
                ck_assert_double_eq_tol(csv_original(set, row, i), expected[row * features + i], 1e-6);
}

START_TEST(words_become_a_feature_each)
{
    dataset set = loaded("colour,size,kind\nred,1,a\nblue,2,b\nred,4,a\ngreen,3,b\n", standard);
    ck_assert_uint_eq(set.features, 4);
    ck_assert_uint_eq(set.categorical, 1);
    static const double expected[4][4] = {
        {0, 0, 1, 1}, {1, 0, 0, 2}, {0, 0, 1, 4}, {0, 1, 0, 3}}; /* blue, green, red; size */
    expect_features(&set, 4, 4, expected[0]);
    dataset_free(&set);
    set = loaded("code,size,kind\n7,1,a\n9,2,b\n7,4,a\n", (dataset_options){.categorical = "code"});
    static const double codes[3][3] = {{1, 0, 1}, {0, 1, 2}, {1, 0, 4}};
    expect_features(&set, 3, 3, codes[0]);
    dataset_free(&set);
}
END_TEST

START_TEST(rows_with_missing_cells_can_be_dropped)
{
    dataset set = loaded(csv_flowers, (dataset_options){.missing = DATASET_MISSING_DROP, .ignore = "id"});
    ck_assert_uint_eq(set.dropped, 3);
    static const double expected[2][3] = {{1, 1, 5}, {1, 5, 6}}; /* only red is left */
    expect_features(&set, 2, 3, expected[0]);
    ck_assert_mem_eq(set.labels, ((int32_t[]){1, 0}), 2 * sizeof(int32_t));
    dataset_free(&set);
}
END_TEST

START_TEST(missing_cells_can_be_means_and_are_marked)
{
    dataset set = loaded(csv_flowers, (dataset_options){.missing = DATASET_MISSING_MEAN, .ignore = "0"});
    /* A row without a target is not used for training. Blue, red, no colour; size, no size; petals, no petals: */
    ck_assert_uint_eq(set.marks, 3);
    const double nothing = NAN, expected[4][7] = {{0, 1, 0, 1, 0, 5, 0},
                                                  {1, 0, 0, nothing, 1, 5, 0},
                                                  {0, 0, 1, 3, 0, nothing, 1},
                                                  {0, 1, 0, 5, 0, 6, 0}};
    expect_features(&set, 4, 7, expected[0]);
    ck_assert_double_eq_tol(set.feature_mean[3], 4,
                            1e-12); /* of 3 and 5: the first row validates, and one is missing */
    ck_assert_float_eq(set.x[7 + 3], 0);
    ck_assert_float_eq(set.x[2 * 7 + 5], 0);
    dataset_free(&set);
}
END_TEST

START_TEST(a_column_of_words_may_lose_all_of_them)
{
    dataset set =
        loaded("red,1,\n,2,a\n,3,b\n", (dataset_options){.missing = DATASET_MISSING_MEAN, .header = DATASET_HEADER_NO});
    static const double expected[2][2] = {{1, 2}, {1, 3}}; /* no colour is left, so there is no such feature */
    expect_features(&set, 2, 2, expected[0]);
    dataset_free(&set);
}
END_TEST

/* ---- targets --------------------------------------------------------------- */

START_TEST(words_become_classes_in_alphabetical_order)
{
    dataset set = loaded("x,flower\n1,rose\n2,aster\n3,rose\n4,lily\n", standard);
    ck_assert_uint_eq(set.classes, 3);
    ck_assert_str_eq(set.class_names[0], "aster");
    ck_assert_str_eq(set.class_names[1], "lily");
    ck_assert_str_eq(set.class_names[2], "rose");
    ck_assert_mem_eq(set.labels, ((int32_t[]){2, 0, 2, 1}), 4 * sizeof(int32_t));
    ck_assert_ptr_null(set.y);
    dataset_free(&set);
    set = loaded("5.1,rose\n4.9,aster\n", (dataset_options){0}); /* words below words: no header */
    ck_assert_uint_eq(set.rows, 2);
    dataset_free(&set);
}
END_TEST

START_TEST(whole_numbers_become_classes_in_ascending_order)
{
    dataset set = loaded("x,grade\n1,10\n2,9\n3,10\n4,-3\n5,9\n6,-3\n", standard);
    ck_assert_int_eq(set.task, DATASET_CLASSIFICATION);
    ck_assert_uint_eq(set.classes, 3);
    ck_assert_str_eq(set.class_names[0], "-3");
    ck_assert_str_eq(set.class_names[2], "10");
    ck_assert_mem_eq(set.labels, ((int32_t[]){2, 1, 2, 0, 1, 0}), 6 * sizeof(int32_t));
    dataset_free(&set);
}
END_TEST

START_TEST(the_task_is_guessed_or_chosen)
{
    static const struct {
        const char *text;
        dataset_task chosen, expected;
    } cases[] = {
        {"x,t\n1,0\n2,1\n3,0\n4,1\n", DATASET_TASK_AUTO, DATASET_CLASSIFICATION},
        {"x,t\n1,0\n2,1\n3,0\n4,1\n", DATASET_REGRESSION, DATASET_REGRESSION},
        {"x,t\n1,10\n2,20\n3,30\n4,40\n", DATASET_TASK_AUTO, DATASET_REGRESSION}, /* all different */
        {"x,t\n1,10\n2,20\n3,30\n4,40\n", DATASET_CLASSIFICATION, DATASET_CLASSIFICATION},
        {"x,t\n1,0\n2,0.5\n3,0\n4,0.5\n", DATASET_TASK_AUTO, DATASET_REGRESSION}, /* fractions */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dataset set = loaded(cases[i].text, (dataset_options){.task = cases[i].chosen});
        ck_assert_msg(set.task == cases[i].expected, "case %zu", i);
        dataset_free(&set);
    }
    char many[400] = "x,t\n"; /* 21 classes, twice each */
    for (int i = 0; i < 42; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "1,%d\n", i % 21);
    dataset set = loaded(many, (dataset_options){0});
    ck_assert_int_eq(set.task, DATASET_REGRESSION);
    dataset_free(&set);
}
END_TEST

START_TEST(targets_go_by_name_or_by_number)
{
    static const char text[] = "a,\"b,c\",1,d\n0.5,10.5,20.5,30.5\n1.5,11.5,22.5,33.5\n2.5,12.5,24.5,36.5\n";
    static const struct {
        const char *target;
        double mean; /* of the rows after the first */
    } cases[] = {{NULL, 35}, {"d", 35}, {"3", 35}, {"-1", 35}, {"a", 2}, {"0", 2}, {"-4", 2}, {"b,c", 12}, {"1", 23.5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) { /* the name "1" goes before the number 1 */
        dataset_options options = {.target = cases[i].target, .header = DATASET_HEADER_YES};
        dataset set = loaded(text, options);
        ck_assert_uint_eq(set.targets, 1);
        ck_assert_uint_eq(set.features, 3);
        ck_assert_double_eq_tol(set.target_mean[0], cases[i].mean, 1e-12);
        dataset_free(&set);
    }
    dataset_options two = {.target = "-1,a", .header = DATASET_HEADER_YES};
    dataset set = loaded(text, two);
    ck_assert_uint_eq(set.targets, 2);
    ck_assert_uint_eq(set.features, 2);
    ck_assert_double_eq_tol(set.target_mean[0], 35, 1e-12);
    ck_assert_double_eq_tol(set.target_mean[1], 2, 1e-12);
    ck_assert_float_eq_tol(set.y[4], 1, 1e-6f); /* row 1, first target: [2, 2] with deviation 1.5 */
    ck_assert_float_eq_tol(set.y[5], 1, 1e-6f);
    dataset_free(&set);
}
END_TEST

/* Each random split of a table has its share of every class, and a class of one row trains. */
START_TEST(splits_of_classes_are_stratified)
{
    static char text[20000];
    size_t used = (size_t)sprintf(text, "x,t\n");
    for (int row = 0; row < 200; row++) /* 139 a, 50 b, 10 c, 1 d */
        used += (size_t)sprintf(text + used, "%d,%c\n", row,
                                row == 17       ? 'd'
                                : row % 20 == 3 ? 'c'
                                : row % 4       ? 'a'
                                                : 'b');
    dataset set;
    tg_error error;
    ck_assert_msg(csv_load(text, (dataset_options){0}, &set, &error), "%s", error.text);
    for (uint64_t seed = 0; seed < 40; seed++)
        for (int folds = 0; folds <= 5; folds += 5) {
            const dataset_parts parts = {.seed = seed, .folds = folds, .fold = folds ? (int)(seed % 5) : 0};
            ck_assert_msg(dataset_split(&set, &parts, &error), "%s", error.text);
            const dataset_part *part[] = {&set.train, &set.validation, &set.test};
            for (int p = 0; p < 3; p++) {
                int count[4] = {0};
                for (size_t i = 0; i < part[p]->rows; i++)
                    count[set.labels[part[p]->row[i]]]++;
                ck_assert_uint_eq(part[p]->rows, p ? 40 : 120);
                ck_assert_int_le(abs(count[1] - (p ? 10 : 30)), 1);
                ck_assert_int_le(abs(count[2] - (p ? 2 : 6)), 1);
                ck_assert(folds || count[3] == (p == 0));
            }
        }
    dataset_free(&set);
}
END_TEST

/* ---- groups ---- */

/* 60 patients of 1 to 7 rows, a third of them of the rare class; the rows of a patient do not follow each other. */
static dataset patients(dataset_options options)
{
    static char text[20000];
    size_t used = (size_t)sprintf(text, "x,patient,sick\n");
    for (int visit = 0; visit < 7; visit++)
        for (int patient = 0; patient < 60; patient++)
            if (patient % 7 >= visit)
                used += (size_t)sprintf(text + used, "%d,P%02d,%s\n", 100 * visit + patient, patient,
                                        patient % 3 && visit % 4 != 3 ? "no" : "yes");
    dataset set;
    tg_error error;
    ck_assert_msg(csv_load(text, options, &set, &error), "%s", error.text);
    return set;
}

/* Counts the groups of a part and those of the rare class, and marks them; a group of another part is an error. */
static void count_patients(const dataset *set, const dataset_part *part, int number, int of[60], int *all, int *sick)
{
    *all = *sick = 0;
    for (size_t i = 0; i < part->rows; i++) {
        const int group = set->group[part->row[i]];
        ck_assert(of[group] == 0 || of[group] == number);
        *all += of[group] == 0;
        *sick += of[group] == 0 && group % 3 == 0;
        of[group] = number;
    }
}

START_TEST(no_split_divides_a_group)
{
    dataset set = patients((dataset_options){.groups = "patient"});
    tg_error error;
    ck_assert_uint_eq(set.groups, 60);
    ck_assert_uint_eq(set.features, 1);
    ck_assert_str_eq(set.column[1].kind, "group");
    for (uint64_t seed = 0; seed < 20; seed++)
        for (int folds = 0; folds <= 6; folds += 6) {
            int tested[60] = {0}, all, sick;
            for (int fold = 0; fold < (folds ? folds : 1); fold++) {
                const dataset_parts parts = {.seed = seed, .folds = folds, .fold = fold};
                int of[60] = {0};
                ck_assert_msg(dataset_split(&set, &parts, &error), "%s", error.text);
                ck_assert_uint_eq(set.train.rows + set.validation.rows + set.test.rows, set.rows);
                count_patients(&set, &set.train, 1, of, &all, &sick);
                ck_assert_int_eq(all, folds ? 38 : 36);
                count_patients(&set, &set.validation, 2, of, &all, &sick);
                ck_assert_int_eq(all, 12);
                count_patients(&set, &set.test, 3, of, &all, &sick);
                ck_assert_int_eq(all, folds ? 10 : 12);
                ck_assert_int_le(abs(sick - (folds ? 3 : 4)), 1);
                ck_assert_uint_eq(dataset_count_groups(&set, &set.test), (size_t)all);
                for (int g = 0; g < 60; g++)
                    tested[g] += of[g] == 3;
            }
            for (int g = 0; folds && g < 60; g++)
                ck_assert_int_eq(tested[g], 1);
        }
    dataset_free(&set);
}
END_TEST

/* The first rows of another division, as of the nets of a refit, are whole groups. */
START_TEST(another_division_keeps_groups_together)
{
    dataset set = patients((dataset_options){.groups = "1"});
    tg_error error;
    ck_assert_msg(dataset_split(&set, &(dataset_parts){.seed = 3}, &error), "%s", error.text);
    int32_t order[240];
    for (uint64_t seed = 0; seed < 20; seed++) {
        size_t first = set.validation.rows;
        int of[60] = {0}, all, sick, rows[240] = {0};
        ck_assert(dataset_shuffle(&set, &set.train, seed, order, &first));
        ck_assert_uint_le(first, set.validation.rows + 4);
        ck_assert_uint_ge(first + 4, set.validation.rows);
        count_patients(&set, &(dataset_part){first, order}, 1, of, &all, &sick);
        count_patients(&set, &(dataset_part){set.train.rows - first, order + first}, 2, of, &all, &sick);
        for (size_t i = 0; i < set.train.rows; i++)
            ck_assert_int_eq(rows[order[i]]++, 0);
    }
    dataset_free(&set);
}
END_TEST

START_TEST(groups_that_cannot_be_are_refused)
{
    tg_error error;
    dataset set = patients((dataset_options){.groups = "patient"});
    ck_assert(!dataset_split(&set, &(dataset_parts){.folds = 61}, &error));
    ck_assert_str_eq(error.text, "table: 60 groups in 61 folds");
    ck_assert(!dataset_split(&set, &(dataset_parts){.validation = "first:9"}, &error));
    ck_assert_str_eq(error.text,
                     "table: a group has rows among the first 9 and behind them, and no split may divide it");
    ck_assert(!dataset_split(&set, &(dataset_parts){.validation = "0.6", .test = "0.4"}, &error));
    ck_assert_str_eq(error.text, "table: of 60 groups, 36 for validation and 24 for test leave none for training");
    dataset_free(&set);
    static const char text[] = "x,g,t\n1,a,0\n2,,1\n3,a,0\n4,b,1\n5,b,1\n6,NA,0\n";
    csv_expect_error(text, (dataset_options){.groups = "g"},
                     ":3, column 'g': empty, expected a word; use --missing drop or --missing mean");
    csv_expect_error(text, (dataset_options){.groups = "h"},
                     ": no column 'h', expected a name of the header or a number from -3 to 2");
    csv_expect_error(
        text, (dataset_options){.groups = "t"},
        ": column 't' is a target (--target; by default the last column), expected another one for groups");
    csv_expect_error(text, (dataset_options){.groups = "g", .ignore = "g"},
                     ": column 'g' is of groups, expected a feature");
    ck_assert_msg(csv_load(text, (dataset_options){.groups = "g", .missing = DATASET_MISSING_MEAN}, &set, &error), "%s",
                  error.text);
    ck_assert_uint_eq(set.rows, 4); /* those without a group are dropped */
    ck_assert_uint_eq(set.groups, 2);
    dataset_free(&set);
}
END_TEST

/* ---- real files ------------------------------------------------------------ */

START_TEST(real_tables_have_their_rows_and_tasks)
{
    static const struct {
        const char *path;
        dataset_task task;
        size_t rows, features, classes;
    } cases[] = {
        {"../shared/data/uci/iris.csv", DATASET_CLASSIFICATION, 150, 4, 3},
        {"../shared/data/uci/wdbc.csv", DATASET_CLASSIFICATION, 569, 30, 2},
        {"../shared/data/uci/winequality_red.csv", DATASET_CLASSIFICATION, 1599, 11, 6},
        {"../shared/data/uci/california_housing.csv", DATASET_REGRESSION, 20640, 8, 0},
        {"../shared/data/uci/concrete.csv", DATASET_REGRESSION, 1030, 8, 0},
        {"../shared/data/optdigits/optdigits.tra", DATASET_CLASSIFICATION, 3823, 64, 10},
        {"../shared/data/optdigits/optdigits.tes", DATASET_CLASSIFICATION, 1797, 64, 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (access(cases[i].path, R_OK) != 0) {
            printf("skipped: %s is not there\n", cases[i].path);
            continue;
        }
        dataset set;
        tg_error error;
        char spec[100];
        snprintf(spec, sizeof spec, "csv:%s", cases[i].path);
        ck_assert_msg(dataset_load(spec, NULL, &set, &error), "%s", error.text);
        ck_assert_msg(dataset_split(&set, NULL, &error), "%s", error.text);
        ck_assert_int_eq(set.task, cases[i].task);
        ck_assert_uint_eq(set.rows, cases[i].rows);
        ck_assert_uint_eq(set.features, cases[i].features);
        ck_assert_uint_eq(set.classes, cases[i].classes);
        for (size_t feature = 0; feature < set.features; feature++) {
            double sum = 0, squares = 0, count = (double)set.train.rows;
            if (set.column[feature].low == 0 && set.column[feature].high == 1 && set.feature_mean[feature] == 0)
                continue; /* 0 and 1 stay so */
            for (size_t row = 0; row < set.train.rows; row++) {
                double value = set.x[(size_t)set.train.row[row] * set.features + feature];
                sum += value;
                squares += value * value;
            }
            ck_assert_double_eq_tol(sum / count, 0, 1e-6);
            ck_assert_double_eq_tol(squares / count, set.feature_scale[feature] > 0 ? 1 : 0, 1e-5);
        }
        dataset_free(&set);
    }
}
END_TEST

START_TEST(the_first_wine_is_as_in_its_file)
{
    static const char path[] = "../shared/data/uci/winequality_red.csv";
    if (access(path, R_OK) != 0) {
        printf("skipped: %s is not there\n", path);
        return;
    }
    dataset set;
    tg_error error;
    dataset_options options = {.target = "quality", .task = DATASET_REGRESSION};
    ck_assert_msg(dataset_load("csv:../shared/data/uci/winequality_red.csv", &options, &set, &error), "%s", error.text);
    csv_split_off_first(&set);
    static const double wine[11] = {7.4, 0.7, 0, 1.9, 0.076, 11, 34, 0.9978, 3.51, 0.56, 9.4};
    for (size_t feature = 0; feature < 11; feature++)
        ck_assert_double_eq_tol(csv_original(&set, 0, feature), wine[feature], 1e-5);
    ck_assert_double_eq_tol(set.y[0] * set.target_scale[0] + set.target_mean[0], 5, 1e-6);
    dataset_free(&set);
}
END_TEST

/* ---- long tails ---- */

enum { TAILED = 101 };

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What scale, limit and values of the feature should be, from those of the training rows: all but the first. A hundred
 * values have their quartiles a quarter of the way between two. */
static void expect_softened(const dataset *set, size_t feature, const double *value)
{
    double sorted[TAILED - 1], sum = 0, squares = 0;
    memcpy(sorted, value + 1, sizeof sorted);
    qsort(sorted, TAILED - 1, sizeof *sorted, ascending);
    const double median = (sorted[49] + sorted[50]) / 2, low = 0.25 * sorted[24] + 0.75 * sorted[25],
                 high = 0.75 * sorted[74] + 0.25 * sorted[75],
                 unit = high > low ? high - low : (sorted[99] - sorted[0]) / 2;
    for (int row = 1; row < TAILED; row++) {
        const double u = (value[row] - median) / unit, y = u / sqrt(1 + u * u / 9);
        sum += y / 100;
        squares += y * y / 100;
    }
    const double deviation = sqrt(squares - sum * sum);
    ck_assert_double_eq_tol(set->feature_mean[feature], median, 1e-12 * fabs(median) + 1e-12);
    ck_assert_double_eq_tol(set->feature_scale[feature], unit * deviation, 1e-6 * unit);
    ck_assert_double_eq_tol(set->feature_limit[feature], 3 / deviation, 1e-6 / deviation);
    for (int row = 0; row < TAILED; row++) {
        const double u = (value[row] - median) / unit, y = u / sqrt(1 + u * u / 9) / deviation,
                     there = set->x[(size_t)row * set->features + feature];
        ck_assert_double_eq_tol(there, y, 1e-5);
        ck_assert_double_eq_tol(dataset_in_source(set, feature, there), value[row],
                                1e-3 * fabs(u) * unit + 1e-3 * unit);
    }
}

START_TEST(features_with_long_tails_are_softened)
{
    static char text[TAILED * 100] = "income,normal,visits,flag,tailed words,y\n";
    double income[TAILED], visits[TAILED];
    size_t used = strlen(text);
    tg_rng rng = tg_rng_seed(3);
    for (int row = 0; row < TAILED; row++) {
        income[row] = floor(exp(10 + tg_rng_normal(&rng)));
        visits[row] = row % 10 == 3 ? row : 0; /* whose quartiles are all 0 */
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%.0f,%.6f,%.0f,%d,%s,%d.5\n", income[row],
                             tg_rng_normal(&rng), visits[row], row % 50 == 7, row % 40 == 8 ? "rare" : "usual", row);
    }
    dataset set = loaded(text, (dataset_options){0});
    float before[TAILED * 6];
    ck_assert_uint_eq(set.features, 6);
    memcpy(before, set.x, sizeof before);
    ck_assert_int_eq(dataset_soften(&set, true), 2);
    expect_softened(&set, 0, income);
    expect_softened(&set, 2, visits);
    for (size_t i = 0; i < TAILED * 6; i++)
        ck_assert(i % 6 == 0 || i % 6 == 2 || set.x[i] == before[i]);
    ck_assert_int_eq(dataset_soften(&set, false), 0);
    ck_assert_mem_eq(set.x, before, sizeof before);
    ck_assert_double_eq(set.feature_limit[0], 0);
    dataset_free(&set);
    ck_assert(dataset_load("moons", NULL, &set, NULL) && dataset_split(&set, NULL, NULL));
    ck_assert_int_eq(dataset_soften(&set, true), 0); /* no table */
    dataset_free(&set);
}
END_TEST

Suite *data_csv_suite(void)
{
    Suite *suite = suite_create("data_csv");
    TCase *tests = tcase_create("files written here");
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, however_it_is_written_the_table_is_the_same);
    tcase_add_test(tests, commas_and_blanks_are_told_apart);
    tcase_add_test(tests, numbers_are_read_to_the_bit);
    tcase_add_test(tests, packed_files_are_read_too);
    tcase_add_test(tests, only_training_rows_decide_the_scale);
    tcase_add_test(tests, words_become_a_feature_each);
    tcase_add_test(tests, rows_with_missing_cells_can_be_dropped);
    tcase_add_test(tests, missing_cells_can_be_means_and_are_marked);
    tcase_add_test(tests, a_column_of_words_may_lose_all_of_them);
    tcase_add_test(tests, tiny_values_have_a_deviation);
    tcase_add_test(tests, large_values_do_not_cost_the_deviation);
    tcase_add_test(tests, words_become_classes_in_alphabetical_order);
    tcase_add_test(tests, whole_numbers_become_classes_in_ascending_order);
    tcase_add_test(tests, the_task_is_guessed_or_chosen);
    tcase_add_test(tests, targets_go_by_name_or_by_number);
    tcase_add_test(tests, splits_of_classes_are_stratified);
    tcase_add_test(tests, no_split_divides_a_group);
    tcase_add_test(tests, another_division_keeps_groups_together);
    tcase_add_test(tests, groups_that_cannot_be_are_refused);
    tcase_add_test(tests, features_with_long_tails_are_softened);
    suite_add_tcase(suite, tests);
    TCase *real = tcase_create("real files");
    tcase_set_timeout(real, 60);
    tcase_add_test(real, real_tables_have_their_rows_and_tasks);
    tcase_add_test(real, the_first_wine_is_as_in_its_file);
    suite_add_tcase(suite, real);
    return suite;
}
