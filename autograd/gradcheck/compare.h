/* Compares an analytic derivative with finite differences of the derivative below. Internal. */
#ifndef TG_GRADCHECK_COMPARE_H
#define TG_GRADCHECK_COMPARE_H

#include "autograd/gradcheck/together.h"

/* Compares along a direction that is 0 outside [from, to). Results are per unit of the direction. */
bool tg_check_compare(tg_check *c, int order, const double *direction, int64_t from, int64_t to,
                      tg_gradcheck_result *v);

/* Compares all elements of a set at once. v[i] is the result of element i, as if that had been moved alone by one
 * unit. */
bool tg_check_compare_set(tg_check *c, int order, const tg_check_part *part, const tg_check_set *set,
                          tg_gradcheck_result *v /* [size of the part] */);

/* Divides all numbers of a result by `unit`. */
void tg_check_divide(tg_gradcheck_result *v, double unit);

#endif
