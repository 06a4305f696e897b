#include "nn/layers/block.h"

#include "nn/layers/dropout.h"
#include "nn/layers/layer_internal.h"

#include <math.h>

/* ---- as published ---- */

tg_block_config tg_block_bert(int64_t width, int heads)
{
    return (tg_block_config){.attention = {.width = width, .heads = heads},
                             .activation = TG_GELU_EXACT,
                             .norm = TG_NORM_LAYER,
                             .epsilon = 1e-12,
                             .post_norm = true};
}

tg_block_config tg_block_gpt(int64_t width, int heads)
{
    return (tg_block_config){.attention = {.width = width, .heads = heads, .causal = true},
                             .activation = TG_GELU_TANH,
                             .norm = TG_NORM_LAYER,
                             .epsilon = 1e-5};
}

tg_block_config tg_block_vit(int64_t width, int heads)
{
    return (tg_block_config){.attention = {.width = width, .heads = heads},
                             .activation = TG_GELU_EXACT,
                             .norm = TG_NORM_LAYER,
                             .epsilon = 1e-6};
}

tg_block_config tg_block_llama(int64_t width, int heads)
{
    return (tg_block_config){
        .attention = {.width = width, .heads = heads, .separate = true, .no_bias = true, .causal = true},
        .activation = TG_SWIGLU,
        .norm = TG_NORM_RMS,
        .epsilon = 1e-6,
        .no_bias = true};
}

tg_block_config tg_block_t5(int64_t width, int heads)
{
    return (tg_block_config){
        .attention = {.width = width, .heads = heads, .separate = true, .no_bias = true, .unscaled = true},
        .activation = TG_RELU,
        .norm = TG_NORM_RMS,
        .epsilon = 1e-6,
        .no_bias = true};
}

const char *tg_block_config_error(const tg_block_config *config)
{
    if (!config)
        return "there is no configuration of the blocks";
    const tg_attention_config *a = &config->attention;
    const int shared = a->key_value_heads ? a->key_value_heads : a->heads;
    if (!tg_is_size(a->width) || a->heads < 1 || a->width % a->heads != 0)
        return TG_SIZE_ERROR("the width") ", and a multiple of the number of heads";
    if (shared < 1 || a->heads % shared != 0)
        return "the number of heads must be a multiple of that of key and value heads";
    if (config->hidden != 0 && !tg_is_size(config->hidden))
        return TG_SIZE_ERROR("the width of the feed-forward layers");
    if (!tg_activation_name(config->activation) || !tg_norm_name(config->norm))
        return "there is no such activation or normalisation";
    if (config->norm == TG_NORM_BATCH || config->norm == TG_NORM_GROUP)
        return "the normalisation must be layer, rms or none: the others are not over the last axis";
    if (!(config->feed_forward_scale >= 0 && isfinite(config->feed_forward_scale)))
        return "the scale of the feed-forward layers' initial weights must be positive, or 0 for 1";
    return tg_dropout_error(config->dropout) ? tg_dropout_error(config->dropout) : tg_dropout_error(a->dropout);
}

/* ---- the block ---- */

/* A plain feed-forward layer has the names that PyTorch gives it here. */
static tg_feed_forward feed_forward_part(tg_parameters *set, const char *name, const tg_block_config *c)
{
    const int64_t width = c->attention.width, four = 4 * width;
    const bool gated = tg_activation_is_gated(c->activation);
    const int64_t hidden = c->hidden ? c->hidden : gated ? tg_gated_width(four) : four;
    if (gated)
        return tg_feed_forward_add(set, tg_name_in(name, "mlp").text, width, hidden, c->activation, !c->no_bias);
    tg_feed_forward layer = {.dropout = c->dropout};
    layer.hidden =
        tg_hidden_layer_add(set, tg_name_in(name, "linear1").text, width, hidden, c->activation, !c->no_bias);
    layer.out = tg_linear_layer_add(set, tg_name_in(name, "linear2").text, hidden, width, !c->no_bias);
    tg_parameter_initial(layer.out.weight, (tg_initial){.gain = tg_activation_gain(c->activation)});
    return layer;
}

static void scale_initial(const tg_feed_forward *layer, double scale)
{
    tg_parameter *weight[] = {layer->hidden.linear.weight, layer->hidden.value.weight, layer->out.weight};
    for (int i = 0; i < 3; i++)
        if (weight[i])
            weight[i]->initial.scale = scale;
}

/* The number of sublayers: each has a norm and a residual connection. */
static int sublayers(const tg_block_config *c)
{
    return c->cross ? 3 : 2;
}

tg_block tg_block_add(tg_parameters *set, const char *name, const tg_block_config *config)
{
    static const char *const norms[] = {"norm1", "norm2", "norm3"};
    tg_block block = {0};
    if (tg_block_config_error(config))
        return block;
    block.config = *config;
    block.attention = tg_attention_add(set, tg_name_in(name, "self_attn").text, &config->attention);
    if (config->cross) {
        tg_attention_config cross = config->attention;
        cross.causal = false;
        block.cross = tg_attention_add(set, tg_name_in(name, "multihead_attn").text, &cross);
    }
    block.feed_forward = feed_forward_part(set, name, config);
    scale_initial(&block.feed_forward, config->feed_forward_scale);
    for (int i = 0; i < sublayers(config); i++)
        block.norm[i] = tg_norm_layer_add(set, tg_name_in(name, norms[i]).text, config->norm, config->attention.width,
                                          config->epsilon);
    return block;
}

