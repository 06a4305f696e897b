#include "examples/run/record.h"
#include "examples/run/options.h"

#include <limits.h>
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

static json_t *load(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return path_of(folder, name, path) ? json_load_file(path, 0, NULL) : NULL;
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
               (json_is_string(a) && strcmp(json_string_value(a), "0") == 0);
    return json_is_number(a) && json_is_number(b) ? json_number_value(a) == json_number_value(b)
                                                  : json_equal(a, b) || (!a && json_is_null(b));
}

static const char *difference(json_t *ours, json_t *theirs, const char *const *ignored)
{
    const char *name;
    json_t *value;
    json_object_foreach(ours, name, value)
    {
        if (!ignored[options_position(ignored, name)] && !is_same(value, json_object_get(theirs, name)))
            return name;
    }
    return NULL;
}

static void remove_results(const char *folder)
{
    static const char *const names[] = {"runs",       "last.safetensors", "best.safetensors",
                                        "curves.csv", "steps.csv",        "result.json"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (path_of(folder, names[i], path))
            files_remove_all(path);
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
    json_t *theirs = load(folder, "config.json");
    const char *other = theirs && used ? difference(config, theirs, ignored) : NULL;
    const bool ours = !used || (theirs && !other);
    if (!ours) {
        char had[80] = "", have[80] = "";
        if (other) {
            say(json_object_get(theirs, other), had, sizeof had);
            say(json_object_get(config, other), have, sizeof have);
            tg_fail(error,
                    "%.200s has results with another --%s: %s, not %s; use --out for another folder, or --overwrite to "
                    "start over",
                    folder, other, had, have);
        } else
            tg_fail(error,
                    "%.200s has results but no config.json; use --out for another folder, or --overwrite to start over",
                    folder);
    }
    json_decref(theirs);
    return ours;
}

bool record_claim(const char *folder, json_t *config, record_claims claims, const char *const *ignored, tg_error *error)
{
    if (claims == RECORD_SAME && !record_is_ours(folder, config, ignored, error))
        return false;
    if (claims == RECORD_OVERWRITE)
        remove_results(folder);
    return files_make_folder(folder, error) && files_write(folder, "config.json", write_config, config, error);
}

/* ---- reading ---- */

enum { FIELDS = 24 };

/* The fields of a line, in place; none of ours is quoted. */
static int split(char *line, char *field[FIELDS])
{
    int count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at && count < FIELDS; count++)
        field[count] = strsep(&at, ",");
    return count;
}

#define FIELD(name, member, tag) #name,
static const char *const columns[] = {
    "epoch",
    "step",
#include "examples/report/epoch_fields.def"
}; /* of the last epoch in which it was measured */
#undef FIELD
enum { COLUMNS = sizeof columns / sizeof *columns };

/* The member of an epoch that this column holds; columns 0 and 1, epoch and step, are not read by it. */
static double *member_of(runlog_epoch *e, int column)
{
#define FIELD(name, member, tag) &e->member,
    double *const members[] = {
#include "examples/report/epoch_fields.def"
    };
#undef FIELD
    return members[column - 2];
}

/* Calls `take` for every complete line of a file with these columns, in any order; returns the number of lines. */
static int each_row(const char *path, const char *const *names, int count,
                    void (*take)(void *context, char *const *values), void *context)
{
    FILE *file = fopen(path, "re");
    char *line = NULL, *field[FIELDS];
    size_t size = 0;
    int place[FIELDS], rows = 0, width = 0;
    for (ssize_t length; file && (length = getline(&line, &size, file)) > 0 && line[length - 1] == '\n';) {
        const int fields = split(line, field);
        if (!width) {
            width = fields;
            for (int c = 0; c < count; c++)
                for (place[c] = 0; place[c] < fields && strcmp(field[place[c]], names[c]) != 0;)
                    place[c]++;
            continue;
        }
        if (fields != width && field[0][0] != '#')
            break; /* broken off */
        char *values[FIELDS];
        for (int c = 0; c < count; c++)
            values[c] = field[0][0] == '#' ? c < fields ? field[c] : NULL : place[c] < fields ? field[place[c]] : NULL;
        take(context, values);
        rows++;
    }
    free(line);
    if (file)
        fclose(file);
    return rows;
}

