/* What is printed on a terminal of some width, or into a file. */
#ifndef PSEUDO_TERMINAL_H
#define PSEUDO_TERMINAL_H

#include <stdio.h>

/* What `print` prints on a terminal that is so wide, without colours and without the carriage returns that a terminal
 * adds; with 0 columns into a file. The text is overwritten by the next call. */
char *terminal_output(int columns, void (*print)(FILE *out, const void *context), const void *context);

#endif
