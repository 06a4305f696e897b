/* Finite differences that estimate their own error. Internal. */
#ifndef TG_GRADCHECK_DIFFERENCES_H
#define TG_GRADCHECK_DIFFERENCES_H

#include "autograd/gradcheck/function.h"

typedef struct tg_check_difference {
    double value;
    double error;    /* by its own estimate; infinite if it does not converge at all */
    double rounding; /* of the values it is made of */
    double size;     /* sum of |cotangent_i d out_i| */
    double excuse;   /* rounding that a derivative may have, going by how much of it the function has */
    double bend;     /* what rounding its arguments does to it: its second derivative, times that */
    double natural;  /* how much of the direction the function needs to change by its own size, roughly */
} tg_check_difference;

/* The derivative of <cotangent, derivative number `level`> at the point along a direction, by central differences. `largest`
 * is that of the direction's elements; below `smallest` times the direction steps need not begin. */
bool tg_check_central(tg_check *c, int level, const double *direction, double largest, double smallest,
                      tg_check_difference *d);

/* The same in far smaller steps, in place of `best` if it contradicts that. Call it after tg_check_central. */
bool tg_check_closer(tg_check *c, int level, const double *direction, double largest,
                     tg_check_difference *best, bool *contradicts);

/* The one-sided ones, taken output by output: the sum of the lower and of the higher. */
typedef struct tg_check_one_sided {
    double low, high;
    double error; /* of both */
    double size;
} tg_check_one_sided;

bool tg_check_both_sides(tg_check *c, int level, const double *direction, double largest,
                         tg_check_one_sided *d);

/* One plain central difference with a step of `step` times the direction, after tg_check_moves has found out which values move
 * along it. */
bool tg_check_moves(tg_check *c, int level, const double *direction);
bool tg_check_plain(tg_check *c, int level, const double *direction, double step, tg_check_difference *d);

#endif
