/* study deviation: what decides in a small GPT, the deviation of the initial weights, the rate, the activation or the
 * seed? Rate and checkpoint are chosen by a validation text, and a test text, which chooses nothing, is reported. */
#include "examples/programs/study/deviation.h"

#define ALL "relu,relu_squared,gelu_tanh,gelu_exact,silu,swiglu,geglu,reglu"
#define FEW "relu,relu_squared,gelu_exact,swiglu"
#define GRID(called, from, options, small, forms, scales, count, ...)                                  \
    {                                                                                                  \
        .name = called, .data = from, .fixed = options, .quick = small,                                \
        .factors = {"activation=" forms, "init-scale=" scales}, .rates = {__VA_ARGS__}, .seeds = count \
    }
#define PLAYS(called, options, forms, scales, count)                                                               \
    GRID(called, STUDY_PLAYS,                                                                                      \
         "model=gpt init=gpt2 heads=4 context=64 schedule=cosine end=0.1 warmup=0.05 weight-decay=0.1 beta2=0.99 " \
         "clip=1 batch=12 validation=0.05 test=0.1 epochs=2 " options,                                             \
         "layers=1 width=16 context=16 epoch-windows=120", forms, scales, count, 1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2,   \
         3.2e-2)

/* Scales of GPT-2's deviation 0.02: it itself, the default sqrt(2 / (5 width)), and 1 / sqrt(width); of the default for
 * MLPs. */
static const study_grid grids[] = {
    PLAYS(NULL, "layers=2 width=64 epoch-windows=2400", ALL, "1,3.952847,6.25", 10),
    PLAYS("long", "layers=2 width=64 epoch-windows=9600", FEW, "1,3.952847,6.25", 3),
    PLAYS("wide", "layers=4 width=128 epoch-windows=2400", FEW, "1,2.795085,4.419417", 3),
    GRID("digits", STUDY_DIGITS, "split=redrawn hidden=64x2 batch=64 epochs=20", "batch=16 epochs=2", FEW, "0.25,1,2",
         3, 1e-3, 3e-3, 1e-2),
    GRID("mnist", STUDY_MNIST, "hidden=128x2 batch=128 epochs=2 validation=first:5000",
         "hidden=16x2 batch=32 epochs=2 validation=first:60", FEW, "0.25,1,2", 3, 1e-3, 3e-3, 1e-2),
};
const char *const deviation_forms[DEVIATION_FORMS] = {"relu", "relu_squared", "gelu_tanh", "gelu_exact",
                                                      "silu", "swiglu",       "geglu",     "reglu"};

/* What texts say of two forms, in percent of perplexity. */
const deviation_comparison deviation_comparisons[] = {
    {3, 0, "GELU beside ReLU", "1 to 3 % better"},
    {5, 3, "SwiGLU beside GELU", "5 to 10 % better"},
    {1, 5, "squared ReLU beside SwiGLU", "better (nanochat); worse (two others)"},
    {4, 3, "SiLU beside GELU", "alike"},
    {3, 2, "exact GELU beside its tanh form", "alike"},
    {0}};

const deviation_other deviation_others[] = {
    {"long-", "four times the steps", {"1", "3.952847", "6.25"}, {"0.02", "0.079", "0.125"}},
    {"wide-", "4 layers of width 128", {"1", "2.795085", "4.419417"}, {"0.02", "0.056", "0.088"}},
    {"digits-", "MLP on optdigits", {"0.25", "1", "2"}, {"default / 4", "default", "default x 2"}},
    {"mnist-", "MLP on MNIST", {"0.25", "1", "2"}, {"default / 4", "default", "default x 2"}},
    {0}};

/* Differences of losses. */
const deviation_published deviation_published_list[] = {
    {"course report, one run: SwiGLU less GELU", 5, 3, 1.7082 - 1.7587},
    {"nanoGPT's discussion 675, one run: SwiGLU less GELU", 5, 3, 1.8176 - 1.9061},
    {"arXiv 2002.05202, T5, 65,536 steps: GELU less ReLU", 3, 0, 1.983 - 1.997},
    {"the same: SwiGLU less GELU", 5, 3, 1.944 - 1.983},
    {"the same: GEGLU less GELU", 6, 3, 1.942 - 1.983},
    {"the same: ReGLU less ReLU", 7, 0, 1.953 - 1.997},
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
        "same for "
        "all forms and deviations.",
    .grids = grids,
    .grid_count = 5,
    .report = deviation_report,
};
