#include "nn/models/char_mlp.h"

#include "nn/layers/embedding.h"
#include "nn/models/model_internal.h"

static const char *config_error(const void *config)
{
    const tg_char_mlp_config *c = config;
    if (!tg_is_size(c->vocabulary))
        return TG_SIZE_ERROR("the vocabulary");
    if (c->context < 1 || c->context > 1 << 15 || c->embedding < 1 || c->embedding > 1 << 15)
        return "the context and the embeddings' size must be positive, 2^15 at most";
    if (tg_init_error(c->init, c->scale))
        return tg_init_error(c->init, c->scale);
    return tg_hidden_error(c->hidden, TG_CHAR_MLP_HIDDEN, c->activation, c->norm, c->dropout, c->dtype);
}

static void build(tg_model *model, void *config)
{
    const tg_char_mlp_config *c = config;
    const int count = tg_hidden_count(c->hidden, TG_CHAR_MLP_HIDDEN);
    const int64_t seen = c->context * c->embedding;
    tg_parameters *set = model->parameters = tg_parameters_new(c->dtype);
    const tg_embedding_layer embedding = tg_embedding_layer_add(set, "embedding", c->vocabulary, c->embedding);
    model->init = c->init;
    model->scale = c->scale;
    tg_model_add(model, "embedding", tg_sequential_embedding(&embedding));
    tg_model_add(model, "embedding", tg_sequential_flatten());
    const tg_hidden_layers hidden = {.inputs = seen,
                                     .widths = c->hidden,
                                     .count = count,
                                     .activation = c->activation,
                                     .norm = c->norm,
                                     .dropout = c->dropout,
                                     .depth = count};
    tg_model_add_hidden(model, "layers", &hidden);
    tg_model_add_output(model, "output", count ? c->hidden[count - 1] : seen, c->vocabulary, c->activation,
                        0.1 * tg_hidden_gain(&hidden), true);
}

static tg_tensor windows(const tg_model *model, tg_tensor ids)
{
    const tg_char_mlp_config *c = model->config;
    if (tg_rank(ids) == 2 && tg_dim(ids, 1) == c->context)
        return ids;
    return TG_FAIL(tg_tape_of(ids), "tg_char_mlp_forward: expected ids [batch, %lld]", (long long)c->context);
}

static void configure(void *config, const tg_shape *x, int sample)
{
    *(tg_char_mlp_config *)config = (tg_char_mlp_config){.vocabulary = 5,
                                                         .context = tg_last(x),
                                                         .embedding = 2,
                                                         .hidden = {4},
                                                         .activation = sample ? TG_GELU_TANH : TG_TANH,
                                                         .norm = sample ? TG_NORM_LAYER : TG_NORM_NONE,
                                                         .dropout = 0.3,
                                                         .dtype = TG_F64};
}

static const tg_shape shapes[] = {{2, {3, 2}}, {2, {1, 4}}, {0}};
static const tg_layer_sample samples[] = {
    {"", "embeddings side by side, and a hidden layer", shapes, .ids = 5},
    {"training", "with LayerNorm and dropout", shapes, .ids = 5, .training = true},
    {0}};

const tg_model_kind tg_char_mlp_kind = {"char_mlp", sizeof(tg_char_mlp_config), config_error, build, windows, configure,
                                        samples};

tg_tensor tg_char_mlp_forward(const tg_char_mlp *net, tg_tensor ids, tg_rng *training)
{
    return tg_model_run(&tg_char_mlp_kind, net, ids, &(tg_layer_pass){training}, 0, 0);
}
