/* A small convolutional net for images: blocks of convolution, normalisation, activation and pooling, and a linear
 * head.
 *
 *     tg_convnet *net = tg_convnet_new(&rng, &(tg_convnet_config){
 *         .channels = 1, .height = 28, .width = 28, .filters = {16, 32, 64}, .outputs = 10, .norm = TG_NORM_BATCH});
 *     tg_tensor logits = tg_convnet_forward(net, x, &training);   // [batch, 1, 28, 28] or [batch, 784] -> [batch, 10]
 *     tg_tensor loss = tg_cross_entropy(logits, labels);
 *
 *     x -> blocks.0 -> max pool 2 x 2 -> blocks.1 -> ... -> mean over positions -> dropout -> head -> logits
 *
 * Parameters: blocks.N.conv.*, blocks.N.norm.*, head.weight and head.bias.
 */
#ifndef TG_CONVNET_H
#define TG_CONVNET_H

#include "nn/layers/conv_block.h"
#include "nn/models/model.h"

TG_API_BEGIN

enum { TG_CONVNET_BLOCKS = 32 }; /* at most */

typedef struct tg_convnet_config {
    int64_t channels, height, width;        /* of the images */
    int64_t filters[TG_CONVNET_BLOCKS + 1]; /* channels of the blocks' results, ended by 0 */
    int64_t outputs;
    int64_t kernel;           /* odd; 0: 3 */
    int pool;                 /* max pool of pool x pool pixels after each block; 0: 2; 1: none */
    tg_activation activation; /* 0: gelu_exact; a gated one has twice the filters before it */
    tg_norm norm;             /* of each block: TG_NORM_BATCH, TG_NORM_GROUP; 0: none */
    int groups;               /* number of groups of TG_NORM_GROUP; 0: 1 */
    bool flatten;             /* the head gets every position instead of the mean over positions */
    double dropout;           /* before the head, in training */
    tg_init init;             /* 0: the default */
    double scale;             /* factor of all initial weights; 0: 1 */
    bool recompute;           /* see tg_conv_block_config */
    tg_dtype dtype;           /* 0: TG_F32 */
} tg_convnet_config;

/* tg_convnet_new, and all else that every model has: nn/models/models.h. */
typedef tg_model tg_convnet;

/* x [batch, ...], channels x height x width numbers for each image -> [batch, outputs]. `training` is the generator of
 * a training pass, NULL means evaluation. */
tg_tensor tg_convnet_forward(const tg_convnet *net, tg_tensor x, tg_rng *training);

TG_API_END
#endif
