/* Summarises the runs of each group, and compares each group with each. */
#include "examples/programs/report/comparison.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/report/table.h"
#include "examples/programs/system/posix.h"

/* The finished run of a group with this seed and fold, or NULL. */
static const runlog_run *find_run(const comparison *c, const char *group, const runlog_run *like)
{
    for (int i = 0; i < c->run_count; i++) {
        const runlog_run *run = &c->runs[i];
        if (run->finished && run->seed == like->seed && run->fold == like->fold && strcmp(run->group, group) == 0)
            return run;
    }
    return NULL;
}

/* True if two runs are averaged into the same value. */
static bool is_same_unit(const comparison *c, const runlog_run *a, const runlog_run *b)
{
    return a->fold == b->fold && (c->about.same_folds || a->seed == b->seed);
}

/* ---- a value for each seed ---- */

/* The result of one seed, or of one fold. */
typedef struct unit {
    const runlog_run *first;
    int runs;
    double value, rival;   /* sums, and then means, over the runs */
    double validation;     /* the same of the values less the rival's on validation rows */
    size_t row, row_count; /* in the workspace */
} unit;

/* Memory for as many values, and rows, as there are runs. */
typedef struct workspace {
    unit *units;
    double *values, *rivals, *validation;
    statistics_rows *seeds;
    uint32_t *rows;
    double *row_values, *row_rivals;
    double *row_parts, *row_rival_parts; /* of the sums: the measured values times the rows' weights */
    size_t row_count;
    bool by_rows; /* the rows of all units are known */
} workspace;

static workspace workspace_new(const comparison *c)
{
    const size_t room = (size_t)c->run_count + 1;
    size_t rows = 1;
    for (int i = 0; i < c->run_count; i++)
        rows += c->runs[i].row_count;
    return (workspace){.units = memory_checked(calloc(room, sizeof(unit))),
                       .values = memory_checked(calloc(room, sizeof(double))),
                       .rivals = memory_checked(calloc(room, sizeof(double))),
                       .validation = memory_checked(calloc(room, sizeof(double))),
                       .seeds = memory_checked(calloc(room, sizeof(statistics_rows))),
                       .rows = memory_checked(calloc(rows, sizeof(uint32_t))),
                       .row_values = memory_checked(calloc(rows, sizeof(double))),
                       .row_rivals = memory_checked(calloc(rows, sizeof(double))),
                       .row_parts = memory_checked(calloc(rows, sizeof(double))),
                       .row_rival_parts = memory_checked(calloc(rows, sizeof(double)))};
}

static void workspace_free(workspace *w)
{
    free(w->units);
    free(w->values);
    free(w->rivals);
    free(w->validation);
    free(w->seeds);
    free(w->rows);
    free(w->row_values);
    free(w->row_rivals);
    free(w->row_parts);
    free(w->row_rival_parts);
}

static bool same_rows(const runlog_run *a, const runlog_run *b)
{
    return a->row_count == b->row_count && memcmp(a->rows, b->rows, a->row_count * sizeof *a->rows) == 0;
}

/* What each row of a run adds to the sum of a measure: a value v of the weight w has been set as m + w (v - m), and w v
 * is wanted (runlog_set_row_weights). */
static void put_parts(double *to, const runlog_run *run, const comparison_measure *m, const double *values)
{
    const double *weights = run->row_weights[m->value % RUNLOG_MEASURES != RUNLOG_MEASURE_loss];
    double mean = 0;
    for (size_t i = 0; i < run->row_count; i++)
        mean += values[i] / (double)run->row_count;
    for (size_t i = 0; i < run->row_count; i++)
        to[i] = values[i] + (weights ? (weights[i] - 1) * mean : 0);
}

/* Appends the test rows of a run and of its partner, with these values, to the workspace. Rows of a unit follow each
 * other, as runs of one seed do; if they do not, rows are not used. */
static void add_rows(workspace *w, unit *to, const comparison_measure *m, const runlog_run *run,
                     const runlog_run *partner, const double *values, const double *rivals)
{
    if (!run->row_count || !values || !rivals || !same_rows(run, partner) ||
        (to->runs > 1 && to->row + to->row_count != w->row_count)) {
        w->by_rows = false;
        return;
    }
    if (to->runs == 1)
        to->row = w->row_count;
    memcpy(w->rows + w->row_count, run->rows, run->row_count * sizeof *run->rows);
    memcpy(w->row_values + w->row_count, values, run->row_count * sizeof(double));
    memcpy(w->row_rivals + w->row_count, rivals, run->row_count * sizeof(double));
    put_parts(w->row_parts + w->row_count, run, m, values);
    put_parts(w->row_rival_parts + w->row_count, partner, m, rivals);
    w->row_count += run->row_count;
    to->row_count += run->row_count;
}

