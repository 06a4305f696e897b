/* The memory of training steps: what parameters and optimiser take, what the tape uses and keeps, and how much of the
 * process is resident.
 *
 *     memory_bench(&(memory_settings){.nets = "paper,ffn,gpt", .activations = "relu,gelu_exact"});
 */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include <stdbool.h>

typedef struct memory_settings {
    const char *nets, *activations; /* separated by commas; "gpt" is the net of gpt.h */
    bool csv;
} memory_settings;

/* Prints a line for each net and activation, in megabytes (10^6), after three steps in a process of their own. False,
 * with a message on standard error, for a list without a net or an activation, or if a step failed. */
bool memory_bench(const memory_settings *settings);

#endif
