/* study claims: claims about GELU and related activations, each with a verdict, the number, and the command that shows
 * it. */
#include "examples/programs/study/claims.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- findings ---- */

finding finding_interval(double low, double high, const char *format, ...)
{
    finding found = {low, high, NAN};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(found.words, sizeof found.words, format, arguments);
    va_end(arguments);
    return found;
}

/* The two-sided p-value of a distance between an estimate and a bound, by Student's t; 0 if nothing scatters. */
static double p_of(const statistics_estimate *e, double bound)
{
    const double degrees = (double)e->count - 1, error = e->margin / statistics_student_quantile(0.975, degrees);
    const double t = (e->mean - bound) / error;
    return isinf(bound) || e->margin == 0 ? 0
                                          : statistics_incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5);
}

finding finding_estimate(const claims *c, const statistics_estimate *e, bool ratio, const char *words)
{
    const double low = e->mean - e->margin, high = e->mean + e->margin;
    const double from = ratio && !isinf(c->about->from) ? log(c->about->from) : c->about->from,
                 to = ratio && !isinf(c->about->to) ? log(c->about->to) : c->about->to;
    finding found = finding_interval(ratio ? exp(low) : low, ratio ? exp(high) : high, "%s", words);
    found.inside = e->mean >= from && e->mean <= to;
    found.p = found.inside ? fmax(p_of(e, from), p_of(e, to)) : p_of(e, e->mean < from ? from : to);
    return found;
}

finding finding_none(void)
{
    return finding_number(NAN, "run the command first");
}

finding claim_stated(const claims *c)
{
    finding found = finding_number(0, "%s", c->about->of[1]);
    found.verdict = c->about->of[0];
    return found;
}

const char *claim_verdict(const claim *about, const finding *found)
{
    const double low = found->low, high = found->high;
    const bool one_sided = isinf(about->from) || isinf(about->to); /* the bound is then excluded */
    const bool inside = one_sided ? low > about->from && high < about->to : low >= about->from && high <= about->to;
    const bool outside = one_sided ? low >= about->to || high <= about->from : low > about->to || high < about->from;
    return found->verdict      ? found->verdict
           : isnan(low + high) ? "not measured"
           : found->p >= 0.05  ? "not shown"
           : found->p < 0.05   ? (found->inside ? "yes" : "no")
           : inside            ? "yes"
           : outside           ? "no"
                               : "not shown";
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
    const claim *claims;
} parts[] = {
    {"Values",
     "In double precision, by the operations of the tape; beside them erfc of libm for the normal distribution and "
     "Hermite polynomials for higher derivatives.",
     claim_values},
    {"Costs",
     "Times are medians of processor time, of one thread, with their 95 % intervals. Operations and memory are "
     "counted.",
     claim_costs},
    {"Training",
     "Differences between runs are paired by seed, with 95 % intervals of the mean by Student's t, and ratios are of "
     "geometric means. Seeds that redraw the rows of a table count as independent. Each net has the best of its grid's "
     "rates by validation; the grids are below. All of "
     "these statements are one family: p is the level at which an interval would just decide, corrected by Holm's "
     "method for their number, so that at most one family in twenty has a wrong decision. Nets are small, and so are "
     "most numbers of seeds: what is not shown may still be so.",
     claim_training},
    {"Use", "What texts say of other models, which are not trained here.", claim_use},
    {"Blocks", "What the texts show as code, and where it is here.", claim_blocks},
};
enum { PARTS = sizeof parts / sizeof *parts };

enum { ROWS = 64 };

static void put_part(claims *all, sheet *s, const struct part *part)
{
    static finding found[ROWS];
    double p[ROWS];
    const bool blocks = part->claims == claim_blocks, family = part->claims == claim_training;
    int count = 0;
    for (; part->claims[count].text; count++) {
        all->about = &part->claims[count];
        found[count] = all->about->find(all);
        p[count] = found[count].p;
    }
    statistics_holm(p, (size_t)count);
    sheet_heading(s, part->heading);
    sheet_text(s, "%s", part->text);
    sheet_table(s, 1,
                blocks   ? "block|there|as|command"
                : family ? "statement|true|if the number is|found|p|corrected|command"
                         : "statement|true|if the number is|found|command");
    for (int i = 0; i < count; i++) {
        const claim *about = &part->claims[i];
        char range[60] = "", text[2][16] = {"", ""};
        if (!isnan(p[i])) {
            snprintf(text[0], sizeof text[0], "%.2g", found[i].p);
            snprintf(text[1], sizeof text[1], "%.2g", p[i]);
            found[i].p = p[i];
        }
        sheet_row(s, "%s|%s", about->text, claim_verdict(about, &found[i]));
        if (!found[i].verdict)
            say_range(range, about);
        if (!blocks)
            sheet_cell(s, "%s", range);
        sheet_cell(s, "%s", found[i].words);
        for (int k = 0; family && k < 2; k++)
            sheet_cell(s, "%s", text[k]);
        sheet_cell(s, "study %s", about->study ? about->study : "claims");
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
        sheet_row(s, "%s|%s|%s|%s|%s|%d", grid->each_table ? "tables" : grid->name,
                  grid->each_table ? "nine tables" : study_source_name(grid->data), grid->fixed, factors, rates,
                  grid->seeds);
    }
}

static void report(study_results *r, sheet *s)
{
    claims all = {&r->work, tg_tape_new()};
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
