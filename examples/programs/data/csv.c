/* Makes a data set from the columns of a CSV file, with classes or numbers to predict. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/programs/data/csv.h"
#include "examples/programs/data/words.h"

/* ---- classes ---- */

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
static bool check_class(const csv_source *source, size_t row, size_t column, bool words, const char *word)
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

/* Finds the classes of a column. Fails at a cell of the other kind, and at a missing one unless `missing` allows cells
 * without a class. */
static bool collect_classes(csv_source *source, size_t column, bool missing)
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
        if (!check_class(source, row, column, classes->words, all[found++].word))
            return false;
    }
    qsort(all, found, sizeof *all, compare);
    for (size_t i = 0; i < found; i++)
        if (i == 0 || compare(&all[i], &all[classes->count - 1]) != 0)
            all[classes->count++] = all[i];
    return true;
}

/* The number of the class in a row; -1 where that is missing. */
static int32_t class_number(const csv_source *source, size_t row, size_t column)
{
    const csv_classes *classes = &source->column[column].classes;
    const struct csv_class wanted = class_at(source, row, column), *found = NULL;
    if (!csv_is_missing(wanted.word))
        found = bsearch(&wanted, classes->class, classes->count, sizeof wanted, compare);
    return found ? (int32_t)(found - classes->class) : -1;
}

/* The name of a class; a number is written to `text`. */
static const char *class_name(const csv_classes *classes, size_t i, char text[NUMBER_TEXT])
{
    return classes->words ? classes->class[i].word : number_text(classes->class[i].number, text);
}

/* ---- the target ---- */

enum { MOST_GUESSED_CLASSES = 20 };

/* The rule for task auto, as documented at dataset_load. */
static bool looks_like_classification(const csv_source *source, const csv_column *target)
{
    const size_t classes = target->classes.count;
    return target->classes.words ||
           (target->whole && classes >= 2 && classes <= MOST_GUESSED_CLASSES && classes <= source->rows / 2);
}

static void name_classes(const csv_classes *classes, dataset *set)
{
    char number[NUMBER_TEXT];
    set->classes = classes->count;
    set->class_names = dataset_new(&set->memory, set->classes, 1, sizeof *set->class_names);
    for (size_t i = 0; set->class_names && i < set->classes; i++)
        set->class_names[i] = dataset_text(&set->memory, class_name(classes, i, number));
}

/* ---- features ---- */

enum { MOST_CATEGORIES = 100 };

static bool is_feature(const csv_column *column)
{
    return column->role == CSV_NUMBERS || column->role == CSV_CATEGORIES;
}

/* Checks the cells of a column of numbers. */
static bool check_numbers(const csv_source *source, size_t column, bool may_miss)
{
    for (size_t row = 0; row < source->rows; row++) {
        const char *word = csv_word_at(source, row, column);
        if (word && !(may_miss && csv_is_missing(word)))
            return csv_fail_at_word(source, row, column);
    }
    return true;
}

/* Fails and suggests --ignore for the column, which is most often an identifier, a date or a text. */
static bool fail_at_many(const csv_source *source, size_t column)
{
    char name[80], example[PLAIN_NAME];
    const char *word = csv_word_at(source, 0, column);
    if (source->first)
        snprintf(name, sizeof name, "%.60s", csv_column_name(source, column));
    else
        snprintf(name, sizeof name, "%zu", column);
    return tg_fail(source->error,
                   "%s: column '%s' has %zu different entries ('%s' is the first), expected numbers or at most %d "
                   "categories; --ignore '%s' leaves it out",
                   source->table.path, name, source->column[column].classes.count,
                   plain_name(word ? word : "", example), MOST_CATEGORIES, name);
}

static bool plan_feature(csv_source *source, size_t column, bool may_miss)
{
    csv_column *feature = &source->column[column];
    feature->marked = may_miss && feature->present < source->rows;
    feature->width = 1;
    if (feature->role == CSV_NUMBERS)
        return check_numbers(source, column, may_miss);
    if (!collect_classes(source, column, may_miss))
        return false;
    feature->width = feature->classes.count;
    return feature->width <= MOST_CATEGORIES || fail_at_many(source, column);
}

static bool plan_features(csv_source *source, dataset_missing missing, dataset *set)
{
    const size_t columns = source->table.columns;
    size_t count = 0;
    for (size_t i = 0; i < columns; i++) {
        const csv_column *column = &source->column[i];
        if (!is_feature(column))
            continue;
        if (!plan_feature(source, i, missing == DATASET_MISSING_MEAN))
            return false;
        set->features += column->width + column->marked;
        set->categorical += column->role == CSV_CATEGORIES;
        set->marks += column->marked;
        count++;
    }
    return count || tg_fail(source->error, "%s: %zu column%s, none of them a feature, expected at least one",
                            source->table.path, columns, plural((long long)columns));
}

/* Writes the features of a row and returns the position after them. A missing number is NaN; for a missing category all
 * are 0. */
static double *write_features(const csv_source *source, size_t row, double *to)
{
    for (size_t i = 0; i < source->table.columns; i++) {
        const csv_column *column = &source->column[i];
        if (column->role == CSV_NUMBERS)
            *to++ = csv_value(source, row, i);
        if (column->role == CSV_CATEGORIES) {
            const int32_t category = class_number(source, row, i);
            for (size_t k = 0; k < column->width; k++)
                *to++ = category == (int32_t)k;
        }
        if (column->marked)
            *to++ = csv_is_missing(csv_word_at(source, row, i));
    }
    return to;
}

