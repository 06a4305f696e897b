#include "nn/mlp.h"

#include "nn/dropout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct tg_mlp {
    tg_mlp_config config;
    tg_parameters *parameters;
    int count;
    tg_hidden_layer hidden[TG_MLP_HIDDEN];
    tg_linear_layer output;
    char names[TG_MLP_HIDDEN + 1]
              [24]; /* "layers.0", ...: of scopes on the tape too, so they live as long as the net */
};

/* ---- configuration ---- */

static int hidden_count(const tg_mlp_config *config)
{
    int count = 0;
    while (count <= TG_MLP_HIDDEN && config->hidden[count] != 0)
        count++;
    return count;
}

const char *tg_mlp_config_error(const tg_mlp_config *config)
{
    if (!config)
        return "there is no configuration";
    const int64_t most = (int64_t)1 << 30; /* so that sizes can be multiplied */
    if (config->inputs < 1 || config->inputs > most)
        return "the number of inputs must be positive, and below 2^30";
    if (config->outputs < 1 || config->outputs > most)
        return "the number of outputs must be positive, and below 2^30";
    int count = hidden_count(config);
    if (count > TG_MLP_HIDDEN)
        return "there are more than 64 hidden layers, or the list of their widths does not end with 0";
    for (int i = 0; i < count; i++)
        if (config->hidden[i] < 1 || config->hidden[i] > most)
            return "the width of a hidden layer must be positive, and below 2^30";
    if (!tg_activation_name(config->activation))
        return "there is no such activation";
    if (!(config->dropout >= 0 && config->dropout < 1))
        return "the dropout rate must be 0 or more and below 1";
    if (!tg_init_name(config->init))
        return "there is no such initialiser";
    if (!isfinite(config->gain))
        return "the gain must be a finite number";
    if (config->dtype != TG_F32 && config->dtype != TG_F64)
        return "the parameters must be f32 or f64";
    return NULL;
}

/* ---- widths ---- */

/* Parameters of a net with these widths, as a double: it cannot overflow. */
static double size_of(const tg_mlp_config *config, int count, const int64_t *widths, bool gated)
{
    double size = 0, before = (double)config->inputs, bias = config->no_bias ? 0 : 1;
    for (int i = 0; i < count; i++) {
        size += (gated ? 2 : 1) * ((before + bias) * (double)widths[i]);
        before = (double)widths[i];
    }
    return size + (before + bias) * (double)config->outputs;
}

/* All widths times one factor, rounded down. */
static void scale_widths(const tg_mlp_config *config, int count, double factor, int64_t *widths)
{
    for (int i = 0; i < count; i++)
        widths[i] = (int64_t)fmax(1, factor * (double)config->hidden[i]);
}

/* The largest factor whose net is no larger than the plain one, and from there one more unit in every layer
 * that comes closer with it. */
static void fit_widths(const tg_mlp_config *config, int count, int64_t *widths)
{
    double target = size_of(config, count, config->hidden, false), low = 0, high = 1;
    for (int halving = 0; halving < 60; halving++) {
        double middle = (low + high) / 2;
        scale_widths(config, count, middle, widths);
        *(size_of(config, count, widths, true) <= target ? &low : &high) = middle;
    }
    scale_widths(config, count, low, widths);
    for (int i = count - 1; i >= 0; i--) {
        double error = fabs(size_of(config, count, widths, true) - target);
        widths[i]++;
        if (fabs(size_of(config, count, widths, true) - target) >= error)
            widths[i]--;
    }
}

int64_t tg_mlp_size(const tg_mlp_config *config, int64_t widths[TG_MLP_HIDDEN + 1])
{
    if (tg_mlp_config_error(config))
        return -1;
    int64_t own[TG_MLP_HIDDEN + 1];
    if (!widths)
        widths = own;
    int count = hidden_count(config);
    for (int i = 0; i <= count; i++)
        widths[i] = config->hidden[i];
    bool gated = tg_activation_is_gated(config->activation);
    if (gated && !config->equal_width)
        fit_widths(config, count, widths);
    return (int64_t)size_of(config, count, widths, gated);
}

/* ---- life ---- */

static void add_layers(tg_mlp *net)
{
    const tg_mlp_config *config = &net->config;
    int64_t before = config->inputs;
    for (int i = 0; i <= net->count; i++)
        snprintf(net->names[i], sizeof net->names[i], "layers.%d", i);
    for (int i = 0; i < net->count; i++) {
        net->hidden[i] = tg_hidden_layer_add(net->parameters, net->names[i], before, config->hidden[i],
                                             config->activation, !config->no_bias);
        before = config->hidden[i];
    }
    net->output = tg_linear_layer_add(net->parameters, net->names[net->count], before, config->outputs,
                                      !config->no_bias);
}

