#include "nn/models/mlp.h"

#include "nn/models/model_internal.h"

#include <math.h>
#include <stdio.h>

_Static_assert((int)TG_MLP_HIDDEN == (int)TG_HIDDEN_MOST, "a net has as many hidden layers as any");

/* ---- configuration ---- */

static int64_t groups_of(const tg_mlp_config *config)
{
    return config->groups ? config->groups : 1;
}

static const char *config_error(const void *config)
{
    const tg_mlp_config *c = config;
    if (!tg_is_size(c->inputs))
        return TG_SIZE_ERROR("the number of inputs");
    if (!tg_is_size(c->outputs))
        return TG_SIZE_ERROR("the number of outputs");
    if (tg_init_error(c->init, c->scale))
        return tg_init_error(c->init, c->scale);
    const int64_t groups = groups_of(c);
    for (int i = 0; i < TG_MLP_HIDDEN && c->hidden[i] > 0; i++)
        if (groups < 1 || c->hidden[i] % groups != 0)
            return "the groups do not divide the width of a hidden layer";
    if (groups > 1 && tg_activation_is_gated(c->activation) && !c->equal_width)
        return "groups of a gated activation need equal_width";
    return tg_hidden_error(c->hidden, TG_MLP_HIDDEN, c->activation, c->norm, c->dropout, c->dtype);
}

/* ---- widths ---- */

/* Parameters of a net with these widths, as a double: it cannot overflow. */
static double size_of(const tg_mlp_config *config, int count, const int64_t *widths, bool gated)
{
    double size = 0, before = (double)config->inputs, bias = config->no_bias ? 0 : 1;
    for (int i = 0; i < count; i++) {
        size += (gated ? 2 : 1) * ((before / (i > 0 ? (double)groups_of(config) : 1) + bias) * (double)widths[i]);
        before = (double)widths[i];
    }
    return size + (before + bias) * (double)config->outputs;
}

/* Multiplies all widths by one factor, rounded down. */
static void scale_widths(const tg_mlp_config *config, int count, double factor, int64_t *widths)
{
    for (int i = 0; i < count; i++)
        widths[i] = (int64_t)fmax(1, factor * (double)config->hidden[i]);
}

/* True if this hidden layer has a residual connection; the configured widths decide, for gated nets too. */
static bool is_residual(const tg_mlp_config *config, int i)
{
    return config->residual && i > 0 && config->hidden[i] == config->hidden[i - 1];
}

static void widen(int64_t *widths, int first, int last, int64_t by)
{
    for (int i = first; i <= last; i++)
        widths[i] += by;
}

/* Finds the largest factor whose net is no larger than the plain one, then adds a unit to every layer that brings the
 * size closer; layers joined by a residual connection are widened together. */
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
    if (!config || config_error(config))
        return -1;
    int64_t own[TG_MLP_HIDDEN + 1];
    if (!widths)
        widths = own;
    int count = tg_hidden_count(config->hidden, TG_MLP_HIDDEN);
    bool gated = tg_activation_is_gated(config->activation);
    if (size_of(config, count, config->hidden, gated && config->equal_width) > 0x1p62)
        return -1;
    for (int i = 0; i <= count; i++)
        widths[i] = config->hidden[i];
    if (gated && !config->equal_width)
        fit_widths(config, count, widths);
    int64_t size = (int64_t)size_of(config, count, widths, gated);
    for (int i = 0; i < count; i++)
        size += tg_norm_parameters(config->norm, widths[i]) + tg_activation_number_count(config->activation, widths[i]);
    return size;
}

/* ---- the model ---- */

