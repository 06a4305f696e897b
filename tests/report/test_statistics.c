/* The statistics of a comparison against closed forms and tables. */
#include "examples/programs/report/statistics.h"

#include "autograd/rng.h"

#include "tests/intervals/simulate.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdbool.h>

Suite *statistics_suite(void);

static const double pi = 3.14159265358979323846;

START_TEST(student_quantiles_agree_with_the_table)
{
    /* The 97.5 % quantiles for 1 to 100 degrees of freedom, from mpmath's incomplete beta function with 30 digits. */
    static const double table[100] = {
        12.7062047362, 4.30265272975, 3.18244630528, 2.77644510520, 2.57058183564, 2.44691185114, 2.36462425159,
        2.30600413520, 2.26215716280, 2.22813885199, 2.20098516009, 2.17881282967, 2.16036865646, 2.14478668792,
        2.13144954556, 2.11990529922, 2.10981557783, 2.10092204024, 2.09302405441, 2.08596344727, 2.07961384473,
        2.07387306790, 2.06865761042, 2.06389856163, 2.05953855275, 2.05552943864, 2.05183051648, 2.04840714180,
        2.04522964213, 2.04227245630, 2.03951344640, 2.03693334346, 2.03451529745, 2.03224450932, 2.03010792825,
        2.02809400098, 2.02619246303, 2.02439416391, 2.02269092004, 2.02107539031, 2.01954097044, 2.01808170282,
        2.01669219923, 2.01536757444, 2.01410338888, 2.01289559892, 2.01174051373, 2.01063475762, 2.00957523713,
        2.00855911210, 2.00758377032, 2.00664680506, 2.00574599532, 2.00487928819, 2.00404478329, 2.00324071885,
        2.00246545929, 2.00171748415, 2.00099537809, 2.00029782201, 1.99962358499, 1.99897151703, 1.99834054252,
        1.99772965432, 1.99713790839, 1.99656441895, 1.99600835403, 1.99546893143, 1.99494541511, 1.99443711177,
        1.99394336785, 1.99346356666, 1.99299712589, 1.99254349518, 1.99210215400, 1.99167260964, 1.99125439539,
        1.99084706881, 1.99045021023, 1.99006342125, 1.98968632346, 1.98931855714, 1.98895978018, 1.98860966698,
        1.98826790748, 1.98793420624, 1.98760828159, 1.98728986483, 1.98697869951, 1.98667454070, 1.98637715442,
        1.98608631695, 1.98580181435, 1.98552344187, 1.98525100351, 1.98498431152, 1.98472318601, 1.98446745451,
        1.98421695159, 1.98397151852,
    };
    for (int degrees = 1; degrees <= 100; degrees++)
        ck_assert_double_eq_tol(statistics_student_quantile(0.975, degrees), table[degrees - 1],
                                1e-10 * table[degrees - 1]);
}
END_TEST

/* The sums by NumPy: what each term takes off the residual of the least squares fit of all the others. */
START_TEST(a_grid_is_decomposed_as_by_least_squares)
{
    static const double values[2 * 3 * 4] = {0.35, 0.82,  0.33,  -1.30, 0.91,  0.45,  -0.54, 0.58,
                                             0.36, 0.29,  0.03,  0.55,  -0.74, -0.16, -0.48, 0.60,
                                             0.04, -0.29, -0.78, -0.26, 0.01,  -0.28, 1.29,  1.01};
    static const double expected[8] = {9.1331625000, 0.3432041667, 1.0476750000, 0.7613583333,
                                       0.1704458333, 1.8125791667, 2.5505916667, 2.4473083333};
    double sums[8];
    statistics_decompose(values, (const int[]){2, 3, 4}, 3, sums);
    for (int set = 0; set < 8; set++)
        ck_assert_double_eq_tol(sums[set], expected[set], 1e-9);
}
END_TEST

