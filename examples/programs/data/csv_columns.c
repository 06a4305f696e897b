#include "examples/programs/data/advice.h"
#include "examples/programs/data/csv.h"
#include "examples/programs/data/words.h"
#include "examples/programs/system/posix.h"

/* ---- cells ---- */

const char *csv_word_at(const csv_source *source, size_t row, size_t column)
{
    return csv_kind_at(source, row, column) != CSV_NUMBER ? csv_text(source, row, column) : NULL;
}

bool csv_is_missing_at(const csv_source *source, size_t row, size_t column)
{
    const csv_kind kind = csv_kind_at(source, row, column);
    return kind == CSV_MISSING || (kind == CSV_MAYBE_MISSING && !(source->column && source->column[column].named));
}

const char *csv_column_name(const csv_source *source, size_t column)
{
    return source->names ? source->names[column] : csv_text(source, 0, column);
}

bool csv_fail_at(const csv_source *source, size_t row, size_t column, const char *problem)
{
    const csv_table *table = &source->table;
    const size_t line = csv_line(table, row);
    if (source->names)
        return tg_fail(source->error, "%s:%zu, column '%.60s': %s", table->path, line, source->names[column], problem);
    return tg_fail(source->error, "%s:%zu, column %zu (of 0 to %zu): %s", table->path, line, column, table->columns - 1,
                   problem);
}

const char *csv_option_name(const csv_source *source, size_t column, char text[CSV_OPTION_NAME])
{
    const char *name = source->names ? source->names[column] : NULL;
    size_t same = 0;
    for (size_t i = 0; name && i < source->table.columns; i++)
        same += strcmp(source->names[i], name) == 0;
    if (same == 1 && strlen(name) < CSV_OPTION_NAME && !strchr(name, '\''))
        return strcpy(text, name);
    snprintf(text, CSV_OPTION_NAME, "%zu", column);
    return text;
}

bool csv_fail_at_word(const csv_source *source, size_t row, size_t column, const char *hint)
{
    char problem[600];
    const char *word = csv_text(source, row, column);
    if (csv_is_missing_at(source, row, column))
        snprintf(problem, sizeof problem, "%s%.60s%s, expected a number; " ADVICE_MISSING, *word ? "'" : "empty", word,
                 *word ? "'" : "");
    else if (csv_kind_at(source, row, column) == CSV_FORMATTED)
        snprintf(problem, sizeof problem, "'%.40s' is written for people, expected a number such as 1234.56%.450s",
                 word, hint ? hint : "");
    else
        snprintf(problem, sizeof problem, "'%.60s' is not a number%s%.450s", word,
                 csv_kind_at(source, row, column) == CSV_HUGE ? " up to 3.4e+38" : "", hint ? hint : "");
    return csv_fail_at(source, row, column, problem);
}

bool csv_read(const char *path, dataset_header header, csv_source *source, tg_error *error)
{
    *source = (csv_source){.table.path = dataset_path_name(path), .error = error};
    return csv_read_table(path, source) && csv_find_header(source, header);
}

void csv_source_free(csv_source *source)
{
    free(source->table.text.bytes);
    dataset_free_memory(&source->memory);
    dataset_free_memory(&source->values);
}

bool csv_out_of_memory(const csv_source *source)
{
    return tg_fail(source->error, "%s: out of memory", source->table.path);
}

/* ---- roles of columns ------------------------------------------------------ */

/* Finds a column by its name, or else by its number. Gives the number of columns that match. */
static size_t find_column(const csv_source *source, const char *text, size_t *found)
{
    size_t matches = 0, columns = source->table.columns;
    for (size_t column = columns; source->names && column-- > 0;)
        if (strcmp(csv_column_name(source, column), text) == 0) {
            *found = column;
            matches++;
        }
    if (matches)
        return matches;
    char *end;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (end == text || *end || errno || number < -(long long)columns || number >= (long long)columns)
        return 0;
    *found = (size_t)(number < 0 ? number + (long long)columns : number);
    return 1;
}

