#include "examples/programs/data/advice.h"
#include "examples/programs/report/columns.h"

#include "examples/programs/data/number.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/table.h"

enum { MOST_SHOWN = 24, MOST_WARNINGS = 8 };

/* The name of a column, or its number if it has none. */
static const char *name_of(const dataset *set, size_t i, char text[PLAIN_NAME])
{
    if (set->column[i].name)
        return plain_name(set->column[i].name, text);
    snprintf(text, PLAIN_NAME, "%zu", i);
    return text;
}

static void add_column(table *t, const dataset *set, size_t i)
{
    const dataset_column *column = &set->column[i];
    char text[PLAIN_NAME], low[NUMBER_TEXT], high[NUMBER_TEXT];
    const bool near =
        strcmp(number_shown(column->low, low), number_shown(column->high, high)) == 0 && column->low < column->high;
    table_add_row(t);
    table_add_cell(t, "%s", name_of(set, i, text));
    table_add_cell(t, "%s", column->kind);
    if (column->entries)
        table_add_cell(t, "%zu different", column->entries);
    else if (!isnan(column->low))
        table_add_cell(t, "%s to %s", near ? number_text(column->low, low) : low,
                       near ? number_text(column->high, high) : high);
    else
        table_add_cell(t, "%s", "");
    table_add_cell(t, "%s", plain_name(column->example, text));
    if (column->missing)
        table_add_cell(t, "%zu", column->missing);
}

static void add_notes(table *t, const dataset *set)
{
    if (set->header && set->comments)
        table_add_note(t, "The header is the first line below %zu comment%s.", set->comments,
                       plural((long long)set->comments));
    else if (set->header)
        table_add_note(t, "The first line is the header.");
    else if (set->comments)
        table_add_note(t, "No header; %zu comment%s above the first row.", set->comments,
                       plural((long long)set->comments));
    else
        table_add_note(t, "No header.");
}

/* What the reader decided by itself, and codes that it took for numbers. */
static void add_readings(table *t, const dataset *set)
{
    char text[PLAIN_NAME], example[PLAIN_NAME], code[NUMBER_TEXT];
    size_t notes = 0;
    if (set->unnamed)
        table_add_note(t, "Left out: %zu column%s at the ends of the lines, without a name or a value.", set->unnamed,
                       plural((long long)set->unnamed));
    if (set->empty)
        table_add_note(t, "Left out: %zu empty row%s at the end.", set->empty, plural((long long)set->empty));
    for (size_t i = 0; i < set->columns && notes < MOST_WARNINGS; i++) {
        const dataset_column *column = &set->column[i];
        notes += column->zeros || !isnan(column->gap);
        if (column->zeros)
            table_add_note(t, "Column '%s' is categorical, as its entries begin with zeros, such as %s.",
                           name_of(set, i, text), plain_name(column->example, example));
        if (!isnan(column->gap))
            table_add_note(
                t, "Warning: column '%s' has %s in %zu rows, far from all other values; " ADVICE_CODE_IS_GAP ".",
                name_of(set, i, text), number_text(column->gap, code), column->gaps);
    }
}

static void add_warnings(table *t, const dataset *set)
{
    size_t warnings = 0;
    for (size_t i = 0; i < set->columns; i++) {
        const dataset_column *column = &set->column[i];
        if (column->doubt && ++warnings <= MOST_WARNINGS)
            table_add_note(t, "Warning: column '%s' %s; " ADVICE_IGNORE ".", plain(column->call), column->doubt,
                           plain(column->call));
    }
    if (warnings > MOST_WARNINGS)
        table_add_note(t, "%zu more columns look like dates or identifiers.", warnings - MOST_WARNINGS);
}

void columns_print(const dataset *set, FILE *out)
{
    if (set->columns == 0)
        return;
    table *t = table_new(1);
    table_add_columns(t, "column|kind|values|example|missing");
    for (size_t i = 0; i < set->columns && i < MOST_SHOWN; i++)
        add_column(t, set, i);
    if (set->columns > MOST_SHOWN)
        table_add_note(t, "%zu more columns are not shown.", set->columns - MOST_SHOWN);
    add_notes(t, set);
    add_readings(t, set);
    add_warnings(t, set);
    table_print(t, "table", out);
    table_free(t);
}
