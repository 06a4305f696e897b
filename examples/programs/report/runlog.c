#include "examples/programs/data/number.h"
#include "examples/programs/report/runlog_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
        free(log->runs[i].row_memory);
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
    runlog_run *to = &log->runs[log->count];
    *to = runlog_run_new();
    to->activation = texts_number(&log->activations, activation, strlen(activation));
    to->group = log->activations.list[to->activation];
    to->point = texts_number(&log->points, "", 0);
    to->seed = seed;
    to->fold = fold;
    to->parameters = parameters;
    return log->count++;
}

void runlog_set_point(runlog *log, int run, const char *point, double number)
{
    log->runs[run].point = texts_number(&log->points, point, strlen(point));
    log->runs[run].number = number;
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
    log->runs[run].net.of[split] = *measures;
    log->has_test |= split == RUNLOG_TEST && !isnan(measures->loss);
}

void runlog_set_constant(runlog *log, int run, runlog_split split, const runlog_measures *measures)
{
    log->runs[run].constant.of[split] = *measures;
}

void runlog_add_series(runlog *log, int run, runlog_series kind, const double *numbers, size_t count)
{
    runlog_numbers *to = &log->runs[run].series[kind];
    for (size_t i = 0; i < count; i++) {
        to->numbers = memory_grown(to->numbers, to->count, sizeof *numbers);
        to->numbers[to->count++] = numbers[i];
    }
}

void runlog_set_rows(runlog *log, int run, const double *rows, size_t count)
{
    static const int measures[RUNLOG_ROW_MEASURES] = {
#define ROW_FIELD(member, ...) RUNLOG_MEASURE_##member,
#include "examples/programs/report/fields.def"
    };
    runlog_run *to = &log->runs[run];
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

void runlog_finish_run(runlog *log, int run, bool diverged)
{
    runlog_run *to = &log->runs[run];
    to->finished = true;
    to->diverged = diverged;
    for (int i = 0; diverged && i < RUNLOG_VALUES; i++)
        to->net.values[i] = to->constant.values[i] = NAN;
}

bool runlog_has_series(const runlog *log, runlog_series kind)
{
    for (int run = 0; run < log->count; run++)
        if (log->runs[run].series[kind].count > 0)
            return true;
    return false;
}

/* ---- runs.csv: a row for each run. docs/programs.md describes its columns ---- */

/* The first word of a column: measures of the training and validation rows are so called in tables too. */
static const char *const prefixes[RUNLOG_SPLITS] = {"best_train", "best_val", "test"};

static void put(FILE *to, double number)
{
    fprintf(to, ",%s", isnan(number) ? "" : number_text(number, (char[NUMBER_TEXT]){0}));
}

/* The measures that any run has. */
static void find_known(const runlog *log, bool known[RUNLOG_SPLITS][RUNLOG_MEASURES])
{
    for (int run = 0; run < log->count; run++)
        for (int split = 0; split < RUNLOG_SPLITS; split++)
            for (int i = 0; i < RUNLOG_MEASURES; i++)
                known[split][i] |= !isnan(log->runs[run].net.of[split].all[i]);
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
    table_csv_text(to, run->group);
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
                put(to, run->net.of[split].all[i]);
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
