/* bands.csv, steps.csv, noise.csv, confusion.csv, surface.csv and points.csv. */
#include "examples/report/runlog_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_of(const runlog *log, int run, const char *activation)
{
    return strcmp(log->runs[run].activation, activation) == 0;
}

bool runlog_band_counts(const runlog *log, const runlog_run *run)
{
    for (int i = 0; i < log->count && !run->finished; i++)
        if (log->runs[i].finished && strcmp(log->runs[i].activation, run->activation) == 0)
            return false;
    return true;
}

/* ---- rows of numbers that all runs have at the same keys: epochs, steps, sizes of noise ---- */

enum { EPOCH, STEP, TRAIN_LOSS, VAL_LOSS, VAL_ACCURACY }; /* the columns of an epoch */
enum { NONE = -1, BANDS = 3 };

/* The columns of a file. */
typedef struct curve {
    runlog_series kind; /* RUNLOG_SERIES: the epochs */
    size_t width;       /* numbers per row; 0 for epochs */
    int key;            /* column of the key */
    int bands;          /* columns of the file, each with a mean and a band, */
    int column[BANDS];  /* taken from these columns; NONE: left empty */
    int share;          /* column whose values are between 0 and 1 */
} curve;

static size_t rows_of(const runlog_run *run, const curve *c)
{
    return c->width ? run->series[c->kind].count / c->width : (size_t)run->count;
}

static double number_at(const runlog_run *run, const curve *c, size_t row, int column)
{
    if (c->width)
        return run->series[c->kind].numbers[row * c->width + (size_t)column];
    const runlog_epoch *e = &run->epochs[row];
    const double numbers[] = {e->epoch, (double)e->step, e->train_loss, e->val_loss, e->val_accuracy};
    return numbers[column];
}

/* The numbers of a column in this row of an activation's runs, if they have the key; returns how many. */
static int gather(const runlog *log, const char *activation, const curve *c, size_t row, double key, int column,
                  double values[])
{
    int count = 0;
    for (int i = 0; i < log->count; i++) {
        const runlog_run *run = &log->runs[i];
        if (is_of(log, i, activation) && runlog_band_counts(log, run) && row < rows_of(run, c) &&
            number_at(run, c, row, c->key) == key)
            values[count++] = number_at(run, c, row, column);
    }
    return count;
}

/* The first of the longest runs in an activation's bands; NULL if none has a row. */
static const runlog_run *longest_with(const runlog *log, const char *activation, const curve *c)
{
    const runlog_run *longest = NULL;
    for (int i = 0; i < log->count; i++)
        if (is_of(log, i, activation) && runlog_band_counts(log, &log->runs[i]) &&
            rows_of(&log->runs[i], c) > (longest ? rows_of(longest, c) : 0))
            longest = &log->runs[i];
    return longest;
}

/* A line for each row of the longest run: the key, the number of runs that have it, and the bands. */
static void write_curve(const runlog *log, const char *activation, const curve *c, double values[], FILE *to)
{
    const runlog_run *longest = longest_with(log, activation, c);
    for (size_t row = 0; longest && row < rows_of(longest, c); row++) {
        const double key = number_at(longest, c, row, c->key);
        const int count = gather(log, activation, c, row, key, c->key, values);
        table_csv_text(to, activation);
        fprintf(to, ",%.9g,%d", key, count);
        for (int i = 0; i < c->bands; i++) {
            if (c->column[i] == NONE) {
                fputs(",,,", to);
                continue;
            }
            gather(log, activation, c, row, key, c->column[i], values);
            runlog_write_band(to, values, count, c->column[i] == c->share);
        }
        fputc('\n', to);
    }
}

/* Calls `write` for each activation, with memory for as many values as there are runs. */
static bool each_activation(const runlog *log, FILE *to,
                            bool (*write)(const runlog *log, const char *activation, double values[], FILE *to))
{
    double *values = calloc((size_t)log->count + 1, sizeof *values);
    bool complete = values != NULL;
    for (int run = 0; complete && run < log->count; run++)
        if (runlog_is_first_of_activation(log, run))
            complete = write(log, log->runs[run].activation, values, to);
    free(values);
    return complete;
}

/* ---- bands.csv, steps.csv, noise.csv ---- */

static bool write_bands_of(const runlog *log, const char *activation, double values[], FILE *to)
{
    static const curve epochs = {RUNLOG_SERIES,        0, EPOCH, 3, {TRAIN_LOSS, VAL_LOSS, VAL_ACCURACY},
                                 .share = VAL_ACCURACY};
    write_curve(log, activation, &epochs, values, to);
    return true;
}

