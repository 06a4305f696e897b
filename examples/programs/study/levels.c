/* The report of a study with levels: what the spread of the loss is due to, and all pairs of forms at each level. */
#include "examples/programs/study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEVELS = STUDY_LEVELS, FORMS = 8, PAIRS = LEVELS * FORMS * (FORMS - 1) / 2, TABLES = 8 };
/* Shares of the sum of squares: of the level, the rate, the form, their interactions, and all that has the seed. */
enum { LEVEL, RATE, FORM, INTERACTIONS, SEED, SOURCES };

/* The forms of a grid at each level, each at its best rate by validation. */
typedef struct table {
    const study_levels *of;
    int forms, seeds; /* that the grid has; that are complete in all cells */
    const char *form[FORMS];
    study_cell cell[LEVELS][FORMS];
    double loss[LEVELS][FORMS][STUDY_SEEDS]; /* of the test */
    int rates;                               /* at which all cells have all seeds */
    double shares[SOURCES];
    double differ[PAIRS], equal[PAIRS]; /* p of all pairs, one family */
} table;

typedef struct levels {
    int count; /* tables with a complete seed */
    table t[TABLES];
} levels;

static void decompose(table *t)
{
    double values[GRID_RATES * LEVELS * FORMS * STUDY_SEEDS], sums[16];
    const int block = LEVELS * t->forms * t->seeds;
    for (int r = 0; r < t->cell[0][0].rates; r++) {
        bool complete = true;
        for (int i = 0; i < block; i++) {
            const study_cell *cell = &t->cell[i / t->seeds / t->forms][i / t->seeds % t->forms];
            const double loss = study_cell_value(cell, cell->grid->rates[r], "test_loss", i % t->seeds + 1);
            values[t->rates * block + i] = loss;
            complete = complete && !isnan(loss);
        }
        t->rates += complete;
    }
    statistics_decompose(values, (const int[]){t->rates, LEVELS, t->forms, t->seeds}, 4, sums);
    for (int set = 1; set < 16; set++)
        t->shares[set & 8    ? SEED
                  : set == 1 ? RATE
                  : set == 2 ? LEVEL
                  : set == 4 ? FORM
                             : INTERACTIONS] += 100 * sums[set] / sums[0];
}

static statistics_estimate difference(const table *t, int level, int one, int other)
{
    return statistics_paired(t->loss[level][one], t->loss[level][other], (size_t)t->seeds);
}

/* The number of a pair among those of all levels. */
static int pair_of(const table *t, int level, int one, int other)
{
    const int high = one > other ? one : other, low = one > other ? other : one;
    return level * t->forms * (t->forms - 1) / 2 + high * (high - 1) / 2 + low;
}

static void test_pairs(table *t)
{
    for (int level = 0; level < LEVELS; level++)
        for (int i = 0; i < t->forms; i++)
            for (int k = 0; k < i; k++) {
                const statistics_estimate d = difference(t, level, i, k);
                t->differ[pair_of(t, level, i, k)] = statistics_p(&d);
                t->equal[pair_of(t, level, i, k)] = statistics_equivalence_p(&d, log(1.01));
            }
    statistics_holm(t->differ, (size_t)pair_of(t, LEVELS, 1, 0));
    statistics_holm(t->equal, (size_t)pair_of(t, LEVELS, 1, 0));
}

static table table_of(const study_results *r, const study_levels *of)
{
    table t = {.of = of, .seeds = STUDY_SEEDS};
    for (const char *const *form = r->of->cells; *form; form++) {
        for (int level = 0; level < LEVELS; level++) {
            char name[STUDY_NAME];
            snprintf(name, sizeof name, "%s%s-init-scale%s", of->prefix, *form, of->level[level]);
            study_cell *cell = &t.cell[level][t.forms];
            *cell = study_cell_of(&r->work, name);
            const int complete = study_cell_values(cell, cell->best, "test_loss", t.loss[level][t.forms]);
            t.seeds = cell->name && complete < t.seeds ? complete : t.seeds;
        }
        t.form[t.forms] = *form;
        t.forms += t.cell[0][t.forms].name != NULL;
    }
    decompose(&t);
    test_pairs(&t);
    return t;
}

/* ---- sentences ---- */

static double percent(double difference_of_losses)
{
    return 100 * (exp(difference_of_losses) - 1);
}

static double mean_of(const table *t, int level, int form)
{
    return statistics_of(t->loss[level][form], (size_t)t->seeds).mean;
}

/* By how much perplexity changes, in percent: of all forms at a level, or of one form over the levels. */
static double range(const table *t, int level, int form)
{
    double mean[LEVELS * FORMS];
    size_t count = 0;
    for (int i = 0; i < LEVELS; i++)
        for (int k = 0; k < t->forms; k++)
            if (i == level || k == form)
                mean[count++] = mean_of(t, i, k);
    const statistics_spread all = statistics_spread_of(mean, count);
    return percent(all.high - all.low);
}

