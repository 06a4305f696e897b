#include "examples/programs/report/memory.h"
#include "examples/programs/report/record.h"

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

#define RUN_FIELD(member) #member,
const char *const runlog_run_fields[RUNLOG_RUN_FIELDS] = {
#include "examples/programs/report/fields.def"
};

runlog_run runlog_run_new(void)
{
    runlog_run run = {0};
    for (int i = 0; i < RUNLOG_VALUES; i++)
        run.net.values[i] = run.constant.values[i] = NAN;
    return run;
}

void runlog_run_free(runlog_run *run)
{
    for (int kind = 0; kind < RUNLOG_SERIES; kind++)
        free(run->series[kind].numbers);
    free(run->epoch);
    free(run->row_memory);
    free(run->row_weights[0]);
    free(run->row_weights[1]);
    free(run->variant);
}

void runlog_add_epoch(runlog_run *to, const runlog_epoch *epoch)
{
    to->epoch = memory_grown(to->epoch, (size_t)to->count, sizeof *epoch);
    to->epoch[to->count++] = *epoch;
    runlog_add_series(to, RUNLOG_LOSSES, (double[]){epoch->epoch, epoch->val_loss}, 2);
}

void runlog_add_variant(runlog_run *to, const char *name, double loss)
{
    to->variant = memory_grown(to->variant, (size_t)to->variants, sizeof *to->variant);
    runlog_variant *added = &to->variant[to->variants++];
    snprintf(added->name, sizeof added->name, "%s", name);
    added->loss = loss;
}

void runlog_add_series(runlog_run *to, runlog_series kind, const double *numbers, size_t count)
{
    runlog_numbers *of = &to->series[kind];
    for (size_t i = 0; i < count; i++) {
        of->numbers = memory_grown(of->numbers, of->count, sizeof *numbers);
        of->numbers[of->count++] = numbers[i];
    }
}

void runlog_set_rows(runlog_run *to, const double *rows, size_t count)
{
    static const int measures[RUNLOG_ROW_MEASURES] = {
#define ROW_FIELD(member, ...) RUNLOG_MEASURE_##member,
#include "examples/programs/report/fields.def"
    };
    double *values = to->row_memory = memory_checked(calloc(count + 1, RUNLOG_ROW * sizeof *values));
    uint32_t *numbers = (uint32_t *)(values + (RUNLOG_ROW - 1) * count);
    for (size_t v = 0; v < RUNLOG_ROW - 1; v++, values += count) {
        runlog_values *of = v < RUNLOG_ROW_MEASURES ? &to->net : &to->constant;
        for (size_t i = 0; i < count; i++)
            values[i] = rows[RUNLOG_ROW * i + 1 + v];
        of->rows[measures[v % RUNLOG_ROW_MEASURES]] = count && !isnan(values[0]) ? values : NULL;
    }
    for (size_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)rows[RUNLOG_ROW * i];
    to->rows = numbers;
    to->row_count = count;
}

void runlog_set_row_weights(runlog_run *to, bool others, const double *weights)
{
    double *own = to->row_weights[others] = memory_checked(calloc(to->row_count + 1, sizeof *weights));
    memcpy(own, weights, to->row_count * sizeof *weights);
}

void runlog_finish_run(runlog_run *to, long diverged)
{
    to->finished = true;
    to->diverged = diverged;
    for (int i = 0; diverged && i < RUNLOG_VALUES; i++)
        to->net.values[i] = to->constant.values[i] = NAN;
}

const runlog_epoch *runlog_best_epoch(const runlog_run *run)
{
    int i = run->count - 1;
    while (i >= 0 && run->epoch[i].best != 1)
        i--;
    return i >= 0 ? &run->epoch[i] : NULL;
}

int runlog_only_answer(const runlog_run *run, size_t classes)
{
    const double *counts = run->series[RUNLOG_CONFUSION].numbers;
    int only = 0, answers = 0;
    if (run->diverged || classes < 2 || run->series[RUNLOG_CONFUSION].count != classes * classes)
        return 0;
    for (size_t k = 0; k < classes; k++) {
        double rows = 0;
        for (size_t i = 0; i < classes; i++)
            rows += counts[i * classes + k];
        only = rows > 0 ? (int)k + 1 : only;
        answers += rows > 0;
    }
    return answers == 1 ? only : 0;
}
