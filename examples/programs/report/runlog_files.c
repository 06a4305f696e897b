/* The files of a run log, each a line of a table; and how those are written that have rows of numbers that all runs
 * have at the same keys: epochs, steps, sizes of noise. */
#include "examples/programs/report/files.h"
#include "examples/programs/report/runlog_internal.h"

enum { EPOCH, STEP, TRAIN_LOSS, VAL_LOSS, VAL_ACCURACY }; /* the columns of an epoch */
enum { NONE = -1, BANDS = 3, CURVES = 2 };

/* Where the rows of a file come from. */
typedef struct curve {
    runlog_series kind; /* RUNLOG_SERIES: the epochs */
    size_t width;       /* numbers per row; 0 for epochs */
    int key;            /* column of the key */
    int column[BANDS];  /* of each band; NONE: left empty */
    int share;          /* column whose values are between 0 and 1 */
} curve;

static void write_all_curves(const runlog *log, FILE *to);
static void write_config(const runlog *log, FILE *to);
static void write_confusion(const runlog *log, FILE *to);

static const struct file {
    const char *name;
    void (*write)(const runlog *log, FILE *to); /* NULL: the curves, by activation: */
    const char *key;                            /* the name of their key; NULL: the first run's rows as they are */
    const char *columns[BANDS + 1];             /* the names of their bands, or of a row's numbers */
    curve curves[CURVES];                       /* the first: without this series the file is not written */
    bool at_best;                               /* in a search, only of each activation's best point */
    bool drawn;                                 /* only a report is made of it */
} files[] = {
    {"runs.csv", runlog_write_runs},
    {"curves.csv", write_all_curves},
    {"bands.csv",
     NULL,
     "epoch",
     {"train_loss", "val_loss", "val_accuracy"},
     {{RUNLOG_SERIES, 0, EPOCH, {TRAIN_LOSS, VAL_LOSS, VAL_ACCURACY}, VAL_ACCURACY}},
     .at_best = true},
    {"summary.csv", runlog_write_summary, .at_best = true},
    {"pairs.csv", runlog_write_pairs, .at_best = true},
    {"step_bands.csv",
     NULL,
     "step",
     {"train_loss", "val_loss"},
     {{RUNLOG_STEPS, 2, 0, {1, NONE}, NONE}, {RUNLOG_SERIES, 0, STEP, {NONE, VAL_LOSS}, NONE}},
     true},
    {"confusion.csv", write_confusion, .curves = {{RUNLOG_CONFUSION, 1}}, .at_best = true, .drawn = true},
    {"noise.csv", NULL, "noise", {"loss", "accuracy"}, {{RUNLOG_NOISE, 3, 0, {1, 2}, 2}}, true},
    {"surface.csv", NULL, NULL, {"x", "y", "class", "probability"}, {{RUNLOG_SURFACE, 4}}, true},
    {"points.csv", NULL, NULL, {"x", "y", "class"}, {{RUNLOG_POINTS, 3}}, true},
    {"search.csv", runlog_write_search},
    {"config.json", write_config},
};
enum { FILES = sizeof files / sizeof files[0] };

const char *runlog_file(int which)
{
    return which < FILES ? files[which].name : NULL;
}

/* ---- curves.csv ---- */

void runlog_number_field(FILE *to, double number)
{
    if (isnan(number))
        fputs(",nan", to); /* printf would write the sign bit of NaN, which has no meaning */
    else
        fprintf(to, ",%.9g", number);
}

static void optional_field(FILE *to, double number)
{
    if (isnan(number))
        fputc(',', to);
    else
        runlog_number_field(to, number);
}

static void write_all_curves(const runlog *log, FILE *to)
{
    int *best = memory_checked(calloc(log->activations.count + 1, sizeof *best));
    for (size_t a = 0; a < log->activations.count; a++)
        best[a] = runlog_best_point(log, (int)a);
    fputs("activation,point,seed,fold,epoch,step,train_loss,val_loss,val_accuracy,grad_norm,dead_fraction,best,"
          "at_best_point,seconds\n",
          to);
    for (int i = 0; i < log->count; i++) {
        const runlog_run *run = &log->runs[i];
        for (int e = 0; e < run->count; e++) {
            const runlog_epoch *epoch = &run->epoch[e];
            table_csv_text(to, run->group);
            fputc(',', to);
            table_csv_text(to, runlog_point(log, i));
            fprintf(to, ",%llu,%d,%d,%ld", (unsigned long long)run->seed, run->fold, epoch->epoch, epoch->step);
            runlog_number_field(to, epoch->train_loss);
            runlog_number_field(to, epoch->val_loss);
            optional_field(to, epoch->val_accuracy);
            runlog_number_field(to, epoch->grad_norm);
            optional_field(to, epoch->dead_fraction);
            fprintf(to, ",%d,%d,", epoch->best == 1, run->point == best[run->activation]);
            fprintf(to, isnan(epoch->seconds) ? "\n" : "%.6f\n", epoch->seconds);
        }
    }
    free(best);
}

/* ---- bands ---- */

