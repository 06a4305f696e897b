#include "nn/layers/hidden_layer.h"

#include "nn/layers/layer_internal.h"

tg_hidden_layer tg_hidden_layer_add(tg_parameters *set, const char *name, int64_t inputs, int64_t outputs,
                                    tg_activation activation, bool bias)
{
    tg_hidden_layer layer = {.activation = activation};
    if (!tg_activation_is_gated(activation)) {
        layer.linear = tg_linear_layer_add(set, name, inputs, outputs, bias);
        tg_parameter_initial(layer.linear.weight, (tg_initial){.gain = tg_activation_gain(activation)});
        return layer;
    }
    layer.linear = tg_linear_layer_add(set, tg_name_in(name, "gate_proj").text, inputs, outputs, bias);
    layer.value = tg_linear_layer_add(set, tg_name_in(name, "up_proj").text, inputs, outputs, bias);
    return layer;
}

tg_tensor tg_hidden_layer_forward(const tg_hidden_layer *layer, tg_tensor x, tg_rng *training, tg_tensor *preactivation)
{
    tg_tensor linear = tg_linear_layer_forward(layer ? &layer->linear : NULL, x);
    if (preactivation)
        *preactivation = linear;
    if (!tg_ok(linear))
        return TG_NONE;
    if (!tg_activation_is_gated(layer->activation))
        return tg_activate(layer->activation, linear, training);
    return tg_activate_gated(layer->activation, linear, tg_linear_layer_forward(&layer->value, x));
}