static bool write_steps_of(const runlog *log, const char *activation, double values[], FILE *to)
{
    static const curve steps = {RUNLOG_STEPS, 2, 0, 2, {1, NONE}, .share = NONE},
                       epochs = {RUNLOG_SERIES, 0, STEP, 2, {NONE, VAL_LOSS}, .share = NONE};
    write_curve(log, activation, &steps, values, to);
    write_curve(log, activation, &epochs, values, to);
    return true;
}

static bool write_noise_of(const runlog *log, const char *activation, double values[], FILE *to)
{
    static const curve noise = {RUNLOG_NOISE, 3, 0, 2, {1, 2}, .share = 2};
    write_curve(log, activation, &noise, values, to);
    return true;
}

bool runlog_write_bands(const runlog *log, FILE *to)
{
    fputs("activation,epoch,runs,train_loss,train_loss_low,train_loss_high,val_loss,val_loss_low,val_loss_high,"
          "val_accuracy,val_accuracy_low,val_accuracy_high\n",
          to);
    return each_activation(log, to, write_bands_of);
}

bool runlog_write_steps(const runlog *log, FILE *to)
{
    fputs("activation,step,runs,train_loss,train_loss_low,train_loss_high,val_loss,val_loss_low,val_loss_high\n", to);
    return each_activation(log, to, write_steps_of);
}

bool runlog_write_noise(const runlog *log, FILE *to)
{
    fputs("activation,noise,runs,loss,loss_low,loss_high,accuracy,accuracy_low,accuracy_high\n", to);
    return each_activation(log, to, write_noise_of);
}

/* ---- confusion ---- */

bool runlog_confusion(const runlog *log, const char *activation, double counts[])
{
    const size_t size = log->classes * log->classes;
    bool found = false;
    if (size == 0)
        return false;
    for (size_t k = 0; k < size; k++)
        counts[k] = 0;
    for (int i = 0; i < log->count; i++) {
        const runlog_run *run = &log->runs[i];
        if (!run->finished || run->series[RUNLOG_CONFUSION].count != size || !is_of(log, i, activation))
            continue;
        found = true;
        for (size_t k = 0; k < size; k++)
            counts[k] += run->series[RUNLOG_CONFUSION].numbers[k];
    }
    return found;
}

static bool write_confusion_of(const runlog *log, const char *activation, double values[], FILE *to)
{
    (void)values;
    double *counts = calloc(log->classes * log->classes + 1, sizeof *counts);
    const bool found = counts && runlog_confusion(log, activation, counts);
    for (size_t label = 0; found && label < log->classes; label++) {
        table_csv_text(to, activation);
        fputc(',', to);
        table_csv_text(to, log->class_names[label]);
        for (size_t answer = 0; answer < log->classes; answer++)
            fprintf(to, ",%.0f", counts[label * log->classes + answer]);
        fputc('\n', to);
    }
    free(counts);
    return counts != NULL;
}

bool runlog_write_confusion(const runlog *log, FILE *to)
{
    fputs("activation,class", to);
    for (size_t i = 0; i < log->classes; i++) {
        fputc(',', to);
        table_csv_text(to, log->class_names[i]);
    }
    fputc('\n', to);
    return each_activation(log, to, write_confusion_of);
}

/* ---- surfaces ---- */

/* The first run's rows of a series: two coordinates, and a class as the third number. */
static bool write_places(const runlog *log, const char *activation, runlog_series kind, size_t width, FILE *to)
{
    const curve places = {kind, width};
    const runlog_run *first = longest_with(log, activation, &places);
    for (size_t row = 0; first && row < rows_of(first, &places); row++) {
        table_csv_text(to, activation);
        for (size_t column = 0; column < width; column++)
            fprintf(to, ",%.6g", number_at(first, &places, row, (int)column));
        fputc('\n', to);
    }
    return true;
}

static bool write_surface_of(const runlog *log, const char *activation, double values[], FILE *to)
{
    (void)values;
    return write_places(log, activation, RUNLOG_SURFACE, 4, to);
}

static bool write_points_of(const runlog *log, const char *activation, double values[], FILE *to)
{
    (void)values;
    return write_places(log, activation, RUNLOG_POINTS, 3, to);
}

bool runlog_write_surface(const runlog *log, FILE *to)
{
    fputs("activation,x,y,class,probability\n", to);
    return each_activation(log, to, write_surface_of);
}

bool runlog_write_points(const runlog *log, FILE *to)
{
    fputs("activation,x,y,class\n", to);
    return each_activation(log, to, write_points_of);
}
