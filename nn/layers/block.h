/* Transformer blocks: attention and a feed-forward layer, each with a normalisation and a residual connection; in a
 * decoder (`cross`) attention to a memory stands between them, likewise.
 *
 *     pre-norm     x = x + attention(norm1(x));   y = x + feed_forward(norm2(x))          GPT-2, ViT, LLaMA, T5
 *     post-norm    x = norm1(x + attention(x));   y = norm2(x + feed_forward(x))          BERT, Vaswani and others
 *
 *     tg_block_config gpt = tg_block_gpt(64, 4);
 *     tg_block block = tg_block_add(set, "layers.0", &gpt);
 *     tg_tensor y = tg_block_forward(&block, x, NULL, NULL);           // [batch, positions, 64] -> the same
 *
 * In training, dropout follows attention, the hidden units of a plain feed-forward layer, and the feed-forward layer,
 * as in PyTorch's TransformerEncoderLayer.
 */
#ifndef TG_BLOCK_H
#define TG_BLOCK_H

#include "nn/layers/attention.h"
#include "nn/layers/feed_forward.h"
#include "nn/layers/norm.h"
#include "nn/layers/layer.h"

TG_API_BEGIN

typedef struct tg_block_config {
    tg_attention_config attention;
    int64_t hidden; /* width of the feed-forward layer; 0: four times the block's, 2/3 of that if it is gated */
    tg_activation activation; /* plain or gated */
    tg_norm norm;             /* TG_NORM_LAYER, TG_NORM_RMS; 0: none */
    double epsilon;           /* 0: the norm's default */
    bool post_norm;
    bool cross;                /* attention to the context's memory, after that of x to itself */
    bool no_bias;              /* in the feed-forward layer; attention has its own */
    double feed_forward_scale; /* factor of the initial weights of the feed-forward layer; 0: 1 */
    double dropout;            /* rate, see above; attention weights have their own */
    bool recompute;            /* checkpoint: nothing inside the block is stored; a backward pass recomputes it */
} tg_block_config;

/* NULL, or the error in the configuration. */
const char *tg_block_config_error(const tg_block_config *config);

/* As published, without dropout:
 *
 *     bert     post-norm LayerNorm of epsilon 1e-12, gelu_exact, biases                     arXiv 1810.04805
 *     gpt      pre-norm LayerNorm of epsilon 1e-5, gelu_tanh, biases, causal                GPT-2, 2019
 *     vit      pre-norm LayerNorm of epsilon 1e-6, gelu_exact, biases                       arXiv 2010.11929
 *     llama    pre-norm RMSNorm of epsilon 1e-6, swiglu of 8/3 the width, no biases, causal,
 *              separate projections; needs rotary positions                                 arXiv 2302.13971
 *     t5       pre-norm RMSNorm of epsilon 1e-6, relu (T5 1.1: geglu_tanh), no biases, separate
 *              projections, scores that are not divided; needs a relative bias              arXiv 1910.10683
 *
 * t5 is the block of its encoder; that of its decoder is causal and has cross-attention.
 */
tg_block_config tg_block_bert(int64_t width, int heads);
tg_block_config tg_block_gpt(int64_t width, int heads);
tg_block_config tg_block_vit(int64_t width, int heads);
tg_block_config tg_block_llama(int64_t width, int heads);
tg_block_config tg_block_t5(int64_t width, int heads);

typedef struct tg_block {
    tg_block_config config;
    tg_attention attention, cross; /* cross: if the configuration has it */
    tg_feed_forward feed_forward;
    tg_norm_layer norm[3]; /* of attention, of cross-attention if there is one, of the feed-forward layer */
} tg_block;

/* Adds NAME.self_attn.*, NAME.linear1.*, NAME.linear2.*, NAME.norm1.* and NAME.norm2.*, as PyTorch's
 * TransformerEncoderLayer, and with `cross` NAME.multihead_attn.* and NAME.norm3.*, as its TransformerDecoderLayer; a
 * gated feed-forward layer has NAME.mlp.gate_proj.*, up_proj.* and down_proj.*. The set
 * remembers errors. If the configuration is wrong, nothing is added, and forward reports it. */
tg_block tg_block_add(tg_parameters *set, const char *name, const tg_block_config *config);

/* x [batch, positions, width] -> the same. `context` is that of attention, NULL: none; `training` is the generator of a
 * training pass, NULL means evaluation. */
tg_tensor tg_block_forward(const tg_block *block, tg_tensor x, const tg_attention_context *context, tg_rng *training);

TG_API_END
#endif
