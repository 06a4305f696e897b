/* Cells that cannot be used: the first is described, with what to do about it, and the other columns are named. */
#include "examples/programs/data/advice.h"
#include "examples/programs/data/csv.h"
#include "examples/programs/data/words.h"

/* What is wrong with a column. */
typedef struct trouble {
    size_t column;
    enum { NOTHING_WRONG, NO_VALUE, GAPS, WORDS } kind; /* of the first cell */
    size_t row, cells;                                  /* the first cell, and how many there are */
    size_t words;                                       /* those of them that are no gaps */
} trouble;

/* ---- finding ---- */

/* True if the column's cells must be numbers. */
static bool needs_numbers(const csv_source *source, const csv_column *column)
{
    return column->role == CSV_NUMBERS || column->role == CSV_WEIGHTS ||
           (column->role == CSV_TARGET && (!column->named || source->targets > 1));
}

static trouble find(const csv_source *source, size_t i, dataset_missing missing)
{
    const csv_column *column = &source->column[i];
    const bool feature = csv_is_feature(column), numbers = needs_numbers(source, column),
               may_miss = feature && missing == DATASET_MISSING_MEAN;
    trouble t = {.column = i};
    if (column->role == CSV_IGNORED ||
        ((!numbers || column->words == 0) && (may_miss || column->present == source->rows)))
        return t;
    if (feature && column->present == 0 && missing == DATASET_MISSING_ERROR)
        t.kind = NO_VALUE;
    for (size_t row = 0; row < source->rows && t.kind != NO_VALUE; row++) {
        const bool gap = csv_is_missing_at(source, row, i);
        if (gap ? may_miss : !numbers || csv_kind_at(source, row, i) == CSV_NUMBER)
            continue;
        if (t.cells++ == 0) {
            t.kind = gap ? GAPS : WORDS;
            t.row = row;
        }
        t.words += !gap;
    }
    return t;
}

/* ---- what to do ---- */

/* True if each cell of a row is the name of its column. */
static bool is_header_again(const csv_source *source, size_t row)
{
    size_t i = 0;
    while (source->names && i < source->table.columns && strcmp(csv_text(source, row, i), source->names[i]) == 0)
        i++;
    return i == source->table.columns;
}

/* True if all cells of the column that are no numbers are the same word. */
static bool is_one_word(const csv_source *source, const trouble *t)
{
    char *word = strdup(csv_text(source, t->row, t->column));
    bool same = word;
    for (size_t row = t->row; same && row < source->rows; row++)
        same = csv_kind_at(source, row, t->column) == CSV_NUMBER || csv_is_missing_at(source, row, t->column) ||
               strcmp(csv_text(source, row, t->column), word) == 0;
    free(word);
    return same;
}

/* What to do about a few cells among numbers. */
static void advise_cells(const csv_source *source, const trouble *t, char *hint, size_t size)
{
    const size_t line = csv_line(&source->table, t->row);
    if (t->words == 1)
        snprintf(hint, size, "; it is the only such cell%s: " ADVICE_ONE_CELL,
                 t->row + 1 == source->rows ? " and in the last row, which may have totals" : "", line);
    else if (is_one_word(source, t))
        snprintf(hint, size, ", as in %zu of %zu rows; " ADVICE_ONE_MARK, t->words, source->rows);
    else
        snprintf(hint, size, "; %zu of %zu cells are no numbers: " ADVICE_FEW_CELLS, t->words, source->rows);
}

/* What to do about the words of a column of numbers, into the hint: about cells if they are few, else about the
 * column. */
static void advise(const csv_source *source, const trouble *t, char *hint, size_t size)
{
    char name[CSV_OPTION_NAME];
    const csv_column *column = &source->column[t->column];
    const bool few = 10 * t->words <= column->present;
    csv_option_name(source, t->column, name);
    if (strncmp(csv_text(source, t->row, t->column), CSV_UNICODE_MINUS, strlen(CSV_UNICODE_MINUS)) == 0)
        snprintf(hint, size, "; its minus is not that of ASCII: " ADVICE_MINUS, CSV_UNICODE_MINUS);
    else if (few)
        advise_cells(source, t, hint, size);
    else if (column->role == CSV_WEIGHTS ||
             (column->role == CSV_TARGET && csv_kind_at(source, t->row, t->column) != CSV_WORD))
        *hint = '\0';
    else if (column->role == CSV_TARGET)
        snprintf(hint, size, "; " ADVICE_CLASSES);
    else if (csv_kind_at(source, t->row, t->column) == CSV_HUGE)
        snprintf(hint, size, "; " ADVICE_IGNORE, name);
    else
        snprintf(hint, size, "; " ADVICE_CATEGORIES, name, name);
}

