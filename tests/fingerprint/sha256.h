/* SHA-256 (FIPS 180-4), as sha256sum prints it: not every system that has the library has that program.
 *
 *     char hex[SHA256_HEX + 1];
 *     sha256("abc", 3, hex);
 */
#ifndef TESTS_SHA256_H
#define TESTS_SHA256_H

#include <stddef.h>

enum { SHA256_HEX = 64 };

void sha256(const void *bytes, size_t size, char hex[SHA256_HEX + 1]);

#endif
