/* Measures the errors of kernels against a reference, in units in the last place.
 *
 *     accuracy_survey survey = accuracy_begin("gelu_exact");      // all instruction sets of this processor
 *     accuracy_edges(&survey);
 *     accuracy_floats(&survey, 0, ACCURACY_FLOATS, 1000);         // every 1000th
 *     accuracy_doubles(&survey, 17, 100000);
 *     for (int s = 0; s < survey.sets; s++)
 *         printf("%s: %g ulp at %a\n", survey.set[s]->isa, survey.f32[s][0].max_ulp, survey.f32[s][0].ulp_at);
 *
 * Several measurements combine to the largest error. An infinity or NaN in only one of kernel and reference counts as
 * an infinite error.
 */
#ifndef ACCURACY_H
#define ACCURACY_H

#include "autograd/kernels/kernels.h"
#include "autograd/rng.h"
#include "tests/accuracy/reference.h"

typedef struct accuracy {
    double max_ulp, ulp_at; /* the largest error in ulp of the exact result, and the input that has it */
    double max_abs, abs_at; /* near a zero of a derivative: the largest absolute error there; max_ulp leaves it out */
} accuracy;

enum { ACCURACY_SETS = 4 };

typedef struct accuracy_survey {
    const reference_function *function;
    int sets;
    const tg_kernel_set *set[ACCURACY_SETS];
    accuracy f32[ACCURACY_SETS][REFERENCE_ORDERS], f64[ACCURACY_SETS][REFERENCE_ORDERS];
} accuracy_survey;

#define ACCURACY_FLOATS (UINT64_C(1) << 32) /* the number of floats; a float's index is its bits */

/* A survey of the kernels of that name, which reference.h knows. */
accuracy_survey accuracy_begin(const char *name);

void accuracy_add_f32(accuracy_survey *survey, size_t n, const float *x);
void accuracy_add_f64(accuracy_survey *survey, size_t n, const double *x);

/* Runs a kernel by its name; one with a parameter gets 1. A derivative without a kernel is computed on a tape. */
void accuracy_run_f32(const tg_kernel_set *set, const char *name, int order, size_t n, const float *x, float *y);
void accuracy_run_f64(const tg_kernel_set *set, const char *name, int order, size_t n, const double *x, double *y);

/* True if the derivative of that order crosses zero at x, so that only its absolute error counts. */
bool accuracy_near_zero(const reference_function *function, int order, double x);

/* Measures critical numbers in both precisions: zeros, infinities, NaN, the smallest and the largest, bounds of
 * ranges. */
void accuracy_edges(accuracy_survey *survey);

/* Measures all powers of two, subnormal ones too, and the numbers next to each, with both signs, in both precisions:
 * where kernels change the range in which they scale a number. */
void accuracy_powers(accuracy_survey *survey);

/* Measures the floats whose bits are first, first + stride, ..., below last. */
void accuracy_floats(accuracy_survey *survey, uint64_t first, uint64_t last, uint64_t stride);

/* Measures random doubles: uniform in the ranges of interest, and every fifth with a random exponent. */
void accuracy_doubles(accuracy_survey *survey, uint64_t seed, size_t count);

/* The same numbers for other uses: the edges, and number i of a random sequence. */
enum { ACCURACY_EDGES_MOST = 1000 };
size_t accuracy_edge_doubles(double x[ACCURACY_EDGES_MOST]);
double accuracy_random_double(tg_rng *rng, size_t i);

/* The promised accuracy of a kernel or derivative: its largest error in ulp and, where it crosses zero, its largest
 * absolute error. The table is in tests/accuracy/bounds.c. */
typedef struct accuracy_bound {
    double ulp, absolute;
} accuracy_bound;

accuracy_bound accuracy_bound_of(const char *name, bool is_double, int order);
bool accuracy_holds(const accuracy *found, accuracy_bound bound);

#endif
