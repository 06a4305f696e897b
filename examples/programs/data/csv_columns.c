#include "examples/programs/data/csv.h"
#include "examples/programs/data/words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool csv_fail_at_word(const csv_source *source, size_t row, size_t column, const char *hint)
{
    char problem[400];
    const char *word = csv_text(source, row, column);
    if (csv_is_missing_at(source, row, column))
        snprintf(problem, sizeof problem, "%s%.60s%s, expected a number; use --missing drop or --missing mean",
                 *word ? "'" : "empty", word, *word ? "'" : "");
    else if (csv_kind_at(source, row, column) == CSV_FORMATTED)
        snprintf(problem, sizeof problem, "'%.40s' is written for people, expected a number such as 1234.56%.250s",
                 word, hint ? hint : "");
    else
        snprintf(problem, sizeof problem, "'%.60s' is not a %snumber%.250s", word,
                 csv_kind_at(source, row, column) == CSV_HUGE ? "finite " : "", hint ? hint : "");
    return csv_fail_at(source, row, column, problem);
}

/* ---- header ---------------------------------------------------------------- */

static bool is_number(const csv_source *source, size_t row, size_t column)
{
    const csv_kind kind = csv_kind_at(source, row, column);
    return kind == CSV_NUMBER || kind == CSV_HUGE ||
           (kind == CSV_MISSING && csv_word_is_huge(csv_text(source, row, column))); /* nan */
}

/* True if the cell of the first row occurs again in its column. */
static bool recurs(const csv_source *source, size_t column)
{
    char *first = strdup(csv_text(source, 0, column));
    bool again = false;
    for (size_t row = 1; first && !again && row < source->rows; row++)
        again = !is_number(source, row, column) && strcmp(csv_text(source, row, column), first) == 0;
    free(first);
    return again;
}

/* The first row becomes the names of the columns. */
static bool take_names(csv_source *source)
{
    csv_table *table = &source->table;
    source->rows = table->rows = table->rows - 1;
    if (source->rows == 0)
        return tg_fail(source->error, "%s: only a header, expected rows below it", table->path);
    char **names = dataset_new(&source->memory, table->columns, 1, sizeof *names);
    for (size_t i = 0; names && i < table->columns; i++)
        names[i] = dataset_text(&source->memory, csv_text(source, 0, i));
    source->names = names;
    table->values += table->columns;
    table->starts++;
    return !source->memory.failed || csv_out_of_memory(source);
}

/* A first line without numbers is a header, unless each of its words occurs again in its column. One with numbers is
 * data, if its words stand above other words. */
static bool find_header(csv_source *source, dataset_header header)
{
    const csv_table *table = &source->table;
    size_t numbers = 0, words = 0, strange = SIZE_MAX;
    source->rows = table->rows;
    for (size_t column = 0; column < table->columns; column++) {
        if (is_number(source, 0, column)) {
            numbers++;
        } else if (*csv_text(source, 0, column)) {
            words++;
            if (table->rows < 2 || is_number(source, 1, column))
                strange = column;
        }
    }
    if (header == DATASET_HEADER_AUTO && numbers > 0 && strange != SIZE_MAX)
        return tg_fail(source->error,
                       "%s:%zu: '%.60s' is a word among numbers, expected a row of names or a row of data; choose "
                       "header yes or no",
                       table->path, csv_line(table, 0), csv_text(source, 0, strange));
    bool names = header == DATASET_HEADER_YES || (header == DATASET_HEADER_AUTO && numbers == 0 && words > 0);
    if (names && header == DATASET_HEADER_AUTO && strange == SIZE_MAX) {
        size_t again = 0;
        while (again < table->columns && recurs(source, again))
            again++;
        names = again < table->columns;
    }
    return !names || take_names(source);
}

bool csv_read(const char *path, dataset_header header, csv_source *source, tg_error *error)
{
    *source = (csv_source){.table.path = dataset_path_name(path), .error = error};
    return csv_read_table(path, source) && find_header(source, header);
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
    if (matches == 0)
        return tg_fail(source->error, "%s: no column '%.60s', expected %sa number from %zd to %zu", path, text,
                       source->names ? "a name of the header or " : "", -(ssize_t)source->table.columns,
                       source->table.columns - 1);
    if (matches > 1)
        return tg_fail(source->error, "%s: %zu columns are called '%.60s', expected a number, such as %zu", path,
                       matches, text, column);
    csv_role *is = &source->column[column].role;
    if (role == CSV_TARGET && *is == CSV_TARGET)
        return tg_fail(source->error, "%s: target '%.60s' is named twice", path, text);
    if (*is == CSV_TARGET || *is == CSV_WEIGHTS || (*is == CSV_IGNORED && role != CSV_IGNORED))
        return tg_fail(source->error, "%s: column '%.60s' is %s, expected %s", path, text,
                       *is == CSV_TARGET    ? "a target"
                       : *is == CSV_WEIGHTS ? "of weights"
                                            : "ignored",
                       role == CSV_WEIGHTS ? "another one for weights" : "a feature");
    if (role == CSV_TARGET && source->targets == CSV_MOST_TARGETS)
        return tg_fail(source->error, "%s: more than %d targets", path, CSV_MOST_TARGETS);
    if (role == CSV_TARGET)
        source->target_columns[source->targets++] = column;
    if (role == CSV_WEIGHTS) {
        source->weighted = true;
        source->weight_column = column;
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
        const bool asked =
            column->role == CSV_CATEGORIES || (column->role == CSV_TARGET && task == DATASET_CLASSIFICATION);
        column->named = asked ? words > 0 : 2 * of[CSV_WORD] > source->rows - missing;
        if (column->role == CSV_WEIGHTS || (column->role == CSV_TARGET && task == DATASET_REGRESSION))
            column->named = false;
        column->missing = of[CSV_MISSING] + (column->named ? 0 : of[CSV_MAYBE_MISSING]);
        if (column->named && column->role == CSV_NUMBERS)
            column->role = CSV_CATEGORIES;
    }
    return true;
}

/* True if the target or weight of a row is missing or, with `features`, any cell that is used. */
static bool is_incomplete(const csv_source *source, size_t row, bool features)
{
    for (size_t i = 0; i < source->table.columns; i++) {
        const csv_role role = source->column[i].role;
        if ((role == CSV_TARGET || role == CSV_WEIGHTS || (features && role != CSV_IGNORED)) &&
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
        !add_columns(source, options->ignore, CSV_IGNORED) ||
        !add_columns(source, options->categorical, CSV_CATEGORIES))
        return false;
    if (!find_categories(source, options->task))
        return false;
    if (options->missing != DATASET_MISSING_ERROR && !drop_rows(source, options->missing == DATASET_MISSING_DROP))
        return false;
    csv_summarise(source);
    return true;
}