START_TEST(student_quantiles_have_their_closed_forms)
{
    for (double p = 0.001; p < 1; p += 0.037) {
        double one = tan(pi * (p - 0.5)), two = (2 * p - 1) / sqrt(2 * p * (1 - p));
        ck_assert_double_eq_tol(statistics_student_quantile(p, 1), one, 1e-12 * (1 + fabs(one)));
        ck_assert_double_eq_tol(statistics_student_quantile(p, 2), two, 1e-12 * (1 + fabs(two)));
    }
    /* For many degrees of freedom, the normal quantile; the first correction is (z^3 + z) / (4 degrees). */
    double z = 1.959963984540054;
    ck_assert_double_eq_tol(statistics_student_quantile(0.975, 1e6), z + (z * z * z + z) / 4e6, 1e-8);
}
END_TEST

START_TEST(student_quantiles_at_the_edges)
{
    ck_assert_double_eq(statistics_student_quantile(0.5, 3), 0);
    ck_assert(isinf(statistics_student_quantile(1, 3)) && statistics_student_quantile(1, 3) > 0);
    ck_assert(isinf(statistics_student_quantile(0, 3)) && statistics_student_quantile(0, 3) < 0);
    ck_assert_double_eq(statistics_student_quantile(0.25, 5), -statistics_student_quantile(0.75, 5));
    ck_assert_double_nan(statistics_student_quantile(1.5, 3));
    ck_assert_double_nan(statistics_student_quantile(0.9, 0));
    ck_assert_double_nan(statistics_student_quantile(NAN, 3));
}
END_TEST

START_TEST(incomplete_beta_has_its_closed_forms)
{
    for (double x = 0; x <= 1; x += 1. / 64) {
        ck_assert_double_eq_tol(statistics_incomplete_beta(x, 1, 1), x, 1e-14);
        ck_assert_double_eq_tol(statistics_incomplete_beta(x, 5, 1), pow(x, 5), 1e-14);
        ck_assert_double_eq_tol(statistics_incomplete_beta(x, 1, 7), 1 - pow(1 - x, 7), 1e-14);
        ck_assert_double_eq_tol(statistics_incomplete_beta(x, 0.5, 0.5), 2 / pi * asin(sqrt(x)), 1e-14);
    }
    ck_assert_double_nan(statistics_incomplete_beta(1.1, 1, 1));
    ck_assert_double_nan(statistics_incomplete_beta(0.5, 0, 1));
}
END_TEST

START_TEST(an_estimate_has_the_textbook_values)
{
    static const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    statistics_estimate estimate = statistics_of(values, 8);
    ck_assert_uint_eq(estimate.count, 8);
    ck_assert_double_eq(estimate.mean, 5);
    ck_assert_double_eq_tol(estimate.deviation, sqrt(32. / 7), 1e-15);
    ck_assert_double_eq_tol(estimate.margin, 2.364624251592785 * sqrt(32. / 7 / 8), 1e-12);
}
END_TEST

/* 0.1 + 0.2 - 0.3 is 5.6e-17, and its negative would be printed as "-0.00". */
START_TEST(a_mean_that_is_only_rounding_is_0)
{
    const statistics_estimate of = statistics_of((const double[]){-0.1, -0.2, 0.3}, 3);
    ck_assert(of.mean == 0 && !signbit(of.mean) && of.deviation > 0);
}
END_TEST

START_TEST(a_deviation_survives_a_large_mean)
{
    static const double values[] = {1e9 + 1, 1e9 + 2, 1e9 + 3};
    ck_assert_double_eq(statistics_of(values, 3).deviation, 1);
}
END_TEST

START_TEST(pairing_removes_what_seeds_have_in_common)
{
    static const double baseline[] = {10, 20, 30, 40}, values[] = {11, 21.5, 31, 40.5};
    statistics_estimate difference = statistics_paired(values, baseline, 4);
    ck_assert_double_eq_tol(difference.mean, 1, 1e-15);
    ck_assert_double_eq_tol(difference.deviation, sqrt(0.5 / 3), 1e-15);
    ck_assert_double_lt(difference.margin, statistics_of(values, 4).margin / 10);
}
END_TEST

