#include "tests/bench/modes.h"

#include "examples/programs/data/dataset.h"

#include <limits.h>
#include <stdio.h>

int table_read_once(const char *path)
{
    dataset set;
    tg_error error;
    char spec[PATH_MAX + 8];
    snprintf(spec, sizeof spec, "csv:%s", path);
    const bool fine = dataset_load(spec, NULL, &set, &error);
    if (!fine || !dataset_split(&set, NULL, &error)) {
        fprintf(stderr, "bench: %s\n", error.text);
        return 1;
    }
    printf("%zu rows, %zu features\n", set.rows, set.features);
    dataset_free(&set);
    return 0;
}
