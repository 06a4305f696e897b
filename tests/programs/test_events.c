/* --tensorboard: event files, read by an independent parser and, where TensorBoard is installed, by its own. */
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <glob.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *events_suite(void);

/* ---- a parser ---- */

enum { SCALARS = 4000 };
static struct scalar {
    char tag[60];
    long step;
    float value;
} scalars[SCALARS];
static int scalar_count;

/* CRC-32C by polynomial division, highest power first, with reflected bits. */
static uint32_t checksum(const unsigned char *bytes, size_t size)
{
    uint32_t rest = 0xffffffff, turned = 0;
    for (size_t bit = 0; bit < 8 * size; bit++) {
        const uint32_t top = rest >> 31 ^ (bytes[bit / 8] >> bit % 8 & 1);
        rest = rest << 1 ^ (top ? 0x1edc6f41 : 0);
    }
    for (int bit = 0; bit < 32; bit++)
        turned |= (rest >> bit & 1) << (31 - bit);
    return ~turned;
}

static uint64_t little(const unsigned char *bytes, int size)
{
    uint64_t number = 0;
    while (size--)
        number = number << 8 | bytes[size];
    return number;
}

static uint64_t varint(const unsigned char **at)
{
    uint64_t number = 0;
    int shift = 0;
    do
        number |= (uint64_t)(**at & 127) << shift, shift += 7;
    while (*(*at)++ & 128);
    return number;
}

/* A message of an event or inside one: fields of the wire types 0, 1, 2 and 5. */
static void parse(const unsigned char *at, const unsigned char *end, int depth, struct scalar *now)
{
    while (at < end) {
        const uint64_t key = varint(&at);
        const int field = (int)(key >> 3), type = (int)(key & 7);
        if (type == 0) {
            const uint64_t number = varint(&at);
            ck_assert(depth == 0 && field == 2);
            now->step = (long)number;
        } else if (type == 1) {
            double time;
            memcpy(&time, at, 8);
            ck_assert(depth == 0 && field == 1 && time > 1.7e9);
            at += 8;
        } else if (type == 5) {
            ck_assert(depth == 2 && field == 2);
            memcpy(&now->value, at, 4);
            at += 4;
        } else {
            ck_assert_int_eq(type, 2);
            const size_t size = varint(&at);
            if (depth == 0 && field == 3)
                ck_assert_int_eq(strncmp((const char *)at, "brain.Event:2", size), 0);
            else if (depth == 2 && field == 1)
                snprintf(now->tag, sizeof now->tag, "%.*s", (int)size, at);
            else
                parse(at, at + size, depth + 1, now);
            at += size;
        }
    }
    ck_assert_ptr_eq(at, end);
}

static void check_sum(const unsigned char *bytes, size_t size)
{
    const uint32_t masked = (uint32_t)little(bytes + size, 4) - 0xa282ead8;
    ck_assert_uint_eq(masked << 15 | masked >> 17, checksum(bytes, size));
}

/* Reads the only event file of a folder of the test. */
static void read_events(const char *folder)
{
    static unsigned char bytes[1 << 20];
    glob_t found;
    char pattern[300];
    snprintf(pattern, sizeof pattern, "%s/events.out.tfevents.*", temporary_path(folder));
    ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
    ck_assert_int_eq((int)found.gl_pathc, 1);
    FILE *file = fopen(found.gl_pathv[0], "rb");
    globfree(&found);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    scalar_count = 0;
    for (size_t at = 0; at < size;) {
        const size_t length = little(bytes + at, 8);
        struct scalar now = {.step = -1};
        ck_assert_uint_le(at + 16 + length, size);
        check_sum(bytes + at, 8);
        check_sum(bytes + at + 12, length);
        parse(bytes + at + 12, bytes + at + 12 + length, 0, &now);
        if (at > 0)
            scalars[scalar_count++] = now;
        at += 16 + length;
    }
}

/* ---- against the tables of the folder ---- */

/* Expects every number of the column `column` of FOLDER/NAME.csv, in order, and no other number with this tag. */
static void expect_column(const char *folder, const char *name, const char *column, const char *tag)
{
    char file[200], *rest, *line;
    int place = 0, step_place = 0, seen = 0;
    snprintf(file, sizeof file, "%s/%s.csv", folder, name);
    char *text = strdup(temporary_text(file));
    rest = text;
    line = strsep(&rest, "\n");
    for (char *field, *header = line; (field = strsep(&header, ",")) && strcmp(field, column) != 0; place++)
        continue;
    step_place = strcmp(name, "curves") == 0 ? 1 : 0;
    for (int i = 0; (line = strsep(&rest, "\n")) && *line;) {
        long step = 0;
        double value = NAN;
        if (*line == '#')
            continue;
        for (int at = 0; line; at++) {
            const char *field = strsep(&line, ",");
            step = at == step_place ? atol(field) : step;
            value = at == place && *field ? strtod(field, NULL) : value;
        }
        if (isnan(value))
            continue;
        while (i < scalar_count && strcmp(scalars[i].tag, tag) != 0)
            i++;
        ck_assert_msg(i < scalar_count, "%s: no %s of step %ld", folder, tag, step);
        ck_assert_int_eq(scalars[i].step, step);
        ck_assert(scalars[i].value == (float)value);
        i++, seen++;
    }
    for (int i = 0; i < scalar_count; i++)
        seen -= strcmp(scalars[i].tag, tag) == 0;
    ck_assert_int_eq(seen, 0);
    free(text);
}

