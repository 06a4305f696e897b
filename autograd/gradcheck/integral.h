/* The integral of a derivative against the change of its function. Internal. */
#ifndef TG_GRADCHECK_INTEGRAL_H
#define TG_GRADCHECK_INTEGRAL_H

#include "autograd/gradcheck/differences.h"

/* The derivatives on a stretch to both sides of the point, against the function's change over it. */
typedef struct tg_check_integral {
    double mean;     /* of the derivative */
    double change;   /* of the function, by the length of the stretch */
    double error;    /* of the mean, by its own estimate, or of the one derivative beside the others */
    double rounding; /* of the change */
} tg_check_integral;

/* Of derivative number `order` and the one below; a stretch is `half` of the direction to each side, nothing where that
 * is 0. */
bool tg_check_integrals(tg_check *c, int order, const tg_check_way *way, const double *half /* [groups] */,
                        tg_check_integral *in);

#endif
