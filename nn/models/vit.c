#include "nn/models/vit.h"

#include "nn/models/block_stack_internal.h"
#include "nn/config_internal.h"
#include "nn/layers/embedding.h"

#include <stdlib.h>

struct tg_vit {
    tg_vit_config config;
    tg_parameters *parameters;
    tg_convolution patches;
    tg_parameter *class_token; /* NULL with mean_pool */
    tg_embedding_layer positions;
    tg_block_stack stack;
    tg_linear_layer head;
};

const char *tg_vit_config_error(const tg_vit_config *config)
{
    if (!config)
        return "there is no configuration";
    if (tg_images_error(config->channels, config->height, config->width))
        return tg_images_error(config->channels, config->height, config->width);
    if (config->patch < 1 || config->height % config->patch != 0 || config->width % config->patch != 0)
        return "height and width of the images must divide by the side of the patches";
    if (!tg_is_size(config->outputs))
        return TG_SIZE_ERROR("the number of outputs");
    const char *wrong = tg_block_stack_config_error(config->layers, &config->block);
    if (wrong)
        return wrong;
    if (tg_dropout_error(config->dropout))
        return tg_dropout_error(config->dropout);
    return tg_dtype_error(config->dtype);
}

/* ---- life ---- */

static int64_t token_count(const tg_vit_config *c)
{
    return (c->height / c->patch) * (c->width / c->patch) + (c->mean_pool ? 0 : 1);
}

static bool add_layers(tg_vit *model, const tg_vit_config *c)
{
    const int64_t width = c->block.attention.width;
    const int side = (int)c->patch;
    tg_parameters *set = model->parameters = tg_parameters_new(c->dtype);
    model->config = *c;
    model->patches = tg_convolution_add(
        set, "patch_embedding",
        &(tg_convolution_config){
            .inputs = c->channels, .outputs = width, .kernel = {side, side}, .window = {.stride = {side, side}}});
    if (!c->mean_pool)
        model->class_token = tg_parameters_add(set, "class_token", TG_SHAPE(1, 1, width), false);
    model->positions = tg_embedding_layer_add(set, "position_embedding", token_count(c), width);
    tg_parameter_initial(model->positions.weight, (tg_initial){.deviation = 0.02});
    if (!tg_block_stack_add(&model->stack, set, c->layers, &c->block))
        return false;
    model->head = tg_linear_layer_add(set, "head", width, c->outputs, true);
    tg_parameter_initial(model->head.weight, (tg_initial){0});
    return !tg_parameters_error(set);
}

tg_vit *tg_vit_new(const tg_rng *rng, const tg_vit_config *config)
{
    tg_vit *model = tg_vit_config_error(config) ? NULL : calloc(1, sizeof *model);
    if (model && add_layers(model, config) &&
        tg_parameters_initialize(model->parameters, TG_INIT_XAVIER_UNIFORM, 1, rng))
        return model;
    tg_vit_free(model);
    return NULL;
}

void tg_vit_free(tg_vit *model)
{
    if (!model)
        return;
    tg_block_stack_free(&model->stack);
    tg_parameters_free(model->parameters);
    free(model);
}

tg_parameters *tg_vit_parameters(const tg_vit *model)
{
    return model ? model->parameters : NULL;
}

/* ---- forward ---- */

/* Images [batch, channels, height, width] -> tokens [batch, tokens, width], positions added. */
static tg_tensor tokens_of(const tg_vit *model, tg_tensor x)
{
    const tg_vit_config *c = &model->config;
    tg_tape *tape = tg_tape_of(x);
    const int64_t batch = tg_dim(x, 0), width = c->block.attention.width,
                  patches = (c->height / c->patch) * (c->width / c->patch);
    x = tg_convolution_forward(&model->patches, x);
    x = tg_transpose(tg_reshape(x, TG_SHAPE(batch, width, patches)), 1, 2);
    if (model->class_token) {
        tg_tensor first = tg_expand(tg_parameter_tensor(tape, model->class_token), TG_SHAPE(batch, 1, width));
        x = tg_concat((const tg_tensor[]){first, x}, 2, 1);
    }
    return tg_add(x, tg_embedding_layer_first(&model->positions, tape, token_count(c)));
}

tg_tensor tg_vit_forward(const tg_vit *model, tg_tensor x, tg_rng *training)
{
    tg_tape *tape = tg_tape_of(x);
    if (!model) {
        tg_tape_fail(tape, "tg_vit_forward: no model: tg_vit_config_error may tell why");
        return TG_NONE;
    }
    const tg_vit_config *c = &model->config;
    x = tg_images(x, c->channels, c->height, c->width);
    tg_scope_begin(tape, "embedding");
    x = tg_ok(x) ? tokens_of(model, x) : x;
    tg_scope_end(tape);
    x = tg_block_stack_forward(&model->stack, x, NULL, c->dropout, training);
    tg_scope_begin(tape, "head");
    x = c->mean_pool ? tg_mean_over(x, TG_AXES(1), false) : tg_slice(x, 1, 0, 1, 1);
    x = tg_reshape(x, TG_SHAPE(tg_dim(x, 0), c->block.attention.width));
    x = tg_linear_layer_forward(&model->head, x);
    tg_scope_end(tape);
    return x;
}
