/* Ranks over data sets against SciPy, counts of all signs, and simulations without a difference. */

#include "examples/programs/report/ranks.h"
#include "examples/programs/report/statistics.h"

#include "autograd/rng.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *ranks_suite(void);

/* Expected values: scipy.stats.rankdata and friedmanchisquare, from which F and its tail f.sf follow; signed ranks by a
 * loop over all signs in Python. */
static const double scores[7 * 4] = {71, 73, 69, 73, 80, 82, 81, 85, 64, 64, 64, 66, 90, 91,
                                     88, 93, 55, 60, 58, 57, 77, 79, 70, 80, 62, 61, 60, 65};
static const ranks_scores table = {scores, 7, 4, false};

START_TEST(mean_ranks_share_ties)
{
    const double wanted[4] = {22 / 7.0, 14.5 / 7, 24 / 7.0, 9.5 / 7};
    double mean[4], other[28];
    ranks_mean(&table, mean);
    for (int f = 0; f < 4; f++)
        ck_assert_double_eq_tol(mean[f], wanted[f], 1e-14);
    for (int i = 0; i < 28; i++)
        other[i] = -scores[i];
    ranks_mean(&(ranks_scores){other, 7, 4, true}, mean);
    for (int f = 0; f < 4; f++)
        ck_assert_double_eq_tol(mean[f], wanted[f], 1e-14);
    static const double turns[] = {2, 1, 3, 1, 3, 2, 1, 2, 3, 3, 2, 1, 3, 1, 2, 3, 2, 1, 2, 3, 1, 1, 3, 2, 2, 1, 3};
    ranks_mean(&(ranks_scores){turns, 9, 3, true}, mean); /* all have the sum 18, in another order */
    ck_assert(mean[0] == 2 && mean[1] == 2 && mean[2] == 2);
}
END_TEST

START_TEST(friedmans_test_agrees_with_scipy)
{
    double f;
    ck_assert_double_eq_tol(ranks_friedman(&table, &f), 0.000812563205075075, 1e-15);
    ck_assert_double_eq_tol(f, 8.83695652173913, 1e-13);
    const double equal[6] = {1, 1, 1, 2, 2, 2}, ordered[6] = {1, 2, 3, 4, 5, 6};
    ck_assert_double_eq(ranks_friedman(&(ranks_scores){equal, 2, 3, false}, NULL), 1);
    ck_assert_double_eq(ranks_friedman(&(ranks_scores){ordered, 2, 3, false}, NULL), 0);
    ck_assert(isnan(ranks_friedman(&(ranks_scores){ordered, 1, 3, false}, NULL)));
}
END_TEST

/* Expected: the share of all orders, by a loop over them in Python. */
START_TEST(random_orders_have_the_exact_probability)
{
    static const double five[15] = {1, 2, 3, 1, 3, 2, 2, 3, 4, 1, 2, 9, 0, 1, 2},
                        ties[15] = {1, 1, 2, 1, 3, 2, 2, 3, 4, 1, 2, 9, 0, 1, 2},
                        three[12] = {1, 2, 3, 4, 1, 2, 4, 3, 2, 1, 3, 4};
    enum { DRAWS = 20000 };
    const double deviation = sqrt(0.03 / DRAWS);
    ck_assert_double_eq_tol(ranks_permuted(&(ranks_scores){five, 5, 3, false}, DRAWS), 0.008488, 4 * deviation);
    ck_assert_double_eq_tol(ranks_permuted(&(ranks_scores){ties, 5, 3, false}, DRAWS), 0.018519, 4 * deviation);
    ck_assert_double_eq_tol(ranks_permuted(&(ranks_scores){three, 3, 4, false}, DRAWS), 0.032986, 4 * deviation);
    ck_assert_double_eq(ranks_permuted(&(ranks_scores){(double[]){1, 1, 1, 1}, 2, 2, false}, 99), 1);
}
END_TEST

