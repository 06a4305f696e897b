/* Measures the distance between the processors of two threads, which limits threads that share data. A cache line goes
 * to the other processor and back in about 100 ns if they share a cache, otherwise in 500 ns. On a virtual machine that
 * may change from minute to minute. */
#ifndef BENCH_HANDOVER_H
#define BENCH_HANDOVER_H

/* Seconds for this many exchanges: each passes a number to another thread and back. Negative if there is no other
 * thread. */
double handover_seconds(int exchanges);

#endif
