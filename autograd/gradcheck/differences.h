/* Finite differences with an estimate of their error. Internal. */
#ifndef TG_GRADCHECK_DIFFERENCES_H
#define TG_GRADCHECK_DIFFERENCES_H

#include "autograd/gradcheck/function.h"

typedef struct tg_check_difference {
    double value;
    double error;             /* estimated; infinite if the difference does not converge */
    double rounding;          /* rounding of the values it is made of */
    double size;              /* sum of |cotangent_i d out_i| */
    double expected_rounding; /* the part of the derivative's rounding that the function's own rounding explains */
    double argument_rounding; /* effect of rounding the arguments: second derivative times that rounding */
    double length_scale;      /* part of the direction over which the function changes by about its own size */
    double in_larger_steps;   /* the difference in larger steps where smaller ones change nothing; or NaN */
    bool contradicts;         /* taken in far smaller steps, where it contradicts the usual difference */

    /* Over the values that change, each times its cotangent: the root of the sum of squares, and the sum of the
     * rounding errors. */
    double norm, rounding_sum;
} tg_check_difference;

/* The steps that a group takes. */
typedef struct tg_check_steps {
    double largest;         /* largest element of the direction */
    double smallest;        /* steps need not begin below this times the direction */
    double largest_change;  /* change over the largest step; set by tg_check_central */
    double in_larger_steps; /* what its difference is there, if in smaller ones no value changes at all; or NaN: set by
                               tg_check_central */
    bool wanted;            /* true if its difference is to be computed */
} tg_check_steps;

/* A direction: a step for each variable. The variables form one group, or several if each value depends on one group
 * only. Then all groups move at once, each by its own steps, and one evaluation gives the derivatives of all groups. */
typedef struct tg_check_way {
    const double *direction;
    int64_t groups;
    /* `group` is the group of each variable; the values of group g are values[first[g]] to values[first[g + 1] - 1].
     * All three are NULL if there is one group, which then has all values. */
    const int64_t *group, *first, *values;
    long double unmoved;   /* sum of tg_check_unmoved squared over the values in no group */
    tg_check_steps *steps; /* [groups] */
} tg_check_way;

static inline int64_t tg_check_group(const tg_check_way *way, int64_t variable)
{
    return way->group ? way->group[variable] : 0;
}

/* Where the values of a group begin among those of all groups (group + 1 gives the end); and the index of such a
 * value. */
static inline int64_t tg_check_begin(const tg_check_way *way, int64_t group, int64_t length)
{
    return way->first ? way->first[group] : group * length;
}

static inline int64_t tg_check_value(const tg_check_way *way, int64_t k)
{
    return way->values ? way->values[k] : k;
}

/* The first step along a direction whose largest element is this. */
double tg_check_first_step(double largest);

/* The size of a derivative by variable i that changes the function, or the derivative below, by its own size within
 * four first steps. Terms of a sum may be this large even if they cancel. */
double tg_check_typical_derivative(const tg_check *c, int order, int64_t i);

/* Derivative number `level` at the point, moved by `part` times each group's first step. */
bool tg_check_evaluate_along(tg_check *c, int level, const tg_check_way *way, const double *first, double part,
                             double *out);

/* The derivative of <cotangent, derivative number `level`> at the point along the direction, for each group, by central
 * differences. */
bool tg_check_central(tg_check *c, int level, const tg_check_way *way, tg_check_difference *best /* [groups] */);

/* The same in far smaller steps, in place of the best if it contradicts that. Call it after tg_check_central. */
bool tg_check_small_steps(tg_check *c, int level, const tg_check_way *way, tg_check_difference *best /* [groups] */);

/* Evaluates the level a quarter of the direction ahead and behind, into [2, length]. Differences taken afterwards count
 * only the values that change. */
bool tg_check_moves(tg_check *c, int level, const double *direction, double *ahead);

/* The share in the usual size of a value that the direction does not change: a change smaller than its rounding may be
 * hidden in it. */
double tg_check_unmoved(const tg_check_level *level, int64_t value);

/* One plain central difference whose step is `step` times the direction. Call it after tg_check_moves. */
bool tg_check_plain(tg_check *c, int level, const double *direction, double step, tg_check_difference *d);

#endif