static statistics_range share_interval(const double values[], size_t count)
{
    const statistics_estimate mean = statistics_of(values, count);
    return statistics_share_interval(values, count, &mean);
}

START_TEST(intervals_of_shares_stay_between_0_and_1)
{
    static const double values[] = {0.9, 1, 0.95, 1, 0.6}, same[] = {0.25, 0.25, 0.25}, two[] = {0.1, 0.9};
    statistics_range range = share_interval(values, 5);
    ck_assert(range.low > 0.5 && range.low < 0.8 && range.high > 0.97 && range.high <= 1);
    range = share_interval(same, 3);
    ck_assert_double_eq_tol(range.low, 0.25, 1e-15);
    ck_assert_double_eq_tol(range.high, 0.25, 1e-15);
    range = share_interval(two, 2);
    ck_assert(range.low == 0 && range.high == 1);
    ck_assert_double_nan(share_interval(values, 1).low);
    ck_assert_double_nan(share_interval((double[]){0.5, 1.5}, 2).low);
    const statistics_estimate rounded = {.count = 3, .mean = 1 + DBL_EPSILON, .error = 1e-17, .margin = 2e-17};
    range = statistics_share_interval((double[]){1, 1, 1}, 3, &rounded);
    ck_assert_double_eq_tol(range.low, 1, 1e-12);
    ck_assert_double_eq_tol(range.high, 1, 1e-12);
}
END_TEST

/* Most folds have few rows and no error. The interval of the mean angle alone would not lie around the mean. */
START_TEST(an_interval_of_shares_is_about_their_mean)
{
    double folds[40];
    for (int i = 0; i < 40; i++)
        folds[i] = i < 4 ? 0.7 : 1;
    const statistics_range range = share_interval(folds, 40);
    ck_assert_msg(range.low < 0.95 && range.low > 0.92 && range.high > 0.97 && range.high < 0.995, "0.97: %g to %g",
                  range.low, range.high);
}
END_TEST

/* Thirty test rows, each right with a probability of 0.93; and more skewed shares, 1 - u^2 / 3 with u in [0, 1], for
 * which a few are too few for any interval. */
START_TEST(intervals_of_shares_hold_their_mean)
{
    static const struct {
        bool rows;
        int count;
    } all[] = {{true, 5}, {true, 10}, {true, 30}, {true, 100}, {false, 30}, {false, 100}};
    enum { TIMES = 2000 };
    tg_rng rng = tg_rng_seed(1);
    for (size_t c = 0; c < sizeof all / sizeof all[0]; c++) {
        const double mean = all[c].rows ? 0.93 : 8. / 9;
        int held = 0;
        for (int time = 0; time < TIMES; time++) {
            double shares[100];
            for (int i = 0; i < all[c].count; i++) {
                int right = 0;
                for (int row = 0; row < 30 && all[c].rows; row++)
                    right += tg_rng_uniform(&rng) < mean;
                shares[i] = all[c].rows ? right / 30. : 1 - pow(tg_rng_uniform(&rng), 2) / 3;
            }
            const statistics_range range = share_interval(shares, (size_t)all[c].count);
            held += range.low <= mean && range.high >= mean;
        }
        ck_assert_msg(held >= 0.93 * TIMES && held <= 0.97 * TIMES, "%d shares: %.1f %%", all[c].count,
                      100. * held / TIMES);
    }
}
END_TEST

/* ---- splits of one file ---- */

enum { SAMPLES = 100, TESTED = 20, FEATURES = 4, MOST_SPLITS = 100 };

/* Points with random labels: any classifier is right in half of the cases. */
typedef struct meaningless {
    double distance[2][SAMPLES][SAMPLES]; /* by Euclidean distance, and by the largest coordinate */
    bool label[SAMPLES];
} meaningless;

