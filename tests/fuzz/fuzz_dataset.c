/* Feeds the readers of data sets whatever libFuzzer thinks of: `make fuzz`, or for ten minutes `make fuzz
 * FUZZ_SECONDS=600`.
 *
 * The first byte says which file the others are: a CSV file, or one of an IDX folder; and some options.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/fuzz/dataset_sound.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], csv_spec[128], idx_spec[128];

static void write_file(const char *name, const void *bytes, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static void remove_folder(void)
{
    static const char *const names[] = {"table.csv", "train-images-idx3-ubyte", "train-labels-idx1-ubyte"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void write_sound_idx(void)
{
    static const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};
    static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 0, 1};
    write_file("train-images-idx3-ubyte", images, sizeof images);
    write_file("train-labels-idx1-ubyte", labels, sizeof labels);
}

static void prepare(void)
{
    snprintf(folder, sizeof folder, "%s/fuzz-dataset-XXXXXX", P_tmpdir);
    if (!mkdtemp(folder))
        abort();
    snprintf(csv_spec, sizeof csv_spec, "csv:%s/table.csv", folder);
    snprintf(idx_spec, sizeof idx_spec, "idx:%s", folder);
    atexit(remove_folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!*folder)
        prepare();
    if (size == 0)
        return 0;
    unsigned choice = data[0];
    const char *problem;
    if (choice & 1) {
        dataset_options options = {.task = (dataset_task)(choice >> 1 & 3) % 3,
                                   .header = (dataset_header)(choice >> 3 & 3) % 3,
                                   .target = choice & 32 ? "0" : NULL,
                                   .missing = (dataset_missing)(choice >> 6) % 3};
        write_file("table.csv", data + 1, size - 1);
        problem = dataset_sound(csv_spec, &options);
    } else {
        write_sound_idx();
        write_file(choice & 2 ? "train-images-idx3-ubyte" : "train-labels-idx1-ubyte", data + 1, size - 1);
        problem = dataset_sound(idx_spec, NULL);
    }
    if (problem) {
        fprintf(stderr, "%s\n", problem);
        abort();
    }
    return 0;
}
