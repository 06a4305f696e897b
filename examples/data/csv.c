/* Makes a data set from the columns of a CSV file, with classes or numbers to predict. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/data/csv.h"
#include "examples/data/words.h"

enum { MOST_GUESSED_CLASSES = 20 };

/* ---- the target ---- */

static bool are_whole(const csv_classes *classes)
{
    for (size_t i = 0; i < classes->count; i++)
        if (classes->class[i].number != floor(classes->class[i].number))
            return false;
    return true;
}

/* The rule for task auto, as documented at dataset_load. */
static bool looks_like_classification(const csv_source *source, const csv_classes *classes)
{
    if (classes->words)
        return true;
    return classes->count >= 2 && classes->count <= MOST_GUESSED_CLASSES && classes->count <= source->rows / 2 &&
           are_whole(classes);
}

static bool name_classes(dataset *set, const csv_classes *classes, tg_error *error)
{
    set->classes = classes->count;
    set->class_names = dataset_array(set->classes, 1, sizeof *set->class_names);
    for (size_t i = 0; set->class_names && i < set->classes; i++) {
        char number[NUMBER_TEXT];
        set->class_names[i] = strdup(csv_classes_name(classes, i, number));
        if (!set->class_names[i])
            return tg_fail(error, "%s: out of memory", set->name);
    }
    return set->class_names || tg_fail(error, "%s: out of memory", set->name);
}

/* ---- features ---- */

enum { MOST_CATEGORIES = 100 };

/* The inputs from a column: one number, or one for each category; and one more that marks missing cells. */
typedef struct feature {
    size_t column, width;
    csv_classes categories;
    bool categorical, marked;
} feature;

typedef struct features {
    feature *list; /* [count] */
    size_t count, width;
} features;

static void free_features(features *all)
{
    for (size_t i = 0; i < all->count; i++)
        csv_classes_free(&all->list[i].categories);
    free(all->list);
}

/* Checks the cells of a column of numbers; sets *misses if any is missing. */
static bool check_numbers(const csv_source *source, size_t column, bool may_miss, bool *misses)
{
    for (size_t row = 0; row < source->rows; row++) {
        const char *word = csv_word_at(source, row, column);
        if (word && !(may_miss && csv_is_missing(word)))
            return csv_fail_at_word(source, row, column);
        *misses |= word != NULL;
    }
    return true;
}

/* Fails and suggests --ignore for the column, which is most often an identifier, a date or a text. */
static bool fail_at_many(const csv_source *source, const feature *f)
{
    char name[80], example[PLAIN_NAME];
    const char *word = csv_word_at(source, 0, f->column);
    if (source->first)
        snprintf(name, sizeof name, "%.60s", csv_column_name(source, f->column));
    else
        snprintf(name, sizeof name, "%zu", f->column);
    return tg_fail(source->error,
                   "%s: column '%s' has %zu different entries ('%s' is the first), expected numbers or at most %d "
                   "categories; --ignore '%s' leaves it out",
                   source->table.path, name, f->categories.count, plain_name(word ? word : "", example),
                   MOST_CATEGORIES, name);
}

static bool plan_categories(const csv_source *source, bool may_miss, feature *f)
{
    if (!csv_classes_collect(source, f->column, may_miss, &f->categories))
        return false;
    if (f->categories.count > MOST_CATEGORIES)
        return fail_at_many(source, f);
    for (size_t row = 0; row < source->rows && may_miss; row++)
        f->marked |= csv_classes_find(source, f->column, &f->categories, row) < 0;
    f->width = f->categories.count;
    return true;
}

static bool plan_features(const csv_source *source, dataset_missing missing, features *all)
{
    const bool may_miss = missing == DATASET_MISSING_MEAN;
    all->list = dataset_array(source->table.columns, 1, sizeof *all->list);
    if (!all->list)
        return tg_fail(source->error, "%s: out of memory", source->table.path);
    for (size_t column = 0; column < source->table.columns; column++) {
        const csv_role role = source->role[column];
        if (role != CSV_NUMBERS && role != CSV_CATEGORIES)
            continue;
        feature *f = &all->list[all->count++];
        *f = (feature){.column = column, .width = 1, .categorical = role == CSV_CATEGORIES};
        if (f->categorical ? !plan_categories(source, may_miss, f)
                           : !check_numbers(source, column, may_miss, &f->marked))
            return false;
        all->width += f->width + f->marked;
    }
    return true;
}

/* Writes the features of a row and returns the position after them. A missing number is NaN; for a missing category all
 * are 0. */
static double *write_features(const csv_source *source, const features *all, size_t row, double *to)
{
    for (const feature *f = all->list; f < all->list + all->count; f++) {
        const bool missing = csv_is_missing(csv_word_at(source, row, f->column));
        if (f->categorical) {
            const int32_t category = csv_classes_find(source, f->column, &f->categories, row);
            for (size_t i = 0; i < f->width; i++)
                *to++ = category == (int32_t)i;
        } else
            *to++ = csv_value(source, row, f->column);
        if (f->marked)
            *to++ = missing;
    }
    return to;
}

/* ---- putting it together --------------------------------------------------- */

static bool choose_task(const csv_source *source, const dataset_options *options, csv_classes *classes, dataset *set)
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
    size_t column = source->target_columns[0];
    for (size_t row = 0; set->task == DATASET_TASK_AUTO && row < source->rows; row++) {
        const char *word = csv_word_at(source, row, column);
        if (word && csv_word_is_formatted(word))
            return csv_fail_at_word(source, row, column);
    }
    if (!csv_classes_collect(source, column, false, classes))
        return false;
    if (set->task == DATASET_TASK_AUTO)
        set->task = looks_like_classification(source, classes) ? DATASET_CLASSIFICATION : DATASET_REGRESSION;
    if (set->task == DATASET_REGRESSION)
        return true;
    for (size_t row = 0; !classes->words && row < source->rows; row++)
        if (csv_value(source, row, column) != floor(csv_value(source, row, column)))
            return csv_fail_at(source, row, column, "a fraction, expected a whole number or a name for a class");
    if (classes->count < 2)
        return csv_fail_at(source, 0, column, "the only class in the file, expected at least 2");
    return name_classes(set, classes, source->error);
}

