/* Statistics for a comparison of runs: means, their 95 % intervals, and differences paired by seed.
 *
 *     double relu[] = {0.9712, 0.9704, 0.9731}, gelu[] = {0.9740, 0.9729, 0.9744};   // same seeds, same order
 *     statistics_estimate accuracy = statistics_of(gelu, 3);
 *     statistics_estimate gain = statistics_paired(gelu, relu, 3);
 *     printf("%.4f ± %.4f, better by %.4f (%.4f to %.4f)\n", accuracy.mean, accuracy.margin,
 *            gain.mean, gain.mean - gain.margin, gain.mean + gain.margin);
 *
 * Results that are undefined for few values (the deviation of one, the mean of none) are NaN. A NaN among the values
 * makes the results NaN: a diverged run never disappears in an average.  */
#pragma once

#include "examples/programs/system/standard.h"

typedef struct {
    size_t count;
    double mean;      /* 0 if it is only rounding */
    double deviation; /* of the sample: divided by count - 1; 0 if it is only rounding */
    double error;     /* standard error of the mean: deviation / sqrt(count), or as statistics_of_rows says */
    double floor;     /* the part of the error that more seeds leave: sqrt(f C) of statistics_of_rows; otherwise 0 */
    double degrees;   /* of freedom of Student's t: count - 1, or as statistics_of_rows says */
    double margin;    /* half the width of the mean's 95 % interval, by Student's t */
} statistics_estimate;

/* A deviation or difference below this fraction of the largest value is only rounding. */
#define STATISTICS_ROUNDING 1e-12

/* Mean, deviation and margin of `count` values. */
statistics_estimate statistics_of(const double values[], size_t count);

/* The same of the differences values[i] - baseline[i]; NULL: a baseline of zeros. */
statistics_estimate statistics_paired(const double values[], const double baseline[], size_t count);

/* The median of a list, which is sorted for it; NaN of none. */
double statistics_median(double values[], size_t count);

/* Median, least and greatest of the numbers that are no NaN; NaN of none. Of five the least and the greatest hold the
 * true median with a probability of 94 %. */
typedef struct {
    size_t count;
    double median, low, high;
} statistics_spread;
statistics_spread statistics_spread_of(const double values[], size_t count);

/* How much of the spread of a balanced grid is due to each factor and to each interaction. values[] has one number for
 * each combination of levels, the last factor fastest. sums[m], 0 < m < 2^factors, gets the sum of squares of the
 * interaction of the factors whose bits are set in m (bit 0: the first factor; one bit: the factor itself), which add
 * up to sums[0], that of all distances from the mean: the analysis of variance of a full factorial without repetition.
 * At most STATISTICS_FACTORS factors. */
enum { STATISTICS_FACTORS = 6 };
void statistics_decompose(const double values[], const int levels[], int factors, double sums[]);

/* A 95 % interval. */
typedef struct {
    double low, high;
} statistics_range;

/* The interval of the mean: mean - margin to mean + margin. */
statistics_range statistics_interval(const statistics_estimate *estimate);

/* The interval of a mean difference; of one between shares, within -1 and 1. */
statistics_range statistics_difference_interval(const statistics_estimate *difference, bool of_shares);

/* The interval of the mean of shares between 0 and 1, itself within 0 and 1. It is computed on the scale asin(sqrt(x)),
 * whose slope at the mean converts the margin. `mean` is the mean of the values, with the margin to be shown. NaN for a
 * value outside of 0 to 1. */
statistics_range statistics_share_interval(const double values[], size_t count, const statistics_estimate *mean);

/* Two tests of whether values and baseline differ, paired; two-sided p-values. */
typedef struct {
    double p;          /* of the paired t test; NaN for fewer than two pairs, or if all differences are equal */
    double sign_p;     /* of the sign test, which ignores equal pairs; NaN if all are equal */
    int greater, less; /* pairs */
} statistics_test;
statistics_test statistics_compare(const double values[], const double baseline[], size_t count);

/* The two-sided p-value of a mean of 0; NaN if the error is 0 or unknown. */
double statistics_p(const statistics_estimate *of);

/* The p-value of two one-sided tests that the mean lies between -bound and bound: below 0.05, the two are equal within
 * `bound`. NaN if the error is 0 or unknown. */
