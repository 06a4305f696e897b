/* Limits of this machine, which the figures are measured against. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

/* Multiply-adds in registers of an instruction set on one thread, in billions of floating-point operations per
 * second. */
double bench_peak_gflops(const char *isa, bool is_double);

/* Memory bandwidth of one thread that reads `bytes` at `from`, in billions of bytes per second. */
double bench_read_gbytes(const void *from, size_t bytes);

/* The distance between the processors of two threads limits threads that share data. A cache line goes to the other
 * processor and back in about 100 ns if they share a cache, otherwise in 500 ns; on a virtual machine that may change
 * from minute to minute. Seconds for this many exchanges: each passes a number to another thread and back. Negative if
 * there is no other thread. */
double handover_seconds(int exchanges);

#endif
