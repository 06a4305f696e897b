/* What is printed on a terminal of some width, or into a file. */
#ifndef PSEUDO_TERMINAL_H
#define PSEUDO_TERMINAL_H

#include <stdio.h>

/* What `print` prints on a terminal of this size, without colours and carriage returns; with 0 columns into a file. The
 * terminal is a file that passes for one, so that none is needed. The text is overwritten by the next call. */
char *terminal_output(int columns, int rows, void (*print)(FILE *out, const void *context), const void *context);

#endif
