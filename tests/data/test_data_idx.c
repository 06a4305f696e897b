/* The reader of MNIST's files, on files written here and on the real ones. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "examples/programs/data/dataset.h"
#include "tests/support/temporary_files.h"

Suite *data_idx_suite(void);

/* Five training images of 2 rows and 3 columns, two test images. Pixel i of image n is 10 n + i. */
enum { TRAIN = 5, TEST = 2, PIXELS = 6 };

static const unsigned char train_labels[TRAIN] = {3, 0, 1, 2, 0};

static size_t images_file(unsigned char *bytes, unsigned count)
{
    unsigned char header[16] = {0, 0, 8, 3, 0, 0, 0, (unsigned char)count, 0, 0, 0, 2, 0, 0, 0, 3};
    memcpy(bytes, header, sizeof header);
    for (unsigned i = 0; i < count * PIXELS; i++)
        bytes[sizeof header + i] = (unsigned char)(10 * (i / PIXELS) + i % PIXELS);
    return sizeof header + count * PIXELS;
}

static size_t labels_file(unsigned char *bytes, const unsigned char *labels, unsigned count)
{
    unsigned char header[8] = {0, 0, 8, 1, 0, 0, 0, (unsigned char)count};
    memcpy(bytes, header, sizeof header);
    memcpy(bytes + sizeof header, labels, count);
    return sizeof header + count;
}

typedef void writer(const char *name, const void *bytes, size_t size);

/* Writes the four files; `ending` is "" or ".gz". */
static void write_set(writer *write, const char *ending)
{
    unsigned char bytes[100];
    char name[64];
    snprintf(name, sizeof name, "train-images-idx3-ubyte%s", ending);
    write(name, bytes, images_file(bytes, TRAIN));
    snprintf(name, sizeof name, "train-labels-idx1-ubyte%s", ending);
    write(name, bytes, labels_file(bytes, train_labels, TRAIN));
    snprintf(name, sizeof name, "t10k-images-idx3-ubyte%s", ending);
    write(name, bytes, images_file(bytes, TEST));
    snprintf(name, sizeof name, "t10k-labels-idx1-ubyte%s", ending);
    write(name, bytes, labels_file(bytes, (unsigned char[]){1, 4}, TEST));
}

static bool load(const char *validation, dataset *set, tg_error *error)
{
    char spec[300];
    snprintf(spec, sizeof spec, "idx:%s", temporary_folder());
    return dataset_load(spec, NULL, set, error) &&
           dataset_split(set, &(dataset_parts){.validation = validation}, error);
}

/* Loading must fail with exactly this message after the folder and a slash. */
static void expect_error(const char *message)
{
    dataset set;
    tg_error error;
    char expected[400];
    ck_assert(!load(NULL, &set, &error));
    snprintf(expected, sizeof expected, "%s%s%s", temporary_folder(), *message == ':' ? "" : "/", message);
    ck_assert_str_eq(error.text, expected);
    ck_assert_ptr_null(set.name);
    ck_assert_ptr_null(set.x);
}

static void check_set(const dataset *set)
{
    ck_assert_int_eq(set->task, DATASET_CLASSIFICATION);
    ck_assert_uint_eq(set->height, 2);
    ck_assert_uint_eq(set->width, 3);
    ck_assert_uint_eq(set->features, PIXELS);
    ck_assert_uint_eq(set->classes, 5); /* the label 4 is in the test part only */
    ck_assert_str_eq(set->class_names[4], "4");
    ck_assert_uint_eq(set->train.rows + set->validation.rows, TRAIN);
    ck_assert_uint_eq(set->validation.rows, 1);
    ck_assert_uint_eq(set->test.rows, TEST);
    for (int row = 0; row < TRAIN; row++) {
        ck_assert_int_eq(set->labels[row], train_labels[row]);
        for (int i = 0; i < PIXELS; i++)
            ck_assert_float_eq(set->x[row * PIXELS + i], (float)(10 * row + i) / 255);
    }
    for (int row = 0; row < TEST; row++)
        ck_assert_int_eq(set->test.row[row], TRAIN + row);
    ck_assert_int_eq(set->labels[TRAIN], 1);
    ck_assert_int_eq(set->labels[TRAIN + 1], 4);
    ck_assert_float_eq(set->x[(TRAIN + 1) * PIXELS + 2], 12.f / 255);
    ck_assert_double_eq(set->feature_scale[0], 255);
}

