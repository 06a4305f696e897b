/* Transformers over tokens: GPT, LLaMA, BERT's encoder. Embeddings, a stack of blocks, a linear layer over the
 * vocabulary.
 *
 *     tg_transformer *gpt = tg_transformer_new(&rng, &(tg_transformer_config){
 *         .vocabulary = 256, .context = 64, .layers = 4, .block = tg_block_gpt(64, 4), .tied = true});
 *     tg_tensor logits = tg_transformer_forward(gpt, ids, NULL);   // [batch, positions] -> [batch, positions, 256]
 *     tg_tensor loss = tg_cross_entropy(logits, next);             // i32 [batch, positions]
 *
 *     ids -> token_embedding + position_embedding -> layers.0 -> layers.1 -> ... -> norm -> head -> logits
 *
 * A pre-norm stack ends with a norm; a post-norm stack begins with one after the embeddings, embedding_norm, as in
 * BERT. Weights are initialised by SmallInit: normal with deviation sqrt(2 / (5 width)), arXiv 1910.05895; for those of
 * GPT-2, BERT and LLaMA as published, deviation 0.02, take TG_INIT_GPT2. Whatever the initialiser, those that feed a
 * residual connection are divided by sqrt(2 layers), embeddings are drawn as weights whose inputs are their columns,
 * and biases are 0.
 */
#ifndef TG_TRANSFORMER_H
#define TG_TRANSFORMER_H

#include "nn/layers/block.h"
#include "nn/layers/embedding.h"
#include "nn/models/model.h"

TG_API_BEGIN

typedef struct tg_transformer_config {
    int64_t vocabulary, context; /* number of tokens, and maximum number of positions */
    int layers;                  /* 256 at most */
    tg_block_config block;       /* tg_block_gpt, tg_block_llama, tg_block_bert, or your own */
    double rotary_base; /* positions by rotation with this base (LLaMA: 10000) instead of an embedding; 0: none */
    bool tied;          /* the head's weight is the token embedding's */
    bool no_head;       /* an encoder: forward ends with [batch, positions, width] */
    double dropout;     /* rate for the embeddings, in training */
    tg_init init;       /* 0: the default */
    double scale;       /* factor of all initial weights; 0: 1 */
    tg_dtype dtype;     /* 0: TG_F32 */
} tg_transformer_config;

/* tg_transformer_new, and all else that every model has: nn/models/models.h. */
typedef tg_model tg_transformer;

/* ids, i32 [batch, positions], positions at most the context -> logits [batch, positions, vocabulary]. `training` is
 * the generator of a training pass, NULL means evaluation. */
tg_tensor tg_transformer_forward(const tg_transformer *model, tg_tensor ids, tg_rng *training);

/* tg_transformer_forward with padding [batch, positions]: 0 = masked, 1 = not masked. */
tg_tensor tg_transformer_forward_padded(const tg_transformer *model, tg_tensor ids, tg_tensor padding,
                                        tg_rng *training);

TG_API_END
#endif
