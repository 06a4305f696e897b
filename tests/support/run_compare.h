/* The program `compare`, run as a user does. */
#ifndef RUN_COMPARE_H
#define RUN_COMPARE_H

#include <stddef.h>

/* The folder that make builds into. */
const char *compare_build(void);

/* Runs build/bin/compare with these arguments; what it printed to standard error, and its exit status. */
int compare_run(const char *arguments, char *errors, size_t size);

#endif
