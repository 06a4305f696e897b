/* bench: how fast, as ratios within one run. */
#include "examples/common/options.h"
#include "tests/bench/blas.h"
#include "tests/bench/steps.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct settings {
    const char *nets, *activations, *threads, *python;
    double seconds;
    bool csv, peers;
} settings;

static const program_option table[] = {
    {"nets", "LIST", "of toy, small, paper, mid, ffn", OPTION_TEXT, .offset = offsetof(settings, nets)},
    {"activations", "LIST", "of relu, gelu_exact, swiglu", OPTION_TEXT,
     .offset = offsetof(settings, activations)},
    {"threads", "LIST", "numbers of threads for the matrix products", OPTION_TEXT,
     .offset = offsetof(settings, threads)},
    {"seconds", "S", "to spend on each case, at least nine rounds", OPTION_REAL, offsetof(settings, seconds),
     .low = 0, .high = 3600},
    {"peers", NULL, "the same in PyTorch too, if Python can import it", OPTION_FLAG,
     .offset = offsetof(settings, peers)},
    {"python", "PROGRAM", "the Python for --peers", OPTION_TEXT, .offset = offsetof(settings, python)},
    {"csv", NULL, "print CSV instead of a table", OPTION_FLAG, .offset = offsetof(settings, csv)},
    {0}};

static const options_program program = {
    .name = "bench",
    .about = "Times AdamW training steps on the tape against the same steps written by hand in C, in turn, "
             "and prints medians. "
             "ratio is the median of the ratios within a round, gflops the speed of the matrix products "
             "alone. With one "
             "thread the clock counts processor time.",
    .table = table,
};

int main(int argc, char **argv)
{
    bench_blas_answer();
    settings s = {.nets = "toy,small,paper,mid,ffn",
                  .activations = "relu,gelu_exact,swiglu",
                  .threads = "1,2",
                  .python = "python3",
                  .seconds = 2};
    options_parse(&program, argc, argv, &s);
    bench_blas_describe(s.csv ? stderr : stdout);
    const steps_settings steps = {.nets = s.nets,
                                  .activations = s.activations,
                                  .threads = s.threads,
                                  .seconds = s.seconds,
                                  .csv = s.csv,
                                  .peer = s.peers ? s.python : NULL};
    return steps_bench(&steps) ? EXIT_SUCCESS : 2;
}
