/* Multi-head attention (Vaswani and others, arXiv 1706.03762), of a sequence to itself or to another one.
 *
 *     q, k, v = x Wq^T + bq, x Wk^T + bk, x Wv^T + bv, each cut into heads
 *     head    = softmax(q k^T / sqrt(size)) v
 *     y       = (heads side by side) Wo^T + bo
 *
 *     tg_attention attention = tg_attention_add(set, "self_attn", &(tg_attention_config){
 *         .width = 64, .heads = 4, .causal = true});
 *     tg_tensor y = tg_attention_forward(&attention, x, NULL, NULL);       // [batch, positions, 64] -> the same
 *
 *     const tg_attention_context of = {.memory = encoded, .memory_padding = keep};       // cross-attention:
 *     tg_tensor z = tg_attention_forward(&cross, y, &of, NULL);                          // k and v from `encoded`
 *
 * T5 (Raffel and others, arXiv 1910.10683) does not divide by sqrt(size), `unscaled`, and adds a bias to q k^T
 * (nn/layers/relative.h).
 *
 * With fewer key and value heads than query heads, each is shared by a group of neighbouring query heads (Ainslie and
 * others, arXiv 2305.13245).
 */
#ifndef TG_ATTENTION_H
#define TG_ATTENTION_H

#include "nn/init.h"
#include "nn/layers/linear.h"
#include "nn/layers/rotary.h"
#include "nn/layers/layer.h"

TG_API_BEGIN

typedef struct tg_attention_config {
    int64_t width;
    int heads;           /* the width must be a multiple of it */
    int key_value_heads; /* the heads must be a multiple of it; 0: as many as heads */
    bool separate;       /* three matrices for queries, keys and values instead of one */
    bool no_bias;
    bool unscaled;  /* softmax(q k^T): the scores are not divided by sqrt(size) */
    bool causal;    /* position i sees positions 0 .. i only */
    double dropout; /* rate for the attention weights, in training */
} tg_attention_config;

typedef struct tg_attention {
    tg_attention_config config;
    tg_linear_layer fused; /* [(heads + 2 key_value_heads) size, width]: queries, keys, values; empty if separate */
    tg_linear_layer query, key, value; /* if separate */
    tg_linear_layer out;               /* [width, width] */
} tg_attention;

/* Adds NAME.in_proj_weight, NAME.in_proj_bias and NAME.out_proj.*, as PyTorch's MultiheadAttention; with `separate`
 * NAME.q_proj.*, k_proj.*, v_proj.* and o_proj.*, as LLaMA. The set remembers errors. If the configuration is wrong,
 * nothing is added, and forward reports it. */
tg_attention tg_attention_add(tg_parameters *set, const char *name, const tg_attention_config *config);

/* x [batch, positions, width] -> the same. `context` NULL: none. `training` is the generator of a training pass, NULL
 * means evaluation. With a memory, position i sees all of its positions that are not masked (with `causal`, 0 .. i). A
 * layer that is neither `separate` nor `unscaled`, without context and dropout, computes all heads by one operation,
 * tg_self_attention, which stores no scores. */
tg_tensor tg_attention_forward(const tg_attention *attention, tg_tensor x, const tg_attention_context *context,
                               tg_rng *training);

TG_API_END
#endif
