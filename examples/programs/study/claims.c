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

static claim *unmeasured(claims *c, const char *text, double from, double to)
{
    return claim_add(c, text, from, to, NAN, NAN, "run the command first");
}

/* ---- estimates over seeds ---- */

/* The two-sided p-value of a distance between an estimate and a bound; 0 if nothing scatters. */
static double p_of(const statistics_estimate *e, double bound)
{
    statistics_estimate distance = *e;
    distance.mean -= bound;
    return isinf(bound) || e->error == 0 ? 0 : statistics_p(&distance);
}

static double shown(bool ratio, double number)
{
    return ratio ? exp(number) : number;
}

/* Adds a claim about an estimate; of a ratio the estimate has the logarithm. */
static claim *estimated(claims *c, const char *text, double from, double to, const statistics_estimate *e, bool ratio,
                        const char *words)
{
    claim *about =
        claim_add(c, text, from, to, shown(ratio, e->mean - e->margin), shown(ratio, e->mean + e->margin), "%s", words);
    const double low = ratio && !isinf(from) ? log(from) : from, high = ratio && !isinf(to) ? log(to) : to;
    about->inside = e->mean >= low && e->mean <= high;
    about->p = about->inside ? fmax(p_of(e, low), p_of(e, high)) : p_of(e, e->mean < low ? low : high);
    return about;
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
    char words[240], interval[STUDY_INTERVAL];
    int cells = 0, seeds = 0;
    snprintf(words, sizeof words, "%s", m->name);
    for (; cells < CLAIM_CELLS && names[cells]; cells++) {
        const study_cell cell = study_cell_of(c->work, names[cells]);
        if (!cell.whole) {
            unmeasured(c, text, from, to);
            return;
        }
        seeds = cell.seeds;
        for (int i = 0; i < seeds; i++) {
            by_seed[i] = measure(&cell, m, i + 1);
            sum[i] += sign[cells] * by_seed[i];
        }
        const size_t used = strlen(words);
        char each[40];
        snprintf(each, sizeof each, "%s%s", before[cells], m->format);
        if (names[1])
            snprintf(words + used, sizeof words - used, each,
                     shown(m->scale == 0, statistics_of(by_seed, (size_t)seeds).mean));
    }
    const statistics_estimate all = statistics_of(sum, (size_t)seeds);
    const size_t used = strlen(words);
    study_say_interval(&all,
                       !names[1]       ? m->format
                       : m->scale == 0 ? "%.3f"
                                       : "%+.3f",
                       m->scale == 0, names[1] && m->scale == 0, interval);
    snprintf(words + used, sizeof words - used, "%s %s", cells > 1 ? ":" : "", interval);
    estimated(c, text, from, to, &all, m->scale == 0, words);
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
     "rates by validation; the grids are below. All of "
     "these statements are one family: p is the level at which an interval would just decide, corrected by Holm's "
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

/* Lists the grids that decide the statements about training. */
static void put_grids(sheet *s)
{
    sheet_heading(s, "Runs of this study");
    sheet_text(s, "Options are those of compare; Adam at a constant rate, where they say nothing else.");
    sheet_table(s, 1, "grid|data|options|compared|rates|seeds");
    for (const study_grid *grid = claim_grids; grid < claim_grids + CLAIM_GRIDS; grid++) {
        char factors[200] = "", rates[100] = "";
        for (int f = 0; f < GRID_FACTORS && grid->factors[f]; f++)
            snprintf(factors + strlen(factors), sizeof factors - strlen(factors), "%s%s", f ? "; " : "",
                     grid->factors[f]);
        for (int rate = 0; rate < GRID_RATES && grid->rates[rate] > 0; rate++)
            snprintf(rates + strlen(rates), sizeof rates - strlen(rates), "%s%g", rate ? ", " : "", grid->rates[rate]);
        sheet_row(s, "%s|%s|%s|%s|%s|%d", grid->name, study_source_name(grid->data), grid->fixed, factors, rates,
                  grid->seeds);
    }
}

static void report(study_results *r, sheet *s)
{
    static claims all;
    all.work = &r->work;
    all.tape = tg_tape_new();
    sheet_text(s, "Statements that texts on GELU, and the paper that they cite (arXiv 1606.08415), make. A statement "
                  "is true if the number, or its whole interval, lies where the third column says; it is not true if "
                  "all of it lies elsewhere; otherwise it is not shown.");
    for (int part = 0; part < PARTS; part++)
        put_part(&all, s, &parts[part]);
    put_grids(s);
    if (!all.tape || tg_tape_error(all.tape))
        sheet_text(s, "Rows are wrong: %s", all.tape ? tg_tape_error(all.tape) : "out of memory");
    tg_tape_free(all.tape);
}

const study study_claims = {
    .name = "claims",
    .about = "claims about GELU, each with verdict and number",
    .report = report,
    .title = "What is said of GELU",
    .grids = claim_grids,
    .grid_count = CLAIM_GRIDS,
};
