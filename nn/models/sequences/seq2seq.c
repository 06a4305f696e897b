#include "nn/models/seq2seq.h"

#include "autograd/grad.h"
#include "nn/models/model_internal.h"
#include "nn/models/sequences/blocks.h"

static tg_relative_config relative_of(const tg_seq2seq_config *c, bool causal)
{
    return (tg_relative_config){
        .heads = c->block.attention.heads, .buckets = c->buckets, .distance = c->distance, .causal = causal};
}

static const char *config_error(const void *config)
{
    const tg_seq2seq_config *c = config;
    const tg_relative_config relative[2] = {relative_of(c, false), relative_of(c, true)};
    if (!tg_is_size(c->vocabulary) || !tg_is_size(c->context))
        return TG_SIZE_ERROR("the vocabulary and the context");
    if (tg_blocks_error(c->layers, &c->block))
        return tg_blocks_error(c->layers, &c->block);
    for (int i = 0; c->relative && i < 2; i++)
        if (tg_relative_config_error(&relative[i]))
            return tg_relative_config_error(&relative[i]);
    if (tg_init_error(c->init, c->scale))
        return tg_init_error(c->init, c->scale);
    return tg_dropout_error(c->dropout) ? tg_dropout_error(c->dropout) : tg_dtype_error(c->dtype);
}

/* ---- what encoder and decoder read ---- */

typedef struct side {
    tg_embedding_layer tokens, positions;
    tg_relative relative; /* without a weight: positions are embedded */
    int64_t context;
} side;

static tg_tensor embed(const side *s, tg_tensor ids, tg_layer_pass *pass)
{
    tg_tape *tape = tg_tape_of(ids);
    const int64_t positions = tg_dim(ids, 1);
    const tg_tensor x = tg_embedding_layer_forward(&s->tokens, ids);
    if (!s->relative.weight)
        return tg_add(x, tg_embedding_layer_first(&s->positions, tape, positions));
    pass->bias = tg_relative_forward(&s->relative, tape, positions, positions);
    return x;
}

/* 0 for padding, 1 for other tokens: [batch, positions]. */
static tg_tensor mask_of(const side *s, tg_tensor ids)
{
    tg_tape *tape = tg_tape_of(ids);
    const tg_dtype dtype = s->tokens.weight->dtype;
    const int64_t others = s->tokens.weight->shape.dim[0] - 1;
    tg_no_grad_begin(tape);
    const tg_tensor kept[] = {tg_full(tape, dtype, TG_SHAPE(1), TG_SEQ2SEQ_PADDING),
                              tg_full(tape, dtype, TG_SHAPE(others), 1)},
                    mask = tg_embedding(tg_concat(kept, 2, 0), ids);
    tg_no_grad_end(tape);
    return mask;
}

static tg_tensor begin_source(const tg_layer *self, tg_tensor ids, tg_layer_pass *pass)
{
    const side *s = self->layer;
    const tg_tensor source = tg_slice(ids, 1, 0, s->context, 1);
    pass->target = tg_slice(ids, 1, s->context, tg_dim(ids, 1), 1);
    pass->padding = mask_of(s, source);
    return embed(s, source, pass);
}

/* The encoder's result becomes the memory, and the decoder begins. Padding behind a target needs no mask, as no
 * position sees later ones. */
static tg_tensor begin_target(const tg_layer *self, tg_tensor encoded, tg_layer_pass *pass)
{
    pass->memory = encoded;
    pass->memory_padding = pass->padding;
    pass->padding = pass->bias = TG_NONE;
    return embed(self->layer, pass->target, pass);
}

static const tg_layer_kind source_kind = {.name = "source", .size = sizeof(side), .forward = begin_source},
                           target_kind = {.name = "target", .size = sizeof(side), .forward = begin_target};

/* ---- the model ---- */

static side side_of(tg_model *model, const tg_seq2seq_config *c, const side *common, const char *name, bool causal)
{
    const tg_relative_config relative = relative_of(c, causal);
    side s = *common;
    if (c->relative)
        s.relative = tg_relative_add(model->parameters, tg_name_in(name, "relative_attention_bias").text, &relative);
    return s;
}

static void build(tg_model *model, void *config)
{
    const tg_seq2seq_config *c = config;
    const int64_t width = c->block.attention.width;
    tg_parameters *set = model->parameters = tg_parameters_new(c->dtype);
    side common = {.context = c->context};
    tg_block_config decoder = c->block;
    decoder.attention.causal = decoder.cross = true;
    common.tokens = tg_embedding_layer_add(set, "token_embedding", c->vocabulary, width);
    if (!c->relative)
        common.positions = tg_embedding_layer_add(set, "position_embedding", c->context, width);
    const side source = side_of(model, c, &common, "encoder", false);
    tg_model_add(model, "encoder.embedding", (tg_layer){.kind = &source_kind, .layer = &source});
    tg_model_add_blocks(model, "encoder.", c->layers, &c->block, c->dropout);
    const side target = side_of(model, c, &common, "decoder", true);
    tg_model_add(model, "decoder.embedding", (tg_layer){.kind = &target_kind, .layer = &target});
    tg_model_add_blocks(model, "decoder.", c->layers, &decoder, c->dropout);
    tg_linear_layer head = {.weight = common.tokens.weight};
    if (!c->tied)
        head = tg_linear_layer_add(set, "head", width, c->vocabulary, false);
    tg_model_add(model, "head", tg_sequential_linear(&head));
    tg_model_initial_blocks(model, &common.tokens, &common.positions, c->layers, width);
    model->init = c->init;
    model->scale = c->scale;
}

