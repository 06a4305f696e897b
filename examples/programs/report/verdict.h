/* The conclusions of a comparison in sentences, computed from its intervals.
 *
 *     const char *names[] = {"gelu_exact", "relu", "swiglu"};           // from the best to the worst
 *     int of[9] = {[2] = VERDICT_DIFFER, [5] = VERDICT_DIFFER};        // [better, worse]
 *     verdict_headline(names, of, 3, "10 seeds", sentence);
 *     // gelu_exact and relu cannot be told apart; swiglu is worse
 *
 *     verdict_write(&(verdict_facts){.name = "gelu_exact", .against = "relu", .measure = "test accuracy",
 *                                    .share = true, .more_is_better = true, .better = 9, .p = 0.01,
 *                                    .difference = statistics_paired(gelu, relu, 10), .comparisons = 3,
 *                                    .pairs = "seeds"}, sentence);
 *     // gelu_exact against relu: test accuracy +1.2 points (0.3 to 2.1), better in 9 of 10 seeds:
 *     // significant, p = 0.01.
 */
#pragma once

#include "examples/programs/report/statistics.h"

enum { VERDICT_SENTENCE = 512 };

typedef struct verdict_facts {
    const char *name, *against, *measure;
    const char *pairs; /* name of the pairs: "seeds" */
    bool may_lack;     /* a run that has not diverged may lack this measure too: R2 of one sample; other programs */
    bool share;        /* between 0 and 1: differences are in percentage points */
    bool more_is_better;
    double base;                    /* mean of `against`, of which differences are a percentage; 0: none */
    statistics_estimate difference; /* of `name` less `against` */
    int better, worse;              /* pairs in which `name` is better, and worse */
    double p;                       /* p-value of the difference, corrected for `comparisons` */
    double here_p;                  /* the same if only splits of these samples are meant; NaN: unknown */
    int half, samples;              /* the fewest of the samples that make half of the difference; 0: unknown */
    bool grouped;                   /* these are groups of samples */
    double margin;                  /* equal means: within this share of the base (of 1 for shares) */
    double equal_p;                 /* p-value of the test of that, corrected; NaN: not tested */
    int comparisons;
} verdict_facts;

/* One pair: the difference with its 95 % interval, in how many pairs of runs it has this sign, and whether it is
 * significant, or too small to matter; otherwise, from ten seeds on, how many would show a difference of the margin
 * that the interval does not leave out. If all pairs of runs agree, it never says that there is no difference. */
void verdict_write(const verdict_facts *facts, char sentence[VERDICT_SENTENCE]);

/* What is known of the order of two groups: any of these together. */
enum {
    VERDICT_UNANIMOUS = 1, /* the same one is better in each of at least six pairs of runs */
    VERDICT_HERE = 2,      /* significant for other splits of these samples */
    VERDICT_DIFFER = 4     /* significant for other samples, too */
};

/* All groups in one sentence, without a full stop: which cannot be told apart, and which are better. `names` are sorted
 * from the best to the worst; of[i * count + j], i < j, is what is known of i and j; `pairs` is "10 seeds". Where that
 * is too long, the sentence names the best one alone. */
void verdict_headline(const char *const names[], const int of[], int count, const char *pairs,
                      char sentence[VERDICT_SENTENCE]);

/* True if a validation loss was still falling when training ended: the best of the last quarter of the epochs, at least
 * one, is more than 1 % below the best before. False for fewer than three epochs. */
bool verdict_still_falls(const double losses[], int count);
