#include "examples/programs/report/statistics.h"

#include "examples/programs/report/memory.h"
#include "examples/programs/system/posix.h"

/* The continued fraction 1/(1 + d1/(1 + d2/(1 + ...))) of DLMF 8.17.22 by the modified Lentz method, which needs a
 * leading term: 1, subtracted at the end. */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300; /* replaces a zero denominator */
    enum { ENOUGH = 10000 };    /* needs about sqrt(max(a, b)) terms */
    double numerator = 1, denominator = 0, value = 1;
    for (int term = 0; term < ENOUGH; term++) {
        double m = term / 2, d = 1;
        if (term > 0 && term % 2 == 0)
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        else if (term % 2 == 1)
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        denominator = 1 + d * denominator;
        denominator = 1 / (fabs(denominator) < tiny ? tiny : denominator);
        numerator = 1 + d / numerator;
        numerator = fabs(numerator) < tiny ? tiny : numerator;
        value *= numerator * denominator;
        if (term > 0 && fabs(numerator * denominator - 1) < DBL_EPSILON)
            break;
    }
    return value - 1;
}

double statistics_incomplete_beta(double x, double a, double b)
{
    if (!(a > 0 && b > 0 && x >= 0 && x <= 1))
        return NAN;
    if (x == 0 || x == 1)
        return x;
    /* The fraction converges quickly only below the mean; above it, use the symmetry. */
    if (x > (a + 1) / (a + b + 2))
        return 1 - statistics_incomplete_beta(1 - x, b, a);
    double log_front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x);
    return exp(log_front) * beta_fraction(x, a, b) / a;
}

/* The probability that Student's t exceeds x >= 0: half of I at degrees / (degrees + x^2). Near 0 the complement has
 * more digits, beyond it the tail itself: its fraction converges quickly there, and nothing cancels. */
static double student_tail(double x, double degrees)
{
    double ratio = x * x / degrees;
    if (x < 1)
        return 0.5 - 0.5 * statistics_incomplete_beta(ratio / (1 + ratio), 0.5, degrees / 2);
    return 0.5 * statistics_incomplete_beta(1 / (1 + ratio), degrees / 2, 0.5);
}

double statistics_student_quantile(double probability, double degrees)
{
    if (!(probability >= 0 && probability <= 1 && degrees > 0))
        return NAN;
    if (probability == 0.5)
        return 0;
    if (probability > 0.5) /* 1 - probability is exact here */
        return -statistics_student_quantile(1 - probability, degrees);
    if (probability == 0)
        return -INFINITY;

    double low = 0, high = 1;
    while (student_tail(high, degrees) > probability && high < DBL_MAX / 4)
        low = high, high *= 2;
    /* Bisection gains a bit per round, even in flat tails; it runs only a few times per table. */
    for (int bit = 0; bit < 200 && high - low > 2 * DBL_EPSILON * high; bit++) {
        double middle = low + (high - low) / 2;
        if (student_tail(middle, degrees) > probability)
            low = middle;
        else
            high = middle;
    }
    return -(low + high) / 2;
}

static statistics_estimate with_error(statistics_estimate of, double error, double degrees)
{
    of.error = error;
    of.degrees = degrees;
    of.margin = error > 0 ? statistics_student_quantile(0.975, degrees) * error : error;
    return of;
}

statistics_estimate statistics_paired(const double values[], const double baseline[], size_t count)
{
    statistics_estimate result = {
        .count = count, .mean = NAN, .deviation = NAN, .error = NAN, .degrees = NAN, .margin = NAN};
    if (count == 0)
        return result;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] - (baseline ? baseline[i] : 0);
    result.mean = sum / (double)count;
    if (count == 1)
        return result;
    double squares = 0, largest = 0;
    for (size_t i = 0; i < count; i++) {
        double off = values[i] - (baseline ? baseline[i] : 0) - result.mean;
        squares += off * off;
        largest = fmax(largest, fmax(fabs(values[i]), baseline ? fabs(baseline[i]) : 0));
    }
    const double degrees = (double)(count - 1);
    result.deviation = sqrt(squares / degrees);
    if (result.deviation < STATISTICS_ROUNDING * largest)
        result.deviation = 0;
    if (fabs(result.mean) < STATISTICS_ROUNDING * largest)
        result.mean = 0; /* no "-0.00" */
    return with_error(result, result.deviation / sqrt((double)count), degrees);
}

statistics_estimate statistics_of(const double values[], size_t count)
{
    return statistics_paired(values, NULL, count);
}

