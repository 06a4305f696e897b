#include "examples/programs/report/ranks.h"

#include "examples/programs/report/memory.h"
#include "examples/programs/report/statistics.h"
#include "examples/programs/system/posix.h"

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
            mean[f] += 0.5 * (double)twice[f]; /* exact, so equal sums stay equal */
    }
    for (size_t f = 0; f < of->forms; f++)
        mean[f] /= (double)of->sets;
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

/* The sum over forms of the squared sum of ranks, which grows with Friedman's statistic. */
static uint64_t unevenness(const size_t twice[], size_t sets, size_t forms)
{
    uint64_t total = 0;
    for (size_t f = 0; f < forms; f++) {
        uint64_t sum = 0;
        for (size_t s = 0; s < sets; s++)
            sum += twice[s * forms + f];
        total += sum * sum;
    }
    return total;
}

double ranks_permuted(const ranks_scores *of, int draws)
{
    double *room = memory_checked(calloc(of->forms + 1, sizeof *room));
    size_t *twice = memory_checked(calloc(of->sets * of->forms + 1, sizeof *twice));
    for (size_t s = 0; s < of->sets; s++)
        rank_set(of, s, room, twice + s * of->forms);
    const uint64_t found = unevenness(twice, of->sets, of->forms);
    tg_rng rng = tg_rng_seed(1);
    int as_uneven = 1; /* what was found is one of all orders */
    for (int draw = 0; draw < draws; draw++) {
        for (size_t s = 0; s < of->sets; s++)
            for (size_t f = of->forms; f-- > 1;) {
                size_t *row = twice + s * of->forms, other = (size_t)tg_rng_below(&rng, f + 1), kept = row[f];
                row[f] = row[other];
                row[other] = kept;
            }
        as_uneven += unevenness(twice, of->sets, of->forms) >= found;
    }
    free(room);
    free(twice);
    return (double)as_uneven / (draws + 1);
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

double ranks_signed(const double differences[], size_t count, int *sign)
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
    if (sign)
        *sign = (above > below) - (above < below);
    free(size);
    free(twice);
    return p;
}

/* ---- the probability of being better ---- */

/* For each of `count` numbers in descending order, how many of them make a sum above `limit` with it, and how many one
 * of at least that. */
static void find_partners(const double z[], size_t count, double limit, size_t above[], size_t least[])
{
    for (size_t i = 0, more = count, most = count; i < count; i++) {
        while (more > 0 && !(z[i] + z[more - 1] > limit))
            more--;
        while (most > 0 && !(z[i] + z[most - 1] >= limit))
            most--;
        above[i] = more;
        least[i] = most;
    }
}

/* The weight of all pairs with such sums; those that are equal to the limit count half. sum[i]: of the weights before
 * i.
 */
static double weight_of(const double weight[], const double sum[], size_t count, const size_t above[],
                        const size_t least[])
{
    double total = 0;
    for (size_t i = 0; i < count; i++)
        total += weight[i] * (sum[above[i]] + sum[least[i]]) / 2;
    return total;
}

void ranks_probable(const double differences[], size_t count, double margin, double probability[3])
{
    enum { DRAWS = 20000 };
    const size_t n = count + 1;
    double *z = memory_checked(calloc(n, sizeof *z)), *weight = memory_checked(calloc(n, sizeof *weight)),
           *sum = memory_checked(calloc(n + 1, sizeof *sum));
    size_t *partners = memory_checked(calloc(4 * n, sizeof *partners)), prior = 0, drawn[3] = {0};
    memcpy(z, differences, count * sizeof *z);
    system_sort(z, n, sizeof *z, system_descending);
    while (z[prior] != 0)
        prior++;
    find_partners(z, n, 2 * margin, partners, partners + n);
    find_partners(z, n, -2 * margin, partners + 2 * n, partners + 3 * n); /* these are not below */
    tg_rng rng = tg_rng_seed(1);
    for (int draw = 0; draw < DRAWS; draw++) {
        for (size_t i = 0; i < n; i++) {
            const double normal = i == prior ? tg_rng_normal(&rng) : 0;
            weight[i] = i == prior ? normal * normal / 2 : -log1p(-tg_rng_uniform(&rng));
            sum[i + 1] = sum[i] + weight[i];
        }
        const double all = sum[n] * sum[n], above = weight_of(weight, sum, n, partners, partners + n),
                     below = all - weight_of(weight, sum, n, partners + 2 * n, partners + 3 * n),
                     within = all - above - below;
        drawn[below >= within && below >= above ? 0 : within >= above ? 1 : 2]++;
    }
    for (int i = 0; i < 3; i++)
        probability[i] = (double)drawn[i] / DRAWS;
    free(z);
    free(weight);
    free(sum);
    free(partners);
}

void ranks_pairs(const ranks_scores *of, double margin, ranks_pair pair[])
{
    const size_t pairs = of->forms * (of->forms - 1) / 2;
    double *difference = memory_checked(calloc(of->sets + 1, sizeof *difference)),
           *p = memory_checked(calloc(pairs + 1, sizeof *p));
    size_t number = 0;
    for (size_t a = 0; a < of->forms; a++)
        for (size_t b = a + 1; b < of->forms; b++, number++) {
            ranks_pair *to = &pair[number];
            *to = (ranks_pair){.mean = 0};
            for (size_t s = 0; s < of->sets; s++) {
                difference[s] =
                    (of->less_is_better ? -1 : 1) * (of->scores[s * of->forms + b] - of->scores[s * of->forms + a]);
                to->better += difference[s] > 0;
                to->worse += difference[s] < 0;
                to->mean += difference[s] / (double)of->sets;
            }
            p[number] = ranks_signed(difference, of->sets, &to->sign);
            ranks_probable(difference, of->sets, margin, to->probability);
        }
    statistics_holm(p, pairs);
    for (size_t i = 0; i < pairs; i++)
        pair[i].p = p[i];
    free(difference);
    free(p);
}

size_t ranks_sets_needed(size_t forms)
{
    size_t sets = 1;
    for (double p = (double)(forms * (forms - 1) / 2); p > 0.05; p /= 2) /* 2 signs of 2^sets: p = 2^(1 - sets) */
        sets++;
    return sets;
}
