/* The integral of a derivative against the change of its function. Internal. */
#ifndef TG_GRADCHECK_INTEGRAL_H
#define TG_GRADCHECK_INTEGRAL_H

#include "autograd/gradcheck/differences.h"

/* The mean derivative over a stretch around the point, and the function's change over it. */
typedef struct tg_check_integral {
    double mean;     /* of the derivative */
    double change;   /* change of the function divided by the length of the stretch */
    double error;    /* estimated error of the mean, or of one derivative relative to the others */
    double rounding; /* of the change */
} tg_check_integral;

/* Computes them for derivative number `order` and the one below. A stretch is `half` of the direction to each side; a
 * group with `half` 0 is skipped. */
bool tg_check_integrals(tg_check *c, int order, const tg_check_way *way, const double *half /* [groups] */,
                        tg_check_integral *in);

#endif
