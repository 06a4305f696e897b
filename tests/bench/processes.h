/* Compares a training step by all processes of an mpirun with the same step by one process.
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

/* Prints a line for each net:
 *
 *   - the milliseconds of a step by one process with one shard, by one process with a shard for each process, and
 *     by all processes;
 *   - the speedup, and the megabytes that process 0 sends in a step;
 *   - the processor time of a step, by one process and by process 0 of all without the exchanges. Other programs on the
 *     machine change it little.
 *
 * Returns the exit status. */
int processes_bench(const processes_settings *settings);

#endif
