/* Training steps: the tape against the floor, for every net, activation and number of threads asked for.
 *
 *     steps_bench(&(steps_settings){.nets = "toy,paper", .activations = "relu", .threads = "1,2", .seconds = 1});
 */
#ifndef BENCH_STEPS_H
#define BENCH_STEPS_H

#include "tests/bench/peer.h"

#include <stdbool.h>

typedef struct steps_settings {
    const char *nets, *activations, *threads; /* separated by commas */
    double seconds;                           /* for each line of the table */
    bool csv;
    peer_settings peers[PEERS];
} steps_settings;

/* Prints the table, or its CSV form, on standard output. False, with a message on standard error, for an invalid list,
 * if a required peer does not start or if a step failed. */
bool steps_bench(const steps_settings *settings);

#endif
