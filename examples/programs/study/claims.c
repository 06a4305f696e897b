/* study claims: claims about GELU and related activations, each with a verdict, the number, and the command that shows
 * it. */
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

claim *claim_interval(claims *c, const char *text, double from, double to, double low, double high, const char *format,
                      ...)
{
    claim *about = &c->row[c->count++];
    va_list arguments;
    *about = (claim){.text = text, .study = "claims", .from = from, .to = to, .low = low, .high = high, .p = NAN};
    va_start(arguments, format);
    vsnprintf(about->words, sizeof about->words, format, arguments);
    va_end(arguments);
    return about;
}

static claim *unmeasured(claims *c, const char *text, double from, double to)
{
    return claim_interval(c, text, from, to, NAN, NAN, "run the command first");
}

/* ---- estimates over seeds ---- */

/* The two-sided p-value of a distance between an estimate and a bound, by Student's t; 0 if nothing scatters. */
static double p_of(const statistics_estimate *e, double bound)
{
    const double degrees = (double)e->count - 1, error = e->margin / statistics_student_quantile(0.975, degrees);
    const double t = (e->mean - bound) / error;
    return isinf(bound) || e->margin == 0 ? 0
                                          : statistics_incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5);
}

static double shown(bool ratio, double number)
{
    return ratio ? exp(number) : number;
}

/* Adds a claim about an estimate; of a ratio the estimate has the logarithm. */
static claim *estimated(claims *c, const char *text, double from, double to, const statistics_estimate *e, bool ratio,
                        const char *words)
{
    claim *about = claim_interval(c, text, from, to, shown(ratio, e->mean - e->margin),
                                  shown(ratio, e->mean + e->margin), "%s", words);
    const double low = ratio && !isinf(from) ? log(from) : from, high = ratio && !isinf(to) ? log(to) : to;
    about->inside = e->mean >= low && e->mean <= high;
    about->p = about->inside ? fmax(p_of(e, low), p_of(e, high)) : p_of(e, e->mean < low ? low : high);
    return about;
}

/* The measure of each seed, at the cell's best rate; of a ratio the logarithm. */
static void measure(const study_cell *cell, const claim_measure *m, double values[STUDY_SEEDS])
{
    double over[STUDY_SEEDS];
    if (!m->of)
        study_cell_values(cell, cell->best, m->result, values);
    if (m->over)
        study_cell_values(cell, cell->best, m->over, over);
    for (int i = 0; i < cell->seeds; i++) {
        values[i] = (m->of ? m->of(cell, i + 1) : values[i]) / (m->over ? over[i] : 1);
        values[i] = m->scale != 0 ? m->scale * values[i] : log(values[i]);
    }
}

/* "0.92 times (0.84 to 1.00)", "-0.31 (-0.40 to -0.22)" of differences; of one number in its own format. */
static void say_interval(char text[120], const claim_measure *m, const statistics_estimate *e, bool difference)
{
    const bool ratio = m->scale == 0;
    const char *number = !difference ? m->format : ratio ? "%.3f" : "%+.3f";
    char format[80];
    snprintf(format, sizeof format, "%s%s (%s to %s)", number, difference && ratio ? " times" : "", number, number);
    snprintf(text, 120, format, shown(ratio, e->mean), shown(ratio, e->mean - e->margin),
             shown(ratio, e->mean + e->margin));
}

/* "test loss 0.0711 against 0.0776: 0.92 times (0.84 to 1.00)" */
void claim_cells(claims *c, const char *text, double from, double to, const claim_measure *m,
                 const char *const names[CLAIM_CELLS])
{
    static const int sign[CLAIM_CELLS] = {1, -1, -1, 1};
    static const char *const before[CLAIM_CELLS] = {" ", " against ", ", and ", " against "};
    double by_seed[STUDY_SEEDS], sum[STUDY_SEEDS] = {0};
    char words[240], interval[120];
    int cells = 0, seeds = 0;
    snprintf(words, sizeof words, "%s", m->name);
    for (; cells < CLAIM_CELLS && names[cells]; cells++) {
        const study_cell cell = study_cell_of(c->work, names[cells]);
        if (!cell.whole) {
            unmeasured(c, text, from, to);
            return;
        }
        seeds = cell.seeds;
        measure(&cell, m, by_seed);
        for (int i = 0; i < seeds; i++)
            sum[i] += sign[cells] * by_seed[i];
        const size_t used = strlen(words);
        char each[40];
        snprintf(each, sizeof each, "%s%s", before[cells], m->format);
        if (names[1])
            snprintf(words + used, sizeof words - used, each,
                     shown(m->scale == 0, statistics_of(by_seed, (size_t)seeds).mean));
    }
    const statistics_estimate all = statistics_of(sum, (size_t)seeds);
    const size_t used = strlen(words);
    say_interval(interval, m, &all, cells > 1);
    snprintf(words + used, sizeof words - used, "%s %s", cells > 1 ? ":" : "", interval);
    estimated(c, text, from, to, &all, m->scale == 0, words);
}

void claim_study(claims *c, const char *text, double from, double to, const char *name, const char *key,
                 const char *what)
{
    static const char *const suffix[] = {"", "_low", "_high", "_seeds"};
    double of[4];
    char number[100], words[240];
    for (int i = 0; i < 4; i++) {
        snprintf(number, sizeof number, "%s%s", key, suffix[i]);
        of[i] = study_number(c->work->c, name, number);
    }
    const statistics_estimate e = {.count = (size_t)of[3], .mean = of[0], .margin = (of[2] - of[1]) / 2};
    snprintf(words, sizeof words, "%s %.3f times (%.3f to %.3f)", what, exp(of[0]), exp(of[1]), exp(of[2]));
    claim *about =
        isnan(of[0] + of[1] + of[2]) ? unmeasured(c, text, from, to) : estimated(c, text, from, to, &e, true, words);
    about->study = name;
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
                part->family ? "statement|true|if the number is|found|p|corrected|command"
                             : "statement|true|if the number is|found|command");
    for (int i = 0; i < c->count; i++) {
        claim *about = &c->row[i];
        char range[60], text[40] = "|";
        if (!isnan(p[i]))
            snprintf(text, sizeof text, "%.2g|%.2g", about->p, p[i]);
        about->p = p[i];
        say_range(range, about);
        sheet_row(s, part->family ? "%s|%s|%s|%s|%s|study %s" : "%s|%s|%s|%s%s|study %s", about->text,
                  claim_verdict(about), range, about->words, part->family ? text : "", about->study);
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
    .about = "claims about GELU, each with verdict, number and command",
    .report = report,
    .title = "What is said of GELU",
    .grids = claim_grids,
    .grid_count = CLAIM_GRIDS,
};
