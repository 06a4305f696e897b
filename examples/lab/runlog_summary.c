/* What the runs of each activation come to, and how that differs from the first activation. */
#include "examples/lab/runlog_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const runlog_metric_kind runlog_metrics[RUNLOG_METRICS] = {
    [RUNLOG_FINAL_LOSS] = {"final_val_loss", false, false},
    [RUNLOG_FINAL_ACCURACY] = {"final_val_accuracy", true, true},
    [RUNLOG_BEST_LOSS] = {"best_val_loss", false, false},
    [RUNLOG_BEST_ACCURACY] = {"best_val_accuracy", true, true},
    [RUNLOG_TEST_LOSS] = {"test_loss", false, false},
    [RUNLOG_TEST_ACCURACY] = {"test_accuracy", true, true},
    [RUNLOG_TEST_CALIBRATION] = {"test_calibration_error", true, false},
    [RUNLOG_TEST_RMSE] = {"test_rmse", false, false},
    [RUNLOG_TEST_MAE] = {"test_mae", false, false},
    [RUNLOG_TEST_R2] = {"test_r2", false, true},
};

/* ---- runs ---- */

const runlog_epoch *runlog_best_epoch(const runlog_run *run)
{
    const runlog_epoch *best = NULL;
    for (int i = 0; i < run->count; i++)
        if (!isnan(run->epochs[i].val_loss) && (!best || run->epochs[i].val_loss < best->val_loss))
            best = &run->epochs[i];
    return best ? best : run->count ? &run->epochs[run->count - 1] : NULL;
}

static double figure_of(const runlog_run *run, runlog_metric metric)
{
    const runlog_epoch *best = runlog_best_epoch(run), *last = run->count ? &run->epochs[run->count - 1] : NULL;
    if (!best)
        return NAN;
    const double figures[RUNLOG_METRICS] = {
        [RUNLOG_FINAL_LOSS] = last->val_loss,
        [RUNLOG_FINAL_ACCURACY] = last->val_accuracy,
        [RUNLOG_BEST_LOSS] = best->val_loss,
        [RUNLOG_BEST_ACCURACY] = best->val_accuracy,
        [RUNLOG_TEST_LOSS] = best->test.loss,
        [RUNLOG_TEST_ACCURACY] = best->test.accuracy,
        [RUNLOG_TEST_CALIBRATION] = best->test.calibration,
        [RUNLOG_TEST_RMSE] = best->test.rmse,
        [RUNLOG_TEST_MAE] = best->test.mae,
        [RUNLOG_TEST_R2] = best->test.r2,
    };
    return figures[metric];
}

/* The finished run of an activation, seed and fold, or NULL. */
static const runlog_run *find_run(const runlog *log, const char *activation, const runlog_run *like)
{
    for (int i = 0; i < log->count; i++) {
        const runlog_run *run = &log->runs[i];
        if (run->finished && run->seed == like->seed && run->fold == like->fold &&
            strcmp(run->activation, activation) == 0)
            return run;
    }
    return NULL;
}

/* ---- a value for each seed ---- */

/* What one seed comes to, or one fold if that is the only seed. */
typedef struct unit {
    uint64_t key;
    int runs;
    double value, rival; /* sums, and then means, over the runs */
} unit;

bool runlog_has_one_seed(const runlog *log)
{
    for (int i = 1; i < log->count; i++)
        if (log->runs[i].seed != log->runs[0].seed)
            return false;
    return true;
}

/* A figure of each seed of an activation; with a `rival`, of the runs that the rival has finished too, and the rival's
 * figures beside them. Returns how many. */
static int gather(const runlog *log, const char *activation, const char *rival, runlog_metric metric, unit units[])
{
    const bool by_fold = runlog_has_one_seed(log);
    int count = 0;
    for (int i = 0; i < log->count; i++) {
        const runlog_run *run = &log->runs[i];
        const runlog_run *partner = rival ? find_run(log, rival, run) : run;
        if (!run->finished || strcmp(run->activation, activation) != 0 || !partner)
            continue;
        const uint64_t key = by_fold ? (uint64_t)run->fold : run->seed;
        int at = 0;
        while (at < count && units[at].key != key)
            at++;
        if (at == count)
            units[count++] = (unit){.key = key};
        units[at].runs++;
        units[at].value += figure_of(run, metric);
        units[at].rival += figure_of(partner, metric);
    }
    for (int i = 0; i < count; i++) {
        units[i].value /= units[i].runs;
        units[i].rival /= units[i].runs;
    }
    return count;
}

/* ---- an activation ---- */

static void count_runs(const runlog *log, runlog_group *group)
{
    double sum = 0;
    for (int i = 0; i < log->count; i++) {
        const runlog_run *run = &log->runs[i];
        if (strcmp(run->activation, group->activation) != 0)
            continue;
        const runlog_epoch *last = run->count ? &run->epochs[run->count - 1] : NULL;
        group->parameters = run->parameters;
        group->runs += run->finished;
        group->unfinished += !run->finished;
        if (run->finished)
            sum += last && last->step > 0 ? last->seconds / (double)last->step : NAN;
    }
    group->seconds_per_step = group->runs ? sum / group->runs : NAN;
}

/* Room for as many values as there are runs. */
typedef struct workspace {
    unit *units;
    double *values, *rivals;
} workspace;

static int unpack(const workspace *w, int count)
{
    for (int i = 0; i < count; i++) {
        w->values[i] = w->units[i].value;
        w->rivals[i] = w->units[i].rival;
    }
    return count;
}

