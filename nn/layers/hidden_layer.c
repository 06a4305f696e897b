#include "nn/layers/hidden_layer.h"

#include "nn/layers/layer_internal.h"

tg_hidden_layer tg_hidden_layer_add(tg_parameters *set, const char *name, int64_t inputs, int64_t outputs,
                                    tg_activation activation, bool bias)
{
    tg_hidden_layer layer = {.activation = activation};
    if (!tg_activation_is_gated(activation)) {
        layer.linear = tg_linear_layer_add(set, name, inputs, outputs, bias);
        tg_parameter_initial(layer.linear.weight, (tg_initial){.gain = tg_activation_gain(activation)});
        layer.numbers = tg_activation_add_numbers(set, name, activation, outputs);
        return layer;
    }
    layer.linear = tg_linear_layer_add(set, tg_name_in(name, "gate_proj").text, inputs, outputs, bias);
    layer.value = tg_linear_layer_add(set, tg_name_in(name, "up_proj").text, inputs, outputs, bias);
    layer.numbers = tg_activation_add_numbers(set, name, activation, outputs);
    return layer;
}

tg_tensor tg_hidden_layer_forward(const tg_hidden_layer *layer, tg_tensor x, tg_rng *training, tg_tensor *preactivation)
{
    tg_tensor linear = tg_linear_layer_forward(layer ? &layer->linear : NULL, x);
    if (tg_ok(linear))
        linear = tg_norm_layer_forward(&layer->norm, linear, training);
    if (preactivation)
        *preactivation = linear;
    if (!tg_ok(linear))
        return TG_NONE;
    const tg_tensor value =
        tg_activation_is_gated(layer->activation) ? tg_linear_layer_forward(&layer->value, x) : TG_NONE;
    return tg_activate_with(layer->activation, &layer->numbers, linear, value, training);
}

static tg_tensor forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    tg_tensor preactivation;
    const tg_tensor y = tg_hidden_layer_forward(self->layer, x, pass->training, &preactivation);
    if (pass->preactivation)
        *pass->preactivation++ = preactivation;
    return y;
}

static tg_layer add(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    enum {
#define TG_PLAIN(constant, ...) OF_##constant,
#define TG_GATED(constant, ...) OF_##constant,
#include "nn/activations.def"
        NORMALISED
    };
    const bool normalised = sample == NORMALISED;
    const int64_t units = tg_last(x) + 1;
    tg_hidden_layer *l = layer;
    *l = tg_hidden_layer_add(set, name, tg_last(x), units, normalised ? TG_SWIGLU : (tg_activation)sample, true);
    if (normalised)
        l->norm = tg_norm_layer_add(set, tg_name_in(name, "gate_norm").text, TG_NORM_RMS, units, 0);
    return (tg_layer){.kind = &tg_hidden_kind, .layer = l};
}

/* One for each activation, in their order; and one with a norm. */
static const tg_layer_sample samples[] = {
#define TG_PLAIN(constant, name, gain, evaluation, random, formula) \
    {#name, "a linear layer, and " #name, tg_sample_rows, .training = true},
#define TG_GATED(constant, name, gate, product, level, spread, formula) TG_PLAIN(constant, name, 0, 0, 0, formula)
#include "nn/activations.def"
    {"swiglu.norm", "swiglu whose gate is normalised", tg_sample_rows, .training = true}, {0}};

const tg_layer_kind tg_hidden_kind = {"hidden_layer", "layer", sizeof(tg_hidden_layer), forward, add, samples};