START_TEST(signed_ranks_count_all_signs)
{
    static const double d[12] = {1.5, -0.7, 2.2, 3.1, -0.2, 0.9, 4.4, -1.1, 5.0, 0.3, 2.7, 6.1};
    ck_assert_double_eq_tol(ranks_signed(d, 12, NULL), 0.01611328125, 1e-16);
    ck_assert_double_eq(ranks_signed((double[]){0, 0}, 2, NULL), 1);
    ck_assert_double_eq(ranks_signed((double[]){0, 3}, 2, NULL), 1);
    ranks_pair pair[6];
    ranks_pairs(&table, 0.01, pair); /* 6 times the least, 5 times the next two, and so on */
    const double wanted[6] = {3 * 0.09375, 2 * 0.25, 6 * 0.015625, 5 * 0.03125, 2 * 0.25, 5 * 0.03125};
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq_tol(pair[i].p, wanted[i], 1e-15);
    ck_assert(pair[0].better == 5 && pair[0].worse == 1); /* the second form, of seven data sets */
    ck_assert_double_eq_tol(pair[0].mean, 11 / 7.0, 1e-12);
}
END_TEST

/* Expected: SignedRankTest.probs(0, d, rope) of baycomp 1.0.3, the mean of two times 200,000 draws; they differ by
 * 0.001. */
