/* What bench measures, by its options: a function each, and its settings. Each prints a table, or its CSV form, on
 * standard output; lists are separated by commas. */
#ifndef BENCH_MODES_H
#define BENCH_MODES_H

#include "tests/bench/peer.h"

#include <tapegrad.h>

/* ---- training steps ---- */

/* Training steps: the tape against the floor, for every net, activation and number of threads asked for.
 *
 *     steps_bench(&(steps_settings){.nets = "toy,paper", .activations = "relu", .threads = "1,2", .seconds = 1});
 */
typedef struct steps_settings {
    const char *nets, *activations, *threads; /* separated by commas */
    double seconds;                           /* for each line of the table */
    bool csv;
    peer_settings peers[PEERS];
} steps_settings;

/* Prints the table, or its CSV form, on standard output. False, with a message on standard error, for an invalid list,
 * if a required peer does not start or if a step failed. */
bool steps_bench(const steps_settings *settings);

/* ---- a small GPT ---- */

/* The training step of a small GPT (4 layers, 4 heads, width 64, context 64, batch 32, 65 letters): compares the tape
 * with PyTorch, plain and compiled.
 *
 *     gpt_bench(&(gpt_settings){.activations = "gelu_tanh", .contexts = "64", .threads = 1, .seconds = 2,
 *                              .peers = {{"python3"}}});
 */
typedef struct gpt_settings {
    const char *activations; /* separated by commas */
    const char *contexts;    /* likewise: lengths of the sequences, of GPT_BENCH_TOKENS characters in all */
    int threads;
    double seconds;
    bool csv;
    peer_settings peers[2]; /* PyTorch, and compiled */
} gpt_settings;
enum { GPT_BENCH_TOKENS = 2048 };

/* Prints a line for each activation and context: microseconds per step, tokens per second, allocations, and PyTorch's
 * time as a multiple of ours. False, with a message on standard error, for a wrong list or a failed step. */
bool gpt_bench(const gpt_settings *settings);

/* The memory of a model and its step, in bytes. */
typedef struct bench_memory {
    int64_t parameters;
    tg_tape_counts tape;
} bench_memory;

/* Runs this many steps of the same GPT, and frees nothing. */
bool gpt_memory(tg_activation activation, int steps, bench_memory *took);

/* ---- nets on images ---- */

/* The training step of nets on images of 28 x 28 pixels, batch 128: of small convolutional nets (3 x 3 windows, max
 * pooling), with batch norm and without, and of a vision transformer; and single convolutions and pooling; beside
 * PyTorch's with channels last.
 *
 *     convnet_bench(&(convnet_settings){.activations = "relu,gelu_exact", .threads = 1, .seconds = 2,
 *                                      .peer = {"python3"}});
 */
typedef struct convnet_settings {
    const char *activations; /* separated by commas */
    int threads;
    double seconds; /* for each line of the table */
    bool csv;
    peer_settings peer; /* PyTorch */
} convnet_settings;

/* Prints a line for each net: microseconds per step, and PyTorch's time as a multiple. False, with a message on
 * standard error, for a wrong list, a required PyTorch that does not start, or a failed step. */
bool convnet_bench(const convnet_settings *settings);

/* ---- recurrent nets ---- */

/* The training step of recurrent models of text: 64 and 256 wide, 50 and 200 characters, 1 and 32 texts; beside
 * PyTorch's nn.RNN, nn.GRU and nn.LSTM.
 *
 *     recurrent_bench(&(recurrent_settings){.cells = "lstm", .threads = 1, .seconds = 1, .peer = {"python3"}});
 */
typedef struct recurrent_settings {
    const char *cells; /* separated by commas; "all" */
    int threads;
    double seconds; /* for each line of the table */
    bool csv;
    peer_settings peer; /* PyTorch */
} recurrent_settings;

/* Prints a line for each: microseconds per step, what the tape holds, and PyTorch's time as a multiple. False, with a
 * message on standard error, for a wrong list, a required PyTorch that does not start, or a failed step. */
bool recurrent_bench(const recurrent_settings *settings);

/* ---- inference ---- */

/* Predictions of small nets, for one row and 256: by tg_model_predict_rows, on a tape that is kept, and in exported C;
 * beside PyTorch and onnxruntime. And texts, character by character.
 *
 *     inference_bench(&(inference_settings){.compiler = "cc", .seconds = 1, .peer = {"python3"}});
 */
typedef struct inference_settings {
    const char *compiler; /* as for emitted_bench */
    double seconds;       /* for each line of the tables */
    bool csv;
    peer_settings peer; /* PyTorch, and onnxruntime where that Python has it */
} inference_settings;

/* Prints a line for each, in microseconds on one thread. False, with a message on standard error, if a compiler or a
 * required PyTorch does not start, or a prediction fails. */
bool inference_bench(const inference_settings *settings);

/* ---- memory ---- */

