/* study claims: claims about GELU and related activations, each with a verdict and the number. */
#include "examples/programs/study/claims.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

const char *claim_verdict(const claim *about)
{
    const double from = about->from, to = about->to, low = about->low, high = about->high;
    const bool one_sided = isinf(from) || isinf(to); /* the bound is then excluded */
    const bool inside = one_sided ? low > from && high < to : low >= from && high <= to;
    const bool outside = one_sided ? low >= to || high <= from : low > to || high < from;
    return isnan(low + high)  ? "not measured"
           : about->p >= 0.05 ? "not shown"
           : about->p < 0.05  ? (about->inside ? "yes" : "no")
           : inside           ? "yes"
           : outside          ? "no"
                              : "not shown";
}

claim *claim_add(claims *c, const char *text, double from, double to, double low, double high, const char *format, ...)
{
    claim *about = &c->row[c->count++];
    va_list arguments;
    *about = (claim){.text = text, .from = from, .to = to, .low = low, .high = high, .p = NAN};
    va_start(arguments, format);
    vsnprintf(about->words, sizeof about->words, format, arguments);
    va_end(arguments);
    return about;
}

/* ---- estimates over seeds ---- */

static double shown(const claim_measure *m, double number)
{
    return m->scale == 0 ? exp(number) : number;
}

/* The two-sided p-value of the distance of an estimate from a bound; 0 if nothing scatters. */
static double p_of(const statistics_estimate *e, const claim_measure *m, double bound)
{
    statistics_estimate distance = *e;
    distance.mean -= m->scale == 0 && !isinf(bound) ? log(bound) : bound;
    return isinf(bound) || e->error == 0 ? 0 : statistics_p(&distance);
}

/* The measure of a seed, at the cell's best rate; of a ratio the logarithm. */
static double measure(const study_cell *cell, const claim_measure *m, int seed)
{
    const double value = m->of ? m->of(cell, seed) : study_cell_value(cell, cell->best, m->result, seed),
                 over = m->over ? study_cell_value(cell, cell->best, m->over, seed) : 1;
    return m->scale != 0 ? m->scale * value / over : log(value / over);
}

/* "test loss 0.0711 against 0.0776: 0.92 times (0.84 to 1.00)" */
void claim_cells(claims *c, const char *text, double from, double to, const claim_measure *m,
                 const char *const names[CLAIM_CELLS])
{
    static const int sign[CLAIM_CELLS] = {1, -1, -1, 1};
    static const char *const before[CLAIM_CELLS] = {" ", " against ", ", and ", " against "};
    double by_seed[STUDY_SEEDS], sum[STUDY_SEEDS] = {0};
    char words[240], interval[STUDY_INTERVAL], each[40];
    int used = snprintf(words, sizeof words, "%s", m->name), seeds = 0, i = 0;
    const bool several = names[1];
    for (; i < CLAIM_CELLS && names[i]; i++) {
        const study_cell cell = study_cell_of(c->work, names[i]);
        seeds = cell.whole ? cell.seeds : 0;
        for (int seed = 0; seed < seeds; seed++)
            sum[seed] += sign[i] * (by_seed[seed] = measure(&cell, m, seed + 1));
        if (!seeds)
            break;
        snprintf(each, sizeof each, m->format, shown(m, statistics_of(by_seed, (size_t)seeds).mean));
        used += several ? snprintf(words + used, sizeof words - (size_t)used, "%s%s", before[i], each) : 0;
    }
    if (!seeds) {
        claim_add(c, text, from, to, NAN, NAN, "run the command first");
        return;
    }
    const statistics_estimate e = statistics_of(sum, (size_t)seeds);
    study_say_interval(&e,
                       !several        ? m->format
                       : m->scale == 0 ? "%.3f"
                                       : "%+.3f",
                       m->scale == 0, several && m->scale == 0, interval);
    claim *about = claim_add(c, text, from, to, shown(m, e.mean - e.margin), shown(m, e.mean + e.margin), "%s%s %s",
                             words, several ? ":" : "", interval);
    const double mean = shown(m, e.mean), p[2] = {p_of(&e, m, from), p_of(&e, m, to)};
    about->inside = mean >= from && mean <= to;
    about->p = about->inside ? fmax(p[0], p[1]) : p[mean > from];
}

/* ---- the report ---- */

/* "below 1", "0.97 to 0.99" */
static void say_range(char text[60], const claim *about)
{
    if (isinf(about->from))
        snprintf(text, 60, "below %g", about->to);
    else if (isinf(about->to))
        snprintf(text, 60, "above %g", about->from);
    else
        snprintf(text, 60, about->from < about->to ? "%g to %g" : "%g", about->from, about->to);
}

static const struct part {
    const char *heading, *text;
    void (*state)(claims *c);
    bool family;
} parts[] = {
    {"Values",
     "In double precision, by the operations of the tape; beside them erfc of libm for the normal distribution and "
     "Hermite polynomials for higher derivatives.",
     claim_values, false},
    {"Costs", "Operations and memory are counted.", claim_costs, false},
    {"Training",
     "Differences between runs are paired by seed, with 95 % intervals of the mean by Student's t, and ratios are of "
     "geometric means. Seeds that redraw the rows of a table count as independent. Each net has the best of its grid's "
     "rates by validation; the options of each run are in runs.csv. All of these statements are one family: p is the "
     "level at which an interval would just decide, corrected by Holm's "
     "method for their number, so that at most one family in twenty has a wrong decision. Nets are small, and so are "
     "most numbers of seeds: what is not shown may still be so.",
     claim_training, true},
};
enum { PARTS = sizeof parts / sizeof *parts };

static void put_part(claims *c, sheet *s, const struct part *part)
{
    double p[CLAIMS];
    c->count = 0;
    part->state(c);
    for (int i = 0; i < c->count; i++)
        p[i] = c->row[i].p;
    statistics_holm(p, (size_t)c->count);
    sheet_heading(s, part->heading);
    sheet_text(s, "%s", part->text);
    sheet_table(s, 1,
                part->family ? "statement|true|if the number is|found|p|corrected"
                             : "statement|true|if the number is|found");
    for (int i = 0; i < c->count; i++) {
        claim *about = &c->row[i];
        char range[60], text[40] = "|";
        if (!isnan(p[i]))
            snprintf(text, sizeof text, "%.2g|%.2g", about->p, p[i]);
        about->p = p[i];
        say_range(range, about);
        sheet_row(s, part->family ? "%s|%s|%s|%s|%s" : "%s|%s|%s|%s%s", about->text, claim_verdict(about), range,
                  about->words, part->family ? text : "");
    }
}

static void report(study_results *r, sheet *s)
{
    static claims all;
    all.work = &r->work;
    sheet_text(s, "Statements that texts on GELU, and the paper that they cite (arXiv 1606.08415), make. A statement "
                  "is true if the number, or its whole interval, lies where the third column says; it is not true if "
                  "all of it lies elsewhere; otherwise it is not shown.");
    for (int part = 0; part < PARTS; part++)
        put_part(&all, s, &parts[part]);
}

const study study_claims = {
    .name = "claims",
    .about = "claims about GELU, each with verdict and number",
    .report = report,
    .title = "What is said of GELU",
    .grids = claim_grids,
    .grid_count = CLAIM_GRIDS,
};