/* Gives a role to the one column that a text means. */
static bool add(csv_source *source, const char *text, csv_role role)
{
    const char *path = source->table.path;
    size_t column = 0;
    const size_t matches = find_column(source, text, &column);
    const char *similar =
        source->names ? word_similar(text, (const char *const *)source->names, source->table.columns) : NULL;
    if (matches == 0)
        return tg_fail(source->error, "%s: no column '%.60s', expected %sa number from %zd to %zu%s%.60s", path, text,
                       source->names ? "a name of the header or " : "", -(ssize_t)source->table.columns,
                       source->table.columns - 1, similar ? "; did you mean " : "", similar ? similar : "");
    if (matches > 1)
        return tg_fail(source->error, "%s: %zu columns are called '%.60s', expected a number, such as %zu", path,
                       matches, text, column);
    csv_role *is = &source->column[column].role;
    if (role == CSV_TARGET && *is == CSV_TARGET)
        return tg_fail(source->error, "%s: target '%.60s' is named twice", path, text);
    if (*is == CSV_TARGET || *is == CSV_WEIGHTS || *is == CSV_GROUPS || (*is == CSV_IGNORED && role != CSV_IGNORED))
        return tg_fail(source->error, "%s: column '%.60s' is %s, expected %s", path, text,
                       *is == CSV_TARGET    ? "a target (--target; by default the last column)"
                       : *is == CSV_WEIGHTS ? "of weights"
                       : *is == CSV_GROUPS  ? "of groups"
                                            : "ignored",
                       role == CSV_WEIGHTS  ? "another one for weights"
                       : role == CSV_GROUPS ? "another one for groups"
                                            : "a feature");
    if (role == CSV_TARGET && source->targets == CSV_MOST_TARGETS)
        return tg_fail(source->error, "%s: more than %d targets", path, CSV_MOST_TARGETS);
    if (role == CSV_TARGET)
        source->target_columns[source->targets++] = column;
    if (role == CSV_WEIGHTS) {
        source->weighted = true;
        source->weight_column = column;
    }
    if (role == CSV_GROUPS) {
        source->grouped = true;
        source->group_column = column;
    }
    *is = role;
    return true;
}

/* Adds one column, whose name may contain a comma, or several separated by commas. NULL: none. */
static bool add_columns(csv_source *source, const char *list, csv_role role)
{
    char word[1000];
    size_t unused;
    if (list && find_column(source, list, &unused))
        return add(source, list, role);
    while (next_word(&list, word, sizeof word))
        if (!add(source, word, role))
            return false;
    return true;
}

/* ---- digits with leading zeros ---- */

typedef struct digits {
    const csv_source *source;
    bool *flags;    /* [columns]: all entries so far are digits, */
    size_t *length; /* [columns]: that many */
} digits;

static bool check_digits(void *context, size_t row, size_t column, const char *text, size_t length)
{
    const digits *d = context;
    enum { LEAST = 3 }; /* 01 to 12 are months, whose order counts */
    if (csv_is_missing_at(d->source, row, column))
        return true;
    d->length[column] = d->length[column] ? d->length[column] : length;
    d->flags[column] &= length >= LEAST && length == d->length[column] && !text[strspn(text, "0123456789")];
    return true;
}

/* True if the column has half as many different numbers as rows, at most; `values` has room for one of each row. */
static bool repeats(const csv_source *source, size_t column, double *values)
{
    size_t count = 0, different = 0;
    for (size_t row = 0; row < source->rows; row++)
        if (!isnan(csv_value(source, row, column)))
            values[count++] = csv_value(source, row, column);
    system_sort(values, count, sizeof *values, system_ascending);
    for (size_t i = 0; i < count; i++)
        different += i == 0 || values[i] != values[i - 1];
    return 2 * different <= count;
}

/* Zip codes and the like: features that are digits, equally many in each cell, some with leading zeros, and that repeat
 * are categories. */
static bool find_codes(csv_source *source)
{
    const size_t columns = source->table.columns;
    double *values = NULL;
    digits d = {source, dataset_array(columns, 1, sizeof *d.flags), dataset_array(columns, 1, sizeof *d.length)};
    bool fine = d.flags && d.length;
    for (size_t i = 0; fine && i < columns; i++)
        d.flags[i] = source->table.zeros[i] && source->column[i].role == CSV_NUMBERS;
    fine = fine && csv_each_text(source, d.flags, check_digits, &d);
    for (size_t i = 0; fine && i < columns; i++) {
        if (!d.flags[i])
            continue;
        values = values ? values : dataset_array(source->rows, 1, sizeof *values);
        fine = values;
        if (fine && repeats(source, i, values)) {
            source->column[i].role = CSV_CATEGORIES;
            source->column[i].named = source->column[i].zeros = true;
        }
    }
    free(d.flags);
    free(d.length);
    free(values);
    return fine || csv_out_of_memory(source);
}

