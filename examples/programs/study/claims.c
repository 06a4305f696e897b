/* The rule of claims: each is a statement, the range in which a number must lie for it to be true, and the number: a
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
#include "examples/programs/study/study.h"

#include <math.h>
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
static study_claim read_range(json_t *about)
{
    const json_t *below = json_object_get(about, "below"), *above = json_object_get(about, "above"),
                 *near = json_object_get(about, "near"), *range = near ? near : json_object_get(about, "range");
    const double first = json_number_value(json_array_get(range, 0)),
                 second = json_number_value(json_array_get(range, 1));
    study_claim c = {.from = near ? first - second : first, .to = near ? first + second : second};
    char text[60];
    if (below || above) {
        c.from = below ? -INFINITY : json_number_value(above);
        c.to = below ? json_number_value(below) : INFINITY;
        snprintf(text, sizeof text, "%s %g", below ? "below" : "above", below ? c.to : c.from);
    } else
        snprintf(text, sizeof text, c.from < c.to ? "%g to %g" : "%g", c.from, c.to);
    json_object_set_new(about, "range", json_string(text));
    c.low = c.high = c.p = NAN;
    return c;
}

/* ---- measures ----
 *
 *     "perplexity": {"name": ..., "of": "exp(best_val_loss)", "format": ".3f", "ratio": true, "over": "regret"}
 *
 * "of" is a formula of a run's results. Without "over" it is that at the best rate of the cell; else, over all rates,
 * the "greatest", the "best" rate, or "regret": the mean, of rates up to "rates_to", over the least. */

static double over_rates(study_part *p, const study_cell *cell, const json_t *m, int seed)
{
    const char *of = study_text(m, "of"), *over = study_text(m, "over");
    const double rates_to = json_number_value(json_object_get(m, "rates_to"));
    double greatest = -INFINITY, least = INFINITY, best = NAN, sum = 0;
    int counted = 0;
    for (int rate = 0; rate < cell->rates; rate++) {
        const double value = study_number(p, of, cell->results[rate][seed]);
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
                                 : study_number(p, study_text(m, "of"), cell.results[cell.best][seed]);
        s.by_seed[seed] = s.ratio ? log(value) : value;
    }
    p->measures = false;
    return s;
}

/* ---- claims about cells ---- */

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

/* About a measure of the first cell; or its difference from that of the second, paired by seed; or that difference less
 * that of the last two. */
static void compare(study_claim *c, const study_sample cell[], size_t count, json_t *values)
{
    const study_sample first = difference(&cell[0], &cell[1]), second = difference(&cell[2], &cell[3]);
    const statistics_estimate e = count < 4 ? study_set_sample(values, &cell[0], count < 2 ? NULL : &cell[1])
                                            : study_set_sample(values, &first, &second);
    const double mean = study_shown(cell, e.mean),
                 at[2] = {p_of(&e, cell->ratio, c->from), p_of(&e, cell->ratio, c->to)};
    c->low = study_shown(cell, e.mean - e.margin);
    c->high = study_shown(cell, e.mean + e.margin);
    c->inside = mean >= c->from && mean <= c->to;
    c->p = c->inside ? fmax(at[0], at[1]) : at[mean > c->from];
}

/* That something never occurs, of `things` in each run, counted in percent. Where none of n is seen, with 95 % at most
 * 1 - 0.05^(1/n) are there (0.05 is the probability of seeing none of n then); a t test of constants would call any
 * number of zeros a proof. */
static void count_none(study_claim *c, const study_sample *cell, double things, json_t *values)
{
    const double n = cell->seeds * things, mean = study_set_sample(values, cell, NULL).mean;
    c->low = mean;
    c->high = mean == 0 ? 100 * (1 - pow(0.05, 1 / n)) : mean;
    study_set(values, "n", n);
    study_set(values, "seen", mean / 100 * n);
    study_set(values, "most", c->high);
}

static void read_cells(study_part *p, study_claim *c, json_t *values)
{
    enum { CELLS = 4 };
    static const char *const words[CELLS + 1] = {"", "{of_one_cell}", "{of_two_cells}", "", "{of_four_cells}"},
                                           *const names[CELLS] = {"first", "second", "third", "fourth"};
    const char *name = study_text(values, "measure"), *found = "{not_measured}";
    const json_t *m = json_object_get(json_object_get(p->of->file, "measures"), name ? name : ""),
                 *cells = json_object_get(values, "cells"), *none_of = json_object_get(values, "none_of");
    study_sample cell[CELLS] = {{0}};
    size_t count = 0;
    for (; count < CELLS && count < json_array_size(cells); count++) {
        cell[count] = measure(p, m, json_string_value(json_array_get(cells, count)));
        if (!cell[count].seeds)
            break;
        study_set(values, names[count],
                  study_shown(cell, statistics_of(cell[count].by_seed, (size_t)cell[count].seeds).mean));
    }
    if (count && count == json_array_size(cells)) {
        found = none_of ? "{of_none}" : words[count];
        if (none_of)
            count_none(c, cell, json_number_value(none_of), values);
        else
            compare(c, cell, count, values);
    }
    json_object_update(values, (json_t *)m);
    json_object_set_new(values, "found", json_string(found));
    json_object_set_new(values, "difference", json_string(cell->ratio ? ".3f" : "+.3f"));
    json_object_set_new(values, "times", json_string(cell->ratio ? " times" : ""));
}

void study_put_claims(study_part *p)
{
    enum { CLAIMS = 64 };
    const json_t *about;
    json_t *values[CLAIMS];
    study_claim claim[CLAIMS];
    double corrected[CLAIMS];
    size_t count = 0, i;
    json_array_foreach(json_object_get(p->part, "claims"), i, about) {
        if (count == CLAIMS)
            break;
        study_claim *c = &claim[count];
        json_t *v = values[count] = json_copy((json_t *)about);
        const char *number = study_text(about, "number");
        *c = read_range(v);
        if (number)
            study_set(v, "n", c->low = c->high = study_number(p, number, NULL));
        else
            read_cells(p, c, v);
        corrected[count++] = c->p;
    }
    statistics_holm(corrected, count);
    for (i = 0; i < count; i++) {
        study_set(values[i], "p", claim[i].p);
        study_set(values[i], "corrected", claim[i].p = corrected[i]);
        json_object_set_new(values[i], "verdict", json_string(study_verdict(&claim[i])));
        study_put(p, "row", values[i]);
        json_decref(values[i]);
    }
}