static void draw_meaningless(meaningless *of, tg_rng *rng)
{
    double x[SAMPLES][FEATURES];
    for (int i = 0; i < SAMPLES; i++) {
        of->label[i] = tg_rng_below(rng, 2);
        for (int k = 0; k < FEATURES; k++)
            x[i][k] = tg_rng_normal(rng);
    }
    for (int i = 0; i < SAMPLES; i++)
        for (int j = 0; j < SAMPLES; j++) {
            of->distance[0][i][j] = of->distance[1][i][j] = 0;
            for (int k = 0; k < FEATURES; k++) {
                of->distance[0][i][j] += pow(x[i][k] - x[j][k], 2);
                of->distance[1][i][j] = fmax(of->distance[1][i][j], fabs(x[i][k] - x[j][k]));
            }
        }
}

/* Which of the first of `order` the nearest neighbour finds right, with the rest as training rows. */
static void classify(const meaningless *of, int metric, const int *order, double right[TESTED])
{
    for (int t = 0; t < TESTED; t++) {
        int nearest = TESTED;
        for (int i = TESTED; i < SAMPLES; i++)
            if (of->distance[metric][order[t]][order[i]] < of->distance[metric][order[t]][order[nearest]])
                nearest = i;
        right[t] = of->label[order[t]] == of->label[order[nearest]];
    }
}

/* Two methods that are equally good on new data, on one file that each seed splits differently. */
START_TEST(splits_of_one_file_are_not_independent)
{
    static const size_t seeds_of[] = {5, 10, 30, MOST_SPLITS};
    const int times = getenv("TG_LONG") ? 2000 : 150;
    int claims[4] = {0}, uncorrected = 0;
    static meaningless of;
    tg_rng rng = tg_rng_seed(9);
    for (int time = 0; time < times; time++) {
        static double difference[MOST_SPLITS][TESTED], right[TESTED];
        static uint32_t row[MOST_SPLITS][TESTED];
        statistics_rows seeds[MOST_SPLITS];
        double mean[MOST_SPLITS] = {0};
        int order[SAMPLES];
        draw_meaningless(&of, &rng);
        for (int i = 0; i < SAMPLES; i++)
            order[i] = i;
        for (int split = 0; split < MOST_SPLITS; split++) {
            for (int i = SAMPLES - 1; i > 0; i--) {
                const int other = (int)tg_rng_below(&rng, (uint64_t)i + 1), mine = order[i];
                order[i] = order[other];
                order[other] = mine;
            }
            classify(&of, 1, order, difference[split]);
            classify(&of, 0, order, right);
            for (int t = 0; t < TESTED; t++) {
                row[split][t] = (uint32_t)order[t];
                difference[split][t] -= right[t];
                mean[split] += difference[split][t] / TESTED;
            }
            seeds[split] = (statistics_rows){TESTED, row[split], difference[split]};
        }
        for (int c = 0; c < 4; c++) {
            const statistics_estimate by_seeds = statistics_of(mean, seeds_of[c]),
                                      by_rows = statistics_of_rows(seeds, NULL, seeds_of[c], 1);
            ck_assert_double_eq_tol(by_rows.mean, by_seeds.mean, 1e-12);
            uncorrected += c == 3 && statistics_p(&by_seeds) < 0.05;
            claims[c] += statistics_p(&by_rows) < 0.05;
        }
    }
    for (int c = 0; c < 4; c++)
        ck_assert_msg(claims[c] <= 0.08 * times, "%d seeds: %.1f %% of %d comparisons claim a difference",
                      (int)seeds_of[c], 100. * claims[c] / times, times);
    ck_assert_msg(uncorrected > 0.2 * times, "by seeds alone %.1f %%", 100. * uncorrected / times);
    if (getenv("TG_LONG"))
        printf("meaningless labels: 5, 10, 30, 100 seeds: %.1f, %.1f, %.1f, %.1f %%; 100 by seeds alone %.1f %%\n",
               100. * claims[0] / times, 100. * claims[1] / times, 100. * claims[2] / times, 100. * claims[3] / times,
               100. * uncorrected / times);
}
END_TEST