static const char constant[] = "constant prediction"; /* as a rival: that of the same run */

/* A measure of the validation split. */
static double validation_of(const runlog_values *of, const comparison_measure *m)
{
    return of->of[RUNLOG_VALIDATION].all[m->value % RUNLOG_MEASURES];
}

/* Collects the values of a measure for each seed or fold of a group; with a `rival`, only for runs that the rival has
 * finished too, together with the rival's values. Returns their number. */
static int gather(const comparison *c, const char *group, const char *rival, int measure, workspace *w)
{
    const comparison_measure *m = &c->measures[measure];
    int count = 0;
    w->row_count = 0;
    w->by_rows = c->about.redrawn && !c->about.same_folds;
    for (int i = 0; i < c->run_count; i++) {
        const runlog_run *run = &c->runs[i], *partner = run;
        if (!run->finished || strcmp(run->group, group) != 0 ||
            (rival && rival != constant && !(partner = find_run(c, rival, run))))
            continue;
        const runlog_values *other = rival == constant ? &run->constant : &partner->net;
        int at = 0;
        while (at < count && !is_same_unit(c, w->units[at].first, run))
            at++;
        if (at == count)
            w->units[count++] = (unit){.first = run};
        w->units[at].runs++;
        w->units[at].value += comparison_value(&run->net, m);
        w->units[at].rival += comparison_value(other, m);
        w->units[at].validation += validation_of(&run->net, m) - (rival ? validation_of(other, m) : 0);
        if (w->by_rows)
            add_rows(w, &w->units[at], m, run, partner, comparison_rows(&run->net, m), comparison_rows(other, m));
    }
    for (int i = 0; i < count; i++) {
        w->values[i] = w->units[i].value / w->units[i].runs;
        w->rivals[i] = w->units[i].rival / w->units[i].runs;
        w->validation[i] = c->about.validates ? w->units[i].validation / w->units[i].runs : NAN;
    }
    return count;
}

/* What rows add to a variance by being trained on, as a share of what they add by being tested. Test rows that are the
 * same for all seeds weigh more than the other rows, among which the training rows are drawn: by so much as they are
 * fewer. */
static double training_of(const comparison *c, const workspace *w)
{
    const double tested = (double)w->units[0].row_count, others = (double)c->about.rows - tested;
    return c->about.fixed_test && tested < others ? tested / others : 1;
}

/* The mean over the gathered units of the values of a measure or, with a rival, of the differences. */
static statistics_estimate estimate_of(const comparison *c, int measure, workspace *w, int count, bool rival)
{
    const comparison_measure *m = &c->measures[measure];
    if (!w->by_rows || count < 2)
        return statistics_paired(w->values, rival ? w->rivals : NULL, (size_t)count);
    for (size_t i = 0; rival && i < w->row_count; i++) {
        const double other = w->row_rivals[i], difference = w->row_values[i] - other;
        w->row_values[i] = fabs(difference) < STATISTICS_ROUNDING * fabs(other) ? 0 : difference;
    }
    for (int i = 0; i < count; i++)
        w->seeds[i] =
            (statistics_rows){w->units[i].row_count, w->rows + w->units[i].row, w->row_values + w->units[i].row};
    return statistics_of_rows(w->seeds, w->validation, (size_t)count,
                              !rival && comparison_is_minimised(m) ? STATISTICS_MINIMISED : training_of(c, w));
}

/* ---- a group ---- */

static bool is_paired(const comparison_measure *m)
{
    return m->paired || m->judged;
}

/* The mean seconds of a step; NaN: unknown. */
static double step_seconds(const comparison *c, const runlog_run *run)
{
    const runlog_epoch *last = run->count ? &run->epoch[run->count - 1] : NULL;
    return c->timed && last && last->step > 0 ? last->seconds / (double)last->step : NAN;
}

/* Counts a run in the group with its name, which may be a new one. */
static void count_run(const comparison *c, comparison_group *groups, int *count, const runlog_run *run)
{
    comparison_group *group = groups;
    while (group < groups + *count && strcmp(group->name, run->group) != 0)
        group++;
    if (group == groups + *count)
        groups[(*count)++].name = run->group;
    group->parameters = run->parameters;
    group->runs += run->finished;
    group->unfinished += !run->finished;
    group->step_seconds += run->finished ? step_seconds(c, run) : 0; /* the sum, until all are counted */
}

