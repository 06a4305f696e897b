/* Statements about operations and memory, which are counted, and about features of the library. */
#include "examples/programs/study/claims.h"

#include <math.h>
#include <string.h>

/* Operations of a feed-forward layer are its weights: each meets each row once. */
static finding find_operations(const claims *c)
{
    tg_mlp_config plain = {.inputs = 768,
                           .hidden = {3072},
                           .outputs = 768,
                           .no_bias = true,
                           .activation = TG_GELU_EXACT},
                  gated = plain;
    (void)c;
    gated.activation = TG_SWIGLU;
    const double fitted = (double)tg_mlp_size(&gated, NULL) / (double)tg_mlp_size(&plain, NULL);
    gated.equal_width = true;
    const double wide = (double)tg_mlp_size(&gated, NULL) / (double)tg_mlp_size(&plain, NULL);
    return finding_number(wide, "768-3072-768: %.2f times at equal width, %.2f at two thirds of it", wide, fitted);
}

/* ---- memory ---- */

enum { VOCABULARY = 64, POSITIONS = 64, BATCH = 8 };

/* The bytes of a training step's tensors, without weights and optimiser, of BERT's blocks; NaN on failure. */
static double step_bytes(tg_activation activation, bool recompute)
{
    const tg_rng rng = tg_rng_seed(1);
    tg_transformer_config config = {
        .vocabulary = VOCABULARY, .context = POSITIONS, .layers = 4, .block = tg_block_bert(128, 4)};
    config.block.activation = activation;
    config.block.recompute = recompute;
    tg_transformer *bert = tg_transformer_new(&rng, &config);
    tg_tape *tape = tg_tape_new();
    static int32_t ids[BATCH * POSITIONS];
    for (int i = 0; i < BATCH * POSITIONS; i++)
        ids[i] = (i * 7) % VOCABULARY;
    tg_tensor tokens = tg_borrow(tape, TG_I32, ids, TG_SHAPE(BATCH, POSITIONS));
    const bool fine = bert && tg_backward(tg_cross_entropy(tg_transformer_forward(bert, tokens, NULL), tokens));
    const double bytes = fine ? (double)tg_tape_count(tape).bytes_used : NAN;
    tg_tape_free(tape);
    tg_transformer_free(bert);
    return bytes;
}

static finding find_memory(const claims *c)
{
    (void)c;
    const double gelu = step_bytes(TG_GELU_EXACT, false), relu = step_bytes(TG_RELU, false);
    return finding_number(gelu / relu, "%.2f times a step's memory with ReLU (4 blocks of BERT, width 128: %.1f MB)",
                          gelu / relu, 1e-6 * gelu);
}

static finding find_recomputation(const claims *c)
{
    (void)c;
    const double stored = step_bytes(TG_GELU_EXACT, false), again = step_bytes(TG_GELU_EXACT, true);
    return finding_number(again / stored, "%.1f MB in place of %.1f MB where whole blocks are recomputed", 1e-6 * again,
                          1e-6 * stored);
}

/* From the report of study cost. */
#define TIMES(key, range) claim_study, range, {key, "time"}, .study = "cost"

const claim claim_costs[] = {
    {"exact GELU costs 3.0 times ReLU, per element", TIMES("value gelu_exact", NEAR(3, 0.5))},
    {"the tanh form 1.5 times, per element", TIMES("value gelu_tanh", NEAR(1.5, 0.25))},
    {"QuickGELU 1.2 times, per element", TIMES("value gelu_quick", NEAR(1.2, 0.2))},
    {"SwiGLU 2.0 times, per element", TIMES("value swiglu", NEAR(2, 0.3))},
    {"exact GELU costs 3.0 times ReLU, in a training step", TIMES("step gelu_exact", NEAR(3, 0.5))},
    {"SwiGLU costs 2.0 times ReLU, in a training step at equal parameters", TIMES("step swiglu", NEAR(2, 0.3))},
    {"SwiGLU costs 2.0 times ReLU, in a training step at equal width",
     TIMES("step swiglu of equal width", NEAR(2, 0.3))},
    {"exact GELU costs 2 times the tanh form, per element", TIMES("value gelu_exact over gelu_tanh", NEAR(2, 0.5))},
    {"derivatives of GELU cost more than those of ReLU, per element", TIMES("derivative gelu_exact", ABOVE(1))},
    {"QuickGELU is cheaper than exact GELU, per element (for mobile)",
     TIMES("value gelu_quick over gelu_exact", BELOW(1))},
    {"Hardswish is cheaper than exact GELU, per element (for mobile)",
     TIMES("value hardswish over gelu_exact", BELOW(1))},
    {"SwiGLU needs 1.5 times the operations of GELU", find_operations, NEAR(1.5, 0.01)},
    {"QuickGELU makes the forward pass of a net faster than exact GELU",
     TIMES("forward gelu_quick over gelu_exact", BELOW(1))},
    {"GELU is no memory bottleneck: at most a tenth more than ReLU", find_memory, BELOW(1.1)},
    {"recomputation in the backward pass saves memory", find_recomputation, BELOW(0.95)},
    {0}};

