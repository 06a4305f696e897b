#include "nn/models/autoencoder.h"

#include "nn/config_internal.h"
#include "nn/models/hidden_stack_internal.h"

#include <stdio.h>
#include <stdlib.h>

struct tg_autoencoder {
    tg_autoencoder_config config;
    tg_parameters *parameters;
    tg_hidden_stack encoder, decoder;
    tg_hidden_layer code;
    tg_linear_layer output;
    char code_name[24], output_name[24];
};

const char *tg_autoencoder_config_error(const tg_autoencoder_config *config)
{
    if (!config)
        return "there is no configuration";
    if (!tg_is_size(config->inputs) || !tg_is_size(config->code))
        return TG_SIZE_ERROR("the numbers of inputs and of the code");
    int count = 0;
    while (count <= TG_AUTOENCODER_HIDDEN && config->hidden[count] != 0)
        count++;
    if (count > TG_AUTOENCODER_HIDDEN)
        return "there are more than 31 hidden layers, or the list of their widths does not end with 0";
    if (tg_widths_error(config->hidden, count))
        return tg_widths_error(config->hidden, count);
    return tg_hidden_error(config->activation, config->norm, config->dropout, config->init, config->dtype);
}

static bool build(tg_autoencoder *net, const tg_autoencoder_config *c, const tg_rng *rng)
{
    tg_parameters *set = net->parameters = tg_parameters_new(c->dtype);
    net->config = *c;
    int64_t mirrored[TG_AUTOENCODER_HIDDEN];
    const int count = tg_hidden_count(c->hidden);
    for (int i = 0; i < count; i++)
        mirrored[i] = c->hidden[count - 1 - i];
    const tg_activation behind_code = c->linear_code ? TG_IDENTITY : c->activation;
    snprintf(net->code_name, sizeof net->code_name, "encoder.%d", count);
    snprintf(net->output_name, sizeof net->output_name, "decoder.%d", count);
    tg_hidden_stack_add(&net->encoder, set, "encoder", c->inputs, c->hidden, count, c->activation, c->norm, true);
    net->code =
        tg_hidden_layer_add(set, net->code_name, count ? c->hidden[count - 1] : c->inputs, c->code, behind_code, true);
    tg_hidden_stack_add(&net->decoder, set, "decoder", c->code, mirrored, count, c->activation, c->norm, true);
    net->output = tg_linear_layer_add(set, net->output_name, count ? c->hidden[0] : c->code, c->inputs, true);
    const tg_initial as_hidden = {.gain = tg_activation_gain(c->activation)};
    tg_parameter_initial(net->code.linear.weight, as_hidden);
    tg_parameter_initial(net->output.weight, as_hidden);
    return tg_parameters_initialize(set, c->init, 0, rng);
}

tg_autoencoder *tg_autoencoder_new(const tg_rng *rng, const tg_autoencoder_config *config)
{
    tg_autoencoder *net = tg_autoencoder_config_error(config) ? NULL : calloc(1, sizeof *net);
    if (net && build(net, config, rng))
        return net;
    tg_autoencoder_free(net);
    return NULL;
}

void tg_autoencoder_free(tg_autoencoder *net)
{
    tg_parameters_free(tg_autoencoder_parameters(net));
    free(net);
}

tg_parameters *tg_autoencoder_parameters(const tg_autoencoder *net)
{
    return net ? net->parameters : NULL;
}

/* ---- forward ---- */

static bool is_there(const tg_autoencoder *net, tg_tensor x)
{
    if (!net)
        tg_tape_fail(tg_tape_of(x), "tg_autoencoder_forward: no net: tg_autoencoder_config_error may tell why");
    return net;
}

tg_tensor tg_autoencoder_encode(const tg_autoencoder *net, tg_tensor x, tg_rng *training)
{
    if (!is_there(net, x))
        return TG_NONE;
    tg_tape *tape = tg_tape_of(x);
    x = tg_hidden_stack_forward(&net->encoder, x, net->config.dropout, training, NULL);
    tg_scope_begin(tape, net->code_name);
    x = tg_hidden_layer_forward(&net->code, x, training, NULL);
    tg_scope_end(tape);
    return x;
}

tg_tensor tg_autoencoder_decode(const tg_autoencoder *net, tg_tensor code, tg_rng *training)
{
    if (!is_there(net, code))
        return TG_NONE;
    tg_tape *tape = tg_tape_of(code);
    tg_tensor x = tg_hidden_stack_forward(&net->decoder, code, net->config.dropout, training, NULL);
    tg_scope_begin(tape, net->output_name);
    x = tg_linear_layer_forward(&net->output, x);
    tg_scope_end(tape);
    return x;
}

tg_tensor tg_autoencoder_forward(const tg_autoencoder *net, tg_tensor x, tg_rng *training)
{
    return tg_autoencoder_decode(net, tg_autoencoder_encode(net, x, training), training);
}