/* Losses are not below 0, nor is R2 above 1, so their intervals are not either. */
static statistics_range range_of(const comparison_measure *m, const workspace *w, int count,
                                 const statistics_estimate *of)
{
    statistics_range range =
        m->share ? statistics_share_interval(w->values, (size_t)count, of) : statistics_interval(of);
    bool loss = !m->share && comparison_is_minimised(m);
    for (int i = 0; i < count; i++)
        loss &= w->values[i] >= 0;
    if (loss && range.low < 0)
        range.low = 0;
    if (m->influence && m->more_is_better && range.high > 1)
        range.high = 1;
    return range;
}

static void summarise(const comparison *c, comparison_group *group, const char *rival, workspace *w)
{
    group->step_seconds = group->runs ? group->step_seconds / group->runs : NAN;
    for (int measure = 0; measure < c->measure_count; measure++) {
        comparison_result *of = &group->of[measure];
        int count = gather(c, group->name, NULL, measure, w);
        of->value = estimate_of(c, measure, w, count, false);
        of->range = range_of(&c->measures[measure], w, count, &of->value);
        count = rival ? gather(c, group->name, rival, measure, w) : 0;
        group->pairs = count;
        of->test = statistics_compare(w->values, w->rivals, (size_t)count);
        of->difference = estimate_of(c, measure, w, count, true);
        of->test.p = statistics_p(&of->difference);
        of->corrected = NAN;
    }
}

/* ---- the constant prediction ---- */

static comparison_over over_constant(const comparison *c, const comparison_group *group, int measure, workspace *w)
{
    comparison_over over;
    int count = gather(c, group->name, constant, measure, w);
    over.difference = estimate_of(c, measure, w, count, true);
    over.corrected = statistics_p(&over.difference);
    count = gather(c, group->name, constant, measure, w);
    memcpy(w->values, w->rivals, (size_t)count * sizeof *w->values);
    memcpy(w->row_values, w->row_rivals, w->row_count * sizeof *w->row_values);
    for (int i = 0; i < count; i++)
        w->validation[i] = NAN;
    over.constant = estimate_of(c, measure, w, count, false);
    return over;
}

/* Compares all groups with the constant prediction; it is not worth a correction with the pairs among them. */
static void compare_constant(const comparison *c, comparison_group *groups, int count, workspace *w)
{
    double *p = memory_checked(calloc((size_t)count + 1, sizeof *p));
    for (int m = 0; m < c->measure_count; m++) {
        for (int i = 0; i < count; i++) {
            groups[i].over[m] = over_constant(c, &groups[i], m, w);
            p[i] = groups[i].over[m].corrected;
        }
        statistics_holm(p, (size_t)count);
        for (int i = 0; i < count; i++)
            groups[i].over[m].corrected = p[i];
    }
    free(p);
}

bool comparison_beats(const comparison *c, const comparison_group *group, int measure)
{
    const comparison_over *over = &group->over[measure];
    const double mean = over->difference.mean;
    const bool better = c->measures[measure].more_is_better ? mean > 0 : mean < 0;
    return better && (over->corrected < 0.05 || over->difference.error == 0);
}

/* ---- pairs ---- */

/* One more than the largest number of a row. */
static size_t end_of_rows(const workspace *w)
{
    size_t end = 0;
    for (size_t i = 0; i < w->row_count; i++)
        end = w->rows[i] >= end ? (size_t)w->rows[i] + 1 : end;
    return end;
}

/* The row with the largest part of the sum of these losses, of all rows. */
static struct comparison_heaviest heaviest_of(const workspace *w, const double losses[])
{
    const size_t end = end_of_rows(w);
    double *part = memory_checked(calloc(end + 1, sizeof *part)), sum = 0;
    size_t most = 0;
    for (size_t i = 0; i < w->row_count; i++) {
        part[w->rows[i]] += losses[i];
        sum += losses[i];
    }
    for (size_t row = 0; row < end; row++)
        most = part[row] > part[most] ? row : most;
    const double share = sum > 0 ? part[most] / sum : 0;
    free(part);
    return (struct comparison_heaviest){share, (uint32_t)most};
}

/* What single rows say about a pair: the largest share that one has in the loss of each group, and the share on which
 * the gathered group, b, is better. Before estimate_of, which overwrites the values. */
