#include "examples/data/csv_columns.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double csv_value(const csv_source *source, size_t row, size_t column)
{
    return source->table.values[(source->first + row) * source->table.columns + column];
}

const char *csv_word_at(const csv_source *source, size_t row, size_t column)
{
    const csv_table *table = &source->table;
    size_t cell = (source->first + row) * table->columns + column;
    return isnan(table->values[cell]) ? csv_table_text(table, csv_table_find(table, cell)) : NULL;
}

const char *csv_column_name(const csv_source *source, size_t column)
{
    return csv_table_text(&source->table, column); /* the words of the first row are all kept */
}

bool csv_fail_at(const csv_source *source, size_t row, size_t column, const char *problem)
{
    const csv_table *table = &source->table;
    size_t line = table->lines[source->first + row];
    if (source->first)
        return dataset_fail(source->error, "%s:%zu, column '%.60s': %s", table->path, line,
                            csv_column_name(source, column), problem);
    return dataset_fail(source->error, "%s:%zu, column %zu (of 0 to %zu): %s", table->path, line, column,
                        table->columns - 1, problem);
}

bool csv_fail_at_word(const csv_source *source, size_t row, size_t column)
{
    const char *word = csv_word_at(source, row, column);
    char problem[120];
    if (!word || !*word)
        snprintf(problem, sizeof problem, "empty, expected a number");
    else
        snprintf(problem, sizeof problem, "'%.60s' is not a %snumber", word,
                 csv_word_is_huge(word) ? "finite " : "");
    return csv_fail_at(source, row, column, problem);
}

/* ---- header ---------------------------------------------------------------- */

static bool is_number(const csv_source *source, size_t row, size_t column)
{
    const char *word = csv_word_at(source, row, column);
    return !word || csv_word_is_huge(word);
}

/* A first line without numbers is a header. One with numbers is data, if its words stand above other words. */
bool csv_find_header(csv_source *source, dataset_header header)
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
        return dataset_fail(
            source->error,
            "%s:%zu: '%.60s' stands among numbers, expected a row of names or a row of data; choose "
            "header yes or no",
            table->path, table->lines[0], csv_column_name(source, strange));
    bool names = header == DATASET_HEADER_YES || (header == DATASET_HEADER_AUTO && numbers == 0 && words > 0);
    source->first = names ? 1 : 0;
    source->rows = table->rows - source->first;
    if (source->rows == 0)
        return dataset_fail(source->error, "%s: only a header, expected rows below it", table->path);
    return true;
}

/* ---- target columns -------------------------------------------------------- */

/* Finds a column by its name, or else by its number. Gives the number of columns that match. */
static size_t find_column(const csv_source *source, const char *text, size_t length, size_t *found)
{
    size_t matches = 0, columns = source->table.columns;
    for (size_t column = columns; source->first && column-- > 0;) {
        const char *name = csv_column_name(source, column);
        if (strlen(name) == length && memcmp(name, text, length) == 0) {
            *found = column;
            matches++;
        }
    }
    if (matches)
        return matches;
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || end != text + length || errno || number < -(long long)columns ||
        number >= (long long)columns)
        return 0;
    *found = (size_t)(number < 0 ? number + (long long)columns : number);
    return 1;
}

static bool add_target(csv_source *source, const char *text, size_t length)
{
    const char *path = source->table.path;
    size_t column = 0, matches = find_column(source, text, length, &column);
    int shown = length < 60 ? (int)length : 60;
    if (matches == 0)
        return dataset_fail(source->error, "%s: no column '%.*s', expected %sa number from %zd to %zu", path,
                            shown, text, source->first ? "a name of the header or " : "",
                            -(ssize_t)source->table.columns, source->table.columns - 1);
    if (matches > 1)
        return dataset_fail(source->error,
                            "%s: %zu columns are called '%.*s', expected a number, such as %zu", path,
                            matches, shown, text, column);
    for (size_t i = 0; i < source->targets; i++)
        if (source->target_columns[i] == column)
            return dataset_fail(source->error, "%s: target '%.*s' is named twice", path, shown, text);
    if (source->targets == CSV_MOST_TARGETS)
        return dataset_fail(source->error, "%s: more than %d targets", path, CSV_MOST_TARGETS);
    source->target_columns[source->targets++] = column;
    return true;
}

bool csv_find_targets(csv_source *source, const char *target)
{
    size_t ignored;
    if (!strchr(target, ',') || find_column(source, target, strlen(target), &ignored))
        return add_target(source, target, strlen(target));
    for (const char *from = target;; from++) {
        size_t length = strcspn(from, ",");
        if (!add_target(source, from, length))
            return false;
        from += length;
        if (!*from)
            return true;
    }
}
