/* The readers of data sets under random damage and without memory. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/rng.h"
#include "tests/support/wrapped_memory.h"
#include "tests/fuzz/dataset_sound.h"
#include "tests/support/temporary_files.h"

Suite *data_robust_suite(void);

enum { MOST_BYTES = 4096 };

static const char csv_text[] =
    "x,\"y,y\",kind\n1,-2.5e3,rose\n2,+3,\"lily\"\n3,0,rose\r\n\n4,7,\"as\"\"ter\"\n5,8,lily\n";
static const unsigned char idx_images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};
static const unsigned char idx_labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 0, 1};

static char csv_spec[600], idx_spec[600];

static void make_files(void)
{
    temporary_folder_make();
    snprintf(csv_spec, sizeof csv_spec, "csv:%s", temporary_path("table.csv"));
    snprintf(idx_spec, sizeof idx_spec, "idx:%s", temporary_folder());
    temporary_write("table.csv", csv_text, sizeof csv_text - 1);
    temporary_write_gzip("train-images-idx3-ubyte.gz", idx_images, sizeof idx_images);
    temporary_write("train-labels-idx1-ubyte", idx_labels, sizeof idx_labels);
}

/* ---- damage ---------------------------------------------------------------- */

/* Writes `count` bytes at a random place: overwrites bytes or inserts them. */
static size_t splice(tg_rng *rng, unsigned char *bytes, size_t size, const void *piece, size_t count)
{
    size_t at = tg_rng_below(rng, size + 1), over = tg_rng_below(rng, 2) ? count : 0;
    over = at + over > size ? size - at : over;
    if (size - over + count > MOST_BYTES)
        return size;
    memmove(bytes + at + count, bytes + at + over, size - at - over);
    memcpy(bytes + at, piece, count);
    return size - over + count;
}

/* Makes one to four changes: a byte, a cut, a repeat, or text that has broken readers before. */
static size_t damage(tg_rng *rng, unsigned char *bytes, size_t size)
{
    static const struct {
        const char *text;
        size_t size;
    } traps[] = {{",", 1},
                 {"\n", 1},
                 {"\r", 1},
                 {"\"", 1},
                 {"\"\"", 2},
                 {"nan", 3},
                 {"1e39", 4},
                 {"-inf", 4},
                 {"0x1p3", 5},
                 {"\0", 1},
                 {"\xEF\xBB\xBF", 3},
                 {"\x1f\x8b", 2},
                 {";", 1},
                 {"\t", 1},
                 {" ", 1},
                 {"\xff\xff\xff\xff", 4},
                 {"\x80\0\0\0", 4},
                 {"\0\0\0\0", 4}};
    for (uint64_t changes = 1 + tg_rng_below(rng, 4); changes > 0; changes--) {
        unsigned char byte = (unsigned char)tg_rng_bits(rng), copy[64];
        size_t from = tg_rng_below(rng, size + 1), count = tg_rng_below(rng, sizeof copy);
        size_t trap = tg_rng_below(rng, sizeof traps / sizeof traps[0]);
        count = count > size - from ? size - from : count;
        switch (tg_rng_below(rng, 4)) {
        case 0:
            size = splice(rng, bytes, size, &byte, 1);
            break;
        case 1:
            memmove(bytes + from, bytes + from + count, size - from - count);
            size -= count;
            break;
        case 2:
            memcpy(copy, bytes + from, count);
            size = splice(rng, bytes, size, copy, count);
            break;
        default:
            size = splice(rng, bytes, size, traps[trap].text, traps[trap].size);
        }
    }
    return size;
}

static void try_damage(const char *name, const char *spec, const void *whole, size_t whole_size, bool packed)
{
    tg_rng seed = tg_rng_seed(20), of_file = tg_rng_stream(&seed, name);
    uint64_t times = getenv("TG_LONG") ? 100000 : 1500;
    for (uint64_t i = 0; i < times; i++) {
        tg_rng rng = tg_rng_split(&of_file, i);
        unsigned char bytes[MOST_BYTES];
        memcpy(bytes, whole, whole_size);
        size_t size = damage(&rng, bytes, whole_size);
        if (packed)
            temporary_write_gzip(name, bytes, size);
        else
            temporary_write(name, bytes, size);
        dataset_options options = {.seed = i};
        const char *problem = dataset_sound(spec, &options);
        ck_assert_msg(!problem, "%s, damage %zu: %s", name, (size_t)i, problem);
    }
}

START_TEST(damaged_tables_give_sound_data_or_one_line)
{
    static const char numbers[] = "1,2,0\n3,4,1\n-5,.6,0\n7,8e-1,1\n9,10,1\n";
    try_damage("table.csv", csv_spec, csv_text, sizeof csv_text - 1, false);
    try_damage("table.csv", csv_spec, numbers, sizeof numbers - 1, true);
}
END_TEST

START_TEST(damaged_images_and_labels_give_sound_data_or_one_line)
{
    try_damage("train-labels-idx1-ubyte", idx_spec, idx_labels, sizeof idx_labels, false);
    temporary_write("train-labels-idx1-ubyte", idx_labels, sizeof idx_labels);
    try_damage("train-images-idx3-ubyte.gz", idx_spec, idx_images, sizeof idx_images, true);
    unsigned char packed[200];
    FILE *file = fopen(temporary_path("train-images-idx3-ubyte.gz"), "rb");
    size_t size = fread(packed, 1, sizeof packed, file);
    fclose(file);
    try_damage("train-images-idx3-ubyte.gz", idx_spec, packed, size, false);
}
END_TEST

/* ---- no memory ------------------------------------------------------------- */

START_TEST(running_out_of_memory_anywhere_is_an_error_like_any_other)
{
    const char *specs[] = {csv_spec, csv_spec, idx_spec, "moons", "sine", "glyphs"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        dataset_options options = {.rows = i < 3 ? 0 : 20, .target = i == 1 ? "x" : NULL};
        if (i == 1) /* all numbers, and a regression */
            temporary_write("table.csv", "x,y\n1,2\n3,4\n", 12);
        int allocations = 0;
        for (bool reached = true; reached; allocations++) {
            dataset set;
            tg_error error = {""};
            wrapped_memory_fail_after(allocations);
            bool loaded = dataset_load(specs[i], &options, &set, &error) &&
                          dataset_split(&set, &(dataset_parts){.test = i == 2 ? NULL : "none"}, &error);
            reached = wrapped_memory_stop();
            ck_assert_msg(loaded == !reached, "%s, allocation %d: %s", specs[i], allocations, error.text);
            ck_assert_msg(loaded || strstr(error.text, "out of memory"), "%s: %s", specs[i], error.text);
            dataset_free(&set);
        }
        ck_assert_int_gt(allocations, 5);
    }
}
END_TEST

Suite *data_robust_suite(void)
{
    Suite *suite = suite_create("data_robust");
    TCase *tests = tcase_create("data_robust");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, make_files, temporary_folder_remove);
    tcase_add_test(tests, damaged_tables_give_sound_data_or_one_line);
    tcase_add_test(tests, damaged_images_and_labels_give_sound_data_or_one_line);
    tcase_add_test(tests, running_out_of_memory_anywhere_is_an_error_like_any_other);
    suite_add_tcase(suite, tests);
    return suite;
}