static void describe_features(const csv_source *source, dataset *set)
{
    char number[NUMBER_TEXT];
    dataset_feature *to = set->feature = dataset_new(&set->memory, set->features, 1, sizeof *set->feature);
    for (size_t i = 0; to && i < source->table.columns; i++) {
        const csv_column *column = &source->column[i];
        for (size_t k = 0; k < column->width + column->marked; k++, to++) {
            *to = (dataset_feature){.column = set->column[i].name, .number = i, .missing = k == column->width};
            if (column->role == CSV_CATEGORIES && !to->missing)
                to->category = dataset_text(&set->memory, class_name(&column->classes, k, number));
        }
    }
}

/* ---- putting it together --------------------------------------------------- */

static bool choose_task(csv_source *source, const dataset_options *options, dataset *set)
{
    const char *path = source->table.path;
    set->task = options->task;
    if (source->targets > 1 && options->task == DATASET_CLASSIFICATION)
        return tg_fail(source->error, "%s: %zu target columns, expected one for a classification", path,
                       source->targets);
    if (source->targets > 1)
        set->task = DATASET_REGRESSION;
    if (set->task == DATASET_REGRESSION)
        return true;
    const size_t column = source->target_columns[0];
    const csv_classes *classes = &source->column[column].classes;
    for (size_t row = 0; set->task == DATASET_TASK_AUTO && row < source->rows; row++) {
        const char *word = csv_word_at(source, row, column);
        if (word && csv_word_is_formatted(word))
            return csv_fail_at_word(source, row, column);
    }
    if (!collect_classes(source, column, false))
        return false;
    if (set->task == DATASET_TASK_AUTO)
        set->task =
            looks_like_classification(source, &source->column[column]) ? DATASET_CLASSIFICATION : DATASET_REGRESSION;
    if (set->task == DATASET_REGRESSION)
        return true;
    for (size_t row = 0; !classes->words && row < source->rows; row++)
        if (csv_value(source, row, column) != floor(csv_value(source, row, column)))
            return csv_fail_at(source, row, column, "a fraction, expected a whole number or a name for a class");
    if (classes->count < 2)
        return csv_fail_at(source, 0, column, "the only class in the file, expected at least 2");
    name_classes(classes, set);
    return true;
}

static void fill(const csv_source *source, dataset *set)
{
    const size_t width = set->features + set->targets;
    for (size_t row = 0; row < source->rows; row++) {
        double *to = write_features(source, row, set->source + row * width);
        for (size_t i = 0; i < set->targets; i++)
            *to++ = csv_value(source, row, source->target_columns[i]);
        if (set->task == DATASET_CLASSIFICATION)
            set->labels[row] = class_number(source, row, source->target_columns[0]);
    }
}

/* A constant target is useless for training. */
static bool targets_are_numbers(const csv_source *source)
{
    char problem[100], number[NUMBER_TEXT];
    for (size_t i = 0; i < source->targets; i++) {
        const size_t column = source->target_columns[i];
        const csv_column *target = &source->column[column];
        if (!check_numbers(source, column, false))
            return false;
        snprintf(problem, sizeof problem, "%s is the only number in the file, expected different ones",
                 number_text(target->low, number));
        if (target->low == target->high)
            return csv_fail_at(source, 0, column, problem);
    }
    return true;
}

static void name_targets(const csv_source *source, dataset *set)
{
    set->target_column = dataset_new(&set->memory, source->targets, 1, sizeof *set->target_column);
    if (set->targets)
        set->target_names = dataset_new(&set->memory, set->targets, 1, sizeof *set->target_names);
    for (size_t i = 0; !set->memory.failed && i < source->targets; i++) {
        const size_t column = set->target_column[i] = source->target_columns[i];
        if (set->targets)
            set->target_names[i] = dataset_text(&set->memory, source->first ? set->column[column].name : "");
    }
}

static bool build(csv_source *source, const dataset_options *options, dataset *set)
{
    const size_t rows_of_file = source->rows;
    if (!csv_choose_columns(source, options) || !plan_features(source, options->missing, set) ||
        !choose_task(source, options, set) || (set->task == DATASET_REGRESSION && !targets_are_numbers(source)))
        return false;
    set->rows = source->rows;
    set->dropped = rows_of_file - source->rows;
    set->targets = set->task == DATASET_REGRESSION ? source->targets : 0;
    if (!dataset_allocate(set, true, source->error) || !csv_describe_columns(source, set))
        return false;
    name_targets(source, set);
    describe_features(source, set);
    fill(source, set);
    if (set->dropped && (set->number = dataset_new(&set->memory, set->rows, 1, sizeof *set->number)))
        memcpy(set->number, source->kept, set->rows * sizeof *set->number);
    return true;
}

bool dataset_load_csv(const char *path, const dataset_options *options, dataset *set, tg_error *error)
{
    csv_source source;
    const bool loaded = csv_read(path, options->header, &source, error) && build(&source, options, set);
    csv_source_free(&source);
    return loaded;
}
