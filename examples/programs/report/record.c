#include "examples/programs/report/record.h"

#include <math.h>

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

runlog_run runlog_run_new(void)
{
    runlog_run run = {0};
    for (int i = 0; i < RUNLOG_VALUES; i++)
        run.net.values[i] = run.constant.values[i] = NAN;
    return run;
}

const runlog_epoch *runlog_best_epoch(const runlog_run *run)
{
    int i = run->count - 1;
    while (i >= 0 && run->epochs[i].best != 1)
        i--;
    return i >= 0 ? &run->epochs[i] : NULL;
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
