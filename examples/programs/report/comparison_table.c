/* A comparison as it is printed: the answer, a picture of the differences, the table, the pairs, and definitions. */
#include "examples/programs/data/advice.h"
#include "examples/programs/data/number.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/comparison_internal.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/report/table.h"
#include "examples/programs/report/verdict.h"
#include "examples/programs/system/posix.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_ROWS = 200 /* docs/comparing.md: intervals from fewer are too narrow */ };

typedef struct view {
    const comparison *c;
    const comparison_group *groups; /* [count] */
    int count;
    bool folds;     /* each seed has several */
    bool by_fold;   /* there is one seed, so its folds are the values */
    int decides;    /* the measure that decides which run is better: the first one that speaks; -1: none */
    int pair_count; /* of each judged measure */
    const comparison_pair *pairs; /* [pair_count], of the measure that decides */
    int least, most;              /* values of a group */
    int decimals[COMPARISON_MEASURES];
    const char *until[COMPARISON_MEASURES]; /* between the ends of an interval */
} view;

/* True if there are sentences on a measure: it is judged and shown, or judged if no such one is shown. */
static bool speaks(const view *v, int measure)
{
    bool shown = false;
    for (int m = 0; m < v->c->measure_count; m++)
        shown |= v->c->measures[m].judged && v->c->measures[m].title;
    return v->c->measures[measure].judged && (!shown || v->c->measures[measure].title);
}

/* What is known of a pair. What holds for other samples holds for these. Of equal forms one is better in all of five
 * seeds in 6 % of cases, in all of six in 3 %. */
static int relation_of(const comparison_pair *p)
{
    enum { LEAST = 6 };
    const bool agree = p->pairs >= LEAST && (p->test.greater == p->pairs || p->test.less == p->pairs);
    return (agree ? VERDICT_UNANIMOUS : 0) | (p->corrected < 0.05 ? VERDICT_DIFFER | VERDICT_HERE
                                              : p->here_p < 0.05  ? VERDICT_HERE
                                                                  : 0);
}

/* True if some pair has fewer runs than a group. */
static bool lacks_runs(const view *v, const comparison_pair *pairs)
{
    bool lacks = false;
    for (int i = 0; i < v->pair_count; i++)
        lacks |= pairs[i].pairs < v->most;
    return lacks;
}

/* ---- cells ---- */

/* The number of decimals that shows three significant digits of the smallest mean, and with up to two more also two of
 * the smallest margin. */
static int decimals_of(const view *v, int measure)
{
    enum { MOST = 6 };
    const comparison_measure *of = &v->c->measures[measure];
    double mean = INFINITY, margin = INFINITY;
    if (of->share)
        return 2;
    for (int i = 0; i < v->count; i++) {
        const statistics_estimate *value = &v->groups[i].of[measure].value;
        mean = fabs(value->mean) > 0 ? fmin(mean, fabs(value->mean)) : mean;
        margin = value->margin > 0 ? fmin(margin, value->margin) : margin;
    }
    if (!isfinite(mean))
        return 3;
    const double digits = 2 - floor(log10(mean)), more = isfinite(margin) ? 1 - floor(log10(margin)) : digits;
    if (digits > MOST)
        return NUMBER_TINY;
    return (int)fmax(mean < 1e5, fmin(MOST, fmin(digits + 2, fmax(digits, more))));
}

/* "0.33-0.56", but "-0.40 to 0.56" and "1e-05 to 3e-05", in the whole column. */
static const char *until_of(const view *v, int measure)
{
    bool word = v->decimals[measure] == NUMBER_TINY;
    for (int i = 0; i < v->count; i++) {
        const statistics_range *range = &v->groups[i].of[measure].range;
        word |= range->low < 0 || range->high >= 1e5;
    }
    return word ? " to " : "-";
}

