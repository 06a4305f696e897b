/* Finite differences that estimate their own error. Internal. */
#ifndef TG_GRADCHECK_DIFFERENCES_H
#define TG_GRADCHECK_DIFFERENCES_H

#include "autograd/gradcheck/function.h"

typedef struct tg_check_difference {
    double value;
    double error;    /* by its own estimate; infinite if it does not converge at all */
    double rounding; /* of the values it is made of */
    double size;     /* sum of |cotangent_i d out_i| */
    double natural;  /* how much of the direction the function needs to change by its own size, roughly */
} tg_check_difference;

/* The derivative of <cotangent, derivative number `level`> at the point along a direction, by central differences. `largest`
 * is that of the direction's elements. */
bool tg_check_central(tg_check *c, int level, const double *direction, double largest,
                      tg_check_difference *d);

/* The one-sided ones, taken output by output: the sum of the lower and of the higher. */
typedef struct tg_check_one_sided {
    double low, high;
    double error; /* of both */
    double size;
} tg_check_one_sided;

bool tg_check_both_sides(tg_check *c, int level, const double *direction, tg_check_one_sided *d);

/* One plain central difference with a step of `step` times the direction. */
bool tg_check_plain(tg_check *c, int level, const double *direction, double step, tg_check_difference *d);

#endif
