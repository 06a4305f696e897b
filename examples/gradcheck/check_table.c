#include "examples/gradcheck/check_table.h"

#include "examples/lab/terminal.h"

#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

typedef struct check_row {
    const char *name;
    int order;
    tg_gradcheck_result result;
} check_row;

struct check_table {
    bool csv;
    check_row *rows;
    const char **skipped;
    int count, capacity, skipped_count;
    bool short_of_memory; /* rows are missing */
};

void gradcheck_result_join(tg_gradcheck_result *total, const tg_gradcheck_result *next)
{
    int samples = total->samples;
    int64_t comparisons = total->comparisons + next->comparisons;
    if (total->passed && (!next->passed || next->relative > total->relative))
        *total = *next;
    total->samples = samples;
    total->comparisons = comparisons;
}

check_table *check_table_new(bool csv)
{
    check_table *table = calloc(1, sizeof *table);
    if (table)
        table->csv = csv;
    return table;
}

void check_table_free(check_table *table)
{
    if (!table)
        return;
    free(table->rows);
    free(table->skipped);
    free(table);
}

void check_table_add(check_table *table, const char *name, int order, const tg_gradcheck_result *result)
{
    if (table->count == table->capacity) {
        int capacity = table->capacity ? 2 * table->capacity : 64;
        check_row *rows = realloc(table->rows, (size_t)capacity * sizeof *rows);
        if (!rows) {
            table->short_of_memory = true;
            return;
        }
        table->rows = rows;
        table->capacity = capacity;
    }
    table->rows[table->count++] = (check_row){name, order, *result};
}

void check_table_skip(check_table *table, const char *name)
{
    const char **skipped = realloc(table->skipped, (size_t)(table->skipped_count + 1) * sizeof *skipped);
    if (!skipped) {
        table->short_of_memory = true;
        return;
    }
    table->skipped = skipped;
    skipped[table->skipped_count++] = name;
}

/* ---- printing ----------------------------------------------------------------------------------------------- */

enum { NAME, ORDER, SAMPLES, DERIVATIVES, WORST, WHERE, COLUMNS };

static const char *const titles[COLUMNS] = {
    "operation", "order", "samples", "derivatives", "worst relative error", "where"};

static void write_cells(const check_row *row, char cells[COLUMNS][160])
{
    const tg_gradcheck_result *v = &row->result;
    snprintf(cells[NAME], 160, "%s", row->name);
    snprintf(cells[ORDER], 160, "%d", row->order);
    snprintf(cells[SAMPLES], 160, "%d", v->samples);
    snprintf(cells[DERIVATIVES], 160, "%lld", (long long)v->comparisons);
    if (v->passed || v->status == TG_GRADCHECK_WRONG)
        snprintf(cells[WORST], 160, "%.1e", v->relative);
    snprintf(cells[WHERE], 160, "%s%s", v->passed ? "" : "FAILED ", v->where);
}

static void print_csv(const check_table *table, FILE *out)
{
    fputs("operation,order,samples,derivatives,worst_relative_error,where,passed\n", out);
    for (int i = 0; i < table->count; i++) {
        const check_row *row = &table->rows[i];
        const tg_gradcheck_result *v = &row->result;
        fprintf(out, "%s,%d,%d,%lld,%.6g,\"%s\",%d\n", row->name, row->order, v->samples,
                (long long)v->comparisons, v->relative, v->where, v->passed);
    }
}

static void fill(const check_table *table, struct libscols_table *to, bool colour)
{
    for (int column = 0; column < COLUMNS; column++) {
        struct libscols_column *added = scols_table_new_column(
            to, titles[column], 0, column == NAME || column == WHERE ? SCOLS_FL_TRUNC : SCOLS_FL_RIGHT);
        if (added && colour)
            scols_cell_set_color(scols_column_get_header(added), "\033[1m");
    }
    for (int i = 0; i < table->count; i++) {
        struct libscols_line *line = scols_table_new_line(to, NULL);
        char cells[COLUMNS][160] = {""};
        write_cells(&table->rows[i], cells);
        for (int column = 0; line && column < COLUMNS; column++) {
            scols_line_set_data(line, (size_t)column, cells[column]);
            struct libscols_cell *cell = scols_line_get_cell(line, (size_t)column);
            if (cell && colour && !table->rows[i].result.passed)
                scols_cell_set_color(cell, "\033[31m");
        }
    }
}

static void print_rows(const check_table *table, FILE *out)
{
    terminal screen = terminal_of(out);
    struct libscols_table *to = table->count > 0 ? scols_new_table() : NULL;
    if (!to)
        return;
    scols_table_enable_colors(to, screen.colour);
    scols_table_set_termwidth(to, screen.live ? (size_t)screen.columns : 1000);
    scols_table_enable_maxout(to, 0);
    scols_table_set_stream(to, out);
    fill(table, to, screen.colour);
    scols_print_table(to);
    scols_unref_table(to);
}

static void print_failures(const check_table *table, FILE *out)
{
    for (int i = 0; i < table->count; i++)
        if (!table->rows[i].result.passed)
            fprintf(out, "\n%s\n", table->rows[i].result.why);
}

static void print_skipped(const check_table *table, FILE *out)
{
    for (int i = 0; i < table->skipped_count; i++)
        fprintf(out, "%s%s", i > 0 ? ", " : "\nconstant, nothing to check: ", table->skipped[i]);
    if (table->skipped_count > 0)
        fputc('\n', out);
}

void check_table_print(const check_table *table, FILE *out)
{
    if (table->csv) {
        print_csv(table, out);
        return;
    }
    print_rows(table, out);
    print_failures(table, out);
    print_skipped(table, out);
}

int check_table_count(const check_table *table, FILE *out)
{
    int failed = table->short_of_memory;
    for (int i = 0; i < table->count; i++)
        failed += !table->rows[i].result.passed;
    if (table->short_of_memory)
        fprintf(out, "out of memory: not everything is in the table\n");
    fprintf(out, "%d passed, %d failed\n", table->count - failed + table->short_of_memory, failed);
    return failed;
}
