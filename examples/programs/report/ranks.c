#include "examples/programs/report/ranks.h"

#include "examples/programs/report/memory.h"
#include "examples/programs/report/statistics.h"

#include <math.h>
#include <stdlib.h>

/* The rank of number i among all, times two, so that it is whole: 2 for the least, unless others are equal. */
static size_t twice_rank(const double numbers[], size_t count, size_t i)
{
    size_t twice = 1;
    for (size_t k = 0; k < count; k++)
        twice += numbers[k] < numbers[i] ? 2 : numbers[k] == numbers[i];
    return twice;
}

/* The ranks of the forms on a data set, times two: 2 for the best. */
static void rank_set(const ranks_scores *of, size_t set, double *room, size_t twice[])
{
    for (size_t f = 0; f < of->forms; f++)
        room[f] = (of->less_is_better ? 1 : -1) * of->scores[set * of->forms + f];
    for (size_t f = 0; f < of->forms; f++)
        twice[f] = twice_rank(room, of->forms, f);
}

void ranks_mean(const ranks_scores *of, double mean[])
{
    double *room = memory_checked(calloc(of->forms + 1, sizeof *room));
    size_t *twice = memory_checked(calloc(of->forms + 1, sizeof *twice));
    for (size_t f = 0; f < of->forms; f++)
        mean[f] = 0;
    for (size_t s = 0; s < of->sets; s++) {
        rank_set(of, s, room, twice);
        for (size_t f = 0; f < of->forms; f++)
            mean[f] += 0.5 * (double)twice[f] / (double)of->sets;
    }
    free(room);
    free(twice);
}

/* ---- all forms ---- */

/* The sum of squared deviations of all ranks from their mean: less than without ties. */
static double spread_of_ranks(const ranks_scores *of)
{
    double *room = memory_checked(calloc(of->forms + 1, sizeof *room)), sum = 0;
    size_t *twice = memory_checked(calloc(of->forms + 1, sizeof *twice));
    const double middle = 0.5 * (double)(of->forms + 1);
    for (size_t s = 0; s < of->sets; s++) {
        rank_set(of, s, room, twice);
        for (size_t f = 0; f < of->forms; f++)
            sum += (0.5 * (double)twice[f] - middle) * (0.5 * (double)twice[f] - middle);
    }
    free(room);
    free(twice);
    return sum;
}

double ranks_friedman(const ranks_scores *of, double *statistic)
{
    const double n = (double)of->sets, k = (double)of->forms;
    double f = NAN, p = NAN;
    if (of->sets >= 2 && of->forms >= 2) {
        double *mean = memory_checked(calloc(of->forms, sizeof *mean)), between = 0;
        ranks_mean(of, mean);
        for (size_t i = 0; i < of->forms; i++)
            between += n * (mean[i] - 0.5 * (k + 1)) * (mean[i] - 0.5 * (k + 1));
        free(mean);
        const double rest = spread_of_ranks(of) - between; /* of the ranks on each data set around the mean ranks */
        const double degrees = (k - 1) * (n - 1);
        f = between <= 0 ? 0 : rest <= 1e-9 * between ? INFINITY : (n - 1) * between / rest;
        p = f == 0     ? 1
            : isinf(f) ? 0
                       : statistics_incomplete_beta(degrees / (degrees + (k - 1) * f), degrees / 2, (k - 1) / 2);
    }
    if (statistic)
        *statistic = f;
    return p;
}

/* ---- pairs ---- */

/* The share of all signs of these ranks, given times two, whose positive sum is at most `most`. */
static double share_at_most(const size_t twice[], size_t count, size_t most)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += twice[i];
    double *share = memory_checked(calloc(total + 1, sizeof *share)), sum = 0;
    share[0] = 1; /* share[s]: of the signs so far, those with the sum s */
    for (size_t i = 0, reached = 0; i < count; i++) {
        reached += twice[i];
        for (size_t s = reached + 1; s-- > 0;)
            share[s] = 0.5 * (share[s] + (s >= twice[i] ? share[s - twice[i]] : 0));
    }
    for (size_t s = 0; s <= most && s <= total; s++)
        sum += share[s];
    free(share);
    return sum;
}

double ranks_signed(const double differences[], size_t count)
{
    double *size = memory_checked(calloc(count + 1, sizeof *size));
    size_t *twice = memory_checked(calloc(count + 1, sizeof *twice)), used = 0, above = 0, below = 0;
    for (size_t i = 0; i < count; i++)
        if (differences[i] != 0)
            size[used++] = fabs(differences[i]);
    for (size_t i = 0; i < used; i++)
        twice[i] = twice_rank(size, used, i);
    for (size_t i = 0, k = 0; i < count; i++)
        if (differences[i] != 0)
            *(differences[i] > 0 ? &above : &below) += twice[k++];
    const double p = used ? fmin(1, 2 * share_at_most(twice, used, above < below ? above : below)) : 1;
    free(size);
    free(twice);
    return p;
}

void ranks_pairs(const ranks_scores *of, double p[])
{
    double *difference = memory_checked(calloc(of->sets + 1, sizeof *difference));
    size_t pair = 0;
    for (size_t a = 0; a < of->forms; a++)
        for (size_t b = a + 1; b < of->forms; b++) {
            for (size_t s = 0; s < of->sets; s++)
                difference[s] = of->scores[s * of->forms + a] - of->scores[s * of->forms + b];
            p[pair++] = ranks_signed(difference, of->sets);
        }
    statistics_holm(p, pair);
    free(difference);
}

size_t ranks_sets_needed(size_t forms)
{
    size_t sets = 1;
    for (double p = (double)(forms * (forms - 1) / 2); p > 0.05; p /= 2) /* 2 signs of 2^sets: p = 2^(1 - sets) */
        sets++;
    return sets;
}
