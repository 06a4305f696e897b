#include "nn/models/mlp.h"

#include "nn/config_internal.h"
#include "nn/models/hidden_stack_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct tg_mlp {
    tg_mlp_config config;
    tg_parameters *parameters;
    tg_hidden_stack layers;
    tg_linear_layer output;
    char output_name[24]; /* "layers.2", say: of a scope on the tape too, so it lives as long as the net */
};

_Static_assert((int)TG_MLP_HIDDEN == (int)TG_HIDDEN_STACK, "a net has as many layers as a stack");

/* ---- configuration ---- */

const char *tg_mlp_config_error(const tg_mlp_config *config)
{
    if (!config)
        return "there is no configuration";
    if (!tg_is_size(config->inputs))
        return TG_SIZE_ERROR("the number of inputs");
    if (!tg_is_size(config->outputs))
        return TG_SIZE_ERROR("the number of outputs");
    if (tg_widths_error(config->hidden, tg_hidden_count(config->hidden)))
        return tg_widths_error(config->hidden, tg_hidden_count(config->hidden));
    if (!(config->gain >= 0 && isfinite(config->gain)))
        return "the gain must be a positive number, or 0 for that of the initialiser";
    return tg_hidden_error(config->activation, config->norm, config->dropout, config->init, config->dtype);
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
    int count = tg_hidden_count(config->hidden);
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

static bool build(tg_mlp *net, const tg_mlp_config *config, const tg_rng *rng)
{
    tg_mlp_config *c = &net->config;
    const int count = tg_hidden_count(config->hidden);
    *c = *config;
    tg_mlp_size(config, c->hidden);
    for (int i = 0; i < count; i++)
        net->layers.residual[i] = is_residual(config, i);
    tg_parameters *set = net->parameters = tg_parameters_new(c->dtype);
    snprintf(net->output_name, sizeof net->output_name, "layers.%d", count);
    tg_hidden_stack_add(&net->layers, set, "layers", c->inputs, c->hidden, count, c->activation, c->norm, !c->no_bias);
    net->output =
        tg_linear_layer_add(set, net->output_name, count ? c->hidden[count - 1] : c->inputs, c->outputs, !c->no_bias);
    tg_parameter_initial(net->output.weight, (tg_initial){.gain = tg_activation_gain(c->activation)});
    return tg_parameters_initialize(set, c->init, c->gain, rng);
}

tg_mlp *tg_mlp_new(const tg_rng *rng, const tg_mlp_config *config)
{
    tg_mlp *net = tg_mlp_config_error(config) ? NULL : calloc(1, sizeof *net);
    if (net && build(net, config, rng))
        return net;
    tg_mlp_free(net);
    return NULL;
}

void tg_mlp_free(tg_mlp *net)
{
    tg_parameters_free(tg_mlp_parameters(net));
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
    return net ? net->layers.count : 0;
}

int64_t tg_mlp_width(const tg_mlp *net, int layer)
{
    return net && layer >= 0 && layer < net->layers.count ? net->config.hidden[layer] : 0;
}

/* ---- forward ---- */

tg_tensor tg_mlp_forward_with(const tg_mlp *net, tg_tensor x, tg_rng *training, tg_mlp_trace *trace)
{
    tg_tape *tape = tg_tape_of(x);
    if (trace)
        *trace = (tg_mlp_trace){.count = tg_mlp_hidden_count(net)};
    if (!net) {
        tg_tape_fail(tape, "tg_mlp_forward: no net: tg_mlp_new gave NULL; tg_mlp_config_error may tell why");
        return TG_NONE;
    }
    x = tg_hidden_stack_forward(&net->layers, x, net->config.dropout, training, trace ? trace->preactivation : NULL);
    tg_scope_begin(tape, net->output_name);
    x = tg_linear_layer_forward(&net->output, x);
    tg_scope_end(tape);
    return x;
}

tg_tensor tg_mlp_forward(const tg_mlp *net, tg_tensor x)
{
    return tg_mlp_forward_with(net, x, NULL, NULL);
}
