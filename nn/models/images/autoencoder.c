#include "nn/models/autoencoder.h"

#include "nn/models/model_internal.h"

#include <stdio.h>

static const char *config_error(const void *config)
{
    const tg_autoencoder_config *c = config;
    if (!tg_is_size(c->inputs) || !tg_is_size(c->code))
        return TG_SIZE_ERROR("the numbers of inputs and of the code");
    if (tg_init_error(c->init, c->scale))
        return tg_init_error(c->init, c->scale);
    return tg_hidden_error(c->hidden, TG_AUTOENCODER_HIDDEN, c->activation, c->norm, c->dropout, c->dtype);
}

static void build(tg_model *model, void *config)
{
    const tg_autoencoder_config *c = config;
    const int count = tg_hidden_count(c->hidden, TG_AUTOENCODER_HIDDEN);
    int64_t mirrored[TG_AUTOENCODER_HIDDEN];
    char name[24];
    for (int i = 0; i < count; i++)
        mirrored[i] = c->hidden[count - 1 - i];
    model->parameters = tg_parameters_new(c->dtype);
    model->init = c->init;
    model->scale = c->scale;
    tg_hidden_layers hidden = {.inputs = c->inputs,
                               .widths = c->hidden,
                               .count = count,
                               .activation = c->activation,
                               .norm = c->norm,
                               .dropout = c->dropout,
                               .depth = 2 * count + 1};
    tg_model_add_hidden(model, "encoder", &hidden);
    snprintf(name, sizeof name, "encoder.%d", count);
    const tg_hidden_layer code = tg_hidden_layer_add(model->parameters, name, count ? c->hidden[count - 1] : c->inputs,
                                                     c->code, c->linear_code ? TG_IDENTITY : c->activation, true);
    tg_hidden_layers code_alone = hidden; /* the code has no norm */
    code_alone.norm = TG_NORM_NONE;
    code_alone.count = c->linear_code ? 0 : 1;
    tg_parameter_initial(code.linear.weight, (tg_initial){.gain = tg_activation_gain(c->activation),
                                                          .own = c->linear_code ? tg_hidden_gain(&hidden) : 0});
    if (!c->linear_code)
        tg_hidden_initial(&code, tg_hidden_gain(&hidden), &code_alone);
    hidden.first = tg_hidden_gain(&code_alone);
    tg_model_add(model, name, tg_sequential_hidden(&code));
    hidden.inputs = c->code;
    hidden.widths = mirrored;
    tg_model_add_hidden(model, "decoder", &hidden);
    snprintf(name, sizeof name, "decoder.%d", count);
    tg_model_add_output(model, name, count ? c->hidden[0] : c->code, c->inputs, c->activation,
                        0.1 * tg_hidden_gain(&hidden), true);
}

static void configure(void *config, const tg_shape *x, int sample)
{
    *(tg_autoencoder_config *)config = (tg_autoencoder_config){.inputs = tg_last(x),
                                                               .hidden = {4},
                                                               .code = 2,
                                                               .activation = sample ? TG_ELU : TG_GELU_EXACT,
                                                               .norm = sample ? TG_NORM_RMS : TG_NORM_NONE,
                                                               .dropout = 0.3,
                                                               .dtype = TG_F64};
}

static const tg_shape shapes[] = {{2, {3, 5}}, {3, {2, 2, 3}}, {0}};
static const tg_layer_sample samples[] = {{"", "one hidden layer and a code, mirrored", shapes},
                                          {"training", "with RMSNorm and dropout", shapes, .training = true},
                                          {0}};

const tg_model_kind tg_autoencoder_kind = {
    "autoencoder", sizeof(tg_autoencoder_config), config_error, build, NULL, configure, samples};

tg_tensor tg_autoencoder_encode(const tg_autoencoder *net, tg_tensor x, tg_rng *training)
{
    return tg_model_run(&tg_autoencoder_kind, net, x, &(tg_layer_pass){training}, 0, net ? net->count / 2 : 0);
}

tg_tensor tg_autoencoder_decode(const tg_autoencoder *net, tg_tensor code, tg_rng *training)
{
    return tg_model_run(&tg_autoencoder_kind, net, code, &(tg_layer_pass){training}, net ? net->count / 2 : 0, 0);
}

tg_tensor tg_autoencoder_forward(const tg_autoencoder *net, tg_tensor x, tg_rng *training)
{
    return tg_model_run(&tg_autoencoder_kind, net, x, &(tg_layer_pass){training}, 0, 0);
}
