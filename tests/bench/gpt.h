/* The training step of a small GPT (4 layers, 4 heads, width 64, context 64, batch 32, 65 letters): compares the tape
 * with PyTorch, plain and compiled.
 *
 *     gpt_bench(&(gpt_settings){.activations = "gelu_tanh", .threads = 1, .seconds = 2, .peers = {{"python3"}}});
 */
#ifndef BENCH_GPT_H
#define BENCH_GPT_H

#include "tests/bench/peer.h"

#include <tapegrad.h>

typedef struct gpt_settings {
    const char *activations; /* separated by commas */
    int threads;
    double seconds;
    bool csv;
    peer_settings peers[2]; /* PyTorch, and compiled */
} gpt_settings;

/* Prints a line for each activation: microseconds per step, tokens per second, allocations, and PyTorch's time as a
 * multiple of ours. False, with a message on standard error, for a wrong list or a failed step. */
bool gpt_bench(const gpt_settings *settings);

/* The memory of a model and its step, in bytes. */
typedef struct bench_memory {
    int64_t parameters;
    tg_tape_counts tape;
} bench_memory;

/* Runs this many steps of the same GPT, and frees nothing. */
bool gpt_memory(tg_activation activation, int steps, bench_memory *took);

#endif
