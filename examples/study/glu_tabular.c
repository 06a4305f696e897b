/* study glu-tabular: the eight plain and gated forms of "GLU Variants Improve Transformer" (Shazeer, arXiv 2002.05202)
 * as hidden layers of small networks of equal size, on nine tables. */
#include "examples/report/statistics.h"
#include "examples/study/tabular.h"
#include "examples/data/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FORMS = 8 };
static const tg_activation forms[FORMS] = {TG_RELU,     TG_GELU_EXACT, TG_SILU,  TG_GLU,
                                           TG_BILINEAR, TG_REGLU,      TG_GEGLU, TG_SWIGLU};

/* Held-out log-perplexity of T5-base after 65,536 steps, in the same order; only the ranking is compared with it. */
static const double published[FORMS] = {1.997, 1.983, 1.994, 1.982, 1.960, 1.953, 1.942, 1.944};

/* Without and with a normalisation after each hidden layer: a stack of products is a polynomial, which is huge for
 * outliers. */
enum { SETTINGS = 2 };
static const struct {
    tg_norm norm;
    const char *says;
} settings[SETTINGS] = {{TG_NORM_NONE, "without normalisation"},
                        {TG_NORM_RMS, "with an RMSNorm behind every hidden layer"}};

typedef struct results {
    const study_results *of;
    const tabular_grids *tables;
    int setting, seeds;
    int count, form[FORMS];                        /* the compared forms, in this order */
    double rate[STUDY_TABLES][FORMS];              /* the best */
    double test[FORMS][STUDY_TABLES][STUDY_SEEDS]; /* logarithms of the test losses there */
    double mean[STUDY_TABLES][FORMS];              /* geometric, of the test losses */
    ranks ranks;
} results;

typedef struct both {
    study_results of;
    tabular_grids tables;
    results in[SETTINGS];
} both;

static const study_grid like = {
    .factors = {"activation=relu,gelu_exact,silu,glu,bilinear,reglu,geglu,swiglu", "norm=rms,none"},
    .rates = {TABULAR_RATE_LIST},
    .seeds = 10};

/* The number of seeds of a form that are complete in a setting for all sets and rates. */
static int complete_seeds(const study_work *work, int setting, int form, int seeds)
{
    int complete = seeds;
    for (int i = 0; i < work->count; i++) {
        const run_spec *run = &work->run[i].spec;
        if (strcmp(run->net.norm, tg_norm_name(settings[setting].norm)) == 0 &&
            strcmp(run->net.activation, tg_activation_name(forms[form])) == 0 && run->seed <= complete &&
            !study_record_complete(&work->record[i], run->epochs))
            complete = run->seed - 1;
    }
    return complete;
}

/* Chooses all forms, with the seeds that are complete for all of them; until there are two such seeds, the forms with
 * the most complete seeds. */
static void choose_forms(results *r, int seeds)
{
    int complete[FORMS], least = seeds, most = 0;
    for (int f = 0; f < FORMS; f++) {
        complete[f] = complete_seeds(&r->of->work, r->setting, f, seeds);
        least = complete[f] < least ? complete[f] : least;
        most = complete[f] > most ? complete[f] : most;
    }
    r->seeds = least > 1 ? least : most;
    for (int f = 0; f < FORMS; f++)
        if (complete[f] >= r->seeds)
            r->form[r->count++] = f;
    if (r->seeds < 2 || r->count < 2)
        r->seeds = r->count = 0;
}

static const char *form_name(const results *r, int i)
{
    return tg_activation_name(forms[r->form[i]]);
}

/* The index of an activation among those compared; -1 if it is not. */
static int place_of(const results *r, tg_activation activation)
{
    for (int i = 0; i < r->count; i++)
        if (forms[r->form[i]] == activation)
            return i;
    return -1;
}

