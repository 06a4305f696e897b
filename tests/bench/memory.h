/* The memory of training steps: of parameters and optimiser, used and kept by the tape, and the resident total.
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

/* Prints a line for each net and activation, in megabytes (10^6), after three steps in a separate process. False, with
 * a message on standard error, for an invalid list or a failed step. */
bool memory_bench(const memory_settings *settings);

#endif
