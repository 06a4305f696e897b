#include "examples/data/internal.h"
#include "examples/data/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *dataset_array(size_t count, size_t width, size_t size)
{
    size_t items;
    if (__builtin_mul_overflow(count, width, &items))
        return NULL;
    return calloc(items ? items : 1, size);
}

/* ---- memory ---------------------------------------------------------------- */

static double *filled(size_t count, double value)
{
    double *array = dataset_array(count, 1, sizeof *array);
    for (size_t i = 0; array && i < count; i++)
        array[i] = value;
    return array;
}

bool dataset_allocate(dataset *set, bool source, tg_error *error)
{
    if (set->rows > INT32_MAX)
        return tg_fail(error, "%s: %zu rows, expected at most %d", set->name, set->rows, INT32_MAX);
    set->x = dataset_array(set->rows, set->features, sizeof *set->x);
    set->feature_mean = filled(set->features, 0);
    set->feature_scale = filled(set->features, 1);
    bool complete = set->x && set->feature_mean && set->feature_scale;
    if (set->task == DATASET_CLASSIFICATION) {
        set->labels = dataset_array(set->rows, 1, sizeof *set->labels);
        complete = complete && set->labels;
    } else {
        set->y = dataset_array(set->rows, set->targets, sizeof *set->y);
        set->target_mean = filled(set->targets, 0);
        set->target_scale = filled(set->targets, 1);
        complete = complete && set->y && set->target_mean && set->target_scale;
    }
    if (source)
        set->source = dataset_array(set->rows, set->features + set->targets, sizeof *set->source);
    if (!complete || (source && !set->source))
        return tg_fail(error, "%s: out of memory for %zu rows of %zu features", set->name, set->rows, set->features);
    return true;
}

bool dataset_number_classes(dataset *set, tg_error *error)
{
    enum { LONGEST = 24 };
    set->class_names = dataset_array(set->classes, 1, sizeof *set->class_names);
    for (size_t i = 0; set->class_names && i < set->classes; i++) {
        set->class_names[i] = malloc(LONGEST);
        if (!set->class_names[i])
            return tg_fail(error, "%s: out of memory", set->name);
        snprintf(set->class_names[i], LONGEST, "%zu", i);
    }
    return set->class_names || tg_fail(error, "%s: out of memory", set->name);
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

void dataset_free(dataset *set)
{
    if (!set)
        return;
    free_names(set->class_names, set->classes);
    free_names(set->target_names, set->targets);
    free(set->target_column);
    free(set->name);
    free(set->feature_mean);
    free(set->feature_scale);
    free(set->target_mean);
    free(set->target_scale);
    for (size_t i = 0; set->feature && i < set->features; i++) {
        free(set->feature[i].column);
        free(set->feature[i].category);
    }
    free(set->feature);
    for (size_t i = 0; set->column && i < set->columns; i++) {
        free(set->column[i].name);
        free(set->column[i].example);
    }
    free(set->column);
    free(set->x);
    free(set->y);
    free(set->labels);
    free(set->source);
    free(set->order);
    *set = (dataset){0};
}

/* ---- loading --------------------------------------------------------------- */

/* The last component of a path, without the endings of a CSV file. */
static char *title_of(const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    char *title = strndup(path + start, end - start);
    static const char *const endings[] = {".gz", ".csv"};
    for (size_t i = 0; title && i < sizeof endings / sizeof endings[0]; i++) {
        size_t length = strlen(title), cut = strlen(endings[i]);
        if (length > cut && strcmp(title + length - cut, endings[i]) == 0)
            title[length - cut] = 0;
    }
    return title ? plain_text(title) : NULL;
}

static const dataset_kind *find_kind(const char *spec, const char **path)
{
    const size_t length = strcspn(spec, ":");
    const dataset_kind *kind;
    for (size_t i = 0; (kind = dataset_kind_at(i)); i++)
        if (strlen(kind->name) == length && strncmp(kind->name, spec, length) == 0 &&
            (spec[length] == ':') == (kind->path != NULL))
            break;
    *path = kind && kind->path ? spec + length + 1 : spec;
    return kind;
}

/* Reject options that would have no effect. */
static bool options_fit(const char *spec, const dataset_kind *kind, const dataset_options *options, tg_error *error)
{
    if (!kind->columns && (options->target || options->header != DATASET_HEADER_AUTO))
        return tg_fail(error, "%s: target column and header are for csv: only", spec);
    if (!kind->columns && (options->ignore || options->categorical || options->missing != DATASET_MISSING_ERROR))
        return tg_fail(error, "%s: ignored, categorical and missing columns are for csv: only", spec);
    if (kind->path && (options->rows || options->noise != 0))
        return tg_fail(error, "%s: rows and noise are for synthetic data only", spec);
    if (!(options->noise <= 1000))
        return tg_fail(error, "%s: noise %g, expected at most 1000", spec, options->noise);
    return true;
}

static bool load(const char *spec, const dataset_options *options, dataset *set, tg_error *error)
{
    const char *path;
    const dataset_kind *kind = find_kind(spec, &path);
    if (!kind && access(spec, F_OK) == 0)
        return tg_fail(error, "'%s' is a file; csv:%s reads it as a table", spec, spec);
    if (!kind)
        return tg_fail(error, "unknown data set '%s', expected one of %s", spec, dataset_kinds());
    if (!options_fit(spec, kind, options, error))
        return false;
    if (!*path)
        return tg_fail(error, "data set '%s': expected a %s after it", spec,
                       strcmp(kind->path, "DIR") == 0 ? "folder" : "file");
    set->kind = kind;
    set->name = title_of(dataset_path_name(path));
    if (!set->name)
        return tg_fail(error, "%s: out of memory", spec);
    if (!kind->load(path, options, set, error))
        return false;
    if (options->task != DATASET_TASK_AUTO && options->task != set->task)
        return tg_fail(error, "%s: the task is %s and cannot be chosen", spec,
                       set->task == DATASET_CLASSIFICATION ? "classification" : "regression");
    return true;
}

bool dataset_load(const char *spec, const dataset_options *options, dataset *set, tg_error *error)
{
    static const dataset_options standard;
    if (!set)
        return tg_fail(error, "no place for the data set");
    *set = (dataset){0};
    if (!spec)
        return tg_fail(error, "no data set named");
    if (load(spec, options ? options : &standard, set, error))
        return true;
    dataset_free(set);
    return false;
}
