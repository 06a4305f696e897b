/* bench: measures speed, as ratios within one run. */
#include "examples/programs/run/options.h"
#include "tests/bench/blas.h"
#include "tests/bench/modes.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct settings {
    const char *nets, *activations, *threads, *contexts, *python, *jax_python, *only, *isa, *dtype, *cores, *compiler,
        *keep, *table;
    double seconds;
    bool csv, peers, compile, kernels, products, gpt, mpi, memory, emitted, recording, convnet, recurrent, inference,
        formulas;
    options_given given;
} settings;

static const char *const isas[] = {"best", "baseline", "v3", "v4", NULL};

static const char *const dtypes[] = {"f32", "f64", NULL};

static const program_option table[] = {
    {NULL, NULL, "Training steps:", OPTION_GROUP},
    {"nets", "LIST", "of toy, small, paper, mid, ffn", OPTION_TEXT, .offset = offsetof(settings, nets)},
    {"activations", "LIST", "of relu, gelu_exact, swiglu", OPTION_TEXT, .offset = offsetof(settings, activations)},
    {"threads", "LIST", "numbers of threads for the matrix products", OPTION_INT, offsetof(settings, threads), 1, 1024,
     .list = true},
    {NULL, NULL, "Peers, for steps, the GPT, convolutional nets and kernels:", OPTION_GROUP},
    {"peers", NULL, "time the same in PyTorch too, and steps in JAX, where Python can import them", OPTION_FLAG,
     .offset = offsetof(settings, peers)},
    {"python", "PROGRAM", "the Python for PyTorch", OPTION_TEXT, .offset = offsetof(settings, python)},
    {"jax-python", "PROGRAM", "the Python for JAX, if it is another one", OPTION_TEXT,
     .offset = offsetof(settings, jax_python)},
    {"compile", NULL, "PyTorch's step by torch.compile as well, which takes up to a minute for each net", OPTION_FLAG,
     .offset = offsetof(settings, compile)},
    {NULL, NULL, "A small GPT:", OPTION_GROUP},
    {"gpt", NULL,
     "time its step instead, with gelu_tanh and swiglu or what --activations says, by the first number of --threads",
     OPTION_FLAG, .offset = offsetof(settings, gpt)},
    {"contexts", "LIST", "lengths of its sequences, with at most 2,048 characters in each step", OPTION_INT,
     offsetof(settings, contexts), 1, GPT_BENCH_TOKENS, .list = true},
    {NULL, NULL, "Nets on images:", OPTION_GROUP},
    {"convnet", NULL,
     "time steps of convolutional nets, with batch norm and without, and of a vision transformer instead, with relu "
     "and gelu_exact or what --activations says, and single convolutions and pooling, by the first number of "
     "--threads",
     OPTION_FLAG, .offset = offsetof(settings, convnet)},
    {NULL, NULL, "Recurrent nets:", OPTION_GROUP},
    {"recurrent", NULL,
     "time steps of an RNN, a GRU and an LSTM on texts of 50 and 200 characters instead, or of the cells that --only "
     "lists, by the first number of --threads",
     OPTION_FLAG, .offset = offsetof(settings, recurrent)},
    {NULL, NULL, "Predictions:", OPTION_GROUP},
    {"inference", NULL,
     "time predictions of one row and of 256, and texts character by character, instead: on a tape, by "
     "tg_model_predict, as C; with --peers also PyTorch's and onnxruntime's",
     OPTION_FLAG, .offset = offsetof(settings, inference)},
    {NULL, NULL, "Kernels:", OPTION_GROUP},
    {"kernels", NULL, "time every kernel instead, in cache and from memory, on one thread", OPTION_FLAG,
     .offset = offsetof(settings, kernels)},
    {"only", "LIST",
     "of all, or of copy, relu, gelu_exact, silu, swiglu, softmax, ...; with --recurrent of rnn, gru, lstm",
     OPTION_TEXT, .offset = offsetof(settings, only)},
    {NULL, NULL, "Matrix products:", OPTION_GROUP},
    {"products", NULL,
     "time our products and OpenBLAS's instead, of these nets, by the first number of --threads; the fastest tenth of "
     "rounds counts",
     OPTION_FLAG, .offset = offsetof(settings, products)},
    {"dtype", "NAME", "type of their elements", OPTION_CHOICE, .offset = offsetof(settings, dtype), .choices = dtypes},
    {"cores", "LIST", "OpenBLAS cores, each in a process of its own: Haswell, SkylakeX, Cooperlake, ...", OPTION_TEXT,
     .offset = offsetof(settings, cores)},
    {NULL, NULL, "Several processes, in a build by make MPI=1: mpirun -n 2 build/mpi/bin/bench --mpi", OPTION_GROUP},
    {"mpi", NULL,
     "time the training step of paper, mid, ffn and gpt on all processes instead, against one process; with --peers "
     "also PyTorch's DistributedDataParallel with gloo",
     OPTION_FLAG, .offset = offsetof(settings, mpi)},
    {NULL, NULL, "Memory:", OPTION_GROUP},
    {"memory", NULL,
     "measure the memory of training steps instead, also of the net gpt: values, gradients and AdamW's moments "
     "(trained), the tape, and the resident process",
     OPTION_FLAG, .offset = offsetof(settings, memory)},
    {NULL, NULL, "Recording:", OPTION_GROUP},
    {"recording", NULL,
     "time operations on single numbers instead, which cost what the tape costs: graphs that repeat, and that change",
     OPTION_FLAG, .offset = offsetof(settings, recording)},
    {NULL, NULL, "Formulas:", OPTION_GROUP},
    {"formulas", NULL,
     "time steps of the net paper with an activation that is written as a formula instead, against the same activation "
     "built in, on one thread",
     OPTION_FLAG, .offset = offsetof(settings, formulas)},
    {NULL, NULL, "Tables:", OPTION_GROUP},
    {"table", "FILE", "read this CSV file once instead, for tests/bench/tables.py", OPTION_TEXT,
     .offset = offsetof(settings, table)},
    {NULL, NULL, "The step as C:", OPTION_GROUP},
    {"emitted", NULL,
     "time the step that tg_export writes as C instead, against the step on the tape, recorded and replayed, on one "
     "thread",
     OPTION_FLAG, .offset = offsetof(settings, emitted)},
    {"compiler", "COMMAND", "the C compiler, perhaps with flags", OPTION_TEXT, .offset = offsetof(settings, compiler)},
    {"keep", "FOLDER", "keep the C files and what the compiler makes of them", OPTION_TEXT,
     .offset = offsetof(settings, keep)},
    {NULL, NULL, "All:", OPTION_GROUP},
    {"isa", "NAME", "the instruction set of kernels and products", OPTION_CHOICE, .offset = offsetof(settings, isa),
     .choices = isas},
    {"seconds", "S",
     "time for each case (a tenth of it for kernels and products), at least nine rounds; 0: one of one step",
     OPTION_REAL, offsetof(settings, seconds), .low = 0, .high = 3600},
    {"csv", NULL, "print CSV instead of a table", OPTION_FLAG, .offset = offsetof(settings, csv)},
    {0}};