/* ---- saying ---- */

/* Fails at the first cell of a column. */
static bool fail_first(const csv_source *source, const trouble *t)
{
    char name[CSV_OPTION_NAME], hint[500];
    const csv_table *table = &source->table;
    csv_option_name(source, t->column, name);
    if (t->kind == NO_VALUE)
        return tg_fail(source->error, "%s: column '%s' has no value in any row; " ADVICE_IGNORE, table->path, name,
                       name);
    if (t->kind == WORDS && is_header_again(source, t->row))
        return tg_fail(source->error, "%s:%zu: the header again; " ADVICE_HEADER_AGAIN, table->path,
                       csv_line(table, t->row));
    if (t->kind == WORDS || needs_numbers(source, &source->column[t->column])) {
        if (t->kind == WORDS)
            advise(source, t, hint, sizeof hint);
        return csv_fail_at_word(source, t->row, t->column, hint);
    }
    if (*csv_text(source, t->row, t->column))
        return csv_fail_at(source, t->row, t->column, "a mark of a missing value, expected a word; " ADVICE_MISSING);
    return csv_fail_at(source, t->row, t->column,
                       source->column[t->column].named ? "empty, expected a word; " ADVICE_MISSING
                                                       : "empty, expected a number; " ADVICE_MISSING);
}

/* Adds a column to the error. */
static void add_other(const csv_source *source, const trouble *t)
{
    char name[CSV_OPTION_NAME], word[PLAIN_NAME];
    csv_option_name(source, t->column, name);
    if (t->kind == NO_VALUE)
        tg_fail(source->error, "%s; column '%s' has no value", source->error->text, name);
    else if (t->kind == GAPS)
        tg_fail(source->error, "%s; column '%s' misses %zu value%s", source->error->text, name, t->cells - t->words,
                plural((long long)(t->cells - t->words)));
    if (t->words)
        tg_fail(source->error, "%s; column '%s' has '%s' in line %zu", source->error->text, name,
                plain_name(csv_text(source, t->row, t->column), word), csv_line(&source->table, t->row));
}

/* Weights are numbers from 0 on. */
static bool check_weights(const csv_source *source)
{
    const size_t column = source->weight_column;
    for (size_t row = 0; source->weighted && row < source->rows; row++)
        if (csv_value(source, row, column) < 0)
            return csv_fail_at(source, row, column, "a negative weight, expected a number from 0 on");
    return true;
}

bool csv_check_cells(const csv_source *source, dataset_missing missing)
{
    static const csv_role roles[] = {CSV_NUMBERS, CSV_WEIGHTS, CSV_GROUPS, CSV_TARGET};
    enum { PASSES = sizeof roles / sizeof *roles, MOST_NAMED = 6 };
    const size_t columns = source->table.columns;
    size_t features = 0, found = 0;
    trouble first = {0};
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t i = 0; i < columns; i++) {
            const csv_role role = source->column[i].role;
            const bool feature = csv_is_feature(&source->column[i]);
            features += pass == 0 && feature;
            if (pass == 0 ? !feature : role != roles[pass])
                continue;
            const trouble t = find(source, i, missing);
            if (found && t.row == first.row && first.kind == WORDS && is_header_again(source, t.row))
                continue;
            found += t.kind != NOTHING_WRONG;
            if (t.kind != NOTHING_WRONG && found == 1) {
                first = t;
                fail_first(source, &first);
            } else if (t.kind != NOTHING_WRONG && found <= MOST_NAMED && source->error)
                add_other(source, &t);
        }
    if (found > MOST_NAMED && source->error)
        tg_fail(source->error, "%s; and %zu more column%s", source->error->text, found - MOST_NAMED,
                plural((long long)(found - MOST_NAMED)));
    if (found)
        return false;
    return features ? check_weights(source)
                    : tg_fail(source->error, "%s: %zu column%s, none of them a feature, expected at least one",
                              source->table.path, columns, plural((long long)columns));
}
