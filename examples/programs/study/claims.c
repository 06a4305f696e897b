/* The rule of claims: each is a statement, the range in which a number must lie for it to be true, and the number: an
 * formula, or a measure of cells of runs.
 *
 *     {"claim": "the minimum is at -0.75", "near": [-0.75, 0.005], "number": "lowest", "found": "at {n:.6f}"}
 *     {"claim": "GELU trains faster than ReLU", "below": 1, "measure": "loss_of_epoch_2",
 *      "cells": ["mnist-gelu_exact", "mnist-relu"]}
 *
 *     {"claim": "no dead units", "below": 0.2, "measure": "dead_units", "none_of": 512, "cells": [...]}   // units in a run
 *
 * One rule for all: yes if the number, or its whole interval, lies in the range; no if all of it lies outside; else not
 * shown. Statements that rest on seeds are one family: the level of their intervals is that of Holm's method for all of
 * a part together. */
#include "examples/programs/report/memory.h"
#include "examples/programs/report/statistics.h"
#include "examples/programs/study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *study_verdict(const study_claim *c)
{
    const bool one_sided = isinf(c->from) || isinf(c->to); /* the bound is then excluded */
    const bool inside = one_sided ? c->low > c->from && c->high < c->to : c->low >= c->from && c->high <= c->to;
    const bool outside = one_sided ? c->low >= c->to || c->high <= c->from : c->low > c->to || c->high < c->from;
    return isnan(c->low + c->high) ? "not measured"
           : c->p >= 0.05          ? "not shown"
           : c->p < 0.05           ? (c->inside ? "yes" : "no")
           : inside                ? "yes"
           : outside               ? "no"
                                   : "not shown";
}

/* Reads "below", "above", "near": [number, off] or "range": [from, to], and says it: "below 1", "0.97 to 0.99". */
static void read_range(const json_t *about, study_claim *c, char text[60])
{
    const json_t *below = json_object_get(about, "below"), *above = json_object_get(about, "above"),
                 *near = json_object_get(about, "near"), *range = json_object_get(about, near ? "near" : "range");
    const double first = json_number_value(json_array_get(range, 0)),
                 second = json_number_value(json_array_get(range, 1));
    c->from = below ? -INFINITY : above ? json_number_value(above) : near ? first - second : first;
    c->to = above ? INFINITY : below ? json_number_value(below) : near ? first + second : second;
    if (below || above)
        snprintf(text, 60, "%s %g", below ? "below" : "above", below ? c->to : c->from);
    else
        snprintf(text, 60, c->from < c->to ? "%g to %g" : "%g", c->from, c->to);
}

/* ---- measures ---- */

/* "measures": {"perplexity": {"name": ..., "of": "exp(best_val_loss)", "format": ".3f", "ratio": true}}. */
typedef struct measure {
    const char *name, *of, *format;
    const char *over; /* NULL: at the best rate of the cell; or over all rates: "greatest", "best", "regret" */
    double rates_to;  /* regret counts rates up to this one */
    bool ratio;       /* logarithms are compared, and differences are ratios */
} measure;

static measure measure_called(const study_part *p, const char *name)
{
    const json_t *of = json_object_get(json_object_get(p->of->file, "measures"), name);
    return (measure){.name = study_text(of, "name"),
                     .of = study_text(of, "of"),
                     .format = study_text(of, "format"),
                     .over = study_text(of, "over"),
                     .rates_to = json_number_value(json_object_get(of, "rates_to")),
                     .ratio = json_is_true(json_object_get(of, "ratio"))};
}

typedef struct place {
    const study_cell *cell;
    double rate;
    int seed;
} place;

static double result_called(const void *context, const char *name)
{
    const place *at = context;
    return study_cell_value(at->cell, at->rate, name, at->seed);
}

