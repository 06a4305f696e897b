/* The files of a run with a row for each epoch, step, test row or point: reading, and writing while it trains. */
#include "examples/programs/data/csv.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/run/record.h"
#include "examples/programs/system/posix.h"

/* The files with a row for each epoch, or for each entry of the losses. */
typedef struct kind {
    const char *name;
    const char *const *columns; /* all numbers */
    int count, step;            /* step: the column that has it, or else an ascending number */
    bool may_lack;              /* the second number may be NaN */
} kind;

#define EPOCH_FIELD(member, ...) #member,
static const char *const columns[] = {
    "epoch",
    "step",
#include "examples/programs/report/fields.def"
}; /* of the last epoch in which it was measured */
static const char *const step_columns[] = {"step", "train_loss"};
enum { COLUMNS = sizeof columns / sizeof *columns };
static const char *const row_columns[] = {"row",
#define ROW_FIELD(member, column) column,
#include "examples/programs/report/fields.def"
#define ROW_FIELD(member, column) "constant_" column,
#include "examples/programs/report/fields.def"
                                          "weight", "loss_weight", "group"};
enum { ROW_COLUMNS = sizeof row_columns / sizeof *row_columns };
static const char *const grid_columns[] = {"x", "y", "class", "probability"};
enum { GRID_COLUMNS = sizeof grid_columns / sizeof *grid_columns };
static const char *const pending_columns[] = {"step", "sum", "losses"};
static const kind curves = {"curves.csv", columns, COLUMNS, 1}, steps = {"steps.csv", step_columns, 2, 0},
                  curves_without = {"curves.csv", columns, COLUMNS - 1, 1}, /* the loss on all training rows */
    pending = {"pending.csv", pending_columns, 3, 0}, rows = {"rows.csv", row_columns, ROW_COLUMNS, 0, true},
                  grid = {"grid.csv", grid_columns, GRID_COLUMNS, 0};

typedef struct table {
    const kind *of;
    double *number; /* [rows, of->count], NaN where there is none; to be freed */
    int rows;
    bool unread; /* the file is there and cannot be read */
    bool exact;  /* the file has these columns and rows, and nothing else */
} table;

enum { FIELDS = 24 };

/* The numbers of a line, NaN where a cell is empty, and how many it has; of the header, `place` gets the cell of each
 * column. */
static int read_line(csv_table *cells, const kind *of, const char *line, double number[FIELDS], int *place)
{
    const unsigned char *at = (const unsigned char *)line;
    int count = 0;
    for (const char *cell; count < FIELDS && (cell = csv_next_text(cells, &at)); count++) {
        number[count] = *cell ? strtod(cell, NULL) : NAN;
        for (int c = 0; place && c < of->count; c++)
            if (strcmp(cell, of->columns[c]) == 0)
                place[c] = count;
    }
    return count;
}

/* Appends the numbers of a line to a table, if it has a step up to this one. */
static void take_row(table *t, long step, const double number[FIELDS], const int *place)
{
    const int count = t->of->count;
    t->number = memory_checked(realloc(t->number, (size_t)(t->rows + 1) * (size_t)count * sizeof *t->number));
    double *row = t->number + t->rows * count;
    for (int c = 0; c < count; c++)
        row[c] = place[c] < 0 ? NAN : number[place[c]];
    /* older versions wrote lines without a loss */
    const bool taken = row[t->of->step] <= (double)step && (t->of->may_lack || !isnan(row[1]));
    t->rows += taken;
    t->exact &= taken;
}

/* Reads the complete lines of a file up to a step, of which the last may be broken off; its columns may be in any
 * order. A file that is not there has no rows; one that cannot be read is an error. */
static table read_table(const char *folder, const kind *of, long step, tg_error *error)
{
    char *line = NULL;
    size_t size = 0;
    double number[FIELDS];
    int place[FIELDS], width = 0;
    long end = 0;
    table t = {.of = of};
    csv_table cells = {.separator = ','};
    FILE *file = files_read(folder, of->name, error);
    t.unread = !file && error->text[0];
    memset(place, -1, sizeof place);
    for (ssize_t length; file && (length = getline(&line, &size, file)) > 0 && line[length - 1] == '\n';) {
        cells.word = memory_checked(realloc(cells.word, size));
        const int fields = read_line(&cells, of, line, number, width ? NULL : place);
        if (!width) {
            width = fields;
            t.exact = fields == of->count;
            for (int c = 0; c < of->count; c++)
                t.exact &= place[c] == c;
        } else if (line[0] == '#') /* of an older version, for a run that continues */
            t.exact = false;
        else if (fields == width)
            take_row(&t, step, number, place);
        else
            break; /* broken off */
        end += length;
    }
    t.exact = t.exact && fseek(file, 0, SEEK_END) == 0 && ftell(file) == end;
    free(line);
    free(cells.word);
    t.unread |= file && !files_end_reading(file, folder, of->name, error);
    return t;
}

