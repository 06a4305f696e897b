/* Summarises the runs of each group, and compares them with the first group. */
#include "examples/report/comparison.h"
#include "examples/report/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The finished run of a group with this seed and fold, or NULL. */
static const comparison_run *find_run(const comparison *c, const char *group, const comparison_run *like)
{
    for (int i = 0; i < c->run_count; i++) {
        const comparison_run *run = &c->runs[i];
        if (run->finished && run->seed == like->seed && run->fold == like->fold && strcmp(run->group, group) == 0)
            return run;
    }
    return NULL;
}

/* True if two runs are averaged into the same value. */
static bool is_same_unit(const comparison *c, const comparison_run *a, const comparison_run *b)
{
    return a->fold == b->fold && (c->same_folds || a->seed == b->seed);
}

/* ---- a value for each seed ---- */

/* The result of one seed, or of one fold. */
typedef struct unit {
    const comparison_run *first;
    int runs;
    double value, rival; /* sums, and then means, over the runs */
} unit;

/* Memory for as many values as there are runs. */
typedef struct workspace {
    unit *units;
    double *values, *rivals;
} workspace;

/* Collects the values of a measure for each seed or fold of a group; with a `rival`, only for runs that the rival has
 * finished too, together with the rival's values. Returns their number. */
static int gather(const comparison *c, const char *group, const char *rival, int measure, const workspace *w)
{
    int count = 0;
    for (int i = 0; i < c->run_count; i++) {
        const comparison_run *run = &c->runs[i];
        const comparison_run *partner = rival ? find_run(c, rival, run) : run;
        if (!run->finished || strcmp(run->group, group) != 0 || !partner)
            continue;
        int at = 0;
        while (at < count && !is_same_unit(c, w->units[at].first, run))
            at++;
        if (at == count)
            w->units[count++] = (unit){.first = run};
        w->units[at].runs++;
        w->units[at].value += run->values[measure];
        w->units[at].rival += partner->values[measure];
    }
    for (int i = 0; i < count; i++) {
        w->values[i] = w->units[i].value / w->units[i].runs;
        w->rivals[i] = w->units[i].rival / w->units[i].runs;
    }
    return count;
}

/* ---- a group ---- */

static void count_runs(const comparison *c, comparison_group *group)
{
    double sum = 0;
    for (int i = 0; i < c->run_count; i++) {
        const comparison_run *run = &c->runs[i];
        if (strcmp(run->group, group->name) != 0)
            continue;
        group->parameters = run->parameters;
        group->runs += run->finished;
        group->unfinished += !run->finished;
        sum += run->finished ? run->step_seconds : 0;
    }
    group->step_seconds = group->runs ? sum / group->runs : NAN;
}

static void summarise(const comparison *c, comparison_group *group, const char *first, const workspace *w)
{
    count_runs(c, group);
    for (int measure = 0; measure < c->measure_count; measure++) {
        comparison_result *of = &group->of[measure];
        int count = gather(c, group->name, NULL, measure, w);
        of->value = statistics_of(w->values, (size_t)count);
        statistics_correct_overlap(c->overlap, &of->value, NULL);
        of->range = c->measures[measure].share ? statistics_share_interval(w->values, (size_t)count, &of->value)
                                               : statistics_interval(&of->value);
        count = group->name == first ? 0 : gather(c, group->name, first, measure, w);
        group->pairs = count;
        of->difference = statistics_paired(w->values, w->rivals, (size_t)count);
        of->test = statistics_compare(w->values, w->rivals, (size_t)count);
        statistics_correct_overlap(c->overlap, &of->difference, &of->test);
        of->corrected = NAN;
    }
}

/* Corrects the p-values of all judged measures and groups together. False when memory runs out. */
static bool correct(const comparison *c, comparison_group *groups, int count)
{
    double *p = calloc((size_t)(count * c->measure_count) + 1, sizeof *p);
    int judged = 0;
    for (int i = 0; p && i < count * c->measure_count; i++)
        if (c->measures[i % c->measure_count].judged)
            p[judged++] = groups[i / c->measure_count].of[i % c->measure_count].test.p;
    if (p)
        statistics_holm(p, (size_t)judged);
    judged = 0;
    for (int i = 0; p && i < count * c->measure_count; i++)
        if (c->measures[i % c->measure_count].judged)
            groups[i / c->measure_count].of[i % c->measure_count].corrected = p[judged++];
    free(p);
    return p != NULL;
}

