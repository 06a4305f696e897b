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
#ifndef REPORT_STATISTICS_H
#define REPORT_STATISTICS_H

#include <stddef.h>

typedef struct {
    size_t count;
    double mean;
    double deviation; /* of the sample: divided by count - 1; 0 if it is only rounding */
    double margin;    /* half the width of the mean's 95 % interval, by Student's t with count - 1 degrees of freedom */
} statistics_estimate;

/* Mean, deviation and margin of `count` values. */
statistics_estimate statistics_of(const double values[], size_t count);

/* The same of the differences values[i] - baseline[i]; NULL: a baseline of zeros. */
statistics_estimate statistics_paired(const double values[], const double baseline[], size_t count);

/* The median of a list, which is sorted for it; NaN of none. */
double statistics_median(double values[], size_t count);

/* A 95 % interval. */
typedef struct {
    double low, high;
} statistics_range;

/* The interval of the mean: mean - margin to mean + margin. */
statistics_range statistics_interval(const statistics_estimate *estimate);

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

/* Corrects for seeds that redraw training and test samples from one file, as their results depend on each other: the
 * variance of their mean is not deviation^2 / n but deviation^2 (1 / n + overlap), where `overlap` is the number of
 * test samples divided by that of training samples (Nadeau and Bengio, "Inference for the generalization error",
 * Machine Learning 52, 2003). Widens the margin and, unless it is NULL, raises the p-value of the t test, not of the
 * sign test. An overlap of 0 changes nothing. */
void statistics_correct_overlap(double overlap, statistics_estimate *estimate, statistics_test *test);

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

#endif
