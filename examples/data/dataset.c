#include "examples/data/internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/rng.h"

bool dataset_fail(const dataset_error *error, const char *format, ...)
{
    if (!error || !error->text || error->size == 0)
        return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, error->size, format, arguments);
    va_end(arguments);
    for (char *letter = error->text; *letter; letter++)
        if ((unsigned char)*letter < ' ' || *letter == 0x7f)
            *letter = '?'; /* a quoted cell may hold a line break */
    return false;
}

void *dataset_array(size_t count, size_t width, size_t size)
{
    size_t items;
    if (__builtin_mul_overflow(count, width, &items))
        return NULL;
    return calloc(items ? items : 1, size);
}

/* ---- splitting ------------------------------------------------------------- */

/* Reads "first:N" or a fraction as the number of validation rows. */
static bool count_validation_rows(const char *source, size_t rows, const char *validation, size_t *count,
                                  bool *first, const dataset_error *error)
{
    const char *number = validation;
    char *end;
    *first = strncmp(validation, "first:", 6) == 0;
    if (*first) {
        number += 6;
        unsigned long long wanted = strtoull(number, &end, 10);
        if (*number < '0' || *number > '9' || *end || wanted == 0)
            return dataset_fail(error, "validation '%s': expected a number of rows after first:", validation);
        if (wanted >= rows)
            return dataset_fail(error, "%s: validation '%s' leaves nothing of %zu rows to train on", source,
                                validation, rows);
        *count = (size_t)wanted;
        return true;
    }
    double fraction = strtod(number, &end);
    if (end == number || *end || !(fraction > 0 && fraction < 1))
        return dataset_fail(
            error, "validation '%s': expected a fraction between 0 and 1, first:N or, for idx:, test",
            validation);
    if (rows < 2)
        return dataset_fail(error, "%s: %zu %s, expected at least 2, one to train and one to validate",
                            source, rows, rows == 1 ? "row" : "rows");
    *count = (size_t)llround(fraction * (double)rows);
    *count = *count < 1 ? 1 : *count >= rows ? rows - 1 : *count;
    return true;
}

bool dataset_split_rows(const char *source, size_t rows, const dataset_options *options, const char *standard,
                        dataset_split *split, const dataset_error *error)
{
    const char *validation = options->validation ? options->validation : standard;
    size_t count = 0;
    bool first = false;
    if (!count_validation_rows(source, rows, validation, &count, &first, error))
        return false;
    if (rows > INT32_MAX)
        return dataset_fail(error, "%s: %zu rows, expected at most %d", source, rows, INT32_MAX);
    int32_t *order = dataset_array(rows, 1, sizeof *order);
    int32_t *place = dataset_array(rows, 1, sizeof *place);
    if (!order || !place) {
        free(order);
        free(place);
        return dataset_fail(error, "%s: out of memory for %zu rows", source, rows);
    }

    for (size_t row = 0; row < rows; row++)
        order[row] = (int32_t)row;
    tg_rng seed = tg_rng_seed(options->seed), rng = tg_rng_stream(&seed, "dataset.split");
    if (!first)
        tg_rng_shuffle(&rng, rows, order);
    for (size_t i = 0; i < count; i++)
        place[order[i]] = -1;
    free(order);

    *split = (dataset_split){.train = rows - count, .validation = count, .place = place};
    int32_t next_train = 0, next_validation = (int32_t)split->train;
    for (size_t row = 0; row < rows; row++)
        place[row] = place[row] < 0 ? next_validation++ : next_train++;
    return true;
}

/* ---- memory ---------------------------------------------------------------- */

static double *filled(size_t count, double value)
{
    double *array = dataset_array(count, 1, sizeof *array);
    for (size_t i = 0; array && i < count; i++)
        array[i] = value;
    return array;
}

