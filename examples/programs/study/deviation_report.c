/* The report of `study deviation`: what the spread is due to, and all pairs of forms at each deviation. */
#include "examples/programs/study/deviation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PAIRS = DEVIATION_FORMS * (DEVIATION_FORMS - 1) / 2 };

/* ---- numbers ---- */

/* The forms of a grid at each scale, each at its best rate by validation. */
typedef struct table {
    const study_work *work;
    const char *prefix; /* of the cells' names */
    const char *scale[DEVIATION_SCALES];
    int seeds; /* complete in all cells */
    study_cell cell[DEVIATION_SCALES][DEVIATION_FORMS];
    double loss[DEVIATION_SCALES][DEVIATION_FORMS][STUDY_SEEDS]; /* of the test */
} table;

static table table_of(const study_work *work, const char *prefix, const char *const scale[DEVIATION_SCALES])
{
    table t = {.work = work, .prefix = prefix, .seeds = STUDY_SEEDS};
    for (int s = 0; s < DEVIATION_SCALES; s++) {
        t.scale[s] = scale[s];
        for (int f = 0; f < DEVIATION_FORMS; f++) {
            char name[STUDY_NAME];
            snprintf(name, sizeof name, "%s%s-init-scale%s", prefix, deviation_forms[f], scale[s]);
            study_cell *cell = &t.cell[s][f];
            *cell = study_cell_of(work, name);
            const int complete = cell->name ? study_cell_values(cell, cell->best, "test_loss", t.loss[s][f]) : t.seeds;
            t.seeds = complete < t.seeds ? complete : t.seeds;
        }
    }
    return t;
}

/* The rates at which all cells have all seeds. */
static int balanced_rates(const table *t, double rates[GRID_RATES])
{
    int count = 0;
    for (int r = 0; r < t->cell[0][0].rates; r++) {
        bool fine = true;
        for (int i = 0; i < DEVIATION_SCALES * DEVIATION_FORMS * t->seeds; i++)
            fine = fine &&
                   !isnan(study_cell_value(&t->cell[i / t->seeds / DEVIATION_FORMS][i / t->seeds % DEVIATION_FORMS],
                                           t->cell[0][0].grid->rates[r], "test_loss", i % t->seeds + 1));
        if (fine)
            rates[count++] = t->cell[0][0].grid->rates[r];
    }
    return count;
}

/* Shares of the sum of squares: of the deviation, the rate, the form, their interactions, and all that has the seed. */
enum { DEVIATION, RATE, FORM, INTERACTIONS, SEED, SOURCES };
static const char *const sources[] = {"initial deviation", "rate", "activation", "interactions of these", "seed"};

static void decompose(const table *t, const double rates[], int count, double shares[SOURCES])
{
    double values[DEVIATION_SCALES * GRID_RATES * DEVIATION_FORMS * STUDY_SEEDS], sums[16], *next = values;
    for (int s = 0; s < DEVIATION_SCALES; s++)
        for (int r = 0; r < count; r++)
            for (int f = 0; f < DEVIATION_FORMS; f++)
                for (int seed = 1; seed <= t->seeds; seed++)
                    *next++ = study_cell_value(&t->cell[s][f], rates[r], "test_loss", seed);
    statistics_decompose(values, (const int[]){DEVIATION_SCALES, count, DEVIATION_FORMS, t->seeds}, 4, sums);
    memset(shares, 0, SOURCES * sizeof *shares);
    for (int set = 1; set < 16; set++)
        shares[set & 8    ? SEED
               : set == 1 ? DEVIATION
               : set == 2 ? RATE
               : set == 4 ? FORM
                          : INTERACTIONS] += 100 * sums[set] / sums[0];
}

/* p-values of all pairs of forms at all scales, one family: that they differ, and that they are within 1 %. */
typedef struct tests {
    const table *t;
    double differ[DEVIATION_SCALES][DEVIATION_FORMS][DEVIATION_FORMS],
        equal[DEVIATION_SCALES][DEVIATION_FORMS][DEVIATION_FORMS];
} tests;

/* The variance of the losses of one scale about the means of their forms and seeds. */
static double residual_variance(const table *t, int scale)
{
    double values[DEVIATION_FORMS * STUDY_SEEDS], sums[4];
    for (int f = 0; f < DEVIATION_FORMS; f++)
        memcpy(values + f * t->seeds, t->loss[scale][f], (size_t)t->seeds * sizeof *values);
    statistics_decompose(values, (const int[]){DEVIATION_FORMS, t->seeds}, 2, sums);
    return sums[3] / ((DEVIATION_FORMS - 1) * (t->seeds - 1));
}

