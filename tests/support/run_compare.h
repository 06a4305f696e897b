/* Runs the program `compare` as users do. */
#ifndef RUN_COMPARE_H
#define RUN_COMPARE_H

#include <stddef.h>

/* The folder that make builds into. */
const char *compare_build(void);

/* Runs build/bin/compare with these arguments; captures its standard error and exit status. */
int compare_run(const char *arguments, char *errors, size_t size);

/* Eight small runs: options of compare, followed by a blank. */
#define SMALL                                                                                    \
    "--data moons --rows 300 --hidden 8x2 --activations relu,gelu_exact,swiglu,stochastic_gelu " \
    "--dropout 0.1 --seeds 2 --epochs 2 --batch 32 --no-plots "

/* The rows of a curves.csv without their last column, the seconds; to be freed. */
char *rows_without_seconds(const char *folder);

#endif
