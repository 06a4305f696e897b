#include "examples/gradcheck/layer_checks.h"

#include "examples/gradcheck/layer_checks_internal.h"
#include "examples/gradcheck/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_INPUTS = 24 };

#define IN_TRAINING .training = true

static const layer_check checks[] = {
    {"linear_layer", "x W^T + b", &kind_linear},
    {"linear_layer.no_bias", "x W^T", &kind_linear, .convolution = {.no_bias = true}},
/* Each activation, behind a linear layer. */
#define TG_PLAIN(constant, name, gain, evaluation, random, formula) \
    {"hidden_layer." #name, "a linear layer, and " #name, &kind_hidden, .activation = constant, IN_TRAINING},
#define TG_GATED(constant, name, gate, product, formula) TG_PLAIN(constant, name, 0, 0, 0, formula)
#include "nn/activations.def"
    {"norm_layer.layer", "LayerNorm", &kind_norm, .norm = TG_NORM_LAYER},
    {"norm_layer.rms", "RMSNorm", &kind_norm, .norm = TG_NORM_RMS},
    {"norm_layer.batch", "BatchNorm in evaluation", &kind_norm, .norm = TG_NORM_BATCH},
    {"norm_layer.batch.training", "BatchNorm in training", &kind_norm, .norm = TG_NORM_BATCH, IN_TRAINING},
    {"norm_layer.group", "GroupNorm of two groups", &kind_norm, .norm = TG_NORM_GROUP},
    {"dropout", "dropout in training", &kind_dropout, IN_TRAINING},
    {"embedding_layer", "rows of a table by number, times the first ones", &kind_embedding},
    {"convolution.images", "2d, padded", &kind_images,
     .convolution = {.outputs = 3, .kernel = {2, 3}, .window = {.padding = {1, 1}}}},
    {"convolution.strided", "2d, stride and dilation of 2, in two groups, no bias", &kind_images,
     .convolution = {.outputs = 4,
                     .kernel = {2, 2},
                     .no_bias = true,
                     .window = {.stride = {2, 1}, .padding = {1, 1}, .dilation = {1, 2}, .groups = 2}}},
    {"convolution.sequences", "1d, padded", &kind_sequences,
     .convolution = {.outputs = 3, .kernel = {3}, .window = {.padding = {1}}}},
    {"rotary", "pairs turned by an angle that grows with the position", &kind_rotary},
    {"attention", "multi-head self-attention", &kind_attention},
    {"attention.causal", "positions see earlier ones only", &kind_attention, .attention = {.causal = true}},
    {"attention.grouped", "two heads share keys and values, separate matrices, no bias, rotated positions",
     &kind_attention, .attention = {.key_value_heads = 1, .separate = true, .no_bias = true}, .rotary = true},
    {"attention.padded", "one position is hidden", &kind_attention, .padded = true},
    {"attention.training", "dropout of attention weights", &kind_attention, .attention = {.dropout = 0.3}, IN_TRAINING},
    {"feed_forward.gelu_exact", "the feed-forward layer of a transformer", &kind_feed_forward,
     .activation = TG_GELU_EXACT},
    {"feed_forward.relu", "the same with relu", &kind_feed_forward, .activation = TG_RELU},
#define TG_GATED(constant, name, gate, product, formula) \
    {"feed_forward." #name, "the same, gated by " #name, &kind_feed_forward, .activation = constant},
#include "nn/activations.def"
    {"feed_forward.training", "with dropout of hidden units", &kind_feed_forward, .activation = TG_GELU_TANH,
     IN_TRAINING},
    {"conv_block", "a convolution, gelu_exact", &kind_conv_block, .activation = TG_GELU_EXACT},
    {"conv_block.batch", "a convolution, BatchNorm in training, silu", &kind_conv_block, .activation = TG_SILU,
     .norm = TG_NORM_BATCH, IN_TRAINING},
    {"conv_block.group", "a convolution, GroupNorm, gated by swiglu", &kind_conv_block, .activation = TG_SWIGLU,
     .norm = TG_NORM_GROUP},
    {"block.bert", "post-norm, gelu_exact", &kind_block, .block = tg_block_bert, .padded = true},
    {"block.gpt", "pre-norm, gelu_tanh, causal", &kind_block, .block = tg_block_gpt},
    {"block.vit", "pre-norm, gelu_exact", &kind_block, .block = tg_block_vit},
    {"block.llama", "pre-norm RMSNorm, swiglu, causal, rotated positions", &kind_block, .block = tg_block_llama,
     .rotary = true},
    {"block.training", "GPT-2's block with dropout", &kind_block, .block = tg_block_gpt, IN_TRAINING},
    {"block.recompute", "the same, computed again in the backward pass", &kind_block, .block = tg_block_gpt,
     .recompute = true, IN_TRAINING},
    {"sequential", "convolution, LayerNorm, pool, a recomputed residual GLU, linear", &kind_sequential, IN_TRAINING},
    {"mlp.gelu_exact", "two hidden layers", &kind_mlp, .activation = TG_GELU_EXACT},
    {"mlp.swiglu", "two gated hidden layers", &kind_mlp, .activation = TG_SWIGLU},
    {"mlp.rms", "two gated hidden layers, RMSNorm behind each", &kind_mlp, .activation = TG_SWIGLU,
     .norm = TG_NORM_RMS},
    {"mlp.batch", "BatchNorm in training, and dropout", &kind_mlp, .activation = TG_RELU, .norm = TG_NORM_BATCH,
     IN_TRAINING},
    {"mlp.training", "a random activation, and dropout", &kind_mlp, .activation = TG_STOCHASTIC_GELU, IN_TRAINING},
    {"mlp.residual", "a residual sum around the second hidden layer", &kind_mlp, .activation = TG_SILU,
     .residual = true},
    {"autoencoder", "one hidden layer and a code, mirrored", &kind_autoencoder, .activation = TG_GELU_EXACT},
    {"autoencoder.training", "with RMSNorm and dropout", &kind_autoencoder, .activation = TG_ELU, .norm = TG_NORM_RMS,
     IN_TRAINING},
    {"char_mlp", "embeddings side by side, and a hidden layer", &kind_char_mlp, .activation = TG_TANH},
    {"char_mlp.training", "with LayerNorm and dropout", &kind_char_mlp, .activation = TG_GELU_TANH,
     .norm = TG_NORM_LAYER, IN_TRAINING},
    {"convnet", "two blocks of convolution, gelu_exact and pooling", &kind_convnet, .activation = TG_GELU_EXACT},
    {"convnet.training", "with BatchNorm and dropout", &kind_convnet, .activation = TG_SILU, .norm = TG_NORM_BATCH,
     IN_TRAINING},
    {"convnet.recompute", "blocks computed again in the backward pass", &kind_convnet, .activation = TG_SWIGLU,
     .recompute = true},
    {"vit", "patches, a class token, a block", &kind_vit, .block = tg_block_vit},
    {"vit.training", "the mean of all tokens, and dropout", &kind_vit, .block = tg_block_vit, .mean_pool = true,
     IN_TRAINING},
    {"transformer.gpt", "two blocks, tied embedding", &kind_transformer, .block = tg_block_gpt},
    {"transformer.bert", "an encoder of two blocks; one position is hidden", &kind_transformer, .block = tg_block_bert,
     .padded = true},
    {"transformer.llama", "two blocks, rotated positions", &kind_transformer, .block = tg_block_llama, .rotary = true},
    {"transformer.recompute", "blocks computed again in the backward pass", &kind_transformer, .block = tg_block_gpt,
     .recompute = true},
    {"transformer.training", "GPT-2 with dropout", &kind_transformer, .block = tg_block_gpt, IN_TRAINING},
};

enum { CHECKS = sizeof checks / sizeof checks[0] };

const layer_check *layer_check_at(int index)
{
    return index >= 0 && index < CHECKS ? &checks[index] : NULL;
}

const char *layer_check_category(const layer_check *check)
{
    return check->kind->category;
}

/* ---- a check ---- */

static bool make(layer *l, tg_shape shape)
{
    const layer_kind *kind = l->check->kind;
    if (!kind->discard)
        l->set = tg_parameters_new(TG_F64);
    if (kind->add)
        kind->add(l, shape);
    if (!l->set || tg_parameters_error(l->set))
        return false;
    tg_rng rng = tg_rng_seed(l->seed);
    rng = tg_rng_stream(&rng, "parameters");
    for (int k = 0; k < tg_parameters_count(l->set); k++) {
        tg_parameter *parameter = tg_parameters_at(l->set, k);
        const bool variance = strstr(parameter->name, "running_var") != NULL;
        for (int64_t i = 0; i < tg_shape_size(&parameter->shape); i++) {
            const double drawn = 0.7 * tg_rng_normal(&rng);
            tg_parameter_put(parameter, i, variance ? 0.5 + fabs(drawn) : drawn);
        }
    }
    return true;
}

static void discard(layer *l)
{
    if (l->check->kind->discard)
        l->check->kind->discard(l);
    else
        tg_parameters_free(l->set);
}

static tg_tensor forward(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    const layer *l = user;
    tg_rng training = tg_rng_seed(l->seed); /* the same in each call */
    (void)tape, (void)count;
    return l->check->kind->forward(l, inputs[0], l->check->training ? &training : NULL);
}

static tg_gradcheck_result refuse(const layer *l, const char *why)
{
    tg_gradcheck_result result = {
        .status = TG_GRADCHECK_REFUSED, .sample = -1, .input = -1, .index = -1, .operation = -1};
    const char *error = l->set ? tg_parameters_error(l->set) : NULL;
    snprintf(result.why, sizeof result.why, "%s", error ? error : why);
    return result;
}

static tg_gradcheck_result check_shape(const layer_check *check, tg_shape shape, const tg_gradcheck_options *options)
{
    const layer_kind *kind = check->kind;
    layer l = {.check = check, .seed = options->seed};
    double x[LAYER_ELEMENTS];
    int32_t ids[LAYER_ELEMENTS];
    tg_rng rng = tg_rng_seed(options->seed);
    rng = tg_rng_stream(&rng, check->name);
    for (int i = 0; i < LAYER_ELEMENTS; i++) {
        x[i] = tg_rng_normal(&rng);
        ids[i] = kind->ids ? (int32_t)tg_rng_below(&rng, (uint64_t)kind->ids) : 0;
    }
    tg_gradcheck_input in = {.name = "x",
                             .shape = shape,
                             .data = kind->ids ? NULL : x,
                             .integers = kind->ids ? ids : NULL,
                             .fixed = kind->ids};
    tg_gradcheck_result result;
    if (tg_shape_size(&shape) > LAYER_ELEMENTS || !make(&l, shape))
        result = refuse(&l, "out of memory, or more elements than there is room for");
    else if (strcmp(kind->category, "layer") != 0)
        result = tg_gradcheck_parameters(forward, &l, &in, 1, l.set, options);
    else if (tg_parameters_count(l.set) >= MOST_INPUTS)
        result = refuse(&l, "too many parameters for a layer");
    else {
        tg_gradcheck_input inputs[MOST_INPUTS] = {in};
        for (int i = 0; i < tg_parameters_count(l.set); i++) {
            tg_parameter *parameter = tg_parameters_at(l.set, i);
            inputs[i + 1] = (tg_gradcheck_input){.parameter = parameter, .fixed = !parameter->gradient};
        }
        result = tg_gradcheck(forward, &l, inputs, tg_parameters_count(l.set) + 1, options);
    }
    discard(&l);
    return result;
}

tg_gradcheck_result layer_check_run(const layer_check *check, const tg_gradcheck_options *options)
{
    const layer_kind *kind = check->kind;
    tg_gradcheck_result total = check_shape(check, kind->shapes[0], options);
    for (int i = 1; i < LAYER_SHAPES && kind->shapes[i].rank > 0; i++) {
        const tg_gradcheck_result next = check_shape(check, kind->shapes[i], options);
        gradcheck_result_join(&total, &next);
        total.samples += next.samples;
    }
    if (total.passed)
        return total;
    char why[sizeof total.why];
    snprintf(why, sizeof why, "%s: %.700s", check->name, total.why);
    memcpy(total.why, why, sizeof why);
    return total;
}
