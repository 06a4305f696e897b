#include "nn/models/convnet.h"

#include "nn/config_internal.h"
#include "nn/layers/dropout.h"
#include "nn/layers/linear.h"

#include <stdio.h>
#include <stdlib.h>

struct tg_convnet {
    tg_convnet_config config;
    tg_parameters *parameters;
    int count;
    tg_conv_block blocks[TG_CONVNET_BLOCKS];
    tg_linear_layer head;
    char names[TG_CONVNET_BLOCKS][24]; /* "blocks.0", ...: of scopes on the tape too */
};

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

/* A side of the image behind all blocks. */
static int64_t last_side(const tg_convnet_config *config, int64_t side)
{
    for (int i = 0; i < block_count(config); i++)
        side /= pool_of(config);
    return side;
}

const char *tg_convnet_config_error(const tg_convnet_config *config)
{
    if (!config)
        return "there is no configuration";
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
    if (!tg_init_name(config->init))
        return "there is no such initialiser";
    return tg_dtype_error(config->dtype);
}

/* ---- life ---- */

static bool build(tg_convnet *net, const tg_convnet_config *c, const tg_rng *rng)
{
    tg_parameters *set = net->parameters = tg_parameters_new(c->dtype);
    net->config = *c;
    net->count = block_count(c);
    for (int i = 0; i < net->count; i++) {
        const tg_conv_block_config block = block_config(c, i);
        snprintf(net->names[i], sizeof net->names[i], "blocks.%d", i);
        net->blocks[i] = tg_conv_block_add(set, net->names[i], &block);
    }
    const int64_t positions = c->flatten ? last_side(c, c->height) * last_side(c, c->width) : 1;
    net->head = tg_linear_layer_add(set, "head", c->filters[net->count - 1] * positions, c->outputs, true);
    tg_parameter_initial(net->head.weight, (tg_initial){.gain = tg_activation_gain(c->activation)});
    return tg_parameters_initialize(set, c->init, 0, rng);
}

tg_convnet *tg_convnet_new(const tg_rng *rng, const tg_convnet_config *config)
{
    tg_convnet *net = tg_convnet_config_error(config) ? NULL : calloc(1, sizeof *net);
    if (net && build(net, config, rng))
        return net;
    tg_convnet_free(net);
    return NULL;
}

void tg_convnet_free(tg_convnet *net)
{
    tg_parameters_free(tg_convnet_parameters(net));
    free(net);
}

tg_parameters *tg_convnet_parameters(const tg_convnet *net)
{
    return net ? net->parameters : NULL;
}

/* ---- forward ---- */

tg_tensor tg_convnet_forward(const tg_convnet *net, tg_tensor x, tg_rng *training)
{
    tg_tape *tape = tg_tape_of(x);
    if (!net) {
        tg_tape_fail(tape, "tg_convnet_forward: no net: tg_convnet_config_error may tell why");
        return TG_NONE;
    }
    const tg_convnet_config *c = &net->config;
    const int pool = pool_of(c);
    x = tg_images(x, c->channels, c->height, c->width);
    for (int i = 0; i < net->count; i++) {
        tg_scope_begin(tape, net->names[i]);
        x = tg_conv_block_forward(&net->blocks[i], x, training);
        if (pool > 1)
            x = tg_max_pool2d(x, pool, pool, (tg_window){0});
        tg_scope_end(tape);
    }
    tg_scope_begin(tape, "head");
    x = c->flatten ? tg_reshape(x, TG_SHAPE(tg_dim(x, 0), -1)) : tg_mean_over(x, TG_AXES(2, 3), false);
    x = tg_linear_layer_forward(&net->head, tg_dropout_forward(x, c->dropout, training));
    tg_scope_end(tape);
    return x;
}