START_TEST(the_probability_of_being_better_agrees_with_baycomp)
{
    static const double d[12] = {1.5, -0.7, 2.2, 3.1, -0.2, 0.9, 4.4, -1.1, 5.0, 0.3, 2.7, 6.1},
                        ties[7] = {1, 1, -1, 0, 0, 2, 2}, few[3] = {0.02, -0.01, 0.03}, none[4] = {0};
    static const struct {
        const double *d;
        size_t count;
        double margin, wanted[3];
    } cases[] = {{d, 12, 0.01, {0.0024, 0, 0.9976}},
                 {d, 12, 1, {0, 0.1002, 0.8998}},
                 {ties, 7, 0.5, {0.0069, 0.2412, 0.7519}},
                 {few, 3, 0.01, {0, 0.5147, 0.4853}},
                 {none, 4, 0.01, {0, 1, 0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double p[3], other[3], negative[12];
        for (size_t k = 0; k < cases[i].count; k++)
            negative[k] = -cases[i].d[k];
        ranks_probable(cases[i].d, cases[i].count, cases[i].margin, p);
        ranks_probable(negative, cases[i].count, cases[i].margin, other);
        for (int k = 0; k < 3; k++) {
            ck_assert_double_eq_tol(p[k], cases[i].wanted[k], 0.011);
            ck_assert_double_eq_tol(other[2 - k], cases[i].wanted[k], 0.011);
        }
    }
}
END_TEST

START_TEST(few_data_sets_cannot_tell_forms_apart)
{
    ck_assert_uint_eq(ranks_sets_needed(2), 6);
    ck_assert_uint_eq(ranks_sets_needed(3), 7);
    for (size_t forms = 2; forms < 9; forms++) {
        double d[16], p;
        for (size_t i = 0; i < 16; i++)
            d[i] = (double)(i + 1);
        const size_t needed = ranks_sets_needed(forms);
        const double pairs = (double)(forms * (forms - 1) / 2);
        ck_assert((p = ranks_signed(d, needed, NULL)) * pairs <= 0.05 &&
                  ranks_signed(d, needed - 1, NULL) * pairs > 0.05);
    }
}
END_TEST

/* Forms without a difference, on data sets whose scores have other means and spreads: false alarms, in at most 5 % but
 * for three standard deviations of 2,000 trials. */
/* What is printed of these values, [sets, forms], where more is better. To be freed. */
static char *printed(const double values[], size_t sets, size_t forms)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    const char *set[20];
    char *text = NULL;
    size_t size;
    for (size_t s = 0; s < sets; s++)
        set[s] = "set";
    FILE *to = open_memstream(&text, &size);
    ranks_answer *answer = ranks_answer_new(&(ranks_question){.measure = "test_accuracy",
                                                              .direction = DIRECTION_MORE,
                                                              .sets = sets,
                                                              .forms = forms,
                                                              .set = set,
                                                              .form = names,
                                                              .value = values,
                                                              .margin = 0.01});
    ranks_print(answer, "table", to);
    ranks_answer_free(answer);
    fclose(to);
    return text;
}

/* Mean ranks depend on the forms between two, signed ranks on how far these two are apart. */
START_TEST(the_verdict_over_data_sets_says_which_is_better_and_no_more)
{
    enum { SETS = 20, FORMS = 6 };
    double values[SETS * FORMS];
    for (int s = 0; s < SETS; s++) /* a is before b by a little on eight, behind it by much on twelve, c to f between */
        for (int f = 0; f < FORMS; f++)
            values[s * FORMS + f] =
                s < 8 ? 0.8 - 0.001 * (f == 1 ? 6 : f) : 0.7 - 0.01 * f + (f == 1 ? 0.1 + 0.001 * s : 0);
    char *text = printed(values, SETS, FORMS);
    ck_assert_msg(strstr(text,
                         "a has the best mean rank, 1.60; it is better than c, d, e, f; but by Wilcoxon's test b is "
                         "better than it."),
                  "%s", text);
    free(text);
    for (int s = 0; s < 10; s++) { /* a and b in turns, c behind both */
        values[s * 3 + s % 2] = 0.9;
        values[s * 3 + 1 - s % 2] = 0.85;
        values[s * 3 + 2] = 0.5 + 0.01 * s;
    }
    text = printed(values, 10, 3);
    ck_assert_msg(strstr(text, "a and b have the best mean rank, 1.50; they are better than c."), "%s", text);
    free(text);
    text = printed((double[]){0.9, 0.8, 0.9, 0.7}, 2, 2); /* a is first on both, which proves nothing */
    ck_assert_msg(strstr(text, "Over 2 data sets the ranks do not differ significantly, p = 0.5."), "%s", text);
    free(text);
}
END_TEST

START_TEST(without_a_difference_there_are_few_alarms)
{
    enum { TRIALS = 2000, FORMS = 4 };
    static const size_t sets[3] = {5, 10, 20};
    tg_rng rng = tg_rng_seed(7);
    for (int i = 0; i < 3; i++) {
        int alarms = 0, pair_alarms = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            double numbers[20 * FORMS], p[FORMS * FORMS], least = 1, difference[20];
            int pairs = 0;
            for (size_t s = 0; s < sets[i]; s++)
                for (int f = 0; f < FORMS; f++)
                    numbers[s * FORMS + (size_t)f] = (double)s + tg_rng_normal(&rng) * (double)(1 + s % 3);
            const ranks_scores of = {numbers, sets[i], FORMS, false};
            alarms += ranks_permuted(&of, 199) <= 0.05;
            for (size_t a = 0; a < FORMS; a++)
                for (size_t b = a + 1; b < FORMS; b++) {
                    for (size_t s = 0; s < sets[i]; s++)
                        difference[s] = numbers[s * FORMS + b] - numbers[s * FORMS + a];
                    p[pairs++] = ranks_signed(difference, sets[i], NULL);
                }
            statistics_holm(p, (size_t)pairs);
            for (int k = 0; k < pairs; k++)
                least = fmin(least, p[k]);
            pair_alarms += least < 0.05;
        }
        ck_assert_msg(alarms < TRIALS * (0.05 + 3 * sqrt(0.05 * 0.95 / TRIALS)), "%d data sets: %d alarms of %d",
                      (int)sets[i], alarms, TRIALS);
        ck_assert_msg(pair_alarms < TRIALS * (0.05 + 3 * sqrt(0.05 * 0.95 / TRIALS)), "%d data sets: %d alarms of %d",
                      (int)sets[i], pair_alarms, TRIALS);
    }
}
END_TEST

Suite *ranks_suite(void)
{
    Suite *suite = suite_create("ranks");
    TCase *tests = tcase_create("ranks");
    tcase_add_test(tests, mean_ranks_share_ties);
    tcase_add_test(tests, friedmans_test_agrees_with_scipy);
    tcase_add_test(tests, random_orders_have_the_exact_probability);
    tcase_add_test(tests, signed_ranks_count_all_signs);
    tcase_add_test(tests, the_probability_of_being_better_agrees_with_baycomp);
    tcase_add_test(tests, few_data_sets_cannot_tell_forms_apart);
    tcase_add_test(tests, the_verdict_over_data_sets_says_which_is_better_and_no_more);
    tcase_add_test(tests, without_a_difference_there_are_few_alarms);
    suite_add_tcase(suite, tests);
    return suite;
}
