/* Splits, batches and generated data. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/data/dataset.h"

Suite *data_suite(void);

#define PI 3.14159265358979323846

static dataset loaded(const char *spec, dataset_options options)
{
    dataset set;
    char error[256];
    ck_assert_msg(dataset_load(spec, &options, &set, error, sizeof error), "%s", error);
    return set;
}

static void expect_error(const char *spec, dataset_options options, const char *message)
{
    dataset set;
    char error[256];
    ck_assert(!dataset_load(spec, &options, &set, error, sizeof error));
    ck_assert_str_eq(error, message);
    ck_assert_ptr_null(set.name);
}

static bool same_features(const dataset *a, const dataset *b)
{
    size_t rows = a->train.rows + a->validation.rows;
    return rows == b->train.rows + b->validation.rows &&
           memcmp(a->train.features, b->train.features, rows * a->features * sizeof(float)) == 0;
}

/* ---- splits ---------------------------------------------------------------- */

static int compare_floats(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

START_TEST(a_split_uses_every_row_once)
{
    /* The x of a sine are all different: sorted, those of both parts together are the same for every split. */
    dataset unsplit = loaded("sine", (dataset_options){.seed = 4, .rows = 500, .validation = "first:1"});
    dataset split = loaded("sine", (dataset_options){.seed = 4, .rows = 500, .validation = "0.3"});
    ck_assert_uint_eq(split.train.rows, 350);
    ck_assert_uint_eq(split.validation.rows, 150);
    ck_assert_ptr_eq(split.validation.features, split.train.features + 350);
    ck_assert_ptr_eq(split.validation.targets, split.train.targets + 350);
    qsort(unsplit.train.features, 500, sizeof(float), compare_floats);
    qsort(split.train.features, 500, sizeof(float), compare_floats);
    ck_assert(same_features(&unsplit, &split));
    dataset_free(&unsplit);
    dataset_free(&split);
}
END_TEST

START_TEST(a_split_keeps_the_order_within_both_parts)
{
    dataset in_order = loaded("sine", (dataset_options){.rows = 300, .validation = "first:100"});
    dataset split = loaded("sine", (dataset_options){.rows = 300, .validation = "0.5"});
    size_t next[2] = {0, 0};
    for (size_t row = 0; row < 300; row++) { /* merging the parts in their order gives the source */
        float x = row < 100 ? in_order.validation.features[row] : in_order.train.features[row - 100];
        if (next[0] < split.train.rows && split.train.features[next[0]] == x)
            next[0]++;
        else if (next[1] < split.validation.rows && split.validation.features[next[1]] == x)
            next[1]++;
    }
    ck_assert_uint_eq(next[0], 150);
    ck_assert_uint_eq(next[1], 150);
    dataset_free(&in_order);
    dataset_free(&split);
}
END_TEST

START_TEST(a_seed_decides_data_and_split)
{
    dataset first = loaded("moons", (dataset_options){.seed = 5}),
            again = loaded("moons", (dataset_options){.seed = 5});
    dataset other = loaded("moons", (dataset_options){.seed = 6});
    ck_assert(same_features(&first, &again));
    ck_assert_mem_eq(first.train.labels, again.train.labels, 2000 * sizeof(int32_t));
    ck_assert(!same_features(&first, &other));
    dataset_free(&first);
    dataset_free(&again);
    dataset_free(&other);
}
END_TEST

START_TEST(bad_options_are_explained)
{
    static const char fraction[] = "expected a fraction between 0 and 1, first:N or, for idx:, test";
    char message[200];
    static const char *const wrong[] = {"1", "0", "-0.1", "nan", "half", "", "0.5x"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(message, sizeof message, "validation '%s': %s", wrong[i], fraction);
        expect_error("moons", (dataset_options){.validation = wrong[i]}, message);
    }
    expect_error("moons", (dataset_options){.validation = "first:"},
                 "validation 'first:': expected a number of rows after first:");
    expect_error("moons", (dataset_options){.validation = "first:-1"},
                 "validation 'first:-1': expected a number of rows after first:");
    expect_error("moons", (dataset_options){.validation = "first:2000"},
                 "moons: validation 'first:2000' leaves nothing of 2000 rows to train on");
    expect_error("moons", (dataset_options){.validation = "test"},
                 "moons: validation 'test' is for idx: only, expected a fraction or first:N");
    expect_error("moons", (dataset_options){.rows = 1},
                 "moons: 1 row, expected at least 2, one to train and one to validate");
    expect_error("moons", (dataset_options){.rows = SIZE_MAX},
                 "moons: 18446744073709551615 rows, expected at most 2147483647");
    expect_error("moons", (dataset_options){.noise = NAN}, "moons: noise nan, expected at most 1000");
    expect_error("moons", (dataset_options){.target = "x"},
                 "moons: target column and header are for csv: only");
    expect_error("moons", (dataset_options){.task = DATASET_REGRESSION},
                 "moons: the task is classification and cannot be chosen");
    expect_error("csv:x.csv", (dataset_options){.rows = 9},
                 "csv:x.csv: rows and noise are for generated data only");
}
END_TEST

START_TEST(an_unknown_data_set_is_an_error)
{
    expect_error(
        "mons", (dataset_options){0},
        "unknown data set 'mons', expected spirals, moons, circles, sine, glyphs, idx:DIR or csv:FILE");
    expect_error("csv:", (dataset_options){0}, "data set 'csv:': expected a file after it");
    expect_error("idx:", (dataset_options){0}, "data set 'idx:': expected a folder after it");
    dataset set;
    char tiny[8];
    ck_assert(!dataset_load(NULL, NULL, &set, NULL, 0));
    ck_assert(!dataset_load("mons", NULL, &set, tiny, sizeof tiny));
    ck_assert_str_eq(tiny, "unknown");
    ck_assert(!dataset_load("moons", NULL, NULL, NULL, 0));
    dataset_free(NULL);
    dataset_free(&set);
}
END_TEST

/* ---- batches --------------------------------------------------------------- */

enum { ROWS = 103, BATCH = 10 };

/* One epoch's x in their order; gives the number of batches. */
static size_t run_epoch(dataset_batches *batches, float order[ROWS], size_t *rows)
{
    float features[BATCH], targets[BATCH];
    size_t count = 0, got;
    *rows = 0;
    while ((got = dataset_batches_next(batches, features, NULL, targets)) > 0) {
        ck_assert_uint_le(*rows + got, ROWS);
        memcpy(order + *rows, features, got * sizeof *order);
        *rows += got;
        count++;
    }
    return count;
}

START_TEST(an_epoch_visits_every_row_once)
{
    dataset set = loaded("sine", (dataset_options){.rows = ROWS + 20, .validation = "first:20"});
    dataset_batches batches;
    ck_assert(dataset_batches_init(&batches, &set, &set.train, BATCH, DATASET_KEEP_PARTIAL));
    ck_assert_uint_eq(dataset_batches_count(&batches), 11);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        float order[ROWS];
        size_t rows;
        dataset_batches_start(&batches, 1, epoch);
        ck_assert_uint_eq(run_epoch(&batches, order, &rows), 11);
        ck_assert_uint_eq(rows, ROWS);
        ck_assert(memcmp(order, set.train.features, sizeof order) != 0);
        float sorted[ROWS];
        memcpy(sorted, set.train.features, sizeof sorted);
        qsort(order, ROWS, sizeof *order, compare_floats);
        qsort(sorted, ROWS, sizeof *sorted, compare_floats);
        ck_assert_mem_eq(order, sorted, sizeof order);
    }
    dataset_batches_free(&batches);
    dataset_free(&set);
}
END_TEST

