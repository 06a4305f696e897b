/* The rule of claims: each is a statement, the range in which a number must lie for it to be true, and the number: n, a
 * formula, or a measure of cells of runs.
 *
 *     {"claim": "the minimum is at -0.75", "from": -0.755, "to": -0.745, "n": "{lowest}", "found": "at {n:.6f}"}
 *     {"claim": "GELU trains faster than ReLU", "to": 1, "measure": "loss_of_epoch_2",
 *      "cells": ["mnist-gelu_exact", "mnist-relu"], "found": "{of_two_cells}"}
 *
 * One rule for all: yes if the number, or its whole interval, low to high, lies in the range; no if all of it lies
 * outside; else not shown. Statements that rest on seeds are one family: the level of their intervals is that of Holm's
 * method for all of a part together. */
#include "examples/programs/study/study.h"

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

/* Reads a range, and says it: "below 1", "0.97 to 0.99". */
static study_claim read_range(json_t *values)
{
    const json_t *from = json_object_get(values, "from"), *to = json_object_get(values, "to");
    const study_claim c = {.from = from ? json_number_value(from) : -INFINITY,
                           .to = to ? json_number_value(to) : INFINITY};
    char text[60];
    if (from && to)
        snprintf(text, sizeof text, c.from < c.to ? "%g to %g" : "%g", c.from, c.to);
    else
        snprintf(text, sizeof text, "%s %g", from ? "above" : "below", from ? c.from : c.to);
    json_object_set_new(values, "range", json_string(text));
    return c;
}

/* ---- measures ----
 *
 *     "perplexity": {"name": ..., "of": "exp({best_val_loss})", "format": ".3f", "ratio": true, "over": "regret"}
 *
 * "of" is a formula of a run's results. Without "over" it is that at the best rate of the cell; else, over all rates,
 * the "greatest", the "best" rate, or "regret": the mean, of rates up to "rates_to", over the least. A run that diverged
 * has the number "at_most". */

static double over_rates(study_part *p, const study_cell *cell, const json_t *m, int seed)
{
    const char *of = study_text(m, "of"), *over = study_text(m, "over");
    const json_t *at_most = json_object_get(m, "at_most");
    const double rates_to = json_number_value(json_object_get(m, "rates_to")),
                 most = at_most ? json_number_value(at_most) : INFINITY;
    double greatest = -INFINITY, least = INFINITY, best = NAN, sum = 0;
    int counted = 0;
    for (int rate = 0; rate < cell->rates; rate++) {
        const double value = fmin(study_formula(p, of, cell->results[rate][seed]), most);
        greatest = fmax(greatest, value);
        best = value < least ? cell->rate[rate] : best;
        least = fmin(least, value);
        sum += cell->rate[rate] <= rates_to ? log(value) : 0;
        counted += cell->rate[rate] <= rates_to;
    }
    return strcmp(over, "greatest") == 0 ? greatest : strcmp(over, "best") == 0 ? best : exp(sum / counted) / least;
}

/* The measure of a cell whose runs are all complete; else no seed. */
static study_sample measure(study_part *p, const json_t *m, const char *name)
{
    const study_cell cell = study_cell_of(p->of, name);
    study_sample s = {.ratio = json_is_true(json_object_get(m, "ratio")), .seeds = cell.whole ? cell.seeds : 0};
    p->measures = true;
    for (int seed = 0; seed < s.seeds; seed++) {
        const double value = json_object_get(m, "over")
                                 ? over_rates(p, &cell, m, seed)
                                 : study_formula(p, study_text(m, "of"), cell.results[cell.best][seed]);
        s.by_seed[seed] = s.ratio ? log(value) : value;
    }
    p->measures = false;
    return s;
}

static study_sample difference(const study_sample *one, const study_sample *other)
{
    study_sample d = *one;
    for (int i = 0; i < d.seeds; i++)
        d.by_seed[i] -= other->by_seed[i];
    return d;
}

/* The two-sided p-value of the distance of an estimate from a bound; 0 if nothing scatters. */
static double p_of(const statistics_estimate *e, bool ratio, double bound)
{
    statistics_estimate distance = *e;
    distance.mean -= ratio && !isinf(bound) ? log(bound) : bound;
    return isinf(bound) || e->error == 0 ? 0 : statistics_p(&distance);
}

/* Sets the values of a measure of the first cell; or of its difference from that of the second, paired by seed; or of
 * that difference less that of the last two; and those that the claim has "instead". */
static void compare_cells(study_part *p, const study_claim *c, json_t *values)
{
    enum { CELLS = 4 };
    static const char *const names[CELLS] = {"first", "second", "third", "fourth"};
    json_t *m = json_object_get(json_object_get(p->of->file, "measures"), study_text(values, "measure"));
    const json_t *cells = json_object_get(values, "cells");
    const size_t count = json_array_size(cells);
    study_sample s[CELLS] = {{0}};
    for (size_t i = 0; i < count && i < CELLS; i++) {
        s[i] = measure(p, m, json_string_value(json_array_get(cells, i)));
        if (!s[i].seeds) {
            json_object_set_new(values, "found", json_string("{not_measured}"));
            return;
        }
        study_set(values, names[i], study_shown(s, statistics_of(s[i].by_seed, (size_t)s[i].seeds).mean));
    }
    const study_sample one = count < 4 ? s[0] : difference(&s[0], &s[1]),
                       other = count < 4 ? s[1] : difference(&s[2], &s[3]);
    const statistics_estimate e = study_set_sample(values, &one, count < 2 ? NULL : &other);
    const double mean = study_shown(s, e.mean), from = p_of(&e, s->ratio, c->from), to = p_of(&e, s->ratio, c->to);
    study_set(values, "p", mean < c->from ? from : mean > c->to ? to : fmax(from, to));
    json_object_update_missing(values, m);
    json_object_update(values, json_object_get(values, "instead"));
}

/* ---- the rule ---- */

void study_put_claims(study_part *p)
{
    enum { CLAIMS = 64 };
    json_t *values[CLAIMS], *about;
    study_claim claim[CLAIMS];
    double corrected[CLAIMS];
    size_t count = 0, i;
    json_array_foreach(json_object_get(p->part, "claims"), i, about) {
        if (count == CLAIMS)
            break;
        study_claim *c = &claim[count];
        const bool of_cells = json_object_get(about, "cells");
        json_t *v = values[count] = of_cells ? json_pack("{s:n, s:n, s:n}", "low", "high", "p")
                                             : json_pack("{s:s, s:s, s:n}", "low", "{n}", "high", "{n}", "p");
        json_object_update(v, about);
        *c = read_range(v);
        if (of_cells)
            compare_cells(p, c, v);
        c->low = study_number(p, "low", v);
        c->high = study_number(p, "high", v);
        const double mean = json_number_value(json_object_get(v, "mean"));
        c->inside = mean >= c->from && mean <= c->to;
        corrected[count++] = study_number(p, "p", v);
    }
    statistics_holm(corrected, count);
    for (i = 0; i < count; i++) {
        claim[i].p = corrected[i];
        study_set(values[i], "corrected", corrected[i]);
        json_object_set_new(values[i], "verdict", json_string(study_verdict(&claim[i])));
        study_put(p, "row", values[i]);
        json_decref(values[i]);
    }
}
