/* Summarises the runs of each group, and compares them with the first group. */
#include "examples/programs/report/comparison.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/report/table.h"

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

/* Counts a run in the group with its name, which may be a new one. */
static void count_run(comparison_group *groups, int *count, const comparison_run *run)
{
    comparison_group *group = groups;
    while (group < groups + *count && strcmp(group->name, run->group) != 0)
        group++;
    if (group == groups + *count)
        groups[(*count)++].name = run->group;
    group->parameters = run->parameters;
    group->runs += run->finished;
    group->unfinished += !run->finished;
    group->step_seconds += run->finished ? run->step_seconds : 0; /* the sum, until all are counted */
}

static void summarise(const comparison *c, comparison_group *group, const char *rival, const workspace *w)
{
    group->step_seconds = group->runs ? group->step_seconds / group->runs : NAN;
    for (int measure = 0; measure < c->measure_count; measure++) {
        comparison_result *of = &group->of[measure];
        int count = gather(c, group->name, NULL, measure, w);
        of->value = statistics_of(w->values, (size_t)count);
        statistics_correct_overlap(c->overlap, &of->value, NULL);
        of->range = c->measures[measure].share ? statistics_share_interval(w->values, (size_t)count, &of->value)
                                               : statistics_interval(&of->value);
        count = rival ? gather(c, group->name, rival, measure, w) : 0;
        group->pairs = count;
        of->difference = statistics_paired(w->values, w->rivals, (size_t)count);
        of->test = statistics_compare(w->values, w->rivals, (size_t)count);
        statistics_correct_overlap(c->overlap, &of->difference, &of->test);
    }
}

/* Corrects the p-values of all judged measures and groups together. */
static void correct(const comparison *c, comparison_group *groups, int count)
{
    const int results = count * c->measure_count;
    double *p = memory_checked(calloc((size_t)results + 1, sizeof *p));
    for (int i = 0; i < results; i++)
        p[i] = c->measures[i % c->measure_count].judged ? groups[i / c->measure_count].of[i % c->measure_count].test.p
                                                        : NAN;
    statistics_holm(p, (size_t)results);
    for (int i = 0; i < results; i++)
        groups[i / c->measure_count].of[i % c->measure_count].corrected = p[i];
    free(p);
}

comparison_group *comparison_groups(const comparison *c, int *count)
{
    const size_t room = (size_t)c->run_count + 1;
    comparison_group *groups = memory_checked(calloc(room, sizeof *groups));
    const workspace w = {memory_checked(calloc(room, sizeof *w.units)), memory_checked(calloc(room, sizeof *w.values)),
                         memory_checked(calloc(room, sizeof *w.rivals))};
    *count = 0;
    for (int run = 0; run < c->run_count; run++)
        count_run(groups, count, &c->runs[run]);
    for (int i = 0; i < *count; i++)
        summarise(c, &groups[i], i ? groups[0].name : NULL, &w);
    correct(c, groups, *count);
    free(w.units);
    free(w.values);
    free(w.rivals);
    return groups;
}

/* ---- the summary ---- */

enum { VALUES = 4, FIELDS = 12 };

/* The fields of a measure: VALUES of its values, the others of its differences. */
static const struct field {
    const char *ending;
    size_t least;  /* values that it needs */
    bool may_lack; /* NaN is an empty field */
} fields[FIELDS] = {{"_mean", 1},
                    {"_deviation", 2},
                    {"_low", 2},
                    {"_high", 2},
                    {"_difference", 1},
                    {"_difference_low", 2},
                    {"_difference_high", 2},
                    {"_p", 2, true},
                    {"_p_corrected", 2, true},
                    {"_sign_p", 2, true},
                    {"_greater", 1},
                    {"_less", 1}};

static void add_columns(table *t, const comparison *c, int begin, int end)
{
    for (int m = 0; m < c->measure_count; m++)
        for (int i = begin; i < end; i++) {
            char name[128];
            snprintf(name, sizeof name, "%s%s", c->measures[m].name, fields[i].ending);
            table_add_column(t, &(table_column){.name = name});
        }
}

/* Writes an empty field for a missing value, and nan for NaN. */
static void add_field(table *t, bool exists, double number)
{
    table_add_cell(t, exists && isnan(number) ? "nan" : "");
    if (exists && !isnan(number))
        table_numbers(t, 1, &number);
}

static void add_fields(table *t, const comparison *c, const comparison_group *group, int begin, int end)
{
    for (int m = 0; m < c->measure_count; m++) {
        const comparison_result *of = &group->of[m];
        const statistics_range range = statistics_interval(&of->difference);
        const double numbers[FIELDS] = {of->value.mean,      of->value.deviation, of->range.low,    of->range.high,
                                        of->difference.mean, range.low,           range.high,       of->test.p,
                                        of->corrected,       of->test.sign_p,     of->test.greater, of->test.less};
        for (int i = begin; i < end; i++) {
            const size_t count = i < VALUES ? of->value.count : of->difference.count;
            add_field(t, count >= fields[i].least && !(fields[i].may_lack && isnan(numbers[i])), numbers[i]);
        }
    }
}

static void add_group(const comparison *c, table *t, const comparison_group *group)
{
    table_add_row(t);
    table_add_cell(t, "%s", group->name);
    add_field(t, true, group->runs);
    add_field(t, group->parameters > 0, (double)group->parameters);
    add_field(t, group->runs > 0 && !isnan(group->step_seconds), group->step_seconds);
    add_fields(t, c, group, 0, VALUES);
    add_field(t, true, group->pairs);
    add_fields(t, c, group, VALUES, FIELDS);
}

void comparison_write_summary(const comparison *c, FILE *to)
{
    int count;
    comparison_group *groups = comparison_groups(c, &count);
    table *t = table_new(1);
    table_add_column(t, &(table_column){.name = c->group});
    table_add_columns(t, "runs|parameters|seconds_per_step");
    add_columns(t, c, 0, VALUES);
    table_add_columns(t, "pairs");
    add_columns(t, c, VALUES, FIELDS);
    for (int i = 0; i < count; i++)
        add_group(c, t, &groups[i]);
    table_print(t, "csv", to);
    table_free(t);
    free(groups);
}
