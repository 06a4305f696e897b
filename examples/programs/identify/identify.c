#include "examples/programs/identify/identify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Probabilities below this are neglected. */
static const double sure = 1e-6;

/* ---- the points ---- */

typedef struct points {
    size_t count;
    identify_pair pairs[IDENTIFY_MOST];
    double quantum[IDENTIFY_MOST]; /* the unit of the last digit y was printed with */
    double x[IDENTIFY_FORMATS][IDENTIFY_MOST], y[IDENTIFY_FORMATS][IDENTIFY_MOST]; /* as numbers of the format; NaN if y
                                                                                      is not one */
    double probability[IDENTIFY_MOST]; /* of each point, for the current candidate */
    identify_interval allowed[IDENTIFY_MOST];
} points;

static int by_x_and_y(const void *one, const void *other)
{
    const identify_pair *a = one, *b = other;
    const int by_x = (a->x > b->x) - (a->x < b->x);
    return by_x ? by_x : (a->y > b->y) - (a->y < b->y);
}

/* Sorts, and keeps different points, up to the maximum. */
static void keep_different(points *p, identify_pair pairs[], size_t count)
{
    size_t different = 0;
    qsort(pairs, count, sizeof *pairs, by_x_and_y);
    for (size_t i = 0; i < count; i++)
        if (different == 0 || by_x_and_y(&pairs[i], &pairs[different - 1]) != 0)
            pairs[different++] = pairs[i];
    p->count = different < IDENTIFY_MOST ? different : IDENTIFY_MOST;
    for (size_t i = 0; i < p->count; i++)
        p->pairs[i] = pairs[different > IDENTIFY_MOST ? i * (different - 1) / (IDENTIFY_MOST - 1) : i];
}

/* Finds the unit of the last printed digit: the largest number of significant digits (as with "%.6g") and of decimals
 * (as with "%.6f") in the file, and the coarser of the two. */
static void find_quanta(points *p)
{
    int most_significant = 1, most_behind = 0;
    for (size_t i = 0; i < p->count; i++) {
        int significant, behind;
        identify_decimals(p->pairs[i].y, &significant, &behind);
        most_significant = significant > most_significant ? significant : most_significant;
        most_behind = behind > most_behind ? behind : most_behind;
        p->quantum[i] = significant - 1 - behind; /* temporarily the exponent of y */
    }
    for (size_t i = 0; i < p->count; i++)
        p->quantum[i] = pow(10, fmax(-most_behind, p->quantum[i] + 1 - most_significant));
}

static void find_formats(points *p)
{
    for (int f = 0; f < IDENTIFY_FORMATS; f++)
        for (size_t i = 0; i < p->count; i++) {
            p->x[f][i] = identify_round(&identify_formats[f], p->pairs[i].x);
            if (!identify_printed(&identify_formats[f], p->pairs[i].y, p->quantum[i], &p->y[f][i]))
                p->y[f][i] = NAN;
        }
}

/* ---- candidates ---- */

/* The number of values in an interval. */
static double values_in(const identify_interval *a, double y, double quantum, int format)
{
    const double ulp = identify_ulp(&identify_formats[format], fmax(fabs(y), fabs(a->value)));
    return 1 + (a->high - a->low + quantum) / fmax(ulp, fmax(quantum, a->step));
}

/* Adds the contribution of an interval to the probability of each point. A 0 may be the rest of a difference, or a
 * number too small for the processor, so it does not make a form that allows it less probable. True if all points are
 * in the interval. */
static bool weigh_interval(points *p, int format)
{
    bool all = true;
    for (size_t i = 0; i < p->count; i++) {
        const identify_interval *a = &p->allowed[i];
        const double y = p->y[format][i], slack = 0.5 * p->quantum[i];
        const bool inside = y >= a->low - slack && y <= a->high + slack;
        if (inside && y == 0)
            p->probability[i] = 1;
        else if (inside)
            p->probability[i] += 1 / values_in(a, y, p->quantum[i], format) / IDENTIFY_ARITHMETICS;
        all &= inside;
    }
    return all;
}

/* Sets the fit of a candidate's form in its format, and `formats` if all points are as if computed exactly and then
 * rounded to the format. The likelihood is -infinity if a point does not fit. */