/* Two seeds with one row in common, by hand: y = 1, 3 on rows 0, 1 and 5, 3 on rows 1, 2, so d = 2 and 4. */
START_TEST(an_estimate_by_rows_has_the_values_of_its_formula)
{
    const uint32_t row[2][2] = {{0, 1}, {1, 2}};
    const double value[2][2] = {{1, 3}, {5, 3}};
    const statistics_rows seeds[] = {{2, row[0], value[0]}, {2, row[1], value[1]}};
    const statistics_estimate e = statistics_of_rows(seeds, NULL, 2, 1);
    /* a = 2 / 2 = 1; e = -1/4, 1/4, 1/4, -1/4; W = 4 / 16 * 2 = 1/2; p = (1/2)^2; P = (1 + 1/8) / 1.25 = 0.9;
     * row 1: r = (1/4 - 1/8) * 2 = 1/4 = C; error^2 = 0.9 + 1/2 = 1.4; degrees = 2 * 1.4^2 / (2 * 0.9^2 / 1.25 + 1/4). */
    ck_assert_double_eq_tol(e.mean, 3, 1e-15);
    ck_assert_double_eq_tol(e.error, sqrt(1.4), 1e-15);
    ck_assert_double_eq_tol(e.floor, sqrt(0.5), 1e-15);
    ck_assert_double_eq_tol(e.degrees, 2 * 1.96 / (2 * 0.81 / 1.25 + 0.25), 1e-14);
    /* Of a loss: error^2 = 0.9 + 3/2 / 4; degrees with (3/2)^2 of the sum of r^2 = 1/16. */
    const statistics_estimate loss = statistics_of_rows(seeds, NULL, 2, STATISTICS_MINIMISED);
    ck_assert_double_eq_tol(loss.error, sqrt(0.9 + 0.375), 1e-15);
    ck_assert_double_eq_tol(loss.floor, sqrt(0.375), 1e-15);
    ck_assert_double_eq_tol(loss.degrees, 2 * pow(0.9 + 0.375, 2) / (2 * 0.81 / 1.25 + 2.25 / 16), 1e-14);
    /* With 0 and 2 on validation rows b = 1, a + b = 2, t = 1/2, k = (3/4) / (5/4) = 3/5, A = 1, p = 1/4, nu = 1.85;
     * P = (1.6 + 1/8) / 1.85; C as before. With 0 and 4, b = 4, t = 4/5, k = 9/41, A = 1.54, p = (1/8)^2. */
    const double validation[] = {0, 2}, wider[] = {0, 4}, unknown[] = {0, NAN}, P = 1.725 / 1.85;
    const double nu = 50. / 41 + 1. / 64, larger = (50. / 41 * 1.54 + 0.5 / 64) / nu;
    const statistics_estimate with = statistics_of_rows(seeds, validation, 2, 1);
    ck_assert_double_eq_tol(with.error, sqrt(P + 0.5), 1e-15);
    ck_assert_double_eq_tol(with.degrees, 2 * pow(P + 0.5, 2) / (2 * P * P / 1.85 + 0.25), 1e-14);
    ck_assert_double_eq_tol(statistics_of_rows(seeds, wider, 2, 1).error, sqrt(larger + 0.5), 1e-15);
    ck_assert_double_eq(statistics_of_rows(seeds, unknown, 2, 1).error, e.error);
    ck_assert_double_eq(statistics_of_rows(seeds, NULL, 1, 1).mean, 2);
    ck_assert_double_nan(statistics_of_rows(seeds, NULL, 1, 1).margin);
    ck_assert_double_nan(statistics_of_rows(NULL, NULL, 0, 1).mean);
    const double same[] = {0, 0};
    const statistics_rows equal[] = {{2, row[0], same}, {2, row[1], same}};
    ck_assert(statistics_of_rows(equal, NULL, 2, 1).error == 0 &&
              isnan(statistics_p(&(statistics_estimate){.error = 0})));
}
END_TEST