START_TEST(partial_batches_can_be_dropped)
{
    dataset set = loaded("sine", (dataset_options){.rows = ROWS + 20, .validation = "first:20"});
    dataset_batches batches;
    float order[ROWS];
    size_t rows;
    ck_assert(dataset_batches_init(&batches, &set, &set.train, BATCH, DATASET_DROP_PARTIAL));
    ck_assert_uint_eq(dataset_batches_count(&batches), 10);
    ck_assert_uint_eq(run_epoch(&batches, order, &rows), 10);
    ck_assert_uint_eq(rows, 100);
    ck_assert_mem_eq(order, set.train.features, 100 * sizeof *order); /* not started: the order of the part */
    dataset_batches_free(&batches);
    ck_assert(!dataset_batches_init(&batches, &set, &set.train, 0, DATASET_KEEP_PARTIAL));
    ck_assert(!dataset_batches_init(&batches, NULL, &set.train, 1, DATASET_KEEP_PARTIAL));
    ck_assert_uint_eq(dataset_batches_count(&batches), 0);
    dataset_batches_start(&batches, 0, 0);
    ck_assert_uint_eq(dataset_batches_next(&batches, order, NULL, NULL), 0);
    dataset_batches_free(&batches);
    dataset_batches_free(NULL);
    dataset_free(&set);
}
END_TEST

