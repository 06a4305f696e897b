/* Reports which OpenBLAS runs: its core, that is the processor whose kernels it uses, and its threads. */
#ifndef BENCH_BLAS_H
#define BENCH_BLAS_H

#include <stdio.h>

/* Call it first. If bench_blas_describe has started the program again to learn which core OpenBLAS chooses by itself,
 * this prints the core and exits. */
void bench_blas_answer(void);

/* Starts the program again with OpenBLAS's best core for this processor if OpenBLAS chose a slower one: the
 * hand-written step must show OpenBLAS at its best. */
void bench_blas_use_best(char **arguments);

/* Prints core and configuration, and any core or block size that OPENBLAS_CORETYPE or OPENBLAS_L2_SIZE forces in place
 * of the one that OpenBLAS would choose. */
void bench_blas_describe(FILE *out);

void bench_blas_threads(int count);

#endif
