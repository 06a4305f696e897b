/* Measures a function of a shared library against the exact GELU or SiLU: by ranges of x, over all exponents.
 *
 *     const yours_request request = {.load = "./mine.so:my_gelu", .derivative = "my_gelu_grad", .against = "gelu_exact"};
 *     tg_error error;
 *     int status = yours_report(&request, stdout, &error);        // 2: see error.text
 *
 * The function is double f(double); with `single`, float f(float); with `arrays`, void f(size_t n, const T *x, T *y).
 */
#ifndef ACCURACY_YOURS_H
#define ACCURACY_YOURS_H

#include <stdbool.h>
#include <stdio.h>
#include <tapegrad.h>

typedef struct yours_request {
    const char *load;       /* FILE:NAME */
    const char *derivative; /* name of the first derivative's function in that file; NULL: it is not measured */
    const char *second;     /* of the second's */
    const char *against;    /* gelu_exact, gelu_tanh, gelu_quick or silu */
    bool single, arrays;
    int every;       /* each N-th float, or 10^9/N doubles; at most 10^7 of these */
    bool csv;        /* function,order,range,max_ulp,at */
    double at_most;  /* largest error in ulp that is allowed; 0: any */
    const char *out; /* folder for yours.csv, the curve; NULL: none */
} yours_request;

/* The exit status: 0; 1 if an error is larger than allowed or the curve cannot be written; 2 if the request cannot be
 * fulfilled. Other than for 0, `error` says why. */
int yours_report(const yours_request *request, FILE *out, tg_error *error);

#endif
