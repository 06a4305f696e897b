#include "examples/programs/train/seen.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* True if both have the same value of an option, or neither has one. */
static bool is_same(const json_t *a, const json_t *b, const char *option)
{
    const json_t *x = json_object_get(a, option), *y = json_object_get(b, option);
    return (!x && !y) || json_equal(x, y);
}

bool seen_by(const char *model, const json_t *config)
{
    static const char *const splits[] = {"validation", "test", "split", "folds", "fold", "groups"};
    char path[PATH_MAX];
    const char *slash = strrchr(model, '/');
    const int length = slash ? (int)(slash - model) : 1;
    if (snprintf(path, sizeof path, "%.*s/config.json", length, slash ? model : ".") >= (int)sizeof path)
        return false;
    json_t *theirs = json_load_file(path, 0, NULL);
    const char *split = json_string_value(json_object_get(config, "split"));
    bool same = is_same(theirs, config, "seed") || (split && strcmp(split, "fixed") == 0);
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++)
        same = same && is_same(theirs, config, splits[i]);
    const char *sum = json_object_get(theirs, "checksum_rows") ? "checksum_rows" : "checksum"; /* of an older version */
    const bool data = json_object_get(theirs, sum) && is_same(theirs, config, sum);
    json_decref(theirs);
    return data && !same;
}