static tg_tensor pairs(const tg_model *model, tg_tensor ids)
{
    const tg_seq2seq_config *c = model->config;
    if (tg_rank(ids) == 2 && tg_dim(ids, 1) > c->context && tg_dim(ids, 1) <= 2 * c->context)
        return ids;
    return TG_FAIL(tg_tape_of(ids), "tg_seq2seq_forward: expected ids [batch, %lld + targets], 1 to %lld targets",
                   (long long)c->context, (long long)c->context);
}

static void configure(void *config, const tg_shape *x, int sample)
{
    tg_seq2seq_config *c = config;
    const bool t5 = sample == 0 || sample == 2;
    *c = (tg_seq2seq_config){.vocabulary = 5,
                             .context = x->dim[1] / 2 + 1,
                             .layers = sample == 0 ? 2 : 1,
                             .block = t5 ? tg_block_t5(4, 2) : tg_block_gpt(4, 2),
                             .relative = t5,
                             .buckets = 4,
                             .distance = 3,
                             .tied = !t5,
                             .dropout = 0.2,
                             .dtype = TG_F64};
    c->block.attention.causal = false;
    c->block.dropout = c->block.attention.dropout = 0.2;
    c->block.recompute = sample == 2;
}

static const tg_shape shapes[] = {{2, {2, 5}}, {2, {1, 7}}, {0}};
static const tg_layer_sample samples[] = {
    {"t5", "T5 of two blocks on either side", shapes, .ids = 5},
    {"embedded", "blocks of GPT-2 with embedded positions, in training", shapes, .ids = 5, .training = true},
    {"recompute", "T5 with blocks computed again in the backward pass", shapes, .ids = 5},
    {0}};

const tg_model_kind tg_seq2seq_kind = {"seq2seq", sizeof(tg_seq2seq_config), config_error, build, pairs, configure,
                                       samples};

tg_tensor tg_seq2seq_forward(const tg_seq2seq *net, tg_tensor ids, tg_rng *training)
{
    return tg_model_run(&tg_seq2seq_kind, net, ids, &(tg_layer_pass){training}, 0, 0);
}

/* ---- in two steps ---- */

/* The number of the decoder's first layer; 0, with an error on the tape, if this is no seq2seq. */
static int decoder_of(const tg_seq2seq *net, tg_tape *tape, const char *function)
{
    for (int i = 0; net && net->kind == &tg_seq2seq_kind && i < net->count; i++)
        if (net->layers[i].kind == &target_kind)
            return i;
    tg_tape_fail(tape, "%s: the model is no seq2seq", function);
    return 0;
}

tg_tensor tg_seq2seq_encode(const tg_seq2seq *net, tg_tensor source, tg_tensor *mask)
{
    tg_layer_pass pass = {0};
    tg_tensor unused;
    const int decoder = decoder_of(net, tg_tape_of(source), "tg_seq2seq_encode");
    mask = mask ? mask : &unused;
    *mask = TG_NONE;
    if (decoder == 0)
        return TG_NONE;
    const int64_t context = ((const tg_seq2seq_config *)net->config)->context;
    if (tg_ok(source) && (tg_rank(source) != 2 || tg_dim(source, 1) < 1 || tg_dim(source, 1) > context))
        return TG_FAIL(tg_tape_of(source), "tg_seq2seq_encode: expected a source [batch, 1 to %lld positions]",
                       (long long)context);
    const tg_tensor memory = tg_layers_forward(net->layers, decoder, source, &pass);
    *mask = pass.padding;
    return memory;
}

tg_tensor tg_seq2seq_next(const tg_seq2seq *net, tg_tensor target, tg_tensor memory, tg_tensor mask)
{
    tg_layer_pass pass = {.padding = mask, .target = target};
    const int decoder = decoder_of(net, tg_tape_of(target), "tg_seq2seq_next");
    if (decoder == 0)
        return TG_NONE;
    const int64_t context = ((const tg_seq2seq_config *)net->config)->context, tokens = tg_dim(target, 1);
    if (tg_ok(target) && (tg_rank(target) != 2 || tokens < 1 || tokens > context))
        return TG_FAIL(tg_tape_of(target), "tg_seq2seq_next: expected a target [batch, 1 to %lld tokens]",
                       (long long)context);
    const int before_head = net->count - 1 - decoder;
    const tg_tensor all = tg_layers_forward(net->layers + decoder, before_head, memory, &pass),
                    last = tokens > 1 ? tg_slice(all, 1, tokens - 1, tokens, 1) : all,
                    logits = tg_layers_forward(net->layers + net->count - 1, 1, last, &pass);
    return tg_reshape(logits, TG_SHAPE(tg_dim(logits, 0), tg_dim(logits, 2)));
}