/* The difference of two forms, paired by seed, whose error is that of all forms at this scale. */
static statistics_estimate difference(const table *t, int scale, int one, int other)
{
    statistics_estimate d = statistics_paired(t->loss[scale][one], t->loss[scale][other], (size_t)t->seeds);
    d.degrees = (DEVIATION_FORMS - 1) * (t->seeds - 1);
    d.error = sqrt(2 * residual_variance(t, scale) / t->seeds);
    d.margin = statistics_student_quantile(0.975, d.degrees) * d.error;
    return d;
}

static tests tests_of(const table *t)
{
    tests all = {.t = t};
    double differ[DEVIATION_SCALES * PAIRS], equal[DEVIATION_SCALES * PAIRS];
    for (int corrected = 0; corrected < 2; corrected++) {
        int next = 0;
        for (int s = 0; s < DEVIATION_SCALES; s++)
            for (int i = 0; i < DEVIATION_FORMS; i++)
                for (int k = 0; k < i; k++, next++) {
                    const statistics_estimate d = difference(t, s, i, k);
                    if (!corrected) {
                        differ[next] = statistics_p(&d);
                        equal[next] = statistics_equivalence_p(&d, log(1.01));
                    }
                    all.differ[s][i][k] = all.differ[s][k][i] = differ[next];
                    all.equal[s][i][k] = all.equal[s][k][i] = equal[next];
                }
        statistics_holm(differ, DEVIATION_SCALES * PAIRS);
        statistics_holm(equal, DEVIATION_SCALES * PAIRS);
    }
    return all;
}

static double percent(double difference_of_losses)
{
    return 100 * (exp(difference_of_losses) - 1);
}

/* "-3.1 (-4.0 to -2.2), better": the perplexity of one form beside the other's, in percent. */
static void say_pair(const tests *of, int scale, int one, int other, char text[80])
{
    const statistics_estimate d = difference(of->t, scale, one, other);
    snprintf(text, 80, "%+.1f (%+.1f to %+.1f), %s", percent(d.mean), percent(d.mean - d.margin),
             percent(d.mean + d.margin),
             of->equal[scale][one][other] < 0.05       ? "equal"
             : !(of->differ[scale][one][other] < 0.05) ? "not decided"
             : d.mean < 0                              ? "better"
                                                       : "worse");
}

/* A row of a table: the pair at each scale, behind what is given. */
static void put_pair(const tests *of, sheet *s, int one, int other, const char *first)
{
    char text[DEVIATION_SCALES][80];
    for (int scale = 0; scale < DEVIATION_SCALES; scale++)
        say_pair(of, scale, one, other, text[scale]);
    sheet_row(s, "%s|%s|%s|%s", first, text[0], text[1], text[2]);
}

static double mean_of(const table *t, int scale, int form)
{
    return statistics_of(t->loss[scale][form], (size_t)t->seeds).mean;
}

/* The spread of the means of all forms at a scale; and of a form over the scales. */
static statistics_spread spread_at(const table *t, int scale)
{
    double mean[DEVIATION_FORMS];
    for (int f = 0; f < DEVIATION_FORMS; f++)
        mean[f] = mean_of(t, scale, f);
    return statistics_spread_of(mean, DEVIATION_FORMS);
}

static double range_of(const table *t, int form)
{
    double mean[DEVIATION_SCALES];
    for (int s = 0; s < DEVIATION_SCALES; s++)
        mean[s] = mean_of(t, s, form);
    const statistics_spread all = statistics_spread_of(mean, DEVIATION_SCALES);
    return percent(all.high - all.low);
}

/* ---- the report ---- */

static const char *const deviations[DEVIATION_SCALES] = {"0.02", "0.079", "0.125"};

