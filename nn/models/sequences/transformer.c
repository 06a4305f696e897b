#include "nn/models/transformer.h"

#include "nn/layers/past_internal.h"
#include "nn/models/model_internal.h"
#include "nn/models/sequences/blocks.h"

static const char *config_error(const void *config)
{
    const tg_transformer_config *c = config;
    if (!tg_is_size(c->vocabulary) || !tg_is_size(c->context))
        return TG_SIZE_ERROR("the vocabulary and the context");
    if (tg_blocks_error(c->layers, &c->block))
        return tg_blocks_error(c->layers, &c->block);
    if (c->rotary_base != 0 && (!(c->rotary_base > 0) || c->block.attention.width / c->block.attention.heads % 2 != 0))
        return "rotary positions need a positive base and heads of even size";
    if (tg_init_error(c->init, c->scale))
        return tg_init_error(c->init, c->scale);
    return tg_dropout_error(c->dropout) ? tg_dropout_error(c->dropout) : tg_dtype_error(c->dtype);
}

/* ---- tokens and their positions ---- */

typedef struct embeddings {
    tg_embedding_layer tokens, positions;
    double rotary_base; /* 0: positions are embedded */
    int64_t head_size;
} embeddings;

static tg_tensor embed(const tg_layer *self, tg_tensor ids, tg_layer_pass *pass)
{
    const embeddings *e = self->layer;
    tg_tape *tape = tg_tape_of(ids);
    const int64_t positions = tg_dim(ids, 1), all = positions + (pass->past ? pass->past->seen : 0);
    const tg_tensor x = tg_embedding_layer_forward(&e->tokens, ids);
    const tg_tensor index = pass->past ? tg_past_positions(pass->past, tape, positions) : TG_NONE;
    if (e->rotary_base == 0)
        return tg_add(x, pass->past ? tg_embedding_layer_forward(&e->positions, index)
                                    : tg_embedding_layer_first(&e->positions, tape, positions));
    pass->rotary = tg_rotary_angles_at(tape, tg_dtype_of(x), index, all, e->head_size, e->rotary_base);
    return x;
}

static const tg_layer_kind embeddings_kind = {.name = "embeddings", .size = sizeof(embeddings), .forward = embed};

/* ---- the model ---- */

static void build(tg_model *model, void *config)
{
    const tg_transformer_config *c = config;
    const tg_attention_config *a = &c->block.attention;
    tg_parameters *set = model->parameters = tg_parameters_new(c->dtype);
    embeddings e = {.rotary_base = c->rotary_base, .head_size = a->width / a->heads};
    e.tokens = tg_embedding_layer_add(set, "token_embedding", c->vocabulary, a->width);
    if (c->rotary_base == 0)
        e.positions = tg_embedding_layer_add(set, "position_embedding", c->context, a->width);
    tg_model_add(model, "embedding", (tg_layer){.kind = &embeddings_kind, .layer = &e});
    tg_model_add_blocks(model, "", c->layers, &c->block, c->dropout);
    tg_linear_layer head = {.weight = e.tokens.weight};
    if (!c->tied && !c->no_head)
        head = tg_linear_layer_add(set, "head", a->width, c->vocabulary, false);
    if (!c->no_head)
        tg_model_add(model, "head", tg_sequential_linear(&head));
    tg_model_initial_blocks(model, &e.tokens, &e.positions, c->layers, a->width);
    model->init = c->init;
    model->scale = c->scale;
}

static tg_tensor sequences(const tg_model *model, tg_tensor ids)
{
    const tg_transformer_config *c = model->config;
    if (tg_rank(ids) == 2 && tg_dim(ids, 1) <= c->context)
        return ids;
    char shape[128];
    const tg_shape given = tg_shape_of(ids);
    return TG_FAIL(tg_tape_of(ids),
                   "tg_transformer_forward: expected ids [batch, positions], %lld positions at most, not %s",
                   (long long)c->context, tg_shape_text(&given, shape, sizeof shape));
}

static void configure(void *config, const tg_shape *x, int sample)
{
    static tg_block_config (*const published[])(int64_t width, int heads) = {
        tg_block_gpt, tg_block_bert, tg_block_llama, tg_block_gpt, tg_block_gpt};
    tg_transformer_config *c = config;
    const bool bert = sample == 1, llama = sample == 2;
    (void)x;
    *c = (tg_transformer_config){.vocabulary = 5,
                                 .context = 4,
                                 .layers = 2,
                                 .block = published[sample](4, 2),
                                 .tied = !llama,
                                 .rotary_base = llama ? 10000 : 0,
                                 .no_head = bert,
                                 .dropout = 0.2,
                                 .dtype = TG_F64};
    c->block.dropout = c->block.attention.dropout = 0.2;
    c->block.recompute = sample == 3;
}

static const tg_shape shapes[] = {{2, {2, 3}}, {2, {1, 4}}, {0}};
static const tg_layer_sample samples[] = {
    {"gpt", "two blocks, tied embedding", shapes, .ids = 5},
    {"bert", "an encoder of two blocks; one position is hidden", shapes, .ids = 5, .padded = true},
    {"llama", "two blocks, rotated positions", shapes, .ids = 5},
    {"recompute", "blocks computed again in the backward pass", shapes, .ids = 5},
    {"training", "GPT-2 with dropout", shapes, .ids = 5, .training = true},
    {0}};

const tg_model_kind tg_transformer_kind = {
    "transformer", sizeof(tg_transformer_config), config_error, build, sequences, configure, samples};

tg_tensor tg_transformer_forward_padded(const tg_transformer *model, tg_tensor ids, tg_tensor padding, tg_rng *training)
{
    return tg_model_run(&tg_transformer_kind, model, ids, &(tg_layer_pass){.training = training, .padding = padding}, 0,
                        0);
}

tg_tensor tg_transformer_forward(const tg_transformer *model, tg_tensor ids, tg_rng *training)
{
    return tg_transformer_forward_padded(model, ids, TG_NONE, training);
}
