/* The table on the terminal. */
#include "examples/lab/runlog_internal.h"
#include "examples/lab/terminal.h"

#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The columns in the order in which they stand. */
typedef enum {
    ACTIVATION,
    BEST_ACCURACY,
    FINAL_ACCURACY,
    ACCURACY_DIFFERENCE,
    BEST_LOSS,
    FINAL_LOSS,
    LOSS_DIFFERENCE,
    STEP_TIME,
    PARAMETERS,
    COLUMNS
} column;

/* And in the order in which they are given room. */
static const column by_need[COLUMNS] = {ACTIVATION,      BEST_ACCURACY,  ACCURACY_DIFFERENCE,
                                        FINAL_LOSS,      FINAL_ACCURACY, STEP_TIME,
                                        LOSS_DIFFERENCE, BEST_LOSS,      PARAMETERS};

typedef enum { NAME, VALUE, DIFFERENCE, COUNT } content;

static const struct {
    const char *title, *ascii;
    content content;
    runlog_metric metric;
} columns[COLUMNS] = {
    [ACTIVATION] = {"activation", "activation", NAME, 0},
    [BEST_ACCURACY] = {"best acc %", "best acc %", VALUE, RUNLOG_BEST_ACCURACY},
    [FINAL_ACCURACY] = {"final acc %", "final acc %", VALUE, RUNLOG_FINAL_ACCURACY},
    [ACCURACY_DIFFERENCE] = {"Δ final acc ", "diff final acc ", DIFFERENCE, RUNLOG_FINAL_ACCURACY},
    [BEST_LOSS] = {"best loss", "best loss", VALUE, RUNLOG_BEST_LOSS},
    [FINAL_LOSS] = {"final loss", "final loss", VALUE, RUNLOG_FINAL_LOSS},
    [LOSS_DIFFERENCE] = {"Δ final loss ", "diff final loss ", DIFFERENCE, RUNLOG_FINAL_LOSS},
    [STEP_TIME] = {"µs/step", "us/step", COUNT, 0},
    [PARAMETERS] = {"parameters", "parameters", COUNT, 0},
};

typedef struct {
    const runlog_group *groups; /* [count] */
    int count;
    terminal screen;
    bool accuracy; /* false in a regression */
    int loss_decimals;
    bool shown[COLUMNS];
} comparison;

static bool is_accuracy(column which)
{
    return columns[which].content != COUNT &&
           (columns[which].metric == RUNLOG_FINAL_ACCURACY || columns[which].metric == RUNLOG_BEST_ACCURACY);
}

static const char *title_of(const comparison *table, column which)
{
    return table->screen.utf8 ? columns[which].title : columns[which].ascii;
}

/* ---- cells -------------------------------------------------------------------------------------------------- */

enum { CELL = 64 };

/* Three significant digits of the smallest loss. */
static int loss_decimals(const runlog_group *groups, int count)
{
    double smallest = INFINITY;
    for (int i = 0; i < count; i++)
        if (fabs(groups[i].value[RUNLOG_BEST_LOSS].mean) > 0)
            smallest = fmin(smallest, fabs(groups[i].value[RUNLOG_BEST_LOSS].mean));
    double decimals = isfinite(smallest) ? 2 - floor(log10(smallest)) : 3;
    return (int)fmax(1, fmin(6, decimals));
}

/* The interval of a difference lies on one side of zero. */
static bool is_clear(const statistics_estimate *difference)
{
    return fabs(difference->mean) > difference->margin;
}

static void write_estimate(const comparison *table, column which, const statistics_estimate *estimate,
                           char cell[CELL])
{
    bool difference = columns[which].content == DIFFERENCE;
    double scale = is_accuracy(which) ? 100 : 1;
    int decimals = is_accuracy(which) ? 2 : table->loss_decimals;
    if (estimate->count == 0)
        return;
    if (isnan(estimate->mean)) {
        snprintf(cell, CELL, difference ? "nan " : "nan");
        return;
    }
    int length = snprintf(cell, CELL, difference ? "%+.*f" : "%.*f", decimals, scale * estimate->mean);
    if (estimate->count > 1 && length < CELL)
        length += snprintf(cell + length, (size_t)(CELL - length), " %s%.*f",
                           table->screen.utf8 ? "±" : "+/-", decimals, scale * estimate->margin);
    if (difference && length < CELL)
        snprintf(cell + length, (size_t)(CELL - length), is_clear(estimate) ? "*" : " ");
}

static void write_parameters(long parameters, char cell[CELL])
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%ld", parameters), put = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            cell[put++] = ',';
        cell[put++] = digits[i];
    }
    cell[put] = '\0';
}

static void write_cell(const comparison *table, column which, const runlog_group *group, char cell[CELL])
{
    double microseconds = 1e6 * group->seconds_per_step;
    cell[0] = '\0';
    if (which == ACTIVATION)
        snprintf(cell, CELL, "%s", group->activation);
    else if (which == PARAMETERS)
        write_parameters(group->parameters, cell);
    else if (which == STEP_TIME && !isnan(microseconds))
        snprintf(cell, CELL, "%.*f", microseconds < 10 ? 2 : microseconds < 100 ? 1 : 0, microseconds);
    else if (columns[which].content == VALUE)
        write_estimate(table, which, &group->value[columns[which].metric], cell);
    else if (columns[which].content == DIFFERENCE)
        write_estimate(table, which, &group->difference[columns[which].metric], cell);
}

/* ---- layout ------------------------------------------------------------------------------------------------- */

