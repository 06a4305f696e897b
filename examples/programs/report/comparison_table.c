/* The table of a comparison, the explanations of its columns, and its conclusions. */
#include "examples/programs/data/words.h"
#include "examples/programs/report/comparison.h"
#include "examples/programs/report/table.h"
#include "examples/programs/report/verdict.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The beginning of a name, for "%.*s". */
#define SHORT(name) plain_length(name, 64), name

enum { HUGE_LOSS = 100000 };

typedef struct view {
    const comparison *c;
    const comparison_group *groups; /* [count] */
    int count;
    int folds;       /* number of folds per seed; 1 without folds */
    bool by_fold;    /* there is one seed, so its folds are the values */
    int decides;     /* the measure that decides which run is better: the first judged one; -1: none */
    int judged;      /* differences */
    int least, most; /* values of a group */
    int decimals[COMPARISON_MEASURES];
} view;

/* ---- cells ---- */

/* The number of decimals that shows three significant digits of the smallest mean. */
static int decimals_of(const view *v, int measure)
{
    const comparison_measure *of = &v->c->measures[measure];
    double smallest = INFINITY;
    if (of->share)
        return 2;
    for (int i = 0; i < v->count; i++)
        if (fabs(v->groups[i].of[measure].value.mean) > 0)
            smallest = fmin(smallest, fabs(v->groups[i].of[measure].value.mean));
    return isfinite(smallest) ? (int)fmax(1, fmin(6, 2 - floor(log10(smallest)))) : 3;
}

/* A mean and its margin; a difference has a sign and a `mark` behind it. */
static void add_mean(table *t, const statistics_estimate *of, bool share, int decimals, const char *mark)
{
    const double scale = share ? 100 : 1, margin = fmin(scale * of->margin, share ? 100 : INFINITY);
    const bool sign = *mark;
    if (of->count == 0 || isnan(of->mean))
        table_add_cell(t, of->count == 0 ? "" : sign ? "nan " : "nan");
    else if (fabs(of->mean) >= HUGE_LOSS)
        table_add_cell(t, sign ? "%+.3g " : "%.3g", of->mean);
    else if (of->deviation > 0)
        table_add_cell(t, sign ? "%+.*f ±%.*f%s" : "%.*f ±%.*f%s", decimals, scale * of->mean, decimals, margin, mark);
    else
        table_add_cell(t, sign ? "%+.*f%s" : "%.*f%s", decimals, scale * of->mean, mark);
}

static void add_value(const view *v, table *t, const comparison_group *group, int measure)
{
    const comparison_result *of = &group->of[measure];
    const bool share = v->c->measures[measure].share, interval = of->value.deviation > 0;
    if (share && interval)
        table_add_cell(t, "%.*f (%.1f-%.1f)", v->decimals[measure], 100 * of->value.mean, 100 * of->range.low,
                       100 * of->range.high);
    else
        add_mean(t, &of->value, share, v->decimals[measure], "");
    table_numbers(t, 3, (double[]){of->value.mean, interval ? of->range.low : NAN, interval ? of->range.high : NAN});
}

static void add_difference(const view *v, table *t, const comparison_group *group, int measure)
{
    const comparison_measure *m = &v->c->measures[measure];
    const comparison_result *of = &group->of[measure];
    const statistics_range range = statistics_interval(&of->difference);
    const double mean = of->difference.mean;
    const bool significant = (of->corrected < 0.05), interval = of->difference.deviation > 0;
    add_mean(t, &of->difference, m->share, v->decimals[measure], significant ? "*" : " ");
    table_numbers(t, 4, (double[]){mean, interval ? range.low : NAN, interval ? range.high : NAN, of->corrected});
    if (significant)
        table_set_mark(t, (mean > 0) == m->more_is_better ? TABLE_GOOD : TABLE_BAD, 0);
}

/* The number of pairs in which the group is better: "4/5". */
static void add_better(table *t, const comparison_group *group, const comparison_measure *m, int measure)
{
    const statistics_test *test = &group->of[measure].test;
    const int better = m->more_is_better ? test->greater : test->less;
    table_add_cell(t, group->pairs > 0 ? "%d/%d" : "", better, group->pairs);
    table_numbers(t, 2, (double[]){group->pairs > 0 ? better : NAN, group->pairs > 0 ? group->pairs : NAN});
}

static void add_step_time(table *t, double seconds)
{
    const double microseconds = 1e6 * seconds;
    table_add_cell(t, isnan(seconds) ? "" : "%.*f", microseconds < 10 ? 2 : microseconds < 100 ? 1 : 0, microseconds);
    table_numbers(t, 1, &microseconds);
}

static void add_parameters(table *t, long parameters)
{
    char digits[32], text[64];
    const int length = parameters > 0 ? snprintf(digits, sizeof digits, "%ld", parameters) : 0;
    int put = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[put++] = ',';
        text[put++] = digits[i];
    }
    text[put] = '\0';
    table_add_cell(t, "%s", text);
    table_numbers(t, 1, (double[]){parameters > 0 ? (double)parameters : NAN});
}