/* ---- features ---- */

/* 1 if the library has of[0], a layer, activation, model or schedule, otherwise 0; of[1] names it. */
static finding find_block(const claims *c)
{
#define NAME(name)             #name,
#define TG_PLAIN(c, n, ...)    #n,
#define TG_GATED(c, n, ...)    #n,
#define TG_LAYER               NAME
#define TG_MODEL               NAME
#define TG_SCHEDULE(c, n, ...) #n,
    static const char *const names[] = {
#include "nn/activations.def"
#include "nn/layers/layers.def"
#include "nn/models/models.def"
#include "optim/schedules.def"
    };
    const char *const *of = c->about->of;
    size_t at = 0;
    while (at < sizeof names / sizeof *names && strcmp(names[at], of[0]) != 0)
        at++;
    return finding_number(at < sizeof names / sizeof *names, "%s", of[1]);
}

#define BLOCK(name, where)  \
    find_block, ABOVE(0.5), \
    {                       \
        name, where         \
    }

const claim claim_blocks[] = {
    {"GELU, exact", BLOCK("gelu_exact", "tg_gelu_exact")},
    {"GELU, tanh form", BLOCK("gelu_tanh", "tg_gelu_tanh")},
    {"GELU, stochastic form", BLOCK("stochastic_gelu", "TG_STOCHASTIC_GELU")},
    {"QuickGELU", BLOCK("gelu_quick", "tg_gelu_quick")},
    {"feed-forward layer of BERT, ViT and CLIP", BLOCK("feed_forward", "tg_feed_forward_add")},
    {"convolution, normalisation, GELU", BLOCK("conv_block", "tg_conv_block_add")},
    {"GEGLU", BLOCK("geglu", "tg_geglu")},
    {"SwiGLU", BLOCK("swiglu", "tg_swiglu")},
    {"pre-norm block, GPT's block", BLOCK("block", "tg_block_gpt")},
    {"BERT's block (post-norm)", BLOCK("block", "tg_block_bert")},
    {"encoder of 12 layers", BLOCK("transformer", "tg_transformer_new, no_head")},
    {"warm-up with a cosine", BLOCK("cosine", "TG_WARMUP_COSINE")},
    {"schedules: constant, cosine, step", BLOCK("step", "TG_CONSTANT_RATE, TG_WARMUP_COSINE, TG_STEP_DECAY")},
    {"recomputation in the backward pass", STATED("yes", "tg_checkpoint; recompute of blocks")},
    {"gains of activations for initial weights", STATED("yes", "tg_activation_gain")},
    {"monitoring of gradient norms", STATED("yes", "gradient_norm of tg_fit_epoch")},
    {"benchmark of the variants", STATED("yes", "study cost")},
    {"warning where a file's variant is another", STATED("yes", "an error, unless --activation-from says which")},
    {"gated layer with a normalisation inside",
     STATED("in part", "behind the product, norm of tg_mlp_config; not inside")},
    {"cross-attention", BLOCK("cross_attention", "tg_attention takes one sequence")},
    {"encoder and decoder", BLOCK("encoder_decoder", "it would need cross-attention")},
    {0}};