static void fill(const csv_source *source, const features *all, const csv_classes *classes, dataset *set)
{
    const size_t width = set->features + set->targets;
    for (size_t row = 0; row < source->rows; row++) {
        double *to = write_features(source, all, row, set->source + row * width);
        for (size_t i = 0; i < set->targets; i++)
            *to++ = csv_value(source, row, source->target_columns[i]);
        if (set->task == DATASET_CLASSIFICATION)
            set->labels[row] = csv_classes_find(source, source->target_columns[0], classes, row);
    }
}

/* A constant target is useless for training. */
static bool numbers_differ(const csv_source *source, size_t column)
{
    char problem[100], number[NUMBER_TEXT];
    const double first = csv_value(source, 0, column);
    for (size_t row = 1; row < source->rows; row++)
        if (csv_value(source, row, column) != first)
            return true;
    snprintf(problem, sizeof problem, "%s is the only number in the file, expected different ones",
             number_text(first, number));
    return csv_fail_at(source, 0, column, problem);
}

static bool targets_are_numbers(const csv_source *source)
{
    bool misses = false;
    for (size_t i = 0; i < source->targets; i++)
        if (!check_numbers(source, source->target_columns[i], false, &misses) ||
            !numbers_differ(source, source->target_columns[i]))
            return false;
    return true;
}

static char *name_of(const csv_source *source, size_t column)
{
    return strdup(source->first ? csv_column_name(source, column) : "");
}

static bool name_targets(const csv_source *source, dataset *set)
{
    bool complete = (set->target_column = dataset_array(source->targets, 1, sizeof *set->target_column)) != NULL;
    for (size_t i = 0; complete && i < source->targets; i++)
        set->target_column[i] = source->target_columns[i];
    if (complete && set->targets)
        complete = (set->target_names = dataset_array(set->targets, 1, sizeof *set->target_names)) != NULL;
    for (size_t i = 0; complete && i < set->targets; i++)
        complete = (set->target_names[i] = name_of(source, source->target_columns[i])) != NULL;
    return complete || tg_fail(source->error, "%s: out of memory", set->name);
}

static bool describe_feature(const csv_source *source, const feature *from, size_t category, dataset_feature *to)
{
    char number[NUMBER_TEXT];
    *to = (dataset_feature){.number = from->column, .missing = category == from->width};
    if (source->first && !(to->column = strdup(csv_column_name(source, from->column))))
        return false;
    return !from->categorical || to->missing ||
           (to->category = strdup(csv_classes_name(&from->categories, category, number)));
}

static bool describe_features(const csv_source *source, const features *all, dataset *set)
{
    size_t at = 0;
    set->feature = dataset_array(set->features, 1, sizeof *set->feature);
    bool named = set->feature;
    for (size_t i = 0; i < all->count; i++)
        for (size_t category = 0; named && category < all->list[i].width + all->list[i].marked; category++)
            named = describe_feature(source, &all->list[i], category, &set->feature[at++]);
    return named || tg_fail(source->error, "%s: out of memory", set->name);
}

/* Counts dropped rows, categorical columns and marks of missing cells in `set`. */
static void note_reading(const csv_source *source, const features *all, size_t rows_of_file, dataset *set)
{
    set->dropped = rows_of_file - source->rows;
    for (size_t i = 0; i < all->count; i++) {
        set->categorical += all->list[i].categorical;
        set->marks += all->list[i].marked;
    }
}

static bool build(csv_source *source, const dataset_options *options, csv_classes *classes, features *all, dataset *set)
{
    if (!csv_table_read(source->table.path, &source->table, source->error) ||
        !csv_find_header(source, options->header) ||
        !csv_find_targets(source, options->target ? options->target : "-1"))
        return false;
    const char *path = source->table.path;
    if (source->targets == source->table.columns)
        return tg_fail(source->error, "%s: %zu %s, all of them targets, expected features as well", path,
                       source->targets, source->targets == 1 ? "column" : "columns");
    const size_t rows_of_file = source->rows;
    if (!csv_choose_columns(source, options->ignore, options->categorical, options->missing) ||
        !plan_features(source, options->missing, all))
        return false;
    if (all->count == 0)
        return tg_fail(source->error, "%s: %zu column%s, none of them a feature, expected at least one", path,
                       source->table.columns, plural((long long)source->table.columns));
    if (!choose_task(source, options, classes, set) ||
        (set->task == DATASET_REGRESSION && !targets_are_numbers(source)))
        return false;
    set->rows = source->rows;
    set->features = all->width;
    set->targets = set->task == DATASET_REGRESSION ? source->targets : 0;
    if (!dataset_allocate(set, true, source->error) || !name_targets(source, set) ||
        !describe_features(source, all, set))
        return false;
    fill(source, all, classes, set);
    if (!csv_describe_columns(source, set))
        return false;
    note_reading(source, all, rows_of_file, set);
    return true;
}

bool dataset_load_csv(const char *path, const dataset_options *options, dataset *set, tg_error *error)
{
    csv_source source = {.table.path = path, .error = error};
    csv_classes classes = {0};
    features all = {0};
    const bool loaded = build(&source, options, &classes, &all, set);
    free_features(&all);
    csv_classes_free(&classes);
    csv_source_free(&source);
    return loaded;
}