/* ---- columns ---- */

static void add_measure_columns(const view *v, table *t, const comparison_measure *m)
{
    char csv[256], title[64];
    snprintf(csv, sizeof csv, "%s,%s_low,%s_high", m->name, m->name, m->name);
    table_add_column(t, &(table_column){.name = m->title, .csv = csv, .meaning = m->meaning});
    if (!m->judged || v->count < 2)
        return;
    snprintf(csv, sizeof csv, "%s_difference,%s_difference_low,%s_difference_high,%s_p_corrected", m->name, m->name,
             m->name, m->name);
    const int length = (int)strlen(m->title);
    snprintf(title, sizeof title, "Δ %.*s ", m->share && length > 2 ? length - 2 : length,
             m->title); /* without the % */
    table_add_column(t, &(table_column){.name = title, .csv = csv});
}

static void add_columns(const view *v, table *t)
{
    const comparison *c = v->c;
    char better[256];
    table_add_column(t, &(table_column){.name = c->group});
    for (int m = 0; m < c->measure_count; m++)
        if (c->measures[m].title)
            add_measure_columns(v, t, &c->measures[m]);
    if (v->decides >= 0 && v->count > 1 && v->groups[1].pairs > 1) {
        snprintf(better, sizeof better, "%s with a better %s than %.*s", v->folds > 1 ? "folds" : "seeds",
                 c->measures[v->decides].words, SHORT(v->groups[0].name));
        table_add_column(t, &(table_column){.name = "better", .csv = "better,pairs", .meaning = better});
    }
    table_add_column(t, &(table_column){.name = "µs/step",
                                        .csv = "microseconds_per_step",
                                        .meaning = "microseconds of training for one step, validation left out"});
    table_add_column(t, &(table_column){.name = "parameters"});
}

static void add_row(const view *v, table *t, const comparison_group *group)
{
    const comparison *c = v->c;
    table_add_row(t);
    table_add_cell(t, "%s", group->name);
    for (int m = 0; m < c->measure_count; m++)
        if (c->measures[m].title) {
            add_value(v, t, group, m);
            if (c->measures[m].judged && v->count > 1)
                add_difference(v, t, group, m);
        }
    if (v->decides >= 0 && v->count > 1 && v->groups[1].pairs > 1)
        add_better(t, group, &c->measures[v->decides], v->decides);
    add_step_time(t, group->step_seconds);
    add_parameters(t, group->parameters);
}

/* ---- explanations of the columns ---- */

static const char *pairs_of(const view *v)
{
    return v->folds > 1 ? "folds" : "seeds";
}

static void add_meaning(const view *v, table *t)
{
    char values[64], difference[256] = "", star[128] = "";
    bool unfinished = false;
    for (int i = 0; i < v->count; i++)
        unfinished |= v->groups[i].unfinished > 0;
    snprintf(values, sizeof values, v->least == v->most ? "%d" : "%d to %d", v->least, v->most);
    if (v->judged == 1)
        snprintf(star, sizeof star, "; * significant at the 5 %% level (paired t test)");
    else if (v->judged > 1)
        snprintf(star, sizeof star, "; * significant at the 5 %% level among %d comparisons (paired t test, Holm)",
                 v->judged);
    if (v->most > 0 && v->count > 1)
        snprintf(difference, sizeof difference, " Δ: difference to %.*s, %s%s.", SHORT(v->groups[0].name),
                 v->folds > 1 ? "fold by fold" : "seed by seed", star);
    if (v->most > 1)
        table_add_note(t, "± and ( - ): 95 %% interval of the mean over %s %s.%s", values,
                       v->by_fold     ? "folds, which share most training samples"
                       : v->folds > 1 ? "folds of all seeds"
                                      : "seeds",
                       difference);
    else
        table_add_note(t, "%s%s",
                       v->most == 0 ? "No run has finished."
                       : unfinished ? "No two runs of one kind have finished: no intervals."
                                    : "One seed: no intervals.",
                       difference);
}

static void add_notes(const view *v, table *t)
{
    enum { TOO_FEW = 5 };
    add_meaning(v, t);
    if (v->count > 1 && v->least > 1 && v->least < TOO_FEW)
        table_add_note(t, "%d %s show large differences only: use ten or more for small ones.", v->least, pairs_of(v));
    if (v->c->note)
        table_add_note(t, "%s", v->c->note);
    for (int i = 0; i < v->count; i++) {
        const comparison_group *group = &v->groups[i];
        if (group->unfinished > 0)
            table_add_note(t, "%.*s: %d of %d run%s %s not finished and %s not counted.", SHORT(group->name),
                           group->unfinished, group->unfinished + group->runs, plural(group->unfinished + group->runs),
                           group->unfinished == 1 ? "has" : "have", group->unfinished == 1 ? "is" : "are");
    }
}