double statistics_median(double values[], size_t count)
{
    if (!count)
        return NAN;
    system_sort(values, count, sizeof *values, system_ascending);
    return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

statistics_spread statistics_spread_of(const double values[], size_t count)
{
    statistics_spread spread = {0, NAN, NAN, NAN};
    double *sorted = memory_checked(calloc(count + 1, sizeof *sorted));
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            sorted[spread.count++] = values[i];
    spread.median = statistics_median(sorted, spread.count);
    spread.low = spread.count ? sorted[0] : NAN;
    spread.high = spread.count ? sorted[spread.count - 1] : NAN;
    free(sorted);
    return spread;
}

/* The place of a combination in a table that has only the factors of `set`. */
static size_t place_in(size_t combination, const int levels[], int factors, unsigned set)
{
    size_t place = 0, size = 1;
    for (int f = factors - 1; f >= 0; f--) {
        if (set >> f & 1) {
            place += combination % (size_t)levels[f] * size;
            size *= (size_t)levels[f];
        }
        combination /= (size_t)levels[f];
    }
    return place;
}

/* The sum of squares of the means over the other factors, as distances from the mean of all. */
static double sum_between(const double values[], const int levels[], int factors, unsigned set)
{
    size_t count = 1, places = 1;
    for (int f = 0; f < factors; f++) {
        count *= (size_t)levels[f];
        places *= set >> f & 1 ? (size_t)levels[f] : 1;
    }
    double *mean = calloc(places, sizeof *mean), all = 0, sum = mean ? 0 : NAN;
    for (size_t i = 0; mean && i < count; i++) {
        mean[place_in(i, levels, factors, set)] += values[i] / (double)(count / places);
        all += values[i] / (double)count;
    }
    for (size_t i = 0; mean && i < places; i++)
        sum += (double)(count / places) * (mean[i] - all) * (mean[i] - all);
    free(mean);
    return sum;
}

void statistics_decompose(const double values[], const int levels[], int factors, double sums[])
{
    const unsigned all = (1u << factors) - 1;
    for (unsigned set = 1; set <= all; set++) {
        sums[set] = sum_between(values, levels, factors, set);
        for (unsigned part = 1; part < set; part++)
            sums[set] -= (part & set) == part ? sums[part] : 0;
    }
    sums[0] = sum_between(values, levels, factors, all);
}

statistics_range statistics_interval(const statistics_estimate *estimate)
{
    return (statistics_range){estimate->mean - estimate->margin, estimate->mean + estimate->margin};
}

statistics_range statistics_difference_interval(const statistics_estimate *difference, bool of_shares)
{
    const statistics_range range = statistics_interval(difference);
    const bool within = of_shares && fabs(difference->mean) <= 1; /* else it is none of shares */
    return within ? (statistics_range){fmax(range.low, -1), fmin(range.high, 1)} : range;
}

statistics_range statistics_share_interval(const double values[], size_t count, const statistics_estimate *mean)
{
    const statistics_estimate share = *mean;
    for (size_t i = 0; i < count; i++)
        if (!(values[i] >= 0 && values[i] <= 1))
            return (statistics_range){NAN, NAN};
    if (!(share.margin > STATISTICS_ROUNDING)) /* all equal, or too few */
        return statistics_interval(&share);
    const double angle = asin(sqrt(share.mean)), margin = share.margin / (2 * sqrt(share.mean * (1 - share.mean)));
    return (statistics_range){pow(sin(fmax(angle - margin, 0)), 2), pow(sin(fmin(angle + margin, acos(0))), 2)};
}

/* The probability that of `count` tosses at most `least` are heads, or at most as many are tails: at most 1. */
static double sign_probability(int least, int count)
{
    double sum = 0;
    for (int k = 0; k <= least; k++)
        sum += exp(lgamma(count + 1.) - lgamma(k + 1.) - lgamma(count - k + 1.) - count * log(2));
    return fmin(1, 2 * sum);
}

double statistics_p(const statistics_estimate *of)
{
    return of->error > 0 ? 2 * student_tail(fabs(of->mean) / of->error, of->degrees) : NAN;
}

double statistics_equivalence_p(const statistics_estimate *of, double bound)
{
    if (!(of->error > 0))
        return NAN;
    const double t = (bound - fabs(of->mean)) / of->error; /* of the nearer end; the other one's p-value is smaller */
    return t >= 0 ? student_tail(t, of->degrees) : 1 - student_tail(-t, of->degrees);
}

statistics_test statistics_compare(const double values[], const double baseline[], size_t count)
{
    const statistics_estimate difference = statistics_paired(values, baseline, count);
    statistics_test test = {.p = NAN, .sign_p = NAN};
    for (size_t i = 0; i < count; i++) {
        test.greater += values[i] > baseline[i];
        test.less += values[i] < baseline[i];
    }
    const int unequal = test.greater + test.less;
    if (unequal > 0)
        test.sign_p = sign_probability(test.greater < test.less ? test.greater : test.less, unequal);
    test.p = statistics_p(&difference);
    return test;
}

/* The smallest number of seeds with (t(level; n - 1) + t(0.8; n - 1)) error(n) <= effect; 0: too many. */
static int seeds_needed(double level, double variance, double floor, double effect)
{
    int low = 1, high = STATISTICS_MOST_SEEDS + 1; /* too few; enough */
    while (high - low > 1) {
        const int n = low + (high - low) / 2;
        const double quantiles = statistics_student_quantile(level, n - 1.) + statistics_student_quantile(0.8, n - 1.);
        if (pow(quantiles, 2) * (variance / n + floor * floor) <= effect * effect)
            high = n;
        else
            low = n;
    }
    return high > STATISTICS_MOST_SEEDS ? 0 : high;
}

statistics_seeds statistics_seeds_needed(const statistics_estimate *of, double effect, int comparisons)
{
    const double level = 1 - 0.05 / (2. * (comparisons > 1 ? comparisons : 1)), nu = (double)of->count - 1, z = 1.2816;
    const double chi_square = nu * pow(1 - 2 / (9 * nu) - z * sqrt(2 / (9 * nu)), 3); /* its 10 % quantile */
    const double variance = (of->error * of->error - of->floor * of->floor) * (double)of->count;
    return (statistics_seeds){seeds_needed(level, variance, of->floor, effect),
                              seeds_needed(level, variance * nu / chi_square, of->floor, effect)};
}

/* ---- seeds that redraw the split ---- */

/* Of a row: the sum of what its seeds add to the error of the mean, and of the squares. */
typedef struct row_sums {
    double together, alone;
    int seeds;
} row_sums;

/* Sums of r(i) and r(i)^2 over the rows; both 0 if the first is negative, or only rounding. */
static void sum_covariances(const row_sums *rows, size_t count, double n, double *sum, double *squares)
{
    *sum = *squares = 0;
    for (size_t i = 0; i < count; i++) {
        const row_sums *of = &rows[i];
        const double r = of->seeds > 1 ? (of->together * of->together - of->alone) * n / (n - 1) : 0;
        *sum += r;
        *squares += r * r;
    }
    if (*sum <= STATISTICS_ROUNDING * sqrt(*squares))
        *sum = *squares = 0;
}

static double mean_of(const statistics_rows *seed)
{
    double sum = 0;
    for (size_t i = 0; i < seed->count; i++)
        sum += seed->value[i];
    return sum / (double)seed->count;
}

static size_t end_of_rows(const statistics_rows seeds[], size_t count)
{
    size_t end = 0;
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < seeds[s].count; i++)
            end = seeds[s].row[i] >= end ? (size_t)seeds[s].row[i] + 1 : end;
    return end;
}

