#include "examples/programs/report/verdict.h"

#include "examples/programs/data/words.h"

#include <math.h>
#include <stdio.h>

bool verdict_still_falls(const double losses[], int count)
{
    const int last = count - count / 4;
    double before = INFINITY, after = INFINITY;
    for (int i = 0; i < count; i++)
        *(i < last ? &before : &after) = fmin(i < last ? before : after, losses[i]);
    return count >= 4 && after < before - 0.01 * fabs(before);
}

int verdict_pairs_needed(double deviation, double difference, int comparisons, double overlap)
{
    const double ratio = deviation / fabs(difference), level = 1 - 0.05 / (2. * (comparisons > 1 ? comparisons : 1));
    int low = 1, high = VERDICT_MOST_PAIRS; /* too few; enough, or the maximum */
    while (high - low > 1) {
        const int n = low + (high - low) / 2;
        const double quantiles = statistics_student_quantile(level, n - 1.) + statistics_student_quantile(0.8, n - 1.);
        if (1 >= pow(quantiles * ratio, 2) * (1. / n + overlap))
            high = n;
        else
            low = n;
    }
    return high;
}

/* A number with one significant digit, or an integer with two. */
static double rounded(double x, int digits)
{
    const double unit = pow(10, floor(log10(x)) - (digits - 1));
    return unit * round(x / unit);
}

/* The number of decimals that shows one significant digit of a percentage's margin, two of another's. */
static int decimals_of(double margin, bool share)
{
    const double places = isfinite(margin) && margin > 0 ? (share ? 0 : 1) - floor(log10(margin)) : 2;
    return (int)fmax(share ? 1 : 0, fmin(8, places));
}

/* As printed, without a sign before zero. */
static double shown(double x, int decimals)
{
    const double unit = pow(10, -decimals);
    return fabs(x) < unit / 2 ? 0 : x;
}

static void write_power(const verdict_facts *f, double bound, double scale, char *text, size_t size)
{
    const double smaller = rounded(bound / 4, 1);
    const int needed = verdict_pairs_needed(scale * f->difference.deviation, smaller, f->comparisons, f->overlap);
    if (needed == VERDICT_MOST_PAIRS) {
        snprintf(text, size, "; more samples, not more %s, would show one of %g", f->pairs, smaller);
        return;
    }
    const int count = needed >= 100 ? (int)rounded(needed, 2) : needed;
    snprintf(text, size, count <= (int)f->difference.count ? "" : "; about %d %s would show one of %g", count, f->pairs,
             smaller);
}

void verdict_write(const verdict_facts *f, char sentence[VERDICT_SENTENCE])
{
    enum { NAME = 64 };
    const statistics_estimate *d = &f->difference;
    const double scale = f->share ? 100 : 1, mean = scale * d->mean, margin = scale * d->margin, low = mean - margin,
                 high = mean + margin, bound = fmax(fabs(low), fabs(high));
    const char *unit = f->share ? " points" : "";
    const int decimals = decimals_of(margin > 0 ? margin : fabs(mean), f->share), pairs = (int)d->count;
    char among[64] = "", power[128] = "";
    if (f->comparisons > 1)
        snprintf(among, sizeof among, " among %d comparisons (Holm)", f->comparisons);
    int length = snprintf(sentence, VERDICT_SENTENCE, "%.*s against %.*s: ", plain_length(f->name, NAME), f->name,
                          plain_length(f->against, NAME), f->against);
    char *rest = sentence + length;
    const size_t room = VERDICT_SENTENCE - (size_t)length;
    if (pairs == 0)
        snprintf(rest, room, "no verdict on %s, no two runs to compare have finished.", f->measure);
    else if (isnan(mean))
        snprintf(rest, room, "no verdict on %s, a run diverged.", f->measure);
    else if (pairs == 1)
        snprintf(rest, room, "%s %+.*f%s in one pair of runs: no verdict, use several seeds.", f->measure, decimals,
                 mean, unit);
    else if (!(d->deviation > 0))
        snprintf(rest, room, "%s %+.*f%s, the same for all %d %s.", f->measure, decimals, mean, unit, pairs, f->pairs);
    else if (f->p < 0.05)
        snprintf(rest, room, "%s %+.*f%s (%.*f to %.*f), significant at the 5 %% level%s; %d %s.", f->measure, decimals,
                 mean, unit, decimals, shown(low, decimals), decimals, shown(high, decimals), among, pairs, f->pairs);
    else if (low > 0 || high < 0)
        snprintf(rest, room, "%s %+.*f%s (%.*f to %.*f), not significant at the 5 %% level%s, p = %.2f; %d %s.",
                 f->measure, decimals, mean, unit, decimals, shown(low, decimals), decimals, shown(high, decimals),
                 among, f->p, pairs, f->pairs);
    else if (f->share && bound >= 100) { /* the largest possible difference */
        write_power(f, 100, scale, power, sizeof power);
        snprintf(rest, room, "no verdict on %s, the %d %s differ too much%s.", f->measure, pairs, f->pairs, power);
    } else {
        write_power(f, bound, scale, power, sizeof power);
        snprintf(rest, room, "no difference in %s larger than %.*f%s; %d %s%s.", f->measure, decimals, bound, unit,
                 pairs, f->pairs, power);
    }
}
