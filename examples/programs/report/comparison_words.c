/* What a comparison says: the answer, verdicts on pairs, failures and what helps against them. */
#include "examples/programs/data/advice.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/comparison_view.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/report/verdict.h"
#include "examples/programs/system/posix.h"

/* ---- conclusions ---- */

/* The pairs that are named: all, or if they are many, those with the first group, which come first. */
int comparison_named_pairs(const comparison_view *v)
{
    enum { MOST = 10 };
    return v->pair_count <= MOST ? v->pair_count : v->count - 1;
}

/* Other programs do not say that a run diverged, and have no constant prediction, which a run that diverged lacks. */
static bool is_ours(const comparison *c)
{
    bool ours = c->has_constant;
    for (int i = 0; i < c->run_count; i++)
        ours |= c->runs[i].diverged;
    return ours;
}

static void add_pair(const comparison_view *v, table *t, const comparison_pair *p, int measure)
{
    const comparison *c = v->c;
    const comparison_measure *m = &c->measures[measure];
    const char *name = v->groups[p->b].name, *against = v->groups[p->a].name;
    char sentence[VERDICT_SENTENCE];
    verdict_write(&(verdict_facts){.name = name,
                                   .against = against,
                                   .measure = m->words,
                                   .may_lack = m->influence || !is_ours(c),
                                   .pairs = comparison_pairs_word(v),
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

/* A measure on which single rows have less weight, if it is not shown: ", or judge by --measures test_mae", or nothing. */
static const char *milder_measure(const comparison *c)
{
    for (int m = 0; m < c->measure_count; m++)
        if (c->measures[m].title)
            continue;
        else if (strcmp(c->measures[m].name, "test_accuracy") == 0)
            return ", or judge by --measures test_accuracy";
        else if (strcmp(c->measures[m].name, "test_mae") == 0)
            return ", or judge by --measures test_mae";
    return "";
}

/* Groups of whose loss one row makes more than a quarter, and for their pairs the share of rows that were won. */
static void add_single_rows(const comparison_view *v, table *t, const comparison_pair pairs[], int count, int measure)
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

void comparison_add_verdicts(const comparison_view *v, table *t)
{
    for (int i = 0; i < comparison_named_pairs(v) && v->most > 0; i++)
        add_pair(v, t, &v->pairs[i], v->decides);
    if (v->most > 0 && v->decides >= 0)
        add_single_rows(v, t, v->pairs, comparison_named_pairs(v), v->decides);
    for (int m = v->decides + 1; m < v->c->measure_count && v->pairs && v->most > 0; m++) {
        if (!comparison_speaks(v, m))
            continue;
        comparison_pair *pairs = comparison_pairs(v->c, v->groups, v->count, m);
        for (int i = 0; i < comparison_named_pairs(v); i++) {
            const bool here = (comparison_relation(&pairs[i]) & (VERDICT_HERE | VERDICT_DIFFER)) == VERDICT_HERE;
            if (here || v->c->about.margin > 0) /* why not on others; whether they are equal */
                add_pair(v, t, &pairs[i], m);
        }
        add_single_rows(v, t, pairs, comparison_named_pairs(v), m);
        free(pairs);
    }
    if (comparison_named_pairs(v) < v->pair_count)
        table_add_verdict(t, "All %d pairs: %spairs.csv.", v->pair_count,
                          v->c->about.unwritten ? "--out FOLDER writes " : "");
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
static double sorted_by(const comparison_view *v, int measure, const comparison_pair *pairs, int group)
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
    return others && comparison_lacks_runs(v, pairs) ? sum / others : mean;
}

/* A name that is that of a column stays as it is: "mcc", not "Mcc". */
static char first_letter(const comparison_measure *m)
{
    return strcmp(m->words, m->name) == 0 ? *m->words : (char)toupper((unsigned char)*m->words);
}

/* The sentence on one measure; false if there is nothing to say. */
static bool write_answer(const comparison_view *v, int measure, const comparison_pair *pairs, char *answer, size_t size)
{
    const comparison_measure *m = &v->c->measures[measure];
    int count = 0; /* a group without a mean is not compared */
    for (int i = 0; i < v->count; i++)
        count += !isnan(v->groups[i].of[measure].value.mean);
    if (count < 2 || v->least < 2)
        return false;
    const bool lacks = comparison_lacks_runs(v, pairs);
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
        if (a >= count || b >= count)
            continue;
        of[(a < b ? a : b) * count + (a < b ? b : a)] = comparison_relation(p);
        ordered &= !lacks || !comparison_relation(p) ||
                   (a < b) == (m->more_is_better ? p->difference.mean < 0 : p->difference.mean > 0);
        if (!isnan(p->difference.mean)) {
            least = p->pairs < least ? p->pairs : least;
            most = p->pairs > most ? p->pairs : most;
        }
    }
    char sentence[VERDICT_SENTENCE] = "runs are missing, and pairs differ in their order: see them below", runs[32],
         without[400] = "";
    if (least == most)
        snprintf(runs, sizeof runs, "%d %s", least, comparison_pairs_word(v));
    else
        snprintf(runs, sizeof runs, "%d to %d %s", least, most, comparison_pairs_word(v));
    if (ordered)
        verdict_headline(names, of, count, runs, sentence);
    for (int i = count; i < v->count; i++)
        text_add(without, sizeof without, "%s%.*s", i > count ? list_joint(i - count, v->count - count) : ", without ",
                 SHORT(names[i]));
    snprintf(answer, size, "%c%.*s (%s is better), %s%s: %s.", first_letter(m), plain_length(m->words + 1, 64),
             m->words + 1, m->more_is_better ? "more" : "less", runs, without, sentence);
    free(order);
    free(names);
    free(of);
    free(place);
    return most > 1;
}

static void print_constant(const comparison_view *v, int measure, const char *format, FILE *out)
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

void comparison_print_answers(const comparison_view *v, const char *format, FILE *out)
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
        if (!comparison_speaks(v, m))
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
static void count_failures(const comparison_view *v, const char *group, int *diverged, int *constant, int *learned)
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

static bool is_lost(const comparison_about *about, const char *group)
{
    for (const char *const *lost = about->lost; lost && *lost; lost++)
        if (strcmp(*lost, group) == 0)
            return true;
    return false;
}

/* "was better than the constant prediction neither significantly in test accuracy nor in test loss": in what
 * comparison_has_learned compares. It asks of shares for more than chance explains. */
static void write_constant_failure(const comparison *c, char *text, size_t size)
{
    int known = 0;
    bool shares = true;
    for (int m = 0; m < c->measure_count; m++)
        if (comparison_is_beside_constant(c, m)) {
            known++;
            shares &= c->measures[m].share;
        }
    snprintf(text, size, "was %s than the constant prediction%s",
             known > 1 ? "better"
             : shares  ? "not significantly better"
                       : "no better",
             known > 1 ? " neither" : "");
    for (int m = 0, said = 0; m < c->measure_count; m++)
        if (comparison_is_beside_constant(c, m))
            text_add(text, size, "%s%s in %.*s", said++ ? " nor" : "",
                     known > 1 && c->measures[m].share ? " significantly" : "", SHORT(c->measures[m].words));
}

/* Runs that predict one class for all their test rows. */
static void add_only_answer(const comparison_view *v, table *t, const comparison_group *group)
{
    const char *name;
    const int runs = comparison_only_answer(v->c, group, &name);
    bool by_class = false;
    for (int m = 0; m < v->c->measure_count; m++)
        by_class |= v->c->measures[m].title && v->c->measures[m].influence && v->c->measures[m].share;
    if (runs > 0)
        table_add_verdict(t, "%.*s predicts %s%.*s for all %s samples in %d of %d run%s%s.", SHORT(group->name),
                          name ? "class " : "one class", SHORT(name ? name : ""), comparison_split_word(v), runs,
                          group->runs, plural(group->runs),
                          by_class ? ": its intervals of balanced accuracy and F1 are too narrow then" : "");
}

void comparison_add_hints(const comparison_view *v, table *t)
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
        const bool lost = is_lost(&v->c->about, v->groups[i].name);
        const char *remedy = lost ? NULL : v->c->about.remedy;
        add_failure(t, &v->groups[i], diverged,
                    lost            ? "diverged, as its formula is not finite everywhere,"
                    : is_ours(v->c) ? "diverged"
                                    : "diverged, or lacks a measure,",
                    remedy);
        /* where few runs learn anything, there may be nothing to be learned */
        add_failure(t, &v->groups[i], constant, no_better, 2 * learned > finished ? remedy : NULL);
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
        table_add_verdict(t, "Hint: %s is measured on %d test sample%s%s%s%s.", decides->words, v->c->test_samples,
                          plural(v->c->test_samples),
                          !redrawn || v->most < 2 ? ""
                          : v->folds              ? " in each fold"
                                                  : " in each seed",
                          points,
                          redrawn                  ? ": " ADVICE_MORE_SEEDS
                          : v->c->about.fixed_test ? ": " ADVICE_FOLDS
                                                   : "");
    }
}