/* An epoch of a table; steps and epochs are too small to be rounded. */
static runlog_epoch epoch_at(const table *t, int row)
{
    const double *number = t->number + row * t->of->count;
    runlog_epoch e = {.epoch = (int)fmin(fmax(number[0], 0), INT_MAX), .step = (long)fmin(fmax(number[1], 0), 1e18)};
    for (int c = 2; c < COLUMNS; c++)
        e.all[c - 2] = c < t->of->count ? number[c] : NAN;
    return e;
}

runlog_epoch *record_epochs(const char *folder, int *count, tg_error *error)
{
    const table t = read_table(folder, &curves, LONG_MAX, error);
    runlog_epoch *epochs = t.unread ? NULL : memory_checked(calloc((size_t)t.rows + 1, sizeof *epochs));
    *count = t.unread ? 0 : t.rows;
    for (int i = 0; i < *count; i++)
        epochs[i] = epoch_at(&t, i);
    free(t.number);
    return epochs;
}

/* The step at which an epoch ended; 0 if it is not there. */
static long step_of(const runlog_epoch *epochs, int count, long epoch)
{
    for (int i = 0; i < count; i++)
        if (epochs[i].epoch == epoch)
            return epochs[i].step;
    return 0;
}

bool record_put_test(events *to, const runlog_run *results, const char *folder)
{
    int count;
    tg_error unread;
    runlog_epoch *epochs = to ? record_epochs(folder, &count, &unread) : NULL;
    if (!epochs)
        return !to;
    const long step = step_of(epochs, count, results->best_epoch);
    free(epochs);
    return events_measures(to, runlog_splits[RUNLOG_TEST], step, &results->net.of[RUNLOG_TEST]);
}

events *record_open_events(const char *folder, tg_error *error)
{
    int count;
    runlog_epoch *epochs = record_epochs(folder, &count, error);
    const table losses = epochs ? read_table(folder, &steps, LONG_MAX, error) : (table){.unread = true};
    if (losses.unread) {
        free(epochs);
        free(losses.number);
        return NULL;
    }
    events *to = events_open(folder, error);
    bool fine = to;
    for (int i = 0; fine && i < losses.rows; i++)
        fine = events_scalar(to, "loss/train", (long)losses.number[2 * i], losses.number[2 * i + 1]);
    for (int i = 0; fine && i < count; i++)
        fine = events_epoch(to, &epochs[i]);
    runlog_run results = runlog_run_new();
    if (fine)
        record_results(folder, &results, error);
    fine = fine && record_put_test(to, &results, folder);
    runlog_run_free(&results);
    free(epochs);
    free(losses.number);
    if (to && !fine) {
        tg_fail(error, "%.400s: the event file cannot be written", folder);
        events_close(to);
    }
    return fine ? to : NULL;
}

/* Moves a column of rows.csv away from its weighted mean by each row's weight, so that plain means and variances of it
 * are those of a weighted mean. */
static void weigh(table *t, int column, int by)
{
    double sum = 0, weights = 0;
    for (double *row = t->number; row < t->number + t->rows * ROW_COLUMNS; row += ROW_COLUMNS) {
        sum += row[by] * row[column];
        weights += row[by];
    }
    for (double *row = t->number; row < t->number + t->rows * ROW_COLUMNS; row += ROW_COLUMNS)
        row[column] = sum / weights + row[by] * t->rows / weights * (row[column] - sum / weights);
}

enum { WEIGHT = RUNLOG_ROW, LOSS_WEIGHT, GROUP, CONSTANT = 1 + RUNLOG_ROW_MEASURES };

static int by_group(const void *a, const void *b)
{
    const double *x = a, *y = b;
    const int order = (x[GROUP] > y[GROUP]) - (x[GROUP] < y[GROUP]);
    return order ? order : (x[0] > y[0]) - (x[0] < y[0]);
}

static bool begins_group(const table *t, int row)
{
    const double *at = t->number + row * ROW_COLUMNS;
    return row == 0 || at[GROUP] != at[GROUP - ROW_COLUMNS];
}

/* Groups take the place of their rows. A row's value y is mean + (y - mean); that of one of G groups is mean + G / rows
 * times the sum of (y - mean) over its rows. So the mean stays, and plain variances are those of a mean over clusters:
 * rows of one group depend on each other (Cameron and Miller, 2015, "A Practitioner's Guide to Cluster-Robust
 * Inference"). Groups are listed by number, which takes the place of the row's. */
