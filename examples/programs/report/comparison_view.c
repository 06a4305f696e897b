/* What is known of a comparison before it is printed, and its parts in their order. */
#include "examples/programs/data/number.h"
#include "examples/programs/report/comparison_view.h"
#include "examples/programs/report/verdict.h"

bool comparison_speaks(const comparison_view *v, int measure)
{
    bool shown = false;
    for (int m = 0; m < v->c->measure_count; m++)
        shown |= v->c->measures[m].judged && v->c->measures[m].title;
    return v->c->measures[measure].judged && (!shown || v->c->measures[measure].title);
}

/* Of equal forms one is better in all of five seeds in 6 % of cases, in all of six in 3 %. Programs whose seed has no
 * effect have the same difference in all seeds. It is chance in 3 % of cases with three seeds and forms that differ by
 * one sample in half of them. */
int comparison_relation(const comparison_pair *p)
{
    enum { LEAST = 6, LEAST_SAME = 3 };
    const bool same = p->difference.error == 0 && p->difference.mean != 0;
    const bool agree =
        p->pairs >= (same ? LEAST_SAME : LEAST) && (p->test.greater == p->pairs || p->test.less == p->pairs);
    return (agree ? VERDICT_UNANIMOUS : 0) | (p->corrected < 0.05 ? VERDICT_DIFFER | VERDICT_HERE
                                              : p->here_p < 0.05  ? VERDICT_HERE
                                                                  : 0);
}

bool comparison_lacks_runs(const comparison_view *v, const comparison_pair *pairs)
{
    bool lacks = false;
    for (int i = 0; i < v->pair_count; i++)
        lacks |= pairs[i].pairs < v->most;
    return lacks;
}

/* The number of decimals that shows three significant digits of the smallest mean, and with up to two more also two of
 * the smallest margin; not more than three of that margin, which is far larger than an R2 near 0. */
static int decimals_of(const comparison_view *v, int measure)
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
    const double of_mean = 2 - floor(log10(mean)), more = isfinite(margin) ? 1 - floor(log10(margin)) : of_mean,
                 digits = fmin(of_mean, more + 1);
    if (digits > MOST)
        return NUMBER_TINY;
    return (int)fmax(mean < 1e5, fmin(MOST, fmin(digits + 2, fmax(digits, more))));
}

/* "0.33-0.56", but "-0.40 to 0.56" and "1e-05 to 3e-05", in the whole column. */
static const char *until_of(const comparison_view *v, int measure)
{
    bool word = v->decimals[measure] == NUMBER_TINY;
    for (int i = 0; i < v->count; i++) {
        const statistics_range *range = &v->groups[i].of[measure].range;
        word |= range->low < 0 || range->high >= 1e5;
    }
    return word ? " to " : "-";
}

static void look(comparison_view *v)
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
        v->decides = comparison_speaks(v, m) ? m : v->decides;
        v->decimals[m] = decimals_of(v, m);
        v->until[m] = until_of(v, m);
    }
    for (int i = 0; i < v->count; i++) {
        const int values = (int)v->groups[i].of[v->decides < 0 ? 0 : v->decides].value.count;
        v->least = values < v->least ? values : v->least;
        v->most = values > v->most ? values : v->most;
    }
}

static comparison_view begin(const comparison *c)
{
    comparison_view v = {.c = c};
    v.groups = comparison_groups(c, &v.count);
    look(&v);
    v.pair_count = v.decides >= 0 && v.count > 1 ? v.count * (v.count - 1) / 2 : 0;
    v.pairs = v.pair_count ? comparison_pairs(c, v.groups, v.count, v.decides) : NULL;
    return v;
}

static void end(const comparison_view *v)
{
    free((void *)(uintptr_t)v->groups);
    free((void *)(uintptr_t)v->pairs);
}

/* ---- the answer, a picture of the differences, the table, the pairs, and definitions ---- */

void comparison_print_results(const comparison *c, const char *format, FILE *out)
{
    const comparison_view v = begin(c);
    if (v.count > 0) {
        table *t = comparison_cells(&v), *conclusions = table_new(0);
        comparison_print_answers(&v, format, out);
        if (v.pairs && v.most > 1)
            comparison_print_picture(&(comparison_picture){c, v.groups, v.pairs, comparison_named_pairs(&v), v.decides},
                                     format, out);
        fputs(strcmp(format, "markdown") == 0 ? "\n" : "", out); /* or it were text of the list above */
        table_print_rows(t, format, out);
        comparison_add_hints(&v, conclusions);
        comparison_add_verdicts(&v, conclusions);
        table_print_notes(conclusions, format, out);
        table_free(conclusions);
        table_free(t);
    }
    end(&v);
}

void comparison_print_definitions(const comparison *c, const char *format, FILE *out)
{
    const comparison_view v = begin(c);
    if (v.count > 0) {
        table *t = comparison_cells(&v);
        comparison_add_notes(&v, t);
        for (int m = 0; m < c->measure_count && v.most > 1 && strcmp(format, "methods") == 0; m++)
            if (c->measures[m].title)
                comparison_add_method(&v, t, &c->measures[m]);
        table_print_notes(t, format, out);
        table_free(t);
    }
    end(&v);
}

void comparison_print(const comparison *c, const char *format, FILE *out)
{
    comparison_print_results(c, format, out);
    comparison_print_definitions(c, format, out);
}
