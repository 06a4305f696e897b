/* Splits, rows for tg_fit and synthetic data. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/programs/data/dataset.h"

Suite *data_suite(void);

#define PI 3.14159265358979323846

/* A data set in two parts: a validation part, and the rest for training. */
static dataset loaded(const char *spec, dataset_options options, const char *validation)
{
    dataset set;
    tg_error error;
    ck_assert_msg(dataset_load(spec, &options, &set, &error), "%s", error.text);
    ck_assert_msg(
        dataset_split(&set, &(dataset_parts){.seed = options.seed, .validation = validation, .test = "none"}, &error),
        "%s", error.text);
    return set;
}

static void expect_error(const char *spec, dataset_options options, const char *message)
{
    dataset set;
    tg_error error;
    ck_assert(!dataset_load(spec, &options, &set, &error));
    ck_assert_str_eq(error.text, message);
    ck_assert_ptr_null(set.name);
}

static bool same_features(const dataset *a, const dataset *b)
{
    return a->rows == b->rows && memcmp(a->x, b->x, a->rows * a->features * sizeof *a->x) == 0;
}

/* ---- parts ----------------------------------------------------------------- */

/* Every row is in one part, and the rows of a part are in order. */
static void check_parts(const dataset *set)
{
    const dataset_part *parts[] = {&set->train, &set->validation, &set->test};
    char *seen = calloc(set->rows, 1);
    size_t rows = 0;
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < parts[k]->rows; i++, rows++) {
            const int32_t row = parts[k]->row[i];
            ck_assert(row >= 0 && (size_t)row < set->rows && !seen[row]);
            ck_assert(i == 0 || row > parts[k]->row[i - 1]);
            seen[row] = 1;
        }
    ck_assert_uint_eq(rows, set->rows);
    free(seen);
}

START_TEST(parts_use_every_row_once_and_keep_its_order)
{
    static const struct {
        dataset_parts parts;
        size_t validation, test;
    } cases[] = {
        {{.seed = 4, .validation = "0.3", .test = "none"}, 150, 0}, {{.seed = 4}, 100, 100},
        {{.validation = "first:20", .test = "0.5"}, 20, 250},       {{.validation = "0.2", .test = "first:7"}, 100, 7},
        {{.validation = "0.1", .folds = 3, .fold = 2}, 50, 167},    {{.validation = "0.0001", .test = "0.0001"}, 1, 1},
    };
    tg_error error;
    dataset set = loaded("sine", (dataset_options){.rows = 500}, "0.5");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_msg(dataset_split(&set, &cases[i].parts, &error), "%s", error.text);
        ck_assert_uint_eq(set.validation.rows, cases[i].validation);
        ck_assert_uint_eq(set.test.rows, cases[i].test);
        check_parts(&set);
    }
    dataset_free(&set);
}
END_TEST

START_TEST(every_row_is_in_the_test_part_of_one_fold)
{
    tg_error error;
    dataset set = loaded("moons", (dataset_options){.rows = 103}, "0.5");
    for (int first = 0; first < 2; first++) { /* the first rows are for validation, and in no fold */
        int tested[103] = {0};
        for (int fold = 0; fold < 5; fold++) {
            const dataset_parts parts = {.seed = 3, .validation = first ? "first:50" : NULL, .folds = 5, .fold = fold};
            ck_assert_msg(dataset_split(&set, &parts, &error), "%s", error.text);
            ck_assert_int_eq((int)set.test.rows / (first ? 10 : 20), 1);
            check_parts(&set);
            for (size_t i = 0; i < set.test.rows; i++)
                tested[set.test.row[i]]++;
        }
        for (int row = 0; row < 103; row++)
            ck_assert_int_eq(tested[row], !first || row >= 50);
    }
    dataset_free(&set);
}
END_TEST

START_TEST(seeds_draw_other_parts_and_the_same_seed_the_same)
{
    tg_error error;
    dataset set = loaded("moons", (dataset_options){0}, "0.5");
    int32_t first[2000], again[2000];
    size_t same = 0;
    ck_assert(dataset_split(&set, &(dataset_parts){.seed = 1}, &error));
    memcpy(first, set.order, sizeof first);
    ck_assert(dataset_split(&set, &(dataset_parts){.seed = 2}, &error));
    for (size_t i = 0; i < set.test.rows; i++)
        for (size_t k = 0; k < set.test.rows; k++)
            same += set.test.row[i] == first[2000 - set.test.rows + k];
    ck_assert_uint_gt(same, 50); /* about a fifth of 400 */
    ck_assert_uint_lt(same, 110);
    ck_assert(dataset_split(&set, &(dataset_parts){.seed = 1}, &error));
    memcpy(again, set.order, sizeof again);
    ck_assert_mem_eq(first, again, sizeof first);
    dataset_free(&set);
}
END_TEST

