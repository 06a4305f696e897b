/* The table on the terminal. */
#include "examples/lab/runlog_internal.h"
#include "examples/lab/terminal.h"

#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 64, HUGE_LOSS = 100000 };

/* The columns from left to right. */
typedef enum {
    ACTIVATION,
    ACCURACY,
    ACCURACY_DIFFERENCE,
    VALIDATION_ACCURACY,
    LOSS,
    LOSS_DIFFERENCE,
    VALIDATION_LOSS,
    RMSE,
    R2,
    CALIBRATION,
    BETTER,
    STEP_TIME,
    PARAMETERS,
    COLUMNS
} column;

/* And in the order in which they are given room. */
static const column by_need[COLUMNS] = {ACTIVATION, ACCURACY,  ACCURACY_DIFFERENCE, LOSS,   LOSS_DIFFERENCE, RMSE,      R2,
                                        BETTER,     STEP_TIME, VALIDATION_ACCURACY, VALIDATION_LOSS, CALIBRATION, PARAMETERS};

typedef enum { NAME, VALUE, DIFFERENCE, COUNT } content;

typedef struct {
    const runlog_group *groups; /* [count] */
    const char *note;
    int count;
    terminal screen;
    const struct format *format; /* NULL: a table on the terminal */
    bool accuracy; /* false in a regression */
    bool test;     /* there is a test part */
    runlog_metric loss_metric, accuracy_metric;
    int loss_decimals, unit_decimals; /* of the loss; of errors in the unit of the target */
    bool shown[COLUMNS];
} comparison;

/* What a column shows; `metric` of a value or a difference. */
static content content_of(const comparison *table, column which, runlog_metric *metric)
{
    switch (which) {
    case ACCURACY: return *metric = table->accuracy_metric, VALUE;
    case ACCURACY_DIFFERENCE: return *metric = table->accuracy_metric, DIFFERENCE;
    case VALIDATION_ACCURACY: return *metric = RUNLOG_BEST_ACCURACY, VALUE;
    case LOSS: return *metric = table->loss_metric, VALUE;
    case LOSS_DIFFERENCE: return *metric = table->loss_metric, DIFFERENCE;
    case VALIDATION_LOSS: return *metric = RUNLOG_BEST_LOSS, VALUE;
    case RMSE: return *metric = RUNLOG_TEST_RMSE, VALUE;
    case R2: return *metric = RUNLOG_TEST_R2, VALUE;
    case CALIBRATION: return *metric = RUNLOG_TEST_CALIBRATION, VALUE;
    case BETTER: return *metric = table->accuracy ? table->accuracy_metric : table->loss_metric, COUNT;
    case STEP_TIME:
    case PARAMETERS: return COUNT;
    default: return NAME;
    }
}

/* A loss of a regression is one of standardised targets, and says so. */
static void write_title(const comparison *table, column which, char title[CELL])
{
    const char *part = table->test ? "test" : "final", *loss = table->accuracy ? "loss" : "std. MSE";
    const char *delta = table->screen.utf8 ? "Δ" : "diff";
    title[0] = '\0';
    switch (which) {
    case ACTIVATION: snprintf(title, CELL, "activation"); break;
    case ACCURACY: snprintf(title, CELL, "%s acc %%", part); break;
    case ACCURACY_DIFFERENCE: snprintf(title, CELL, "%s %s acc ", delta, part); break;
    case VALIDATION_ACCURACY: snprintf(title, CELL, "val acc %%"); break;
    case LOSS: snprintf(title, CELL, "%s %s", part, loss); break;
    case LOSS_DIFFERENCE: snprintf(title, CELL, "%s %s ", delta, loss); break;
    case VALIDATION_LOSS: snprintf(title, CELL, "val %s", loss); break;
    case RMSE: snprintf(title, CELL, "RMSE"); break;
    case R2: snprintf(title, CELL, table->screen.utf8 ? "R²" : "R2"); break;
    case CALIBRATION: snprintf(title, CELL, "ECE %%"); break;
    case BETTER: snprintf(title, CELL, "better"); break;
    case STEP_TIME: snprintf(title, CELL, table->screen.utf8 ? "µs/step" : "us/step"); break;
    case PARAMETERS: snprintf(title, CELL, "parameters"); break;
    case COLUMNS: break;
    }
}