START_TEST(an_order_depends_on_seed_and_epoch_alone)
{
    dataset set = loaded("sine", (dataset_options){.rows = ROWS + 20, .validation = "first:20"});
    dataset_batches batches, resumed;
    float fifth[ROWS], again[ROWS], other[ROWS];
    size_t rows;
    ck_assert(dataset_batches_init(&batches, &set, &set.train, BATCH, DATASET_KEEP_PARTIAL));
    for (uint64_t epoch = 0; epoch <= 5; epoch++) {
        dataset_batches_start(&batches, 9, epoch);
        run_epoch(&batches, fifth, &rows);
    }
    ck_assert(dataset_batches_init(&resumed, &set, &set.train, BATCH, DATASET_KEEP_PARTIAL));
    dataset_batches_start(&resumed, 9, 5);
    run_epoch(&resumed, again, &rows);
    ck_assert_mem_eq(fifth, again, sizeof fifth);
    dataset_batches_start(&resumed, 9, 6);
    run_epoch(&resumed, other, &rows);
    ck_assert(memcmp(fifth, other, sizeof fifth) != 0);
    dataset_batches_start(&resumed, 10, 5);
    run_epoch(&resumed, other, &rows);
    ck_assert(memcmp(fifth, other, sizeof fifth) != 0);
    dataset_batches_free(&batches);
    dataset_batches_free(&resumed);
    dataset_free(&set);
}
END_TEST

START_TEST(labels_and_targets_travel_with_their_features)
{
    dataset circles = loaded("circles", (dataset_options){.noise = -1});
    dataset sine = loaded("sine", (dataset_options){.noise = -1});
    dataset_batches batches;
    float features[BATCH * 2], targets[BATCH];
    int32_t labels[BATCH];
    ck_assert(dataset_batches_init(&batches, &circles, &circles.train, BATCH, DATASET_KEEP_PARTIAL));
    dataset_batches_start(&batches, 1, 1);
    for (size_t rows; (rows = dataset_batches_next(&batches, features, labels, NULL)) > 0;)
        for (size_t i = 0; i < rows; i++)
            ck_assert_double_eq_tol(hypot(features[2 * i], features[2 * i + 1]), labels[i] ? 0.5 : 1, 1e-6);
    dataset_batches_free(&batches);
    ck_assert(dataset_batches_init(&batches, &sine, &sine.validation, BATCH, DATASET_KEEP_PARTIAL));
    dataset_batches_start(&batches, 1, 1);
    for (size_t rows; (rows = dataset_batches_next(&batches, features, NULL, targets)) > 0;)
        for (size_t i = 0; i < rows; i++)
            ck_assert_double_eq_tol(targets[i], sin(3. * features[i]) + features[i] / 2., 1e-6);
    dataset_batches_free(&batches);
    dataset_free(&circles);
    dataset_free(&sine);
}
END_TEST

/* ---- generated data -------------------------------------------------------- */

START_TEST(points_without_noise_lie_on_their_curves)
{
    dataset spirals = loaded("spirals", (dataset_options){.noise = -1});
    dataset moons = loaded("moons", (dataset_options){.noise = -1});
    for (size_t row = 0; row < 1600; row++) {
        double x = spirals.train.features[2 * row], y = spirals.train.features[2 * row + 1],
               radius = hypot(x, y);
        double turn = atan2(y, x) - 3.5 * PI * radius - PI * spirals.train.labels[row];
        ck_assert_double_le(radius, 1 + 1e-6);
        ck_assert_double_eq_tol(radius * remainder(turn, 2 * PI), 0, 1e-5);
        x = moons.train.features[2 * row];
        y = moons.train.features[2 * row + 1];
        bool lower = moons.train.labels[row] == 1;
        ck_assert_double_eq_tol(lower ? hypot(x - 1, y - 0.5) : hypot(x, y), 1, 1e-6);
        ck_assert(lower ? y <= 0.5 : y >= 0);
    }
    dataset_free(&spirals);
    dataset_free(&moons);
}
END_TEST

