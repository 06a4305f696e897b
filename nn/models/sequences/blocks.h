/* The transformer blocks of models. Internal to nn. */
#ifndef TG_BLOCKS_H
#define TG_BLOCKS_H

#include "nn/layers/block.h"
#include "nn/models/model.h"

/* NULL, or the error in the number of blocks or their configuration. */
const char *tg_blocks_error(int layers, const tg_block_config *block);

/* Adds dropout before the first block, the blocks layers.N.*, and norm.*; post-norm blocks have embedding_norm.*
 * first. */
void tg_model_add_blocks(tg_model *model, int layers, const tg_block_config *block, double dropout);

#endif