/* Adds a seed's rows to their sums; returns its part of W. */
static double add_seed(const statistics_rows *seed, double mean, double n, row_sums *sums)
{
    const double m = (double)seed->count;
    double W = 0;
    for (size_t i = 0; i < seed->count; i++) {
        const double e = (seed->value[i] - mean) / (n * m);
        row_sums *of = &sums[seed->row[i]];
        of->together += e;
        of->alone += e * e;
        of->seeds++;
        W += m > 1 ? e * e * m / (m - 1) : 0;
    }
    return W;
}

/* P and its degrees of freedom from a, b and W; b is NaN if it is unknown. */
static double pool(double a, double b, double W, double n, double *degrees)
{
    const double t = fmax(0, 1 - 2 * W / (a + b)), k = isfinite(b) ? (1 - t * t) / (1 + t * t) : 0;
    const double A = k > 0 ? ((n - 1) * a + k * b) / (n - 1 + k) : a, most = fmax(a, b);
    const double p = most > 0 ? pow(fmin(1, W / most), 2) : 1;
    *degrees = n - 1 + k + p;
    return ((n - 1 + k) * A + p * W) / *degrees;
}

statistics_estimate statistics_of_rows(const statistics_rows seeds[], const double validation[], size_t count,
                                       double training)
{
    const size_t rows = end_of_rows(seeds, count);
    const double n = (double)count;
    double *means = memory_checked(malloc((count + 1) * sizeof *means)), W = 0, sum, squares;
    row_sums *sums = memory_checked(calloc(rows + 1, sizeof *sums));
    for (size_t s = 0; s < count; s++) {
        means[s] = mean_of(&seeds[s]);
        W += add_seed(&seeds[s], means[s], n, sums);
    }
    statistics_estimate result = statistics_of(means, count);
    sum_covariances(sums, rows, n, &sum, &squares);
    if (count > 1 && result.error >= 0) {
        const double b = validation ? statistics_of(validation, count).error : NAN;
        double nu;
        const double P = pool(result.error * result.error, b * b, W, n, &nu), shared = (1 + training) * sum;
        const double V = P + shared, spread = 2 * P * P / nu + pow(1 + training, 2) * squares;
        result = with_error(result, sqrt(V), V > 0 ? fmax(1, 2 * V * V / spread) : nu);
        result.floor = sqrt(shared);
    }
    free(means);
    free(sums);
    return result;
}

static int by_value(const void *a, const void *b)
{
    return system_ascending(*(double *const *)a, *(double *const *)b);
}

void statistics_holm(double p[], size_t count)
{
    double **sorted = memory_checked(calloc(count + 1, sizeof *sorted));
    size_t numbers = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(p[i]))
            sorted[numbers++] = &p[i];
    system_sort(sorted, numbers, sizeof *sorted, by_value);
    double before = 0; /* corrected value of the next smaller p-value */
    for (size_t i = 0; i < numbers; i++) {
        before = fmax(before, fmin(1, (double)(numbers - i) * *sorted[i]));
        *sorted[i] = before;
    }
    free(sorted);
}
