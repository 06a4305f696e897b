/* runs.csv: a row for each run of a log. docs/programs.md describes its columns. */
#include "examples/programs/data/number.h"
#include "examples/programs/report/runlog_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first word of a column: measures of the training and validation rows are so called in tables too. */
static const char *const prefixes[RUNLOG_SPLITS] = {"best_train", "best_val", "test"};

static void put(FILE *to, double number)
{
    fprintf(to, ",%s", isnan(number) ? "" : number_text(number, (char[NUMBER_TEXT]){0}));
}

/* A measure of a run on a split. */
static double measure_of(const runlog_run *run, int split, int measure)
{
    return run->diverged ? NAN : run->of[split].all[measure];
}

/* The measures that any run has. */
static void find_known(const runlog *log, bool known[RUNLOG_SPLITS][RUNLOG_MEASURES])
{
    for (int run = 0; run < log->count; run++)
        for (int split = 0; split < RUNLOG_SPLITS; split++)
            for (int i = 0; i < RUNLOG_MEASURES; i++)
                known[split][i] |= !isnan(measure_of(&log->runs[run], split, i));
}

/* Writes the names (or else the values) of a point's settings, "lr 0.001, norm rms", each after a comma. */
static void put_point(FILE *to, const char *point, bool values)
{
    while (*point) {
        const size_t length = strcspn(point, ","), name = strcspn(point, " ");
        fprintf(to, ",%.*s", (int)(values ? length - name - 1 : name), values ? point + name + 1 : point);
        point += length + (point[length] ? 2 : 0);
    }
}

static void put_run(const runlog *log, int number, bool known[RUNLOG_SPLITS][RUNLOG_MEASURES], FILE *to)
{
    const runlog_run *run = &log->runs[number];
    const runlog_epoch *best = run->diverged ? NULL : runlog_best_epoch(run);
    table_csv_text(to, runlog_activation(log, number));
    put_point(to, runlog_point(log, number), true);
    fprintf(to, ",%llu,%d,%s,%ld,%d,", (unsigned long long)run->seed, run->fold,
            run->diverged   ? "diverged"
            : run->finished ? "finished"
                            : "unfinished",
            run->parameters, run->count);
    if (best)
        fprintf(to, "%d", best->epoch);
    for (int split = 0; split < RUNLOG_SPLITS; split++)
        for (int i = 0; i < RUNLOG_MEASURES; i++)
            if (known[split][i])
                put(to, measure_of(run, split, i));
    put(to, run->count ? run->epochs[run->count - 1].seconds : NAN);
    fputc('\n', to);
}

void runlog_write_runs(const runlog *log, FILE *to)
{
    bool known[RUNLOG_SPLITS][RUNLOG_MEASURES] = {0};
    find_known(log, known);
    fputs("activation", to);
    put_point(to, log->count ? runlog_point(log, 0) : "", false);
    fputs(",seed,fold,state,parameters,epochs,best_epoch", to);
    for (int split = 0; split < RUNLOG_SPLITS; split++)
        for (int i = 0; i < RUNLOG_MEASURES; i++)
            if (known[split][i])
                fprintf(to, ",%s_%s", prefixes[split], runlog_measure_fields[i].name);
    fputs(",seconds\n", to);
    for (int run = 0; run < log->count; run++)
        put_run(log, run, known, to);
}
