#include "examples/programs/report/runlog_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MEASURE_FIELD(...) NAN,
const runlog_measures runlog_no_measures = {{
#include "examples/programs/report/fields.def"
}};

#define MEASURE_FIELD(member, name, tag) {name, tag},
const runlog_field runlog_measure_fields[RUNLOG_MEASURES] = {
#include "examples/programs/report/fields.def"
};

#define EPOCH_FIELD(member, tag) {#member, tag},
const runlog_field runlog_epoch_fields[RUNLOG_EPOCH_FIELDS] = {
#include "examples/programs/report/fields.def"
};

const char *const runlog_splits[RUNLOG_SPLITS] = {"train", "validation", "test"};

runlog *runlog_new(const char *directory)
{
    runlog *log = memory_checked(calloc(1, sizeof *log));
    log->directory = memory_text("%s", directory);
    log->options = json_object();
    return log;
}

void runlog_fail(runlog *log, const char *why)
{
    if (!log->unread.text[0])
        tg_fail(&log->unread, "%s", why);
}

void runlog_free(runlog *log)
{
    for (int i = 0; i < log->count && !log->borrows; i++) {
        free(log->runs[i].epochs);
        for (int kind = 0; kind < RUNLOG_SERIES; kind++)
            free(log->runs[i].series[kind].numbers);
    }
    if (!log->borrows) {
        texts_free(&log->activations);
        texts_free(&log->points);
    }
    free(log->runs);
    free(log->directory);
    free(log->note);
    json_decref(log->options);
    free(log);
}

void runlog_options(runlog *log, json_t *options)
{
    json_object_update(log->options, options);
    json_decref(options);
}

void runlog_describe(runlog *log, const runlog_about *about)
{
    log->about = *about;
    log->has_test |= about->tested; /* even if all runs diverge */
}

int runlog_add_run(runlog *log, const char *activation, uint64_t seed, int fold, long parameters)
{
    log->runs = memory_grown(log->runs, (size_t)log->count, sizeof *log->runs);
    log->runs[log->count] = (runlog_run){.activation = texts_number(&log->activations, activation, strlen(activation)),
                                         .seed = seed,
                                         .fold = fold,
                                         .point = texts_number(&log->points, "", 0),
                                         .parameters = parameters,
                                         .of = {runlog_no_measures, runlog_no_measures, runlog_no_measures},
                                         .constant = {runlog_no_measures, runlog_no_measures, runlog_no_measures}};
    return log->count++;
}

void runlog_set_point(runlog *log, int run, const char *point, double number)
{
    log->runs[run].point = texts_number(&log->points, point, strlen(point));
    log->runs[run].number = number;
}

const char *runlog_activation(const runlog *log, int run)
{
    return log->activations.list[log->runs[run].activation];
}

const char *runlog_point(const runlog *log, int run)
{
    return log->points.list[log->runs[run].point];
}

void runlog_add_epoch(runlog *log, int run, const runlog_epoch *epoch)
{
    runlog_run *to = &log->runs[run];
    to->epochs = memory_grown(to->epochs, (size_t)to->count, sizeof *epoch);
    to->epochs[to->count++] = *epoch;
    runlog_add_series(log, run, RUNLOG_LOSSES, (double[]){epoch->epoch, epoch->val_loss}, 2);
    log->has_accuracy |= !isnan(epoch->val_accuracy);
}

void runlog_set_measures(runlog *log, int run, runlog_split split, const runlog_measures *measures)
{
    log->runs[run].of[split] = *measures;
    log->has_test |= split == RUNLOG_TEST && !isnan(measures->loss);
}

void runlog_set_constant(runlog *log, int run, runlog_split split, const runlog_measures *measures)
{
    log->runs[run].constant[split] = *measures;
}

void runlog_add_series(runlog *log, int run, runlog_series kind, const double *numbers, size_t count)
{
    runlog_numbers *to = &log->runs[run].series[kind];
    for (size_t i = 0; i < count; i++) {
        to->numbers = memory_grown(to->numbers, to->count, sizeof *numbers);
        to->numbers[to->count++] = numbers[i];
    }
}

void runlog_finish_run(runlog *log, int run, bool diverged)
{
    log->runs[run].finished = true;
    log->runs[run].diverged = diverged;
}

bool runlog_has_series(const runlog *log, runlog_series kind)
{
    for (int run = 0; run < log->count; run++)
        if (log->runs[run].series[kind].count > 0)
            return true;
    return false;
}
