/* A small vision transformer (Dosovitskiy and others, arXiv 2010.11929): each patch of the image is a token.
 *
 *     tg_vit *vit = tg_vit_new(&rng, &(tg_vit_config){
 *         .channels = 1, .height = 28, .width = 28, .patch = 7, .layers = 4, .block = tg_block_vit(64, 4),
 *         .outputs = 10});
 *     tg_tensor logits = tg_vit_forward(vit, x, &training);    // [batch, 1, 28, 28] or [batch, 784] -> [batch, 10]
 *
 *     x -> patch_embedding -> class token in front -> + position_embedding -> layers.0 -> ... -> norm
 *       -> class token -> head -> logits
 *
 * Parameters: patch_embedding.weight [width, channels, patch, patch] and .bias, as of a convolution; class_token [1, 1,
 * width]; position_embedding.weight [tokens, width]; layers.N.* as PyTorch's TransformerEncoderLayer; norm.*;
 * head.weight and head.bias. Weights are initialised by Xavier's rule, positions with normal numbers of deviation 0.02,
 * class token and head with 0, as published.
 */
#ifndef TG_VIT_H
#define TG_VIT_H

#include "nn/layers/block.h"
#include "nn/layers/convolution.h"
#include "nn/models/model.h"

TG_API_BEGIN

typedef struct tg_vit_config {
    int64_t channels, height, width; /* of the images */
    int64_t patch;                   /* pixels along its side; height and width are multiples of it */
    int layers;                      /* 256 at most */
    tg_block_config block;           /* tg_block_vit, or your own */
    int64_t outputs;
    bool mean_pool; /* no class token: the head gets the mean of all tokens */
    double dropout; /* rate for the embeddings, in training */
    tg_init init;   /* 0: xavier_uniform, as published */
    double scale;   /* factor of all initial weights; 0: 1 */
    tg_dtype dtype; /* 0: TG_F32 */
} tg_vit_config;

/* tg_vit_new, and all else that every model has: nn/models/models.h. */
typedef tg_model tg_vit;

/* x [batch, ...], channels x height x width numbers for each image -> [batch, outputs]. `training` is the generator of
 * a training pass, NULL means evaluation. */
tg_tensor tg_vit_forward(const tg_vit *model, tg_tensor x, tg_rng *training);

TG_API_END
#endif
