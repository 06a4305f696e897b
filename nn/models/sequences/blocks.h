/* The transformer blocks of models. Internal to nn. */
#ifndef TG_BLOCKS_H
#define TG_BLOCKS_H

#include "nn/layers/block.h"
#include "nn/layers/embedding.h"
#include "nn/models/model.h"

/* NULL, or the error in the number of blocks or their configuration. */
const char *tg_blocks_error(int layers, const tg_block_config *block);

/* Adds dropout before the first block, the blocks layers.N.*, and norm.*; post-norm blocks have embedding_norm.*
 * first. The prefix precedes these names. */
void tg_model_add_blocks(tg_model *model, const char *prefix, int layers, const tg_block_config *block, double dropout);

/* Sets the initial weights of a model of tokens whose stacks have this many blocks, when all are there. Embeddings are
 * weights like others. The own deviation of all is that of SmallInit, sqrt(2 / (5 width)), whatever their fan_in. */
void tg_model_initial_blocks(const tg_model *model, const tg_embedding_layer *tokens,
                             const tg_embedding_layer *positions, int layers, int64_t width);

#endif