static void add_value(const view *v, table *t, const comparison_group *group, int measure)
{
    const comparison_result *of = &group->of[measure];
    const bool share = v->c->measures[measure].share, interval = of->value.error > 0;
    const double scale = share ? 100 : 1, mean = scale * of->value.mean;
    const int decimals = v->decimals[measure], ends = share ? 1 : decimals;
    char number[3][NUMBER_TEXT];
    number_placed(mean, decimals, false, number[0]);
    if (of->value.count == 0 || isnan(mean))
        table_add_cell(t, of->value.count == 0 ? "" : "nan");
    else if (interval)
        table_add_cell(t, "%s (%s%s%s)", number[0], number_placed(scale * of->range.low, ends, false, number[1]),
                       v->until[measure], number_placed(scale * of->range.high, ends, false, number[2]));
    else
        table_add_cell(t, "%s", number[0]);
    table_numbers(t, 3, (double[]){of->value.mean, interval ? of->range.low : NAN, interval ? of->range.high : NAN});
}

/* The difference to the first group; of a loss also in percent of its loss. */
static void add_difference(const view *v, table *t, const comparison_group *group, int measure)
{
    const comparison_measure *m = &v->c->measures[measure];
    const comparison_result *of = &group->of[measure];
    const statistics_range range = statistics_interval(&of->difference);
    const double mean = of->difference.mean, base = v->groups[0].of[measure].value.mean;
    const bool significant = (of->corrected < 0.05), interval = of->difference.error > 0;
    const int decimals = v->decimals[measure];
    const char *mark = significant ? "*" : " ";
    char number[2][NUMBER_TEXT];
    number_placed((m->share ? 100 : 1) * mean, decimals, true, number[0]);
    if (of->difference.count == 0 || isnan(mean))
        table_add_cell(t, of->difference.count == 0 ? "" : "nan ");
    else if (m->share || !(base > 0))
        table_add_cell(t, "%s%s", number[0], mark);
    else
        table_add_cell(t, "%s (%s %%)%s", number[0], number_placed(100 * mean / base, 1, true, number[1]), mark);
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
    table_add_column(t, &(table_column){.name = m->title, .csv = csv, .meaning = m->meaning, .optional = m->spare});
    if (!m->judged || v->count < 2)
        return;
    snprintf(csv, sizeof csv, "%s_difference,%s_difference_low,%s_difference_high,%s_p_corrected", m->name, m->name,
             m->name, m->name);
    const int length = (int)strlen(m->title);
    snprintf(title, sizeof title, "Δ %.*s ", m->share && length > 2 ? length - 2 : length,
             m->title); /* without the % */
    table_add_column(t, &(table_column){.name = title, .csv = csv, .optional = m->spare});
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
        snprintf(better, sizeof better, "%s with a better %s than %.*s", v->folds ? "folds" : "seeds",
                 c->measures[v->decides].words, SHORT(v->groups[0].name));
        table_add_column(t, &(table_column){.name = "better", .csv = "better,pairs", .meaning = better});
    }
    table_add_column(t, &(table_column){.name = "µs/step",
                                        .csv = "microseconds_per_step",
                                        .meaning = "microseconds of training for one step, validation left out",
                                        .optional = true});
    table_add_column(t, &(table_column){.name = "parameters", .optional = true});
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

/* Of the constant prediction: its value of each measure that is shown. */
static void add_constant_row(const view *v, table *t)
{
    const comparison *c = v->c;
    table_add_row(t);
    table_add_cell(t, "constant");
    for (int m = 0; m < c->measure_count; m++) {
        if (!c->measures[m].title)
            continue;
        const comparison_group *from = comparison_with_constant(c, v->groups, v->count, m);
        const double mean = from ? from->over[m].constant.mean : NAN;
        char number[NUMBER_TEXT];
        number_placed((c->measures[m].share ? 100 : 1) * mean, v->decimals[m], false, number);
        table_add_cell(t, "%s", from ? number : "");
        table_numbers(t, 3, (double[]){mean, NAN, NAN});
        if (c->measures[m].judged && v->count > 1) {
            table_add_cell(t, "%s", "");
            table_numbers(t, 4, (double[]){NAN, NAN, NAN, NAN});
        }
    }
    if (v->decides >= 0 && v->count > 1 && v->groups[1].pairs > 1) {
        table_add_cell(t, "%s", "");
        table_numbers(t, 2, (double[]){NAN, NAN});
    }
    add_step_time(t, NAN);
    add_parameters(t, 0);
}