static bool judge(points *p, identify_candidate *c, int format, tg_tape *tape, double *log_likelihood)
{
    memset(p->probability, 0, p->count * sizeof *p->probability);
    for (int a = 0; a < IDENTIFY_ARITHMETICS; a++) {
        if (!identify_intervals(c->form, c->format, a, tape, p->count, p->x[format], p->allowed))
            return false;
        if (weigh_interval(p, format) && a == IDENTIFY_ROUNDED)
            c->formats = 1u << format;
    }
    *log_likelihood = 0;
    for (size_t i = 0; i < p->count; i++) {
        const double y = p->pairs[i].y, value = p->allowed[i].value;
        const double scale = fmax(fmax(1, fabs(p->pairs[i].x)), fmax(fabs(y), fabs(value)));
        const double unit = fmax(identify_ulp(c->format, scale), p->quantum[i]);
        const double error = isnan(value) ? INFINITY : fabs(y - value) / unit;
        c->fits += p->probability[i] > 0;
        *log_likelihood += log(p->probability[i]);
        if (error >= c->worst) {
            c->worst = error;
            c->worst_x = p->pairs[i].x;
        }
    }
    return true;
}

/* The best format for a form: the most probable one, else the one that misses the fewest points, by the least. */
static bool find_candidate(points *p, const identify_form *form, tg_tape *tape, identify_candidate *best,
                           double log_likelihoods[IDENTIFY_FORMATS])
{
    double highest = -INFINITY;
    for (int f = 0; f < IDENTIFY_FORMATS; f++) {
        identify_candidate c = {.form = form, .format = &identify_formats[f], .worst_x = NAN};
        if (!judge(p, &c, f, tape, &log_likelihoods[f]))
            return false;
        const unsigned formats = best->formats | c.formats;
        if (!best->format || log_likelihoods[f] > highest ||
            (log_likelihoods[f] == highest &&
             (c.fits > best->fits || (c.fits == best->fits && c.worst < best->worst)))) {
            *best = c;
            highest = log_likelihoods[f];
        }
        best->formats = formats;
    }
    return true;
}

static int most_probable_first(const void *one, const void *other)
{
    const identify_candidate *a = one, *b = other;
    if (a->share != b->share)
        return a->share < b->share ? 1 : -1;
    if (a->fits != b->fits)
        return a->fits < b->fits ? 1 : -1;
    return (a->worst > b->worst) - (a->worst < b->worst);
}

/* Turns likelihoods into probabilities. */
static void weigh(identify_result *r, double log_likelihoods[][IDENTIFY_FORMATS])
{
    double greatest = -INFINITY, sum = 0;
    for (int i = 0; i < r->count; i++)
        for (int f = 0; f < IDENTIFY_FORMATS; f++)
            greatest = fmax(greatest, log_likelihoods[i][f]);
    if (greatest == -INFINITY)
        return;
    for (int i = 0; i < r->count; i++)
        for (int f = 0; f < IDENTIFY_FORMATS; f++)
            sum += exp(log_likelihoods[i][f] - greatest);
    for (int i = 0; i < r->count; i++)
        for (int f = 0; f < IDENTIFY_FORMATS; f++) {
            const double share = exp(log_likelihoods[i][f] - greatest) / sum;
            r->candidates[i].share += share;
            r->candidates[i].formats |= share > sure ? 1u << f : 0;
        }
    for (int i = 0; i < r->count; i++)
        if (r->candidates[i].share <= sure)
            r->candidates[i].formats = 0;
}

/* The most probable first; names the first if that is enough. */
static void rank(identify_result *r, double log_likelihoods[][IDENTIFY_FORMATS])
{
    double others = 0;
    weigh(r, log_likelihoods);
    qsort(r->candidates, (size_t)r->count, sizeof *r->candidates, most_probable_first);
    for (int i = 1; i < r->count; i++)
        others += r->candidates[i].share;
    if (r->candidates[0].share > 0 && others < sure && r->points >= IDENTIFY_LEAST)
        r->form = r->candidates[0].form;
}

bool identify(identify_pair pairs[], size_t count, identify_result *result)
{
    double log_likelihoods[IDENTIFY_FORMS][IDENTIFY_FORMATS];
    points *p = calloc(1, sizeof *p);
    tg_tape *tape = tg_tape_new();
    bool fine = p && tape;
    *result = (identify_result){.count = identify_form_count()};
    if (fine) {
        keep_different(p, pairs, count);
        find_quanta(p);
        find_formats(p);
        result->points = p->count;
    }
    for (int i = 0; i < result->count && fine; i++)
        fine = find_candidate(p, identify_form_at(i), tape, &result->candidates[i], log_likelihoods[i]);
    if (fine)
        rank(result, log_likelihoods);
    free(p);
    tg_tape_free(tape);
    return fine;
}
