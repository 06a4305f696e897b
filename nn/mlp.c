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
    tg_norm_layer norm[TG_MLP_HIDDEN];
    bool residual[TG_MLP_HIDDEN]; /* whether a sum goes around this hidden layer */
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
    if (!(config->gain >= 0 && isfinite(config->gain)))
        return "the gain must be a positive number, or 0 for that of the initialiser";
    if (!tg_norm_name(config->norm))
        return "there is no such normalisation";
    if (!tg_dtype_is_floating(config->dtype))
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

/* Whether a sum goes around this hidden layer, by the widths as given: so in plain and gated nets alike. */
static bool is_residual(const tg_mlp_config *config, int i)
{
    return config->residual && i > 0 && config->hidden[i] == config->hidden[i - 1];
}

static void widen(int64_t *widths, int first, int last, int64_t by)
{
    for (int i = first; i <= last; i++)
        widths[i] += by;
}

/* The largest factor whose net is no larger than the plain one, and from there one more unit in every layer
 * that comes closer with it; layers that a sum ties together widen together. */
static void fit_widths(const tg_mlp_config *config, int count, int64_t *widths)
{
    double target = size_of(config, count, config->hidden, false), low = 0, high = 1;
    for (int halving = 0; halving < 60; halving++) {
        double middle = (low + high) / 2;
        scale_widths(config, count, middle, widths);
        *(size_of(config, count, widths, true) <= target ? &low : &high) = middle;
    }
    scale_widths(config, count, low, widths);
    for (int last = count - 1, first; last >= 0; last = first - 1) {
        for (first = last; is_residual(config, first);)
            first--;
        double error = fabs(size_of(config, count, widths, true) - target);
        widen(widths, first, last, 1);
        if (fabs(size_of(config, count, widths, true) - target) >= error)
            widen(widths, first, last, -1);
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
    int64_t size = (int64_t)size_of(config, count, widths, gated);
    for (int i = 0; i < count; i++)
        size += tg_norm_parameters(config->norm, widths[i]);
    return size;
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
        char name[32];
        snprintf(name, sizeof name, "%s.norm", net->names[i]);
        net->norm[i] = tg_norm_layer_add(net->parameters, name, config->norm, config->hidden[i], 0);
        before = config->hidden[i];
    }
    net->output = tg_linear_layer_add(net->parameters, net->names[net->count], before, config->outputs,
                                      !config->no_bias);
}

static bool initialize(const tg_mlp *net, const tg_rng *rng)
{
    const tg_mlp_config *config = &net->config;
    const double gain = config->gain != 0 ? config->gain : tg_init_gain(config->init, config->activation);
    int sums = 0;
    for (int i = 0; i < net->count; i++)
        sums += net->residual[i];
    for (int i = 0; i < net->count; i++) {
        const tg_hidden_layer *layer = &net->hidden[i];
        tg_parameter *last = tg_activation_is_gated(config->activation) ? layer->value.weight : layer->linear.weight;
        if (!tg_hidden_layer_initialize(layer, config->init, gain, rng) ||
            (net->residual[i] && !tg_initialize(last, config->init, gain / sqrt(sums), rng)))
            return false;
    }
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
    for (int i = 0; i < net->count; i++)
        net->residual[i] = is_residual(config, i);
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

/* For a batch or group norm the units are the channels and all the rest is the batch. */
static tg_tensor normalize(const tg_norm_layer *norm, tg_tensor x, tg_rng *training)
{
    if ((norm->kind != TG_NORM_BATCH && norm->kind != TG_NORM_GROUP) || tg_rank(x) == 2)
        return tg_norm_layer_forward(norm, x, training);
    tg_tensor rows = tg_reshape(x, TG_SHAPE(-1, tg_dim(x, -1)));
    return tg_reshape(tg_norm_layer_forward(norm, rows, training), tg_shape_of(x));
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
        tg_tensor y = tg_hidden_layer_forward(&net->hidden[i], x, training, trace ? &trace->preactivation[i] : NULL);
        y = normalize(&net->norm[i], y, training);
        y = tg_dropout_forward(y, net->config.dropout, training);
        x = net->residual[i] ? tg_add(x, y) : y;
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