static bool is_first_of_group(const comparison *c, int run)
{
    for (int i = 0; i < run; i++)
        if (strcmp(c->runs[i].group, c->runs[run].group) == 0)
            return false;
    return true;
}

comparison_group *comparison_groups(const comparison *c, int *count)
{
    *count = 0;
    const size_t room = (size_t)c->run_count + 1;
    comparison_group *groups = calloc(room, sizeof *groups);
    const workspace w = {calloc(room, sizeof *w.units), calloc(room, sizeof *w.values), calloc(room, sizeof *w.rivals)};
    bool complete = groups && w.units && w.values && w.rivals;
    for (int run = 0; run < c->run_count && complete; run++) {
        if (!is_first_of_group(c, run))
            continue;
        groups[*count].name = c->runs[run].group;
        summarise(c, &groups[*count], groups[0].name, &w);
        ++*count;
    }
    complete = complete && correct(c, groups, *count);
    free(w.units);
    free(w.values);
    free(w.rivals);
    if (complete)
        return groups;
    free(groups);
    return NULL;
}

/* ---- the summary ---- */

/* Writes an empty field for a missing value, and nan for NaN. */
static void add_field(table *t, bool exists, double number)
{
    table_add_cell(t, exists && isnan(number) ? "nan" : "");
    if (exists && !isnan(number))
        table_numbers(t, 1, &number);
}

static void add_columns(table *t, const comparison_measure *of, const char *const endings[])
{
    for (int i = 0; endings[i]; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", of->name, endings[i]);
        table_add_column(t, &(table_column){.name = name});
    }
}

static void add_differences(table *t, const comparison_result *of)
{
    const statistics_range range = statistics_interval(&of->difference);
    const size_t count = of->difference.count;
    add_field(t, count > 0, of->difference.mean);
    add_field(t, count > 1, range.low);
    add_field(t, count > 1, range.high);
    add_field(t, count > 1 && !isnan(of->test.p), of->test.p);
    add_field(t, count > 1 && !isnan(of->corrected), of->corrected);
    add_field(t, count > 1 && !isnan(of->test.sign_p), of->test.sign_p);
    add_field(t, count > 0, of->test.greater);
    add_field(t, count > 0, of->test.less);
}

static void add_group(const comparison *c, table *t, const comparison_group *group)
{
    table_add_row(t);
    table_add_cell(t, "%s", group->name);
    add_field(t, true, group->runs);
    add_field(t, group->parameters > 0, (double)group->parameters);
    add_field(t, group->runs > 0 && !isnan(group->step_seconds), group->step_seconds);
    for (int m = 0; m < c->measure_count; m++) {
        const comparison_result *of = &group->of[m];
        add_field(t, of->value.count > 0, of->value.mean);
        add_field(t, of->value.count > 1, of->value.deviation);
        add_field(t, of->value.count > 1, of->range.low);
        add_field(t, of->value.count > 1, of->range.high);
    }
    add_field(t, true, group->pairs);
    for (int m = 0; m < c->measure_count; m++)
        add_differences(t, &group->of[m]);
}

bool comparison_write_summary(const comparison *c, FILE *to)
{
    static const char *const values[] = {"_mean", "_deviation", "_low", "_high", NULL};
    static const char *const differences[] = {"_difference", "_difference_low", "_difference_high",
                                              "_p",          "_p_corrected",    "_sign_p",
                                              "_greater",    "_less",           NULL};
    int count;
    comparison_group *groups = comparison_groups(c, &count);
    table *t = table_new(1);
    table_add_column(t, &(table_column){.name = c->group});
    table_add_columns(t, "runs|parameters|seconds_per_step");
    for (int m = 0; m < c->measure_count; m++)
        add_columns(t, &c->measures[m], values);
    table_add_column(t, &(table_column){.name = "pairs"});
    for (int m = 0; m < c->measure_count; m++)
        add_columns(t, &c->measures[m], differences);
    for (int i = 0; groups && i < count; i++)
        add_group(c, t, &groups[i]);
    const bool complete = groups && table_print(t, "csv", to);
    table_free(t);
    free(groups);
    return complete;
}
