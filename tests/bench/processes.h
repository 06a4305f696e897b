/* The training step of a net by all processes of an mpirun, beside the same step by one of them.
 *
 *     mpirun -n 2 build/mpi/bin/bench --mpi
 */
#ifndef BENCH_PROCESSES_H
#define BENCH_PROCESSES_H

#include "tests/bench/peer.h"

typedef struct processes_settings {
    const char *nets; /* of paper, mid, ffn, gpt; separated by commas */
    double seconds;   /* for each way to run a step */
    bool csv;
    peer_settings peer; /* PyTorch */
} processes_settings;

/* Prints a line for each net: the milliseconds of a step by one process, with one shard and with as many as there are
 * processes, and by all; how many times as fast that is, and the megabytes that process 0 sends in a step; and what a
 * step takes of the processor by one process, and by process 0 of all without the exchanges, which other programs on
 * the machine change little. The exit status. */
int processes_bench(const processes_settings *settings);

#endif
