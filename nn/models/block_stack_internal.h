/* A stack of transformer blocks with its normalisation: what tg_transformer and tg_vit share. Internal to nn. */
#ifndef TG_BLOCK_STACK_INTERNAL_H
#define TG_BLOCK_STACK_INTERNAL_H

#include "nn/layers/block.h"

enum { TG_BLOCK_STACK_MOST = 256 }; /* at most */

typedef struct tg_block_stack {
    int count;
    tg_block *blocks;
    char (*names)[24]; /* "layers.0", ...: of scopes on the tape too */
    bool post_norm;
    tg_norm_layer norm; /* behind the last block, or, post-norm, before the first */
} tg_block_stack;

/* NULL, or what is wrong with the number of layers or with the configuration of their blocks. */
const char *tg_block_stack_config_error(int layers, const tg_block_config *block);

/* Adds layers.N.* and norm.*, or embedding_norm.* for post-norm blocks. False if out of memory; free it in either case.
 */
bool tg_block_stack_add(tg_block_stack *stack, tg_parameters *set, int layers, const tg_block_config *block);
void tg_block_stack_free(tg_block_stack *stack);

/* x [batch, positions, width] -> the same. In training, `dropout` is the rate for what goes into the first block. */
tg_tensor tg_block_stack_forward(const tg_block_stack *stack, tg_tensor x, const tg_attention_context *context,
                                 double dropout, tg_rng *training);

#endif