/* The measure of a seed; of a ratio the logarithm. */
static double measure_of(study_part *p, const study_cell *cell, const measure *m, int seed)
{
    double values[STUDY_RATES], most = NAN, sum = 0, value;
    int best = 0, counted = 0;
    if (!m->over) {
        value = study_evaluate(p, m->of, result_called, &(place){cell, cell->best, seed});
        return m->ratio ? log(value) : value;
    }
    for (int rate = 0; rate < cell->rate_count; rate++) {
        values[rate] = study_evaluate(p, m->of, result_called, &(place){cell, cell->rates[rate], seed});
        most = fmax(most, values[rate]);
        best = values[rate] < values[best] ? rate : best;
        sum += cell->rates[rate] <= m->rates_to ? log(values[rate]) : 0;
        counted += cell->rates[rate] <= m->rates_to;
    }
    value = strcmp(m->over, "greatest") == 0 ? most
            : strcmp(m->over, "best") == 0   ? cell->rates[best]
                                             : exp(sum / counted) / values[best]; /* a geometric mean */
    return m->ratio ? log(value) : value;
}

static double shown(const measure *m, double number)
{
    return m->ratio ? exp(number) : number;
}

/* ---- claims about cells ---- */

enum { CELLS = 4, CLAIMS = 64 };

typedef struct row {
    study_claim c;
    char range[60], *found;
} row;

/* The two-sided p-value of the distance of an estimate from a bound; 0 if nothing scatters. */
static double p_of(const statistics_estimate *e, const measure *m, double bound)
{
    statistics_estimate distance = *e;
    distance.mean -= m->ratio && !isinf(bound) ? log(bound) : bound;
    return isinf(bound) || e->error == 0 ? 0 : statistics_p(&distance);
}

/* A number as the measure's format, or another one, has it. */
static const char *number_text_of(study_part *p, const char *format, double number, char text[40])
{
    char template[40];
    snprintf(template, sizeof template, "{n:%.20s}", format ? format : "g");
    char *said = study_say(p, template, (study_value[]){{"n", NULL, number}, {0}});
    snprintf(text, 40, "%s", said);
    free(said);
    return text;
}

/* About a measure of the first cell; or its difference from that of the second, paired by seed; or that difference less
 * that of the last two. False if not all of their runs are complete. */
static bool compare_cells(study_part *p, const json_t *about, const measure *m, row *r)
{
    static const int sign[CELLS] = {1, -1, -1, 1};
    static const char *const words[] = {"", "{of_one_cell}", "{of_two_cells}", "", "{of_four_cells}"};
    const json_t *names = json_object_get(about, "cells");
    const int count = (int)json_array_size(names) < CELLS ? (int)json_array_size(names) : CELLS;
    double by_seed[STUDY_SEEDS], sum[STUDY_SEEDS] = {0};
    char each[CELLS][40] = {""}, interval[3][40];
    int seeds = 0;
    for (int i = 0; i < count; i++) {
        const study_cell cell = study_cell_of(p->of, json_string_value(json_array_get(names, (size_t)i)));
        seeds = cell.whole ? cell.seeds : 0;
        for (int seed = 0; seed < seeds; seed++)
            sum[seed] += sign[i] * (by_seed[seed] = measure_of(p, &cell, m, seed + 1));
        if (!seeds)
            return false;
        number_text_of(p, m->format, shown(m, statistics_of(by_seed, (size_t)seeds).mean), each[i]);
    }
    const statistics_estimate e = statistics_of(sum, (size_t)seeds);
    const double bounds[3] = {shown(m, e.mean), shown(m, e.mean - e.margin), shown(m, e.mean + e.margin)},
                 at[2] = {p_of(&e, m, r->c.from), p_of(&e, m, r->c.to)};
    for (int i = 0; i < 3; i++)
        number_text_of(p, count < 2 ? m->format : m->ratio ? ".3f" : "+.3f", bounds[i], interval[i]);
    r->c.low = bounds[1];
    r->c.high = bounds[2];
    r->c.inside = bounds[0] >= r->c.from && bounds[0] <= r->c.to;
    r->c.p = r->c.inside ? fmax(at[0], at[1]) : at[bounds[0] > r->c.from];
    r->found = study_say(p, words[count],
                         (study_value[]){{"measure", m->name, 0},
                                         {"first", each[0], 0},
                                         {"second", each[1], 0},
                                         {"third", each[2], 0},
                                         {"fourth", each[3], 0},
                                         {"mean", interval[0], 0},
                                         {"low", interval[1], 0},
                                         {"high", interval[2], 0},
                                         {"times", count > 1 && m->ratio ? " times" : "", 0},
                                         {0}});
    return true;
}