bool dataset_allocate(dataset *set, const dataset_split *split, const dataset_error *error)
{
    size_t rows = split->train + split->validation;
    dataset_part *train = &set->train, *validation = &set->validation;
    train->rows = split->train;
    validation->rows = split->validation;
    train->features = dataset_array(rows, set->features, sizeof *train->features);
    set->feature_mean = filled(set->features, 0);
    set->feature_scale = filled(set->features, 1);
    bool complete = train->features && set->feature_mean && set->feature_scale;
    if (set->task == DATASET_CLASSIFICATION) {
        train->labels = dataset_array(rows, 1, sizeof *train->labels);
        complete = complete && train->labels;
    } else {
        train->targets = dataset_array(rows, set->targets, sizeof *train->targets);
        set->target_mean = filled(set->targets, 0);
        set->target_scale = filled(set->targets, 1);
        complete = complete && train->targets && set->target_mean && set->target_scale;
    }
    if (!complete)
        return dataset_fail(error, "%s: out of memory for %zu rows of %zu features", set->name, rows,
                            set->features);
    validation->features = train->features + train->rows * set->features;
    if (train->labels)
        validation->labels = train->labels + train->rows;
    if (train->targets)
        validation->targets = train->targets + train->rows * set->targets;
    return true;
}

bool dataset_number_classes(dataset *set, const dataset_error *error)
{
    enum { LONGEST = 24 };
    set->class_names = dataset_array(set->classes, 1, sizeof *set->class_names);
    for (size_t i = 0; set->class_names && i < set->classes; i++) {
        set->class_names[i] = malloc(LONGEST);
        if (!set->class_names[i])
            return dataset_fail(error, "%s: out of memory", set->name);
        snprintf(set->class_names[i], LONGEST, "%zu", i);
    }
    return set->class_names || dataset_fail(error, "%s: out of memory", set->name);
}

void dataset_free(dataset *set)
{
    if (!set)
        return;
    for (size_t i = 0; set->class_names && i < set->classes; i++)
        free(set->class_names[i]);
    free(set->class_names);
    free(set->name);
    free(set->feature_mean);
    free(set->feature_scale);
    free(set->target_mean);
    free(set->target_scale);
    free(set->train.features); /* the validation part lies in the same blocks */
    free(set->train.labels);
    free(set->train.targets);
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
    return title;
}

/* An option that would be ignored is a misunderstanding, and better told. */
static bool options_fit(const char *spec, const dataset_options *options, const dataset_error *error)
{
    bool csv = strncmp(spec, "csv:", 4) == 0, idx = strncmp(spec, "idx:", 4) == 0;
    if (!csv && (options->target || options->header != DATASET_HEADER_AUTO))
        return dataset_fail(error, "%s: target column and header are for csv: only", spec);
    if ((csv || idx) && (options->rows || options->noise != 0))
        return dataset_fail(error, "%s: rows and noise are for generated data only", spec);
    if (!idx && options->validation && strcmp(options->validation, "test") == 0)
        return dataset_fail(error, "%s: validation 'test' is for idx: only, expected a fraction or first:N",
                            spec);
    if (!(options->noise <= 1000))
        return dataset_fail(error, "%s: noise %g, expected at most 1000", spec, options->noise);
    return true;
}

static bool load(const char *spec, const dataset_options *options, dataset *set, const dataset_error *error)
{
    if (!options_fit(spec, options, error))
        return false;
    bool csv = strncmp(spec, "csv:", 4) == 0, idx = strncmp(spec, "idx:", 4) == 0;
    const char *path = csv || idx ? spec + 4 : spec;
    if ((csv || idx) && !*path)
        return dataset_fail(error, "data set '%s': expected a %s after it", spec, csv ? "file" : "folder");
    set->name = title_of(path);
    if (!set->name)
        return dataset_fail(error, "%s: out of memory", spec);
    if (csv)
        return dataset_load_csv(path, options, set, error);
    bool loaded =
        idx ? dataset_load_idx(path, options, set, error) : dataset_generate(spec, options, set, error);
    if (loaded && options->task != DATASET_TASK_AUTO && options->task != set->task)
        return dataset_fail(error, "%s: the task is %s and cannot be chosen", spec,
                            set->task == DATASET_CLASSIFICATION ? "classification" : "regression");
    return loaded;
}

bool dataset_load(const char *spec, const dataset_options *options, dataset *set, char *error,
                  size_t error_size)
{
    static const dataset_options standard;
    dataset_error line = {error, error_size};
    if (!set)
        return dataset_fail(&line, "no place for the data set");
    *set = (dataset){0};
    if (!spec)
        return dataset_fail(&line, "no data set named");
    if (load(spec, options ? options : &standard, set, &line))
        return true;
    dataset_free(set);
    return false;
}
