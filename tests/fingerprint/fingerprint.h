/* Small training runs whose weights have the same bytes on every processor: one for each model, layer, activation,
 * optimiser and norm of the library's tables, in float and in double.
 *
 *     fingerprint_print("*", stdout);          // "SHA-256  NAME" for each, as sha256sum prints
 */
#ifndef TESTS_FINGERPRINT_H
#define TESTS_FINGERPRINT_H

#include <stdbool.h>
#include <stdio.h>

/* Trains all whose names match the pattern (* is any text), for 50 steps each, and prints the hash of each one's
 * weights. False, with a message on stderr, if one cannot be trained or hashed. */
bool fingerprint_print(const char *pattern, FILE *to);

#endif