/* ---- cells ------------------------------------------------------------------------------------------------- */

/* Three significant digits of the smallest. */
static int decimals_for(const runlog_group *groups, int count, runlog_metric metric)
{
    double smallest = INFINITY;
    for (int i = 0; i < count; i++)
        if (fabs(groups[i].value[metric].mean) > 0)
            smallest = fmin(smallest, fabs(groups[i].value[metric].mean));
    double decimals = isfinite(smallest) ? 2 - floor(log10(smallest)) : 3;
    return (int)fmax(1, fmin(6, decimals));
}

/* The difference is beyond chance, with all that are judged taken together. */
static bool is_clear(const runlog_group *group, runlog_metric metric)
{
    return group->corrected[metric] < 0.05;
}

static void write_value(const comparison *table, const runlog_group *group, runlog_metric metric, char cell[CELL])
{
    const statistics_estimate *value = &group->value[metric];
    const bool share = runlog_metrics[metric].share;
    const double scale = share ? 100 : 1;
    const int decimals = share || metric == RUNLOG_TEST_R2 ? 2 + !share : metric == RUNLOG_TEST_RMSE ? table->unit_decimals
                                                                                                    : table->loss_decimals;
    if (value->count == 0)
        return;
    if (isnan(value->mean)) {
        snprintf(cell, CELL, "nan");
        return;
    }
    if (fabs(value->mean) >= HUGE_LOSS) {
        snprintf(cell, CELL, "%.3g", value->mean);
        return;
    }
    int length = snprintf(cell, CELL, "%.*f", decimals, scale * value->mean);
    if (!(value->deviation > 0) || length >= CELL)
        return;
    if (share)
        snprintf(cell + length, (size_t)(CELL - length), " (%.1f-%.1f)", scale * group->range[metric].low, scale * group->range[metric].high);
    else
        snprintf(cell + length, (size_t)(CELL - length), " %s%.*f", table->screen.utf8 ? "±" : "+/-", decimals, scale * value->margin);
}

static void write_difference(const comparison *table, const runlog_group *group, runlog_metric metric, char cell[CELL])
{
    const statistics_estimate *difference = &group->difference[metric];
    const bool share = runlog_metrics[metric].share;
    const double scale = share ? 100 : 1;
    const int decimals = share ? 2 : table->loss_decimals;
    if (difference->count == 0)
        return;
    if (isnan(difference->mean)) {
        snprintf(cell, CELL, "nan ");
        return;
    }
    if (fabs(difference->mean) >= HUGE_LOSS) {
        snprintf(cell, CELL, "%+.3g ", difference->mean);
        return;
    }
    int length = snprintf(cell, CELL, "%+.*f", decimals, scale * difference->mean);
    if (difference->deviation > 0 && length < CELL)
        length += snprintf(cell + length, (size_t)(CELL - length), " %s%.*f", table->screen.utf8 ? "±" : "+/-", decimals,
                           fmin(scale * difference->margin, share ? 100 : INFINITY));
    if (length < CELL)
        snprintf(cell + length, (size_t)(CELL - length), is_clear(group, metric) ? "*" : " ");
}

/* In how many pairs it is the better one: "4/5". */
static void write_better(const runlog_group *group, runlog_metric metric, char cell[CELL])
{
    const statistics_test *test = &group->test[metric];
    if (group->pairs > 0)
        snprintf(cell, CELL, "%d/%d", runlog_metrics[metric].more_is_better ? test->greater : test->less, group->pairs);
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
    runlog_metric metric = 0;
    const content kind = content_of(table, which, &metric);
    const double microseconds = 1e6 * group->seconds_per_step;
    cell[0] = '\0';
    if (which == ACTIVATION)
        snprintf(cell, CELL, "%s", group->activation);
    else if (which == PARAMETERS)
        write_parameters(group->parameters, cell);
    else if (which == STEP_TIME && !isnan(microseconds))
        snprintf(cell, CELL, "%.*f", microseconds < 10 ? 2 : microseconds < 100 ? 1 : 0, microseconds);
    else if (which == BETTER)
        write_better(group, metric, cell);
    else if (kind == VALUE)
        write_value(table, group, metric, cell);
    else if (kind == DIFFERENCE)
        write_difference(table, group, metric, cell);
}

/* ---- layout ------------------------------------------------------------------------------------------------- */

