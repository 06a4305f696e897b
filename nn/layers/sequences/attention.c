#include "nn/layers/attention.h"

#include "nn/layers/dropout.h"
#include "nn/layers/layer_internal.h"
#include "nn/layers/past_internal.h"

#include <math.h>

static bool is_possible(const tg_attention_config *c)
{
    return c->heads > 0 && tg_is_size(c->width) && c->width % c->heads == 0 && c->key_value_heads > 0 &&
           c->heads % c->key_value_heads == 0;
}

/* All weights in one matrix, whose name has no dot before "weight". */
static tg_linear_layer fused_part(tg_parameters *set, const char *name, int64_t inputs, int64_t outputs, bool bias)
{
    tg_linear_layer layer = {0};
    layer.weight = tg_parameters_add(set, tg_name_in(name, "in_proj_weight").text, TG_SHAPE(outputs, inputs), true);
    tg_parameter_initial(layer.weight, (tg_initial){.gain = 1});
    if (bias)
        layer.bias = tg_parameters_add(set, tg_name_in(name, "in_proj_bias").text, TG_SHAPE(outputs), false);
    return layer;
}

tg_attention tg_attention_add(tg_parameters *set, const char *name, const tg_attention_config *config)
{
    tg_attention a = {0};
    if (!config)
        return a;
    a.config = *config;
    if (a.config.key_value_heads == 0)
        a.config.key_value_heads = config->heads;
    if (!is_possible(&a.config))
        return a;
    const int64_t width = config->width, shared = width / config->heads * a.config.key_value_heads;
    const bool bias = !config->no_bias;
    if (config->separate) {
        a.query = tg_linear_layer_add(set, tg_name_in(name, "q_proj").text, width, width, bias);
        a.key = tg_linear_layer_add(set, tg_name_in(name, "k_proj").text, width, shared, bias);
        a.value = tg_linear_layer_add(set, tg_name_in(name, "v_proj").text, width, shared, bias);
    } else
        a.fused = fused_part(set, name, width, width + 2 * shared, bias);
    a.out =
        tg_linear_layer_add(set, tg_name_in(name, config->separate ? "o_proj" : "out_proj").text, width, width, bias);
    return a;
}

/* softmax(q k^T / sqrt(size) + bias) v with dropout of the weights. */
static tg_tensor attend(const tg_attention_config *c, tg_tensor q, tg_tensor k, tg_tensor v, tg_tensor mask,
                        tg_tensor bias, bool causal, tg_rng *training)
{
    if (!c->unscaled)
        q = tg_mul_scalar(q, 1 / sqrt((double)tg_dim(q, -1)));
    tg_tensor scores = tg_matmul_transposed(q, k, false, true);
    if (bias.value)
        scores = tg_add(scores, bias);
    if (tg_ok(mask))
        scores = tg_where(mask, scores, tg_full(tg_tape_of(q), tg_dtype_of(q), TG_SCALAR, -(double)INFINITY));
    tg_tensor weights = causal ? tg_causal_softmax(scores) : tg_softmax(scores, -1);
    return tg_matmul(tg_dropout_forward(weights, c->dropout, training), v);
}

/* Queries, keys and values, each [heads, batch, positions, size]. */
typedef struct projections {
    tg_tensor q, k, v;
} projections;

/* Some of a layer's outputs. Slices its weights rather than its result, as their gradients are the smaller tensors to
 * concatenate. */
static tg_tensor part_forward(const tg_linear_layer *layer, tg_tensor x, int64_t first, int64_t count)
{
    tg_tape *tape = tg_tape_of(x);
    const tg_tensor bias = layer->bias ? tg_narrow(tg_parameter_tensor(tape, layer->bias), 0, first, count) : TG_NONE;
    return tg_linear(x, tg_narrow(tg_parameter_tensor(tape, layer->weight), 0, first, count), bias);
}