static const options_program program = {
    .name = "bench",
    .given_offset = offsetof(settings, given),
    .about = "Times AdamW training steps on the tape and the same steps written by hand in C, alternating, and prints "
             "medians. Columns: ratio is the median of the ratios within a round; gflops is the speed of the matrix "
             "products alone; link ns is the round trip of a cache line between the processors of two threads. For "
             "peers the table has their times divided by tapegrad's, and CSV has microseconds. With one thread the "
             "clock counts processor time.",
    .table = table,
};

/* ---- what is timed ---- */

enum {
    STEPS = 1,
    GPT = 2,
    KERNELS = 4,
    PRODUCTS = 8,
    MPI = 16,
    MEMORY = 32,
    EMITTED = 64,
    TABLE = 128,
    RECORDING = 256,
    CONVNET = 512,
    RECURRENT = 1024,
    INFERENCE = 2048,
    FORMULAS = 4096
};

/* Reject options that would have no effect. */
static const struct {
    const char *option;
    int modes;
    bool of_peers;
    const char *modes_text;
} limited[] = {
    {"nets", STEPS | PRODUCTS | MPI | MEMORY | EMITTED, false,
     "training steps, --products, --mpi, --memory and --emitted"},
    {"activations", STEPS | GPT | CONVNET | MEMORY | EMITTED, false,
     "training steps, --gpt, --convnet, --memory and --emitted"},
    {"threads", STEPS | GPT | PRODUCTS | CONVNET | RECURRENT, false,
     "training steps, --gpt, --products, --convnet and --recurrent"},
    {"contexts", GPT, false, "--gpt"},
    {"peers", STEPS | GPT | CONVNET | RECURRENT | INFERENCE | KERNELS | MPI, false,
     "training steps, --gpt, --convnet, --recurrent, --inference, --kernels and --mpi"},
    {"python", STEPS | GPT | CONVNET | RECURRENT | INFERENCE | KERNELS | MPI, true,
     "training steps, --gpt, --convnet, --recurrent, --inference, --kernels and --mpi"},
    {"jax-python", STEPS, true, "training steps"},
    {"compile", STEPS | GPT, true, "training steps and --gpt"},
    {"only", KERNELS | RECURRENT, false, "--kernels and --recurrent"},
    {"dtype", PRODUCTS, false, "--products"},
    {"cores", PRODUCTS, false, "--products"},
    {"compiler", EMITTED | INFERENCE, false, "--emitted and --inference"},
    {"keep", EMITTED, false, "--emitted"},
    {"isa", KERNELS | PRODUCTS, false, "--kernels and --products"},
};