/* ---- explanations of the columns ---- */

/* True if a sentence is about these samples alone. */
static bool says_here(const view *v)
{
    bool here = false;
    for (int m = 0; m < v->c->measure_count && v->pair_count > 0; m++) {
        comparison_pair *pairs = speaks(v, m) ? comparison_pairs(v->c, v->groups, v->count, m) : NULL;
        for (int i = 0; pairs && i < v->pair_count; i++)
            here |= relation_of(&pairs[i]) & VERDICT_HERE && !(relation_of(&pairs[i]) & VERDICT_DIFFER);
        free(pairs);
    }
    return here;
}

static const char *pairs_of(const view *v)
{
    return v->folds ? "folds" : "seeds";
}

/* The split whose rows the runs have: "test" or, without one, "validation". */
static const char *split_of(const view *v)
{
    bool validation = false;
    for (int m = 0; m < v->c->measure_count; m++) {
        const comparison_measure *of = &v->c->measures[m];
        validation |= !of->without_rows && of->words && strncmp(of->words, "validation", 10) == 0;
    }
    return validation ? "validation" : "test";
}

/* Measures of another split than the rows' have intervals by the seeds alone. */
static void add_without_rows(const view *v, table *t)
{
    for (int m = 0; m < v->c->measure_count; m++)
        if (v->c->measures[m].title && v->c->measures[m].without_rows)
            table_add_note(
                t, "Intervals of %s are by Student's t over the %s and do not allow for samples that they share.",
                v->c->measures[m].title, pairs_of(v));
}

static void add_meaning(const view *v, table *t)
{
    const bool rows = v->c->about.redrawn && !v->c->about.same_folds && v->c->runs[0].row_count > 0;
    char values[64];
    bool unfinished = false;
    for (int i = 0; i < v->count; i++)
        unfinished |= v->groups[i].unfinished > 0;
    snprintf(values, sizeof values, v->least == v->most ? "%d" : "%d to %d", v->least, v->most);
    if (v->most > 1)
        table_add_note(t, "( - ): 95 %% interval of the mean over %s %s%s%s%s%s.", values,
                       v->by_fold ? "folds"
                       : v->folds ? "folds of all seeds"
                                  : "seeds",
                       !rows                 ? ""
                       : v->c->about.grouped ? " and their groups of "
                                             : " and their ",
                       rows ? split_of(v) : "", rows ? " samples" : "",
                       v->by_fold ? "; folds share most training samples" : "");
    else
        table_add_note(t, "%s",
                       v->most == 0 ? "No run has finished."
                       : unfinished ? "No two runs of one kind have finished: no intervals."
                                    : "One seed: no intervals.");
    if (v->most > 1 && v->c->about.redrawn && !v->c->about.same_folds && v->c->about.rows > 0 &&
        v->c->about.rows < FEW_ROWS)
        table_add_note(
            t,
            "From fewer than %d %s, here %zu, such an interval may hold the truth in less than 95 %% of cases: from "
            "120 "
            "rows in 85 to 99 %%, least for AUC and F1, with many seeds, and where training sometimes fails.",
            FEW_ROWS, v->c->about.grouped ? "groups" : "rows", v->c->about.rows);
    if (v->most > 1 && rows)
        add_without_rows(v, t);
    if (v->most > 1 && says_here(v))
        table_add_note(
            t,
            "\"On these samples\" means for other splits of them, by Student's t over the %s; all else is meant for "
            "other samples of their kind.",
            pairs_of(v));
    if (v->most > 0 && v->count > 1)
        table_add_note(
            t, "Δ: difference to %.*s, %s%s%s.", SHORT(v->groups[0].name), v->folds ? "fold by fold" : "seed by seed",
            v->pairs && lacks_runs(v, v->pairs) ? ", where both have a run" : "",
            v->most < 2 ? ""
            : v->count > 2
                ? "; * significant: Student's t, at 5 % for all pairs of a measure together (Holm); intervals "
                  "are at 95 % for each pair alone"
                : "; * significant: Student's t, at 5 %");
}

