#include "nn/models/transformer.h"

#include "nn/models/block_stack_internal.h"
#include "nn/config_internal.h"

#include <stdlib.h>

struct tg_transformer {
    tg_transformer_config config;
    tg_parameters *parameters;
    tg_embedding_layer tokens, positions;
    tg_block_stack stack;
    tg_linear_layer head;
};

const char *tg_transformer_config_error(const tg_transformer_config *config)
{
    if (!config)
        return "there is no configuration";
    if (!tg_is_size(config->vocabulary) || !tg_is_size(config->context))
        return TG_SIZE_ERROR("the vocabulary and the context");
    const char *wrong = tg_block_stack_config_error(config->layers, &config->block);
    if (wrong)
        return wrong;
    const tg_attention_config *a = &config->block.attention;
    if (config->rotary_base != 0 && (!(config->rotary_base > 0) || a->width / a->heads % 2 != 0))
        return "rotary positions need a positive base and heads of even size";
    if (tg_dropout_error(config->dropout))
        return tg_dropout_error(config->dropout);
    return tg_dtype_error(config->dtype);
}

static bool add_layers(tg_transformer *model, const tg_transformer_config *c)
{
    const int64_t width = c->block.attention.width;
    tg_parameters *set = model->parameters = tg_parameters_new(c->dtype);
    model->config = *c;
    model->tokens = tg_embedding_layer_add(set, "token_embedding", c->vocabulary, width);
    if (c->rotary_base == 0)
        model->positions = tg_embedding_layer_add(set, "position_embedding", c->context, width);
    if (!tg_block_stack_add(&model->stack, set, c->layers, &c->block))
        return false;
    if (c->tied)
        model->head.weight = model->tokens.weight;
    else if (!c->no_head)
        model->head = tg_linear_layer_add(set, "head", width, c->vocabulary, false);
    /* Weights as GPT-2's. */
    for (int i = 0; i < tg_parameters_count(set); i++) {
        tg_parameter *p = tg_parameters_at(set, i);
        if (p->shape.rank == 2)
            p->initial = (tg_initial){.deviation = 0.02};
    }
    const tg_initial in_sum = {.deviation = 0.02, .sums = 2 * c->layers};
    for (int i = 0; i < c->layers; i++) {
        tg_parameter_initial(model->stack.blocks[i].attention.out.weight, in_sum);
        tg_parameter_initial(model->stack.blocks[i].feed_forward.out.weight, in_sum);
    }
    return true;
}

tg_transformer *tg_transformer_new(const tg_rng *rng, const tg_transformer_config *config)
{
    tg_transformer *model = tg_transformer_config_error(config) ? NULL : calloc(1, sizeof *model);
    if (model && add_layers(model, config) && tg_parameters_initialize(model->parameters, (tg_init)0, 0, rng))
        return model;
    tg_transformer_free(model);
    return NULL;
}

void tg_transformer_free(tg_transformer *model)
{
    if (!model)
        return;
    tg_parameters_free(model->parameters);
    tg_block_stack_free(&model->stack);
    free(model);
}

tg_parameters *tg_transformer_parameters(const tg_transformer *model)
{
    return model ? model->parameters : NULL;
}

tg_tensor tg_transformer_forward_padded(const tg_transformer *model, tg_tensor ids, tg_tensor padding, tg_rng *training)
{
    tg_tape *tape = tg_tape_of(ids);
    const int64_t positions = tg_dim(ids, 1);
    if (!model || (tg_ok(ids) && (tg_rank(ids) != 2 || positions > model->config.context))) {
        tg_tape_fail(tape,
                     model ? "tg_transformer_forward: expected ids [batch, positions], %lld positions at most"
                           : "tg_transformer_forward: no model",
                     model ? (long long)model->config.context : 0);
        return TG_NONE;
    }
    const tg_transformer_config *c = &model->config;
    tg_attention_context context = {.padding = padding};
    tg_rotary rotary;
    tg_scope_begin(tape, "embedding");
    tg_tensor x = tg_embedding_layer_forward(&model->tokens, ids);
    if (c->rotary_base == 0)
        x = tg_add(x, tg_embedding_layer_first(&model->positions, tape, positions));
    else {
        const tg_attention_config *a = &c->block.attention;
        rotary = tg_rotary_angles(tape, tg_dtype_of(x), positions, a->width / a->heads, c->rotary_base);
        context.rotary = &rotary;
    }
    tg_scope_end(tape);
    x = tg_block_stack_forward(&model->stack, x, &context, c->dropout, training);
    if (c->no_head)
        return x;
    tg_scope_begin(tape, "head");
    x = tg_linear_layer_forward(&model->head, x);
    tg_scope_end(tape);
    return x;
}

tg_tensor tg_transformer_forward(const tg_transformer *model, tg_tensor ids, tg_rng *training)
{
    return tg_transformer_forward_padded(model, ids, TG_NONE, training);
}
