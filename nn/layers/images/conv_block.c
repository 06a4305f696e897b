#include "nn/layers/conv_block.h"

#include "nn/layers/layer_internal.h"

const char *tg_conv_block_config_error(const tg_conv_block_config *config)
{
    if (!config)
        return "there is no configuration";
    if (!tg_is_size(config->inputs) || !tg_is_size(config->outputs) || config->outputs > TG_SIZE_MOST / 2)
        return "the numbers of channels must be positive, 2^30 at most for the inputs, 2^29 at most for the outputs";
    if (config->kernel < 0 || config->kernel > 1 << 15 || (config->kernel && config->kernel % 2 == 0))
        return "the kernel's size must be odd, and below 2^15";
    if (config->stride < 0)
        return "the stride must be positive";
    if (!tg_activation_name(config->activation))
        return "there is no such activation";
    if (config->norm != TG_NORM_NONE && config->norm != TG_NORM_BATCH && config->norm != TG_NORM_GROUP)
        return "the normalisation must be batch, group or none: the others are over the last axis";
    const int64_t channels = config->outputs * (tg_activation_is_gated(config->activation) ? 2 : 1);
    if (config->groups < 0 || (config->groups && channels % config->groups != 0))
        return "the number of channels must be a multiple of that of groups";
    return NULL;
}

tg_conv_block tg_conv_block_add(tg_parameters *set, const char *name, const tg_conv_block_config *config)
{
    tg_conv_block block = {0};
    if (tg_conv_block_config_error(config))
        return block;
    const int64_t kernel = config->kernel ? config->kernel : 3,
                  channels = config->outputs * (tg_activation_is_gated(config->activation) ? 2 : 1);
    const int around = (int)(kernel / 2);
    block.config = *config;
    block.conv = tg_convolution_add(
        set, tg_name_in(name, "conv").text,
        &(tg_convolution_config){.inputs = config->inputs,
                                 .outputs = channels,
                                 .kernel = {kernel, kernel},
                                 .window = {.stride = {config->stride, config->stride}, .padding = {around, around}},
                                 .no_bias = config->norm != TG_NORM_NONE});
    tg_parameter_initial(block.conv.weight, (tg_initial){.gain = tg_activation_gain(config->activation)});
    block.norm = tg_norm_layer_add(set, tg_name_in(name, "norm").text, config->norm, channels, 0);
    block.numbers = tg_activation_add_numbers(set, name, config->activation, config->outputs);
    block.norm.groups = config->groups ? config->groups : 1;
    return block;
}

static tg_tensor inside(const void *self, tg_tensor x, tg_layer_pass *pass)
{
    const tg_conv_block *block = self;
    x = tg_norm_layer_forward(&block->norm, tg_convolution_forward(&block->conv, x), pass->training);
    return tg_activate_halves(block->config.activation, &block->numbers, x, 1, pass->training);
}

tg_tensor tg_conv_block_forward(const tg_conv_block *block, tg_tensor x, tg_rng *training)
{
    if (!block || !block->conv.weight)
        return TG_FAIL(tg_tape_of(x), "tg_conv_block_forward: the block has no weight: tg_conv_block_config_error "
                                      "or tg_parameters_error says why");
    return tg_layer_call(inside, block, x, &(tg_layer_pass){training}, block->config.recompute);
}

static tg_tensor forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    return tg_conv_block_forward(self->layer, x, pass->training);
}

static const tg_conv_block_config sample_config[] = {{.activation = TG_GELU_EXACT},
                                                     {.activation = TG_SILU, .norm = TG_NORM_BATCH},
                                                     {.activation = TG_SWIGLU, .norm = TG_NORM_GROUP}};

static tg_layer add(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    tg_conv_block *l = layer;
    tg_conv_block_config config = sample_config[sample];
    config.inputs = x->dim[1];
    config.outputs = config.groups = 2;
    *l = tg_conv_block_add(set, name, &config);
    return (tg_layer){.kind = &tg_conv_block_kind, .layer = l};
}

static const tg_shape shapes[] = {{4, {2, 2, 4, 3}}, {4, {2, 1, 3, 3}}, {0}};
static const tg_layer_sample samples[] = {
    {"", "a convolution, gelu_exact", shapes},
    {"batch", "a convolution, BatchNorm in training, silu", shapes, .training = true},
    {"group", "a convolution, GroupNorm, gated by swiglu", shapes},
    {0}};

const tg_layer_kind tg_conv_block_kind = {"conv_block", "block", sizeof(tg_conv_block), forward, add, samples};