static bool tames_products(const tg_mlp *net)
{
    return tg_activation_is_gated(net->config.activation) && !net->config.bare_products;
}

/* act(gate) (1 + something small): a gated layer that starts close to a plain one. */
static bool start_close_to_plain(const tg_hidden_layer *layer, tg_init init, const tg_rng *rng)
{
    tg_parameter *bias = layer->value.bias;
    if (!bias)
        return true;
    for (int64_t i = 0; i < bias->shape.dim[0]; i++) {
        if (bias->dtype == TG_F32)
            ((float *)bias->data)[i] = 1;
        else
            ((double *)bias->data)[i] = 1;
    }
    return tg_initialize(layer->value.weight, init, 0.5, rng);
}

static bool initialize(const tg_mlp *net, const tg_rng *rng)
{
    const tg_mlp_config *config = &net->config;
    for (int i = 0; i < net->count; i++)
        if (!tg_hidden_layer_initialize(&net->hidden[i], config->init, config->gain, rng) ||
            (tames_products(net) && !start_close_to_plain(&net->hidden[i], config->init, rng)))
            return false;
    double gain = config->gain != 0 ? config->gain : tg_init_gain(config->init, config->activation);
    return tg_initialize(net->output.weight, config->init, gain, rng);
}

tg_mlp *tg_mlp_new(const tg_rng *rng, const tg_mlp_config *config)
{
    if (tg_mlp_config_error(config))
        return NULL;
    tg_mlp *net = calloc(1, sizeof *net);
    if (!net)
        return NULL;
    net->config = *config;
    net->count = hidden_count(config);
    tg_mlp_size(config, net->config.hidden);
    net->parameters = tg_parameters_new(config->dtype);
    add_layers(net);
    if (tg_parameters_error(net->parameters) || !initialize(net, rng)) {
        tg_mlp_free(net);
        return NULL;
    }
    return net;
}

void tg_mlp_free(tg_mlp *net)
{
    if (!net)
        return;
    tg_parameters_free(net->parameters);
    free(net);
}

tg_parameters *tg_mlp_parameters(const tg_mlp *net)
{
    return net ? net->parameters : NULL;
}

tg_activation tg_mlp_activation(const tg_mlp *net)
{
    return net ? net->config.activation : (tg_activation)0;
}

int tg_mlp_hidden_count(const tg_mlp *net)
{
    return net ? net->count : 0;
}

int64_t tg_mlp_width(const tg_mlp *net, int layer)
{
    return net && layer >= 0 && layer < net->count ? net->config.hidden[layer] : 0;
}

/* ---- forward ---- */

/* x / sqrt(mean of x^2 over the last axis + epsilon) */
static tg_tensor over_root_mean_square(tg_tensor x)
{
    const double epsilon = 1e-6;
    tg_tensor mean = tg_mean_over(tg_square(x), (tg_axes){.count = 1, .axis = {-1}}, true);
    return tg_mul(x, tg_rsqrt(tg_add_scalar(mean, epsilon)));
}

tg_tensor tg_mlp_forward_with(const tg_mlp *net, tg_tensor x, tg_rng *training, tg_mlp_trace *trace)
{
    tg_tape *tape = tg_tape_of(x);
    if (trace)
        *trace = (tg_mlp_trace){.count = net ? net->count : 0};
    if (!net) {
        tg_tape_fail(tape, "tg_mlp_forward: no net: tg_mlp_new gave NULL; tg_mlp_config_error may tell why");
        return TG_NONE;
    }
    for (int i = 0; i < net->count; i++) {
        tg_scope_begin(tape, net->names[i]);
        x = tg_hidden_layer_forward(&net->hidden[i], x, training, trace ? &trace->preactivation[i] : NULL);
        if (tames_products(net))
            x = over_root_mean_square(x);
        x = tg_dropout_forward(x, net->config.dropout, training);
        tg_scope_end(tape);
    }
    tg_scope_begin(tape, net->names[net->count]);
    x = tg_linear_layer_forward(&net->output, x);
    tg_scope_end(tape);
    return x;
}

tg_tensor tg_mlp_forward(const tg_mlp *net, tg_tensor x)
{
    return tg_mlp_forward_with(net, x, NULL, NULL);
}
