/* A recurrent model of text: predicts the next token from all tokens before it (Mikolov and others, 2010, with an RNN;
 * Graves, arXiv 1308.0850, with LSTMs).
 *
 *     tg_char_rnn *net = tg_char_rnn_new(&rng, &(tg_char_rnn_config){
 *         .vocabulary = 65, .cell = TG_GRU, .embedding = 24, .width = 128, .layers = 1});
 *     tg_tensor logits = tg_char_rnn_forward(net, ids, &training);       // i32 [batch, positions] -> [.., .., 65]
 *     tg_tensor loss = tg_cross_entropy(logits, next);                   // i32 [batch, positions]
 *
 *     ids -> embedding -> dropout -> rnn layer 0 -> dropout -> rnn layer 1 -> ...
 *         -> layers.0 -> ... -> output -> logits
 *
 * Hidden layers after the recurrent ones are optional (the deep output of Pascanu and others, arXiv 1312.6026).
 * Parameters: embedding.weight [vocabulary, embedding], rnn.weight_ih_lN, ... as of PyTorch's nn.RNN, nn.GRU and
 * nn.LSTM with as many layers, layers.N.* as of tg_mlp, output.weight and output.bias.
 *
 * Without dropout, and with at least twice as many positions as tokens in the vocabulary, the first layer's W x and its
 * gradients are computed once for each token of the vocabulary, not for each position.
 */
#ifndef TG_CHAR_RNN_H
#define TG_CHAR_RNN_H

#include "nn/layers/hidden_layer.h"
#include "nn/layers/norm.h"
#include "nn/layers/recurrent.h"
#include "nn/models/model.h"

TG_API_BEGIN

enum { TG_CHAR_RNN_HIDDEN = 64, TG_CHAR_RNN_LAYERS = 16 }; /* maximum numbers of hidden and of recurrent layers */

typedef struct tg_char_rnn_config {
    int64_t vocabulary; /* number of tokens */
    tg_cell cell;
    int64_t embedding, width;               /* sizes of a token's embedding, and of a state */
    int layers;                             /* recurrent ones; 0: 1 */
    int64_t hidden[TG_CHAR_RNN_HIDDEN + 1]; /* widths of hidden layers after them, ended by 0; none: the output */
    tg_activation activation;               /* of those; 0: gelu_exact */
    tg_norm norm;                           /* after the activation of each; 0: none */
    double dropout;                         /* before every recurrent layer, and after every hidden one, in training */
    bool last;                              /* logits of the last position only, [batch, vocabulary] */
    int64_t segment;                        /* see tg_recurrent_config */
    tg_init init;                           /* 0: the default */
    double scale;                           /* factor of all initial weights; 0: 1 */
    tg_dtype dtype;                         /* 0: TG_F32 */
} tg_char_rnn_config;

/* tg_char_rnn_new, and all else that every model has: nn/models/models.h. */
typedef tg_model tg_char_rnn;

/* ids, i32 [batch, positions] -> logits [batch, positions, vocabulary], or with `last` [batch, vocabulary]. States are
 * zeros before the first position. `training` is the generator of a training pass, NULL means evaluation. */
tg_tensor tg_char_rnn_forward(const tg_char_rnn *net, tg_tensor ids, tg_rng *training);

TG_API_END
#endif
