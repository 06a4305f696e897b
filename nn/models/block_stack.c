#include "nn/models/block_stack_internal.h"

#include "nn/layers/dropout.h"

#include <stdio.h>
#include <stdlib.h>

const char *tg_block_stack_config_error(int layers, const tg_block_config *block)
{
    if (layers < 0 || layers > TG_BLOCK_STACK_MOST)
        return "the number of layers must be 0 to 256";
    return tg_block_config_error(block);
}

bool tg_block_stack_add(tg_block_stack *stack, tg_parameters *set, int layers, const tg_block_config *block)
{
    *stack = (tg_block_stack){.count = layers, .post_norm = block->post_norm};
    stack->blocks = calloc((size_t)layers + 1, sizeof *stack->blocks);
    stack->names = calloc((size_t)layers + 1, sizeof *stack->names);
    if (!stack->blocks || !stack->names)
        return false;
    const int64_t width = block->attention.width;
    if (block->post_norm)
        stack->norm = tg_norm_layer_add(set, "embedding_norm", block->norm, width, block->epsilon);
    for (int i = 0; i < layers; i++) {
        snprintf(stack->names[i], sizeof stack->names[i], "layers.%d", i);
        stack->blocks[i] = tg_block_add(set, stack->names[i], block);
    }
    if (!block->post_norm)
        stack->norm = tg_norm_layer_add(set, "norm", block->norm, width, block->epsilon);
    return true;
}

void tg_block_stack_free(tg_block_stack *stack)
{
    free(stack->blocks);
    free(stack->names);
}

static tg_tensor normalize(const tg_block_stack *stack, tg_tensor x, tg_rng *training)
{
    tg_tape *tape = tg_tape_of(x);
    tg_scope_begin(tape, stack->post_norm ? "embedding_norm" : "norm");
    x = tg_norm_layer_forward(&stack->norm, x, training);
    tg_scope_end(tape);
    return x;
}

tg_tensor tg_block_stack_forward(const tg_block_stack *stack, tg_tensor x, const tg_attention_context *context,
                                 double dropout, tg_rng *training)
{
    tg_tape *tape = tg_tape_of(x);
    if (stack->post_norm)
        x = normalize(stack, x, training);
    x = tg_dropout_forward(x, dropout, training);
    for (int i = 0; i < stack->count; i++) {
        tg_scope_begin(tape, stack->names[i]);
        x = tg_block_forward(&stack->blocks[i], x, context, training);
        tg_scope_end(tape);
    }
    return stack->post_norm ? x : normalize(stack, x, training);
}
