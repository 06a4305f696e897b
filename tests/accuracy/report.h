/* The report of build/bin/accuracy: how exact the kernels are on every instruction set that runs here, and whether that
 * is what is promised.
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
    const char *kernels; /* their names with commas between, or "all"; NULL for all, or GELU and SiLU if exhaustive */
    bool exhaustive;     /* all floats, not every 1000th; 10^7 doubles, not 10^5 */
    bool csv;    /* a line for each kernel, precision, order and instruction set; else a table of the worst of these */
    int at_once; /* how many kernels are measured at the same time */
} accuracy_request;

/* False, and a message, if there is no such kernel. */
bool accuracy_request_check(const accuracy_request *request, char *message, size_t size);

/* The exit status of the program: 0 if all bounds hold, 1 if not, 130 when interrupted. */
int accuracy_report(const accuracy_request *request, FILE *out);

#endif
