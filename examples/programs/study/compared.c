/* The report of a study whose cells are compared: verdicts, published numbers beside ours, pairs, rates, curves. */
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

/* p-values of all pairs of the first cells, corrected among themselves; NaN elsewhere. */
static void test_pairs(const compared *c, double p[CELLS][CELLS])
{
    double list[CELLS * CELLS];
    int count = 0;
    for (int i = 0; i < c->of->pairs; i++)
        for (int j = 0; j < i; j++)
            list[count++] = statistics_compare(c->values[i], c->values[j], (size_t)c->seeds).p;
    statistics_holm(list, (size_t)count);
    for (int i = c->of->pairs - 1; i >= 0; i--)
        for (int j = i - 1; j >= 0; j--)
            p[i][j] = p[j][i] = list[--count];
}

/* The answers; those that are not among the pairs are corrected among themselves. */
static void judge(const compared *c, sheet *s)
{
    double p[CELLS][CELLS], list[2 * CELLS];
    int others = 0;
    test_pairs(c, p);
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
        const double corrected = paired ? p[one][other] : *next++;
        const statistics_estimate d = statistics_paired(c->values[one], c->values[other], (size_t)c->seeds);
        char interval[STUDY_INTERVAL];
        say_difference(c, &d, interval);
        sheet_verdict(s, "%s %s: %s %s %s is %s over %d seeds (p = %.2g, corrected for %d questions).", of->text,
                      !(corrected < 0.05) ? "Not decided"
                      : d.mean < 0        ? "Yes"
                                          : "No, it is worse",
                      of->cell, c->of->ratio ? "over" : "less", of->other, interval, c->seeds, corrected,
                      paired ? c->of->pairs * (c->of->pairs - 1) / 2 : others);
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
    double p[CELLS][CELLS];
    test_pairs(c, p);
    sheet_heading(s, "All pairs, corrected by Holm's method");
    sheet_table(s, 1, "first less second|difference|p|p, corrected");
    for (int i = 0; i < c->of->pairs; i++)
        for (int j = 0; j < i; j++) {
            const statistics_estimate d = statistics_paired(c->values[i], c->values[j], (size_t)c->seeds);
            char interval[STUDY_INTERVAL];
            say_difference(c, &d, interval);
            sheet_row(s, "%s less %s|%s|%.2g|%.2g", c->cell[i].name, c->cell[j].name, interval,
                      statistics_compare(c->values[i], c->values[j], (size_t)c->seeds).p, p[i][j]);
        }
}

/* Means of the measure, over all seeds that are complete. */
static void put_rates(const compared *c, sheet *s)
{
    sheet_heading(s, "At each rate, mean of the complete seeds");
    sheet_table(s, 1, "form|rate|seeds|mean");
    for (int i = 0; i < c->count; i++)
        for (int rate = 0; rate < c->cell[i].rates; rate++) {
            double values[STUDY_SEEDS];
            const int n = study_cell_values(&c->cell[i], c->cell[i].grid->rates[rate], c->of->measure, values);
            if (n)
                sheet_row(s, "%s|%g|%d|%.5f", c->cell[i].name, c->cell[i].grid->rates[rate], n,
                          statistics_of(values, (size_t)n).mean);
        }
}

/* ---- published numbers ---- */

/* Of a column after an epoch, over the seeds. */
static statistics_spread spread_at(const study_cell *cell, double rate, int epoch, study_column column)
{
    double values[STUDY_SEEDS];
    for (int i = 0; i < cell->seeds; i++) {
        const study_record *record = study_cell_record(cell, rate, i + 1);
        values[i] = record ? study_record_at(record, epoch, column) : NAN;
    }
    return statistics_spread_of(values, (size_t)cell->seeds);
}

/* The epochs of the first complete run. */
static int epochs_of(const study_cell *cell, double rate)
{
    const study_record *record = NULL;
    for (int seed = 1; seed <= cell->seeds && !record; seed++)
        record = study_cell_record(cell, rate, seed);
    return record ? record->epochs : 0;
}

static statistics_spread ours_of(const study_cell *cell, const study_published *of, double rate)
{
    double values[STUDY_SEEDS];
    if (of->result)
        return statistics_spread_of(values, (size_t)study_cell_values(cell, rate, of->result, values));
    const int last = epochs_of(cell, rate);
    statistics_spread spread = spread_at(cell, rate, of->epoch == STUDY_LAST ? last : of->epoch, of->column);
    for (int e = 1; of->epoch == STUDY_LOWEST && e <= last; e++) {
        const statistics_spread here = spread_at(cell, rate, e, of->column);
        spread = here.median >= spread.median || !here.count ? spread : here;
    }
    return spread;
}

static const char *what_of(const study_published *of, char text[60])
{
    static const char *const columns[STUDY_COLUMNS] = {"loss of the steps", "validation loss", "test loss",
                                                       "training loss"};
    if (of->result)
        snprintf(text, 60, "%s", of->result);
    else if (of->epoch > 0)
        snprintf(text, 60, "%s, epoch %d", columns[of->column], of->epoch);
    else
        snprintf(text, 60, "%s, %s", columns[of->column], of->epoch == STUDY_LAST ? "last" : "lowest");
    return text;
}

