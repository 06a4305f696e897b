/* What this processor can do at most. */
#ifndef BENCH_PEAK_H
#define BENCH_PEAK_H

#include <stdbool.h>
#include <stddef.h>

/* Billions of floating-point operations a second of multiply-adds in registers, by an instruction set, on one thread.
 */
double bench_peak_gflops(const char *isa, bool is_double);

/* Billions of bytes a second that one thread reads from memory, out of `bytes` at `from`. */
double bench_read_gbytes(const void *from, size_t bytes);

#endif
