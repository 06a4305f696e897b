/* Parts that several models have: hidden layers of perceptrons, and an output. */
#include "nn/models/model_internal.h"

#include <math.h>
#include <stdio.h>

int tg_hidden_count(const int64_t *widths, int most)
{
    int count = 0;
    while (count <= most && widths[count] != 0)
        count++;
    return count;
}

const char *tg_hidden_error(const int64_t *widths, int most, tg_activation activation, tg_norm norm, double dropout,
                            tg_dtype dtype)
{
    const int count = tg_hidden_count(widths, most);
    if (count > most)
        return most == TG_HIDDEN_MOST
                   ? "there are more than 64 hidden layers, or the list of their widths does not end with 0"
                   : "there are more than 31 hidden layers, or the list of their widths does not end with 0";
    for (int i = 0; i < count; i++)
        if (!tg_is_size(widths[i]))
            return TG_SIZE_ERROR("the width of a hidden layer");
    if (!tg_activation_name(activation))
        return "there is no such activation";
    if (!tg_norm_name(norm))
        return "there is no such normalisation";
    if (tg_dropout_error(dropout))
        return tg_dropout_error(dropout);
    return tg_dtype_error(dtype);
}

const char *tg_init_error(tg_init init, double scale)
{
    if (!tg_init_name(init))
        return "there is no such initialiser";
    return scale >= 0 && isfinite(scale) ? NULL : "the scale of initial weights must be positive, or 0 for 1";
}

/* For a batch or group norm the units are the channels, and all other axes are the batch. */
static tg_tensor normalize(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    const tg_norm_layer *norm = self->layer;
    if ((norm->kind != TG_NORM_BATCH && norm->kind != TG_NORM_GROUP) || tg_rank(x) == 2)
        return tg_norm_layer_forward(norm, x, pass->training);
    tg_tensor rows = tg_reshape(x, TG_SHAPE(-1, tg_dim(x, -1)));
    return tg_reshape(tg_norm_layer_forward(norm, rows, pass->training), tg_shape_of(x));
}

static const tg_layer_kind unit_norm = {.name = "unit_norm", .size = sizeof(tg_norm_layer), .forward = normalize};

/* The deviation of pre-activations that begin open; 0 if these do not. A square has no factor that bends it, and may
 * begin less straight than a product. */
static double opening(const tg_hidden_layers *h)
{
    const double alpha = (tg_activation_is_gated(h->activation) ? 0.3 : 0.6) * fmin(1, 8. / (3 * h->depth));
    return !h->no_bias && tg_activation_open_gain(h->activation, alpha) > 0 ? alpha : 0;
}

double tg_hidden_gain(const tg_hidden_layers *h)
{
    return h->count == 0             ? (h->first > 0 ? h->first : 1)
           : h->norm != TG_NORM_NONE ? 1
           : opening(h) > 0          ? tg_activation_open_gain(h->activation, opening(h))
                                     : tg_activation_gain(h->activation);
}

static void set_own(tg_parameter *parameter, double own)
{
    if (parameter)
        parameter->initial.own = own;
}

void tg_hidden_initial(const tg_hidden_layer *layer, double gain, const tg_hidden_layers *h)
{
    const double alpha = opening(h);
    set_own(layer->linear.weight, alpha > 0 ? alpha * gain : gain);
    set_own(layer->linear.bias, alpha > 0 ? 1 : 0);
    set_own(layer->value.weight, gain);
}

void tg_model_add_hidden(tg_model *model, const char *prefix, const tg_hidden_layers *h)
{
    int sums = 0;
    for (int i = 0; h->residual && i < h->count; i++)
        sums += h->residual[i];
    for (int i = 0; i < h->count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%.16s.%d", prefix, i);
        const int64_t groups = i > 0 && h->groups > 1 ? h->groups : 1, inputs = i > 0 ? h->widths[i - 1] : h->inputs;
        tg_hidden_layer hidden =
            tg_hidden_layer_add(model->parameters, name, inputs / groups, h->widths[i], h->activation, !h->no_bias);
        hidden.linear.groups = hidden.value.groups = groups;
        const tg_norm_layer norm =
            tg_norm_layer_add(model->parameters, tg_name_in(name, "norm").text, h->norm, h->widths[i], 0);
        tg_layer parts[3] = {tg_sequential_hidden(&hidden)};
        int count = 1; /* layers without an effect are left out */
        if (h->norm != TG_NORM_NONE)
            parts[count++] = (tg_layer){.kind = &unit_norm, .layer = &norm};
        if (h->dropout > 0)
            parts[count++] = tg_sequential_dropout(h->dropout);
        tg_layer unit = tg_sequential_of(parts, count);
        unit.residual = h->residual && h->residual[i];
        if (unit.residual)
            tg_parameter_initial(tg_activation_is_gated(h->activation) ? hidden.value.weight : hidden.linear.weight,
                                 (tg_initial){.gain = tg_activation_gain(h->activation), .sums = sums});
        tg_hidden_initial(&hidden, i > 0 ? tg_hidden_gain(h) : h->first > 0 ? h->first : 1, h);
        tg_model_add(model, name, unit);
    }
}

void tg_model_add_output(tg_model *model, const char *name, int64_t inputs, int64_t outputs, tg_activation activation,
                         double own, bool bias)
{
    const tg_linear_layer output = tg_linear_layer_add(model->parameters, name, inputs, outputs, bias);
    tg_parameter_initial(output.weight, (tg_initial){.gain = tg_activation_gain(activation), .own = own});
    tg_model_add(model, name, tg_sequential_linear(&output));
}