/* Queries of x; keys and values of the memory, which may be x. */
static projections project(const tg_attention *a, tg_tensor x, tg_tensor memory)
{
    const int heads = a->config.heads, shared = a->config.key_value_heads;
    if (a->config.separate)
        return (projections){tg_split_heads(tg_linear_layer_forward(&a->query, x), heads),
                             tg_split_heads(tg_linear_layer_forward(&a->key, memory), shared),
                             tg_split_heads(tg_linear_layer_forward(&a->value, memory), shared)};
    const int64_t width = a->config.width, both = width / heads * shared;
    return (projections){tg_split_heads(part_forward(&a->fused, x, 0, width), heads),
                         tg_split_heads(part_forward(&a->fused, memory, width, both), shared),
                         tg_split_heads(part_forward(&a->fused, memory, width + both, both), shared)};
}

/* Checks the arguments of a pass; records the error if they are wrong. `memory` has the keys that `padding` masks. */
static bool fits(const tg_attention *a, tg_tensor x, tg_tensor memory, tg_tensor padding)
{
    tg_tape *tape = tg_tape_of(x);
    const tg_shape of_padding = tg_shape_of(padding), positions = TG_SHAPE(tg_dim(memory, 0), tg_dim(memory, 1));
    char has[128];
    if (!a || !a->out.weight)
        tg_tape_fail(tape, "tg_attention_forward: the layer has no weights: its widths and heads do not divide, or "
                           "tg_parameters_error says why");
    else if (tg_ok(x) && tg_rank(x) != 3)
        tg_tape_fail(tape, "tg_attention_forward: expected x [batch, positions, %lld]", (long long)a->config.width);
    else if (tg_ok(x) && tg_ok(memory) &&
             (tg_rank(memory) != 3 || tg_dim(memory, 0) != tg_dim(x, 0) || tg_dim(memory, 2) != a->config.width))
        tg_tape_fail(tape, "tg_attention_forward: expected a memory [%lld, positions, %lld]", (long long)tg_dim(x, 0),
                     (long long)a->config.width);
    else if (tg_ok(x) && tg_ok(padding) &&
             !tg_shape_equal(&of_padding, &positions)) /* any tensor with that many numbers could be reshaped */
        tg_tape_fail(tape, "tg_attention_forward: expected padding [%lld, %lld], got %s", (long long)positions.dim[0],
                     (long long)positions.dim[1], tg_shape_text(&of_padding, has, sizeof has));
    else
        return true;
    return false;
}

/* Attention of each position to itself and earlier ones; of the last position alone, if it continues a sequence. */
static tg_tensor attend_to_self(const tg_attention *a, tg_tensor x, tg_past *past)
{
    const tg_attention_config *c = &a->config;
    tg_tensor all = tg_linear_layer_forward(&a->fused, x);
    if (past)
        all = tg_past_append(past, all);
    return past && past->seen > 0 ? tg_self_attention_last(all, c->heads, c->key_value_heads)
                                  : tg_self_attention(all, c->heads, c->key_value_heads, c->causal);
}

/* Heads [heads, 1, positions, size] with those of earlier passes. */
static tg_tensor with_past(tg_past *past, tg_tensor heads)
{
    return tg_split_heads(tg_past_append(past, tg_merge_heads(heads)), tg_dim(heads, 0));
}

/* Shared heads, once for each query head that uses them. */
static tg_tensor for_each_query(tg_tensor shared, int times)
{
    const int64_t heads = tg_dim(shared, 0), batch = tg_dim(shared, 1), positions = tg_dim(shared, 2),
                  size = tg_dim(shared, 3);
    const tg_tensor apart = tg_reshape(shared, TG_SHAPE(heads, 1, batch, positions, size));
    return tg_reshape(tg_expand(apart, TG_SHAPE(heads, times, batch, positions, size)),
                      TG_SHAPE(heads * times, batch, positions, size));
}