/* ---- conclusions ---- */

static void add_verdicts(const view *v, table *t)
{
    const comparison *c = v->c;
    for (int m = 0; m < c->measure_count && v->most > 0; m++)
        for (int i = 1; i < v->count && c->measures[m].judged; i++) {
            char sentence[VERDICT_SENTENCE];
            const comparison_result *of = &v->groups[i].of[m];
            verdict_write(&(verdict_facts){.name = v->groups[i].name,
                                           .against = v->groups[0].name,
                                           .measure = c->measures[m].words,
                                           .pairs = pairs_of(v),
                                           .share = c->measures[m].share,
                                           .difference = of->difference,
                                           .p = of->corrected,
                                           .comparisons = v->judged,
                                           .overlap = v->c->overlap},
                          sentence);
            table_add_verdict(t, "%s", sentence);
        }
}

/* Counts the runs of a group without a number for the judged measure, and those whose loss is no better than
 * guessing. */
static void count_failures(const view *v, const char *group, int *diverged, int *guessing)
{
    const comparison *c = v->c;
    *diverged = *guessing = 0;
    for (int i = 0; i < c->run_count; i++) {
        const comparison_run *run = &c->runs[i];
        bool number = true, learned = true;
        for (int m = 0; m < c->measure_count; m++)
            if (c->measures[m].judged) {
                number &= isfinite(run->values[m]);
                learned &= c->measures[m].share || c->chance == 0 || run->values[m] < 0.99 * c->chance;
            }
        if (run->finished && strcmp(run->group, group) == 0) {
            *diverged += !number;
            *guessing += number && !learned;
        }
    }
}

static void add_failure(const view *v, table *t, const comparison_group *group, int count, const char *what)
{
    if (count > 0)
        table_add_verdict(t, "Hint: %.*s %s in %d of %d run%s%s%s.", SHORT(group->name), what, count, group->runs,
                          plural(group->runs), v->c->remedy ? "; what helps: " : "", v->c->remedy ? v->c->remedy : "");
}

static void add_hints(const view *v, table *t)
{
    enum { FEW_SAMPLES = 100 };
    int finished = 0;
    for (int i = 0; i < v->count; i++) {
        int diverged, guessing;
        count_failures(v, v->groups[i].name, &diverged, &guessing);
        finished += v->groups[i].runs;
        add_failure(v, t, &v->groups[i], diverged, "diverged");
        add_failure(v, t, &v->groups[i], guessing, "was no better than guessing");
    }
    if (finished > 0 && 2 * v->c->still_falling > finished)
        table_add_verdict(t,
                          "Hint: the validation loss still fell in the last epochs of %d of %d runs: train longer "
                          "before you compare.",
                          v->c->still_falling, finished);
    if (v->c->test_samples > 0 && v->c->test_samples < FEW_SAMPLES)
        table_add_verdict(t,
                          "Hint: accuracy is measured on %d test samples, of which one is %.1f points: use more seeds "
                          "or folds, or judge by the loss.",
                          v->c->test_samples, 100. / v->c->test_samples);
}

/* ---- output ---- */

static void look(view *v)
{
    v->folds = 1;
    v->by_fold = true;
    v->least = INT_MAX;
    for (int i = 0; i < v->c->run_count; i++) {
        v->folds = v->c->runs[i].fold >= v->folds ? v->c->runs[i].fold + 1 : v->folds;
        v->by_fold &= v->c->runs[i].seed == v->c->runs[0].seed;
    }
    v->by_fold &= v->folds > 1;
    v->decides = -1;
    for (int m = v->c->measure_count - 1; m >= 0; m--) {
        v->decides = v->c->measures[m].judged ? m : v->decides;
        v->decimals[m] = decimals_of(v, m);
    }
    for (int i = 0; i < v->count; i++) {
        const int values = v->decides < 0 ? 0 : (int)v->groups[i].of[v->decides].value.count;
        v->least = values < v->least ? values : v->least;
        v->most = values > v->most ? values : v->most;
        for (int m = 0; m < v->c->measure_count; m++)
            v->judged += !isnan(v->groups[i].of[m].corrected);
    }
}

void comparison_print(const comparison *c, const char *format, FILE *out)
{
    view v = {.c = c};
    comparison_group *groups = comparison_groups(c, &v.count);
    v.groups = groups;
    if (v.count > 0) {
        table *t = table_new(1);
        look(&v);
        add_columns(&v, t);
        for (int i = 0; i < v.count; i++)
            add_row(&v, t, &groups[i]);
        add_verdicts(&v, t);
        add_hints(&v, t);
        add_notes(&v, t);
        table_print(t, format, out);
        table_free(t);
    }
    free(groups);
}
