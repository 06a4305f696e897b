#include "examples/programs/data/csv.h"
#include "examples/programs/data/words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static size_t row_of_table(const csv_source *source, size_t row)
{
    return source->first + (source->kept ? source->kept[row] : row);
}

double csv_value(const csv_source *source, size_t row, size_t column)
{
    return source->table.values[row_of_table(source, row) * source->table.columns + column];
}

const char *csv_word_at(const csv_source *source, size_t row, size_t column)
{
    return isnan(csv_value(source, row, column))
               ? source->table.texts[row_of_table(source, row) * source->table.columns + column]
               : NULL;
}

const char *csv_column_name(const csv_source *source, size_t column)
{
    return source->table.texts[column];
}

bool csv_fail_at(const csv_source *source, size_t row, size_t column, const char *problem)
{
    const csv_table *table = &source->table;
    size_t line = table->lines[row_of_table(source, row)];
    if (source->first)
        return tg_fail(source->error, "%s:%zu, column '%.60s': %s", table->path, line, csv_column_name(source, column),
                       problem);
    return tg_fail(source->error, "%s:%zu, column %zu (of 0 to %zu): %s", table->path, line, column, table->columns - 1,
                   problem);
}

bool csv_fail_at_word(const csv_source *source, size_t row, size_t column)
{
    const char *word = csv_word_at(source, row, column);
    char problem[120];
    if (!word || !*word)
        snprintf(problem, sizeof problem, "empty, expected a number; use --missing drop or --missing mean");
    else if (csv_is_missing(word) && !csv_word_is_huge(word))
        snprintf(problem, sizeof problem, "'%.60s', expected a number; use --missing drop or --missing mean", word);
    else if (csv_word_is_formatted(word))
        snprintf(problem, sizeof problem, "'%.40s' has marks between its digits, expected a number such as 1234.56",
                 word);
    else
        snprintf(problem, sizeof problem, "'%.60s' is not a %snumber", word, csv_word_is_huge(word) ? "finite " : "");
    return csv_fail_at(source, row, column, problem);
}

/* ---- header ---------------------------------------------------------------- */

static bool is_number(const csv_source *source, size_t row, size_t column)
{
    const char *word = csv_word_at(source, row, column);
    return !word || csv_word_is_huge(word);
}

/* A first line without numbers is a header. One with numbers is data, if its words stand above other words. */
static bool find_header(csv_source *source, dataset_header header)
{
    const csv_table *table = &source->table;
    source->first = 0;
    size_t numbers = 0, words = 0, strange = SIZE_MAX;
    for (size_t column = 0; column < table->columns; column++) {
        if (is_number(source, 0, column)) {
            numbers++;
        } else if (*csv_column_name(source, column)) {
            words++;
            if (table->rows < 2 || is_number(source, 1, column))
                strange = column;
        }
    }
    if (header == DATASET_HEADER_AUTO && numbers > 0 && strange != SIZE_MAX)
        return tg_fail(source->error,
                       "%s:%zu: '%.60s' is a word among numbers, expected a row of names or a row of data; choose "
                       "header yes or no",
                       table->path, table->lines[0], csv_column_name(source, strange));
    bool names = header == DATASET_HEADER_YES || (header == DATASET_HEADER_AUTO && numbers == 0 && words > 0);
    source->first = names ? 1 : 0;
    source->rows = table->rows - source->first;
    if (source->rows == 0)
        return tg_fail(source->error, "%s: only a header, expected rows below it", table->path);
    return true;
}

bool csv_read(const char *path, dataset_header header, csv_source *source, tg_error *error)
{
    *source = (csv_source){.table.path = dataset_path_name(path), .error = error};
    return csv_read_table(path, source) && find_header(source, header);
}

void csv_source_free(csv_source *source)
{
    dataset_free_memory(&source->memory);
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
    for (size_t column = columns; source->first && column-- > 0;)
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
                       source->first ? "a name of the header or " : "", -(ssize_t)source->table.columns,
                       source->table.columns - 1);
    if (matches > 1)
        return tg_fail(source->error, "%s: %zu columns are called '%.60s', expected a number, such as %zu", path,
                       matches, text, column);
    csv_role *is = &source->column[column].role;
    if (role == CSV_TARGET && *is == CSV_TARGET)
        return tg_fail(source->error, "%s: target '%.60s' is named twice", path, text);
    if (*is == CSV_TARGET || (*is == CSV_IGNORED && role != CSV_IGNORED))
        return tg_fail(source->error, "%s: column '%.60s' is %s, expected a feature", path, text,
                       *is == CSV_TARGET ? "a target" : "ignored");
    if (role == CSV_TARGET && source->targets == CSV_MOST_TARGETS)
        return tg_fail(source->error, "%s: more than %d targets", path, CSV_MOST_TARGETS);
    if (role == CSV_TARGET)
        source->target_columns[source->targets++] = column;
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

bool csv_is_missing(const char *word)
{
    static const char *const words[] = {"", "?", "NA", "N/A", "nan", "null"};
    for (size_t i = 0; word && i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(word, words[i]) == 0)
            return true;
    return false;
}

/* Counts missing cells, and makes columns categorical that have at least as many words as numbers, not counting numbers
 * with marks between digits. */
static void find_categories(csv_source *source)
{
    csv_column *const end = source->column + source->table.columns;
    for (size_t row = 0; row < source->rows; row++)
        for (csv_column *column = source->column; column < end; column++) {
            const char *word = csv_word_at(source, row, (size_t)(column - source->column));
            const bool missing = csv_is_missing(word);
            column->missing += missing;
            column->words += word && !missing && !csv_word_is_huge(word) && !csv_word_is_formatted(word);
        }
    for (csv_column *column = source->column; column < end; column++)
        if (column->role == CSV_NUMBERS && column->words > 0 && 2 * column->words >= source->rows - column->missing)
            column->role = CSV_CATEGORIES;
}

/* True if the target of a row is missing or, with `features`, any cell that is used. */
static bool is_incomplete(const csv_source *source, size_t row, bool features)
{
    for (size_t i = 0; i < source->table.columns; i++) {
        const csv_role role = source->column[i].role;
        if ((role == CSV_TARGET || (features && role != CSV_IGNORED)) && csv_is_missing(csv_word_at(source, row, i)))
            return true;
    }
    return false;
}

static bool drop_rows(csv_source *source, bool features)
{
    size_t *kept = dataset_new(&source->memory, source->rows, 1, sizeof *kept), count = 0;
    if (!kept)
        return csv_out_of_memory(source);
    for (size_t row = 0; row < source->rows; row++)
        if (!is_incomplete(source, row, features))
            kept[count++] = row;
    source->kept = kept;
    source->rows = count;
    return count || tg_fail(source->error, "%s: every row has a missing cell", source->table.path);
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
    if (!add_columns(source, options->ignore, CSV_IGNORED) ||
        !add_columns(source, options->categorical, CSV_CATEGORIES))
        return false;
    find_categories(source);
    if (options->missing != DATASET_MISSING_ERROR && !drop_rows(source, options->missing == DATASET_MISSING_DROP))
        return false;
    for (size_t i = 0; i < columns; i++)
        csv_summarise(source, i);
    return true;
}
