/* steps.csv, confusion.csv, noise.csv, surface.csv and points.csv. */
#include "examples/report/runlog_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_of(const runlog *log, int run, const char *activation)
{
    return strcmp(log->runs[run].activation, activation) == 0;
}

/* Row number `row` of a run's series of `width` numbers a row; NULL where there are not so many. */
static const double *row_of(const runlog_run *run, runlog_series kind, size_t row, size_t width)
{
    return (row + 1) * width <= run->series[kind].count ? run->series[kind].numbers + row * width : NULL;
}

/* Column `column` of the rows of an activation's runs whose first number is `key`, looked for at place `row`; returns
 * how many. */
static int gather(const runlog *log, const char *activation, runlog_series kind, size_t row, size_t width,
                  size_t column, double key, double values[])
{
    int count = 0;
    for (int i = 0; i < log->count; i++) {
        const runlog_run *run = &log->runs[i];
        const double *numbers = row_of(run, kind, row, width);
        if (numbers && numbers[0] == key && is_of(log, i, activation) && runlog_band_counts(log, run))
            values[count++] = numbers[column];
    }
    return count;
}

/* The first run of an activation that its bands count and that has a series; NULL where there is none. */
static const runlog_run *first_with(const runlog *log, const char *activation, runlog_series kind)
{
    for (int i = 0; i < log->count; i++)
        if (log->runs[i].series[kind].count > 0 && is_of(log, i, activation) && runlog_band_counts(log, &log->runs[i]))
            return &log->runs[i];
    return NULL;
}

/* Calls `write` for each activation, with room for as many values as there are runs. */
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

/* ---- steps ---- */

static bool write_steps_of(const runlog *log, const char *activation, double values[], FILE *to)
{
    const runlog_run *first = first_with(log, activation, RUNLOG_STEPS);
    const double *row;
    for (size_t i = 0; first && (row = row_of(first, RUNLOG_STEPS, i, 2)); i++) {
        const int count = gather(log, activation, RUNLOG_STEPS, i, 2, 1, row[0], values);
        table_csv_text(to, activation);
        fprintf(to, ",%.0f,%d", row[0], count);
        runlog_write_band(to, values, count, false);
        fputs(",,,\n", to);
    }
    for (int epoch = 0; first && epoch < first->count; epoch++) {
        int count = 0;
        for (int i = 0; i < log->count; i++)
            if (is_of(log, i, activation) && runlog_band_counts(log, &log->runs[i]) && epoch < log->runs[i].count &&
                log->runs[i].epochs[epoch].step == first->epochs[epoch].step)
                values[count++] = log->runs[i].epochs[epoch].val_loss;
        table_csv_text(to, activation);
        fprintf(to, ",%ld,%d,,,", first->epochs[epoch].step, count);
        runlog_write_band(to, values, count, false);
        fputc('\n', to);
    }
    return true;
}

bool runlog_write_steps(const runlog *log, FILE *to)
{
    fputs("activation,step,runs,train_loss,train_loss_low,train_loss_high,val_loss,val_loss_low,val_loss_high\n", to);
    return each_activation(log, to, write_steps_of);
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

/* ---- noise ---- */

static bool write_noise_of(const runlog *log, const char *activation, double values[], FILE *to)
{
    const runlog_run *first = first_with(log, activation, RUNLOG_NOISE);
    const double *row;
    for (size_t i = 0; first && (row = row_of(first, RUNLOG_NOISE, i, 3)); i++) {
        table_csv_text(to, activation);
        fprintf(to, ",%.9g", row[0]);
        for (size_t column = 1; column < 3; column++) {
            const int count = gather(log, activation, RUNLOG_NOISE, i, 3, column, row[0], values);
            if (column == 1)
                fprintf(to, ",%d", count);
            runlog_write_band(to, values, count, column == 2);
        }
        fputc('\n', to);
    }
    return true;
}

bool runlog_write_noise(const runlog *log, FILE *to)
{
    fputs("activation,noise,runs,loss,loss_low,loss_high,accuracy,accuracy_low,accuracy_high\n", to);
    return each_activation(log, to, write_noise_of);
}

/* ---- surfaces ---- */

/* The first run's rows of a series: numbers of places, and a class in the third. */
static bool write_places(const runlog *log, const char *activation, runlog_series kind, size_t width, FILE *to)
{
    const runlog_run *first = first_with(log, activation, kind);
    const double *row;
    for (size_t i = 0; first && (row = row_of(first, kind, i, width)); i++) {
        table_csv_text(to, activation);
        for (size_t column = 0; column < width; column++)
            fprintf(to, ",%.6g", row[column]);
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
