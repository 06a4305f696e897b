/* Autoencoders: an encoder to a narrow code, and a mirrored decoder (Hinton and Salakhutdinov, Science 313, 2006).
 *
 *     tg_autoencoder *net = tg_autoencoder_new(&rng, &(tg_autoencoder_config){
 *         .inputs = 784, .hidden = {1000, 500, 250}, .code = 30, .activation = TG_GELU_EXACT});
 *     tg_tensor y = tg_autoencoder_forward(net, x, &training);       // [..., 784] -> [..., 784]
 *     tg_tensor loss = tg_mse(y, x);
 *
 *     x --1000--500--250--> code 30 --250--500--1000--> y
 *
 * As in "Gaussian Error Linear Units" (arXiv 1606.08415): the activation after every layer, the code included, and a
 * linear output. Parameters are named encoder.N.* and decoder.N.*, N from 0 on, as the linear layers of two MLPs.
 */
#ifndef TG_AUTOENCODER_H
#define TG_AUTOENCODER_H

#include "nn/layers/hidden_layer.h"
#include "nn/layers/norm.h"
#include "nn/models/model.h"

TG_API_BEGIN

enum { TG_AUTOENCODER_HIDDEN = 31 }; /* maximum number of hidden layers of the encoder */

typedef struct tg_autoencoder_config {
    int64_t inputs;
    int64_t hidden[TG_AUTOENCODER_HIDDEN + 1]; /* the encoder's widths, ended by 0; the decoder has them in reverse */
    int64_t code;
    tg_activation activation; /* 0: gelu_exact */
    bool linear_code;         /* no activation after the code, as in Hinton and Salakhutdinov */
    double dropout;           /* after every hidden layer except the code, in training */
    tg_norm norm;             /* after the same layers; 0: none */
    tg_init init;             /* 0: the default */
    double scale;             /* factor of all initial weights; 0: 1 */
    tg_dtype dtype;           /* 0: TG_F32 */
} tg_autoencoder_config;

/* tg_autoencoder_new, and all else that every model has: nn/models/models.h. */
typedef tg_model tg_autoencoder;

/* x [..., inputs] -> [..., inputs], and its two halves: [..., inputs] -> [..., code] -> [..., inputs]. `training` is
 * the generator of a training pass, NULL means evaluation. */
tg_tensor tg_autoencoder_forward(const tg_autoencoder *net, tg_tensor x, tg_rng *training);
tg_tensor tg_autoencoder_encode(const tg_autoencoder *net, tg_tensor x, tg_rng *training);
tg_tensor tg_autoencoder_decode(const tg_autoencoder *net, tg_tensor code, tg_rng *training);

TG_API_END
#endif