static void look_at_rows(const comparison *c, const comparison_measure *m, workspace *w, int count,
                         comparison_pair *pair)
{
    double *won = memory_checked(malloc((w->row_count + 1) * sizeof *won));
    for (size_t i = 0; i < w->row_count; i++) {
        const double b = w->row_values[i], a = w->row_rivals[i];
        won[i] = a == b ? 0.5 : (b > a) == m->more_is_better;
    }
    if (!m->share && !m->more_is_better && !m->influence) {
        pair->heaviest[0] = heaviest_of(w, w->row_rival_parts);
        pair->heaviest[1] = heaviest_of(w, w->row_parts);
    }
    for (int i = 0; i < count; i++)
        w->seeds[i] = (statistics_rows){w->units[i].row_count, w->rows + w->units[i].row, won + w->units[i].row};
    if (!c->about.weighted) /* moved values are in another order than losses */
        pair->rows_won = statistics_of_rows(w->seeds, NULL, (size_t)count, training_of(c, w));
    free(won);
}

/* Counts the test rows of a pair, and the fewest that make half of the mean difference. */
static void count_half(const workspace *w, int count, comparison_pair *pair)
{
    const size_t end = end_of_rows(w);
    size_t rows = 0;
    double total = 0, sum = 0;
    double *part = memory_checked(calloc(end + 1, sizeof *part));
    bool *seen = memory_checked(calloc(end + 1, sizeof *seen));
    for (int s = 0; s < count; s++)
        for (size_t i = w->units[s].row; i < w->units[s].row + w->units[s].row_count; i++) {
            const double add = (w->row_parts[i] - w->row_rival_parts[i]) / (double)w->units[s].row_count;
            part[w->rows[i]] += add;
            total += add;
            rows += !seen[w->rows[i]];
            seen[w->rows[i]] = true;
        }
    for (size_t i = 0; i < end && total < 0; i++)
        part[i] = -part[i];
    system_sort(part, end, sizeof *part, system_descending);
    for (; isfinite(total) && total != 0 && 2 * sum < fabs(total); pair->half++)
        sum += part[pair->half];
    pair->rows = (int)rows;
    free(part);
    free(seen);
}

static comparison_pair pair_of(const comparison *c, const comparison_group *groups, int a, int b, int measure,
                               workspace *w)
{
    comparison_pair pair = {.a = a, .b = b, .equal_p = NAN, .here_p = NAN};
    const comparison_measure *m = &c->measures[measure];
    pair.pairs = gather(c, groups[b].name, groups[a].name, measure, w);
    for (int i = 0; i < pair.pairs; i++)
        pair.measured += !isnan(w->values[i] - w->rivals[i]);
    pair.test = statistics_compare(w->values, w->rivals, (size_t)pair.pairs);
    if (w->by_rows && pair.pairs > 1) {
        pair.here_p = pair.test.p;
        if (!c->about.grouped) /* values of clusters are no losses */
            look_at_rows(c, m, w, pair.pairs, &pair);
        count_half(w, pair.pairs, &pair);
    }
    pair.difference = estimate_of(c, measure, w, pair.pairs, true);
    pair.corrected = pair.test.p = statistics_p(&pair.difference);
    const double bound = (c->about.margin > 0 ? c->about.margin : COMPARISON_MARGIN) *
                         (m->share ? 1 : fabs(groups[a].of[measure].value.mean));
    if (c->about.margin > 0)
        pair.equal_p = statistics_equivalence_p(&pair.difference, bound);
    return pair;
}

/* Corrects a p-value of all pairs. */
static void correct(comparison_pair pairs[], size_t count, size_t offset)
{
    double *p = memory_checked(calloc(count + 1, sizeof *p));
    for (size_t i = 0; i < count; i++)
        p[i] = *(double *)((char *)&pairs[i] + offset);
    statistics_holm(p, count);
    for (size_t i = 0; i < count; i++)
        *(double *)((char *)&pairs[i] + offset) = p[i];
    free(p);
}

comparison_pair *comparison_pairs(const comparison *c, const comparison_group *groups, int count, int measure)
{
    const size_t all = (size_t)count * (size_t)(count - 1) / 2;
    comparison_pair *pairs = memory_checked(calloc(all + 1, sizeof *pairs));
    workspace w = workspace_new(c);
    size_t put = 0;
    for (int a = 0; a < count; a++)
        for (int b = a + 1; b < count; b++)
            pairs[put++] = pair_of(c, groups, a, b, measure, &w);
    correct(pairs, all, offsetof(comparison_pair, corrected));
    correct(pairs, all, offsetof(comparison_pair, here_p));
    correct(pairs, all, offsetof(comparison_pair, equal_p));
    workspace_free(&w);
    return pairs;
}

