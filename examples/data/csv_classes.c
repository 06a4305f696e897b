#include "examples/data/csv.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    const struct csv_class *left = a, *right = b;
    return left->word ? strcmp(left->word, right->word)
                      : (left->number > right->number) - (left->number < right->number);
}

static struct csv_class class_at(const csv_source *source, size_t row, size_t column)
{
    return (struct csv_class){csv_word_at(source, row, column), csv_value(source, row, column) + 0.0}; /* -0 is 0 */
}

/* Fails at a cell that is text if most are numbers, or a number if most are text. */
static bool check(const csv_source *source, size_t row, size_t column, bool words, const char *word)
{
    if (!words)
        return !word || csv_fail_at_word(source, row, column);
    if (!word)
        return csv_fail_at(source, row, column, "a number, expected the name of a class as in most rows");
    if (!*word)
        return csv_fail_at(source, row, column,
                           "empty, expected the name of a class; use --missing drop or --missing mean");
    return !csv_is_missing(word) ||
           csv_fail_at(source, row, column,
                       "a mark of a missing value, expected a word; use --missing drop or --missing mean");
}

bool csv_classes_collect(csv_source *source, size_t column, bool missing)
{
    csv_classes *classes = &source->column[column].classes;
    size_t words = 0, found = 0;
    for (size_t row = 0; row < source->rows; row++) {
        const char *word = csv_word_at(source, row, column);
        words += word && *word && !csv_word_is_huge(word);
    }
    struct csv_class *all = dataset_new(&source->memory, source->rows, 1, sizeof *all);
    if (!all)
        return csv_out_of_memory(source);
    *classes = (csv_classes){.words = words > source->rows / 2, .class = all};
    for (size_t row = 0; row < source->rows; row++) {
        all[found] = class_at(source, row, column);
        if (missing && csv_is_missing(all[found].word))
            continue;
        if (!check(source, row, column, classes->words, all[found++].word))
            return false;
    }
    qsort(all, found, sizeof *all, compare);
    for (size_t i = 0; i < found; i++)
        if (i == 0 || compare(&all[i], &all[classes->count - 1]) != 0)
            all[classes->count++] = all[i];
    return true;
}

int32_t csv_class_at(const csv_source *source, size_t row, size_t column)
{
    const csv_classes *classes = &source->column[column].classes;
    const struct csv_class wanted = class_at(source, row, column), *found = NULL;
    if (!csv_is_missing(wanted.word))
        found = bsearch(&wanted, classes->class, classes->count, sizeof wanted, compare);
    return found ? (int32_t)(found - classes->class) : -1;
}

const char *csv_classes_name(const csv_classes *classes, size_t i, char text[NUMBER_TEXT])
{
    return classes->words ? classes->class[i].word : number_text(classes->class[i].number, text);
}
