/* What build/bin/accuracy makes. Its report: the accuracy of the kernels on every instruction set of this processor,
 * and whether it is within the documented bounds.
 *
 *     return accuracy_report(&(accuracy_request){.exhaustive = true, .at_once = 2}, stdout);
 *
 * Shows its progress on standard error when that is a terminal, or when it takes long.
 *
 * Its curves: the error of exact GELU in single precision over x, for four ways to compute it, the data of
 * plots/exactness.gp.
 *
 *     if (!accuracy_curves_write("results", "python3", NULL, &error))
 *         fprintf(stderr, "%s\n", error.text);
 *
 * The columns are form, x, ulp; form is naive (0.5 x (1 + erff(x / sqrt 2))), erfc (0.5 x erfcf(-x / sqrt 2)), pytorch
 * where that Python can import it, and tapegrad. Each row has the largest error among a few hundred numbers around x.
 */
#ifndef ACCURACY_REPORT_H
#define ACCURACY_REPORT_H

#include "examples/programs/report/files.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct accuracy_request {
    const char *kernels; /* names separated by commas, or "all"; NULL: all if exhaustive, otherwise GELU and SiLU */
    bool exhaustive;     /* all floats and 10^7 doubles, instead of every 1000th float and 10^5 doubles */
    bool csv;    /* a line for each kernel, precision, order and instruction set; else a table of the worst of these */
    int at_once; /* how many kernels are measured at the same time */
} accuracy_request;

/* False, and a message, if there is no such kernel. */
bool accuracy_request_check(const accuracy_request *request, char *message, size_t size);

/* The exit status of the program: 0 if all bounds hold, 1 if not, 130 when interrupted. */
int accuracy_report(const accuracy_request *request, FILE *out);

/* Writes exactness.csv into an existing folder; false, with a message, on failure. `has_pytorch` says whether PyTorch
 * was available; may be NULL. */
bool accuracy_curves_write(const char *folder, const char *python, bool *has_pytorch, tg_error *error);

#endif
