/* The report of build/bin/accuracy: the accuracy of the kernels on every instruction set of this processor, and whether
 * it is within the documented bounds.
 *
 *     return accuracy_report(&(accuracy_request){.exhaustive = true, .at_once = 2}, stdout);
 *
 * Shows its progress on standard error when that is a terminal, or when it takes long.
 */
#ifndef ACCURACY_REPORT_H
#define ACCURACY_REPORT_H

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

#endif
