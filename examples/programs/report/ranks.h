/* Forms that were compared on several data sets: their ranks, and tests of whether they differ.
 *
 *     double mean[3], f;
 *     ranks_pair pair[3];
 *     ranks_mean(&of, mean);                                  // of = {scores, sets, 3}; 1: best on each data set
 *     if (ranks_friedman(&of, &f) < 0.05)                     // some forms differ;
 *         ranks_pairs(&of, 0.01, pair);                       // pair[0]: of forms 0 and 1, then 0 and 2, 1 and 2
 *
 * A data set counts once, whatever its unit: only the order of the forms on it counts for the ranks. After Demsar,
 * "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006), and Garcia and Herrera, JMLR 9
 * (2008). Pairs are judged by Wilcoxon's test of their own differences, not by mean ranks, which depend on the other
 * forms (Benavoli, Corani and Mangili, JMLR 17, 2016). */
#pragma once

#include "examples/programs/report/direction.h"

typedef struct ranks_scores {
    const double *scores; /* [sets, forms] */
    size_t sets, forms;
    bool less_is_better;
} ranks_scores;

/* The mean rank of each form; forms with equal scores share the mean of their ranks. */
void ranks_mean(const ranks_scores *of, double mean[]);

/* Friedman's test that all forms are equal, corrected for ties, in the form of Iman and Davenport (1980): the statistic
 * has an F distribution with forms - 1 and (forms - 1) (sets - 1) degrees of freedom. Returns p; NaN with fewer than
 * two forms or two data sets; `statistic` may be NULL. */
double ranks_friedman(const ranks_scores *of, double *statistic);

/* The p of the same statistic by random orders: with few data sets the F distribution gives too small ones (with five
 * and four equal forms 6.3 % are below 0.05). At most 5 % of these are, whatever the number of draws; with equal scores
 * too. */
double ranks_permuted(const ranks_scores *of, int draws);

/* Wilcoxon's signed-rank test, two-sided: the probability of ranks so uneven if either sign is as likely for each
 * difference. Exact, with ties, by counting all signs. Zeros are left out, as Wilcoxon did; 1 if nothing is left. `sign`
 * is that of the larger sum of ranks, 0 for equal ones; it may be NULL. */
double ranks_signed(const double differences[], size_t count, int *sign);

/* Two forms, of which the second is looked at. */
typedef struct ranks_pair {
    int better, worse;     /* the data sets on which the second one is */
    double mean;           /* of the differences, second less first where more is better */
    int sign;              /* 1: the second is better by Wilcoxon's ranks, -1: worse */
    double p;              /* of Wilcoxon's test, corrected for all pairs by Holm's method */
    double probability[3]; /* that the second is worse by more than the margin, within it, and better, on another data
                              set: the Bayesian signed-rank test */
} ranks_pair;

/* The tests of all pairs: pair[forms (forms - 1) / 2]. */
void ranks_pairs(const ranks_scores *of, double margin, ranks_pair pair[]);

/* The Bayesian signed-rank test of Benavoli, Corani, Demsar and Zaffalon, JMLR 18 (2017): with Dirichlet weights on the
 * differences and on a prior one of 0, which weighs 0.5, whether most means of two of them are below -margin, within
 * it, or above it. The shares of 20,000 draws, the same in each call; right to about 0.01. */
void ranks_probable(const double differences[], size_t count, double margin, double probability[3]);

/* The smallest number of data sets with which one of so many pairs can be significant at 5 %. */
size_t ranks_sets_needed(size_t forms);

/* ---- what comparisons on several data sets say together: a table with sentences, and files (ranks_table.c) ----
 *
 *     ranks_answer *a = ranks_answer_new(&(ranks_question){.measure = "test_loss", .sets = 20, .forms = 8, ...});
 *     ranks_print(a, "table", stdout);
 *     ranks_write(a, "results/twenty", &error);      // ranks.csv and rank_pairs.csv
 *     ranks_answer_free(a);
 */

typedef struct ranks_question {
    const char *measure;
    direction direction;
    size_t sets, forms;
    const char *const *set, *const *form; /* names */
    const double *value;                  /* [sets, forms]: means over the seeds; NaN: diverged */
    double margin;                        /* a difference that matters: a share of the measure, where it can be one */
} ranks_question;

typedef struct ranks_answer ranks_answer;

/* The answer refers to the question's arrays, until ranks_answer_free. */
ranks_answer *ranks_answer_new(const ranks_question *question);
void ranks_answer_free(ranks_answer *a);

/* The forms by mean rank, and what the tests say of all and of each pair. Formats: those of table_print. */
void ranks_print(const ranks_answer *a, const char *format, FILE *out);

/* For LaTeX: each form beside the one with the best mean rank, * where they can be told apart. And how they were
 * judged, in a format for notes. */
void ranks_print_paper(const ranks_answer *a, FILE *out);
void ranks_print_definitions(const ranks_answer *a, const char *format, FILE *out);

/* Writes ranks.csv and rank_pairs.csv. False and one line on failure. */
bool ranks_write(const ranks_answer *a, const char *folder, tg_error *error);
