/* The report of a study whose cells are compared: verdicts, published numbers beside ours, pairs. */
#include "examples/programs/data/words.h"
#include "examples/programs/study/study.h"

#include <math.h>
#include <string.h>

enum { CELLS = 16, RATES = GRID_RATES };

typedef struct compared {
    study_results *r;
    const study *of;
    study_cell cell[CELLS];
    double rate[CELLS];                /* at which a cell is compared; 0: not complete */
    double values[CELLS][STUDY_SEEDS]; /* of the measure, at this rate; of a ratio the logarithms */
    int count, seeds;                  /* complete for all cells */
    double p[CELLS * CELLS];           /* of all pairs of the first cells, corrected among themselves */
} compared;

static int cell_called(const compared *c, const char *name)
{
    int i = 0;
    while (strcmp(c->of->cells[i], name) != 0)
        i++;
    return i;
}

static void gather(compared *c)
{
    c->seeds = STUDY_SEEDS;
    for (; c->of->cells[c->count]; c->count++) {
        study_cell *cell = &c->cell[c->count];
        *cell = study_cell_of(&c->r->work, c->of->cells[c->count]);
        c->rate[c->count] = c->of->rate > 0 ? c->of->rate : cell->best;
        const int complete = study_cell_values(cell, c->rate[c->count], c->of->measure, c->values[c->count]);
        c->seeds = complete < c->seeds ? complete : c->seeds;
        for (int i = 0; c->of->ratio && i < complete; i++)
            c->values[c->count][i] = log(c->values[c->count][i]);
    }
}

static double shown(const compared *c, double number)
{
    return c->of->ratio ? exp(number) : number;
}

static void say_difference(const compared *c, const statistics_estimate *d, char text[STUDY_INTERVAL])
{
    study_say_interval(d, c->of->ratio ? "%.3f" : "%+.4f", c->of->ratio, c->of->ratio, text);
}

/* ---- comparisons ---- */

/* The number of a pair. */
static int pair_of(int one, int other)
{
    return one >= other ? one * (one - 1) / 2 + other : pair_of(other, one);
}

static void test_pairs(compared *c)
{
    for (int i = 0; i < c->of->pairs; i++)
        for (int k = 0; k < i; k++)
            c->p[pair_of(i, k)] = statistics_compare(c->values[i], c->values[k], (size_t)c->seeds).p;
    statistics_holm(c->p, (size_t)pair_of(c->of->pairs, 0));
}

/* The answers; those that are not among the pairs are corrected among themselves. */
static void judge(const compared *c, sheet *s)
{
    double list[2 * CELLS];
    int others = 0;
    for (const study_comparison *of = c->of->comparisons; of->cell; of++) {
        const int one = cell_called(c, of->cell), other = cell_called(c, of->other);
        if (one >= c->of->pairs || other >= c->of->pairs)
            list[others++] = statistics_compare(c->values[one], c->values[other], (size_t)c->seeds).p;
    }
    statistics_holm(list, (size_t)others);
    const double *next = list;
    for (const study_comparison *of = c->of->comparisons; of->cell; of++) {
        const int one = cell_called(c, of->cell), other = cell_called(c, of->other);
        const bool paired = one < c->of->pairs && other < c->of->pairs;
        const double corrected = paired ? c->p[pair_of(one, other)] : *next++;
        const statistics_estimate d = statistics_paired(c->values[one], c->values[other], (size_t)c->seeds);
        char interval[STUDY_INTERVAL];
        say_difference(c, &d, interval);
        sheet_verdict(s, "%s %s: %s %s %s is %s over %d seeds (p = %.2g, corrected for %d questions).", of->text,
                      !(corrected < 0.05) ? "Not decided"
                      : d.mean < 0        ? "Yes"
                                          : "No, it is worse",
                      of->cell, c->of->ratio ? "over" : "less", of->other, interval, c->seeds, corrected,
                      paired ? pair_of(c->of->pairs, 0) : others);
    }
}

static void put_cells(const compared *c, sheet *s)
{
    sheet_heading(s, "Each at the rate at which it is compared");
    sheet_table(s, 1,
                c->of->ratio ? "form|rate|seeds|geometric mean|95 % interval|least|greatest"
                             : "form|rate|seeds|mean|95 % interval|least|greatest");
    for (int i = 0; i < c->count; i++) {
        const statistics_estimate e = statistics_of(c->values[i], (size_t)c->seeds);
        const statistics_spread all = statistics_spread_of(c->values[i], (size_t)c->seeds);
        sheet_row(s, "%s|%g|%d|%.5f|%.5f to %.5f|%.5f|%.5f", c->cell[i].name, c->rate[i], c->seeds, shown(c, e.mean),
                  shown(c, e.mean - e.margin), shown(c, e.mean + e.margin), shown(c, all.low), shown(c, all.high));
    }
}