/* The memory of training steps: of parameters and optimiser, used and kept by the tape, and the resident total.
 *
 *     memory_bench(&(memory_settings){.nets = "paper,ffn,gpt", .activations = "relu,gelu_exact"});
 */
typedef struct memory_settings {
    const char *nets, *activations; /* separated by commas; "gpt" is the net of gpt.h */
    bool csv;
} memory_settings;

/* Prints a line for each net and activation, in megabytes (10^6), after three steps in a separate process. False, with
 * a message on standard error, for an invalid list or a failed step. */
bool memory_bench(const memory_settings *settings);

/* ---- recording ---- */

/* The time and memory of an operation on single numbers, its backward pass included, where the tape itself is all that
 * counts: of graphs that repeat, each on a tape of its own or in turn on one, and of graphs that change in each step.
 * Also the time of a training step whose batch has one of three sizes, on a tape for each or on one.
 *
 *     recording_bench(&(recording_settings){.seconds = 2});
 */
typedef struct recording_settings {
    double seconds; /* for all */
    bool csv;
} recording_settings;

/* Prints a line for each case; the ratio is that to the first. False, with a message on standard error, if a step
 * failed. */
bool recording_bench(const recording_settings *settings);

/* ---- formulas ---- */

/* The training step of the net paper whose activation is a formula, against the same activation built in: silu,
 * gelu_quick and relu_squared.
 *
 *     formulas_bench(&(formulas_settings){.seconds = 2});
 */
typedef struct formulas_settings {
    double seconds; /* for each line of the table */
    bool csv;
} formulas_settings;

/* Prints two lines for each, of steps that are recorded and that are replayed. False, with a message on standard error,
 * if out of memory. */
bool formulas_bench(const formulas_settings *settings);

/* ---- the step as C ---- */

/* The training step written as C (autograd/export.h), compiled by this system's compiler, against the step on the tape.
 *
 *     emitted_bench(&(emitted_settings){.nets = "toy,small", .activations = "relu", .compiler = "cc", .keep = ""});
 */
typedef struct emitted_settings {
    const char *nets, *activations; /* separated by commas */
    const char *compiler;           /* a command, to which flags and files are appended */
    const char *keep;               /* a folder for the files, which stay; empty: a temporary one */
    double seconds;                 /* for each line of the table */
    bool csv;
} emitted_settings;

/* Prints the table, or its CSV form, on standard output. False, with a message on standard error, for an invalid list,
 * if the compiler is missing or refuses the file, or if a step failed. */
bool emitted_bench(const emitted_settings *settings);

/* ---- kernels ---- */

/* Time per element of every kernel, in cache and from memory, compared with ReLU, a plain copy and PyTorch.
 *
 *     kernel_times(&(kernel_times_settings){.only = "gelu_exact,silu", .seconds = 0.2, .csv = true});
 *
 * Directions: `forward` is the kernel when no gradient is wanted. `backward` computes the cotangent of x from that of
 * y, as the tape does. `both` runs a forward that keeps what backward needs, then backward. `tape` is both through the
 * public functions, recording included. Each is timed in turn with ReLU in the same direction, a copy, and PyTorch's
 * operation.
 */
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

/* ---- matrix products ---- */

/* Measures matrix products alone, in the shapes of the nets' steps: our kernels and OpenBLAS's, alternately.
 *
 *     products_bench(&(products_settings){.isa = "best", .dtype = "f32", .threads = "1", .seconds = 0.2});
 *
 * GF/s are those of the fastest rounds. The ratio of both is the median over the rounds, because a change of the clock
 * rate affects both in a round. The peak is the rate of a loop of multiply-adds in registers, measured in the same run
 * with the same instruction set.
 */
typedef struct products_settings {
    const char *isa;   /* our kernels' instruction set; "best": the best that runs here */
    const char *dtype; /* "f32" or "f64" */
    const char *nets;  /* separated by commas, "square" too; NULL: all */
    int threads;
    double seconds; /* for each product; at least nine rounds */
    bool csv, titles;
} products_settings;

/* Prints the table, or its CSV form, on standard output. False, with a message on standard error, for an instruction
 * set that this processor lacks, or if out of memory. */
bool products_bench(const products_settings *settings);

/* The same in separate processes, one for each OpenBLAS core in a list separated by commas. `arguments` are those of
 * this program. */
bool products_bench_cores(const char *cores, char **arguments);

/* The position in the list of the core that this process measures; -1 if it measures none. */
int products_core_number(void);

/* ---- several processes ---- */

/* Compares a training step by all processes of an mpirun with the same step by one process.
 *
 *     mpirun -n 2 build/mpi/bin/bench --mpi
 */
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

/* ---- tables ---- */

/* Reads a table once, for tests/bench/tables.py, which takes the time and memory of the process: the file, and one
 * split with standardised columns. Returns the exit status. */
int table_read_once(const char *path);

#endif