static int width_of(const comparison *table, column which)
{
    char cell[CELL];
    write_title(table, which, cell);
    int width = terminal_width(cell);
    for (int i = 0; i < table->count; i++) {
        write_cell(table, which, &table->groups[i], cell);
        width = terminal_width(cell) > width ? terminal_width(cell) : width;
    }
    return width;
}

/* Whether a column says anything in this comparison. */
static bool is_told(const comparison *table, column which)
{
    runlog_metric metric = 0;
    const content kind = content_of(table, which, &metric);
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
static void choose_columns(comparison *table)
{
    enum { GAP = 2 };
    int room = table->screen.live ? table->screen.columns : 1000;
    for (int i = 0; i < COLUMNS; i++) {
        column which = by_need[i];
        int width = width_of(table, which) + (i > 0 ? GAP : 0);
        table->shown[which] = is_told(table, which) && (i == 0 || width <= room);
        room -= table->shown[which] ? width : 0;
    }
}

/* Green where a clear difference is for the better, red where it is for the worse. */
static const char *colour_of(const comparison *table, column which, const runlog_group *group)
{
    runlog_metric metric = 0;
    if (!table->screen.colour || content_of(table, which, &metric) != DIFFERENCE || !is_clear(group, metric))
        return NULL;
    return (group->difference[metric].mean > 0) == runlog_metrics[metric].more_is_better ? "\033[32m" : "\033[31m";
}

static void fill(const comparison *table, struct libscols_table *to)
{
    for (column which = 0; which < COLUMNS; which++) {
        char title[CELL];
        if (!table->shown[which])
            continue;
        write_title(table, which, title);
        struct libscols_column *added = scols_table_new_column(to, title, 0, which == ACTIVATION ? 0 : SCOLS_FL_RIGHT);
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

/* ---- other formats ---- */

static const struct format {
    const char *name, *begin, *between, *end; /* of a row */
    const char *note;                         /* before a note; NULL: no notes */
} formats[] = {
    {"markdown", "| ", " | ", " |\n", ""},
    {"latex", "", " & ", " \\\\\n", "% "},
    {"csv", "", ",", "\n", NULL},
};

/* A cell with what the format wants before its special letters. */
static void put_cell(const struct format *format, const char *cell, FILE *out)
{
    if (strcmp(format->name, "csv") == 0) {
        runlog_text(out, cell);
        return;
    }
    for (; *cell; cell++) {
        if (strcmp(format->name, "latex") == 0 && strchr("%_&#$", *cell))
            fputc('\\', out);
        if (strcmp(format->name, "latex") == 0 && strncmp(cell, "+/-", 3) == 0) {
            fputs("$\\pm$", out);
            cell += 2;
        } else
            fputc(*cell, out);
    }
}

/* One row: the titles, or an activation. */
static void put_row(const comparison *table, const runlog_group *group, FILE *out)
{
    const char *before = table->format->begin;
    for (column which = 0; which < COLUMNS; which++) {
        char cell[CELL];
        if (!table->shown[which])
            continue;
        if (group)
            write_cell(table, which, group, cell);
        else
            write_title(table, which, cell);
        size_t length = strlen(cell);
        while (length > 0 && cell[length - 1] == ' ')
            cell[--length] = '\0';
        fputs(before, out);
        put_cell(table->format, cell, out);
        before = table->format->between;
    }
    fputs(table->format->end, out);
}

static void print_formatted(const comparison *table, FILE *out)
{
    put_row(table, NULL, out);
    if (strcmp(table->format->name, "markdown") == 0) {
        fputs("|---", out);
        for (column which = 1; which < COLUMNS; which++)
            fputs(table->shown[which] ? "|---:" : "", out);
        fputs("|\n", out);
    }
    for (int i = 0; i < table->count; i++)
        put_row(table, &table->groups[i], out);
    if (table->format->note)
        fputc('\n', out);
}

/* ---- what the signs mean ------------------------------------------------------------------------------------ */

/* Prints words, breaking lines at the width of a terminal. */
static void print_wrapped(const comparison *table, FILE *out, const char *text)
{
    int room = table->screen.live ? table->screen.columns - 1 : 1000, used = 0;
    if (table->format && !table->format->note)
        return;
    fputs(table->format ? table->format->note : "", out);
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

/* How many differences are judged together. */
static int count_judged(const comparison *table)
{
    int judged = 0;
    for (int i = 0; i < table->count; i++)
        judged += !isnan(table->groups[i].corrected[table->loss_metric]) + !isnan(table->groups[i].corrected[table->accuracy_metric]);
    return judged;
}

/* What an interval is, and what a difference. */
static void print_meaning(const comparison *table, FILE *out, int least, int most)
{
    char text[1024], seeds[64];
    const bool utf8 = table->screen.utf8, difference = table->shown[ACCURACY_DIFFERENCE] || table->shown[LOSS_DIFFERENCE];
    const int judged = count_judged(table);
    snprintf(seeds, sizeof seeds, least == most ? "%d" : "%d to %d", least, most);
    if (most > 1)
        snprintf(text, sizeof text, "%s and ( - ): 95 %% interval of the mean over %s %s.", utf8 ? "±" : "+/-", seeds,
                 table->groups[0].value[table->loss_metric].count < (size_t)table->groups[0].runs ? "runs" : "seeds");
    else
        snprintf(text, sizeof text, "One seed: no intervals.");
    size_t length = strlen(text);
    if (difference)
        length += (size_t)snprintf(text + length, sizeof text - length, " %s: difference to %.64s, seed by seed", utf8 ? "Δ" : "diff",
                                   table->groups[0].activation);
    if (difference && judged > 0)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   ", * where it is beyond chance at 5 %% for all %d differences together (t test, Holm)", judged);
    snprintf(text + length, sizeof text - length, "%s", difference ? "." : "");
    print_wrapped(table, out, text);
}

static void print_notes(const comparison *table, FILE *out)
{
    enum { TOO_FEW = 5 };
    char text[1024];
    int least = table->groups[0].runs, most = least;
    for (int i = 1; i < table->count; i++) {
        least = table->groups[i].runs < least ? table->groups[i].runs : least;
        most = table->groups[i].runs > most ? table->groups[i].runs : most;
    }
    print_meaning(table, out, least, most);
    const size_t values = table->groups[0].value[table->loss_metric].count;
    if (table->count > 1 && values > 0 && values < TOO_FEW) {
        snprintf(text, sizeof text, "%zu %s little: ten or more tell small differences from chance.", values,
                 values == 1 ? "value says" : "values say");
        print_wrapped(table, out, text);
    }
    if (table->test)
        print_wrapped(table, out, "test: at the epoch with the lowest validation loss, on rows that chose nothing.");
    if (!table->accuracy)
        print_wrapped(table, out, "std. MSE: mean squared error of targets standardised by the training part; RMSE: in the target's own unit.");
    if (table->note)
        print_wrapped(table, out, table->note);
    for (int i = 0; i < table->count; i++)
        if (table->groups[i].unfinished > 0) {
            snprintf(text, sizeof text, "%.64s: %d of %d runs did not finish and are not counted.",
                     table->groups[i].activation, table->groups[i].unfinished,
                     table->groups[i].unfinished + table->groups[i].runs);
            print_wrapped(table, out, text);
        }
}

static void print_one(const runlog *log, const struct format *format, FILE *out)
{
    comparison table = {.screen = format ? (terminal){0} : terminal_of(out),
                        .format = format,
                        .note = log->note,
                        .accuracy = runlog_has_accuracy(log),
                        .test = runlog_has_test(log),
                        .loss_metric = runlog_loss(log),
                        .accuracy_metric = runlog_accuracy(log)};
    runlog_group *groups = runlog_groups(log, &table.count);
    if (groups && table.count > 0) {
        table.groups = groups;
        table.loss_decimals = decimals_for(groups, table.count, table.loss_metric);
        table.unit_decimals = decimals_for(groups, table.count, RUNLOG_TEST_RMSE);
        choose_columns(&table);
        locale_t locale = terminal_locale(); /* libsmartcols asks it how wide text is */
        locale_t before = locale ? uselocale(locale) : (locale_t)0;
        if (format)
            print_formatted(&table, out);
        else
            print_columns(&table, out);
        if (locale) {
            uselocale(before);
            freelocale(locale);
        }
        print_notes(&table, out);
    }
    free(groups);
}

void runlog_print_table_as(const runlog *log, const char *name, FILE *out)
{
    const struct format *format = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].name, name) == 0)
            format = &formats[i];
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