START_TEST(a_seed_decides_what_is_generated)
{
    dataset first = loaded("moons", (dataset_options){.seed = 5}, "0.2"),
            again = loaded("moons", (dataset_options){.seed = 5}, "0.3");
    dataset other = loaded("moons", (dataset_options){.seed = 6}, "0.2");
    ck_assert(same_features(&first, &again));
    ck_assert_mem_eq(first.labels, again.labels, 2000 * sizeof(int32_t));
    ck_assert(!same_features(&first, &other));
    dataset_free(&first);
    dataset_free(&again);
    dataset_free(&other);
}
END_TEST

static void expect_no_parts(dataset *set, dataset_parts parts, const char *message)
{
    tg_error error;
    ck_assert(!dataset_split(set, &parts, &error));
    ck_assert_str_eq(error.text, message);
    ck_assert(set->train.rows == 0 && set->validation.rows == 0 && set->test.rows == 0);
}

START_TEST(bad_parts_are_explained)
{
    char message[200];
    static const char *const wrong[] = {"1", "0", "-0.1", "nan", "half", "", "0.5x"};
    dataset set = loaded("moons", (dataset_options){0}, "0.2");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(message, sizeof message, "validation '%s': expected a fraction between 0 and 1 or first:N", wrong[i]);
        expect_no_parts(&set, (dataset_parts){.validation = wrong[i]}, message);
        snprintf(message, sizeof message, "test '%s': expected a fraction between 0 and 1 or first:N, or none",
                 wrong[i]);
        expect_no_parts(&set, (dataset_parts){.test = wrong[i]}, message);
    }
    expect_no_parts(&set, (dataset_parts){.validation = "first:"},
                    "validation 'first:': expected a number of rows after first:");
    expect_no_parts(&set, (dataset_parts){.validation = "first:-1"},
                    "validation 'first:-1': expected a number of rows after first:");
    expect_no_parts(&set, (dataset_parts){.validation = "first:5", .test = "first:6"},
                    "moons: the first rows cannot both validate and test");
    expect_no_parts(&set, (dataset_parts){.validation = "first:2000"},
                    "moons: of 2000 rows, 2000 for validation and 400 for test leave none for training");
    expect_no_parts(&set, (dataset_parts){.validation = "0.5", .test = "0.5"},
                    "moons: of 2000 rows, 1000 for validation and 1000 for test leave none for training");
    expect_no_parts(&set, (dataset_parts){.folds = 1}, "moons: 1 fold is no cross-validation, expected 2 or more");
    expect_no_parts(&set, (dataset_parts){.folds = 3000}, "moons: 2000 rows in 3000 folds");
    expect_no_parts(&set, (dataset_parts){.validation = "first:1950", .folds = 60}, "moons: 50 rows in 60 folds");
    expect_no_parts(&set, (dataset_parts){.folds = 3, .test = "0.2"},
                    "moons: the folds are the test splits, and no other can be chosen");
    dataset_free(&set);
}
END_TEST

START_TEST(bad_options_are_explained)
{
    expect_error("moons", (dataset_options){.rows = SIZE_MAX},
                 "moons: 18446744073709551615 rows, expected at most 2147483647");
    expect_error("moons", (dataset_options){.noise = NAN}, "moons: noise nan, expected at most 1000");
    expect_error("moons", (dataset_options){.target = "x"}, "moons: target column and header are for csv: only");
    expect_error("moons", (dataset_options){.task = DATASET_REGRESSION},
                 "moons: the task is classification and cannot be chosen");
    expect_error("csv:x.csv", (dataset_options){.rows = 9}, "csv:x.csv: rows and noise are for synthetic data only");
}
END_TEST

START_TEST(an_unknown_data_set_is_an_error)
{
    expect_error(
        "mons", (dataset_options){0},
        "unknown data set 'mons', expected one of spirals, moons, circles, sine, hills, glyphs, idx:DIR, csv:FILE; "
        "texts are text:FILE, lines:FILE, pairs:FILE");
    expect_error("csv:", (dataset_options){0}, "data set 'csv:': expected a file after it");
    expect_error("idx:", (dataset_options){0}, "data set 'idx:': expected a folder after it");
    dataset set;
    ck_assert(!dataset_load(NULL, NULL, &set, NULL));
    ck_assert(!dataset_load("moons", NULL, NULL, NULL));
    dataset_free(NULL);
    dataset_free(&set);
}
END_TEST

/* ---- rows for tg_fit ---- */