static void gather(results *r)
{
    double table[STUDY_TABLES * FORMS];
    for (int set = 0; set < r->tables->count; set++)
        for (int i = 0; i < r->count; i++) {
            char name[40];
            snprintf(name, sizeof name, "%s-%s", form_name(r, i), tg_norm_name(settings[r->setting].norm));
            const study_cell cell = tabular_cell(&r->of->work, r->tables, set, name, r->seeds);
            r->rate[set][i] = cell.best;
            study_cell_losses(&cell, cell.best, r->test[i][set]);
            r->mean[set][i] = cell.best > 0 ? exp(statistics_of(r->test[i][set], (size_t)r->seeds).mean) : NAN;
            table[set * r->count + i] = r->mean[set][i];
        }
    r->ranks = ranks_of(table, r->tables->count, r->count);
}

/* ---- tables ---- */

static void put_table(const results *r, sheet *s, const char *what, bool rates)
{
    char heading[120];
    snprintf(heading, sizeof heading, "%s, %s", what, settings[r->setting].says);
    sheet_heading(s, heading);
    sheet_table(s, 1, "table|measure");
    for (int f = 0; f < r->count; f++)
        sheet_column(s, form_name(r, f));
    for (int set = 0; set < r->tables->count; set++) {
        const bool classes = r->of->from.rows[set].task == DATASET_CLASSIFICATION;
        sheet_row(s, "%s|%s", r->of->from.name[set], rates ? "rate" : classes ? "log loss" : "squared error");
        for (int f = 0; f < r->count; f++)
            sheet_cell(s, rates ? "%g" : "%.4f", rates ? r->rate[set][f] : r->mean[set][f]);
    }
    if (rates)
        return;
    sheet_row(s, "mean rank|");
    for (int f = 0; f < r->count; f++)
        sheet_cell(s, "%.2f", r->ranks.mean[f]);
}

static void put_pair(const results *r, sheet *s, tg_activation first, tg_activation second)
{
    const int form = place_of(r, first), other = place_of(r, second), tables = r->tables->count;
    if (form < 0 || other < 0)
        return;
    const tabular_change c = tabular_change_of(r->test[form], r->test[other], tables, r->seeds);
    sheet_row(s, "%s less %s|%d|%d|%d|%.3f", tg_activation_name(first), tg_activation_name(second), c.lower, c.higher,
              tables - c.lower - c.higher, exp(c.ratio.mean));
}

static void put_pairs(const results *r, sheet *s)
{
    char heading[80];
    snprintf(heading, sizeof heading, "Pairs, %s", settings[r->setting].says);
    sheet_heading(s, heading);
    sheet_text(s, "On how many tables the first has a lower or higher test loss, significant at the 5 %% level: t "
                  "tests of the logarithms, paired by seed, corrected by Holm's method for the number of tables; and "
                  "the geometric mean over tables and seeds of the ratio of their losses.");
    sheet_table(s, 1, "pair|lower|higher|no difference|ratio of losses");
    put_pair(r, s, TG_GELU_EXACT, TG_RELU);
    put_pair(r, s, TG_SILU, TG_RELU);
    put_pair(r, s, TG_REGLU, TG_RELU);
    put_pair(r, s, TG_GEGLU, TG_GELU_EXACT);
    put_pair(r, s, TG_SWIGLU, TG_GELU_EXACT);
    put_pair(r, s, TG_SWIGLU, TG_SILU);
}

/* ---- verdicts ---- */

