/* Makes a data set from the columns of a CSV file, with classes or numbers to predict. */
#include "examples/programs/data/advice.h"
#include "examples/programs/data/csv.h"
#include "examples/programs/data/words.h"

enum { MOST_CATEGORIES = 100, MOST_GUESSED_CLASSES = 20 };

/* ---- features ---- */

/* Fails and suggests --ignore for the column, which is most often an identifier, a date or a text. */
static bool fail_at_many(const csv_source *source, size_t column, size_t entries)
{
    char name[CSV_OPTION_NAME], example[PLAIN_NAME];
    csv_option_name(source, column, name);
    return tg_fail(
        source->error,
        "%s: column '%s' has %zu different entries ('%s' is the first), of which none has two rows; " ADVICE_IGNORE,
        source->table.path, name, entries, plain_name(csv_text(source, 0, column), example), name);
}

/* Counts the inputs of the features. `rows` are those that the summary of the columns counted. */
static bool plan_features(csv_source *source, dataset_missing missing, size_t rows, dataset *set)
{
    for (size_t i = 0; i < source->table.columns; i++) {
        csv_column *column = &source->column[i];
        if (!csv_is_feature(column))
            continue;
        const size_t entries = column->classes.count;
        if (entries > MOST_CATEGORIES && !csv_join_rare(source, i, MOST_CATEGORIES))
            return source->memory.failed ? csv_out_of_memory(source) : fail_at_many(source, i, entries);
        column->marked = missing == DATASET_MISSING_MEAN && column->present < rows;
        column->width = column->role == CSV_NUMBERS ? 1 : column->classes.count;
        set->features += column->width + column->marked;
        set->categorical += column->role == CSV_CATEGORIES;
        set->marks += column->marked;
    }
    return true;
}

static void describe_features(const csv_source *source, dataset *set)
{
    char number[NUMBER_TEXT];
    dataset_feature *to = set->feature = dataset_new(&set->memory, set->features, 1, sizeof *set->feature);
    for (size_t i = 0; to && i < source->table.columns; i++) {
        const csv_column *column = &source->column[i];
        for (size_t k = 0; k < column->width + column->marked; k++, to++) {
            *to = (dataset_feature){.column = set->column[i].name, .number = i, .missing = k == column->width};
            if (column->role != CSV_CATEGORIES || to->missing)
                continue;
            to->index = k;
            to->other = column->joined && k + 1 == column->width;
            to->category =
                dataset_text(&set->memory, to->other ? "other" : csv_class_name(&column->classes, k, number));
        }
    }
}

/* ---- the target ---- */

/* The rule for task auto, as documented at dataset_load. */
static bool looks_like_classification(const csv_source *source, size_t column)
{
    const csv_column *target = &source->column[column];
    double seen[MOST_GUESSED_CLASSES];
    size_t classes = 0;
    if (target->named || !target->whole)
        return target->named;
    for (size_t row = 0; row < source->rows; row++) {
        const double value = csv_value(source, row, column);
        size_t i = 0;
        while (i < classes && seen[i] != value)
            i++;
        if (i == MOST_GUESSED_CLASSES)
            return false;
        seen[i] = value;
        classes += i == classes;
    }
    return classes >= 2 && classes <= source->rows / 2;
}

static bool choose_task(csv_source *source, const dataset_options *options, dataset *set)
{
    const char *path = source->table.path;
    const size_t column = source->target_columns[0];
    const csv_column *target = &source->column[column];
    set->task = options->task;
    if (source->targets > 1 && options->task == DATASET_CLASSIFICATION)
        return tg_fail(source->error, "%s: %zu target columns, expected one for a classification", path,
                       source->targets);
    if (source->targets > 1)
        set->task = DATASET_REGRESSION;
    if (set->task == DATASET_REGRESSION)
        return true;
    if (set->task == DATASET_TASK_AUTO)
        set->task = looks_like_classification(source, column) ? DATASET_CLASSIFICATION : DATASET_REGRESSION;
    for (size_t row = 0; set->task == DATASET_CLASSIFICATION && !target->named && row < source->rows; row++)
        if (csv_value(source, row, column) != floor(csv_value(source, row, column)))
            return csv_fail_at(source, row, column, "a fraction, expected a whole number or a name for a class");
    return true;
}

/* A constant target is useless for training. */
static bool targets_are_numbers(const csv_source *source)
{
    char problem[100], number[NUMBER_TEXT];
    for (size_t i = 0; i < source->targets; i++) {
        const size_t column = source->target_columns[i];
        const csv_column *target = &source->column[column];
        snprintf(problem, sizeof problem, "%s is the only number in the file, expected different ones",
                 number_text(target->low, number));
        if (target->low == target->high)
            return csv_fail_at(source, 0, column, problem);
    }
    return true;
}

