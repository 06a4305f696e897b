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
    if (!tg_layer_has(tape, "tg_linear_layer_forward", layer ? layer->weight : NULL))
        return TG_NONE;
    const tg_tensor weight = tg_parameter_tensor(tape, layer->weight),
                    bias = layer->bias ? tg_parameter_tensor(tape, layer->bias) : TG_NONE;
    return layer->groups > 1 ? tg_grouped_linear(x, weight, bias, layer->groups) : tg_linear(x, weight, bias);
}

static tg_tensor forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    (void)pass;
    return tg_linear_layer_forward(self->layer, x);
}

static tg_layer add(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    tg_linear_layer *l = layer;
    const bool grouped = sample == 2;
    *l = grouped ? tg_linear_layer_add(set, name, 1, 2 * tg_last(x), true)
                 : tg_linear_layer_add(set, name, tg_last(x), tg_last(x) + 1, sample == 0);
    l->groups = grouped ? tg_last(x) : 1;
    return (tg_layer){.kind = &tg_linear_kind, .layer = l};
}

static const tg_layer_sample samples[] = {{"", "x W^T + b", tg_sample_rows},
                                          {"no_bias", "x W^T", tg_sample_rows},
                                          {"groups", "x W^T + b in groups of one input", tg_sample_rows},
                                          {0}};

const tg_layer_kind tg_linear_kind = {"linear_layer", "layer", sizeof(tg_linear_layer), forward, add, samples};