static int by_rank(const results *r, int order[FORMS])
{
    for (int i = 0; i < r->count; i++) {
        int at = i;
        for (; at > 0 && r->ranks.mean[order[at - 1]] > r->ranks.mean[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    int pairs = 0;
    for (int i = 0; i < r->count; i++)
        for (int j = 0; j < i; j++)
            pairs += fabs(r->ranks.mean[i] - r->ranks.mean[j]) > r->ranks.critical;
    return pairs;
}

static void judge(const results *r, sheet *s)
{
    int order[FORMS], agree = 0;
    const int pairs = by_rank(r, order), all = r->count * (r->count - 1) / 2;
    for (int i = 0; i < r->count; i++)
        for (int j = 0; j < i; j++)
            agree += (published[r->form[i]] - published[r->form[j]]) * (r->ranks.mean[i] - r->ranks.mean[j]) > 0;
    sheet_verdict(s,
                  "Networks %s: over %d table%s and %d seed%s %s has the best mean rank (%.2f) and %s the worst "
                  "(%.2f). Friedman's test: chi square %.2f, F %.2f, p = %.2g: %s. %d of %d pairs are farther apart "
                  "than the critical difference of %.2f (Nemenyi, 5 %%).",
                  settings[r->setting].says, r->ranks.sets, plural(r->ranks.sets), r->seeds, plural(r->seeds),
                  form_name(r, order[0]), r->ranks.mean[order[0]], form_name(r, order[r->count - 1]),
                  r->ranks.mean[order[r->count - 1]], r->ranks.chi_square, r->ranks.f, r->ranks.p,
                  r->ranks.p < 0.05 ? "the forms differ" : "no difference between the forms is shown", pairs, all,
                  r->ranks.critical);
    sheet_verdict(s, "Of the %d pairs, %d are in the order that Shazeer found for T5 (where chance would give half).",
                  all, agree);
}

/* ---- the picture ---- */

static void put_ranks(const results *r, FILE *to)
{
    const char *says = settings[r->setting].says;
    int order[FORMS];
    by_rank(r, order);
    fprintf(to, "%s,critical,,1,%.6g\n", says, 1 + r->ranks.critical);
    for (int i = 0; i < r->count; i++)
        fprintf(to, "%s,method,%s,%.6g,\n", says, form_name(r, order[i]), r->ranks.mean[order[i]]);
    int reached = -1; /* skips groups within another group */
    for (int i = 0; i < r->count; i++) {
        int last = i;
        while (last + 1 < r->count && r->ranks.mean[order[last + 1]] - r->ranks.mean[order[i]] <= r->ranks.critical)
            last++;
        if (last > reached && last > i)
            fprintf(to, "%s,group,,%.6g,%.6g\n", says, r->ranks.mean[order[i]], r->ranks.mean[order[last]]);
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
        sheet_text(s, "Networks %s: two forms and seeds must be complete before there is anything to compare.",
                   settings[r->setting].says);
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
        r[setting] = (results){.of = &b->of, .tables = &b->tables, .setting = setting};
        choose_forms(&r[setting], b->of.c->settings->quick ? 2 : like.seeds);
        if (r[setting].seeds > 1)
            gather(&r[setting]);
        any |= r[setting].seeds > 1;
    }
    sheet_text(s,
               "Two hidden layers of 64, or for the gated forms narrower ones with as many parameters, as they are and "
               "with an RMSNorm behind each; Adam with a constant rate, the best of %d by the geometric mean of the "
               "validation loss for each table and form; about 3,000 steps; training, validation and test rows (60, 20 "
               "and 20 %%) drawn anew for each seed. The test loss is that of the epoch with the lowest validation "
               "loss: log loss of classes, squared error of standardised targets.",
               b->of.c->settings->quick ? 2 : TABULAR_RATES);
    for (int setting = 0; setting < SETTINGS; setting++)
        if (r[setting].seeds > 1)
            judge(&r[setting], s);
    study_file(&b->of, "ranks.csv", write_ranks, b);
    if (any)
        study_picture(&b->of, s, "study_ranks.gp", "ranks.svg", "mean ranks of the forms and the critical difference");
    for (int setting = 0; setting < SETTINGS; setting++)
        put_setting(&r[setting], s);
}

static bool add(void *all)
{
    both *b = all;
    b->tables = tabular_grids_of(b->of.c, &b->of.from, &like);
    return study_grids_add(&b->of.work, b->tables.grid, b->tables.count, &b->of.from);
}

const study study_glu_tabular = {
    .name = "glu-tabular",
    .about = "plain and gated forms on nine tables, equal parameters",
    .size = sizeof(both),
    .report = report,
    .title = "Plain and gated forms on tables, at equal parameters",
    .end = STUDY_TABLES,
    .add = add,
};
