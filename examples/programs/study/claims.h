/* Claims about GELU and related activations. Each is a call: the statement, the range in which a number must lie for it
 * to be true, and the number.
 *
 *     CLAIM("the minimum is at -0.75", NEAR(-0.75, 5e-3), minimum(), "at %.6f", n);
 *     CELLS("GELU has fewer dead units, 8 layers", BELOW(0), dead_units,
 *           "depth-gelu_exact-he_normal-hidden64x8", "depth-relu-he_normal-hidden64x8");
 *
 * One rule for all: yes if the number, or its whole interval, lies in the range; no if all of it lies outside; else not
 * shown. Statements that rest on seeds are one family: the level of their intervals
 * is that of Holm's method for all of them together.
 */
#ifndef STUDY_CLAIMS_H
#define STUDY_CLAIMS_H

#include "examples/programs/study/study.h"

typedef struct claim {
    const char *text;
    double from, to;  /* the range of the number, if the statement is true */
    double low, high; /* a 95 % interval, or a number twice; NaN: it could not be measured */
    double p;         /* of seeds: the smallest p at which an interval decides; else NaN */
    bool inside;      /* of seeds: the estimate lies in the range */
    char words[240];
} claim;

/* The claims of one part of the report. */
enum { CLAIMS = 64 };
typedef struct claims {
    const study_work *work;
    int count;
    claim row[CLAIMS];
} claims;

#define NEAR(number, off) (number) - (off), (number) + (off)
#define BELOW(number)     -INFINITY, number
#define ABOVE(number)     number, INFINITY
#define RANGE(from, to)   from, to

/* "yes", "no", "not shown" by the rule above, or "not measured". The p of the claim is corrected. */
const char *claim_verdict(const claim *about);

/* Adds a claim about an interval, or about a number; `format` and what follows are what was found. */
claim *claim_add(claims *c, const char *text, double from, double to, double low, double high, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
#define CLAIM(text, range, number, ...)               \
    do {                                              \
        const double n = number;                      \
        claim_add(c, text, range, n, n, __VA_ARGS__); \
    } while (0)

/* A result of runs (study_record_result) that is compared between cells, by seed. */
typedef struct claim_measure {
    const char *name, *result;
    const char *over;   /* it is divided by this result; NULL: not */
    const char *format; /* of one number */
    double scale;       /* it is multiplied by this; 0: its logarithm is compared, and differences are ratios */
    double (*of)(const study_cell *cell, int seed); /* in place of the result */
} claim_measure;

/* About a measure of the first cell; or its difference from that of the second, paired by seed; or that difference
 * minus the difference of the last two. */
enum { CLAIM_CELLS = 4 };
void claim_cells(claims *c, const char *text, double from, double to, const claim_measure *measure,
                 const char *const cells[CLAIM_CELLS]);
#define CELLS(text, range, measure, ...) \
    claim_cells(c, text, range, &measure, (const char *const[CLAIM_CELLS]){__VA_ARGS__})

/* The parts. */
void claim_values(claims *c), claim_costs(claims *c), claim_training(claims *c);

enum { CLAIM_GRIDS = 11 };
extern const study_grid claim_grids[CLAIM_GRIDS];

#endif
