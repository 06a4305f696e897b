#include "examples/programs/data/number.h"
#include "examples/programs/report/runlog_internal.h"

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
    for (int i = 0; i < log->count && !log->borrows; i++)
        runlog_run_free(&log->runs[i]);
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
}

int runlog_add_activation(runlog *log, const char *name)
{
    return texts_number(&log->activations, name, strlen(name));
}

int runlog_add_run(runlog *log, const char *activation, uint64_t seed, int fold, long parameters)
{
    log->runs = memory_grown(log->runs, (size_t)log->count, sizeof *log->runs);
    runlog_run *to = &log->runs[log->count];
    *to = runlog_run_new();
    to->activation = runlog_add_activation(log, activation);
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

runlog_run *runlog_at(runlog *log, int run)
{
    return &log->runs[run];
}

bool runlog_has_test(const runlog *log)
{
    bool has = log->about.measured[RUNLOG_TEST]; /* even if all runs diverge */
    for (int run = 0; run < log->count && !has; run++)
        has = !isnan(log->runs[run].net.of[RUNLOG_TEST].loss);
    return has;
}

const char *runlog_point(const runlog *log, int run)
{
    return log->points.list[log->runs[run].point];
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

bool runlog_has_measure(const runlog_about *about, int measure)
{
    const bool rows = about->of == RUNLOG_ROWS_OF_TABLE;
    switch (measure) {
    case RUNLOG_MEASURE_rmse:
    case RUNLOG_MEASURE_mae:
        return rows && about->targets == 1;
    case RUNLOG_MEASURE_r2:
        return rows && about->targets > 0;
    case RUNLOG_MEASURE_auc:
        return rows && about->compared.classes == 2;
    case RUNLOG_MEASURE_balanced:
    case RUNLOG_MEASURE_f1:
        return rows && about->compared.classes > 0;
    case RUNLOG_MEASURE_calibration:
        return about->of == RUNLOG_TEXT || (rows && about->compared.classes > 0);
    case RUNLOG_MEASURE_accuracy:
        return about->of == RUNLOG_TEXT || about->of == RUNLOG_PAIRS || about->compared.classes > 0;
    default:
        return true;
    }
}

/* The measures that the data has; of unknown data, those that any run has. */
static void find_known(const runlog *log, bool known[RUNLOG_SPLITS][RUNLOG_MEASURES])
{
    const bool any = log->about.of == RUNLOG_ANYTHING;
    for (int split = 0; split < RUNLOG_SPLITS; split++)
        for (int i = 0; i < RUNLOG_MEASURES; i++) {
            known[split][i] = !any && log->about.measured[split] && runlog_has_measure(&log->about, i);
            for (int run = 0; any && run < log->count; run++)
                known[split][i] |= !isnan(log->runs[run].net.of[split].all[i]);
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

/* The first run with losses of --test-as, which name the columns of all; NULL: none. */
static const runlog_run *with_variants(const runlog *log)
{
    for (int run = 0; run < log->count; run++)
        if (log->runs[run].variants > 0)
            return &log->runs[run];
    return NULL;
}

static double variant_of(const runlog_run *run, const char *name)
{
    for (int i = 0; i < run->variants; i++)
        if (strcmp(run->variant[i].name, name) == 0)
            return run->variant[i].loss;
    return NAN;
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
    const runlog_run *names = with_variants(log);
    for (int i = 0; names && i < names->variants; i++)
        put(to, variant_of(run, names->variant[i].name));
    put(to, run->count ? run->epoch[run->count - 1].seconds : NAN);
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
    const runlog_run *names = with_variants(log);
    for (int i = 0; names && i < names->variants; i++)
        fprintf(to, ",test_loss_as_%s", names->variant[i].name);
    fputs(",seconds\n", to);
    for (int run = 0; run < log->count; run++)
        put_run(log, run, known, to);
}