static void join_groups(table *t)
{
    double mean[RUNLOG_ROW] = {0}, *joined = memory_checked(calloc((size_t)t->rows, ROW_COLUMNS * sizeof *joined));
    int groups = 0, count = 0;
    system_sort(t->number, (size_t)t->rows, ROW_COLUMNS * sizeof *t->number, by_group);
    for (int i = 0; i < t->rows; i++) {
        groups += begins_group(t, i);
        for (int c = 1; c < RUNLOG_ROW; c++)
            mean[c] += t->number[i * ROW_COLUMNS + c] / t->rows;
    }
    for (int i = 0; i < t->rows; i++) {
        const double *row = t->number + i * ROW_COLUMNS;
        count += begins_group(t, i);
        double *to = joined + (count - 1) * ROW_COLUMNS;
        if (begins_group(t, i))
            memcpy(to, mean, sizeof mean);
        to[0] = row[GROUP];
        for (int c = 1; c < RUNLOG_ROW; c++)
            to[c] += (double)groups / t->rows * (row[c] - mean[c]);
    }
    free(t->number);
    t->number = joined;
    t->rows = groups;
}

/* The weight of each row in the loss, or in other measures, 1 on average, to be freed; NULL: all are 1, or groups take
 * the place of rows. */
static double *weights_of(const table *t, bool others)
{
    const double *first = t->number;
    const int by = t->rows && !others && !isnan(first[LOSS_WEIGHT]) ? LOSS_WEIGHT : WEIGHT;
    double sum = 0, *weights;
    if (!t->rows || isnan(first[by]) || !isnan(first[GROUP]))
        return NULL;
    weights = memory_checked(calloc((size_t)t->rows, sizeof *weights));
    for (int i = 0; i < t->rows; i++)
        sum += weights[i] = first[i * ROW_COLUMNS + by];
    for (int i = 0; i < t->rows; i++)
        weights[i] *= t->rows / sum;
    return weights;
}

/* The numbers and values [rows, RUNLOG_ROW] of rows.csv, in the place of the table's numbers. */
static void take_rows(table *t)
{
    const bool weighted = t->rows && !isnan(t->number[WEIGHT]), of_classes = t->rows && !isnan(t->number[LOSS_WEIGHT]);
    for (int column = 1; column < RUNLOG_ROW; column++) {
        const bool loss = column == 1 || column == CONSTANT;
        if (weighted || (loss && of_classes))
            weigh(t, column, loss && of_classes ? LOSS_WEIGHT : WEIGHT);
    }
    if (t->rows && !isnan(t->number[GROUP]))
        join_groups(t);
    for (int i = 0; i < t->rows; i++)
        memmove(t->number + i * RUNLOG_ROW, t->number + i * ROW_COLUMNS, RUNLOG_ROW * sizeof *t->number);
}

bool record_read(const char *folder, runlog_run *run, tg_error *error)
{
    int count;
    tg_error errors[5];
    const long parameters = run->parameters;
    runlog_epoch *epochs = record_epochs(folder, &count, &errors[0]);
    const table losses = read_table(folder, &steps, LONG_MAX, &errors[1]);
    table of_rows = read_table(folder, &rows, LONG_MAX, &errors[2]);
    const table of_grid = read_table(folder, &grid, LONG_MAX, &errors[4]);
    const long listed = of_rows.rows;
    double *weights[2] = {weights_of(&of_rows, false), weights_of(&of_rows, true)};
    take_rows(&of_rows);
    for (int i = 0; i < count; i++)
        runlog_add_epoch(run, &epochs[i]);
    runlog_add_series(run, RUNLOG_STEPS, losses.number, 2 * (size_t)losses.rows);
    runlog_add_series(run, RUNLOG_SURFACE, of_grid.number, GRID_COLUMNS * (size_t)of_grid.rows);
    runlog_set_rows(run, of_rows.number, (size_t)of_rows.rows);
    for (int others = 0; others < 2; others++) {
        if (weights[others])
            runlog_set_row_weights(run, others, weights[others]);
        free(weights[others]);
    }
    record_results(folder, run, &errors[3]);
    if (!errors[2].text[0] && listed < run->listed_rows)
        tg_fail(&errors[2], "%.200s/rows.csv has %ld of %ld rows; the same command again trains this run anew", folder,
                listed, run->listed_rows);
    run->parameters = parameters;
    free(epochs);
    free(losses.number);
    free(of_rows.number);
    free(of_grid.number);
    for (int i = 0; i < 5; i++)
        if (errors[i].text[0])
            return tg_fail(error, "%s", errors[i].text);
    return true;
}

/* ---- writing ---- */