static bool options_matter(const settings *s)
{
    const struct {
        bool chosen;
        const char *option;
        int mode;
    } modes[] = {{s->gpt, "--gpt", GPT},
                 {s->kernels, "--kernels", KERNELS},
                 {s->products, "--products", PRODUCTS},
                 {s->mpi, "--mpi", MPI},
                 {s->memory, "--memory", MEMORY},
                 {s->emitted, "--emitted", EMITTED},
                 {s->table, "--table", TABLE},
                 {s->recording, "--recording", RECORDING},
                 {s->convnet, "--convnet", CONVNET},
                 {s->recurrent, "--recurrent", RECURRENT},
                 {s->inference, "--inference", INFERENCE},
                 {s->formulas, "--formulas", FORMULAS}};
    int mode = STEPS;
    const char *option = NULL;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (modes[i].chosen && option) {
            fprintf(stderr, "bench: %s and %s: one at a time\n", option, modes[i].option);
            return false;
        }
        mode = modes[i].chosen ? modes[i].mode : mode;
        option = modes[i].chosen ? modes[i].option : option;
    }
    for (size_t i = 0; i < sizeof limited / sizeof *limited; i++) {
        if (!options_has(&s->given, limited[i].option))
            continue;
        if (!(limited[i].modes & mode)) {
            fprintf(stderr, "bench: --%s is for %s only\n", limited[i].option, limited[i].modes_text);
            return false;
        }
        if (limited[i].of_peers && !s->peers) {
            fprintf(stderr, "bench: --%s: without --peers no peer is timed\n", limited[i].option);
            return false;
        }
    }
    return true;
}

static bool time_products(const settings *s, char **argv)
{
    const int number = products_core_number();
    if (*s->cores && number < 0)
        return products_bench_cores(s->cores, argv);
    if (!s->csv && number > 0)
        printf("\n");
    return products_bench(&(products_settings){.isa = s->isa,
                                               .dtype = s->dtype,
                                               .nets = options_has(&s->given, "nets") ? s->nets : NULL,
                                               .threads = atoi(s->threads),
                                               .seconds = s->seconds / 10,
                                               .csv = s->csv,
                                               .titles = !s->csv || number <= 0});
}

/* A peer whose Python is named is required. */
static void choose_peers(const settings *s, peer_settings peers[PEERS])
{
    if (!s->peers)
        return;
    peers[PEER_TORCH] = (peer_settings){s->python, options_has(&s->given, "python")};
    if (s->compile)
        peers[PEER_TORCH_COMPILED] = (peer_settings){s->python, true};
    peers[PEER_JAX] = (peer_settings){*s->jax_python ? s->jax_python : s->python, *s->jax_python};
}