static void build(tg_model *model, void *config)
{
    tg_mlp_config *c = config;
    const int count = tg_hidden_count(c->hidden, TG_MLP_HIDDEN);
    bool residual[TG_MLP_HIDDEN];
    char output[24];
    for (int i = 0; i < count; i++)
        residual[i] = is_residual(c, i);
    const tg_mlp_config given = *c;
    tg_mlp_size(&given, c->hidden);
    model->parameters = tg_parameters_new(c->dtype);
    model->init = c->init;
    model->scale = c->scale;
    const tg_hidden_layers hidden = {.inputs = c->inputs,
                                     .widths = c->hidden,
                                     .count = count,
                                     .residual = residual,
                                     .activation = c->activation,
                                     .norm = c->norm,
                                     .dropout = c->dropout,
                                     .no_bias = c->no_bias,
                                     .groups = c->groups,
                                     .depth = count};
    tg_model_add_hidden(model, "layers", &hidden);
    /* Logits of three classes or more come to several times their first size; numbers, and logits of two classes, do
     * not. docs/initial-weights.md has what larger and smaller ones cost. */
    const double scale = c->regression || c->outputs < 3 ? 0.3 : 1;
    snprintf(output, sizeof output, "layers.%d", count);
    tg_model_add_output(model, output, count ? c->hidden[count - 1] : c->inputs, c->outputs, c->activation,
                        scale * tg_hidden_gain(&hidden), !c->no_bias);
}

#if !defined TG_NO_SAMPLES
static void configure(void *config, const tg_shape *x, int sample)
{
    static const tg_mlp_config samples[] = {{.activation = TG_GELU_EXACT},
                                            {.activation = TG_SWIGLU},
                                            {.activation = TG_SWIGLU, .norm = TG_NORM_RMS},
                                            {.activation = TG_RELU, .norm = TG_NORM_BATCH},
                                            {.activation = TG_STOCHASTIC_GELU},
                                            {.activation = TG_SILU, .residual = true},
                                            {.activation = TG_SWIGLU, .groups = 2, .equal_width = true}};
    tg_mlp_config *c = config;
    *c = samples[sample];
    c->inputs = tg_last(x);
    c->hidden[0] = 6;
    c->hidden[1] = c->residual ? 6 : c->groups ? 4 : 5;
    c->outputs = 3;
    c->dropout = 0.3;
    c->dtype = TG_F64;
}

static const tg_shape shapes[] = {{2, {3, 4}}, {2, {5, 3}}, {0}};
static const tg_layer_sample samples[] = {{"gelu_exact", "two hidden layers", shapes},
                                          {"swiglu", "two gated hidden layers", shapes},
                                          {"rms", "two gated hidden layers, RMSNorm behind each", shapes},
                                          {"batch", "BatchNorm in training, and dropout", shapes, .training = true},
                                          {"training", "a random activation, and dropout", shapes, .training = true},
                                          {"residual", "a residual sum around the second hidden layer", shapes},
                                          {"groups", "a second hidden layer in two groups", shapes},
                                          {0}};
#endif

const tg_model_kind tg_mlp_kind = {"mlp", sizeof(tg_mlp_config), config_error, build, NULL, configure, samples};

static const tg_mlp_config *config_of(const tg_mlp *net)
{
    return net && net->kind == &tg_mlp_kind ? net->config : NULL;
}

tg_activation tg_mlp_activation(const tg_mlp *net)
{
    return config_of(net) ? config_of(net)->activation : (tg_activation)0;
}

int tg_mlp_hidden_count(const tg_mlp *net)
{
    return config_of(net) ? tg_hidden_count(config_of(net)->hidden, TG_MLP_HIDDEN) : 0;
}

int64_t tg_mlp_width(const tg_mlp *net, int layer)
{
    return layer >= 0 && layer < tg_mlp_hidden_count(net) ? config_of(net)->hidden[layer] : 0;
}

tg_tensor tg_mlp_forward_with(const tg_mlp *net, tg_tensor x, tg_rng *training, tg_mlp_trace *trace)
{
    tg_layer_pass pass = {.training = training, .preactivation = trace ? trace->preactivation : NULL};
    if (trace)
        *trace = (tg_mlp_trace){.count = tg_mlp_hidden_count(net)};
    return tg_model_run(&tg_mlp_kind, net, x, &pass, 0, 0);
}

tg_tensor tg_mlp_forward(const tg_mlp *net, tg_tensor x)
{
    return tg_mlp_forward_with(net, x, NULL, NULL);
}