static void put_sentences(const table *t, sheet *s, int rates, const double shares[SOURCES])
{
    int most = 0, least_form = 0, most_form = 0;
    char gelu[DEVIATION_SCALES][16], swiglu[DEVIATION_SCALES][16];
    for (int i = 1; i <= FORM; i++)
        most = shares[i] > shares[most] ? i : most;
    for (int f = 0; f < DEVIATION_FORMS; f++) {
        least_form = range_of(t, f) < range_of(t, least_form) ? f : least_form;
        most_form = range_of(t, f) > range_of(t, most_form) ? f : most_form;
    }
    for (int i = 0; i < DEVIATION_SCALES; i++) {
        snprintf(gelu[i], sizeof gelu[i], "%+.1f", percent(difference(t, i, 3, 0).mean));
        snprintf(swiglu[i], sizeof swiglu[i], "%+.1f", percent(difference(t, i, 5, 3).mean));
    }
    sheet_verdict(
        s,
        "The %s decides: over %d deviations, %d rates, %d forms and %d seeds, %.0f %% of the spread of the test "
        "loss is due to the initial deviation, %.0f %% to the rate, %.0f %% to the activation, %.0f %% to "
        "interactions of these, and %.1f %% to seeds.",
        sources[most], DEVIATION_SCALES, rates, DEVIATION_FORMS, t->seeds, shares[DEVIATION], shares[RATE],
        shares[FORM], shares[INTERACTIONS], shares[SEED]);
    sheet_verdict(s,
                  "With the best rate for each, perplexity changes with the deviation by %.0f %% (%s) to %.0f %% (%s), "
                  "and from the best form to the worst by %.0f %% at 0.02, %.1f %% at 0.079 and %.1f %% at 0.125.",
                  range_of(t, least_form), deviation_forms[least_form], range_of(t, most_form),
                  deviation_forms[most_form], percent(spread_at(t, 0).high - spread_at(t, 0).low),
                  percent(spread_at(t, 1).high - spread_at(t, 1).low),
                  percent(spread_at(t, 2).high - spread_at(t, 2).low));
    sheet_verdict(
        s,
        "GELU's perplexity beside ReLU's (texts: 1 to 3 %% better) is %s %% at 0.02, %s %% at 0.079 and %s %% at "
        "0.125; SwiGLU's beside GELU's (texts: 5 to 10 %% better) %s %%, %s %% and %s %%.",
        gelu[0], gelu[1], gelu[2], swiglu[0], swiglu[1], swiglu[2]);
}

static void put_shares(sheet *s, const double shares[SOURCES])
{
    sheet_heading(s, "What the spread of the test loss is due to");
    sheet_table(s, 1, "source|share of the sum of squares, %");
    for (int i = 0; i < SOURCES; i++)
        sheet_row(s, "%s|%.1f", sources[i], shares[i]);
}

/* True if the rate that is best in seed 1 has neighbours on both sides that were tried. */
static bool is_inside(const study_cell *cell)
{
    int best = -1, first = -1, last = -1;
    double lowest = INFINITY;
    for (int r = 0; r < cell->rates; r++) {
        const double loss = study_cell_value(cell, cell->grid->rates[r], "best_val_loss", 1);
        if (isnan(loss))
            continue;
        first = first < 0 ? r : first;
        last = r;
        if (loss < lowest)
            lowest = loss, best = r;
    }
    return best > first && best < last;
}

static void put_forms(const table *t, sheet *s)
{
    int inside = 0;
    sheet_heading(s, "Each form at its best rate by validation");
    sheet_table(s, 2, "deviation|form|rate|seeds|test loss|95 % interval|least|greatest");
    for (int i = 0; i < DEVIATION_SCALES; i++)
        for (int f = 0; f < DEVIATION_FORMS; f++) {
            const statistics_estimate e = statistics_of(t->loss[i][f], (size_t)t->seeds);
            const statistics_spread all = statistics_spread_of(t->loss[i][f], (size_t)t->seeds);
            sheet_row(s, "%s|%s|%g|%d|%.4f|%.4f to %.4f|%.4f|%.4f", deviations[i], deviation_forms[f],
                      t->cell[i][f].best, t->seeds, e.mean, e.mean - e.margin, e.mean + e.margin, all.low, all.high);
            inside += is_inside(&t->cell[i][f]);
        }
    sheet_text(s, "In %d of %d cells the best rate of seed 1 lies between two others that were tried.", inside,
               DEVIATION_SCALES * DEVIATION_FORMS);
}

static void put_comparisons(const tests *of, sheet *s)
{
    sheet_heading(s, "What texts say, in percent of perplexity");
    sheet_table(s, 2, "forms|texts say|0.02|0.079|0.125");
    for (int i = 0; deviation_comparisons[i].text; i++) {
        char first[120];
        snprintf(first, sizeof first, "%s|%s", deviation_comparisons[i].text, deviation_comparisons[i].said);
        put_pair(of, s, deviation_comparisons[i].one, deviation_comparisons[i].other, first);
    }
}

static void put_pairs(const tests *of, sheet *s)
{
    sheet_heading(s, "All pairs: perplexity of the first beside that of the second, in percent");
    sheet_text(s,
               "With 95 %% intervals, paired by seed; the error is that of all forms at one deviation about the means "
               "of forms "
               "and seeds. Better, worse or equal, which is within 1 %%, where p is below 0.05 after Holm's correction "
               "for all %d pairs of this table.",
               DEVIATION_SCALES * PAIRS);
    sheet_table(s, 1, "forms|0.02|0.079|0.125");
    for (int i = 0; i < DEVIATION_FORMS; i++)
        for (int k = 0; k < i; k++) {
            char first[80];
            snprintf(first, sizeof first, "%s, %s", deviation_forms[i], deviation_forms[k]);
            put_pair(of, s, i, k, first);
        }
}

