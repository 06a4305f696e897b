/* From the columns of a CSV file to a data set: classes or numbers to predict. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/data/csv_columns.h"

enum { MOST_GUESSED_CLASSES = 20 };

/* ---- classes --------------------------------------------------------------- */

/* The different entries of a target column in ascending order: the classes. Words or numbers, as most cells are. */
typedef struct csv_classes {
    bool words;
    size_t count;
    const char **names; /* [count] if words */
    double *numbers;    /* [count] if not */
} csv_classes;

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_numbers(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void free_classes(csv_classes *classes)
{
    free(classes->names);
    free(classes->numbers);
}

static bool collect_names(const csv_source *source, size_t column, csv_classes *classes)
{
    size_t rows = source->rows;
    const char **names = classes->names = dataset_array(rows, 1, sizeof *names);
    if (!names)
        return dataset_fail(source->error, "%s: out of memory", source->table.path);
    for (size_t row = 0; row < rows; row++) {
        names[row] = csv_word_at(source, row, column);
        if (!names[row])
            return csv_fail_at(source, row, column, "a number, expected the name of a class as in most rows");
        if (!*names[row])
            return csv_fail_at(source, row, column, "empty, expected the name of a class");
    }
    qsort(names, rows, sizeof *names, compare_names);
    for (size_t row = 0; row < rows; row++)
        if (row == 0 || strcmp(names[row], names[classes->count - 1]) != 0)
            names[classes->count++] = names[row];
    return true;
}

static bool collect_numbers(const csv_source *source, size_t column, csv_classes *classes)
{
    size_t rows = source->rows;
    double *numbers = classes->numbers = dataset_array(rows, 1, sizeof *numbers);
    if (!numbers)
        return dataset_fail(source->error, "%s: out of memory", source->table.path);
    for (size_t row = 0; row < rows; row++) {
        numbers[row] = csv_value(source, row, column) + 0.0; /* -0 and 0 are one class */
        if (isnan(numbers[row]))
            return csv_fail_at_word(source, row, column);
    }
    qsort(numbers, rows, sizeof *numbers, compare_numbers);
    for (size_t row = 0; row < rows; row++)
        if (row == 0 || numbers[row] > numbers[classes->count - 1])
            numbers[classes->count++] = numbers[row];
    return true;
}

static bool collect_classes(const csv_source *source, size_t column, csv_classes *classes)
{
    size_t words = 0;
    for (size_t row = 0; row < source->rows; row++) {
        const char *word = csv_word_at(source, row, column);
        words += word && *word && !csv_word_is_huge(word);
    }
    *classes = (csv_classes){.words = words > source->rows / 2};
    return classes->words ? collect_names(source, column, classes) : collect_numbers(source, column, classes);
}

static bool are_whole(const csv_classes *classes)
{
    for (size_t i = 0; i < classes->count; i++)
        if (classes->numbers[i] != floor(classes->numbers[i]))
            return false;
    return true;
}

/* What the header of dataset_load promises for task auto. */
static bool looks_like_classification(const csv_source *source, const csv_classes *classes)
{
    if (classes->words)
        return true;
    return classes->count >= 2 && classes->count <= MOST_GUESSED_CLASSES &&
           classes->count <= source->rows / 2 && are_whole(classes);
}

static bool name_classes(dataset *set, const csv_classes *classes, const dataset_error *error)
{
    set->classes = classes->count;
    set->class_names = dataset_array(set->classes, 1, sizeof *set->class_names);
    for (size_t i = 0; set->class_names && i < set->classes; i++) {
        char number[32];
        if (!classes->words)
            snprintf(number, sizeof number, "%.9g", classes->numbers[i]);
        set->class_names[i] = strdup(classes->words ? classes->names[i] : number);
        if (!set->class_names[i])
            return dataset_fail(error, "%s: out of memory", set->name);
    }
    return set->class_names || dataset_fail(error, "%s: out of memory", set->name);
}

static int32_t find_label(const csv_source *source, const csv_classes *classes, size_t row)
{
    size_t column = source->target_columns[0];
    if (classes->words) {
        const char *name = csv_word_at(source, row, column);
        const char **found = bsearch(&name, classes->names, classes->count, sizeof name, compare_names);
        return (int32_t)(found - classes->names);
    }
    double number = csv_value(source, row, column);
    double *found = bsearch(&number, classes->numbers, classes->count, sizeof number, compare_numbers);
    return (int32_t)(found - classes->numbers);
}

/* ---- numbers ---- */

static bool is_target(const csv_source *source, size_t column)
{
    for (size_t i = 0; i < source->targets; i++)
        if (source->target_columns[i] == column)
            return true;
    return false;
}

/* The first word in a column of numbers, in reading order. */
static bool check_numbers(const csv_source *source, bool targets_too)
{
    size_t columns = source->table.columns, cell = source->first * columns;
    for (size_t word = csv_table_find(&source->table, cell); word < source->table.word_count; word++) {
        size_t row = source->table.words[word].cell / columns - source->first;
        size_t column = source->table.words[word].cell % columns;
        if (csv_word_at(source, row, column) && (targets_too || !is_target(source, column)))
            return csv_fail_at_word(source, row, column);
    }
    return true;
}

/* ---- putting it together --------------------------------------------------- */

static bool choose_task(const csv_source *source, const dataset_options *options, csv_classes *classes,
                        dataset *set)
{
    const char *path = source->table.path;
    set->task = options->task;
    if (source->targets > 1 && options->task == DATASET_CLASSIFICATION)
        return dataset_fail(source->error, "%s: %zu target columns, expected one for a classification", path,
                            source->targets);
    if (source->targets > 1)
        set->task = DATASET_REGRESSION;
    if (set->task == DATASET_REGRESSION)
        return true;
    size_t column = source->target_columns[0];
    if (!collect_classes(source, column, classes))
        return false;
    if (set->task == DATASET_TASK_AUTO)
        set->task = looks_like_classification(source, classes) ? DATASET_CLASSIFICATION : DATASET_REGRESSION;
    if (set->task == DATASET_REGRESSION)
        return true;
    for (size_t row = 0; !classes->words && row < source->rows; row++)
        if (csv_value(source, row, column) != floor(csv_value(source, row, column)))
            return csv_fail_at(source, row, column,
                               "a fraction, expected a whole number or a name for a class");
    if (classes->count < 2)
        return csv_fail_at(source, 0, column, "the only class in the file, expected at least 2");
    return name_classes(set, classes, source->error);
}

static void fill(const csv_source *source, const csv_classes *classes, dataset *set)
{
    const size_t width = set->features + set->targets;
    for (size_t row = 0; row < source->rows; row++) {
        double *to = set->source + row * width;
        for (size_t column = 0; column < source->table.columns; column++)
            if (!is_target(source, column))
                *to++ = csv_value(source, row, column);
        for (size_t i = 0; i < set->targets; i++)
            *to++ = csv_value(source, row, source->target_columns[i]);
        if (set->task == DATASET_CLASSIFICATION)
            set->labels[row] = find_label(source, classes, row);
    }
}

static bool name_targets(const csv_source *source, dataset *set)
{
    set->target_names = dataset_array(set->targets, 1, sizeof *set->target_names);
    for (size_t i = 0; set->target_names && i < set->targets; i++) {
        set->target_names[i] = strdup(source->first ? csv_column_name(source, source->target_columns[i]) : "");
        if (!set->target_names[i])
            return dataset_fail(source->error, "%s: out of memory", set->name);
    }
    return set->target_names || dataset_fail(source->error, "%s: out of memory", set->name);
}

static bool build(csv_source *source, const dataset_options *options, csv_classes *classes, dataset *set)
{
    const char *path = source->table.path;
    if (!csv_table_read(path, &source->table, source->error))
        return false;
    if (!csv_find_header(source, options->header) ||
        !csv_find_targets(source, options->target ? options->target : "-1"))
        return false;
    if (source->targets == source->table.columns)
        return dataset_fail(source->error, "%s: %zu %s, all of them targets, expected features as well", path,
                            source->targets, source->targets == 1 ? "column" : "columns");
    if (!check_numbers(source, false) || !choose_task(source, options, classes, set) ||
        (set->task == DATASET_REGRESSION && !check_numbers(source, true)))
        return false;
    set->rows = source->rows;
    set->features = source->table.columns - source->targets;
    set->targets = set->task == DATASET_REGRESSION ? source->targets : 0;
    if (!dataset_allocate(set, true, source->error) || (set->targets && !name_targets(source, set)))
        return false;
    fill(source, classes, set);
    return true;
}

bool dataset_load_csv(const char *path, const dataset_options *options, dataset *set,
                      const dataset_error *error)
{
    csv_source source = {.table.path = path, .error = error};
    csv_classes classes = {0};
    bool loaded = build(&source, options, &classes, set);
    free_classes(&classes);
    csv_table_free(&source.table);
    return loaded;
}