double statistics_equivalence_p(const statistics_estimate *of, double bound);

/* How many seeds would show a difference of `effect` in 80 % of cases, by a t test at 5 % divided by the number of
 * comparisons (Bonferroni, with which Holm begins). The deviation of few seeds is itself uncertain: `low` holds for the
 * one that was found, `high` for its upper 90 % limit (chi-square, by Wilson and Hilferty, 1931). 0 if no number of up
 * to STATISTICS_MOST_SEEDS is enough. */
enum { STATISTICS_MOST_SEEDS = 1000 };
typedef struct {
    int low, high;
} statistics_seeds;
statistics_seeds statistics_seeds_needed(const statistics_estimate *of, double effect, int comparisons);

/* The rows that a seed tested, and a value for each: the loss of one net, or the difference of two. */
typedef struct statistics_rows {
    size_t count;
    const uint32_t *row; /* [count], the row's number in the table; no row twice */
    const double *value; /* [count] */
} statistics_rows;

/* The mean over seeds that redraw the split of one table, as an estimate for the population that the table is a sample
 * of: seeds share test and training rows, so their results depend on each other, and more seeds do not make up for few
 * rows. With y(i, s) the value of row i in seed s, m(s) rows, d(s) their mean, d the mean of the n seeds:
 *
 *     a  = variance of d(s) / n                        what seeds differ by
 *     e  = (y(i, s) - d(s)) / (n m(s)),  S(i) = sum over s of e(i, s)
 *     W  = sum e^2 m / (m - 1)                         what rows make of a, if seeds did not differ otherwise
 *     b  = a of the values on validation rows          what else is known of the variance of seeds
 *     t  = max(0, 1 - 2 W / (a + b))                   the part of training, which both kinds of rows share:
 *     k  = (1 - t^2) / (1 + t^2)                       the smaller it is, the more b adds; 0 if b is unknown
 *     A  = ((n - 1) a + k b) / (n - 1 + k),  p = min(1, W / max(a, b))^2,  nu = n - 1 + k + p
 *     P  = ((n - 1 + k) A + p W) / nu
 *     r(i) = (S(i)^2 - sum over s of e(i, s)^2) n / (n - 1),  C = max(0, sum r)     the covariance of shared rows
 *     error^2 = P + f C        f = 1 + training: shared training rows add to C, too
 *     degrees = 2 error^4 / (2 P^2 / nu + f^2 sum r^2)    by Satterthwaite; at least 1, without the r if C is 0
 *
 * `training` is what rows add by being trained on, as a share of what they add by being tested. It is 1 for differences
 * of nets, accuracies and R2: a row with a wrong label, say, costs a hit where it is tested and another where it was
 * trained on. It is STATISTICS_MINIMISED for means of what training makes small, the loss and what goes with it: at its
 * minimum a row has no effect of first order, and a stable training adds nothing (Bayle, Bayle, Janson and Mackey,
 * "Cross-validation Confidence Intervals for Test Error", 2020); nets that stop before it are between that and 1.
 *
 * tests/intervals measures how often such an interval covers the truth. Rows that only one seed tested add nothing to
 * C. `validation` has each seed's value on its validation rows, of which there are at most as many as test rows; NULL
 * or one that is not finite: unknown, and k is 0. NaN margins for fewer than two seeds; an empty seed makes everything
 * NaN. NULL rows are none. */
#define STATISTICS_MINIMISED 0.5
statistics_estimate statistics_of_rows(const statistics_rows seeds[], const double validation[], size_t count,
                                       double training);

/* Corrects p-values for multiple comparisons: without any difference, one of them is below 0.05 in at most 5 % of cases
 * (Holm, 1979). A NaN stays NaN and does not count. */
void statistics_holm(double p[], size_t count);

/* The x below which Student's t distribution with `degrees` > 0 degrees of freedom (fractions allowed) has the
 * probability `probability`; relative error below 1e-12 to 1,000 degrees, 1e-9 to a million. Infinite at 0 and 1, NaN
 * outside. */
double statistics_student_quantile(double probability, double degrees);

/* The regularised incomplete beta function I_x(a, b) for a, b > 0 and x in [0, 1]; NaN elsewhere.
 * Continued fraction DLMF 8.17.22, evaluated with Lentz's method. */
double statistics_incomplete_beta(double x, double a, double b);