/* That something never occurs, of `things` in each run, counted in percent. Where none of n is seen, with 95 % at most
 * 1 - 0.05^(1/n) are there (0.05 is the probability of seeing none of n then); a t test of constants would call any
 * number of zeros a proof. */
static bool count_none(study_part *p, const json_t *about, const measure *m, int things, row *r)
{
    const json_t *name = json_array_get(json_object_get(about, "cells"), 0);
    const study_cell cell = study_cell_of(p->of, json_string_value(name));
    const int seeds = cell.whole ? cell.seeds : 0, n = seeds * things;
    double mean = 0;
    char seen[40];
    for (int seed = 0; seed < seeds; seed++)
        mean += measure_of(p, &cell, m, seed + 1) / seeds;
    if (!seeds)
        return false;
    r->c.low = mean;
    r->c.high = mean == 0 ? 100 * (1 - pow(0.05, 1. / n)) : mean;
    number_text_of(p, ".0f", mean / 100 * n, seen);
    r->found =
        study_say(p, "{of_none}", (study_value[]){{"seen", seen, 0}, {"n", NULL, n}, {"most", NULL, r->c.high}, {0}});
    return true;
}

/* ---- the rule ---- */

static void read_claim(study_part *p, const json_t *about, row *r)
{
    const char *number = study_text(about, "number"), *name = study_text(about, "measure");
    *r = (row){.c = {.low = NAN, .high = NAN, .p = NAN}};
    read_range(about, &r->c, r->range);
    if (number) {
        r->c.low = r->c.high = study_number(p, number, NULL);
        r->found = study_say(p, study_text(about, "found"), (study_value[]){{"n", NULL, r->c.low}, {0}});
        return;
    }
    const measure m = measure_called(p, name ? name : "");
    const int things = (int)json_integer_value(json_object_get(about, "none_of"));
    if (!(things ? count_none(p, about, &m, things, r) : compare_cells(p, about, &m, r)))
        r->found = study_say(p, "{not_measured}", NULL);
}

void study_put_claims(study_part *p)
{
    const json_t *list = json_object_get(p->part, "claims"), *about;
    static row rows[CLAIMS];
    double p_values[CLAIMS];
    size_t count = json_array_size(list) < CLAIMS ? json_array_size(list) : CLAIMS, i;
    json_array_foreach(list, i, about) {
        if (i < count)
            read_claim(p, about, &rows[i]);
        p_values[i < count ? i : 0] = rows[i < count ? i : 0].c.p;
    }
    statistics_holm(p_values, count);
    for (i = 0; i < count; i++) {
        row *r = &rows[i];
        char before[40] = "", corrected[40] = "";
        if (!isnan(p_values[i])) {
            number_text_of(p, ".2g", r->c.p, before);
            number_text_of(p, ".2g", p_values[i], corrected);
        }
        r->c.p = p_values[i];
        study_put(p, "row",
                  (study_value[]){{"statement", study_text(json_array_get(list, i), "claim"), 0},
                                  {"verdict", study_verdict(&r->c), 0},
                                  {"range", r->range, 0},
                                  {"found", r->found, 0},
                                  {"p", before, 0},
                                  {"corrected", corrected, 0},
                                  {0}});
        free(r->found);
    }
}
