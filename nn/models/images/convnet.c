#include "nn/models/convnet.h"

#include "nn/models/model_internal.h"

#include <stdio.h>

/* ---- configuration ---- */

static int block_count(const tg_convnet_config *config)
{
    int count = 0;
    while (count <= TG_CONVNET_BLOCKS && config->filters[count] != 0)
        count++;
    return count;
}

static tg_conv_block_config block_config(const tg_convnet_config *c, int i)
{
    return (tg_conv_block_config){.inputs = i == 0 ? c->channels : c->filters[i - 1],
                                  .outputs = c->filters[i],
                                  .kernel = c->kernel,
                                  .norm = c->norm,
                                  .groups = c->groups,
                                  .activation = c->activation,
                                  .recompute = c->recompute};
}

static int pool_of(const tg_convnet_config *config)
{
    return config->pool ? config->pool : 2;
}

/* A side of the image after all blocks. */
static int64_t last_side(const tg_convnet_config *config, int64_t side)
{
    for (int i = 0; i < block_count(config); i++)
        side /= pool_of(config);
    return side;
}

static const char *config_error(const void *any)
{
    const tg_convnet_config *config = any;
    if (tg_images_error(config->channels, config->height, config->width))
        return tg_images_error(config->channels, config->height, config->width);
    if (!tg_is_size(config->outputs))
        return TG_SIZE_ERROR("the number of outputs");
    const int count = block_count(config);
    if (count < 1 || count > TG_CONVNET_BLOCKS)
        return "there must be 1 to 32 blocks, and the list of their filters must end with 0";
    for (int i = 0; i < count; i++) {
        const tg_conv_block_config block = block_config(config, i);
        if (tg_conv_block_config_error(&block))
            return tg_conv_block_config_error(&block);
        if (config->filters[i] > 1 << 15)
            return "a block must have 2^15 filters at most";
    }
    if (config->pool < 0 || last_side(config, config->height) < 1 || last_side(config, config->width) < 1)
        return "pooling must leave something of the image behind the last block";
    if (tg_dropout_error(config->dropout))
        return tg_dropout_error(config->dropout);
    if (tg_init_error(config->init, config->scale))
        return tg_init_error(config->init, config->scale);
    return tg_dtype_error(config->dtype);
}

/* ---- the model ---- */

static tg_tensor mean_over_positions(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    (void)self, (void)pass;
    return tg_mean_over(x, TG_AXES(2, 3), false);
}

static const tg_layer_kind mean_kind = {.name = "mean_over_positions", .forward = mean_over_positions};

static void build(tg_model *model, void *config)
{
    const tg_convnet_config *c = config;
    const int count = block_count(c), pool = pool_of(c);
    model->parameters = tg_parameters_new(c->dtype);
    model->init = c->init;
    model->scale = c->scale;
    for (int i = 0; i < count; i++) {
        char name[24];
        const tg_conv_block_config of_block = block_config(c, i);
        snprintf(name, sizeof name, "blocks.%d", i);
        const tg_conv_block block = tg_conv_block_add(model->parameters, name, &of_block);
        if (i == 0 && block.conv.weight)
            block.conv.weight->initial.own = 1; /* it reads data */
        tg_model_add(model, name, tg_sequential_conv_block(&block));
        if (pool > 1)
            tg_model_add(model, name, tg_sequential_max_pool2d(pool, pool, (tg_window){0}));
    }
    const int64_t positions = c->flatten ? last_side(c, c->height) * last_side(c, c->width) : 1;
    tg_model_add(model, "head", c->flatten ? tg_sequential_flatten() : (tg_layer){.kind = &mean_kind});
    tg_model_add(model, "head", tg_sequential_dropout(c->dropout));
    tg_model_add_output(model, "head", c->filters[count - 1] * positions, c->outputs, c->activation,
                        0.1 * tg_activation_gain(c->activation), true);
}

static tg_tensor images(const tg_model *model, tg_tensor x)
{
    const tg_convnet_config *c = model->config;
    return tg_images(x, c->channels, c->height, c->width);
}

static void configure(void *config, const tg_shape *x, int sample)
{
    static const tg_activation activations[] = {TG_GELU_EXACT, TG_SILU, TG_SWIGLU};
    *(tg_convnet_config *)config = (tg_convnet_config){.channels = x->dim[1],
                                                       .height = x->dim[2],
                                                       .width = x->dim[3],
                                                       .filters = {2, 3},
                                                       .outputs = 2,
                                                       .activation = activations[sample],
                                                       .norm = sample == 1 ? TG_NORM_BATCH : TG_NORM_NONE,
                                                       .recompute = sample == 2,
                                                       .dropout = 0.3,
                                                       .dtype = TG_F64};
}

static const tg_shape shapes[] = {{4, {2, 1, 4, 4}}, {4, {2, 2, 4, 5}}, {0}};
static const tg_layer_sample samples[] = {{"", "two blocks of convolution, gelu_exact and pooling", shapes},
                                          {"training", "with BatchNorm and dropout", shapes, .training = true},
                                          {"recompute", "blocks computed again in the backward pass", shapes},
                                          {0}};

const tg_model_kind tg_convnet_kind = {"convnet", sizeof(tg_convnet_config), config_error, build, images, configure,
                                       samples};

tg_tensor tg_convnet_forward(const tg_convnet *net, tg_tensor x, tg_rng *training)
{
    return tg_model_run(&tg_convnet_kind, net, x, &(tg_layer_pass){training}, 0, 0);
}