START_TEST(plain_and_packed_files_give_pixels_and_labels)
{
    tg_error error;
    dataset set;
    write_set(temporary_write, "");
    ck_assert_msg(load(NULL, &set, &error), "%s", error.text);
    check_set(&set);
    dataset_free(&set);
    temporary_folder_remove();
    temporary_folder_make();
    write_set(temporary_write_gzip, ".gz");
    ck_assert_msg(load("0.2", &set, &error), "%s", error.text);
    check_set(&set);
    dataset_free(&set);
}
END_TEST

START_TEST(first_n_images_validate_and_need_no_test_files)
{
    write_set(temporary_write, "");
    temporary_delete("t10k-images-idx3-ubyte");
    temporary_delete("t10k-labels-idx1-ubyte");
    dataset set;
    tg_error error;
    ck_assert_msg(load("first:2", &set, &error), "%s", error.text);
    ck_assert_uint_eq(set.classes, 4);
    ck_assert_uint_eq(set.train.rows, 3);
    ck_assert_uint_eq(set.validation.rows, 2);
    ck_assert_uint_eq(set.test.rows, 0);
    for (int row = 0; row < TRAIN; row++) /* rows 0 and 1 validate, 2 to 4 train, in their order */
        ck_assert_int_eq(row < 2 ? set.validation.row[row] : set.train.row[row - 2], row);
    dataset_free(&set);
    write_set(temporary_write, "");
    temporary_delete("t10k-images-idx3-ubyte");
    expect_error(": found neither t10k-images-idx3-ubyte nor t10k-images-idx3-ubyte.gz");
    write_set(temporary_write, "");
    char spec[300];
    snprintf(spec, sizeof spec, "idx:%s", temporary_folder());
    ck_assert(dataset_load(spec, NULL, &set, &error));
    ck_assert(!dataset_split(&set, &(dataset_parts){.test = "0.2"}, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "it has its own test split, and no other can be chosen"));
    dataset_free(&set);
}
END_TEST

START_TEST(missing_files_and_folders_are_named)
{
    dataset set;
    tg_error error;
    ck_assert(!dataset_load("idx:no/such/folder", NULL, &set, &error));
    ck_assert_str_eq(error.text, "no/such/folder: no such folder");
    expect_error(": found neither train-images-idx3-ubyte nor train-images-idx3-ubyte.gz");
    write_set(temporary_write, "");
    temporary_delete("train-labels-idx1-ubyte");
    expect_error(": found neither train-labels-idx1-ubyte nor train-labels-idx1-ubyte.gz");
}
END_TEST

START_TEST(a_wrong_magic_number_is_refused)
{
    write_set(temporary_write, "");
    unsigned char bytes[100];
    size_t size = images_file(bytes, TRAIN);
    temporary_write("train-labels-idx1-ubyte", bytes, size);
    expect_error("train-labels-idx1-ubyte: magic number 0x00000803 at byte 0, expected 0x00000801 (unsigned bytes, 1 "
                 "dimension)");
    temporary_write("train-images-idx3-ubyte", "x,y,label", 9);
    expect_error("train-images-idx3-ubyte: magic number 0x782c792c at byte 0, expected 0x00000803 (unsigned bytes, 3 "
                 "dimensions)");
}
END_TEST

START_TEST(counts_of_images_and_labels_must_agree)
{
    write_set(temporary_write, "");
    unsigned char bytes[100];
    temporary_write("train-labels-idx1-ubyte", bytes, labels_file(bytes, train_labels, 4));
    char expected[400];
    snprintf(expected, sizeof expected, "train-labels-idx1-ubyte: 4 labels, expected 5 as there are images in %s",
             temporary_path("train-images-idx3-ubyte"));
    expect_error(expected);
}
END_TEST

START_TEST(sizes_in_the_header_are_not_trusted)
{
    write_set(temporary_write, "");
    unsigned char bytes[100];
    size_t size = images_file(bytes, TRAIN);
    temporary_write("train-images-idx3-ubyte", bytes, size - 1);
    expect_error("train-images-idx3-ubyte: 45 bytes, expected 46 for the header's 5 images of 2x3");
    temporary_write("train-images-idx3-ubyte", bytes, size + 1);
    expect_error("train-images-idx3-ubyte: 47 bytes, expected 46 for the header's 5 images of 2x3");
    memset(bytes + 4, 0xff, 12); /* the product overflows 64 bits */
    temporary_write("train-images-idx3-ubyte", bytes, size);
    expect_error("train-images-idx3-ubyte: 46 bytes, far fewer than the header's 4294967295 images of "
                 "4294967295x4294967295");
    memset(bytes + 4, 0, 4);
    temporary_write("train-images-idx3-ubyte", bytes, size);
    expect_error("train-images-idx3-ubyte: size 0 at byte 4, expected at least 1");
    temporary_write("train-images-idx3-ubyte", bytes, 0);
    expect_error("train-images-idx3-ubyte: the file is empty");
}
END_TEST