/* A row; true if the number is met. */
static bool put_one(sheet *s, const study_published *of, double rate, const statistics_spread *ours)
{
    char what[60];
    const bool near = fabs(ours->median - of->value) <= of->within,
               among = of->value >= ours->low && of->value <= ours->high;
    sheet_row(s, "%s|%s|%s|%.5g|%g|%zu|%.5g|%.5g to %.5g|%s", of->cell, what_of(of, what), of->source, of->value, rate,
              ours->count, ours->median, ours->low, ours->high,
              near || among           ? "yes"
              : of->value < ours->low ? "ours are greater"
                                      : "ours are less");
    return near || among;
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
            const statistics_spread ours = ours_of(cell, of, at);
            if (ours.count && (of->rate > 0 ? at == of->rate : rate == 0 || at == cell->best)) {
                any |= put_one(s, of, at, &ours);
                found = true;
            }
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

/* ---- pictures ---- */

/* Calls a function for every curve that is drawn: of each cell, at its best rate or, if all are compared at one, at
 * each rate. */
typedef void curve_writer(const compared *c, int cell, double rate, const char *panel, FILE *to);

static void each_curve(const compared *c, curve_writer *write, FILE *to)
{
    char panel[60];
    for (int i = 0; i < c->count; i++)
        for (int rate = 0; rate < c->cell[i].rates; rate++) {
            const double at = c->cell[i].grid->rates[rate];
            const char *dash = strchr(c->cell[i].name, '-');
            snprintf(panel, sizeof panel, c->of->rate > 0 ? "rate %g" : "rate by validation", at);
            if (c->of->rate > 0 || at == c->rate[i])
                write(c, i, at, dash ? dash + 1 : panel, to);
        }
}

static void write_curve(const compared *c, int cell, double rate, const char *panel, FILE *to)
{
    const char *name = c->cell[cell].name;
    for (int e = 1; e <= epochs_of(&c->cell[cell], rate); e++) {
        const statistics_spread of = spread_at(&c->cell[cell], rate, e, c->of->curve),
                                train = spread_at(&c->cell[cell], rate, e, STUDY_TRAIN_LOSS);
        if (of.count)
            fprintf(to, "%s,%.*s,loss,%g,%d,%.6g,%.6g,%.6g,", panel, (int)strcspn(name, "-"), name, rate, e, of.median,
                    of.low, of.high);
        if (of.count)
            fprintf(to, train.count ? "%.6g\n" : "\n", train.median);
    }
}

static void write_marks(const compared *c, int cell, double rate, const char *panel, FILE *to)
{
    const char *name = c->cell[cell].name;
    for (const study_published *of = c->of->published; of->cell; of++)
        if (strcmp(of->cell, name) == 0 && of->epoch > 0 && (of->rate == 0 || of->rate == rate))
            fprintf(to, "%s,%.*s,%s,%d,%g\n", panel, (int)strcspn(name, "-"), name,
                    of->column == STUDY_TRAIN_LOSS ? "train" : "validation", of->epoch, of->value);
}

static bool write_curves(const void *context, FILE *to)
{
    fputs("panel,curve,measure,rate,epoch,median,low,high,train\n", to);
    each_curve(context, write_curve, to);
    return true;
}

static bool write_published(const void *context, FILE *to)
{
    fputs("panel,curve,kind,epoch,loss\n", to);
    each_curve(context, write_marks, to);
    return true;
}

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
            if (strcmp(of->cell, c->cell[i].name) == 0)
                fprintf(to, "%s,,,,,published %d,%.6g\n", of->cell,
                        1 + (strcmp(of->source, c->of->published[0].source) != 0), of->value);
    }
    return true;
}

static void draw_curves(const compared *c, sheet *s)
{
    if (!c->of->grids[0].keeps_curves || !c->r->outcome.complete || !sweep_is_whole(&c->r->c->settings->sweep))
        return;
    study_file(c->r, "curves.csv", write_curves, c);
    study_file(c->r, "published.csv", write_published, c);
    study_picture(c->r, s, "study_curves.gp", "curves.svg",
                  "medians of the seeds over the epochs and least to greatest; marks: published");
}

static void draw_forms(const compared *c, sheet *s)
{
    study_file(c->r, "forms.csv", write_forms, c);
    study_picture(c->r, s, "study_forms.gp", "forms.svg", "mean, 95 % interval, seeds, and published runs");
}

void study_compare(study_results *r, sheet *s)
{
    compared c = {.r = r, .of = r->of};
    gather(&c);
    sheet_text(s, "%s", r->of->protocol);
    if (c.seeds >= 2)
        judge(&c, s);
    else
        sheet_text(s, "Two seeds of each form must be complete before there is anything to compare.");
    draw_curves(&c, s);
    if (c.seeds >= 2 && r->of->pairs)
        draw_forms(&c, s);
    if (c.seeds >= 2)
        put_cells(&c, s);
    put_published(&c, s);
    if (c.seeds >= 2 && r->of->pairs)
        put_pairs(&c, s);
    put_rates(&c, s);
}