/* How the intervals of a measure are computed. */
static void add_method(const view *v, table *t, const comparison_measure *m)
{
    const comparison_about *about = &v->c->about;
    const char *of = about->grouped ? "group" : "sample", *scale = m->share ? ", of the mean on asin(sqrt(x))" : "",
               *training = about->fixed_test ? "1 + m / (N - m), m of N samples being tested" : "2";
    bool by_rows = false;
    for (int i = 0; i < v->c->run_count; i++)
        by_rows |= v->c->runs[i].finished && comparison_rows(&v->c->runs[i].net, m);
    if (about->redrawn && !about->same_folds && by_rows)
        table_add_note(t,
                       "Intervals of %s: Student's t with the variance of the seeds and the covariance of %s %ss "
                       "that seeds share, from the %s of each %s, as docs/comparing.md of tapegrad says, with f = "
                       "%s%s%s.",
                       m->words ? m->words : m->title, split_of(v), of,
                       m->influence ? "influence (infinitesimal jackknife)" : "value", of, training,
                       comparison_is_minimised(m) ? " for differences and 1.5 for means" : "", scale);
    else
        table_add_note(t, "Intervals of %s: Student's t over the %s%s.", m->words ? m->words : m->title,
                       about->same_folds ? "folds" : pairs_of(v), scale);
}

static void add_notes(const view *v, table *t)
{
    enum { TOO_FEW = 5 };
    add_meaning(v, t);
    if (v->c->about.margin > 0 && v->count > 1 && v->most > 1)
        table_add_note(t, "Equal within %g %%: two one-sided tests, at 5 %%%s.", 100 * v->c->about.margin,
                       v->count > 2 ? " for all pairs of a measure together (Holm)" : "");
    if (v->count > 1 && v->least > 1 && v->least < TOO_FEW)
        table_add_note(t, "%d %s show large differences only: " ADVICE_TEN_SEEDS ".", v->least, pairs_of(v));
    if (v->c->about.note)
        table_add_note(t, "%s", v->c->about.note);
    if (v->c->has_constant && v->c->constant && v->most > 0)
        table_add_note(t, "constant: %s, on the same test or validation rows.", v->c->constant);
    for (int i = 0; i < v->count; i++) {
        const comparison_group *group = &v->groups[i];
        if (group->unfinished > 0)
            table_add_note(t, "%.*s: %d of %d run%s %s not finished and %s not counted.", SHORT(group->name),
                           group->unfinished, group->unfinished + group->runs, plural(group->unfinished + group->runs),
                           group->unfinished == 1 ? "has" : "have", group->unfinished == 1 ? "is" : "are");
    }
}

/* ---- conclusions ---- */

/* The pairs that are named: all, or if they are many, those with the first group, which come first. */
static int named_pairs(const view *v)
{
    enum { MOST = 10 };
    return v->pair_count <= MOST ? v->pair_count : v->count - 1;
}

static void add_pair(const view *v, table *t, const comparison_pair *p, int measure)
{
    const comparison *c = v->c;
    const comparison_measure *m = &c->measures[measure];
    const char *name = v->groups[p->b].name, *against = v->groups[p->a].name;
    char sentence[VERDICT_SENTENCE];
    verdict_write(&(verdict_facts){.name = name,
                                   .against = against,
                                   .measure = m->words,
                                   .may_lack = m->influence,
                                   .pairs = pairs_of(v),
                                   .share = m->share,
                                   .more_is_better = m->more_is_better,
                                   .base = v->groups[p->a].of[measure].value.mean,
                                   .difference = p->difference,
                                   .better = m->more_is_better ? p->test.greater : p->test.less,
                                   .worse = m->more_is_better ? p->test.less : p->test.greater,
                                   .p = p->corrected,
                                   .here_p = p->here_p,
                                   .half = p->half,
                                   .samples = p->rows,
                                   .grouped = v->c->about.grouped,
                                   .margin = c->about.margin > 0 ? c->about.margin : COMPARISON_MARGIN,
                                   .equal_p = p->equal_p,
                                   .comparisons = v->pair_count},
                  sentence);
    table_add_verdict(t, "%s", sentence);
}

/* The row that has more than a quarter of a group's loss; its share is 0 if there is none, or there are so few rows that
 * some may well have. */
