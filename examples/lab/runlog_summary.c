/* What the runs of each activation come to, and how that differs from the first activation. */
#include "examples/lab/runlog_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One figure of a run. A loss that is not a number is never the best, unless there is no other. */
static double figure_of(const runlog_run *run, runlog_metric metric)
{
    double figure = NAN;
    for (int e = 0; e < run->count; e++) {
        const runlog_epoch *epoch = &run->epochs[e];
        if (metric == RUNLOG_FINAL_LOSS)
            figure = epoch->val_loss;
        else if (metric == RUNLOG_FINAL_ACCURACY)
            figure = epoch->val_accuracy;
        else if (metric == RUNLOG_BEST_LOSS)
            figure = fmin(figure, epoch->val_loss); /* of a number and NaN, fmin and fmax give the number */
        else
            figure = fmax(figure, epoch->val_accuracy);
    }
    return figure;
}

/* The finished run of an activation and seed, or NULL. */
static const runlog_run *find_run(const runlog *log, const char *activation, uint64_t seed)
{
    for (const runlog_run *run = log->runs; run < log->runs + log->count; run++)
        if (run->finished && run->seed == seed && strcmp(run->activation, activation) == 0)
            return run;
    return NULL;
}

/* A figure of each finished run of an activation; with a `rival`, only of those whose seed the rival has finished too, and
 * the rival's figures beside them. Returns how many. */
static int gather(const runlog *log, const char *activation, const char *rival, runlog_metric metric,
                  double values[], double rivals[])
{
    int count = 0;
    for (const runlog_run *run = log->runs; run < log->runs + log->count; run++) {
        if (!run->finished || strcmp(run->activation, activation) != 0)
            continue;
        const runlog_run *partner = rival ? find_run(log, rival, run->seed) : NULL;
        if (rival && !partner)
            continue;
        values[count] = figure_of(run, metric);
        if (partner)
            rivals[count] = figure_of(partner, metric);
        count++;
    }
    return count;
}

static void summarise(const runlog *log, runlog_group *group, const char *first, double values[],
                      double rivals[])
{
    double sum = 0;
    for (const runlog_run *run = log->runs; run < log->runs + log->count; run++) {
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
    for (runlog_metric metric = 0; metric < RUNLOG_METRICS; metric++) {
        int count = gather(log, group->activation, NULL, metric, values, NULL);
        group->value[metric] = statistics_of(values, (size_t)count);
        if (group->activation != first)
            group->pairs = gather(log, group->activation, first, metric, values, rivals);
        group->difference[metric] = statistics_paired(values, rivals, (size_t)group->pairs);
    }
}

runlog_group *runlog_groups(const runlog *log, int *count)
{
    *count = 0;
    size_t room = (size_t)log->count + 1;
    runlog_group *groups = calloc(room, sizeof *groups);
    double *values = calloc(2 * room, sizeof *values);
    for (int run = 0; run < log->count && groups && values; run++) {
        if (!runlog_is_first_of_activation(log, run))
            continue;
        groups[*count].activation = log->runs[run].activation;
        summarise(log, &groups[*count], groups[0].activation, values, values + room);
        ++*count;
    }
    free(values);
    if (values)
        return groups;
    free(groups);
    return NULL;
}

/* ---- summary.csv -------------------------------------------------------------------------------------------- */

static const char *const metric_names[RUNLOG_METRICS] = {"final_val_loss", "best_val_loss",
                                                         "final_val_accuracy", "best_val_accuracy"};

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
        fprintf(to, ",%1$s_mean,%1$s_deviation,%1$s_low,%1$s_high", metric_names[metric]);
    fputs(",pairs", to);
    for (int metric = 0; metric < RUNLOG_METRICS; metric++)
        fprintf(to, ",%1$s_difference,%1$s_difference_low,%1$s_difference_high", metric_names[metric]);
    fputc('\n', to);
}

static bool is_accuracy(int metric)
{
    return metric == RUNLOG_FINAL_ACCURACY || metric == RUNLOG_BEST_ACCURACY;
}

static void write_group(FILE *to, const runlog_group *group, bool accuracy)
{
    runlog_text(to, group->activation);
    fprintf(to, ",%d,%ld", group->runs, group->parameters);
    field(to, group->runs > 0 && !isnan(group->seconds_per_step), group->seconds_per_step);
    for (int metric = 0; metric < RUNLOG_METRICS; metric++) {
        const statistics_estimate *value = &group->value[metric];
        bool exists = accuracy || !is_accuracy(metric);
        field(to, exists && value->count > 0, value->mean);
        field(to, exists && value->count > 1, value->deviation);
        field(to, exists && value->count > 1, value->mean - value->margin);
        field(to, exists && value->count > 1, value->mean + value->margin);
    }
    fprintf(to, ",%d", group->pairs);
    for (int metric = 0; metric < RUNLOG_METRICS; metric++) {
        const statistics_estimate *difference = &group->difference[metric];
        bool exists = accuracy || !is_accuracy(metric);
        field(to, exists && difference->count > 0, difference->mean);
        field(to, exists && difference->count > 1, difference->mean - difference->margin);
        field(to, exists && difference->count > 1, difference->mean + difference->margin);
    }
    fputc('\n', to);
}

bool runlog_write_summary(const runlog *log, FILE *to)
{
    int count;
    runlog_group *groups = runlog_groups(log, &count);
    if (!groups)
        return false;
    bool accuracy = runlog_has_accuracy(log);
    write_header(to);
    for (int i = 0; i < count; i++)
        write_group(to, &groups[i], accuracy);
    free(groups);
    return true;
}
