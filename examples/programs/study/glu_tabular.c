/* study glu-tabular: the eight plain and gated forms of "GLU Variants Improve Transformer" (Shazeer, arXiv 2002.05202)
 * as hidden layers of small networks of equal size, on nine tables. */
#include "examples/programs/report/statistics.h"
#include "examples/programs/study/study.h"
#include "examples/programs/data/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RELU, GELU, SILU, GLU, BILINEAR, REGLU, GEGLU, SWIGLU, FORMS };
static const char *const forms[FORMS] = {"relu", "gelu_exact", "silu", "glu", "bilinear", "reglu", "geglu", "swiglu"};

/* Held-out log-perplexity of T5-base after 65,536 steps, in the same order; only the ranking is compared with it. */
static const double published[FORMS] = {1.997, 1.983, 1.994, 1.982, 1.960, 1.953, 1.942, 1.944};

/* Without and with a normalisation after each hidden layer: a stack of products is a polynomial, which is huge for
 * outliers. */
enum { SETTINGS = 2 };
static const struct {
    const char *norm, *says;
} settings[SETTINGS] = {{"none", "without normalisation"}, {"rms", "with an RMSNorm behind every hidden layer"}};

typedef struct results {
    const study_results *of;
    const char *says; /* of the setting */
    int tables;
    int seeds;                                     /* complete for all tables, forms and rates */
    double rate[STUDY_TABLES][FORMS];              /* the best */
    double test[FORMS][STUDY_TABLES][STUDY_SEEDS]; /* logarithms of the test losses there */
    double mean[STUDY_TABLES][FORMS];              /* geometric, of the test losses */
    ranks ranks;
} results;

typedef struct both {
    study_results of;
    results in[SETTINGS];
} both;

static const study_grid grid = {
    STUDY_ON_TABLES, .factors = {"activation=relu,gelu_exact,silu,glu,bilinear,reglu,geglu,swiglu", "norm=rms,none"},
    .rates = STUDY_TABLE_RATES, .seeds = 10};

static study_cell cell_of(const results *r, int set, int form, const char *norm, int seeds)
{
    char name[STUDY_NAME];
    snprintf(name, sizeof name, "%s-%s-%s", r->of->from.name[set], forms[form], norm);
    return study_cell_of(&r->of->work, name, seeds);
}

static void gather(results *r, const char *norm)
{
    r->tables = study_tables(r->of->c);
    r->seeds = STUDY_SEEDS;
    for (int set = 0; set < r->tables; set++)
        for (int f = 0; f < FORMS; f++) {
            const study_cell cell = cell_of(r, set, f, norm, 0);
            const int complete = study_cell_complete(&cell);
            r->seeds = complete < r->seeds ? complete : r->seeds;
        }
    for (int set = 0; set < r->tables && r->seeds > 1; set++)
        for (int f = 0; f < FORMS; f++) {
            const study_cell cell = cell_of(r, set, f, norm, r->seeds);
            r->rate[set][f] = cell.best;
            study_cell_losses(&cell, cell.best, r->test[f][set]);
            r->mean[set][f] = exp(statistics_of(r->test[f][set], (size_t)r->seeds).mean);
        }
    r->ranks = ranks_of(r->mean[0], r->tables, FORMS);
}

/* ---- tables ---- */

static void put_table(const results *r, sheet *s, const char *what, bool rates)
{
    char heading[120];
    snprintf(heading, sizeof heading, "%s, %s", what, r->says);
    sheet_heading(s, heading);
    sheet_table(s, 1, "table|measure");
    for (int f = 0; f < FORMS; f++)
        sheet_column(s, forms[f]);
    for (int set = 0; set < r->tables; set++) {
        const bool classes = r->of->from.source[set].data.task == DATASET_CLASSIFICATION;
        sheet_row(s, "%s|%s", r->of->from.name[set], rates ? "rate" : classes ? "log loss" : "squared error");
        for (int f = 0; f < FORMS; f++)
            sheet_cell(s, rates ? "%g" : "%.4f", rates ? r->rate[set][f] : r->mean[set][f]);
    }
    if (rates)
        return;
    sheet_row(s, "mean rank|");
    for (int f = 0; f < FORMS; f++)
        sheet_cell(s, "%.2f", r->ranks.mean[f]);
}

static void put_pairs(const results *r, sheet *s)
{
    static const int pairs[][2] = {{GELU, RELU},  {SILU, RELU},   {REGLU, RELU},
                                   {GEGLU, GELU}, {SWIGLU, GELU}, {SWIGLU, SILU}};
    char heading[80];
    snprintf(heading, sizeof heading, "Pairs, %s", r->says);
    sheet_heading(s, heading);
    sheet_text(s, "On how many tables the first has a lower or higher test loss, significant at the 5 %% level: t "
                  "tests of the logarithms, paired by seed, corrected by Holm's method for the number of tables; and "
                  "the geometric mean over tables and seeds of the ratio of their losses.");
    sheet_table(s, 1, "pair|lower|higher|no difference|ratio of losses");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const int form = pairs[i][0], other = pairs[i][1];
        const study_change c = study_change_of(r->test[form], r->test[other], r->tables, r->seeds);
        sheet_row(s, "%s less %s|%d|%d|%d|%.3f", forms[form], forms[other], c.lower, c.higher,
                  r->tables - c.lower - c.higher, exp(c.ratio.mean));
    }
}