tg_tensor tg_attention_forward(const tg_attention *a, tg_tensor x, const tg_attention_context *context,
                               tg_rng *training)
{
    const bool crosses = context && context->memory.value;
    const tg_tensor memory = crosses ? context->memory : x, padding = crosses   ? context->memory_padding
                                                                      : context ? context->padding
                                                                                : TG_NONE;
    if (!fits(a, x, memory, padding))
        return TG_NONE;
    const tg_attention_config *c = &a->config;
    const tg_tensor bias = context ? context->bias : TG_NONE;
    const bool dropout = training && c->dropout > 0;
    if (!c->separate && !c->unscaled && !padding.value && !bias.value && !dropout && !crosses &&
        !(context && context->rotary))
        return tg_linear_layer_forward(&a->out, attend_to_self(a, x, context ? context->past : NULL));
    projections p = project(a, x, memory);
    if (context && context->rotary && !crosses) {
        p.q = tg_rotary_turn(context->rotary, p.q);
        p.k = tg_rotary_turn(context->rotary, p.k);
    }
    if (context && context->past && !crosses) {
        p.k = with_past(context->past, p.k);
        p.v = with_past(context->past, p.v);
    }
    if (c->key_value_heads < c->heads) {
        p.k = for_each_query(p.k, c->heads / c->key_value_heads);
        p.v = for_each_query(p.v, c->heads / c->key_value_heads);
    }
    tg_tensor mask = TG_NONE;
    if (padding.value)
        mask = tg_reshape(padding, TG_SHAPE(1, tg_dim(memory, 0), 1, tg_dim(memory, 1)));
    const bool usual = !dropout && !bias.value && !c->unscaled,
               causal = c->causal && !(context && context->past && context->past->seen > 0); /* the last sees all */
    tg_tensor heads = usual ? tg_scaled_dot_product_attention(p.q, p.k, p.v, mask, causal)
                            : attend(c, p.q, p.k, p.v, mask, bias, causal, training);
    return tg_linear_layer_forward(&a->out, tg_merge_heads(heads));
}

static tg_tensor forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    const tg_attention_context context = tg_context_of(pass);
    return tg_attention_forward(self->layer, x, &context, pass->training);
}

static const tg_attention_config sample_config[] = {
    {0}, {.causal = true}, {.key_value_heads = 1, .separate = true, .no_bias = true}, {0}, {.dropout = 0.3}, {0}};

/* Attention to x and its tanh, one after the other; the first sequence's last position is masked. */
static tg_tensor forward_crossed(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    const int64_t batch = tg_dim(x, 0), others = 2 * tg_dim(x, 1);
    const tg_tensor both[] = {x, tg_tanh(x)}, all = tg_full(tg_tape_of(x), tg_dtype_of(x), TG_SHAPE(batch, others), 1);
    const tg_attention_context context = {.memory = tg_concat(both, 2, 1),
                                          .memory_padding = others > 4 ? tg_tril(all, (int)others - 2) : all};
    return tg_attention_forward(self->layer, x, &context, pass->training);
}

static tg_layer add(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    static const tg_layer_kind crossed = {"attention", "layer", sizeof(tg_attention), forward_crossed, NULL, NULL};
    tg_attention *l = layer;
    tg_attention_config config = sample_config[sample];
    config.width = tg_last(x);
    config.heads = 2;
    *l = tg_attention_add(set, name, &config);
    return (tg_layer){.kind = sample == 5 ? &crossed : &tg_attention_kind, .layer = l};
}

static const tg_layer_sample samples[] = {
    {"", "multi-head self-attention", tg_sample_sequences},
    {"causal", "positions see earlier ones only", tg_sample_sequences},
    {"grouped", "two heads share keys and values, separate matrices, no bias, rotated positions", tg_sample_sequences,
     .rotary = 2},
    {"padded", "one position is hidden", tg_sample_sequences, .padded = true},
    {"training", "dropout of attention weights", tg_sample_sequences, .training = true},
    {"cross", "attention to another sequence, with a mask", tg_sample_sequences},
    {0}};

const tg_layer_kind tg_attention_kind = {"attention", "layer", sizeof(tg_attention), forward, add, samples};
