/* Statements about operations and memory, which are counted, and about features of the library. */
#include "examples/study/claims.h"

#include <math.h>
#include <string.h>

/* Operations of a feed-forward layer are its weights: each meets each row once. */
finding claim_operations(const claims *c)
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

finding claim_memory(const claims *c)
{
    (void)c;
    const double gelu = step_bytes(TG_GELU_EXACT, false), relu = step_bytes(TG_RELU, false);
    return finding_number(gelu / relu, "%.2f times a step's memory with ReLU (4 blocks of BERT, width 128: %.1f MB)",
                          gelu / relu, 1e-6 * gelu);
}

finding claim_recomputation(const claims *c)
{
    (void)c;
    const double stored = step_bytes(TG_GELU_EXACT, false), again = step_bytes(TG_GELU_EXACT, true);
    return finding_number(again / stored, "%.1f MB in place of %.1f MB where whole blocks are recomputed", 1e-6 * again,
                          1e-6 * stored);
}

/* ---- features ---- */

finding claim_block(const claims *c)
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

finding claim_stated(const claims *c)
{
    finding found = finding_number(0, "%s", c->about->of[1]);
    found.verdict = c->about->of[0];
    return found;
}