typedef struct reading {
    runlog *log;
    int run;
    runlog_epoch *epochs; /* reads into these `count` epochs, */
    int count;
    FILE *to; /* or writes lines unchanged, up to `step` */
    bool whole;
    long step;
    double seconds, sum;
    long pending;
} reading;

static void keep_epoch(reading *r, const runlog_epoch *epoch)
{
    runlog_epoch *more = realloc(r->epochs, ((size_t)r->count + 1) * sizeof *more);
    if (!more)
        return;
    r->epochs = more;
    r->epochs[r->count++] = *epoch;
}

static void take_epoch(void *context, char *const *values)
{
    reading *r = context;
    runlog_epoch e = {.test = RUNLOG_NO_MEASURES};
    e.epoch = atoi(values[0]);
    e.step = atol(values[1]);
    for (int c = 2; c < COLUMNS; c++)
        *member_of(&e, c) = values[c] && *values[c] ? strtod(values[c], NULL) : NAN;
    if (r->log)
        runlog_add_epoch(r->log, r->run, &e);
    else if (!r->to)
        keep_epoch(r, &e);
    else if (e.step <= r->step) {
        record_put_epoch(r->to, &e, r->whole);
        r->seconds = e.seconds;
    }
}

static void take_step(void *context, char *const *values)
{
    reading *r = context;
    if (values[0][0] == '#') { /* sum and number of pending losses at a step */
        if (!r->log && atol(values[0] + 1) == r->step && values[1])
            sscanf(values[1], "%lf %ld", &r->sum, &r->pending);
        return;
    }
    const double pair[2] = {strtod(values[0], NULL), values[1] && *values[1] ? strtod(values[1], NULL) : NAN};
    if (!values[1] || !*values[1])
        return; /* the validation loss of an epoch */
    if (r->log)
        runlog_add_series(r->log, r->run, RUNLOG_STEPS, pair, 2);
    else if (pair[0] <= (double)r->step)
        record_put_steps(r->to, pair, 1, 0, 0, 0);
}

static const char *const step_columns[] = {"step", "train_loss"};

static const char *const series[RUNLOG_SERIES] = {[RUNLOG_CONFUSION] = "confusion",
                                                  [RUNLOG_NOISE] = "noise",
                                                  [RUNLOG_SURFACE] = "surface",
                                                  [RUNLOG_POINTS] = "points"};

static void read_series(runlog *log, int run, const json_t *results)
{
    for (int kind = 0; kind < RUNLOG_SERIES; kind++) {
        const json_t *array = series[kind] ? json_object_get(results, series[kind]) : NULL;
        const size_t count = json_array_size(array);
        double *numbers = calloc(count + 1, sizeof *numbers);
        for (size_t i = 0; numbers && i < count; i++) {
            const json_t *number = json_array_get(array, i);
            numbers[i] = json_is_number(number) ? json_number_value(number) : NAN;
        }
        if (numbers)
            runlog_add_series(log, run, (runlog_series)kind, numbers, count);
        free(numbers);
    }
}

runlog_epoch *record_epochs(const char *folder, int *count)
{
    char path[PATH_MAX];
    reading r = {.count = 0};
    if (path_of(folder, "curves.csv", path))
        each_row(path, columns, COLUMNS, take_epoch, &r);
    *count = r.count;
    return r.epochs;
}

static int count_epochs(const char *folder)
{
    int count;
    free(record_epochs(folder, &count));
    return count;
}

json_t *record_results(const char *folder)
{
    json_t *results = load(folder, "result.json"), *epochs = json_object_get(results, "epochs");
    if (!epochs || json_integer_value(epochs) == count_epochs(folder))
        return results;
    json_decref(results);
    return NULL;
}

