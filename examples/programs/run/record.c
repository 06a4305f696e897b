#include "examples/programs/data/advice.h"
#include "examples/programs/data/csv.h"
#include "examples/programs/run/record.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/run/options.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool path_of(const char *folder, const char *name, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

static bool exists(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return path_of(folder, name, path) && access(path, F_OK) == 0;
}

/* The object in a file. NULL if there is no such file, with an empty error, or if it cannot be read; a damaged one, as
 * after a power failure, counts as none. */
static json_t *load(const char *folder, const char *name, tg_error *error)
{
    FILE *file = files_read(folder, name, error);
    json_t *object = file ? json_loadf(file, 0, NULL) : NULL;
    if (file && !files_end_reading(file, folder, name, error)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static bool write_json(const void *object, FILE *to)
{
    return json_dumpf(object, to, JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0 && fputc('\n', to) != EOF;
}

static bool write_config(const void *object, FILE *to)
{
    return json_dumpf(object, to, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0 && fputc('\n', to) != EOF; /* 0.1 */
}

/* ---- ownership of a folder ---- */

/* Equal as options: 1e-3 as a number or as text is the same; an option that an older version lacked equals one that is
 * not set. */
static bool is_same(const json_t *a, const json_t *b)
{
    if (!b)
        return !a || json_is_null(a) || json_is_false(a) || (json_is_number(a) && json_number_value(a) == 0) ||
               (json_is_string(a) &&
                (strcmp(json_string_value(a), "0") == 0 || strcmp(json_string_value(a), "no") == 0));
    return json_is_number(a) && json_is_number(b) ? json_number_value(a) == json_number_value(b)
                                                  : json_equal(a, b) || (!a && json_is_null(b));
}

static const char *difference(json_t *ours, json_t *theirs, const char *const *ignored)
{
    const char *name;
    json_t *value;
    json_object_foreach(ours, name, value) {
        if (!ignored[options_position(ignored, name)] && !is_same(value, json_object_get(theirs, name)))
            return name;
    }
    return NULL;
}

/* True for the configuration of compare, which has several values of an option where train has one. */
static bool is_comparison(const json_t *config)
{
    return json_object_get(config, "activations") != NULL;
}

static const char pending_file[] = "pending.csv";

static void remove_results(const char *folder)
{
    static const char *const names[] = {
        "runs",     "last.safetensors", "best.safetensors",  "curves.csv", "steps.csv", "result.json",
        "rows.csv", "predictions.csv",  "refit.safetensors", "grid.csv",   pending_file};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (path_of(folder, names[i], path))
            files_remove_all(path);
}

static const char data_sum[] = "checksum";

/* True unless the folder has results of other data. */
static bool is_of_our_data(const char *folder, const json_t *config, tg_error *error)
{
    tg_error unread;
    json_t *theirs = load(folder, "config.json", &unread);
    const json_t *sum = json_object_get(theirs, data_sum);
    const bool same = !sum || is_same(json_object_get(config, data_sum), sum);
    json_decref(theirs);
    return same || tg_fail(error, "--resume: the run in %.200s has other data, or the file has changed; " ADVICE_START,
                           folder, folder);
}

/* Describes a value in a message. */
static void say(const json_t *value, char *text, size_t size)
{
    char *dumped = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)) : NULL;
    snprintf(text, size, "%s", dumped ? dumped : "nothing");
    free(dumped);
}

bool record_is_ours(const char *folder, json_t *config, const char *const *ignored, tg_error *error)
{
    /* checks results before config.json: a process that starts at the same time writes config.json first */
    const bool used = exists(folder, "curves.csv") || exists(folder, "runs") || exists(folder, "last.safetensors");
    tg_error unread;
    json_t *theirs = load(folder, "config.json", &unread);
    if (unread.text[0])
        return tg_fail(error, "%s", unread.text);
    const char *other = theirs && used ? difference(config, theirs, ignored) : NULL;
    const bool ours = !used || (theirs && !other);
    if (!ours) {
        char had[80] = "", have[80] = "";
        if (other && is_comparison(theirs) != is_comparison(config)) {
            tg_fail(error, "%.200s has results of %s; " ADVICE_OTHER_FOLDER, folder,
                    is_comparison(theirs) ? "compare" : "train");
        } else if (other && strcmp(other, data_sum) == 0) {
            tg_fail(error, "%.200s has results of other data: the file has changed; " ADVICE_OTHER_FOLDER, folder);
        } else if (other) {
            say(json_object_get(theirs, other), had, sizeof had);
            say(json_object_get(config, other), have, sizeof have);
            tg_fail(error, "%.200s has results with another --%s: %s, not %s; " ADVICE_OTHER_FOLDER, folder, other, had,
                    have);
        } else
            tg_fail(error, "%.200s has results but no config.json; " ADVICE_OTHER_FOLDER, folder);
    }
    json_decref(theirs);
    return ours;
}

bool record_claim(const char *folder, json_t *config, record_claims claims, const char *const *ignored, tg_error *error)
{
    if (claims == RECORD_SAME && !record_is_ours(folder, config, ignored, error))
        return false;
    if (claims == RECORD_SAME_DATA && !is_of_our_data(folder, config, error))
        return false;
    if (claims == RECORD_OVERWRITE)
        remove_results(folder);
    return files_make_folder(folder, error) && files_write(folder, "config.json", write_config, config, error);
}

/* ---- reading ---- */

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
    pending = {pending_file, pending_columns, 3, 0}, rows = {"rows.csv", row_columns, ROW_COLUMNS, 0, true},
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

/* Reads the complete lines of a file up to a step, of which the last may be broken off; its columns may be in any order.
 * A file that is not there has no rows; one that cannot be read is an error. */
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
        end = ftell(file);
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

/* The number of epochs in the folder; -1 if they cannot be read. */
static int count_epochs(const char *folder, tg_error *error)
{
    int count;
    runlog_epoch *epochs = record_epochs(folder, &count, error);
    free(epochs);
    return epochs ? count : -1;
}

/* ---- result.json ---- */

static const char variant_begins[] = "loss_as_", constant_key[] = "constant";
static const struct {
    const char *name;
    runlog_series kind;
} listed[] = {{"points", RUNLOG_POINTS}, {"confusion", RUNLOG_CONFUSION}, {"noise", RUNLOG_NOISE}};
enum { LISTED = sizeof listed / sizeof *listed };

static void put_whole(json_t *to, const runlog_run *run, int field)
{
    if (run->whole[field] || field == RUNLOG_RUN_epochs || (field == RUNLOG_RUN_best_epoch && !run->diverged))
        json_object_set_new(to, runlog_run_fields[field], json_integer(run->whole[field]));
}

static void put_measures(json_t *to, const runlog_values *of, int split)
{
    json_t *measures = json_object();
    for (int i = 0; i < RUNLOG_MEASURES; i++)
        if (!isnan(of->of[split].all[i]))
            json_object_set_new(measures, runlog_measure_fields[i].name,
                                isinf(of->of[split].all[i]) ? json_null() : json_real(of->of[split].all[i]));
    if (of->measured[split])
        json_object_set(to, runlog_splits[split], measures);
    json_decref(measures);
}

/* The measures in the order in which a trainer takes them. */
static void put_splits(json_t *to, const runlog_run *run)
{
    static const int order[RUNLOG_SPLITS] = {RUNLOG_VALIDATION, RUNLOG_TRAIN, RUNLOG_TEST};
    json_t *constant = json_object();
    for (int i = 0; i < RUNLOG_SPLITS; i++) {
        put_measures(to, &run->net, order[i]);
        put_measures(constant, &run->constant, order[i]);
        if (json_object_size(constant))
            json_object_set(to, constant_key, constant);
    }
    json_decref(constant);
}

static json_t *json_of(const runlog_run *run)
{
    json_t *to = json_object();
    for (int i = 0; i <= RUNLOG_RUN_best_epoch; i++)
        put_whole(to, run, i);
    put_splits(to, run);
    put_whole(to, run, RUNLOG_RUN_softened);
    for (int i = 0; i < LISTED; i++) {
        const runlog_numbers *of = &run->series[listed[i].kind];
        json_t *array = json_array();
        for (size_t k = 0; k < of->count; k++) /* JSON has no NaN */
            json_array_append_new(array, isfinite(of->numbers[k]) ? json_real(of->numbers[k]) : json_null());
        if (of->count)
            json_object_set(to, listed[i].name, array);
        json_decref(array);
    }
    for (int i = 0; i < run->variants; i++) {
        char name[sizeof variant_begins + sizeof run->variant->name];
        snprintf(name, sizeof name, "%s%s", variant_begins, run->variant[i].name);
        json_object_set_new(to, name, json_real(run->variant[i].loss));
    }
    put_whole(to, run, RUNLOG_RUN_epochs);
    return to;
}

/* JSON has no NaN. */
static double number_of(const json_t *number)
{
    return json_is_number(number) ? json_number_value(number) : NAN;
}

static void take_measures(runlog_values *to, const json_t *from)
{
    for (int split = 0; split < RUNLOG_SPLITS; split++) {
        const json_t *of = json_object_get(from, runlog_splits[split]);
        to->measured[split] = of;
        for (int i = 0; i < RUNLOG_MEASURES; i++)
            to->of[split].all[i] = number_of(json_object_get(of, runlog_measure_fields[i].name));
    }
}

/* Older versions measured while they trained, and not the saved weights: such a run has neither a best epoch nor one in
 * which it diverged. */
static void take_results(runlog_run *to, json_t *from, bool *measured)
{
    const char *name;
    json_t *value;
    *measured = json_object_get(from, "best_epoch") || json_object_get(from, "diverged");
    for (int i = 0; i < RUNLOG_RUN_FIELDS; i++)
        to->whole[i] = (long)json_integer_value(json_object_get(from, runlog_run_fields[i]));
    take_measures(&to->net, from);
    take_measures(&to->constant, json_object_get(from, constant_key));
    for (int i = 0; i < LISTED; i++) {
        const json_t *array = json_object_get(from, listed[i].name);
        for (size_t k = 0; k < json_array_size(array); k++)
            runlog_add_series(to, listed[i].kind, (double[]){number_of(json_array_get(array, k))}, 1);
    }
    json_object_foreach(from, name, value) {
        if (strncmp(name, variant_begins, sizeof variant_begins - 1) == 0)
            runlog_add_variant(to, name + sizeof variant_begins - 1, number_of(value));
    }
    runlog_finish_run(to, to->diverged);
}

static bool read_results(const char *folder, runlog_run *run, bool *measured, tg_error *error)
{
    json_t *results = load(folder, "result.json", error);
    const json_t *epochs = json_object_get(results, "epochs");
    const bool there = results && (!epochs || json_integer_value(epochs) == count_epochs(folder, error));
    if (there)
        take_results(run, results, measured);
    json_decref(results);
    return there;
}

bool record_results(const char *folder, runlog_run *run, tg_error *error)
{
    bool measured;
    *run = runlog_run_new();
    return read_results(folder, run, &measured, error);
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

bool record_is_finished(const char *folder)
{
    tg_error error;
    bool measured = false;
    runlog_run results = runlog_run_new();
    read_results(folder, &results, &measured, &error); /* the run itself then meets what cannot be read */
    runlog_run_free(&results);
    return measured;
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

/* Groups take the place of their rows. A row's value y is mean + (y - mean); that of one of G groups is mean + G / rows
 * times the sum of (y - mean) over its rows. So the mean stays, and plain variances are those of a mean over clusters:
 * rows of one group depend on each other (Cameron and Miller, 2015, "A Practitioner's Guide to Cluster-Robust
 * Inference"). Groups are listed by number, which takes the place of the row's. */
static void join_groups(table *t)
{
    size_t groups = 0, *place;
    double mean[RUNLOG_ROW] = {0}, *joined;
    for (int i = 0; i < t->rows; i++)
        groups = fmax((double)groups, t->number[i * ROW_COLUMNS + GROUP] + 1);
    place = memory_checked(calloc(groups + 1, sizeof *place));
    for (int i = 0; i < t->rows; i++)
        place[(size_t)t->number[i * ROW_COLUMNS + GROUP]] = 1;
    size_t count = 0;
    for (size_t g = 0; g < groups; g++)
        place[g] = place[g] ? count++ : 0;
    joined = memory_checked(calloc(count * ROW_COLUMNS + 1, sizeof *joined));
    for (int i = 0; i < t->rows; i++)
        for (int c = 1; c < RUNLOG_ROW; c++)
            mean[c] += t->number[i * ROW_COLUMNS + c] / t->rows;
    for (size_t k = 0; k < count; k++)
        memcpy(joined + k * ROW_COLUMNS, mean, sizeof mean);
    for (int i = 0; i < t->rows; i++) {
        const double *row = t->number + i * ROW_COLUMNS;
        double *to = joined + place[(size_t)row[GROUP]] * ROW_COLUMNS;
        to[0] = row[GROUP];
        for (int c = 1; c < RUNLOG_ROW; c++)
            to[c] += (double)count / t->rows * (row[c] - mean[c]);
    }
    free(place);
    free(t->number);
    t->number = joined;
    t->rows = (int)count;
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
    bool measured;
    const long parameters = run->parameters;
    runlog_epoch *epochs = record_epochs(folder, &count, &errors[0]);
    const table losses = read_table(folder, &steps, LONG_MAX, &errors[1]);
    table of_rows = read_table(folder, &rows, LONG_MAX, &errors[2]);
    const table of_grid = read_table(folder, &grid, LONG_MAX, &errors[4]);
    take_rows(&of_rows);
    for (int i = 0; i < count; i++)
        runlog_add_epoch(run, &epochs[i]);
    runlog_add_series(run, RUNLOG_STEPS, losses.number, 2 * (size_t)losses.rows);
    runlog_add_series(run, RUNLOG_SURFACE, of_grid.number, GRID_COLUMNS * (size_t)of_grid.rows);
    runlog_set_rows(run, of_rows.number, (size_t)of_rows.rows);
    read_results(folder, run, &measured, &errors[3]);
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

static bool put_row(FILE *to, const double *number, int count)
{
    for (int c = 0; c < count; c++) {
        fputs(c ? "," : "", to);
        if (!isnan(number[c]))
            fprintf(to, "%.17g", number[c]);
    }
    fputc('\n', to);
    return fflush(to) == 0;
}

bool record_put_epoch(record_files *files, const runlog_epoch *epoch)
{
    double row[COLUMNS] = {epoch->epoch, (double)epoch->step};
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
        put_row(to, t->number + i * t->of->count, t->of->count);
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
    FILE *file = path_of(folder, t->of->name, path) ? fopen(path, "ae") : NULL;
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

void record_close(record_files *files)
{
    FILE *const open[] = {files->curves, files->steps, files->states};
    for (int i = 0; i < 3; i++)
        if (open[i])
            fclose(open[i]);
    *files = (record_files){0};
}

bool record_conclude(const char *folder, const runlog_run *results, tg_error *error)
{
    runlog_run ended = *results;
    ended.epochs = count_epochs(folder, error);
    if (ended.epochs < 0)
        return false;
    json_t *object = json_of(&ended);
    const bool fine = files_write(folder, "result.json", write_json, object, error);
    json_decref(object);
    if (fine)
        files_remove(folder, pending_file);
    return fine;
}
