/* study deviation: what decides in a small GPT, the deviation of the initial weights, the rate, the activation or the
 * seed? Rate and checkpoint are chosen by a validation text, and a test text, which chooses nothing, is reported. */
#include "examples/programs/study/study.h"

#define ALL "relu,relu_squared,gelu_tanh,gelu_exact,silu,swiglu,geglu,reglu"
#define FEW "relu,relu_squared,gelu_exact,swiglu"
#define GRID(called, from, options, small, forms, scales, count, ...)                                  \
    {                                                                                                  \
        .name = called, .data = from, .fixed = options, .quick = small,                                \
        .factors = {"activation=" forms, "init-scale=" scales}, .rates = {__VA_ARGS__}, .seeds = count \
    }
#define TEXT(called, from, options, forms, scales, count)                                                          \
    GRID(called, from,                                                                                             \
         "model=gpt init=gpt2 heads=4 context=64 schedule=cosine end=0.1 warmup=0.05 weight-decay=0.1 beta2=0.99 " \
         "clip=1 batch=12 validation=0.05 test=0.1 epochs=2 " options,                                             \
         "layers=1 width=16 context=16 epoch-windows=120", forms, scales, count, 1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2,   \
         3.2e-2)

/* Scales that make of GPT-2's 0.02 itself, the default sqrt(2 / (5 width)), and 1 / sqrt(width); MLPs: see below. */
static const study_grid grids[] = {
    TEXT(NULL, STUDY_PLAYS, "layers=2 width=64 epoch-windows=2400", ALL, "1,3.952847,6.25", 10),
    TEXT("long", STUDY_PLAYS, "layers=2 width=64 epoch-windows=9600", FEW, "1,3.952847,6.25", 3),
    TEXT("wide", STUDY_PLAYS, "layers=4 width=128 epoch-windows=2400", FEW, "1,2.795085,4.419417", 5),
    TEXT("perldiag", STUDY_PERLDIAG, "layers=2 width=64 epoch-windows=2400", FEW, "1,3.952847,6.25", 5),
    GRID("digits", STUDY_DIGITS, "split=redrawn hidden=64x2 init=variance_preserving batch=64 epochs=20",
         "batch=16 epochs=2", FEW, "0.25,1,2", 3, 1e-3, 3e-3, 1e-2),
    GRID("mnist", STUDY_MNIST, "hidden=128x2 init=variance_preserving batch=128 epochs=2 validation=first:5000",
         "hidden=16x2 batch=32 epochs=2 validation=first:60", FEW, "0.25,1,2", 3, 1e-3, 3e-3, 1e-2),
};
static const char *const forms[] = {"relu",   "relu_squared", "gelu_tanh", "gelu_exact", "silu",
                                    "swiglu", "geglu",        "reglu",     NULL};

static const study_levels levels[] = {
    {"", "plays", true, {"1", "3.952847", "6.25"}, {"0.02", "0.079", "0.125"}},
    {"long-", "plays: four times the steps", true, {"1", "3.952847", "6.25"}, {"0.02", "0.079", "0.125"}},
    {"wide-", "plays: 4 layers of width 128", true, {"1", "2.795085", "4.419417"}, {"0.02", "0.056", "0.088"}},
    {"perldiag-", "perldiag", true, {"1", "3.952847", "6.25"}, {"0.02", "0.079", "0.125"}},
    {"digits-", "optdigits: MLP", false, {"0.25", "1", "2"}, {"1/4", "1", "2"}},
    {"mnist-", "MNIST: MLP", false, {"0.25", "1", "2"}, {"1/4", "1", "2"}},
    {0}};

static const study_comparison comparisons[] = {
    {"gelu_exact", "relu", "GELU beside ReLU|1 to 3 % better"},
    {"swiglu", "gelu_exact", "SwiGLU beside GELU|5 to 10 % better"},
    {"relu_squared", "swiglu", "squared ReLU beside SwiGLU|better (nanochat); worse (two others)"},
    {"silu", "gelu_exact", "SiLU beside GELU|alike"},
    {"gelu_exact", "gelu_tanh", "exact GELU beside its tanh form|alike"},
    {0}};

/* Differences of losses. */
#define LESS(one, other, from, of_one, of_other)                               \
    {                                                                          \
        .cell = one, .less = other, .source = from, .value = of_one - of_other \
    }
static const study_published published[] = {
    LESS("swiglu", "gelu_exact", "course report, one run: SwiGLU less GELU", 1.7082, 1.7587),
    LESS("swiglu", "gelu_exact", "nanoGPT's discussion 675, one run: SwiGLU less GELU", 1.8176, 1.9061),
    LESS("gelu_exact", "relu", "arXiv 2002.05202, T5, 65,536 steps: GELU less ReLU", 1.983, 1.997),
    LESS("swiglu", "gelu_exact", "the same: SwiGLU less GELU", 1.944, 1.983),
    LESS("geglu", "gelu_exact", "the same: GEGLU less GELU", 1.942, 1.983),
    LESS("reglu", "relu", "the same: ReGLU less ReLU", 1.953, 1.997),
    {0}};

const study study_deviation = {
    .name = "deviation",
    .about = "initial weights, rate, activation or seed: what decides in a small GPT",
    .title = "Initial weights, rate or activation: which decides?",
    .protocol =
        "Small GPTs of characters on Shakespeare's plays: 2 layers, 4 heads, width 64, context 64, batch 12, 400 steps "
        "of AdamW (beta2 0.99, decay 0.1, 20 steps of warm-up, a cosine that ends at a tenth). All forms have about as "
        "many parameters. All weights begin normal, with a deviation of 0.02 (GPT-2's), 0.079 (the default, "
        "sqrt(2 / (5 width))) or 0.125 (1 / sqrt(width)); those of projections to the residual stream are divided by "
        "2, as in GPT-2. Rate and checkpoint are chosen by the twentieth of the text before the last tenth, and the "
        "loss on the last tenth is reported, which chooses nothing. Each seed has its own weights and windows, the "
        "same for all forms and deviations. The four forms that are most in dispute are also trained for four times "
        "the steps, at 4 layers of width 128, on another text, Perl's manual of diagnostics (perldiag), and in MLPs "
        "of two hidden layers, whose deviation is that which keeps the variance, a quarter of it, and twice as much.",
    .grids = grids,
    .grid_count = 6,
    .cells = forms,
    .levels = levels,
    .comparisons = comparisons,
    .published = published,
};