/* ---- verdicts ---- */

static int by_rank(const results *r, int order[FORMS])
{
    for (int i = 0; i < FORMS; i++) {
        int at = i;
        for (; at > 0 && r->ranks.mean[order[at - 1]] > r->ranks.mean[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    int pairs = 0;
    for (int i = 0; i < FORMS; i++)
        for (int j = 0; j < i; j++)
            pairs += fabs(r->ranks.mean[i] - r->ranks.mean[j]) > r->ranks.critical;
    return pairs;
}

static void judge(const results *r, sheet *s)
{
    int order[FORMS], agree = 0;
    const int pairs = by_rank(r, order), all = FORMS * (FORMS - 1) / 2;
    for (int i = 0; i < FORMS; i++)
        for (int j = 0; j < i; j++)
            agree += (published[i] - published[j]) * (r->ranks.mean[i] - r->ranks.mean[j]) > 0;
    sheet_verdict(s,
                  "Networks %s: over %d table%s and %d seed%s %s has the best mean rank (%.2f) and %s the worst "
                  "(%.2f). Friedman's test: chi square %.2f, F %.2f, p = %.2g: %s. %d of %d pairs are farther apart "
                  "than the critical difference of %.2f (Nemenyi, 5 %%).",
                  r->says, r->ranks.sets, plural(r->ranks.sets), r->seeds, plural(r->seeds), forms[order[0]],
                  r->ranks.mean[order[0]], forms[order[FORMS - 1]], r->ranks.mean[order[FORMS - 1]],
                  r->ranks.chi_square, r->ranks.f, r->ranks.p,
                  r->ranks.p < 0.05 ? "the forms differ" : "no difference between the forms is shown", pairs, all,
                  r->ranks.critical);
    sheet_verdict(s, "Of the %d pairs, %d are in the order that Shazeer found for T5 (where chance would give half).",
                  all, agree);
}

/* ---- the picture ---- */

static void put_ranks(const results *r, FILE *to)
{
    int order[FORMS];
    by_rank(r, order);
    fprintf(to, "%s,critical,,1,%.6g\n", r->says, 1 + r->ranks.critical);
    for (int i = 0; i < FORMS; i++)
        fprintf(to, "%s,method,%s,%.6g,\n", r->says, forms[order[i]], r->ranks.mean[order[i]]);
    int reached = -1; /* skips groups within another group */
    for (int i = 0; i < FORMS; i++) {
        int last = i;
        while (last + 1 < FORMS && r->ranks.mean[order[last + 1]] - r->ranks.mean[order[i]] <= r->ranks.critical)
            last++;
        if (last > reached && last > i)
            fprintf(to, "%s,group,,%.6g,%.6g\n", r->says, r->ranks.mean[order[i]], r->ranks.mean[order[last]]);
        reached = last > reached ? last : reached;
    }
}

static bool write_ranks(const void *all, FILE *to)
{
    const both *b = all;
    fputs("setting,kind,name,from,to\n", to);
    for (int setting = 0; setting < SETTINGS; setting++)
        if (b->in[setting].seeds > 1)
            put_ranks(&b->in[setting], to);
    return true;
}

/* ---- the study ---- */

static void put_setting(const results *r, sheet *s)
{
    if (r->seeds < 2) {
        sheet_text(s, "Networks %s: two seeds of all forms must be complete before there is anything to compare.",
                   r->says);
        return;
    }
    put_table(r, s, "Test loss (geometric mean over the seeds)", false);
    put_pairs(r, s);
    put_table(r, s, "Rates chosen", true);
}

static void report(void *all, sheet *s)
{
    both *b = all;
    results *r = b->in;
    bool any = false;
    for (int setting = 0; setting < SETTINGS; setting++) {
        r[setting] = (results){.of = &b->of, .says = settings[setting].says};
        gather(&r[setting], settings[setting].norm);
        any |= r[setting].seeds > 1;
    }
    sheet_text(s,
               "Two hidden layers of 64, or for the gated forms narrower ones with as many parameters, as they are and "
               "with an RMSNorm behind each; Adam with a constant rate, the best of %d by the geometric mean of the "
               "validation loss for each table and form; about 3,000 steps; training, validation and test rows (60, 20 "
               "and 20 %%) drawn anew for each seed. The test loss is that of the epoch with the lowest validation "
               "loss: log loss of classes, squared error of standardised targets.",
               cell_of(r, 0, 0, "none", 0).rates);
    for (int setting = 0; setting < SETTINGS; setting++)
        if (r[setting].seeds > 1)
            judge(&r[setting], s);
    study_file(&b->of, "ranks.csv", write_ranks, b);
    if (any)
        study_picture(&b->of, s, "study_ranks.gp", "ranks.svg", "mean ranks of the forms and the critical difference");
    for (int setting = 0; setting < SETTINGS; setting++)
        put_setting(&r[setting], s);
}

const study study_glu_tabular = {
    .name = "glu-tabular",
    .about = "plain and gated forms on nine tables, equal parameters",
    .size = sizeof(both),
    .report = report,
    .title = "Plain and gated forms on tables, at equal parameters",
    .grids = &grid,
    .grid_count = 1,
};
