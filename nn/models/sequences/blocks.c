#include "nn/models/sequences/blocks.h"

#include "nn/models/model_internal.h"

#include <math.h>
#include <stdio.h>

enum { MOST = 256 };

const char *tg_blocks_error(int layers, const tg_block_config *block)
{
    return layers < 0 || layers > MOST ? "the number of layers must be 0 to 256" : tg_block_config_error(block);
}

static void add_norm(tg_model *model, const char *prefix, const char *part, const tg_block_config *c)
{
    char name[40];
    snprintf(name, sizeof name, "%.16s%.20s", prefix, part);
    const tg_norm_layer norm = tg_norm_layer_add(model->parameters, name, c->norm, c->attention.width, c->epsilon);
    tg_model_add(model, name, tg_sequential_norm(&norm));
}

void tg_model_add_blocks(tg_model *model, const char *prefix, int layers, const tg_block_config *c, double dropout)
{
    if (c->post_norm)
        add_norm(model, prefix, "embedding_norm", c);
    tg_model_add(model, "", tg_sequential_dropout(dropout));
    for (int i = 0; i < layers; i++) {
        char name[40];
        snprintf(name, sizeof name, "%.16slayers.%d", prefix, i);
        const tg_block block = tg_block_add(model->parameters, name, c);
        tg_model_add(model, name, tg_sequential_block(&block));
    }
    if (!c->post_norm)
        add_norm(model, prefix, "norm", c);
}

/* ---- initial weights ---- */

static void divide(tg_parameter *weight, double gain, int sums)
{
    if (weight) {
        weight->initial.gain /= gain;
        weight->initial.own /= gain;
        weight->initial.sums = sums;
    }
}

/* Results of a stack's sublayers are added up. Queries whose scores are not divided by the root of the heads' size
 * begin so much smaller. */
static void divide_of_block(const tg_block *block, int layers)
{
    const int sums = (block->config.cross ? 3 : 2) * layers;
    const tg_attention *attention[] = {&block->attention, &block->cross};
    for (int i = 0; i < 2; i++) {
        const tg_attention_config *c = &attention[i]->config;
        divide(attention[i]->out.weight, 1, sums);
        if (c->unscaled)
            divide(attention[i]->query.weight, sqrt((double)c->width / c->heads), 0);
    }
    divide(block->feed_forward.out.weight, 1, sums);
}

void tg_model_initial_blocks(const tg_model *model, const tg_embedding_layer *tokens,
                             const tg_embedding_layer *positions, int layers, int64_t width)
{
    tg_parameter_initial(tokens->weight, (tg_initial){.gain = 1});
    tg_parameter_initial(positions->weight, (tg_initial){.gain = 1});
    for (int i = 0; i < tg_parameters_count(model->parameters); i++) {
        tg_parameter *p = tg_parameters_at(model->parameters, i);
        if (p->shape.rank == 2)
            p->initial.own = sqrt(0.4 * (double)p->shape.dim[1] / (double)width);
    }
    for (int i = 0; i < model->count; i++)
        if (model->layers[i].kind == &tg_block_kind && model->layers[i].layer)
            divide_of_block(model->layers[i].layer, layers);
}
