#include "examples/data/csv_classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_numbers(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

void csv_classes_free(csv_classes *classes)
{
    free(classes->names);
    free(classes->numbers);
}

static bool collect_names(const csv_source *source, size_t column, bool missing, csv_classes *classes)
{
    size_t rows = source->rows;
    const char **names = classes->names = dataset_array(rows, 1, sizeof *names);
    if (!names)
        return dataset_fail(source->error, "%s: out of memory", source->table.path);
    size_t found = 0;
    for (size_t row = 0; row < rows; row++) {
        const char *name = csv_word_at(source, row, column);
        if (missing && csv_is_missing(name))
            continue;
        if (!name)
            return csv_fail_at(source, row, column, "a number, expected the name of a class as in most rows");
        if (!*name)
            return csv_fail_at(source, row, column,
                               "empty, expected the name of a class; use --missing drop or --missing mean");
        if (csv_is_missing(name))
            return csv_fail_at(source, row, column,
                               "a sign that it is missing, expected a word; use --missing drop or --missing mean");
        names[found++] = name;
    }
    qsort(names, found, sizeof *names, compare_names);
    for (size_t row = 0; row < found; row++)
        if (row == 0 || strcmp(names[row], names[classes->count - 1]) != 0)
            names[classes->count++] = names[row];
    return true;
}

static bool collect_numbers(const csv_source *source, size_t column, bool missing, csv_classes *classes)
{
    size_t rows = source->rows;
    double *numbers = classes->numbers = dataset_array(rows, 1, sizeof *numbers);
    if (!numbers)
        return dataset_fail(source->error, "%s: out of memory", source->table.path);
    size_t found = 0;
    for (size_t row = 0; row < rows; row++) {
        const double number = csv_value(source, row, column) + 0.0; /* -0 and 0 are one class */
        if (missing && csv_is_missing(csv_word_at(source, row, column)))
            continue;
        if (isnan(number))
            return csv_fail_at_word(source, row, column);
        numbers[found++] = number;
    }
    qsort(numbers, found, sizeof *numbers, compare_numbers);
    for (size_t row = 0; row < found; row++)
        if (row == 0 || numbers[row] > numbers[classes->count - 1])
            numbers[classes->count++] = numbers[row];
    return true;
}

bool csv_classes_collect(const csv_source *source, size_t column, bool missing, csv_classes *classes)
{
    size_t words = 0;
    for (size_t row = 0; row < source->rows; row++) {
        const char *word = csv_word_at(source, row, column);
        words += word && *word && !csv_word_is_huge(word);
    }
    *classes = (csv_classes){.words = words > source->rows / 2};
    return classes->words ? collect_names(source, column, missing, classes)
                          : collect_numbers(source, column, missing, classes);
}

int32_t csv_classes_find(const csv_source *source, size_t column, const csv_classes *classes, size_t row)
{
    if (csv_is_missing(csv_word_at(source, row, column)))
        return -1;
    if (classes->words) {
        const char *name = csv_word_at(source, row, column);
        const char **found = bsearch(&name, classes->names, classes->count, sizeof name, compare_names);
        return (int32_t)(found - classes->names);
    }
    double number = csv_value(source, row, column);
    double *found = bsearch(&number, classes->numbers, classes->count, sizeof number, compare_numbers);
    return (int32_t)(found - classes->numbers);
}
