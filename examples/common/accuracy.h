/* How far kernels are from the truth, in units in the last place.
 *
 *     const tg_kernel_set *sets[] = {tg_kernel_set_at(0)};
 *     accuracy found[1][REFERENCE_ORDERS] = {0};
 *     accuracy_measure_f32(1, sets, reference_find("gelu_exact"), n, x, found);   // again and again: keeps the worst
 *     printf("%g ulp at %a\n", found[0][0].max_ulp, found[0][0].ulp_at);
 *
 * An infinity or NaN that only one of kernel and truth has counts as an infinite error.
 */
#ifndef TG_EXAMPLES_ACCURACY_H
#define TG_EXAMPLES_ACCURACY_H

#include "autograd/kernels/kernels.h"
#include "examples/common/reference.h"

typedef struct accuracy {
    double max_ulp, ulp_at; /* the largest error in ulp of the exact result, and the input that has it */
    double max_abs,
        abs_at; /* the same for the absolute error near a zero of a derivative; max_ulp leaves it out */
} accuracy;

/* Runs the kernels of `function` of every order and each of the sets on x[0] .. x[n-1], and raises found[set][order] to
 * the errors seen. The truth is worked out once for all sets. */
void accuracy_measure_f32(size_t set_count, const tg_kernel_set *const *sets,
                          const reference_function *function, size_t n, const float *x,
                          accuracy found[][REFERENCE_ORDERS]);
void accuracy_measure_f64(size_t set_count, const tg_kernel_set *const *sets,
                          const reference_function *function, size_t n, const double *x,
                          accuracy found[][REFERENCE_ORDERS]);

#endif
