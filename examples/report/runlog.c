#include "examples/report/runlog_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

runlog *runlog_new(const char *directory)
{
    runlog *log = calloc(1, sizeof *log);
    if (!log)
        return NULL;
    log->directory = strdup(directory);
    log->options = json_object();
    if (log->directory && log->options)
        return log;
    runlog_free(log);
    return NULL;
}

void runlog_free(runlog *log)
{
    if (!log)
        return;
    for (int i = 0; i < log->count && !log->borrows; i++) {
        free(log->runs[i].activation);
        free(log->runs[i].point);
        free(log->runs[i].epochs);
        for (int kind = 0; kind < RUNLOG_SERIES; kind++)
            free(log->runs[i].series[kind].numbers);
    }
    free(log->runs);
    free(log->directory);
    free(log->note);
    json_decref(log->options);
    free(log);
}

void runlog_options(runlog *log, json_t *options)
{
    if (log)
        log->lost |= json_object_update(log->options, options) != 0;
    json_decref(options);
}

void runlog_describe(runlog *log, const runlog_about *about)
{
    if (log)
        log->about = *about;
}

/* The array with room for as many items as are needed; NULL, and the array stays, when memory runs out. */
static void *grown(runlog *log, void *items, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return items;
    const size_t more = needed > 2 * *capacity ? needed : 2 * *capacity;
    void *larger = realloc(items, more * size);
    *capacity = larger ? more : *capacity;
    log->lost |= !larger;
    return larger;
}

int runlog_add_run(runlog *log, const char *activation, uint64_t seed, int fold, long parameters)
{
    if (!log)
        return -1;
    char *name = strdup(activation), *point = strdup("");
    runlog_run *runs = grown(log, log->runs, &log->capacity, (size_t)log->count + 1, sizeof *runs);
    log->runs = runs ? runs : log->runs;
    if (!name || !point || !runs) {
        free(name);
        free(point);
        log->lost = true;
        return -1;
    }
    runs[log->count] =
        (runlog_run){.activation = name, .seed = seed, .fold = fold, .point = point, .parameters = parameters};
    return log->count++;
}

static runlog_run *run_of(const runlog *log, int run)
{
    return log && run >= 0 && run < log->count ? &log->runs[run] : NULL;
}

void runlog_set_point(runlog *log, int run, const char *point, double number)
{
    runlog_run *of = run_of(log, run);
    char *copy = of ? strdup(point) : NULL;
    if (!of)
        return;
    log->lost |= !copy;
    if (copy) {
        free(of->point);
        of->point = copy;
        of->number = number;
    }
}

void runlog_add_epoch(runlog *log, int run, const runlog_epoch *epoch)
{
    runlog_run *to = run_of(log, run);
    runlog_epoch *epochs = to ? grown(log, to->epochs, &to->capacity, (size_t)to->count + 1, sizeof *epochs) : NULL;
    if (!epochs)
        return;
    to->epochs = epochs;
    epochs[to->count++] = *epoch;
}

void runlog_add_series(runlog *log, int run, runlog_series kind, const double *numbers, size_t count)
{
    runlog_run *of = run_of(log, run);
    runlog_numbers *to = of ? &of->series[kind] : NULL;
    double *all = to && count ? grown(log, to->numbers, &to->capacity, to->count + count, sizeof *all) : NULL;
    if (!all)
        return;
    to->numbers = all;
    memcpy(all + to->count, numbers, count * sizeof *all);
    to->count += count;
}

bool runlog_has_series(const runlog *log, runlog_series kind)
{
    for (int run = 0; run < log->count; run++)
        if (log->runs[run].series[kind].count > 0)
            return true;
    return false;
}

void runlog_finish_run(runlog *log, int run, bool diverged)
{
    runlog_run *ended = run_of(log, run);
    if (ended)
        ended->finished = true, ended->diverged = diverged;
}

bool runlog_is_first_of_activation(const runlog *log, int run)
{
    for (int i = 0; i < run; i++)
        if (strcmp(log->runs[i].activation, log->runs[run].activation) == 0)
            return false;
    return true;
}

bool runlog_has_accuracy(const runlog *log)
{
    if (log->about.classes)
        return true;
    for (int run = 0; run < log->count; run++)
        for (int i = 0; i < log->runs[run].count; i++)
            if (!isnan(log->runs[run].epochs[i].val_accuracy))
                return true;
    return false;
}

bool runlog_has_test(const runlog *log)
{
    for (int run = 0; run < log->count; run++)
        for (int i = 0; i < log->runs[run].count; i++)
            if (!isnan(log->runs[run].epochs[i].test.loss))
                return true;
    return false;
}