static void write_row(FILE *to, const double *number, int count)
{
    for (int c = 0; c < count; c++) {
        fputs(c ? "," : "", to);
        if (!isnan(number[c]))
            fprintf(to, "%.17g", number[c]);
    }
    fputc('\n', to);
}

/* Appends a row, which is in the file when this returns true. */
static bool put_row(FILE *to, const double *number, int count)
{
    write_row(to, number, count);
    return fflush(to) == 0;
}

bool record_put_epoch(record_files *files, const runlog_epoch *epoch)
{
    double row[COLUMNS] = {epoch->epoch, (double)epoch->step};
    files->best = epoch->best == 1 ? *epoch : files->best;
    memcpy(row + 2, epoch->all, sizeof epoch->all);
    return !files->curves || put_row(files->curves, row, COLUMNS - !files->whole);
}

bool record_put_loss(record_files *files, long step, double loss)
{
    return !files->steps || put_row(files->steps, (double[]){(double)step, loss}, 2);
}

static bool write_table(const void *context, FILE *to)
{
    const table *t = context;
    for (int c = 0; c < t->of->count; c++)
        fprintf(to, "%s%s", c ? "," : "", t->of->columns[c]);
    fputc('\n', to);
    for (int i = 0; i < t->rows; i++)
        write_row(to, t->number + i * t->of->count, t->of->count);
    return true;
}

bool record_put_surface(const char *folder, const double *numbers, int points, tg_error *error)
{
    const table t = {.of = &grid, .number = (double *)numbers, .rows = points};
    return !folder || files_write(folder, grid.name, write_table, &t, error);
}

/* Writes the rows of a table to its file, unless it has just these, and opens it to append others; NULL and one line on
 * failure. */
static FILE *reopen(const char *folder, const table *t, tg_error *error)
{
    char path[PATH_MAX] = "";
    if (!t->exact && !files_write(folder, t->of->name, write_table, t, error))
        return NULL;
    FILE *file = files_path(folder, t->of->name, path) ? fopen(path, "ae") : NULL;
    if (!file)
        tg_fail(error, "%.400s: cannot be written", path);
    return file;
}

/* The pending losses of the state at this step, unless steps.csv has an entry for it; false if they cannot be read. */
static bool read_pending(const char *folder, const table *losses, long step, record_pending *out, tg_error *error)
{
    const table states = read_table(folder, &pending, step, error);
    const double *state = states.rows ? states.number + 3 * (states.rows - 1) : NULL;
    const long last = losses->rows ? (long)losses->number[2 * (losses->rows - 1)] : 0;
    *out = (record_pending){.step = step};
    if (state && (long)state[0] == step && last < step)
        *out = (record_pending){step, state[1], (long)state[2]};
    free(states.number);
    return !states.unread;
}

bool record_continue(record_files *files, const char *folder, long step, bool whole, tg_error *error)
{
    const table epochs = read_table(folder, whole ? &curves : &curves_without, step, error),
                losses = epochs.unread ? epochs : read_table(folder, &steps, step, error);
    *files = (record_files){
        .folder = folder, .whole = whole, .seconds = epochs.rows ? epoch_at(&epochs, epochs.rows - 1).seconds : 0};
    if (!losses.unread && read_pending(folder, &losses, step, &files->begun, error))
        files->curves = reopen(folder, &epochs, error);
    files->steps = files->curves ? reopen(folder, &losses, error) : NULL;
    files->pending = files->begun;
    for (int i = 0; i < epochs.rows; i++)
        files->best = epoch_at(&epochs, i).best == 1 ? epoch_at(&epochs, i) : files->best;
    free(epochs.number);
    if (!epochs.unread)
        free(losses.number);
    return files->steps;
}

/* The first state is written together with that from which the run continues, as this one is the last if the run is
 * killed before the next state is saved. */
bool record_put_pending(record_files *files, long step)
{
    tg_error error;
    const record_pending *begun = &files->begun;
    const table first = {.of = &pending,
                         .number = (double[]){(double)begun->step, begun->sum, (double)begun->count},
                         .rows = begun->count > 0};
    if (!files->steps || !files->pending.count)
        return true;
    if (!files->states)
        files->states = reopen(files->folder, &first, &error);
    return files->states &&
           put_row(files->states, (double[]){(double)step, files->pending.sum, (double)files->pending.count}, 3);
}

void record_end_pending(record_files *files)
{
    if (files->states)
        fclose(files->states);
    files->states = NULL;
}

void record_close(record_files *files)
{
    FILE *const open[] = {files->curves, files->steps, files->states};
    for (int i = 0; i < 3; i++)
        if (open[i])
            fclose(open[i]);
    *files = (record_files){0};
}