static void put_pairs(const compared *c, sheet *s)
{
    sheet_heading(s, "All pairs, corrected by Holm's method");
    sheet_table(s, 1, "first less second|difference|p|p, corrected");
    for (int i = 0; i < c->of->pairs; i++)
        for (int j = 0; j < i; j++) {
            const statistics_estimate d = statistics_paired(c->values[i], c->values[j], (size_t)c->seeds);
            char interval[STUDY_INTERVAL];
            say_difference(c, &d, interval);
            sheet_row(s, "%s less %s|%s|%.2g|%.2g", c->cell[i].name, c->cell[j].name, interval,
                      statistics_compare(c->values[i], c->values[j], (size_t)c->seeds).p, c->p[pair_of(i, j)]);
        }
}

/* ---- published numbers ---- */

/* The spread of a result over the seeds; of "lowest RESULT" that with the lowest median of those after some epochs. */
static statistics_spread ours_of(const study_cell *cell, double rate, const char *result)
{
    statistics_spread lowest = {.median = INFINITY};
    const bool search = strncmp(result, "lowest ", 7) == 0;
    for (int i = 0; i < (search ? GRID_EPOCHS : 1); i++) {
        double values[STUDY_SEEDS];
        char name[40];
        snprintf(name, sizeof name, search ? "%s_%d" : "%s", search ? result + 7 : result, cell->grid->epochs[i]);
        const int seeds = study_cell_values(cell, rate, name, values);
        const statistics_spread here = statistics_spread_of(values, (size_t)seeds);
        lowest = here.median < lowest.median ? here : lowest;
    }
    return lowest;
}

static void put_published(const compared *c, sheet *s)
{
    int count = 0, met = 0;
    sheet_heading(s, "Published numbers, and the medians of our seeds");
    sheet_table(s, 3, "form|what|source|published|rate|seeds|ours|least to greatest|met");
    for (const study_published *of = c->of->published; of->cell; of++) {
        const study_cell *cell = &c->cell[cell_called(c, of->cell)];
        bool any = false, found = false;
        for (int rate = 0; rate < cell->rates; rate++) {
            const double at = cell->grid->rates[rate];
            const statistics_spread ours = ours_of(cell, at, of->result);
            if (!ours.count || !(of->rate > 0 ? at == of->rate : rate == 0 || at == cell->best))
                continue;
            const bool near =
                fabs(ours.median - of->value) <= of->within || (of->value >= ours.low && of->value <= ours.high);
            sheet_row(s, "%s|%s|%s|%.5g|%g|%zu|%.5g|%.5g to %.5g|%s", of->cell, of->result, of->source, of->value, at,
                      ours.count, ours.median, ours.low, ours.high,
                      near                   ? "yes"
                      : of->value < ours.low ? "ours are greater"
                                             : "ours are less");
            any |= near;
            found = true;
        }
        count += found;
        met += any;
    }
    if (count)
        sheet_verdict(s,
                      "%d of %d published numbers are met: between the least and the greatest of our seeds, or as "
                      "near as they can be read; a number whose rate is not said at the first or at our best rate.",
                      met, count);
}

/* ---- the picture ---- */

static bool write_forms(const void *context, FILE *to)
{
    const compared *c = context;
    fputs("form,rate,mean,low,high,kind,loss\n", to);
    for (int i = 0; i < c->count; i++) {
        const statistics_estimate e = statistics_of(c->values[i], (size_t)c->seeds);
        fprintf(to, "%s,%g,%.6g,%.6g,%.6g,mean,%.6g\n", c->cell[i].name, c->rate[i], e.mean, e.mean - e.margin,
                e.mean + e.margin, e.mean);
        for (int seed = 0; seed < c->seeds; seed++)
            fprintf(to, "%s,,,,,seed,%.6g\n", c->cell[i].name, c->values[i][seed]);
        for (const study_published *of = c->of->published; of->cell; of++)
            if (strcmp(of->result, c->of->measure) == 0 && strcmp(of->cell, c->cell[i].name) == 0)
                fprintf(to, "%s,,,,,published %d,%.6g\n", of->cell,
                        1 + (strcmp(of->source, c->of->published[0].source) != 0), of->value);
    }
    return true;
}

void study_compare(study_results *r, sheet *s)
{
    compared c = {.r = r, .of = r->of};
    gather(&c);
    test_pairs(&c);
    sheet_text(s, "%s", r->of->protocol);
    if (c.seeds >= 2)
        judge(&c, s);
    else
        sheet_text(s, "Two seeds of each form must be complete before there is anything to compare.");
    if (c.seeds >= 2) {
        study_file(r, "forms.csv", write_forms, &c);
        study_picture(r, s, "study_forms.gp", "forms.svg", "mean, 95 % interval, seeds, and published runs");
        put_cells(&c, s);
    }
    put_published(&c, s);
    if (c.seeds >= 2 && r->of->pairs)
        put_pairs(&c, s);
}
