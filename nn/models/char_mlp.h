/* A perceptron for text: predicts the next token from a window of previous ones (Bengio, Ducharme, Vincent and Jauvin,
 * JMLR 3, 2003).
 *
 *     tg_char_mlp *net = tg_char_mlp_new(&rng, &(tg_char_mlp_config){
 *         .vocabulary = 27, .context = 8, .embedding = 24, .hidden = {256}, .activation = TG_TANH});
 *     tg_tensor logits = tg_char_mlp_forward(net, ids, &training);       // i32 [batch, 8] -> [batch, 27]
 *     tg_tensor loss = tg_cross_entropy(logits, next);                   // i32 [batch]
 *
 *     ids -> embedding of each, side by side -> layers.0 -> layers.1 -> ... -> output -> logits
 *
 * Bengio's model has one hidden layer with tanh. Its direct connections from embeddings to logits, which did not help
 * with little data, are left out. Parameters: embedding.weight [vocabulary, embedding], layers.N.* as of tg_mlp,
 * output.weight and output.bias.
 */
#ifndef TG_CHAR_MLP_H
#define TG_CHAR_MLP_H

#include "nn/layers/hidden_layer.h"
#include "nn/layers/norm.h"
#include "nn/models/model.h"

TG_API_BEGIN

enum { TG_CHAR_MLP_HIDDEN = 64 }; /* maximum number of hidden layers */

typedef struct tg_char_mlp_config {
    int64_t vocabulary, context;            /* number of tokens, and length of the window */
    int64_t embedding;                      /* size of a token's embedding */
    int64_t hidden[TG_CHAR_MLP_HIDDEN + 1]; /* widths, ended by 0; none: a linear model of the embeddings */
    tg_activation activation;               /* 0: gelu_exact */
    double dropout;                         /* after every hidden layer, in training */
    tg_norm norm;                           /* after every hidden layer's activation; 0: none */
    tg_init init;                           /* 0: the default */
    double scale;                           /* factor of all initial weights; 0: 1 */
    tg_dtype dtype;                         /* 0: TG_F32 */
} tg_char_mlp_config;

/* tg_char_mlp_new, and all else that every model has: nn/models/models.h. */
typedef tg_model tg_char_mlp;

/* ids, i32 [batch, context] -> logits [batch, vocabulary]. `training` is the generator of a training pass, NULL means
 * evaluation. */
tg_tensor tg_char_mlp_forward(const tg_char_mlp *net, tg_tensor ids, tg_rng *training);

TG_API_END
#endif