static void copy_weights(const csv_source *source, dataset *set)
{
    if (!source->weighted)
        return;
    set->weight_column = source->weight_column;
    set->weight = dataset_new(&set->memory, set->rows, 1, sizeof *set->weight);
    for (size_t row = 0; set->weight && row < set->rows; row++)
        set->weight[row] = (float)csv_value(source, row, source->weight_column);
}

static void copy_groups(const csv_source *source, dataset *set)
{
    if (!source->grouped)
        return;
    set->group_column = source->group_column;
    set->groups = source->column[source->group_column].classes.count;
    set->group = dataset_new(&set->memory, set->rows, 1, sizeof *set->group);
    for (size_t row = 0; set->group && row < set->rows; row++)
        set->group[row] = (int32_t)csv_value(source, row, source->group_column);
}

static void name_targets(const csv_source *source, dataset *set)
{
    set->target_column = dataset_new(&set->memory, source->targets, 1, sizeof *set->target_column);
    if (set->targets)
        set->target_names = dataset_new(&set->memory, set->targets, 1, sizeof *set->target_names);
    for (size_t i = 0; !set->memory.failed && i < source->targets; i++) {
        const size_t column = set->target_column[i] = source->target_columns[i];
        if (set->targets)
            set->target_names[i] = dataset_text(&set->memory, source->names ? set->column[column].name : "");
    }
}

static void name_classes(const csv_classes *classes, dataset *set)
{
    char number[NUMBER_TEXT];
    set->class_names = dataset_new(&set->memory, set->classes, 1, sizeof *set->class_names);
    for (size_t i = 0; set->class_names && i < set->classes; i++)
        set->class_names[i] = dataset_text(&set->memory, csv_class_name(classes, i, number));
}

/* ---- putting it together --------------------------------------------------- */

/* Finds the entries of the categories, the groups and the classes. */
static bool collect(csv_source *source, dataset *set)
{
    const size_t columns = source->table.columns, target = source->target_columns[0];
    bool *flags = dataset_new(&source->memory, columns, 1, sizeof *flags);
    if (!flags)
        return csv_out_of_memory(source);
    for (size_t i = 0; i < columns; i++)
        flags[i] = source->column[i].role == CSV_CATEGORIES;
    if (!csv_count_dates(source, flags))
        return false;
    flags[target] |= set->task == DATASET_CLASSIFICATION;
    if (source->grouped)
        flags[source->group_column] = true;
    if (!csv_collect(source, flags))
        return false;
    set->classes = set->task == DATASET_CLASSIFICATION ? source->column[target].classes.count : 0;
    return set->classes != 1 || csv_fail_at(source, 0, target, "the only class in the file, expected at least 2");
}

static bool build(csv_source *source, const dataset_options *options, dataset *set)
{
    set->empty = source->rows;
    csv_cut_rows(source);
    const size_t rows_of_file = source->rows;
    set->empty -= rows_of_file;
    if (!csv_choose_columns(source, options) || !csv_check_cells(source, options->missing) ||
        !choose_task(source, options, set) || (set->task == DATASET_REGRESSION && !targets_are_numbers(source)) ||
        !collect(source, set))
        return false;
    const size_t rows = source->rows;
    set->dropped = rows_of_file - rows;
    if ((options->drop_duplicates && !csv_drop_duplicates(source, &set->duplicates)) ||
        !csv_find_alike(source, &set->alike) || !plan_features(source, options->missing, rows, set))
        return false;
    set->rows = source->rows;
    set->comments = source->table.comments;
    set->unnamed = source->table.unnamed;
    set->header = source->names;
    set->targets = set->task == DATASET_REGRESSION ? source->targets : 0;
    if (!csv_describe_columns(source, set))
        return false;
    free(source->table.text.bytes); /* before the features take memory */
    source->table.text = (dataset_bytes){0};
    if (!dataset_allocate(set, source->error))
        return false;
    name_targets(source, set);
    copy_weights(source, set);
    copy_groups(source, set);
    describe_features(source, set);
    if (set->task == DATASET_CLASSIFICATION) {
        name_classes(&source->column[source->target_columns[0]].classes, set);
        for (size_t row = 0; row < set->rows; row++)
            set->labels[row] = (int32_t)csv_value(source, row, source->target_columns[0]);
    }
    set->cells = source->table.values;
    set->number = source->numbers;
    dataset_take(&set->memory, &source->values);
    return true;
}

bool dataset_load_csv(const char *path, const dataset_options *options, dataset *set, tg_error *error)
{
    csv_source source;
    const bool loaded = csv_read(path, options->header, &source, error) && build(&source, options, set);
    csv_source_free(&source);
    return loaded;
}
