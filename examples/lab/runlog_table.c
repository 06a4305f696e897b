/* The table on the terminal. */
#include "examples/lab/runlog_table_internal.h"

#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* And in the order in which they are given room. */
static const table_column by_need[COLUMNS] = {
    ACTIVATION,          ACCURACY,        ACCURACY_DIFFERENCE, LOSS,      LOSS_DIFFERENCE, RMSE, R2, BETTER, STEP_TIME,
    VALIDATION_ACCURACY, VALIDATION_LOSS, CALIBRATION,         PARAMETERS};

static int width_of(const table_view *table, table_column which)
{
    char cell[CELL];
    table_write_title(table, which, cell);
    int width = terminal_width(cell);
    for (int i = 0; i < table->count; i++) {
        table_write_cell(table, which, &table->groups[i], cell);
        width = terminal_width(cell) > width ? terminal_width(cell) : width;
    }
    return width;
}

/* Whether a column says anything in this comparison. */
static bool is_told(const table_view *table, table_column which)
{
    runlog_metric metric = 0;
    const table_content kind = table_content_of(table, which, &metric);
    if ((kind == DIFFERENCE || which == BETTER) && table->count < 2)
        return false;
    if (which == BETTER)
        return table->groups[1].pairs > 1;
    if (which == RMSE || which == R2)
        return table->test && !table->accuracy && !isnan(table->groups[0].value[metric].mean);
    if (which == CALIBRATION)
        return table->test && table->accuracy;
    return kind == NAME || kind == COUNT || table->accuracy || !runlog_metrics[metric].share;
}

/* Shows what says something, and on a terminal, of that, what fits. */
static void choose_columns(table_view *table)
{
    enum { GAP = 2 };
    int room = table->screen.live ? table->screen.columns : 1000;
    for (int i = 0; i < COLUMNS; i++) {
        table_column which = by_need[i];
        int width = width_of(table, which) + (i > 0 ? GAP : 0);
        table->shown[which] = is_told(table, which) && (i == 0 || width <= room);
        room -= table->shown[which] ? width : 0;
    }
}

/* Green where a clear difference is for the better, red where it is for the worse. */
static const char *colour_of(const table_view *table, table_column which, const runlog_group *group)
{
    runlog_metric metric = 0;
    if (!table->screen.colour || table_content_of(table, which, &metric) != DIFFERENCE ||
        !table_is_clear(group, metric))
        return NULL;
    return (group->difference[metric].mean > 0) == runlog_metrics[metric].more_is_better ? "\033[32m" : "\033[31m";
}

static void fill(const table_view *table, struct libscols_table *to)
{
    for (table_column which = 0; which < COLUMNS; which++) {
        char title[CELL];
        if (!table->shown[which])
            continue;
        table_write_title(table, which, title);
        struct libscols_column *added = scols_table_new_column(to, title, 0, which == ACTIVATION ? 0 : SCOLS_FL_RIGHT);
        if (added && table->screen.colour)
            scols_cell_set_color(scols_column_get_header(added), "\033[1m");
    }
    for (int i = 0; i < table->count; i++) {
        struct libscols_line *line = scols_table_new_line(to, NULL);
        size_t position = 0;
        for (table_column which = 0; line && which < COLUMNS; which++) {
            char cell[CELL];
            if (!table->shown[which])
                continue;
            table_write_cell(table, which, &table->groups[i], cell);
            scols_line_set_data(line, position, cell);
            struct libscols_cell *added = scols_line_get_cell(line, position++);
            if (added)
                scols_cell_set_color(added, colour_of(table, which, &table->groups[i]));
        }
    }
}

static void print_columns(const table_view *table, FILE *out)
{
    struct libscols_table *to = scols_new_table();
    if (!to)
        return;
    scols_table_set_stream(to, out);
    scols_table_set_termforce(to, table->screen.live ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
    scols_table_set_termwidth(to, (size_t)table->screen.columns);
    scols_table_enable_colors(to, table->screen.colour);
    scols_table_enable_minout(to, 1);
    scols_table_set_column_separator(to, "  ");
    fill(table, to);
    scols_print_table(to);
    scols_unref_table(to);
}

static int folds_of(const runlog *log)
{
    int folds = 1;
    for (int i = 0; i < log->count; i++)
        folds = log->runs[i].fold >= folds ? log->runs[i].fold + 1 : folds;
    return folds;
}

static void print_one(const runlog *log, const table_format *format, FILE *out)
{
    table_view table = {.screen = format ? (terminal){.utf8 = format->utf8} : terminal_of(out),
                        .format = format,
                        .note = log->note,
                        .accuracy = runlog_has_accuracy(log),
                        .test = runlog_has_test(log),
                        .by_fold = runlog_has_one_seed(log) && folds_of(log) > 1,
                        .folds = folds_of(log),
                        .loss_metric = runlog_loss(log),
                        .accuracy_metric = runlog_accuracy(log)};
    runlog_group *groups = runlog_groups(log, &table.count);
    if (groups && table.count > 0) {
        table.groups = groups;
        table.loss_decimals = table_decimals(groups, table.count, table.loss_metric);
        table.unit_decimals = table_decimals(groups, table.count, RUNLOG_TEST_RMSE);
        choose_columns(&table);
        locale_t locale = terminal_locale(); /* libsmartcols asks it how wide text is */
        locale_t before = locale ? uselocale(locale) : (locale_t)0;
        if (format)
            table_print_formatted(&table, out);
        else
            print_columns(&table, out);
        if (locale) {
            uselocale(before);
            freelocale(locale);
        }
        table_print_notes(&table, out);
    }
    free(groups);
}

void runlog_print_table_as(const runlog *log, const char *name, FILE *out)
{
    const table_format *format = table_format_of(name);
    if (log && !runlog_is_search(log))
        print_one(log, format, out);
    for (int common = 0; common < 2 && log && runlog_is_search(log); common++) {
        runlog *best = runlog_at_best(log, common);
        if (common)
            fputc('\n', out);
        if (best)
            print_one(best, format, out);
        runlog_free(best);
    }
}

void runlog_print_table(const runlog *log, FILE *out)
{
    runlog_print_table_as(log, "table", out);
}