START_TEST(noise_has_the_deviation_that_was_asked_for)
{
    dataset set = loaded("sine", (dataset_options){.seed = 2, .rows = 40000, .noise = 0.25});
    double squares = 0;
    for (size_t row = 0; row < set.train.rows; row++) {
        double x = set.train.features[row], away = set.train.targets[row] - (sin(3 * x) + x / 2);
        squares += away * away;
    }
    /* five standard errors of a deviation: 5 / sqrt(2 N) */
    ck_assert_double_eq_tol(sqrt(squares / (double)set.train.rows) / 0.25, 1, 5 / sqrt(2. * 32000));
    dataset_free(&set);
}
END_TEST

START_TEST(more_rows_change_none_of_the_first)
{
    static const char *const specs[] = {"spirals", "moons", "circles", "sine", "glyphs"};
    for (size_t i = 0; i < 5; i++) {
        dataset few = loaded(specs[i], (dataset_options){.rows = 50, .validation = "first:10"});
        dataset more = loaded(specs[i], (dataset_options){.rows = 90, .validation = "first:10"});
        ck_assert_mem_eq(few.train.features, more.train.features, 40 * few.features * sizeof(float));
        ck_assert_mem_eq(few.validation.features, more.validation.features,
                         10 * few.features * sizeof(float));
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
    dataset set = loaded("glyphs", (dataset_options){.seed = 3, .rows = 6000, .validation = "first:1000"});
    ck_assert_uint_eq(set.width, 28);
    ck_assert_uint_eq(set.height, 28);
    ck_assert_uint_eq(set.classes, 10);
    ck_assert_str_eq(set.class_names[9], "9");
    float(*means)[784] = calloc(10, sizeof *means);
    int seen[10] = {0};
    for (size_t row = 0; row < 5000; row++) {
        seen[set.train.labels[row]]++;
        for (size_t i = 0; i < 784; i++) {
            float pixel = set.train.features[row * 784 + i];
            ck_assert(pixel >= 0 && pixel <= 1);
            means[set.train.labels[row]][i] += pixel / 500;
        }
    }
    for (int digit = 0; digit < 10; digit++)
        ck_assert_int_eq(seen[digit], 500);
    /* The nearest mean picture of a class guesses far better than chance and far worse than a network. */
    int right = 0;
    for (size_t row = 0; row < 1000; row++) {
        int best = 0;
        for (int digit = 1; digit < 10; digit++)
            if (apart(means[digit], set.validation.features + row * 784) <
                apart(means[best], set.validation.features + row * 784))
                best = digit;
        right += best == set.validation.labels[row];
    }
    ck_assert_int_ge(right, 500);
    ck_assert_int_le(right, 850);
    free(means);
    dataset_free(&set);
}
END_TEST

START_TEST(glyphs_come_as_twelve_and_two_thousand)
{
    dataset set = loaded("glyphs", (dataset_options){0});
    ck_assert_uint_eq(set.train.rows, 12000);
    ck_assert_uint_eq(set.validation.rows, 2000);
    dataset_free(&set);
}
END_TEST

Suite *data_suite(void)
{
    Suite *suite = suite_create("data");
    TCase *tests = tcase_create("data");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_split_uses_every_row_once);
    tcase_add_test(tests, a_split_keeps_the_order_within_both_parts);
    tcase_add_test(tests, a_seed_decides_data_and_split);
    tcase_add_test(tests, bad_options_are_explained);
    tcase_add_test(tests, an_unknown_data_set_is_an_error);
    tcase_add_test(tests, an_epoch_visits_every_row_once);
    tcase_add_test(tests, partial_batches_can_be_dropped);
    tcase_add_test(tests, an_order_depends_on_seed_and_epoch_alone);
    tcase_add_test(tests, labels_and_targets_travel_with_their_features);
    tcase_add_test(tests, points_without_noise_lie_on_their_curves);
    tcase_add_test(tests, noise_has_the_deviation_that_was_asked_for);
    tcase_add_test(tests, more_rows_change_none_of_the_first);
    tcase_add_test(tests, glyphs_are_grey_balanced_and_neither_trivial_nor_noise);
    tcase_add_test(tests, glyphs_come_as_twelve_and_two_thousand);
    suite_add_tcase(suite, tests);
    return suite;
}
