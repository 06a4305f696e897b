/* What the columns of a comparison mean, and how their intervals were computed. */
#include "examples/programs/data/advice.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/comparison_view.h"
#include "examples/programs/report/verdict.h"

enum { FEW_ROWS = 200 /* docs/comparing.md: intervals from fewer are too narrow */ };

/* True if a sentence is about these samples alone. */
static bool says_here(const comparison_view *v)
{
    bool here = false;
    for (int m = 0; m < v->c->measure_count && v->pair_count > 0; m++) {
        comparison_pair *pairs = comparison_speaks(v, m) ? comparison_pairs(v->c, v->groups, v->count, m) : NULL;
        for (int i = 0; pairs && i < v->pair_count; i++)
            here |= comparison_relation(&pairs[i]) & VERDICT_HERE && !(comparison_relation(&pairs[i]) & VERDICT_DIFFER);
        free(pairs);
    }
    return here;
}

/* ---- explanations of the columns ---- */

const char *comparison_pairs_word(const comparison_view *v)
{
    return v->folds ? "folds" : "seeds";
}

/* The split whose rows the runs have: "test" or, without one, "validation". */
const char *comparison_split_word(const comparison_view *v)
{
    bool validation = false;
    for (int m = 0; m < v->c->measure_count; m++) {
        const comparison_measure *of = &v->c->measures[m];
        validation |= !of->without_rows && of->words && strncmp(of->words, "validation", 10) == 0;
    }
    return validation ? "validation" : "test";
}

/* Measures of another split than the rows' have intervals by the seeds alone. */
static void add_without_rows(const comparison_view *v, table *t)
{
    for (int m = 0; m < v->c->measure_count; m++)
        if (v->c->measures[m].title && v->c->measures[m].without_rows)
            table_add_note(
                t, "Intervals of %s are by Student's t over the %s and do not allow for samples that they share.",
                v->c->measures[m].title, comparison_pairs_word(v));
}

/* Counts the runs with measures, and of these those with the values of their rows. */
static int count_measured(const comparison *c, int *with_rows)
{
    int measured = 0;
    *with_rows = 0;
    for (int i = 0; i < c->run_count; i++) {
        const runlog_run *run = &c->runs[i];
        measured += run->finished && (run->net.measured[RUNLOG_TEST] || run->net.measured[RUNLOG_VALIDATION]);
        *with_rows += run->finished && run->row_count > 0;
    }
    return measured;
}

/* Runs whose rows.csv is gone: of an older version, which did not record how many rows it had. */
static void add_lost_rows(const comparison_view *v, table *t)
{
    int with_rows;
    const int measured = count_measured(v->c, &with_rows);
    if (measured > with_rows)
        table_add_note(t,
                       "%d of %d runs have no rows.csv: intervals with them are by Student's t over the %s and do not "
                       "allow for samples that they share. Without their folders the same command trains them again.",
                       measured - with_rows, measured, comparison_pairs_word(v));
}

static void add_meaning(const comparison_view *v, table *t)
{
    int with_rows;
    count_measured(v->c, &with_rows);
    const bool redrawn = v->c->about.redrawn && !v->c->about.same_folds, rows = redrawn && with_rows > 0;
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
                       rows ? comparison_split_word(v) : "", rows ? " samples" : "",
                       v->by_fold ? "; folds share most training samples" : "");
    else
        table_add_note(t, "%s",
                       v->most == 0 ? "No run has finished."
                       : unfinished ? "No two runs of one kind have finished: no intervals."
                                    : "One seed: no intervals.");
    if (v->most > 1 && redrawn && v->c->about.rows > 0)
        add_lost_rows(v, t);
    if (v->most > 1 && redrawn && v->c->about.rows > 0 && v->c->about.rows < FEW_ROWS)
        table_add_note(
            t,
            "From fewer than %d %s, here %zu, such an interval may hold the truth in less than 95 %% of cases: from "
            "120 rows in %s.",
            FEW_ROWS, v->c->about.grouped ? "groups" : "rows", v->c->about.rows,
            v->c->about.class_names
                ? "85 to 99 %, least for AUC and F1, with many seeds, and where training sometimes fails"
                : "91 to 98 %");
    if (v->most > 1 && rows)
        add_without_rows(v, t);
    if (v->most > 1 && says_here(v))
        table_add_note(
            t,
            "\"On these samples\" means for other splits of them, by Student's t over the %s; all else is meant for "
            "other samples of their kind.",
            comparison_pairs_word(v));
    if (v->most > 0 && v->pairs)
        table_add_note(
            t, "Δ: difference to %.*s, %s%s%s.", SHORT(v->groups[0].name), v->folds ? "fold by fold" : "seed by seed",
            comparison_lacks_runs(v, v->pairs) ? ", where both have a run" : "",
            v->most < 2 ? ""
            : v->count > 2
                ? "; * significant: Student's t, at 5 % for all pairs of a measure together (Holm); intervals "
                  "are at 95 % for each pair alone"
                : "; * significant: Student's t, at 5 %");
}

/* How the intervals of a measure are computed. */
void comparison_add_method(const comparison_view *v, table *t, const comparison_measure *m)
{
    const comparison_about *about = &v->c->about;
    const char *of = about->grouped ? "group" : "sample", *scale = m->share ? ", of the mean on asin(sqrt(x))" : "",
               *training = about->fixed_test ? "1 + m / (N - m)" : "2";
    bool by_rows = false;
    for (int i = 0; i < v->c->run_count; i++)
        by_rows |= v->c->runs[i].finished && comparison_rows(&v->c->runs[i].net, m);
    if (about->redrawn && !about->same_folds && by_rows)
        table_add_note(t,
                       "Intervals of %s: Student's t with the variance of the seeds and the covariance of %s %ss "
                       "that seeds share, from the %s of each %s, as docs/comparing.md of tapegrad says, with f = "
                       "%s%s%s%s.",
                       m->words ? m->words : m->title, comparison_split_word(v), of,
                       m->influence ? "influence (infinitesimal jackknife)" : "value", of, training,
                       comparison_is_minimised(m) ? " for differences and 1.5 for means" : "",
                       about->fixed_test ? ", where m of N samples are tested" : "", scale);
    else
        table_add_note(t, "Intervals of %s: Student's t over the %s%s.", m->words ? m->words : m->title,
                       about->same_folds ? "folds" : comparison_pairs_word(v), scale);
}

/* "Equal within 5 % or 5 points": a margin is of losses a share, of shares a difference. */
static void add_margin(const comparison_view *v, table *t)
{
    const double margin = 100 * v->c->about.margin;
    char what[80] = "";
    for (int share = 0; share < 2; share++) {
        bool any = false;
        for (int m = 0; m < v->c->measure_count; m++)
            any |= comparison_speaks(v, m) && v->c->measures[m].share == share;
        if (any)
            text_add(what, sizeof what, "%s%g %s", *what ? " or " : "", margin,
                     !share        ? "%"
                     : margin == 1 ? "point"
                                   : "points");
    }
    table_add_note(t, "Equal within %s: two one-sided tests, at 5 %%%s.", what,
                   v->count > 2 ? " for all pairs of a measure together (Holm)" : "");
}

void comparison_add_notes(const comparison_view *v, table *t)
{
    enum { TOO_FEW = 5 };
    add_meaning(v, t);
    if (v->c->about.margin > 0 && v->pairs && v->most > 1)
        add_margin(v, t);
    if (v->pairs && v->least > 1 && v->least < TOO_FEW)
        table_add_note(t, "%d %s show large differences only: " ADVICE_TEN_SEEDS ".", v->least,
                       comparison_pairs_word(v));
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
