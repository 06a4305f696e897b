/* Stacks of transformer blocks, for models that contain one. Internal to nn. */
#ifndef TG_MODEL_BLOCKS_H
#define TG_MODEL_BLOCKS_H

#include "nn/models/model_internal.h"

/* NULL, or the error in the number of blocks or their configuration. */
const char *tg_blocks_error(int layers, const tg_block_config *block);

/* Adds dropout of the first block's input, layers.N.*, and norm.*; for post-norm blocks embedding_norm.* before these.
 * */
void tg_model_add_blocks(tg_model *model, int layers, const tg_block_config *block, double dropout);

#endif
