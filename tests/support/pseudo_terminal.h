/* Output for a terminal of a given width, or for a file. */
#ifndef PSEUDO_TERMINAL_H
#define PSEUDO_TERMINAL_H

#include <stdio.h>

/* The output of `print` for a terminal of this size, without colours and carriage returns; with 0 columns, for a file.
 * A file stands in for the terminal, so none is needed. The next call overwrites the text. */
char *terminal_output(int columns, int rows, void (*print)(FILE *out, const void *context), const void *context);

#endif
