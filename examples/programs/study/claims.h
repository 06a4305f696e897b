/* Claims about GELU and related activations, each an entry of a table: a measurement, and the range in which it must
 * lie for the statement to be true.
 *
 *     {"the minimum is at -0.75", find_minimum, NEAR(-0.75, 5e-3)},
 *     {"GELU has fewer dead units than ReLU, 8 layers", claim_cells, BELOW(0),
 *      {"depth-gelu_exact-he_normal-hidden64x8", "depth-relu-he_normal-hidden64x8"}, &dead_units},
 *
 * One rule for all: yes if the number, or its whole interval, lies in the range; no if all of it lies outside; else not
 * shown. Intervals of times are 95 % ones. Statements that rest on seeds are one family: the level of their intervals
 * is that of Holm's method for all of them together.
 */
#ifndef STUDY_CLAIMS_H
#define STUDY_CLAIMS_H

#include "examples/programs/study/study.h"

struct claims;

typedef struct finding {
    double low, high;    /* a 95 % interval, or a number twice; NaN: it could not be measured */
    double p;            /* of seeds: the smallest p at which an interval decides; else NaN */
    bool inside;         /* of seeds: the estimate lies in the range */
    const char *verdict; /* replaces the rule's verdict; NULL: the rule's */
    char words[240];
} finding;

finding finding_interval(double low, double high, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define finding_number(number, ...) finding_interval(number, number, __VA_ARGS__)
finding finding_none(void); /* of what was not run */

/* Of an estimate over seeds; of a ratio it has the logarithm. `c` has the range. */
finding finding_estimate(const struct claims *c, const statistics_estimate *e, bool ratio, const char *words);

/* What a claim is measured with. */
typedef struct claims {
    const study_work *work;
    tg_tape *tape; /* for values; any function may reset it */
    const struct claim *about;
} claims;

typedef finding claim_find(const claims *c);

/* A result of runs (study_record_result) that is compared between cells, by seed. */
typedef struct claim_measure {
    const char *name, *result;
    const char *over;   /* it is divided by this result; NULL: not */
    const char *format; /* of one number */
    double scale;       /* it is multiplied by this; 0: its logarithm is compared, and differences are ratios */
    /* In place of the result: a measure of a cell's runs of one seed. */
    double (*of)(const study_cell *cell, int seed);
} claim_measure;

enum { CLAIM_CELLS = 4 };

typedef struct claim {
    const char *text;
    claim_find *find;
    double from, to;             /* the range of the number, if the statement is true */
    const char *of[CLAIM_CELLS]; /* subjects of the statement; `find` defines their meaning */
    const claim_measure *measure;
    const char *study; /* the study whose runs decide it; NULL: claims */
} claim;

#define NEAR(number, off) (number) - (off), (number) + (off)
#define BELOW(number)     -INFINITY, number
#define ABOVE(number)     number, INFINITY
#define RANGE(from, to)   from, to

/* "yes", "no", "not shown" by the rule above; "not measured", or the finding's own. The p of the finding is corrected.
 */
const char *claim_verdict(const claim *about, const finding *found);

/* The statements about values, which need only the tape; costs; training; use; and about what the library has. Each
 * ends with a line of zeros. */
extern const claim claim_values[], claim_costs[], claim_training[], claim_use[], claim_blocks[];

/* For what is not computed here: of[0] is the verdict, of[1] the reason. */
claim_find claim_stated;
#define STATED(verdict, where) \
    claim_stated, 0, 0,        \
    {                          \
        verdict, where         \
    }

/* The number of[0] of another study's report, with its interval; of[1] names the measure. */
claim_find claim_study;

/* A measure of the cell of[0]; or its difference from that of of[1], paired by seed; or that difference minus the
 * difference of of[2] and of[3]. */
claim_find claim_cells;

/* The geometric mean over all tables of the ratio of test losses, of[0] over of[1]. */
claim_find claim_tables;

enum { CLAIM_GRIDS = 9 };
extern const study_grid claim_grids[CLAIM_GRIDS];

#endif
