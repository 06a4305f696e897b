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

static void free_class_names(runlog *log)
{
    for (size_t i = 0; log->class_names && i < log->classes; i++)
        free(log->class_names[i]);
    free(log->class_names);
    log->class_names = NULL;
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
    free_class_names(log);
    json_decref(log->options);
    free(log);
}

void runlog_options(runlog *log, json_t *options)
{
    if (log)
        log->lost |= json_object_update(log->options, options) != 0;
    json_decref(options);
}

void runlog_note(runlog *log, const char *note, double overlap, bool same_folds)
{
    if (!log)
        return;
    free(log->note);
    log->note = strdup(note);
    log->lost |= !log->note;
    log->overlap = overlap;
    log->same_folds = same_folds;
}

void runlog_remedy(runlog *log, const char *remedy)
{
    if (log)
        log->remedy = remedy;
}

void runlog_class_names(runlog *log, char *const *names, size_t count)
{
    if (!log)
        return;
    free_class_names(log);
    log->classes = count;
    log->class_names = calloc(count + 1, sizeof *log->class_names);
    log->lost |= !log->class_names;
    for (size_t i = 0; log->class_names && i < count; i++) {
        log->class_names[i] = strdup(names[i]);
        log->lost |= !log->class_names[i];
    }
}

/* Memory for one more item of an array that doubles in size; false if out of memory. */
static bool grow(void **items, int *capacity, int count, size_t size)
{
    if (count < *capacity)
        return true;
    int more = *capacity ? 2 * *capacity : 16;
    void *larger = realloc(*items, (size_t)more * size);
    if (!larger)
        return false;
    *items = larger;
    *capacity = more;
    return true;
}

int runlog_add_run(runlog *log, const char *activation, uint64_t seed, int fold, long parameters)
{
    if (!log)
        return -1;
    void *runs = log->runs;
    char *name = strdup(activation), *point = strdup("");
    if (!name || !point || !grow(&runs, &log->capacity, log->count, sizeof *log->runs)) {
        free(name);
        free(point);
        log->lost = true;
        return -1;
    }
    log->runs = runs;
    log->runs[log->count] =
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
    if (!to)
        return;
    void *epochs = to->epochs;
    if (!grow(&epochs, &to->capacity, to->count, sizeof *to->epochs)) {
        log->lost = true;
        return;
    }
    to->epochs = epochs;
    to->epochs[to->count++] = *epoch;
}

void runlog_add_series(runlog *log, int run, runlog_series kind, const double *numbers, size_t count)
{
    runlog_run *to = run_of(log, run);
    if (!to || count == 0)
        return;
    const size_t needed = to->series[kind].count + count;
    if (needed > to->series[kind].capacity) {
        const size_t capacity = needed > 2 * to->series[kind].capacity ? needed : 2 * to->series[kind].capacity;
        double *larger = realloc(to->series[kind].numbers, capacity * sizeof *larger);
        log->lost |= !larger;
        if (!larger)
            return;
        to->series[kind].numbers = larger;
        to->series[kind].capacity = capacity;
    }
    memcpy(to->series[kind].numbers + to->series[kind].count, numbers, count * sizeof *numbers);
    to->series[kind].count = needed;
}

bool runlog_has_series(const runlog *log, runlog_series kind)
{
    for (int run = 0; run < log->count; run++)
        if (log->runs[run].series[kind].count > 0)
            return true;
    return false;
}

void runlog_finish_run(runlog *log, int run)
{
    runlog_run *ended = run_of(log, run);
    if (ended)
        ended->finished = true;
}

void runlog_diverge_run(runlog *log, int run)
{
    runlog_run *ended = run_of(log, run);
    if (ended)
        ended->finished = ended->diverged = true;
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
    if (log->classes)
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