START_TEST(test_images_must_have_the_size_of_training_images)
{
    write_set(temporary_write, "");
    unsigned char bytes[100];
    size_t size = images_file(bytes, TEST);
    bytes[11] = 3;
    bytes[15] = 2;
    temporary_write("t10k-images-idx3-ubyte", bytes, size);
    char expected[400];
    snprintf(expected, sizeof expected, "t10k-images-idx3-ubyte: images of 3x2, expected 2x3 as in %s",
             temporary_path("train-images-idx3-ubyte"));
    expect_error(expected);
}
END_TEST

START_TEST(every_truncation_is_noticed)
{
    unsigned char bytes[100], packed[200];
    size_t size = images_file(bytes, TRAIN);
    write_set(temporary_write, "");
    dataset set;
    tg_error error;
    for (size_t cut = 0; cut < size; cut++) {
        temporary_write("train-images-idx3-ubyte", bytes, cut);
        ck_assert_msg(!load(NULL, &set, &error), "%zu of %zu bytes were accepted", cut, size);
    }
    temporary_delete("train-images-idx3-ubyte");
    temporary_write_gzip("train-images-idx3-ubyte.gz", bytes, size);
    FILE *file = fopen(temporary_path("train-images-idx3-ubyte.gz"), "rb");
    size = fread(packed, 1, sizeof packed, file);
    fclose(file);
    for (size_t cut = 0; cut < size; cut++) {
        temporary_write("train-images-idx3-ubyte.gz", packed, cut);
        ck_assert_msg(!load(NULL, &set, &error), "%zu of %zu packed bytes were accepted", cut, size);
    }
    temporary_write("train-images-idx3-ubyte.gz", packed, size - 4);
    expect_error("train-images-idx3-ubyte.gz: gzip data ends too early, after 46 unpacked bytes");
    temporary_write("train-images-idx3-ubyte.gz", packed, size);
    ck_assert_msg(load(NULL, &set, &error), "%s", error.text);
    dataset_free(&set);
}
END_TEST

START_TEST(no_corrupt_byte_of_gzip_data_goes_unnoticed)
{
    unsigned char bytes[100], packed[200];
    write_set(temporary_write_gzip, ".gz");
    FILE *file = fopen(temporary_path("train-images-idx3-ubyte.gz"), "rb");
    size_t size = fread(packed, 1, sizeof packed, file);
    fclose(file);
    dataset set;
    tg_error error;
    enum { GZIP_HEADER = 10, GZIP_TRAILER = 8 }; /* the time and the system in the header are not checked */
    for (size_t at = GZIP_HEADER; at < size; at++) {
        packed[at] ^= 0x10;
        temporary_write("train-images-idx3-ubyte.gz", packed, size);
        if (load(NULL, &set, &error)) { /* the unused bits of the last byte of packed data may have any value */
            ck_assert_uint_eq(at, size - GZIP_TRAILER - 1);
            check_set(&set);
            dataset_free(&set);
        }
        packed[at] ^= 0x10;
    }
    packed[size - 8] ^= 1;
    temporary_write("train-images-idx3-ubyte.gz", packed, size);
    expect_error("train-images-idx3-ubyte.gz: gzip data is corrupt (incorrect data check)");
    temporary_write("train-images-idx3-ubyte.gz", bytes, images_file(bytes, TRAIN));
    expect_error("train-images-idx3-ubyte.gz: not gzip data, expected by its name");
}
END_TEST

