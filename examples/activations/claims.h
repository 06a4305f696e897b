/* What tutorials say of GELU's values, and what holds: computed, not quoted.
 *
 *     claims_print(stdout);                 // build/bin/activations --claims
 */
#ifndef ACTIVATIONS_CLAIMS_H
#define ACTIVATIONS_CLAIMS_H

#include <stdbool.h>
#include <stdio.h>

/* A line for each claim: what is said, whether it is so, and the numbers. False when memory runs out. */
bool claims_print(FILE *out);

#endif