bool runlog_by_fold(const runlog *log)
{
    bool one_seed = true;
    for (int i = 1; i < log->count; i++)
        one_seed &= log->runs[i].seed == log->runs[0].seed;
    return one_seed || log->about.compared.same_folds;
}

runlog_samples runlog_samples_new(const runlog *log)
{
    const size_t room = (size_t)log->count + 1;
    runlog_samples s = {.values = memory_checked(calloc(room, sizeof *s.values)),
                        .units = memory_checked(calloc(room, sizeof *s.units)),
                        .runs = memory_checked(calloc(room, sizeof *s.runs))};
    s.by_fold = runlog_by_fold(log);
    return s;
}

void runlog_samples_free(runlog_samples *s)
{
    free(s->values);
    free(s->units);
    free(s->runs);
}

void runlog_sample(runlog_samples *s, const runlog_run *run, double value)
{
    const uint64_t unit = s->by_fold ? (uint64_t)run->fold : run->seed;
    int at = s->count;
    while (at > 0 && s->units[at - 1] != unit)
        at--;
    if (at-- == 0) {
        at = s->count++;
        s->units[at] = unit;
        s->values[at] = s->runs[at] = 0;
    }
    s->values[at] += value;
    s->runs[at]++;
}

void runlog_write_band(FILE *to, runlog_samples *s, bool share)
{
    enum { TOO_FEW_FOR_AN_INTERVAL = 3 };
    for (int i = 0; i < s->count; i++)
        s->values[i] /= s->runs[i];
    const statistics_estimate estimate = statistics_of(s->values, (size_t)s->count);
    const statistics_range range =
        share ? statistics_share_interval(s->values, (size_t)s->count, &estimate) : statistics_interval(&estimate);
    double low = range.low, high = range.high;
    if (s->count > 1 && s->count <= TOO_FEW_FOR_AN_INTERVAL && !isnan(estimate.mean)) {
        low = high = s->values[0];
        for (int i = 1; i < s->count; i++) {
            low = fmin(low, s->values[i]);
            high = fmax(high, s->values[i]);
        }
    }
    optional_field(to, estimate.mean);
    optional_field(to, low);
    optional_field(to, high);
    s->count = 0;
}

/* True if the bands of an activation include a run: a finished one, or any if none has finished. */
static bool is_counted(const runlog *log, const runlog_run *run, int activation)
{
    for (int i = 0; i < log->count && !run->finished; i++)
        if (log->runs[i].finished && log->runs[i].activation == activation)
            return false;
    return run->activation == activation;
}

static size_t rows_of(const runlog_run *run, const curve *c)
{
    return c->width ? run->series[c->kind].count / c->width : (size_t)run->count;
}

static double number_at(const runlog_run *run, const curve *c, size_t row, int column)
{
    if (c->width)
        return run->series[c->kind].numbers[row * c->width + (size_t)column];
    const runlog_epoch *e = &run->epoch[row];
    const double numbers[] = {e->epoch, (double)e->step, e->train_loss, e->val_loss, e->val_accuracy};
    return numbers[column];
}

/* The row of a run that counts at row number `row` of the longest run, which has this key; -1: none. A run that
 * patience ended before keeps its last values: the mean of the others alone would be one of chosen runs. */
static long row_at(const runlog_run *run, const curve *c, size_t row, double key)
{
    const size_t rows = rows_of(run, c);
    if (row < rows)
        return number_at(run, c, row, c->key) == key ? (long)row : -1;
    return run->finished && !run->diverged ? (long)rows - 1 : -1;
}

/* Samples the numbers of a column in this row of an activation's runs, if they have the key. */
static void gather(const runlog *log, int activation, const curve *c, size_t row, double key, int column,
                   runlog_samples *to)
{
    to->count = 0;
    for (int i = 0; i < log->count; i++) {
        const runlog_run *run = &log->runs[i];
        const long at = row_at(run, c, row, key);
        if (is_counted(log, run, activation) && at >= 0)
            runlog_sample(to, run, number_at(run, c, (size_t)at, column));
    }
}

/* The first of the longest runs in an activation's bands; NULL if none has a row. */
static const runlog_run *longest_with(const runlog *log, int activation, const curve *c)
{
    const runlog_run *longest = NULL;
    for (int i = 0; i < log->count; i++)
        if (is_counted(log, &log->runs[i], activation) &&
            rows_of(&log->runs[i], c) > (longest ? rows_of(longest, c) : 0))
            longest = &log->runs[i];
    return longest;
}

/* A line for each row of the longest run: the key, the number of seeds or folds, and the bands. */
static void write_curve(const runlog *log, int activation, const struct file *file, const curve *c,
                        runlog_samples *samples, FILE *to)
{
    const runlog_run *longest = longest_with(log, activation, c);
    for (size_t row = 0; longest && row < rows_of(longest, c); row++) {
        table_csv_text(to, log->activations.list[activation]);
        for (size_t column = 0; !file->key && column < c->width; column++)
            fprintf(to, ",%.6g", number_at(longest, c, row, (int)column));
        const double key = number_at(longest, c, row, c->key);
        gather(log, activation, c, row, key, c->key, samples);
        if (file->key)
            fprintf(to, ",%.9g,%d", key, samples->count);
        for (int i = 0; file->key && file->columns[i]; i++) {
            if (c->column[i] == NONE) {
                fputs(",,,", to);
                continue;
            }
            gather(log, activation, c, row, key, c->column[i], samples);
            runlog_write_band(to, samples, c->column[i] == c->share);
        }
        fputc('\n', to);
    }
}