int main(int argc, char **argv)
{
    bench_blas_answer();
    bench_blas_use_best(argv);
    settings s = {.nets = "toy,small,paper,mid,ffn",
                  .activations = "relu,gelu_exact,swiglu",
                  .threads = "1,2",
                  .contexts = "64",
                  .python = "python3",
                  .jax_python = "",
                  .only = "all",
                  .isa = "best",
                  .dtype = "f32",
                  .cores = "",
                  .compiler = "cc",
                  .keep = "",
                  .seconds = 2};
    options_parse(&program, argc, argv, &s);
    if (!options_matter(&s))
        return 2;
    if (s.table)
        return table_read_once(s.table);
    peer_settings peers[PEERS] = {{0}};
    choose_peers(&s, peers);
    if (s.kernels)
        return kernel_times(&(kernel_times_settings){
                   .only = s.only, .isa = s.isa, .seconds = s.seconds / 10, .csv = s.csv, .peer = peers[PEER_TORCH]})
                   ? EXIT_SUCCESS
                   : 2;
    if (s.products)
        return time_products(&s, argv) ? EXIT_SUCCESS : 2;
    if (s.mpi)
        return processes_bench(
            &(processes_settings){.nets = options_has(&s.given, "nets") ? s.nets : "paper,mid,ffn,gpt",
                                  .seconds = s.seconds,
                                  .csv = s.csv,
                                  .peer = peers[PEER_TORCH]});
    if (s.memory)
        return memory_bench(
                   &(memory_settings){.nets = options_has(&s.given, "nets") ? s.nets : "toy,small,paper,mid,ffn,gpt",
                                      .activations = s.activations,
                                      .csv = s.csv})
                   ? EXIT_SUCCESS
                   : 2;
    if (s.emitted)
        return emitted_bench(&(emitted_settings){.nets = options_has(&s.given, "nets") ? s.nets : "toy,small",
                                                 .activations = s.activations,
                                                 .compiler = s.compiler,
                                                 .keep = s.keep,
                                                 .seconds = s.seconds,
                                                 .csv = s.csv})
                   ? EXIT_SUCCESS
                   : 2;
    if (s.convnet)
        return convnet_bench(&(convnet_settings){
                   .activations = options_has(&s.given, "activations") ? s.activations : "relu,gelu_exact",
                   .threads = options_has(&s.given, "threads") ? atoi(s.threads) : 1,
                   .seconds = s.seconds,
                   .csv = s.csv,
                   .peer = peers[PEER_TORCH]})
                   ? EXIT_SUCCESS
                   : 2;
    if (s.recurrent)
        return recurrent_bench(&(recurrent_settings){.cells = s.only,
                                                     .threads = options_has(&s.given, "threads") ? atoi(s.threads) : 1,
                                                     .seconds = s.seconds,
                                                     .csv = s.csv,
                                                     .peer = peers[PEER_TORCH]})
                   ? EXIT_SUCCESS
                   : 2;
    if (s.inference)
        return inference_bench(&(inference_settings){
                   .compiler = s.compiler, .seconds = s.seconds, .csv = s.csv, .peer = peers[PEER_TORCH]})
                   ? EXIT_SUCCESS
                   : 2;
    if (s.recording)
        return recording_bench(&(recording_settings){.seconds = s.seconds, .csv = s.csv}) ? EXIT_SUCCESS : 2;
    if (s.formulas)
        return formulas_bench(&(formulas_settings){.seconds = s.seconds, .csv = s.csv}) ? EXIT_SUCCESS : 2;
    const steps_settings steps = {.nets = s.nets,
                                  .activations = s.activations,
                                  .threads = s.threads,
                                  .seconds = s.seconds,
                                  .csv = s.csv,
                                  .peers = {peers[0], peers[1], peers[2]}};
    if (s.gpt)
        return gpt_bench(&(gpt_settings){.activations =
                                             options_has(&s.given, "activations") ? s.activations : "gelu_tanh,swiglu",
                                         .contexts = s.contexts,
                                         .threads = atoi(s.threads),
                                         .seconds = s.seconds,
                                         .csv = s.csv,
                                         .peers = {peers[PEER_TORCH], peers[PEER_TORCH_COMPILED]}})
                   ? EXIT_SUCCESS
                   : 2;
    return steps_bench(&steps) ? EXIT_SUCCESS : 2;
}
