/* Stacks of transformer blocks, for models that have one. Internal to nn. */
#ifndef TG_MODEL_BLOCKS_H
#define TG_MODEL_BLOCKS_H

#include "nn/models/model_internal.h"

/* NULL, or what is wrong with the number of blocks or with their configuration. */
const char *tg_blocks_error(int layers, const tg_block_config *block);

/* Adds dropout of what goes into the first block, layers.N.*, and norm.*; with post-norm blocks first embedding_norm.*.
 */
void tg_model_add_blocks(tg_model *model, int layers, const tg_block_config *block, double dropout);

#endif
