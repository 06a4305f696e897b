/* Time per element of every kernel, in cache and from memory, compared with ReLU, a plain copy and PyTorch.
 *
 *     kernel_times(&(kernel_times_settings){.only = "gelu_exact,silu", .seconds = 0.2, .csv = true});
 *
 * Directions: `forward` is the kernel when no gradient is wanted. `backward` computes the cotangent of x from that of
 * y, as the tape does. `both` runs a forward that keeps what backward needs, then backward. `tape` is both through the
 * public functions, recording included. Each is timed in turn with ReLU in the same direction, a copy, and PyTorch's
 * operation.
 */
#ifndef BENCH_KERNEL_TIMES_H
#define BENCH_KERNEL_TIMES_H

#include "tests/bench/peer.h"

#include <stdbool.h>

typedef struct kernel_times_settings {
    const char *only; /* names separated by commas, or "all" */
    const char *isa;  /* the kernels' instruction set; "best": the best that runs here */
    double seconds;   /* for each figure, at least nine rounds */
    bool csv;
    peer_settings peer; /* PyTorch */
} kernel_times_settings;

/* Prints the table, or its CSV form, on standard output. False, with a message on standard error, for an unknown name,
 * an instruction set that this processor lacks, a required PyTorch that does not start, or if out of memory. */
bool kernel_times(const kernel_times_settings *settings);

#endif
