#include "nn/models/sequences/blocks.h"

#include "nn/models/model_internal.h"

#include <stdio.h>

enum { MOST = 256 };

const char *tg_blocks_error(int layers, const tg_block_config *block)
{
    return layers < 0 || layers > MOST ? "the number of layers must be 0 to 256" : tg_block_config_error(block);
}

static void add_norm(tg_model *model, const char *name, const tg_block_config *c)
{
    const tg_norm_layer norm = tg_norm_layer_add(model->parameters, name, c->norm, c->attention.width, c->epsilon);
    tg_model_add(model, name, tg_sequential_norm(&norm));
}

void tg_model_add_blocks(tg_model *model, int layers, const tg_block_config *c, double dropout)
{
    if (c->post_norm)
        add_norm(model, "embedding_norm", c);
    tg_model_add(model, "", tg_sequential_dropout(dropout));
    for (int i = 0; i < layers; i++) {
        char name[24];
        snprintf(name, sizeof name, "layers.%d", i);
        const tg_block block = tg_block_add(model->parameters, name, c);
        tg_model_add(model, name, tg_sequential_block(&block));
    }
    if (!c->post_norm)
        add_norm(model, "norm", c);
}