comparison_group *comparison_groups(const comparison *c, int *count)
{
    comparison_group *groups = memory_checked(calloc((size_t)c->run_count + 1, sizeof *groups));
    workspace w = workspace_new(c);
    *count = 0;
    for (int run = 0; run < c->run_count; run++)
        count_run(c, groups, count, &c->runs[run]);
    for (int i = 0; i < *count; i++)
        summarise(c, &groups[i], i ? groups[0].name : NULL, &w);
    for (int m = 0; m<c->measure_count && * count> 1; m++)
        if (is_paired(&c->measures[m])) { /* the first pairs are those with the first group */
            comparison_pair *pairs = comparison_pairs(c, groups, *count, m);
            for (int i = 1; i < *count; i++)
                groups[i].of[m].corrected = pairs[i - 1].corrected;
            free(pairs);
        }
    if (c->has_constant)
        compare_constant(c, groups, *count, &w);
    workspace_free(&w);
    return groups;
}

/* ---- the summary ---- */

enum { VALUES = 8, FIELDS = 16 };

/* The fields of a measure: VALUES of its values, the last four of those of the constant prediction and of the
 * difference to it; the others of differences to the first group. */
static const struct field {
    const char *ending;
    size_t least;  /* values that it needs */
    bool may_lack; /* NaN is an empty field */
} fields[FIELDS] = {{"_mean", 1},
                    {"_deviation", 2},
                    {"_low", 2},
                    {"_high", 2},
                    {"_constant", 1, true},
                    {"_over_constant", 1, true},
                    {"_over_constant_low", 2, true},
                    {"_over_constant_high", 2, true},
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
        const statistics_range range = statistics_difference_interval(&of->difference, c->measures[m].share);
        const comparison_over *over = &group->over[m];
        const statistics_range of_over = statistics_difference_interval(&over->difference, c->measures[m].share);
        const bool has = c->has_constant;
        const double numbers[FIELDS] = {of->value.mean,
                                        of->value.deviation,
                                        of->range.low,
                                        of->range.high,
                                        has ? over->constant.mean : NAN,
                                        has ? over->difference.mean : NAN,
                                        has ? of_over.low : NAN,
                                        has ? of_over.high : NAN,
                                        of->difference.mean,
                                        range.low,
                                        range.high,
                                        of->test.p,
                                        of->corrected,
                                        of->test.sign_p,
                                        of->test.greater,
                                        of->test.less};
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

bool comparison_write_summary(const void *of, FILE *to)
{
    int count;
    const comparison *c = of;
    comparison_group *groups = comparison_groups(c, &count);
    table *t = table_new(1);
    table_keep_empty(t);
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
    return true;
}

/* ---- all pairs ---- */

bool comparison_write_pairs(const void *of, FILE *to)
{
    int count;
    const comparison *c = of;
    comparison_group *groups = comparison_groups(c, &count);
    table *t = table_new(3);
    table_keep_empty(t);
    table_add_columns(t, "measure|name|against|pairs|difference|difference_low|difference_high|p|p_corrected|"
                         "p_same_samples|p_equal_within_margin|better|worse");
    for (int m = 0; m < c->measure_count; m++) {
        if (!is_paired(&c->measures[m]) || count < 2)
            continue;
        comparison_pair *pairs = comparison_pairs(c, groups, count, m);
        for (int i = 0; i < count * (count - 1) / 2; i++) {
            const comparison_pair *p = &pairs[i];
            const statistics_range range = statistics_difference_interval(&p->difference, c->measures[m].share);
            const double numbers[] = {p->measured,
                                      p->difference.mean,
                                      range.low,
                                      range.high,
                                      p->test.p,
                                      p->corrected,
                                      p->here_p,
                                      p->equal_p,
                                      c->measures[m].more_is_better ? p->test.greater : p->test.less,
                                      c->measures[m].more_is_better ? p->test.less : p->test.greater};
            table_add_row(t);
            table_add_cell(t, "%s", c->measures[m].name);
            table_add_cell(t, "%s", groups[p->b].name);
            table_add_cell(t, "%s", groups[p->a].name);
            for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
                add_field(t, !isnan(numbers[k]), numbers[k]);
        }
        free(pairs);
    }
    table_print(t, "csv", to);
    table_free(t);
    free(groups);
    return true;
}