/* Existing records of runs depend on these numbers. */
START_TEST(orders_of_epochs_stay_what_they_were)
{
    static const struct {
        uint64_t seed;
        int64_t epoch;
        int32_t rows[10];
    } orders[] = {{1, 1, {4, 2, 9, 3, 8, 5, 6, 0, 1, 7}},
                  {1, 2, {9, 2, 3, 1, 0, 7, 6, 5, 8, 4}},
                  {7, 50, {4, 0, 8, 6, 7, 5, 3, 1, 2, 9}}};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        int32_t rows[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
        dataset_feed_order(orders[i].seed, orders[i].epoch, rows, 10);
        ck_assert_mem_eq(rows, orders[i].rows, sizeof rows);
    }
}
END_TEST

enum { BATCH = 10 };

START_TEST(labels_and_targets_travel_with_their_features)
{
    dataset circles = loaded("circles", (dataset_options){.noise = -1}, "0.2"),
            sine = loaded("sine", (dataset_options){.noise = -1}, "0.2");
    dataset_feed train = {&circles, &circles.train}, validation = {&sine, &sine.validation};
    const tg_fit_rows classes = dataset_feed_rows(&train), curve = dataset_feed_rows(&validation);
    const int32_t rows[BATCH] = {9, 8, 7, 0, 1, 2, 50, 51, 52, 99};
    float points[BATCH * 2], x[BATCH], y[BATCH];
    int32_t labels[BATCH];
    ck_assert(classes.count == (int64_t)circles.train.rows && classes.columns == 2 &&
              classes.column[1].dtype == TG_I32);
    ck_assert(curve.count == (int64_t)sine.validation.rows && curve.column[1].dtype == TG_F32);
    ck_assert(classes.fill(classes.context, rows, BATCH, NULL, (void *[]){points, labels}));
    ck_assert(curve.fill(curve.context, rows, BATCH, NULL, (void *[]){x, y}));
    for (size_t i = 0; i < BATCH; i++) {
        ck_assert_mem_eq(points + 2 * i, circles.x + 2 * circles.train.row[rows[i]], 2 * sizeof *points);
        ck_assert_double_eq_tol(hypot(points[2 * i], points[2 * i + 1]), labels[i] ? 0.5 : 1, 1e-6);
        ck_assert_double_eq_tol(y[i], sin(3. * x[i]) + x[i] / 2., 1e-6);
    }
    dataset_free(&circles);
    dataset_free(&sine);
}
END_TEST

START_TEST(noise_is_uniform_and_new_for_each_batch)
{
    dataset set = loaded("moons", (dataset_options){.rows = 2000}, "first:1000");
    dataset_feed feed = {&set, &set.validation, .inputs_only = true, .noise = 0.5, .random = tg_rng_seed(3)};
    const tg_fit_rows rows = dataset_feed_rows(&feed);
    int32_t row[1000];
    float x[2000], again[2000];
    double sum = 0, squares = 0;
    for (int32_t i = 0; i < 1000; i++)
        row[i] = i;
    ck_assert(rows.columns == 1 && rows.fill(&feed, row, 1000, NULL, (void *[]){x}) &&
              rows.fill(&feed, row, 1000, NULL, (void *[]){again}));
    for (int i = 0; i < 2000; i++) {
        const double noise = (double)x[i] - set.x[i];
        ck_assert_double_le(fabs(noise), 0.5 + 1e-6);
        ck_assert(x[i] != again[i]);
        sum += noise;
        squares += noise * noise;
    }
    ck_assert_double_eq_tol(sum / 2000, 0, 0.03);            /* 5 standard errors of the mean, 0.289 / sqrt(2000) */
    ck_assert_double_eq_tol(squares / 2000, 1. / 12, 0.009); /* 5 standard errors, 0.0745 / sqrt(2000) */
    dataset_free(&set);
}
END_TEST

/* ---- generated data -------------------------------------------------------- */

START_TEST(points_without_noise_lie_on_their_curves)
{
    dataset spirals = loaded("spirals", (dataset_options){.noise = -1}, "0.2");
    dataset moons = loaded("moons", (dataset_options){.noise = -1}, "0.2");
    for (size_t row = 0; row < 1600; row++) {
        double x = spirals.x[2 * row], y = spirals.x[2 * row + 1], radius = hypot(x, y);
        double turn = atan2(y, x) - 3.5 * PI * radius - PI * spirals.labels[row];
        ck_assert_double_le(radius, 1 + 1e-6);
        ck_assert_double_eq_tol(radius * remainder(turn, 2 * PI), 0, 1e-5);
        x = moons.x[2 * row];
        y = moons.x[2 * row + 1];
        bool lower = moons.labels[row] == 1;
        ck_assert_double_eq_tol(lower ? hypot(x - 1, y - 0.5) : hypot(x, y), 1, 1e-6);
        ck_assert(lower ? y <= 0.5 : y >= 0);
    }
    dataset_free(&spirals);
    dataset_free(&moons);
}
END_TEST