static void put_ranges(const table *t, sheet *s)
{
    const char *const *at = t->of->shown;
    int least = 0, most = 0;
    for (int f = 0; f < t->forms; f++) {
        least = range(t, -1, f) < range(t, -1, least) ? f : least;
        most = range(t, -1, f) > range(t, -1, most) ? f : most;
    }
    sheet_verdict(
        s,
        "%s, %d seed%s, the best rate for each: perplexity changes with the deviation by %.1f %% (%s) to %.1f "
        "%% (%s), and from the best form to the worst by %.1f %% at %s, %.1f %% at %s and %.1f %% at %s.",
        t->of->about, t->seeds, t->seeds > 1 ? "s" : "", range(t, -1, least), t->form[least], range(t, -1, most),
        t->form[most], range(t, 0, -1), at[0], range(t, 1, -1), at[1], range(t, 2, -1), at[2]);
}

/* ---- tables ---- */

static void put_shares(const levels *all, sheet *s)
{
    sheet_heading(s, "What the spread of the test loss is due to, in percent of the sum of squares");
    sheet_table(s, 1, "data|forms|rates|seeds|initial deviation|rate|activation|interactions of these|seed");
    for (const table *t = all->t; t < all->t + all->count; t++)
        sheet_row(s, "%s|%d|%d|%d|%.1f|%.1f|%.1f|%.1f|%.1f", t->of->about, t->forms, t->rates, t->seeds,
                  t->shares[LEVEL], t->shares[RATE], t->shares[FORM], t->shares[INTERACTIONS], t->shares[SEED]);
}

/* True if the rate that is best in seed 1 has neighbours on both sides that were tried. */
static bool is_inside(const study_cell *cell)
{
    int tried = 0, best = 0; /* of those tried so far */
    double lowest = INFINITY;
    for (int r = 0; r < cell->rates; r++) {
        const double loss = study_cell_value(cell, cell->grid->rates[r], "best_val_loss", 1);
        tried += !isnan(loss);
        best = loss < lowest ? tried : best;
        lowest = fmin(loss, lowest);
    }
    return best > 1 && best < tried;
}

static void put_forms(const levels *all, sheet *s)
{
    int inside = 0, cells = 0;
    sheet_heading(s, "Each form at its best rate by validation");
    sheet_table(s, 3, "data|deviation|form|rate|seeds|test loss|95 % interval|least|greatest");
    for (const table *t = all->t; t < all->t + all->count; t++)
        for (int i = 0; i < LEVELS * t->forms; i++, cells++) {
            const int level = i / t->forms, form = i % t->forms;
            const double *loss = t->loss[level][form];
            const statistics_estimate e = statistics_of(loss, (size_t)t->seeds);
            const statistics_spread of = statistics_spread_of(loss, (size_t)t->seeds);
            char interval[STUDY_INTERVAL] = "one seed";
            if (t->seeds > 1)
                snprintf(interval, sizeof interval, "%.4f to %.4f", e.mean - e.margin, e.mean + e.margin);
            sheet_row(s, "%s|%s|%s|%g|%d|%.4f|%s|%.4f|%.4f", t->of->about, t->of->shown[level], t->form[form],
                      t->cell[level][form].best, t->seeds, e.mean, interval, of.low, of.high);
            inside += is_inside(&t->cell[level][form]);
        }
    sheet_text(s, "In %d of %d cells the best rate of seed 1 lies between two others that were tried.", inside, cells);
}

/* "-3.1 (-4.0 to -2.2), better": the perplexity of one form beside the other's, in percent, at each level. */
static void put_pair(const table *t, sheet *s, const char *first, int one, int other)
{
    char text[LEVELS][80];
    for (int level = 0; level < LEVELS; level++) {
        const statistics_estimate d = difference(t, level, one, other);
        const int pair = pair_of(t, level, one, other);
        snprintf(text[level], sizeof text[level], t->seeds > 1 ? "%+.1f (%+.1f to %+.1f), %s" : "%+.1f",
                 percent(d.mean), percent(d.mean - d.margin), percent(d.mean + d.margin),
                 t->equal[pair] < 0.05       ? "equal"
                 : !(t->differ[pair] < 0.05) ? "not decided"
                 : d.mean < 0                ? "better"
                                             : "worse");
    }
    sheet_row(s, "%s|%s|%s|%s", first, text[0], text[1], text[2]);
}

static int form_called(const table *t, const char *name)
{
    int form = 0;
    while (form < t->forms && strcmp(t->form[form], name) != 0)
        form++;
    return form;
}

static void put_comparisons(const levels *all, sheet *s, const study *of)
{
    sheet_heading(s, "What texts say, in percent of perplexity");
    sheet_table(s, 3, "forms|texts say|data|0.02|default|1 / sqrt(width)");
    for (const study_comparison *c = of->comparisons; c->cell; c++)
        for (const table *t = all->t; t < all->t + all->count; t++) {
            const int one = form_called(t, c->cell), other = form_called(t, c->other);
            char first[160];
            snprintf(first, sizeof first, "%s|%s", c->text, t->of->about);
            if (t->of->is_text && one < t->forms && other < t->forms)
                put_pair(t, s, first, one, other);
        }
}

