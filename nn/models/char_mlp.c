#include "nn/models/char_mlp.h"

#include "nn/config_internal.h"
#include "nn/layers/embedding.h"
#include "nn/models/hidden_stack_internal.h"

#include <stdlib.h>

struct tg_char_mlp {
    tg_char_mlp_config config;
    tg_parameters *parameters;
    tg_embedding_layer embedding;
    tg_hidden_stack layers;
    tg_linear_layer output;
};

const char *tg_char_mlp_config_error(const tg_char_mlp_config *config)
{
    if (!config)
        return "there is no configuration";
    if (!tg_is_size(config->vocabulary))
        return TG_SIZE_ERROR("the vocabulary");
    if (config->context < 1 || config->context > 1 << 15 || config->embedding < 1 || config->embedding > 1 << 15)
        return "the context and the embeddings' size must be positive, 2^15 at most";
    if (tg_widths_error(config->hidden, tg_hidden_count(config->hidden)))
        return tg_widths_error(config->hidden, tg_hidden_count(config->hidden));
    return tg_hidden_error(config->activation, config->norm, config->dropout, config->init, config->dtype);
}

static bool build(tg_char_mlp *net, const tg_char_mlp_config *c, const tg_rng *rng)
{
    tg_parameters *set = net->parameters = tg_parameters_new(c->dtype);
    net->config = *c;
    const int count = tg_hidden_count(c->hidden);
    const int64_t seen = c->context * c->embedding;
    net->embedding = tg_embedding_layer_add(set, "embedding", c->vocabulary, c->embedding);
    tg_hidden_stack_add(&net->layers, set, "layers", seen, c->hidden, count, c->activation, c->norm, true);
    net->output = tg_linear_layer_add(set, "output", count ? c->hidden[count - 1] : seen, c->vocabulary, true);
    tg_parameter_initial(net->output.weight, (tg_initial){.gain = tg_activation_gain(c->activation)});
    return tg_parameters_initialize(set, c->init, 0, rng);
}

tg_char_mlp *tg_char_mlp_new(const tg_rng *rng, const tg_char_mlp_config *config)
{
    tg_char_mlp *net = tg_char_mlp_config_error(config) ? NULL : calloc(1, sizeof *net);
    if (net && build(net, config, rng))
        return net;
    tg_char_mlp_free(net);
    return NULL;
}

void tg_char_mlp_free(tg_char_mlp *net)
{
    tg_parameters_free(tg_char_mlp_parameters(net));
    free(net);
}

tg_parameters *tg_char_mlp_parameters(const tg_char_mlp *net)
{
    return net ? net->parameters : NULL;
}

tg_tensor tg_char_mlp_forward(const tg_char_mlp *net, tg_tensor ids, tg_rng *training)
{
    tg_tape *tape = tg_tape_of(ids);
    if (!net || (tg_ok(ids) && (tg_rank(ids) != 2 || tg_dim(ids, 1) != net->config.context))) {
        tg_tape_fail(tape,
                     net ? "tg_char_mlp_forward: expected ids [batch, %lld]"
                         : "tg_char_mlp_forward: no net: tg_char_mlp_config_error may tell why",
                     net ? (long long)net->config.context : 0);
        return TG_NONE;
    }
    const int64_t seen = net->config.context * net->config.embedding;
    tg_scope_begin(tape, "embedding");
    tg_tensor x = tg_embedding_layer_forward(&net->embedding, ids);
    x = tg_reshape(x, TG_SHAPE(tg_dim(ids, 0), seen));
    tg_scope_end(tape);
    x = tg_hidden_stack_forward(&net->layers, x, net->config.dropout, training, NULL);
    tg_scope_begin(tape, "output");
    x = tg_linear_layer_forward(&net->output, x);
    tg_scope_end(tape);
    return x;
}
