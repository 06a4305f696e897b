/* runs.csv: a row for each run of a log. docs/programs.md describes its columns. */
#include "examples/programs/data/number.h"
#include "examples/programs/report/runlog_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MEASURE_FIELD(member, name, tag) name,
static const char *const names[] = {
#include "examples/programs/report/fields.def"
};
enum { MEASURES = sizeof names / sizeof *names };

/* The first word of a column: measures of the training and validation rows are so called in tables too. */
static const char *const prefixes[RUNLOG_SPLITS] = {"best_train", "best_val", "test"};

static void put(FILE *to, double number)
{
    fprintf(to, ",%s", isnan(number) ? "" : number_text(number, (char[NUMBER_TEXT]){0}));
}

/* Numbers of a run's split, in the order of the names. */
static void list(const runlog_run *run, int split, double numbers[MEASURES])
{
    const runlog_measures *m = &run->of[split];
#define MEASURE_FIELD(member, name, tag) m->member,
    const double all[MEASURES] = {
#include "examples/programs/report/fields.def"
    };
    for (int i = 0; i < MEASURES; i++)
        numbers[i] = run->diverged ? NAN : all[i];
}

/* The measures that any run has. */
static void find_known(const runlog *log, bool known[RUNLOG_SPLITS][MEASURES])
{
    double numbers[MEASURES];
    for (int run = 0; run < log->count; run++)
        for (int split = 0; split < RUNLOG_SPLITS; split++) {
            list(&log->runs[run], split, numbers);
            for (int i = 0; i < MEASURES; i++)
                known[split][i] |= !isnan(numbers[i]);
        }
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

static void put_run(const runlog *log, int number, bool known[RUNLOG_SPLITS][MEASURES], FILE *to)
{
    const runlog_run *run = &log->runs[number];
    const runlog_epoch *best = run->diverged ? NULL : runlog_best_epoch(run);
    double numbers[MEASURES];
    table_csv_text(to, runlog_activation(log, number));
    put_point(to, runlog_point(log, number), true);
    fprintf(to, ",%llu,%d,%s,%ld,%d,", (unsigned long long)run->seed, run->fold,
            run->diverged   ? "diverged"
            : run->finished ? "finished"
                            : "unfinished",
            run->parameters, run->count);
    if (best)
        fprintf(to, "%d", best->epoch);
    for (int split = 0; split < RUNLOG_SPLITS; split++) {
        list(run, split, numbers);
        for (int i = 0; i < MEASURES; i++)
            if (known[split][i])
                put(to, numbers[i]);
    }
    put(to, run->count ? run->epochs[run->count - 1].seconds : NAN);
    fputc('\n', to);
}

void runlog_write_runs(const runlog *log, FILE *to)
{
    bool known[RUNLOG_SPLITS][MEASURES] = {0};
    find_known(log, known);
    fputs("activation", to);
    put_point(to, log->count ? runlog_point(log, 0) : "", false);
    fputs(",seed,fold,state,parameters,epochs,best_epoch", to);
    for (int split = 0; split < RUNLOG_SPLITS; split++)
        for (int i = 0; i < MEASURES; i++)
            if (known[split][i])
                fprintf(to, ",%s_%s", prefixes[split], names[i]);
    fputs(",seconds\n", to);
    for (int run = 0; run < log->count; run++)
        put_run(log, run, known, to);
}