START_TEST(mnist_has_its_counts_its_mean_and_its_labels)
{
    static const char folder[] = "../shared/data/mnist";
    if (access(folder, R_OK) != 0) {
        printf("skipped: %s is not there\n", folder);
        return;
    }
    dataset set;
    tg_error error;
    ck_assert_msg(dataset_load("idx:../shared/data/mnist", NULL, &set, &error), "%s", error.text);
    ck_assert_str_eq(set.name, "mnist");
    ck_assert(dataset_split(&set, NULL, &error));
    ck_assert_uint_eq(set.train.rows, 54000);
    ck_assert_uint_eq(set.validation.rows, 6000);
    ck_assert_uint_eq(set.test.rows, 10000);
    ck_assert_uint_eq(set.features, 784);
    ck_assert_uint_eq(set.classes, 10);
    double sum = 0, squares = 0, count = 60000 * 784.;
    for (size_t i = 0; i < 60000 * 784; i++) {
        sum += set.x[i];
        squares += (double)set.x[i] * set.x[i];
    }
    ck_assert_double_eq_tol(sum / count, 0.1307, 5e-5); /* the well-known mean and deviation of the training images */
    ck_assert_double_eq_tol(sqrt(squares / count - sum / count * (sum / count)), 0.3081, 5e-5);
    static const int known[2][10] = {{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949},
                                     {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}};
    int seen[2][10] = {{0}};
    for (size_t row = 0; row < 60000; row++)
        seen[0][set.labels[row]]++;
    for (size_t row = 0; row < 10000; row++)
        seen[1][set.labels[60000 + row]]++;
    ck_assert_mem_eq(seen, known, sizeof known);
    static const int first[10] = {5, 0, 4, 1, 9, 2, 1, 3, 1, 4};
    for (int row = 0; row < 10; row++)
        ck_assert_int_eq(set.labels[row], first[row]);
    dataset_free(&set);
}
END_TEST

/* As other programs unpack them, and as EMNIST has them, whose letters begin with 1. */
START_TEST(files_may_have_other_names_and_labels_begin_with_1)
{
    static const char *const names[][4] = {
        {"train-images.idx3-ubyte", "train-labels.idx1-ubyte", "t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte"},
        {"emnist-letters-train-images-idx3-ubyte", "emnist-letters-train-labels-idx1-ubyte",
         "emnist-letters-test-images-idx3-ubyte", "emnist-letters-test-labels-idx1-ubyte"}};
    static const unsigned char labels[TRAIN] = {3, 1, 1, 2, 1}, more[TEST] = {1, 5};
    unsigned char bytes[100];
    for (int i = 0; i < 2; i++) {
        dataset set;
        tg_error error;
        temporary_write(names[i][0], bytes, images_file(bytes, TRAIN));
        temporary_write(names[i][1], bytes, labels_file(bytes, labels, TRAIN));
        temporary_write(names[i][2], bytes, images_file(bytes, TEST));
        temporary_write(names[i][3], bytes, labels_file(bytes, more, TEST));
        if (i == 1) {
            expect_error(": several files are called ...train-images-idx3-ubyte; keep the four files of one set in a "
                         "folder");
            for (int k = 0; k < 4; k++)
                unlink(temporary_path(names[0][k]));
        }
        ck_assert_msg(load("0.2", &set, &error), "%s", error.text);
        ck_assert_uint_eq(set.classes, 5);
        ck_assert_str_eq(set.class_names[0], "1");
        ck_assert_str_eq(set.class_names[4], "5");
        ck_assert_mem_eq(set.labels, ((int32_t[]){2, 0, 0, 1, 0, 0, 4}), 7 * sizeof(int32_t));
        ck_assert_uint_eq(set.test_rows, 2);
        dataset_free(&set);
    }
}
END_TEST

Suite *data_idx_suite(void)
{
    Suite *suite = suite_create("data_idx");
    TCase *tests = tcase_create("files written here");
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, plain_and_packed_files_give_pixels_and_labels);
    tcase_add_test(tests, first_n_images_validate_and_need_no_test_files);
    tcase_add_test(tests, missing_files_and_folders_are_named);
    tcase_add_test(tests, a_wrong_magic_number_is_refused);
    tcase_add_test(tests, counts_of_images_and_labels_must_agree);
    tcase_add_test(tests, sizes_in_the_header_are_not_trusted);
    tcase_add_test(tests, test_images_must_have_the_size_of_training_images);
    tcase_add_test(tests, every_truncation_is_noticed);
    tcase_add_test(tests, files_may_have_other_names_and_labels_begin_with_1);
    tcase_add_test(tests, no_corrupt_byte_of_gzip_data_goes_unnoticed);
    suite_add_tcase(suite, tests);
    TCase *real = tcase_create("MNIST");
    tcase_set_timeout(real, 60);
    tcase_add_test(real, mnist_has_its_counts_its_mean_and_its_labels);
    suite_add_tcase(suite, real);
    return suite;
}
