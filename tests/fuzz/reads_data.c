/* The readers of data sets: CSV, IDX, texts. */
#include "examples/programs/run/source.h"
#include "tests/fuzz/dataset_sound.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

static void require_sound(const char *spec, const dataset_options *options)
{
    const char *problem = dataset_sound(spec, options);
    fuzz_require(!problem, problem);
}

void fuzz_csv(const uint8_t *bytes, size_t size)
{
    char spec[160];
    if (size == 0)
        return;
    const unsigned choice = bytes[0];
    const dataset_options options = {.task = (dataset_task)(choice & 3) % 3,
                                     .header = (dataset_header)(choice >> 2 & 3) % 3,
                                     .target = choice & 16   ? "0"
                                               : choice & 32 ? "-1,-2"
                                                             : NULL,
                                     .ignore = choice >> 6 == 3 ? "1" : NULL,
                                     .categorical = choice >> 6 == 2 ? "0" : NULL,
                                     .missing = (dataset_missing)(choice >> 6) % 3};
    snprintf(spec, sizeof spec, "csv:%s", fuzz_file("table.csv", bytes + 1, size - 1));
    require_sound(spec, &options);
    fuzz_remove("table.csv");
}

/* The input replaces a valid file, under its plain name or a compressed one. */
void fuzz_idx(const uint8_t *bytes, size_t size)
{
    static const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};
    static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 0, 1};
    static const char *const names[] = {"train-labels-idx1-ubyte", "train-images-idx3-ubyte",
                                        "train-labels-idx1-ubyte.gz", "train-images-idx3-ubyte.gz"};
    char spec[160];
    if (size == 0)
        return;
    const unsigned choice = bytes[0] % 4;
    if (choice % 2)
        fuzz_file(names[0], labels, sizeof labels);
    else
        fuzz_file(names[1], images, sizeof images);
    fuzz_file(names[choice], bytes + 1, size - 1);
    snprintf(spec, sizeof spec, "idx:%s", fuzz_folder());
    require_sound(spec, NULL);
    for (int i = 0; i < 4; i++)
        fuzz_remove(names[i]);
}

/* The first and the last batch of a part contain only characters of the vocabulary. */
static void check_batches(const tg_fit_rows *rows, int vocabulary, int context)
{
    enum { ROWS = 3, MOST = 8 };
    int32_t letters[ROWS * MOST], next[ROWS * MOST];
    void *const columns[] = {letters, next};
    tg_rng rng = tg_rng_seed(1);
    for (int64_t at = 0; at<rows->count; at += rows->count> 1 ? rows->count - 1 : 1) {
        const int64_t left = rows->count - at, count = left < ROWS ? left : ROWS;
        const bool windows = tg_shape_size(&rows->column[1].shape) > 1;
        int32_t order[ROWS];
        for (int i = 0; i < ROWS; i++)
            order[i] = (int32_t)(at + i);
        fuzz_require(rows->fill(rows->context, order, count, &rng, columns), "a batch is refused");
        for (int64_t i = 0; i < count * context; i++)
            fuzz_require(letters[i] >= 0 && letters[i] < vocabulary, "a letter out of range");
        for (int64_t i = 0; i < count * (windows ? context : 1); i++)
            fuzz_require(next[i] >= 0 && next[i] < vocabulary, "a letter out of range");
    }
}

void fuzz_text(const uint8_t *bytes, size_t size)
{
    static const double parts[] = {0.1, 0.5, 0, 1};
    tg_error error = {""};
    char spec[160];
    text_source text;
    tg_fit_rows train, valid, test;
    if (size == 0)
        return;
    const bool lines = bytes[0] & 1, windows = bytes[0] & 2;
    const net_spec net = {.model = windows ? "gpt" : "charmlp", .context = 2 + (bytes[0] >> 4 & 3)};
    snprintf(spec, sizeof spec, "%s:%s", lines ? "lines" : "text", fuzz_file("text", bytes + 1, size - 1));
    if (!text_load(spec, &text, &error))
        fuzz_require(fuzz_is_one_line(error.text), "no message of one line");
    else {
        if (!text_split(&text, parts[bytes[0] >> 2 & 3], bytes[0] >> 6 & 1 ? 0.2 : 0, 1, &error) ||
            !text_rows(&text, &net, 0, &train, &valid, &test, &error))
            fuzz_require(fuzz_is_one_line(error.text), "no message of one line");
        else {
            check_batches(&train, text.vocabulary, net.context);
            check_batches(&valid, text.vocabulary, net.context);
            if (test.count)
                check_batches(&test, text.vocabulary, net.context);
        }
        text_free(&text);
    }
    fuzz_remove("text");
}