static void write_curves(const runlog *log, const struct file *file, FILE *to)
{
    runlog_samples samples = runlog_samples_new(log);
    fputs("activation", to);
    if (file->key)
        fprintf(to, ",%s,runs", file->key);
    for (int i = 0; i <= BANDS && file->columns[i]; i++) {
        const char *name = file->columns[i];
        file->key ? fprintf(to, ",%s,%s_low,%s_high", name, name, name) : fprintf(to, ",%s", name);
    }
    fputc('\n', to);
    for (int a = 0; a < (int)log->activations.count; a++)
        for (const curve *c = file->curves; c < file->curves + CURVES; c++)
            if (c->kind == RUNLOG_SERIES || c->width)
                write_curve(log, a, file, c, &samples, to);
    runlog_samples_free(&samples);
}

/* ---- confusion ---- */

bool runlog_confusion(const runlog *log, int activation, double counts[])
{
    const size_t size = log->about.compared.classes * log->about.compared.classes;
    bool found = false;
    if (size == 0)
        return false;
    for (size_t k = 0; k < size; k++)
        counts[k] = 0;
    for (int i = 0; i < log->count; i++) {
        const runlog_run *run = &log->runs[i];
        if (!run->finished || run->series[RUNLOG_CONFUSION].count != size || run->activation != activation)
            continue;
        found = true;
        for (size_t k = 0; k < size; k++)
            counts[k] += run->series[RUNLOG_CONFUSION].numbers[k];
    }
    return found;
}

static void write_confusion(const runlog *log, FILE *to)
{
    const size_t classes = log->about.compared.classes;
    char *const *names = log->about.compared.class_names;
    double *counts = memory_checked(calloc(classes * classes + 1, sizeof *counts));
    fputs("activation,class", to);
    for (size_t i = 0; i < classes; i++) {
        fputc(',', to);
        table_csv_text(to, names[i]);
    }
    fputc('\n', to);
    for (int a = 0; a < (int)log->activations.count; a++) {
        const bool found = runlog_confusion(log, a, counts);
        for (size_t label = 0; found && label < classes; label++) {
            table_csv_text(to, log->activations.list[a]);
            fputc(',', to);
            table_csv_text(to, names[label]);
            for (size_t answer = 0; answer < classes; answer++)
                runlog_number_field(to, counts[label * classes + answer]);
            fputc('\n', to);
        }
    }
    free(counts);
}

/* ---- all files ---- */

static void write_config(const runlog *log, FILE *to)
{
    json_dumpf(log->options, to, JSON_INDENT(2) | JSON_REAL_PRECISION(15)); /* 0.1 stays 0.1 */
    fputc('\n', to);
}

void runlog_print_options(const void *log, FILE *to)
{
    write_config(log, to);
}

bool runlog_check_directory(const char *directory, tg_error *error)
{
    bool possible = files_check_folder(directory, error);
    for (int i = 0; i < FILES && possible; i++)
        possible = files_check_name(directory, files[i].name, error);
    return possible;
}

typedef struct writing {
    const runlog *log;
    const struct file *file;
} writing;

static bool write_one(const void *context, FILE *to)
{
    const writing *w = context;
    if (w->file->write)
        w->file->write(w->log, to);
    else
        write_curves(w->log, w->file, to);
    return true;
}

/* The record of a single run stays as it is. */
static bool is_record(const runlog *log, const struct file *file)
{
    return log->about.one_run && file->write == write_all_curves;
}

static bool is_wanted(const runlog *log, const struct file *file)
{
    const curve *needed = file->curves;
    return file->write == runlog_write_search ? runlog_is_search(log)
                                              : !needed->width || runlog_has_series(log, needed->kind);
}

bool runlog_write(const runlog *log, tg_error *error)
{
    if (log->unread.text[0])
        return tg_fail(error, "%s", log->unread.text);
    runlog *best = runlog_at_best(log, false);
    bool written = files_make_folder(log->directory, error);
    for (int i = 0; i < FILES && written; i++) {
        if (is_record(log, &files[i]))
            continue;
        if (!is_wanted(log, &files[i]))
            files_remove(log->directory, files[i].name); /* from an earlier comparison */
        else
            written = files_write(log->directory, files[i].name, write_one,
                                  &(writing){files[i].at_best ? best : log, &files[i]}, error);
    }
    runlog_free(best);
    return written;
}

void runlog_remove_report(const char *directory)
{
    files_remove(directory, "report.html");
    for (int i = 0; i < FILES; i++)
        if (files[i].drawn)
            files_remove(directory, files[i].name);
}