/* ---- other nets and data ---- */

static void put_others(const study_work *work, sheet *s)
{
    sheet_heading(s, "Other lengths, sizes and data");
    sheet_table(s, 3, "what|deviation|form|rate|seeds|test loss|95 % interval");
    for (int i = 0; deviation_others[i].about; i++) {
        const table t = table_of(work, deviation_others[i].prefix, deviation_others[i].scale);
        for (int scale = 0; t.seeds && scale < DEVIATION_SCALES; scale++)
            for (int f = 0; f < DEVIATION_FORMS; f++) {
                const statistics_estimate e = statistics_of(t.loss[scale][f], (size_t)t.seeds);
                char interval[STUDY_INTERVAL] = "one seed";
                if (t.seeds > 1)
                    snprintf(interval, sizeof interval, "%.4f to %.4f", e.mean - e.margin, e.mean + e.margin);
                if (t.cell[scale][f].name)
                    sheet_row(s, "%s|%s|%s|%g|%d|%.4f|%s", deviation_others[i].about, deviation_others[i].shown[scale],
                              deviation_forms[f], t.cell[scale][f].best, t.seeds, e.mean, interval);
            }
    }
}

/* ---- published differences ---- */

static void put_published(const table *t, sheet *s)
{
    sheet_heading(s, "Published differences of losses, and the least and the greatest of our seeds");
    sheet_table(s, 1, "source|published|0.02|0.079|0.125");
    for (int i = 0; deviation_published_list[i].source; i++) {
        const double number = deviation_published_list[i].difference;
        char text[DEVIATION_SCALES][60];
        for (int scale = 0; scale < DEVIATION_SCALES; scale++) {
            double of[STUDY_SEEDS];
            for (int seed = 0; seed < t->seeds; seed++)
                of[seed] = t->loss[scale][deviation_published_list[i].one][seed] -
                           t->loss[scale][deviation_published_list[i].other][seed];
            const statistics_spread all = statistics_spread_of(of, (size_t)t->seeds);
            snprintf(text[scale], sizeof text[scale], "%+.4f to %+.4f: %s", all.low, all.high,
                     number < all.low    ? "below"
                     : number > all.high ? "above"
                                         : "inside");
        }
        sheet_row(s, "%s|%+.4f|%s|%s|%s", deviation_published_list[i].source, number, text[0], text[1], text[2]);
    }
}

/* ---- the picture ---- */

static bool write_forms(const void *context, FILE *to)
{
    const table *t = context;
    fputs("form,deviation,mean,low,high,seed,loss\n", to);
    for (int f = 0; f < DEVIATION_FORMS; f++)
        for (int i = 0; i < DEVIATION_SCALES; i++) {
            const statistics_estimate e = statistics_of(t->loss[i][f], (size_t)t->seeds);
            for (int seed = 0; seed < t->seeds; seed++)
                fprintf(to, "%s,%s,%.6g,%.6g,%.6g,%d,%.6g\n", deviation_forms[f], deviations[i], e.mean,
                        e.mean - e.margin, e.mean + e.margin, seed + 1, t->loss[i][f][seed]);
        }
    return true;
}

static bool write_shares(const void *context, FILE *to)
{
    const double *shares = context;
    fputs("source,share\n", to);
    for (int i = 0; i < SOURCES; i++)
        fprintf(to, "%s,%.3f\n", sources[i], shares[i]);
    return true;
}

void deviation_report(study_results *r, sheet *s)
{
    const table t = table_of(&r->work, "", (const char *const[]){"1", "3.952847", "6.25"});
    double rates[GRID_RATES], shares[SOURCES];
    if (t.seeds < 2) {
        sheet_text(s, "%s", r->of->protocol);
        sheet_text(s, "Two seeds of each form must be complete before there is anything to compare.");
        return;
    }
    const int count = balanced_rates(&t, rates);
    const tests all = tests_of(&t);
    decompose(&t, rates, count, shares);
    put_sentences(&t, s, count, shares);
    study_file(r, "forms.csv", write_forms, &t);
    study_file(r, "shares.csv", write_shares, shares);
    study_picture(r, s, "study_levels.gp", "deviation.svg",
                  "test loss of each form at each initial deviation, and what the spread is due to");
    sheet_text(s, "%s", r->of->protocol);
    put_shares(s, shares);
    put_forms(&t, s);
    put_comparisons(&all, s);
    put_published(&t, s);
    put_others(&r->work, s);
    put_pairs(&all, s);
}
