/* Which OpenBLAS runs: its core, that is the processor whose kernels it uses, and its threads. */
#ifndef BENCH_BLAS_H
#define BENCH_BLAS_H

#include <stdio.h>

/* Call it first: when the program was started again by bench_blas_describe to say which core OpenBLAS chooses by itself, it prints that
 * and ends. */
void bench_blas_answer(void);

/* Prints core and configuration; and if OPENBLAS_CORETYPE or OPENBLAS_L2_SIZE in the environment forces another core or
 * other block sizes than OpenBLAS would choose, says so. */
void bench_blas_describe(FILE *out);

void bench_blas_threads(int count);

#endif