/* Counts missing cells, and finds out which columns are categorical: those that were asked for, and those with more
 * words than numbers, not counting numbers written for people. In such columns numbers are words, too. */
static bool find_categories(csv_source *source, dataset_task task)
{
    const size_t columns = source->table.columns;
    size_t(*count)[CSV_WORD + 1] = dataset_new(&source->memory, columns, 1, sizeof *count);
    if (!count)
        return csv_out_of_memory(source);
    for (size_t row = 0; row < source->rows; row++)
        for (size_t i = 0; i < columns; i++)
            count[i][csv_kind_at(source, row, i)]++;
    for (size_t i = 0; i < columns; i++) {
        csv_column *column = &source->column[i];
        const size_t *of = count[i], missing = of[CSV_MISSING] + of[CSV_MAYBE_MISSING],
                     words = of[CSV_WORD] + of[CSV_FORMATTED] + of[CSV_HUGE];
        const bool asked = column->role == CSV_CATEGORIES || column->role == CSV_GROUPS ||
                           (column->role == CSV_TARGET && task == DATASET_CLASSIFICATION);
        column->named = asked ? words > 0 : 2 * of[CSV_WORD] > source->rows - missing;
        if (column->role == CSV_WEIGHTS || (column->role == CSV_TARGET && task == DATASET_REGRESSION))
            column->named = false;
        column->missing = of[CSV_MISSING] + (column->named ? 0 : of[CSV_MAYBE_MISSING]);
        if (column->named && column->role == CSV_NUMBERS)
            column->role = CSV_CATEGORIES;
    }
    return true;
}

/* True if the target, weight or group of a row is missing or, with `features`, any cell that is used. */
static bool is_incomplete(const csv_source *source, size_t row, bool features)
{
    for (size_t i = 0; i < source->table.columns; i++) {
        const csv_role role = source->column[i].role;
        if ((role == CSV_TARGET || role == CSV_WEIGHTS || role == CSV_GROUPS || (features && role != CSV_IGNORED)) &&
            csv_is_missing_at(source, row, i))
            return true;
    }
    return false;
}

static bool drop_rows(csv_source *source, bool features)
{
    csv_table *table = &source->table;
    const size_t columns = table->columns;
    size_t *numbers = dataset_new(&source->values, source->rows, 1, sizeof *numbers), count = 0;
    if (!numbers)
        return csv_out_of_memory(source);
    for (size_t row = 0; row < source->rows; row++) {
        if (is_incomplete(source, row, features))
            continue;
        numbers[count] = row;
        table->starts[count] = table->starts[row];
        memmove(table->values + count++ * columns, table->values + row * columns, columns * sizeof *table->values);
    }
    source->numbers = count < source->rows ? numbers : NULL;
    source->rows = count;
    return count || tg_fail(source->error, "%s: every row has a missing cell", table->path);
}

bool csv_choose_columns(csv_source *source, const dataset_options *options)
{
    const size_t columns = source->table.columns;
    const char *targets = options->target ? options->target : "-1";
    source->column = dataset_new(&source->memory, columns, 1, sizeof *source->column);
    if (!source->column)
        return csv_out_of_memory(source);
    if (strcmp(targets, "-1") == 0) { /* the default is the last column, even if another has this name */
        source->target_columns[source->targets++] = columns - 1;
        source->column[columns - 1].role = CSV_TARGET;
    } else if (!add_columns(source, targets, CSV_TARGET))
        return false;
    if (source->targets == columns)
        return tg_fail(source->error, "%s: %zu %s, all of them targets, expected features as well", source->table.path,
                       columns, columns == 1 ? "column" : "columns");
    if ((options->weights && !add(source, options->weights, CSV_WEIGHTS)) ||
        (options->groups && !add(source, options->groups, CSV_GROUPS)) ||
        !add_columns(source, options->ignore, CSV_IGNORED) ||
        !add_columns(source, options->categorical, CSV_CATEGORIES))
        return false;
    if (!find_categories(source, options->task) || !find_codes(source))
        return false;
    if (options->missing != DATASET_MISSING_ERROR && !drop_rows(source, options->missing == DATASET_MISSING_DROP))
        return false;
    csv_summarise(source);
    return true;
}