static struct comparison_heaviest heavy_row(const comparison_pair pairs[], int count, int group)
{
    enum { HEAVY = 4, ENOUGH = 20 };
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++)
            if ((k ? pairs[i].b : pairs[i].a) == group && pairs[i].rows >= ENOUGH &&
                HEAVY * pairs[i].heaviest[k].share > 1)
                return pairs[i].heaviest[k];
    return (struct comparison_heaviest){0};
}

/* A measure on which single rows have less weight: " (--measures test_mae)", or nothing. */
static const char *milder_measure(const comparison *c)
{
    for (int m = 0; m < c->measure_count; m++)
        if (strcmp(c->measures[m].name, "test_accuracy") == 0)
            return ", or judge by --measures test_accuracy";
        else if (strcmp(c->measures[m].name, "test_mae") == 0)
            return ", or judge by --measures test_mae";
    return "";
}

/* Groups of whose loss one row makes more than a quarter, and for their pairs the share of rows that were won. */
static void add_single_rows(const view *v, table *t, const comparison_pair pairs[], int count, int measure)
{
    const char *words = v->c->measures[measure].words;
    for (int g = 0; g < v->count; g++) {
        const struct comparison_heaviest row = heavy_row(pairs, count, g);
        if (row.share > 0)
            table_add_verdict(t,
                              "Row %lu of the data (from 0, as in rows.csv) makes %.0f %% of the %s of %.*s, so that "
                              "mean says little: " ADVICE_HEAVY_ROW "%s.",
                              (unsigned long)row.row, 100 * row.share, words, SHORT(v->groups[g].name),
                              milder_measure(v->c));
    }
    for (int i = 0; i < count; i++) {
        const comparison_pair *p = &pairs[i];
        const statistics_range range = statistics_interval(&p->rows_won);
        if ((heavy_row(p, 1, p->a).share > 0 || heavy_row(p, 1, p->b).share > 0) && p->rows_won.error > 0)
            table_add_verdict(t, "Of single samples, %.*s has less %s than %.*s on %.0f %% (%.0f to %.0f %%).",
                              SHORT(v->groups[p->b].name), words, SHORT(v->groups[p->a].name), 100 * p->rows_won.mean,
                              100 * fmax(0, range.low), 100 * fmin(1, range.high));
    }
}

static void add_verdicts(const view *v, table *t)
{
    for (int i = 0; i < named_pairs(v) && v->most > 0; i++)
        add_pair(v, t, &v->pairs[i], v->decides);
    if (v->most > 0)
        add_single_rows(v, t, v->pairs, named_pairs(v), v->decides);
    for (int m = v->decides + 1; m < v->c->measure_count && v->pairs && v->most > 0; m++) {
        if (!speaks(v, m))
            continue;
        comparison_pair *pairs = comparison_pairs(v->c, v->groups, v->count, m);
        for (int i = 0; i < named_pairs(v); i++) {
            const bool here = (relation_of(&pairs[i]) & (VERDICT_HERE | VERDICT_DIFFER)) == VERDICT_HERE;
            if (here || v->c->about.margin > 0) /* why not on others; whether they are equal */
                add_pair(v, t, &pairs[i], m);
        }
        add_single_rows(v, t, pairs, named_pairs(v), m);
        free(pairs);
    }
    if (named_pairs(v) < v->pair_count)
        table_add_verdict(t, "All %d pairs: pairs.csv.", v->pair_count);
}

/* ---- the answer: all groups in a sentence ---- */

typedef struct ranked {
    int group;
    double mean; /* smaller is better; a NaN is worst */
} ranked;

