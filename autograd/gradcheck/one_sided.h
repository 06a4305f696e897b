/* Derivatives from each side of a point, for functions with kinks and jumps. Internal. */
#ifndef TG_GRADCHECK_ONE_SIDED_H
#define TG_GRADCHECK_ONE_SIDED_H

#include "autograd/gradcheck/differences.h"

/* One-sided derivatives, summed over the outputs: the lower of each output's two sides, and the higher. */
typedef struct tg_check_one_sided {
    double low, high;
    double error; /* of both */
    double size;
    bool jumps; /* true if the values on both sides differ for at least one output */
} tg_check_one_sided;

bool tg_check_both_sides(tg_check *c, int level, const tg_check_way *way, tg_check_one_sided *d /* [groups] */);

/* The derivative of each value of a level, without cotangents: the mean of both sides. */
bool tg_check_each_side(tg_check *c, int level, const tg_check_way *way, double *values);

#endif
