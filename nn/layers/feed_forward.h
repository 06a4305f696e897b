/* The feed-forward block of a transformer: a hidden layer, and a linear layer back to the block's width.
 *
 *     plain     y = act(x W1^T + b1) W2^T + b2
 *     gated     y = (act(x W^T + b) (x V^T + c)) W2^T + d         GLU, Bilinear, ReGLU, GEGLU, SwiGLU
 *
 *     tg_feed_forward mlp = tg_feed_forward_add(set, "h.0.mlp", 768, tg_gated_width(3072), TG_SWIGLU, false);
 *     tg_tensor y = tg_feed_forward_forward(&mlp, x, NULL);       // [..., 768] -> [..., 768]
 *
 * The gated forms are those of "GLU Variants Improve Transformer" (Shazeer, arXiv 2002.05202). They have three matrices
 * instead of two; with 2/3 of the hidden width they have as many parameters and operations.
 */
#ifndef TG_FEED_FORWARD_H
#define TG_FEED_FORWARD_H

#include "nn/layers/hidden_layer.h"
#include "nn/layers/layer.h"

TG_API_BEGIN

typedef struct tg_feed_forward {
    tg_hidden_layer hidden; /* width -> hidden */
    tg_linear_layer out;    /* hidden -> width */
    double dropout;         /* dropout rate of hidden units, in training; 0 at first */
} tg_feed_forward;

/* 2/3 of a plain block's hidden width, rounded: 3072 becomes 2048. */
int64_t tg_gated_width(int64_t hidden);

/* Adds the weights, and biases if `bias`, under the usual names: NAME.fc1, NAME.fc2 for a plain activation,
 * NAME.gate_proj, NAME.up_proj, NAME.down_proj for a gated one. The set remembers errors. */
tg_feed_forward tg_feed_forward_add(tg_parameters *set, const char *name, int64_t width, int64_t hidden,
                                    tg_activation activation, bool bias);

/* [..., width] -> [..., width]. `training` is the generator of a training pass, NULL means evaluation. */
tg_tensor tg_feed_forward_forward(const tg_feed_forward *block, tg_tensor x, tg_rng *training);

TG_API_END
#endif
