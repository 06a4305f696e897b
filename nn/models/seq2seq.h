/* An encoder and a decoder: reads a source as a whole and writes a target, each token from the source and the target's
 * tokens before it (Vaswani and others, arXiv 1706.03762; with relative positions T5, arXiv 1910.10683).
 *
 *     tg_seq2seq *net = tg_seq2seq_new(&rng, &(tg_seq2seq_config){
 *         .vocabulary = 30, .context = 16, .layers = 2, .block = tg_block_t5(64, 4)});
 *     tg_tensor logits = tg_seq2seq_forward(net, ids, &training);    // i32 [batch, 16 + targets] -> [.., targets, 30]
 *     tg_tensor loss = tg_cross_entropy_with(logits, next, 0, TG_SEQ2SEQ_PADDING);        // i32 [batch, targets]
 *
 *     source -> token_embedding -> encoder.layers.0 -> ... -> encoder.norm -> memory
 *     target -> token_embedding -> decoder.layers.0 (memory) -> ... -> decoder.norm -> head -> logits
 *
 * A row of ids is the source, padded to `context` tokens, and then what the decoder reads: a token that begins it, and
 * the target without its last token (teacher forcing). Token 0 is padding: it is masked in a source, and behind a
 * target it changes nothing before it; leave it out of the loss as above. The decoder's blocks are those of the
 * encoder, causal and with cross-attention. Weights are initialised as those of tg_transformer.
 *
 * With a T5 block, `relative` and the head of its own, it is T5 1.1; its names are ours.
 */
#ifndef TG_SEQ2SEQ_H
#define TG_SEQ2SEQ_H

#include "nn/layers/block.h"
#include "nn/layers/embedding.h"
#include "nn/layers/relative.h"
#include "nn/models/model.h"

TG_API_BEGIN

enum { TG_SEQ2SEQ_PADDING = 0 };

typedef struct tg_seq2seq_config {
    int64_t vocabulary, context; /* number of tokens, padding included, and maximum positions of source and target */
    int layers;                  /* of the encoder, and as many of the decoder; 256 at most */
    tg_block_config block;       /* of the encoder */
    bool relative;               /* a bias by distance, of encoder and decoder, instead of a position embedding; */
    int buckets, distance;       /* see tg_relative_config */
    bool tied;                   /* the head's weight is the token embedding's */
    double dropout;              /* rate for the embeddings, in training */
    tg_init init;                /* 0: the default */
    double scale;                /* factor of all initial weights; 0: 1 */
    tg_dtype dtype;              /* 0: TG_F32 */
} tg_seq2seq_config;

/* tg_seq2seq_new, and all else that every model has: nn/models/models.h. */
typedef tg_model tg_seq2seq;

/* ids, i32 [batch, context + targets] -> logits [batch, targets, vocabulary], 1 to `context` targets. `training` is the
 * generator of a training pass, NULL means evaluation. */
tg_tensor tg_seq2seq_forward(const tg_seq2seq *net, tg_tensor ids, tg_rng *training);

/* The same in two steps, in evaluation, for targets that are written token by token: the encoder reads a source once.
 *
 *     tg_tensor mask, memory = tg_seq2seq_encode(net, source, &mask);     // i32 [batch, 1 to `context` positions]
 *     tg_tensor logits = tg_seq2seq_next(net, target, memory, mask);      // i32 [batch, tokens] -> [batch, vocabulary]
 *
 * The sources are padded to the longest, or further. The memory is [batch, positions, width], the mask [batch,
 * positions]; NULL, where no source is padded: it is not wanted. The logits are those after the last of 1 to `context`
 * tokens that the decoder reads; where the source is padded to the context, with the bits of tg_seq2seq_forward. */
tg_tensor tg_seq2seq_encode(const tg_seq2seq *net, tg_tensor source, tg_tensor *mask);
tg_tensor tg_seq2seq_next(const tg_seq2seq *net, tg_tensor target, tg_tensor memory, tg_tensor mask);

TG_API_END
#endif