static int width_of(const comparison *table, column which)
{
    char cell[CELL];
    int width = terminal_width(title_of(table, which));
    for (int i = 0; i < table->count; i++) {
        write_cell(table, which, &table->groups[i], cell);
        width = terminal_width(cell) > width ? terminal_width(cell) : width;
    }
    return width;
}

/* Shows what says something, and on a terminal, of that, what fits. */
static void choose_columns(comparison *table)
{
    enum { GAP = 2 };
    int room = table->screen.live ? table->screen.columns : 1000;
    for (int i = 0; i < COLUMNS; i++) {
        column which = by_need[i];
        bool told = columns[which].content == DIFFERENCE ? table->count > 1 : true;
        int width = width_of(table, which) + (i > 0 ? GAP : 0);
        table->shown[which] = told && (table->accuracy || !is_accuracy(which)) && (i == 0 || width <= room);
        room -= table->shown[which] ? width : 0;
    }
}

/* Green where a clear difference is for the better, red where it is for the worse. */
static const char *colour_of(const comparison *table, column which, const runlog_group *group)
{
    const statistics_estimate *difference = &group->difference[columns[which].metric];
    if (!table->screen.colour || columns[which].content != DIFFERENCE || !is_clear(difference))
        return NULL;
    return (difference->mean > 0) == is_accuracy(which) ? "\033[32m" : "\033[31m";
}

static void fill(const comparison *table, struct libscols_table *to)
{
    for (column which = 0; which < COLUMNS; which++) {
        if (!table->shown[which])
            continue;
        struct libscols_column *added =
            scols_table_new_column(to, title_of(table, which), 0, which == ACTIVATION ? 0 : SCOLS_FL_RIGHT);
        if (added && table->screen.colour)
            scols_cell_set_color(scols_column_get_header(added), "\033[1m");
    }
    for (int i = 0; i < table->count; i++) {
        struct libscols_line *line = scols_table_new_line(to, NULL);
        size_t position = 0;
        for (column which = 0; line && which < COLUMNS; which++) {
            char cell[CELL];
            if (!table->shown[which])
                continue;
            write_cell(table, which, &table->groups[i], cell);
            scols_line_set_data(line, position, cell);
            struct libscols_cell *added = scols_line_get_cell(line, position++);
            if (added)
                scols_cell_set_color(added, colour_of(table, which, &table->groups[i]));
        }
    }
}

static void print_columns(const comparison *table, FILE *out)
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

/* ---- what the signs mean ------------------------------------------------------------------------------------ */

/* Prints words, breaking lines at the width of a terminal. */
static void print_wrapped(const comparison *table, FILE *out, const char *text)
{
    int room = table->screen.live ? table->screen.columns - 1 : 1000, used = 0;
    while (*text) {
        int length = (int)strcspn(text, " ");
        char word[256];
        snprintf(word, sizeof word, "%.*s", length, text);
        int width = terminal_width(word);
        if (used > 0)
            fputc(used + 1 + width > room ? '\n' : ' ', out);
        used = used == 0 || used + 1 + width > room ? width : used + 1 + width;
        fputs(word, out);
        text += length + (text[length] == ' ');
    }
    fputc('\n', out);
}

static void print_notes(const comparison *table, FILE *out)
{
    int least = table->groups[0].runs, most = least;
    for (int i = 1; i < table->count; i++) {
        least = table->groups[i].runs < least ? table->groups[i].runs : least;
        most = table->groups[i].runs > most ? table->groups[i].runs : most;
    }
    char text[1024], seeds[64];
    bool utf8 = table->screen.utf8,
         difference = table->shown[ACCURACY_DIFFERENCE] || table->shown[LOSS_DIFFERENCE];
    snprintf(seeds, sizeof seeds, least == most ? "%d" : "%d to %d", least, most);
    if (most > 1)
        snprintf(text, sizeof text, "%s: 95 %% interval of the mean over %s seeds.", utf8 ? "±" : "+/-",
                 seeds);
    else
        snprintf(text, sizeof text, "One seed: no intervals.");
    size_t length = strlen(text);
    if (difference)
        snprintf(text + length, sizeof text - length, " %s: difference to %.64s, seed by seed%s.",
                 utf8 ? "Δ" : "diff", table->groups[0].activation,
                 most > 1 ? ", * where its interval leaves out zero" : "");
    print_wrapped(table, out, text);
    for (int i = 0; i < table->count; i++)
        if (table->groups[i].unfinished > 0) {
            snprintf(text, sizeof text, "%.64s: %d of %d runs did not finish and are not counted.",
                     table->groups[i].activation, table->groups[i].unfinished,
                     table->groups[i].unfinished + table->groups[i].runs);
            print_wrapped(table, out, text);
        }
}

void runlog_print_table(const runlog *log, FILE *out)
{
    if (!log)
        return;
    comparison table = {.screen = terminal_of(out), .accuracy = runlog_has_accuracy(log)};
    runlog_group *groups = runlog_groups(log, &table.count);
    if (groups && table.count > 0) {
        table.groups = groups;
        table.loss_decimals = loss_decimals(groups, table.count);
        choose_columns(&table);
        locale_t locale = terminal_locale(); /* libsmartcols asks it how wide text is */
        locale_t before = locale ? uselocale(locale) : (locale_t)0;
        print_columns(&table, out);
        if (locale) {
            uselocale(before);
            freelocale(locale);
        }
        print_notes(&table, out);
    }
    free(groups);
}
