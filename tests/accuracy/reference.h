/* Activations and elementary functions with more digits than the kernels have, as the reference for the kernels'
 * errors.
 *
 *     const reference_function *gelu = reference_find("gelu_exact");
 *     double exact[3];
 *     gelu->f32(-13.0f, exact);                     // value, first and second derivative
 *     double ulp = fabs(y - exact[0]) / reference_ulp_f32(exact[0]);
 *
 * The reference for single precision is double; that for double is long double: 80 bits on x86, 128 on most others.
 * Where an argument's rounding error would be magnified (the square in e^(-x^2/2), the cubic in the tanh form), the
 * argument is kept as a sum of two numbers. The formulas of derivatives cancel only near the derivative's zeros. The
 * formulas are those of the textbooks, and share no code and no coefficient with the kernels.
 */
#ifndef ACCURACY_REFERENCE_H
#define ACCURACY_REFERENCE_H

#include <stddef.h>

enum { REFERENCE_ORDERS = 3, REFERENCE_ZEROS = 2 };

typedef struct reference_function {
    const char *name; /* as the kernel is called */
    int orders;       /* 3: value and two derivatives; 1: the value only */
    void (*f32)(double x, double exact[REFERENCE_ORDERS]);
    void (*f64)(long double x, long double exact[REFERENCE_ORDERS]);
    /* Where the derivative of that order crosses zero; 0: nowhere. Within a factor of 1.6 of it only an absolute error
     * is meaningful. */
    double zeros[REFERENCE_ORDERS][REFERENCE_ZEROS];
    double periodic_from; /* likewise of derivatives from this |x| on; 0: nowhere */
} reference_function;

/* All of them in order; NULL past the end. */
const reference_function *reference_at(size_t index);
const reference_function *reference_find(const char *name);

/* The distance between neighbouring floats or doubles at x, that of the smallest ones for x near 0. */
double reference_ulp_f32(double x);
long double reference_ulp_f64(long double x);

#endif
