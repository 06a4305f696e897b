/* The peak performance of this processor. */
#ifndef BENCH_PEAK_H
#define BENCH_PEAK_H

#include <stdbool.h>
#include <stddef.h>

/* Multiply-adds in registers of an instruction set on one thread, in billions of floating-point operations per
 * second. */
double bench_peak_gflops(const char *isa, bool is_double);

/* Memory bandwidth of one thread that reads `bytes` at `from`, in billions of bytes per second. */
double bench_read_gbytes(const void *from, size_t bytes);

#endif
