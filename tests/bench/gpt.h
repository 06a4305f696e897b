/* The training step of a small GPT (4 layers, 4 heads, width 64, context 64, batch 32, 65 letters): the tape beside
 * PyTorch, plain and compiled.
 *
 *     gpt_bench(&(gpt_settings){.activations = "gelu_tanh,swiglu", .threads = 1, .seconds = 2, .peers =
 * {{"python3"}}});
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

/* Prints a line for each activation: microseconds of a step, tokens a second, allocations, and how many times as long
 * PyTorch takes. False, with a word on standard error, for a wrong list or if a step failed. */
bool gpt_bench(const gpt_settings *settings);

/* What a model and its step take, in bytes. */
typedef struct bench_memory {
    int64_t parameters;
    tg_tape_counts tape;
} bench_memory;

/* Takes so many steps of the same GPT, and leaves everything in memory. */
bool gpt_memory(tg_activation activation, int steps, bench_memory *took);

#endif