/* Expects the measures on the test rows once, at the step of the best epoch. */
static void expect_test(const char *folder)
{
    char file[200];
    int best = 0, seen = 0;
    long step = 0;
    double loss = NAN;
    snprintf(file, sizeof file, "%s/result.json", folder);
    const char *text = temporary_text(file);
    ck_assert_int_eq(sscanf(strstr(text, "\"best_epoch\""), "\"best_epoch\":%d", &best), 1);
    text = strstr(strstr(text, "\"constant\""), "}}"); /* what a constant prediction gets comes first */
    ck_assert_int_eq(sscanf(strstr(text, "\"test\""), "\"test\":{\"loss\":%lf", &loss), 1);
    snprintf(file, sizeof file, "%s/curves.csv", folder);
    const char *line = temporary_text(file);
    for (int i = 0; i < best; i++)
        line = strchr(line, '\n') + 1;
    ck_assert_int_eq(sscanf(line, "%*d,%ld", &step), 1);
    for (int i = 0; i < scalar_count; i++)
        if (strcmp(scalars[i].tag, "loss/test") == 0) {
            ck_assert(scalars[i].value == (float)loss && scalars[i].step == step);
            seen++;
        }
    ck_assert_int_eq(seen, 1);
}

static void expect_run(const char *folder)
{
    read_events(folder);
    expect_column(folder, "steps", "train_loss", "loss/train");
    expect_column(folder, "curves", "train_loss", "loss/train_epoch");
    expect_column(folder, "curves", "val_loss", "loss/validation");
    expect_column(folder, "curves", "val_accuracy", "accuracy/validation");
    expect_column(folder, "curves", "dead_fraction", "dead_units");
    expect_test(folder);
}

/* The step of the last validation loss. */
static long last_validation(void)
{
    int i = scalar_count - 1;
    while (i > 0 && strcmp(scalars[i].tag, "loss/validation") != 0)
        i--;
    return scalars[i].step;
}

#define OPTIONS "--data csv:train.csv --hidden 8 --lr 0.001 --epochs 4 --no-plots --tensorboard "

START_TEST(event_files_hold_the_curves)
{
    ck_assert_uint_eq(checksum((const unsigned char *)"123456789", 9), 0xe3069283); /* RFC 3720's polynomial */
    expect_fine(train_run("compare", OPTIONS "--activations relu,silu --seeds 1 --out c"));
    expect_run("c/runs/relu-seed1");
    ck_assert_int_gt(scalar_count, 20);
    expect_run("c/runs/silu-seed1");
}
END_TEST

START_TEST(a_run_that_continues_has_one_event_file_with_all)
{
    expect_fine(train_run("compare",
                          "--data csv:train.csv --hidden 8 --lr 0.001 --epochs 4 --no-plots --activations relu "
                          "--seeds 1 --out c"));
    expect_fine(train_run("compare", OPTIONS "--activations relu --seeds 2 --out c"));
    expect_run("c/runs/relu-seed1"); /* it had finished before event files were asked for */
    expect_run("c/runs/relu-seed2");
    expect_fine(train_run("train", OPTIONS "--out t"));
    expect_fine(train_run("train", "--resume --epochs 6 --out t"));
    read_events("t");
    int epochs = 0;
    for (int i = 0; i < scalar_count; i++)
        epochs += strcmp(scalars[i].tag, "loss/validation") == 0;
    ck_assert_int_eq(epochs, 6);
}
END_TEST

START_TEST(tensorboard_reads_them)
{
    static const char program[] =
        "import sys\n"
        "try:\n"
        "    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator\n"
        "except ImportError:\n"
        "    print('not installed'); sys.exit()\n"
        "a = EventAccumulator('t'); a.Reload()\n"
        "print(len(a.Scalars('loss/validation')), a.Scalars('loss/validation')[-1].step)\n";
    char expected[40];
    const char *python = getenv("TG_TENSORBOARD_PYTHON");
    temporary_write("read.py", program, sizeof program - 1);
    expect_fine(train_run("train", OPTIONS "--out t"));
    read_events("t");
    snprintf(expected, sizeof expected, "4 %ld\n", last_validation());
    if (train_run(python ? python : "python3", "read.py") == 0 && strcmp(train_output, "not installed\n") != 0)
        ck_assert_str_eq(train_output, expected);
}
END_TEST

Suite *events_suite(void)
{
    Suite *suite = suite_create("events");
    TCase *tests = tcase_create("events");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, train_folder_make, temporary_folder_remove);
    tcase_add_test(tests, event_files_hold_the_curves);
    tcase_add_test(tests, a_run_that_continues_has_one_event_file_with_all);
    tcase_add_test(tests, tensorboard_reads_them);
    suite_add_tcase(suite, tests);
    return suite;
}
