/* Which OpenBLAS runs: its core, that is the processor whose kernels it uses, and its threads. */
#ifndef BENCH_BLAS_H
#define BENCH_BLAS_H

#include <stdio.h>

/* Call it first: when the program was started again by bench_blas_describe to say which core OpenBLAS chooses by
 * itself, it prints that and ends. */
void bench_blas_answer(void);

/* Starts the program again with the best core of OpenBLAS for this processor if OpenBLAS chose a lesser one by itself;
 * the step by hand is to be the best that OpenBLAS can do. */
void bench_blas_use_best(char **arguments);

/* Prints core and configuration; and if OPENBLAS_CORETYPE or OPENBLAS_L2_SIZE in the environment forces another core or
 * other block sizes than OpenBLAS would choose, says so. */
void bench_blas_describe(FILE *out);

void bench_blas_threads(int count);

#endif
