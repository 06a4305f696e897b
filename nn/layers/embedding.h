/* Embeddings: rows of a table by number, y = W[index]. Learned positions are embeddings too.
 *
 *     tg_embedding_layer tokens = tg_embedding_layer_add(set, "wte", 256, 64);
 *     tg_tensor h = tg_embedding_layer_forward(&tokens, ids);   // i32 [batch, positions] -> [batch, positions, 64]
 *     h = tg_add(h, tg_embedding_layer_first(&places, tape, positions));                      // + [positions, 64]
 */
#ifndef TG_EMBEDDING_H
#define TG_EMBEDDING_H

#include "autograd/ops.h"
#include "autograd/parameters.h"
#include "nn/layers/layer.h"

TG_API_BEGIN

typedef struct tg_embedding_layer {
    tg_parameter *weight; /* [entries, size] */
} tg_embedding_layer;

/* Adds NAME.weight, all zeros, without weight decay; its initialiser (nn/init.h) draws normal numbers of deviation 1,
 * as in PyTorch. On an error it is NULL, and the set remembers the error. */
tg_embedding_layer tg_embedding_layer_add(tg_parameters *set, const char *name, int64_t entries, int64_t size);

/* [any] -> [any, size]; a number out of range is an error of the tape. */
tg_tensor tg_embedding_layer_forward(const tg_embedding_layer *layer, tg_tensor index);

/* The first `count` rows, [count, size], on this tape: for positions 0 .. count-1. */
tg_tensor tg_embedding_layer_first(const tg_embedding_layer *layer, tg_tape *tape, int64_t count);

TG_API_END
#endif