static int by_mean(const void *a, const void *b)
{
    const double x = ((const ranked *)a)->mean, y = ((const ranked *)b)->mean;
    return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

/* What a group is sorted by. Means over different seeds may be in another order than the differences on those that both
 * have: where runs are missing, the mean difference to the other groups. */
static double sorted_by(const view *v, int measure, const comparison_pair *pairs, int group)
{
    const double mean = v->groups[group].of[measure].value.mean;
    double sum = 0;
    int others = 0;
    for (int i = 0; i < v->pair_count && !isnan(mean); i++) {
        const comparison_pair *p = &pairs[i];
        if ((p->a != group && p->b != group) || isnan(p->difference.mean))
            continue;
        sum += p->b == group ? p->difference.mean : -p->difference.mean;
        others++;
    }
    return others && lacks_runs(v, pairs) ? sum / others : mean;
}

/* The sentence on one measure; false if there is nothing to say. */
static bool write_answer(const view *v, int measure, const comparison_pair *pairs, char *answer, size_t size)
{
    const comparison_measure *m = &v->c->measures[measure];
    if (v->count < 2 || v->least < 2)
        return false;
    const bool lacks = lacks_runs(v, pairs);
    ranked *order = memory_checked(calloc((size_t)v->count, sizeof *order));
    const char **names = memory_checked(calloc((size_t)v->count, sizeof *names));
    int *of = memory_checked(calloc((size_t)(v->count * v->count), sizeof *of));
    int *place = memory_checked(calloc((size_t)v->count, sizeof *place)), least = INT_MAX, most = 0;
    bool ordered = true;
    for (int i = 0; i < v->count; i++)
        order[i] = (ranked){i, (m->more_is_better ? -1 : 1) * sorted_by(v, measure, pairs, i)};
    system_sort(order, (size_t)v->count, sizeof *order, by_mean);
    for (int i = 0; i < v->count; i++) {
        names[i] = v->groups[order[i].group].name;
        place[order[i].group] = i;
    }
    for (int i = 0; i < v->pair_count; i++) {
        const comparison_pair *p = &pairs[i];
        const int a = place[p->a], b = place[p->b];
        of[(a < b ? a : b) * v->count + (a < b ? b : a)] = relation_of(p);
        ordered &= !lacks || !relation_of(p) ||
                   (a < b) == (m->more_is_better ? p->difference.mean < 0 : p->difference.mean > 0);
        if (!isnan(p->difference.mean)) {
            least = p->pairs < least ? p->pairs : least;
            most = p->pairs > most ? p->pairs : most;
        }
    }
    char sentence[VERDICT_SENTENCE] = "runs are missing, and pairs differ in their order: see them below", runs[32];
    if (least == most)
        snprintf(runs, sizeof runs, "%d %s", least, pairs_of(v));
    else
        snprintf(runs, sizeof runs, "%d to %d %s", least, most, pairs_of(v));
    if (ordered)
        verdict_headline(names, of, v->count, runs, sentence);
    snprintf(answer, size, "%c%.*s (%s is better), %s: %s.", toupper((unsigned char)*m->words),
             plain_length(m->words + 1, 64), m->words + 1, m->more_is_better ? "more" : "less", runs, sentence);
    free(order);
    free(names);
    free(of);
    free(place);
    return most > 1;
}

static void print_constant(const view *v, int measure, const char *format, FILE *out)
{
    char said[800], sentence[1000];
    const char *words = v->c->measures[measure].words;
    *said = '\0';
    if (v->least > 1)
        comparison_say_constant(v->c, v->groups, v->count, measure, v->decimals[measure], said, sizeof said);
    snprintf(sentence, sizeof sentence, "%c%.*s: %s.", toupper((unsigned char)*words), plain_length(words + 1, 64),
             words + 1, said);
    if (*said)
        table_print_sentence(sentence, true, format, out);
}

static void print_answers(const view *v, const char *format, FILE *out)
{
    char answer[2 * VERDICT_SENTENCE];
    for (int m = 0; m < v->c->measure_count; m++) {
        const char *words = v->c->measures[m].words;
        if (v->c->measures[m].undirected && v->count > 1) {
            snprintf(answer, sizeof answer,
                     "%.*s: no verdict. Its name does not say whether more is better: " ADVICE_DIRECTION ".",
                     SHORT(words), SHORT(words), SHORT(words));
            table_print_sentence(answer, true, format, out);
        }
        if (!speaks(v, m))
            continue;
        print_constant(v, m, format, out);
        comparison_pair *pairs = m == v->decides ? NULL : comparison_pairs(v->c, v->groups, v->count, m);
        if (write_answer(v, m, pairs ? pairs : v->pairs, answer, sizeof answer))
            table_print_sentence(answer, true, format, out);
        free(pairs);
    }
}

/* Counts the runs of a group that diverged (those of other programs: without a number for the judged measures), those
 * that have learned nothing, and those that surely have learned. A run that has not diverged may have no R2. */
static void count_failures(const view *v, const char *group, int *diverged, int *constant, int *learned)
{
    const comparison *c = v->c;
    *diverged = *constant = 0;
    for (int i = 0; i < c->run_count; i++) {
        const runlog_run *run = &c->runs[i];
        bool number = !run->diverged;
        for (int m = 0; m < c->measure_count; m++)
            number &= !c->measures[m].judged || c->measures[m].influence ||
                      isfinite(comparison_value(&run->net, &c->measures[m]));
        if (run->finished && strcmp(run->group, group) == 0) {
            *diverged += !number;
            *constant += number && !comparison_has_learned(c, run, false);
            *learned += number && comparison_has_learned(c, run, true);
        }
    }
}

static void add_failure(table *t, const comparison_group *group, int count, const char *what, const char *remedy)
{
    if (count > 0)
        table_add_verdict(t, "Hint: %.*s %s in %d of %d run%s%s%s.", SHORT(group->name), what, count, group->runs,
                          plural(group->runs), remedy ? "; what helps: " : "", remedy ? remedy : "");
}

/* "was better than the constant prediction neither in test accuracy nor in test loss": in what comparison_has_learned
 * compares. */
static void write_constant_failure(const comparison *c, char *text, size_t size)
{
    int known = 0;
    for (int m = 0; m < c->measure_count; m++)
        known += comparison_is_beside_constant(c, m);
    snprintf(text, size, "was %s than the constant prediction%s", known == 1 ? "no better" : "better",
             known == 1 ? "" : " neither");
    for (int m = 0, said = 0; m < c->measure_count; m++)
        if (comparison_is_beside_constant(c, m))
            snprintf(text + strlen(text), size - strlen(text), "%s in %.*s", said++ ? " nor" : "",
                     SHORT(c->measures[m].words));
}

/* Runs that predict one class for all their test rows. */
static void add_only_answer(const view *v, table *t, const comparison_group *group)
{
    const char *name;
    const int runs = comparison_only_answer(v->c, group, &name);
    bool by_class = false;
    for (int m = 0; m < v->c->measure_count; m++)
        by_class |= v->c->measures[m].title && v->c->measures[m].influence && v->c->measures[m].share;
    if (runs > 0)
        table_add_verdict(t, "%.*s predicts %s%.*s for all %s samples in %d of %d run%s%s.", SHORT(group->name),
                          name ? "class " : "one class", SHORT(name ? name : ""), split_of(v), runs, group->runs,
                          plural(group->runs),
                          by_class ? ": its intervals of balanced accuracy and F1 are too narrow then" : "");
}

static void add_hints(const view *v, table *t)
{
    enum { FEW_SAMPLES = 100 };
    int finished = 0, learned = 0, diverged, constant, ignored = 0;
    char no_better[512];
    write_constant_failure(v->c, no_better, sizeof no_better);
    for (int i = 0; i < v->count; i++) {
        count_failures(v, v->groups[i].name, &diverged, &constant, &learned);
        finished += v->groups[i].runs;
    }
    for (int i = 0; i < v->count; i++) {
        count_failures(v, v->groups[i].name, &diverged, &constant, &ignored);
        add_failure(t, &v->groups[i], diverged, "diverged", v->c->about.remedy);
        /* where few runs learn anything, there may be nothing to be learned */
        add_failure(t, &v->groups[i], constant, no_better, 2 * learned > finished ? v->c->about.remedy : NULL);
        add_only_answer(v, t, &v->groups[i]);
    }
    if (finished > 0 && 2 * v->c->still_falling > finished)
        table_add_verdict(
            t, "Hint: the validation loss still fell in the last epochs of %d of %d run%s: " ADVICE_TRAIN_LONGER ".",
            v->c->still_falling, finished, plural(finished), 2 * v->c->epochs);
    const comparison_measure *decides = v->decides >= 0 ? &v->c->measures[v->decides] : NULL;
    const bool redrawn = v->c->about.redrawn && !v->c->about.fixed_test;
    if (v->c->test_samples > 0 && v->c->test_samples * (redrawn ? v->most : 1) < FEW_SAMPLES && decides &&
        decides->share) {
        char points[48] = ""; /* a row is so many of no other measure */
        if (!decides->influence && !v->c->about.weighted)
            snprintf(points, sizeof points, ", of which one is %.1f points", 100. / v->c->test_samples);
        table_add_verdict(t, "Hint: %s is measured on %d test sample%s%s%s.", decides->words, v->c->test_samples,
                          plural(v->c->test_samples), points,
                          redrawn                  ? ": " ADVICE_MORE_SEEDS
                          : v->c->about.fixed_test ? ": " ADVICE_FOLDS
                                                   : "");
    }
}

/* ---- output ---- */

static void look(view *v)
{
    v->by_fold = true;
    v->least = INT_MAX;
    for (int i = 0; i < v->c->run_count; i++) {
        v->folds |= v->c->runs[i].fold != v->c->runs[0].fold;
        v->by_fold &= v->c->runs[i].seed == v->c->runs[0].seed;
    }
    v->by_fold &= v->folds;
    v->decides = -1;
    for (int m = v->c->measure_count - 1; m >= 0; m--) {
        v->decides = speaks(v, m) ? m : v->decides;
        v->decimals[m] = decimals_of(v, m);
        v->until[m] = until_of(v, m);
    }
    for (int i = 0; i < v->count; i++) {
        const int values = (int)v->groups[i].of[v->decides < 0 ? 0 : v->decides].value.count;
        v->least = values < v->least ? values : v->least;
        v->most = values > v->most ? values : v->most;
    }
}

/* What is printed, to be freed with end_view. */
static view begin_view(const comparison *c)
{
    view v = {.c = c};
    v.groups = comparison_groups(c, &v.count);
    look(&v);
    v.pair_count = v.decides >= 0 && v.count > 1 ? v.count * (v.count - 1) / 2 : 0;
    v.pairs = v.pair_count ? comparison_pairs(c, v.groups, v.count, v.decides) : NULL;
    return v;
}

static void end_view(const view *v)
{
    free((void *)(uintptr_t)v->groups);
    free((void *)(uintptr_t)v->pairs);
}

static table *table_of(const view *v)
{
    table *t = table_new(1);
    add_columns(v, t);
    for (int i = 0; i < v->count; i++)
        add_row(v, t, &v->groups[i]);
    if (v->c->has_constant && v->most > 0)
        add_constant_row(v, t);
    return t;
}

void comparison_print_results(const comparison *c, const char *format, FILE *out)
{
    const view v = begin_view(c);
    if (v.count > 0) {
        table *t = table_of(&v), *conclusions = table_new(0);
        print_answers(&v, format, out);
        if (v.pairs && v.most > 1)
            comparison_print_picture(&(comparison_picture){c, v.groups, v.pairs, named_pairs(&v), v.decides}, format,
                                     out);
        fputs(strcmp(format, "markdown") == 0 ? "\n" : "", out); /* or it were text of the list above */
        table_print_rows(t, format, out);
        add_hints(&v, conclusions);
        add_verdicts(&v, conclusions);
        table_print_notes(conclusions, format, out);
        table_free(conclusions);
        table_free(t);
    }
    end_view(&v);
}

void comparison_print_definitions(const comparison *c, const char *format, FILE *out)
{
    const view v = begin_view(c);
    if (v.count > 0) {
        table *t = table_of(&v);
        add_notes(&v, t);
        for (int m = 0; m < c->measure_count && v.most > 1 && strcmp(format, "methods") == 0; m++)
            if (c->measures[m].title)
                add_method(&v, t, &c->measures[m]);
        table_print_notes(t, format, out);
        table_free(t);
    }
    end_view(&v);
}

void comparison_print(const comparison *c, const char *format, FILE *out)
{
    comparison_print_results(c, format, out);
    comparison_print_definitions(c, format, out);
}
