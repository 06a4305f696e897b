/* One comparison: an analytic derivative against differences of the one below. Internal. */
#ifndef TG_GRADCHECK_COMPARE_H
#define TG_GRADCHECK_COMPARE_H

#include "autograd/gradcheck/together.h"

/* Compares along a direction that is not 0 from `from` to `to` only. Results are in units of the direction. */
bool tg_check_compare(tg_check *c, int order, const double *direction, int64_t from, int64_t to,
                      tg_gradcheck_result *v);

/* Compares the elements of an input that are in a set, all at once; each result, per unit of the element, is written at
 * the element's index. */
bool tg_check_compare_set(tg_check *c, int order, const tg_check_part *part, const tg_check_set *set,
                          tg_gradcheck_result *v /* [size of the part] */);

/* The same numbers per unit of something. */
void tg_check_divide(tg_gradcheck_result *v, double unit);

#endif