START_TEST(noise_has_the_deviation_that_was_asked_for)
{
    dataset set = loaded("sine", (dataset_options){.seed = 2, .rows = 40000, .noise = 0.25}, "0.2");
    double squares = 0;
    for (size_t row = 0; row < set.train.rows; row++) {
        double x = set.x[row], away = set.y[row] - (sin(3 * x) + x / 2);
        squares += away * away;
    }
    /* five standard errors of a deviation: 5 / sqrt(2 N) */
    ck_assert_double_eq_tol(sqrt(squares / (double)set.train.rows) / 0.25, 1, 5 / sqrt(2. * 32000));
    dataset_free(&set);
}
END_TEST

START_TEST(more_rows_change_none_of_the_first)
{
    static const char *const specs[] = {"spirals", "moons", "circles", "sine", "hills", "glyphs"};
    for (size_t i = 0; i < 5; i++) {
        dataset few = loaded(specs[i], (dataset_options){.rows = 50}, "first:10");
        dataset more = loaded(specs[i], (dataset_options){.rows = 90}, "first:10");
        ck_assert_mem_eq(few.x, more.x, 50 * few.features * sizeof(float));
        ck_assert_str_eq(few.name, specs[i]);
        ck_assert_double_eq(few.feature_mean[0], 0);
        ck_assert_double_eq(few.feature_scale[0], 1);
        dataset_free(&few);
        dataset_free(&more);
    }
}
END_TEST

/* Squared distance between two pictures. */
static double apart(const float *a, const float *b)
{
    double sum = 0;
    for (size_t i = 0; i < 784; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

START_TEST(glyphs_are_grey_balanced_and_neither_trivial_nor_noise)
{
    dataset set = loaded("glyphs", (dataset_options){.seed = 3, .rows = 6000}, "first:1000");
    ck_assert_uint_eq(set.width, 28);
    ck_assert_uint_eq(set.height, 28);
    ck_assert_uint_eq(set.classes, 10);
    ck_assert_str_eq(set.class_names[9], "9");
    float(*means)[784] = calloc(10, sizeof *means);
    int seen[10] = {0}, grey = 0;
    for (size_t row = 1000; row < 6000; row++) {
        seen[set.labels[row]]++;
        for (size_t i = 0; i < 784; i++) {
            float pixel = set.x[row * 784 + i];
            grey += pixel >= 0 && pixel <= 1; /* libcheck hands each assertion to another process: not one a pixel */
            means[set.labels[row]][i] += pixel / 500;
        }
    }
    ck_assert_int_eq(grey, 5000 * 784);
    for (int digit = 0; digit < 10; digit++)
        ck_assert_int_eq(seen[digit], 500);
    /* Classification by the nearest class mean is far better than guessing and far worse than a network. */
    int right = 0;
    for (size_t row = 0; row < 1000; row++) {
        int best = 0;
        for (int digit = 1; digit < 10; digit++)
            if (apart(means[digit], set.x + row * 784) < apart(means[best], set.x + row * 784))
                best = digit;
        right += best == set.labels[row];
    }
    ck_assert_int_ge(right, 500);
    ck_assert_int_le(right, 850);
    free(means);
    dataset_free(&set);
}
END_TEST

START_TEST(glyphs_come_as_ten_two_and_two_thousand)
{
    tg_error error;
    dataset set = loaded("glyphs", (dataset_options){0}, "0.2");
    ck_assert(dataset_split(&set, NULL, &error));
    ck_assert_uint_eq(set.train.rows, 10000);
    ck_assert_uint_eq(set.validation.rows, 2000);
    ck_assert_uint_eq(set.test.rows, 2000);
    dataset_free(&set);
}
END_TEST

Suite *data_suite(void)
{
    Suite *suite = suite_create("data");
    TCase *tests = tcase_create("data");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, parts_use_every_row_once_and_keep_its_order);
    tcase_add_test(tests, every_row_is_in_the_test_part_of_one_fold);
    tcase_add_test(tests, seeds_draw_other_parts_and_the_same_seed_the_same);
    tcase_add_test(tests, a_seed_decides_what_is_generated);
    tcase_add_test(tests, bad_parts_are_explained);
    tcase_add_test(tests, bad_options_are_explained);
    tcase_add_test(tests, an_unknown_data_set_is_an_error);
    tcase_add_test(tests, orders_of_epochs_stay_what_they_were);
    tcase_add_test(tests, labels_and_targets_travel_with_their_features);
    tcase_add_test(tests, noise_is_uniform_and_new_for_each_batch);
    tcase_add_test(tests, points_without_noise_lie_on_their_curves);
    tcase_add_test(tests, noise_has_the_deviation_that_was_asked_for);
    tcase_add_test(tests, more_rows_change_none_of_the_first);
    tcase_add_test(tests, glyphs_are_grey_balanced_and_neither_trivial_nor_noise);
    tcase_add_test(tests, glyphs_come_as_ten_two_and_two_thousand);
    suite_add_tcase(suite, tests);
    return suite;
}