static void summarise(const runlog *log, runlog_group *group, const char *first, const workspace *w)
{
    count_runs(log, group);
    for (runlog_metric metric = 0; metric < RUNLOG_METRICS; metric++) {
        int count = unpack(w, gather(log, group->activation, NULL, metric, w->units));
        group->value[metric] = statistics_of(w->values, (size_t)count);
        group->range[metric] = runlog_metrics[metric].share ? statistics_share_interval(w->values, (size_t)count)
                                                            : statistics_interval(&group->value[metric]);
        count = group->activation == first ? 0 : unpack(w, gather(log, group->activation, first, metric, w->units));
        group->pairs = count;
        group->difference[metric] = statistics_paired(w->values, w->rivals, (size_t)count);
        group->test[metric] = statistics_compare(w->values, w->rivals, (size_t)count);
        group->corrected[metric] = NAN;
    }
}

/* Corrects together what the table judges: the differences in loss and in accuracy of all activations. False when
 * memory runs out. */
static bool correct(const runlog *log, runlog_group *groups, int count)
{
    const runlog_metric judged[] = {runlog_loss(log), runlog_accuracy(log)};
    double *p = calloc(2 * (size_t)count + 1, sizeof *p);
    for (int i = 0; p && i < 2 * count; i++)
        p[i] = groups[i / 2].test[judged[i % 2]].p;
    if (p)
        statistics_holm(p, 2 * (size_t)count);
    for (int i = 0; p && i < 2 * count; i++)
        groups[i / 2].corrected[judged[i % 2]] = p[i];
    free(p);
    return p != NULL;
}

runlog_group *runlog_groups(const runlog *log, int *count)
{
    *count = 0;
    const size_t room = (size_t)log->count + 1;
    runlog_group *groups = calloc(room, sizeof *groups);
    const workspace w = {calloc(room, sizeof *w.units), calloc(room, sizeof *w.values), calloc(room, sizeof *w.rivals)};
    bool complete = groups && w.units && w.values && w.rivals;
    for (int run = 0; run < log->count && complete; run++) {
        if (!runlog_is_first_of_activation(log, run))
            continue;
        groups[*count].activation = log->runs[run].activation;
        summarise(log, &groups[*count], groups[0].activation, &w);
        ++*count;
    }
    complete = complete && correct(log, groups, *count);
    free(w.units);
    free(w.values);
    free(w.rivals);
    if (complete)
        return groups;
    free(groups);
    return NULL;
}

/* ---- summary.csv ---- */

/* What does not exist is left empty, what is not a number says so. */
static void field(FILE *to, bool exists, double number)
{
    if (exists)
        runlog_number_field(to, number);
    else
        runlog_empty_field(to);
}

static void write_header(FILE *to)
{
    fputs("activation,runs,parameters,seconds_per_step", to);
    for (int metric = 0; metric < RUNLOG_METRICS; metric++)
        fprintf(to, ",%1$s_mean,%1$s_deviation,%1$s_low,%1$s_high", runlog_metrics[metric].name);
    fputs(",pairs", to);
    for (int metric = 0; metric < RUNLOG_METRICS; metric++)
        fprintf(to,
                ",%1$s_difference,%1$s_difference_low,%1$s_difference_high,%1$s_p,%1$s_p_corrected,%1$s_sign_p,%1$s_"
                "greater,%1$s_less",
                runlog_metrics[metric].name);
    fputc('\n', to);
}

static void write_group(FILE *to, const runlog_group *group, const bool exists[RUNLOG_METRICS])
{
    runlog_text(to, group->activation);
    fprintf(to, ",%d,%ld", group->runs, group->parameters);
    field(to, group->runs > 0 && !isnan(group->seconds_per_step), group->seconds_per_step);
    for (int metric = 0; metric < RUNLOG_METRICS; metric++) {
        const size_t count = exists[metric] ? group->value[metric].count : 0;
        field(to, count > 0, group->value[metric].mean);
        field(to, count > 1, group->value[metric].deviation);
        field(to, count > 1, group->range[metric].low);
        field(to, count > 1, group->range[metric].high);
    }
    fprintf(to, ",%d", group->pairs);
    for (int metric = 0; metric < RUNLOG_METRICS; metric++) {
        const statistics_estimate *difference = &group->difference[metric];
        const statistics_test *test = &group->test[metric];
        const statistics_range range = statistics_interval(difference);
        const size_t count = exists[metric] ? difference->count : 0;
        field(to, count > 0, difference->mean);
        field(to, count > 1, range.low);
        field(to, count > 1, range.high);
        field(to, count > 1 && !isnan(test->p), test->p);
        field(to, count > 1 && !isnan(group->corrected[metric]), group->corrected[metric]);
        field(to, count > 1 && !isnan(test->sign_p), test->sign_p);
        field(to, count > 0, test->greater);
        field(to, count > 0, test->less);
    }
    fputc('\n', to);
}

/* Which metrics any run has: those of the other task, and of a test part that is not there, do not exist. */
static void find_metrics(const runlog *log, bool exists[RUNLOG_METRICS])
{
    for (int metric = 0; metric < RUNLOG_METRICS; metric++) {
        const bool of_test = metric >= RUNLOG_TEST_LOSS, of_numbers = metric >= RUNLOG_TEST_RMSE;
        exists[metric] = (!of_test || runlog_has_test(log)) &&
                         (!runlog_metrics[metric].share || runlog_has_accuracy(log)) &&
                         (!of_numbers || !runlog_has_accuracy(log));
    }
}

bool runlog_write_summary(const runlog *log, FILE *to)
{
    int count;
    bool exists[RUNLOG_METRICS];
    runlog_group *groups = runlog_groups(log, &count);
    if (!groups)
        return false;
    find_metrics(log, exists);
    write_header(to);
    for (int i = 0; i < count; i++)
        write_group(to, &groups[i], exists);
    free(groups);
    return true;
}
