/* study shakespeare: activations, and other common changes, in a small GPT on Shakespeare's plays: nanoGPT's
 * configuration for a CPU, with several seeds where others had one. */
#include "examples/programs/study/study.h"

/* The configuration for a CPU in nanoGPT's README: 2,000 steps, validated every 250. The first rate, and the initial
 * weights, are nanoGPT's. */
#define PROTOCOL                                                                                                      \
    "model=gpt init=gpt2 layers=4 heads=4 width=128 context=64 schedule=cosine end=0.1 warmup=0.05 weight-decay=0.1 " \
    "beta2=0.99 clip=1 batch=12 epoch-windows=3000 epochs=8"
#define GRID(called, options, ...)                                                                    \
    {                                                                                                 \
        .name = called, .data = STUDY_PLAYS, .fixed = PROTOCOL options,                               \
        .quick = "layers=1 width=16 context=16 epoch-windows=240 epochs=2", .factors = {__VA_ARGS__}, \
        .rates = {1e-3, 3e-3, 6e-3}, .seeds = 5                                                       \
    }
static const study_grid grids[] = {
    GRID(NULL, "", "activation=relu,relu_squared,gelu_tanh,gelu_exact,silu,swiglu,geglu,reglu"),
    GRID("rotary", " activation=gelu_exact rotary=1", NULL),
    GRID("rmsnorm", " activation=gelu_exact norm=rms", NULL),
    GRID("grouped", " activation=gelu_exact kv-heads=2", NULL),
};

static const char *const cells[] = {"relu",  "relu_squared", "gelu_tanh", "gelu_exact", "silu",    "swiglu",
                                    "geglu", "reglu",        "rotary",    "rmsnorm",    "grouped", NULL};

/* Validation losses of single runs. */
#define SINGLE(cell, source, loss)                \
    {                                             \
        cell, source, 0, "best_val_loss", loss, 0 \
    }
static const study_published published[] = {
    SINGLE("gelu_exact", "course report", 1.7587),
    SINGLE("swiglu", "course report", 1.7082),
    SINGLE("rotary", "course report", 1.7283),
    SINGLE("rmsnorm", "course report", 1.7676),
    SINGLE("grouped", "course report", 1.7726),
    SINGLE("gelu_exact", "nanoGPT's discussion 675", 1.9061),
    SINGLE("swiglu", "nanoGPT's discussion 675", 1.8176),
    {0},
};

static const study_comparison comparisons[] = {
    {"relu_squared", "swiglu", "Is squared ReLU better than SwiGLU (nanochat: yes; two others: no)?"},
    {"swiglu", "gelu_exact", "Is SwiGLU better than GELU (both published runs: yes)?"},
    {"relu_squared", "gelu_exact", "Is squared ReLU better than GELU?"},
    {"gelu_exact", "relu", "Is GELU better than ReLU?"},
    {"gelu_exact", "gelu_tanh", "Is the exact GELU better than its tanh form?"},
    {"silu", "gelu_exact", "Is SiLU better than GELU (texts: they are alike)?"},
    {"geglu", "swiglu", "Is GeGLU better than SwiGLU?"},
    {"rotary", "gelu_exact", "Are rotated positions better than learned ones (the report: yes)?"},
    {"rmsnorm", "gelu_exact", "Is RMSNorm better than LayerNorm (the report: no)?"},
    {"grouped", "gelu_exact", "Are two heads of keys and values better than four (the report: no)?"},
    {0},
};

const study study_shakespeare = {
    .name = "shakespeare",
    .about = "activations, and more, in a small GPT on Shakespeare's plays",
    .title = "Activations in a small GPT on Shakespeare's plays",
    .protocol =
        "nanoGPT's configuration for a CPU: 4 layers, 4 heads, width 128, context 64, batch 12, 2,000 steps of AdamW "
        "(beta2 0.99, decay 0.1), 100 steps of warm-up, a cosine that ends at a tenth. All forms have about as many "
        "parameters. Each seed has its own weights and windows, the same for all forms. The loss is the lowest of the "
        "8 validations, each on the whole last tenth of the text; nanoGPT validates on 20 random batches. The rate is "
        "chosen by the same losses. Unlike nanoGPT, linear layers have biases. The base of rotary, rmsnorm and grouped "
        "is gelu_exact.",
    .grids = grids,
    .grid_count = 4,
    .cells = cells,
    .measure = "best_val_loss",
    .pairs = 8,
    .published = published,
    .comparisons = comparisons,
};
