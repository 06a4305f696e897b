/* The tables of uci/ and optdigits/, and how long a small network is trained on one: what several studies use. */
#ifndef STUDY_TABULAR_H
#define STUDY_TABULAR_H

#include "examples/study/study.h"

enum { TABULAR_SETS = 9, TABULAR_RATES = 5 };
extern const double tabular_rates[TABULAR_RATES];

typedef struct tabular_sets {
    int count;
    const char *name[TABULAR_SETS];
    dataset data[TABULAR_SETS];
} tabular_sets;

/* Loads all of them, or made-up ones for a quick study. False, said, if one is not there. */
bool tabular_load(const study_context *c, tabular_sets *sets);
void tabular_free(tabular_sets *sets);

/* A study on them: loads them, runs it on the records in the study's folder, and frees both sets and work. The exit
 * status. */
int tabular_study(const study_context *c,
                  int (*run)(const study_context *c, const tabular_sets *sets, study_work *work));

/* A run with two hidden layers of 64: 3,000 steps or so, parts drawn anew for each seed. Its name is
 * SET-NAME-lrRATE-seedSEED. */
bool tabular_add(study_work *work, const study_context *c, const tabular_sets *sets, int set, const char *name,
                 const net_spec *form, double rate, int seed, const char *start);

/* The logarithms of the test losses, by seed, of the runs of that name at a rate, each at the epoch with its lowest
 * validation loss; NaN for what diverged or is not complete. Logarithms, because a network without normalisation may
 * meet a row that is far out and be off by a factor of a thousand on it. The mean logarithm of their validation losses
 * there, which is infinite if one diverged and NaN if one is not complete. */
double tabular_losses(const study_work *work, const char *set, const char *name, double rate, int seeds,
                      double test[STUDY_SEEDS]);

/* The rate with the lowest of these means, 0 if none is complete. */
double tabular_best_rate(const study_work *work, const char *set, const char *name, const double rates[], int count,
                         int seeds);

#endif
