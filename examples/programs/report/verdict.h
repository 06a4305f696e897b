/* The conclusions of a comparison in sentences, computed from its intervals; and hints on what to do first.
 *
 *     verdict_write(&(verdict_facts){.name = "gelu_exact", .against = "relu", .measure = "test accuracy",
 *                                    .share = true, .difference = statistics_paired(gelu, relu, 10), .p = 0.01,
 *                                    .comparisons = 3, .pairs = "seeds"}, sentence);
 *     // gelu_exact against relu: test accuracy +1.2 points (0.3 to 2.1), significant at the 5 % level among 3
 *     // comparisons (Holm); 10 seeds.
 */
#ifndef REPORT_VERDICT_H
#define REPORT_VERDICT_H

#include "examples/programs/report/statistics.h"

#include <stdbool.h>

enum { VERDICT_SENTENCE = 512, VERDICT_MOST_PAIRS = 1000000 };

typedef struct verdict_facts {
    const char *name, *against, *measure;
    const char *pairs; /* name of the pairs: "seeds" */
    bool share;        /* between 0 and 1: differences are in percentage points */
    statistics_estimate difference;
    double p;       /* p-value of the difference, corrected for `comparisons` */
    double overlap; /* statistics_correct_overlap */
    int comparisons;
} verdict_facts;

/* If significant: the difference and its 95 % interval. Otherwise the largest difference that the interval allows, and
 * how many pairs would show a quarter of it. */
void verdict_write(const verdict_facts *facts, char sentence[VERDICT_SENTENCE]);

/* The number of pairs that show a difference in 80 % of cases, with a t test at 5 % divided by the number of
 * comparisons (Bonferroni, with which Holm begins): the smallest n >= 2 with 1 >= ((t(1 - 0.05 / 2m; n - 1) + t(0.8; n
 * - 1)) deviation / difference)^2 (1 / n + overlap). A million if more are needed, or if no number is enough. */
int verdict_pairs_needed(double deviation, double difference, int comparisons, double overlap);

/* True if a validation loss was still falling when training ended: the best of the last quarter of the epochs is more
 * than 1 % below the best before. False for fewer than four epochs. */
bool verdict_still_falls(const double losses[], int count);

#endif