/* Rows 0 and 1 have covariances of -c and c: their sum is rounding, and counts as none. */
START_TEST(covariances_that_cancel_are_none)
{
    const uint32_t row[2][3] = {{0, 1, 2}, {0, 1, 3}};
    for (int i = 1; i < 50; i++) {
        const double s = i / 7., value[2][3] = {{0.1 * s, 0.2 * s, 0.6 * s}, {0.4 * s, 0.1 * s, 0.4 * s}};
        const statistics_rows seeds[] = {{3, row[0], value[0]}, {3, row[1], value[1]}};
        ck_assert_double_eq(statistics_of_rows(seeds, NULL, 2, 1).floor, 0);
    }
}
END_TEST

/* A small cell of the simulation of tests/intervals, where the truth is known: the whole one has the figures. */
START_TEST(intervals_by_rows_cover_the_truth)
{
    simulation s = simulate(&(simulation_cell){"classes", 200, 120, 10}, 3);
    for (int pair = 0; pair < SIMULATION_PAIRS; pair++)
        for (int measure = 0; measure < 2; measure++)
            for (int seeds = 3; seeds <= 10; seeds += 7) {
                const simulation_result r = simulation_judge(&s, measure, pair, SIMULATION_ROWS, seeds);
                ck_assert_msg(r.coverage >= 0.9 && r.width <= 1.6, "pair %d, measure %d, %d seeds: %.1f %%, width %.2f",
                              pair, measure, seeds, 100 * r.coverage, r.width);
            }
    const simulation_result wide = simulation_judge(&s, SIMULATION_LOSS, 2, SIMULATION_CORRECTED, 10);
    ck_assert_msg(wide.width > 1.7, "%.2f", wide.width); /* what the fixed correlation costs */
    simulation_free(&s);
}
END_TEST

/* SciPy 1.10: stats.t.sf(t, degrees). */
START_TEST(tails_keep_their_digits)
{
    static const struct {
        double t, degrees, tail;
    } known[] = {
        {10, 100, 4.9508444922970468e-17}, {2.5, 30, 0.009057824534033353}, {0.5, 5, 0.31914943582046451},
        {7, 1000, 2.3437512833857203e-12}, {40, 3, 1.719034039457927e-05},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const statistics_estimate e = {.mean = known[i].t, .error = 1, .degrees = known[i].degrees};
        ck_assert_msg(fabs(statistics_p(&e) / (2 * known[i].tail) - 1) < 1e-11, "t = %g: %.17g", known[i].t,
                      statistics_p(&e));
    }
}
END_TEST

/* 0.9 - 0.8667 and 0.9333 - 0.9 differ in the last digit only: that is not scatter, and proves no difference. */
START_TEST(differences_that_are_the_same_but_for_rounding_have_no_scatter)
{
    const double rows = 30, values[] = {27 / rows, 28 / rows, 23 / rows},
                 baseline[] = {26 / rows, 27 / rows, 22 / rows};
    const statistics_test test = statistics_compare(values, baseline, 3);
    ck_assert_msg(isnan(test.p), "p = %g", test.p);
    ck_assert_double_eq(statistics_paired(values, baseline, 3).deviation, 0);
    ck_assert_double_eq(statistics_paired(values, baseline, 3).margin, 0);
}
END_TEST

START_TEST(p_values_are_those_of_the_tables)
{
    /* Differences 1, 2, 3, 4, 5: mean 3, deviation sqrt(2.5), t = 4.2426 with 4 degrees of freedom. */
    static const double baseline[] = {0, 0, 0, 0, 0, 0}, values[] = {1, 2, 3, 4, 5, 5};
    statistics_test test = statistics_compare(values, baseline, 5);
    ck_assert_double_eq_tol(test.p, 0.0132355996, 1e-9);
    ck_assert_double_eq_tol(test.sign_p, 2. / 32, 1e-12);
    ck_assert(test.greater == 5 && test.less == 0);
    ck_assert_double_nan(statistics_compare(values + 4, baseline, 2).p); /* 5 and 5 */
    ck_assert_double_nan(statistics_compare(baseline, baseline, 5).sign_p);
    ck_assert_double_eq_tol(statistics_compare((double[]){1, -1, 2, 0}, baseline, 4).sign_p, 1, 1e-12);
}
END_TEST