events *record_open_events(const char *folder, tg_error *error)
{
    events *to = events_open(folder, error);
    if (!to)
        return NULL;
    runlog *log = runlog_new(folder);
    const int run = runlog_add_run(log, "", 0, 0, 0);
    record_read(folder, log, run);
    const bool fine = events_run(to, log, run) || tg_fail(error, "%.400s: the event file cannot be written", folder);
    runlog_free(log);
    if (!fine)
        events_close(to);
    return fine ? to : NULL;
}

bool record_is_finished(const char *folder)
{
    json_t *results = record_results(folder);
    json_decref(results);
    return results != NULL;
}

bool record_read(const char *folder, runlog *log, int run)
{
    char path[PATH_MAX];
    reading r = {.log = log, .run = run};
    const int rows = path_of(folder, "curves.csv", path) ? each_row(path, columns, COLUMNS, take_epoch, &r) : 0;
    if (path_of(folder, "steps.csv", path))
        each_row(path, step_columns, 2, take_step, &r);
    json_t *results = record_results(folder);
    read_series(log, run, results);
    if (results)
        runlog_finish_run(log, run, json_integer_value(json_object_get(results, "diverged")) != 0);
    json_decref(results);
    return rows > 0;
}

/* ---- writing ---- */

static void put_number(FILE *to, double number)
{
    if (!isnan(number))
        fprintf(to, "%.17g", number);
}

static void put_header(FILE *to, const char *const *names, int count)
{
    for (int c = 0; c < count; c++)
        fprintf(to, "%s%s", c ? "," : "", names[c]);
    fputc('\n', to);
}

bool record_put_epoch(FILE *curves, const runlog_epoch *epoch, bool whole)
{
    runlog_epoch e = *epoch;
    fprintf(curves, "%d,%ld", e.epoch, e.step);
    for (int c = 2; c < COLUMNS - !whole; c++) {
        fputc(',', curves);
        put_number(curves, *member_of(&e, c));
    }
    fputc('\n', curves);
    return fflush(curves) == 0;
}

bool record_put_steps(FILE *steps, const double *pairs, size_t count, long step, double sum, long pending)
{
    for (size_t i = 0; i < count; i++)
        fprintf(steps, "%.0f,%.17g\n", pairs[2 * i], pairs[2 * i + 1]);
    if (pending)
        fprintf(steps, "#%ld,%.17g %ld\n", step, sum, pending);
    return fflush(steps) == 0;
}

typedef struct copying {
    const char *path;
    bool of_steps;
    reading *r;
} copying;

static bool copy(const void *context, FILE *to)
{
    const copying *c = context;
    c->r->to = to;
    if (c->of_steps)
        put_header(to, step_columns, 2), each_row(c->path, step_columns, 2, take_step, c->r);
    else
        put_header(to, columns, COLUMNS - !c->r->whole), each_row(c->path, columns, COLUMNS, take_epoch, c->r);
    return true;
}

bool record_continue(const char *folder, long step, bool whole, FILE **curves, FILE **steps, double *seconds,
                     double *sum, long *pending, tg_error *error)
{
    reading r = {.step = step, .whole = whole};
    FILE **const file[] = {curves, steps};
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "steps.csv" : "curves.csv";
        char path[PATH_MAX] = "";
        if (!path_of(folder, name, path) ||
            (step > 0 && !files_write(folder, name, copy, &(copying){path, i > 0, &r}, error)))
            return false;
        *file[i] = fopen(path, step > 0 ? "ae" : "we");
        if (!*file[i])
            return tg_fail(error, "%.400s: cannot be written", path);
        if (step == 0)
            put_header(*file[i], i ? step_columns : columns, i ? 2 : COLUMNS - !whole);
    }
    *seconds = r.seconds;
    *sum = r.sum;
    *pending = r.pending;
    return true;
}

bool record_conclude(const char *folder, json_t *results, tg_error *error)
{
    json_object_set_new(results, "epochs", json_integer(count_epochs(folder)));
    return files_write(folder, "result.json", write_json, results, error);
}
