#include "nn/layers/linear.h"

#include "nn/init.h"
#include "nn/layers/layer_internal.h"

tg_linear_layer tg_linear_layer_add(tg_parameters *set, const char *name, int64_t inputs, int64_t outputs, bool bias)
{
    tg_linear_layer layer = {0};
    layer.weight = tg_parameters_add(set, tg_name_in(name, "weight").text, TG_SHAPE(outputs, inputs), true);
    tg_parameter_initial(layer.weight, (tg_initial){.gain = 1});
    if (bias)
        layer.bias = tg_parameters_add(set, tg_name_in(name, "bias").text, TG_SHAPE(outputs), false);
    return layer;
}

tg_tensor tg_linear_layer_forward(const tg_linear_layer *layer, tg_tensor x)
{
    tg_tape *tape = tg_tape_of(x);
    if (!layer || !layer->weight) {
        tg_tape_fail(tape, "tg_linear_layer_forward: the layer has no weight; tg_parameters_error tells why");
        return TG_NONE;
    }
    tg_tensor weight = tg_parameter_tensor(tape, layer->weight);
    return tg_linear(x, weight, layer->bias ? tg_parameter_tensor(tape, layer->bias) : TG_NONE);
}