START_TEST(holm_corrects_step_by_step)
{
    double p[] = {0.01, 0.04, NAN, 0.03, 0.005}, none[] = {NAN}, large[] = {0.9, 0.8};
    statistics_holm(p, 5);
    ck_assert_double_eq_tol(p[4], 0.02, 1e-15); /* 4 times the least */
    ck_assert_double_eq_tol(p[0], 0.03, 1e-15); /* 3 times the next */
    ck_assert_double_eq_tol(p[3], 0.06, 1e-15);
    ck_assert_double_eq_tol(p[1], 0.06, 1e-15); /* not less than the previous one */
    ck_assert_double_nan(p[2]);
    statistics_holm(none, 1);
    ck_assert_double_nan(none[0]);
    statistics_holm(large, 2);
    ck_assert(large[0] == 1 && large[1] == 1);
    statistics_holm(NULL, 0);
}
END_TEST

START_TEST(what_is_undefined_is_not_a_number)
{
    static const double values[] = {3, NAN, 4};
    ck_assert_double_nan(statistics_of(values, 0).mean);
    ck_assert_double_eq(statistics_of(values, 1).mean, 3);
    ck_assert_double_nan(statistics_of(values, 1).deviation);
    ck_assert_double_nan(statistics_of(values, 1).margin);
    ck_assert_double_nan(statistics_of(values, 3).mean);
    ck_assert_double_nan(statistics_paired(values, values, 3).margin);
}
END_TEST

START_TEST(the_spread_leaves_out_what_was_not_measured)
{
    const double values[] = {3, NAN, 1, 2, 10};
    const statistics_spread s = statistics_spread_of(values, 5);
    ck_assert_uint_eq(s.count, 4);
    ck_assert_double_eq(s.median, 2.5);
    ck_assert_double_eq(s.low, 1);
    ck_assert_double_eq(s.high, 10);
    ck_assert(isnan(statistics_spread_of(values + 1, 1).median));
}
END_TEST

Suite *statistics_suite(void)
{
    Suite *suite = suite_create("statistics");
    TCase *tests = tcase_create("statistics");
    tcase_add_test(tests, student_quantiles_agree_with_the_table);
    tcase_add_test(tests, a_grid_is_decomposed_as_by_least_squares);
    tcase_add_test(tests, student_quantiles_have_their_closed_forms);
    tcase_add_test(tests, student_quantiles_at_the_edges);
    tcase_add_test(tests, incomplete_beta_has_its_closed_forms);
    tcase_add_test(tests, an_estimate_has_the_textbook_values);
    tcase_add_test(tests, a_mean_that_is_only_rounding_is_0);
    tcase_add_test(tests, a_deviation_survives_a_large_mean);
    tcase_add_test(tests, pairing_removes_what_seeds_have_in_common);
    tcase_add_test(tests, intervals_of_shares_stay_between_0_and_1);
    tcase_add_test(tests, an_interval_of_shares_is_about_their_mean);
    tcase_add_test(tests, intervals_of_shares_hold_their_mean);
    tcase_add_test(tests, splits_of_one_file_are_not_independent);
    tcase_add_test(tests, an_estimate_by_rows_has_the_values_of_its_formula);
    tcase_add_test(tests, covariances_that_cancel_are_none);
    tcase_add_test(tests, intervals_by_rows_cover_the_truth);
    tcase_add_test(tests, tails_keep_their_digits);
    tcase_add_test(tests, differences_that_are_the_same_but_for_rounding_have_no_scatter);
    tcase_add_test(tests, p_values_are_those_of_the_tables);
    tcase_add_test(tests, holm_corrects_step_by_step);
    tcase_add_test(tests, what_is_undefined_is_not_a_number);
    tcase_add_test(tests, the_spread_leaves_out_what_was_not_measured);
    suite_add_tcase(suite, tests);
    return suite;
}