/* Adds x and what a sublayer has made of it. */
static tg_tensor join(const tg_block *block, int sublayer, tg_tensor x, tg_tensor h, tg_rng *training)
{
    x = tg_add(x, tg_dropout_forward(h, block->config.dropout, training));
    return block->config.post_norm ? tg_norm_layer_forward(&block->norm[sublayer], x, training) : x;
}

static tg_tensor inside(const void *self, tg_tensor x, tg_layer_pass *pass)
{
    const tg_block *block = self;
    const tg_attention_context alone = tg_context_of(pass),
                               both = {.memory = pass->memory, .memory_padding = pass->memory_padding};
    tg_rng *training = pass->training;
    const int count = sublayers(&block->config);
    for (int i = 0; i < count; i++) {
        const tg_tensor h = block->config.post_norm ? x : tg_norm_layer_forward(&block->norm[i], x, training);
        x = join(block, i, x,
                 i == 0           ? tg_attention_forward(&block->attention, h, &alone, training)
                 : i == count - 1 ? tg_feed_forward_forward(&block->feed_forward, h, training)
                                  : tg_attention_forward(&block->cross, h, &both, training),
                 training);
    }
    return x;
}

static tg_tensor run(const tg_block *block, tg_tensor x, tg_layer_pass *pass)
{
    if (!block || !block->attention.out.weight)
        return TG_FAIL(tg_tape_of(x), "tg_block_forward: %s",
                       block ? "the block has no weight: tg_block_config_error or tg_parameters_error says why"
                             : "there is no block");
    if (block->config.cross && !pass->memory.value)
        return TG_FAIL(tg_tape_of(x), "tg_block_forward: the block has cross-attention and needs a memory");
    return tg_layer_call(inside, block, x, pass, block->config.recompute && !pass->past);
}

tg_tensor tg_block_forward(const tg_block *block, tg_tensor x, const tg_attention_context *context, tg_rng *training)
{
    tg_layer_pass pass = {.training = training};
    if (context)
        pass = (tg_layer_pass){.training = training,
                               .padding = context->padding,
                               .bias = context->bias,
                               .memory = context->memory,
                               .memory_padding = context->memory_padding,
                               .past = context->past};
    if (context && context->rotary)
        pass.rotary = *context->rotary;
    return run(block, x, &pass);
}

static tg_tensor forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    return run(self->layer, x, pass);
}

/* With a memory: x in reverse order, of which the last position of the first sequence is masked; and a bias, from x. */
static tg_tensor forward_crossed(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    const int64_t batch = tg_dim(x, 0), positions = tg_dim(x, 1);
    const tg_tensor all = tg_full(tg_tape_of(x), tg_dtype_of(x), TG_SHAPE(batch, positions), 1),
                    scores = tg_matmul_transposed(tg_narrow(x, 0, 0, 1), tg_narrow(x, 0, 0, 1), false, true);
    pass->memory = tg_tanh(tg_flip(x, TG_AXES(1)));
    pass->memory_padding = positions > 2 ? tg_tril(all, (int)positions - 2) : all;
    pass->bias = tg_reshape(tg_sin(tg_concat((const tg_tensor[]){scores, tg_neg(scores)}, 2, 0)),
                            TG_SHAPE(2, 1, positions, positions));
    return forward(self, x, pass);
}

static tg_layer add(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    static tg_block_config (*const published[])(int64_t width, int heads) = {tg_block_bert,  tg_block_gpt, tg_block_vit,
                                                                             tg_block_llama, tg_block_gpt, tg_block_gpt,
                                                                             tg_block_t5,    tg_block_t5};
    static const tg_layer_kind crossed = {"block", "block", sizeof(tg_block), forward_crossed, NULL, NULL};
    tg_block *l = layer;
    tg_block_config config = published[sample](tg_last(x), 2);
    config.dropout = config.attention.dropout = 0.2;
    config.recompute = sample == 5 || sample == 7;
    config.cross = sample >= 6;
    config.attention.causal |= config.cross;
    *l = tg_block_add(set, name, &config);
    return (tg_layer){.kind = sample >= 6 ? &crossed : &tg_block_kind, .layer = l};
}

static const tg_layer_sample samples[] = {
    {"bert", "post-norm, gelu_exact", tg_sample_sequences, .padded = true},
    {"gpt", "pre-norm, gelu_tanh, causal", tg_sample_sequences},
    {"vit", "pre-norm, gelu_exact", tg_sample_sequences},
    {"llama", "pre-norm RMSNorm, swiglu, causal, rotated positions", tg_sample_sequences, .rotary = 2},
    {"training", "GPT-2's block with dropout", tg_sample_sequences, .training = true},
    {"recompute", "the same, computed again in the backward pass", tg_sample_sequences, .training = true},
    {"t5", "T5's decoder: RMSNorm, relu, a bias of the scores, cross-attention", tg_sample_sequences},
    {"t5.recompute", "the same, computed again in the backward pass", tg_sample_sequences},
    {0}};

const tg_layer_kind tg_block_kind = {"block", "block", sizeof(tg_block), forward, add, samples};
