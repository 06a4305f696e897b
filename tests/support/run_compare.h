/* Runs the program `compare` as users do. */
#ifndef RUN_COMPARE_H
#define RUN_COMPARE_H

#include <stddef.h>

/* The folder that make builds into. */
const char *compare_build(void);

/* Runs build/bin/compare with these arguments; captures its standard error and exit status. */
int compare_run(const char *arguments, char *errors, size_t size);

#endif