static void put_published(const table *t, sheet *s, const study *of)
{
    sheet_heading(s, "Published differences of losses, and the least and the greatest of our seeds");
    sheet_table(s, 1, "source|published|0.02|0.079|0.125");
    for (const study_published *p = of->published; p->cell; p++) {
        const int one = form_called(t, p->cell), other = form_called(t, p->less);
        char text[LEVELS][60];
        for (int level = 0; level < LEVELS; level++) {
            double by_seed[STUDY_SEEDS];
            for (int seed = 0; seed < t->seeds; seed++)
                by_seed[seed] = t->loss[level][one][seed] - t->loss[level][other][seed];
            const statistics_spread ours = statistics_spread_of(by_seed, (size_t)t->seeds);
            snprintf(text[level], sizeof text[level], "%+.4f to %+.4f: %s", ours.low, ours.high,
                     p->value < ours.low    ? "below"
                     : p->value > ours.high ? "above"
                                            : "inside");
        }
        sheet_row(s, "%s|%+.4f|%s|%s|%s", p->source, p->value, text[0], text[1], text[2]);
    }
}

static void put_pairs(const table *t, sheet *s)
{
    sheet_heading(s, "All pairs: perplexity of the first beside that of the second, in percent");
    sheet_text(s,
               "With 95 %% intervals, paired by seed. Better, worse or equal, which is within 1 %%, where p is below "
               "0.05 after Holm's correction for all %d pairs of this table; for each other text or length, of its own "
               "pairs.",
               pair_of(t, LEVELS, 1, 0));
    sheet_table(s, 1, "forms|0.02|0.079|0.125");
    for (int i = 0; i < t->forms; i++)
        for (int k = 0; k < i; k++) {
            char first[80];
            snprintf(first, sizeof first, "%s, %s", t->form[i], t->form[k]);
            put_pair(t, s, first, i, k);
        }
}

/* ---- the picture ---- */

static bool write_forms(const void *context, FILE *to)
{
    const levels *all = context;
    fputs("number,panel,form,level,deviation,mean,seed,loss\n", to);
    for (const table *t = all->t; t < all->t + all->count; t++)
        for (int i = 0; i < LEVELS * t->forms * t->seeds; i++) {
            const int seed = i % t->seeds, level = i / t->seeds % LEVELS, form = i / t->seeds / LEVELS;
            fprintf(to, "%d,%s,%s,%d,%s,%.6g,%d,%.6g\n", (int)(t - all->t) + 1, t->of->about, t->form[form], level + 1,
                    t->of->shown[level], mean_of(t, level, form), seed + 1, t->loss[level][form][seed]);
        }
    return true;
}

static bool write_shares(const void *context, FILE *to)
{
    const levels *all = context;
    fputs("number,panel,deviation,rate,activation,interactions,seed\n", to);
    for (const table *t = all->t; t < all->t + all->count; t++)
        fprintf(to, "%d,%s,%.3f,%.3f,%.3f,%.3f,%.3f\n", (int)(t - all->t) + 1, t->of->about, t->shares[LEVEL],
                t->shares[RATE], t->shares[FORM], t->shares[INTERACTIONS], t->shares[SEED]);
    return true;
}

void study_compare_levels(study_results *r, sheet *s)
{
    static levels all;
    all.count = 0;
    for (const study_levels *of = r->of->levels; of->prefix; of++) {
        all.t[all.count] = table_of(r, of);
        all.count += all.t[all.count].seeds > 0;
    }
    if (!all.count || all.t[0].of != r->of->levels || all.t[0].seeds < 2) {
        sheet_text(s, "%s", r->of->protocol);
        sheet_text(s, "Two seeds of each form must be complete before there is anything to compare.");
        return;
    }
    const table *t = &all.t[0];
    sheet_verdict(
        s,
        "Of the spread of the test loss over %d deviations, %d rates, %d forms and %d seeds, %.0f %% is due to "
        "the initial deviation, %.0f %% to the rate, %.0f %% to the activation, %.0f %% to interactions of "
        "these, and %.1f %% to seeds.",
        LEVELS, t->rates, t->forms, t->seeds, t->shares[LEVEL], t->shares[RATE], t->shares[FORM],
        t->shares[INTERACTIONS], t->shares[SEED]);
    for (int i = 0; i < all.count; i++)
        if (all.t[i].of->is_text)
            put_ranges(&all.t[i], s);
    study_file(r, "forms.csv", write_forms, &all);
    study_file(r, "shares.csv", write_shares, &all);
    study_picture(r, s, "study_levels.gp", "deviation.svg",
                  "test loss of each form at each initial deviation, and what the spread is due to");
    sheet_text(s, "%s", r->of->protocol);
    put_shares(&all, s);
    put_comparisons(&all, s, r->of);
    put_published(t, s, r->of);
    put_forms(&all, s);
    put_pairs(t, s);
}
