#include "examples/data/csv.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LEAST_ROWS = 20 }; /* with fewer rows, only dates are reported */

/* ---- dates ---- */

static bool is_day(long year, long month, long day)
{
    return year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/* 2024-05-31, 31.5.24 or 5/31/2024, and a time after it. */
static bool is_date(const char *word)
{
    long part[3];
    const char mark = word[strspn(word, "0123456789")];
    if (!mark || !strchr("-/.", mark))
        return false;
    for (int i = 0; i < 3; i++) {
        char *end;
        if (!isdigit((unsigned char)*word))
            return false;
        part[i] = strtol(word, &end, 10);
        if (i < 2 ? *end != mark : *end && !strchr(" T", *end))
            return false;
        word = end + 1;
    }
    return part[0] > 31 ? is_day(part[0], part[1], part[2])
                        : is_day(part[2], part[1], part[0]) || is_day(part[2], part[0], part[1]);
}

/* 20240531 */
static bool is_compact_date(double number)
{
    const long day = (long)number;
    return number >= 19000101 && number <= 21001231 && is_day(day / 10000, day / 100 % 100, day % 100);
}

static bool all_dates(const csv_source *source, size_t column)
{
    size_t dates = 0;
    for (size_t row = 0; row < source->rows; row++) {
        const char *word = csv_word_at(source, row, column);
        const bool dated = word ? is_date(word) : is_compact_date(csv_value(source, row, column));
        if (!dated && !csv_is_missing(word))
            return false;
        dates += dated;
    }
    return dates > 0;
}

/* ---- identifiers ---- */

static bool all_whole(const csv_source *source, size_t column)
{
    for (size_t row = 0; row < source->rows; row++)
        if (csv_value(source, row, column) != floor(csv_value(source, row, column)))
            return false;
    return true;
}

/* True if each of the integers low .. low + rows - 1 occurs once, in any order. */
static bool numbers_rows(const csv_source *source, size_t column, double low, bool *seen)
{
    for (size_t row = 0; row < source->rows; row++) {
        bool *at = &seen[(size_t)(csv_value(source, row, column) - low)];
        if (*at)
            return false;
        *at = true;
    }
    return true;
}

static bool is_called_id(const char *name)
{
    const size_t length = name ? strlen(name) : 0;
    if (length < 2 || strcasecmp(name + length - 2, "id") != 0)
        return false;
    return length == 2 || !isalpha((unsigned char)name[length - 3]) || strcmp(name + length - 2, "Id") == 0;
}

/* Sets the warning about a feature. False when memory runs out. */
static bool doubt(const csv_source *source, size_t column, dataset_column *to)
{
    const double rows = (double)source->rows, range = to->high - to->low + 1;
    if (all_dates(source, column)) {
        to->doubt = "looks like a date";
        return true;
    }
    if (source->rows < LEAST_ROWS)
        return true;
    if (source->role[column] == CSV_CATEGORIES) {
        if (2 * (double)to->entries > rows)
            to->doubt = "looks like an identifier";
        return true;
    }
    if (!all_whole(source, column))
        return true;
    if (is_called_id(to->name) && range >= rows / 2)
        to->doubt = "looks like an identifier";
    if (range != rows)
        return true;
    bool *seen = dataset_array(source->rows, 1, sizeof *seen);
    if (seen && numbers_rows(source, column, to->low, seen))
        to->doubt = "numbers the rows";
    free(seen);
    return seen != NULL;
}

/* ---- columns ---- */

/* The first entry as in the file; a number in its shortest form. */
static char *example_of(const csv_source *source, size_t column)
{
    char number[NUMBER_TEXT];
    for (size_t row = 0; row < source->rows; row++) {
        const char *word = csv_word_at(source, row, column);
        if (!csv_is_missing(word))
            return strdup(word ? word : number_text(csv_value(source, row, column), number));
    }
    return strdup("");
}

static void find_range(const csv_source *source, size_t column, dataset_column *to)
{
    for (size_t row = 0; row < source->rows; row++) {
        to->low = fmin(to->low, csv_value(source, row, column)); /* fmin and fmax ignore NaN */
        to->high = fmax(to->high, csv_value(source, row, column));
    }
}

static bool describe(const csv_source *source, const dataset *set, size_t column, dataset_column *to)
{
    const csv_role role = source->role[column];
    const bool target = role == CSV_TARGET, class = target && set->classes > 0;
    static const char *const kinds[] = {"number", "categorical", "target", "ignored"};
    to->kind = class ? "class" : kinds[role];
    to->low = to->high = NAN;
    if (!(to->example = example_of(source, column)) ||
        (source->first && !(to->name = strdup(csv_column_name(source, column)))))
        return false;
    if (role == CSV_NUMBERS || (target && !class))
        find_range(source, column, to);
    to->entries = class ? set->classes : 0;
    for (size_t i = 0; i < set->features; i++)
        to->entries += set->feature[i].number == column && set->feature[i].category;
    return role == CSV_TARGET || role == CSV_IGNORED || doubt(source, column, to);
}

static void count_missing(const csv_source *source, dataset *set)
{
    const csv_table *table = &source->table;
    for (size_t i = csv_table_find(table, source->first * table->columns); i < table->word_count; i++)
        set->column[table->words[i].cell % table->columns].missing +=
            isnan(table->values[table->words[i].cell]) && csv_is_missing(csv_table_text(table, i));
}

bool csv_describe_columns(const csv_source *source, dataset *set)
{
    bool complete = (set->column = dataset_array(source->table.columns, 1, sizeof *set->column)) != NULL;
    set->columns = source->table.columns;
    for (size_t i = 0; complete && i < set->columns; i++)
        complete = describe(source, set, i, &set->column[i]);
    if (!complete)
        return tg_fail(source->error, "%s: out of memory", set->name);
    count_missing(source, set);
    return true;
}
