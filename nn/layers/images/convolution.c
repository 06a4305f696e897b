#include "nn/layers/convolution.h"

#include "nn/layers/layer_internal.h"

tg_convolution tg_convolution_add(tg_parameters *set, const char *name, const tg_convolution_config *config)
{
    tg_convolution layer = {0};
    if (!config)
        return layer;
    layer.window = config->window;
    const int64_t groups = config->window.groups > 0 ? config->window.groups : 1;
    /* If the number of inputs is not a multiple of the groups, the weight has no inputs, so that no image fits. */
    const int64_t inputs = config->inputs % groups == 0 ? config->inputs / groups : 0;
    tg_shape shape = TG_SHAPE(config->outputs, inputs, config->kernel[0], config->kernel[1]);
    if (config->kernel[1] == 0)
        shape = TG_SHAPE(config->outputs, inputs, config->kernel[0]);
    layer.weight = tg_parameters_add(set, tg_name_in(name, "weight").text, shape, true);
    tg_parameter_initial(layer.weight, (tg_initial){.gain = 1});
    if (!config->no_bias)
        layer.bias = tg_parameters_add(set, tg_name_in(name, "bias").text, TG_SHAPE(config->outputs), false);
    return layer;
}

tg_tensor tg_convolution_forward(const tg_convolution *layer, tg_tensor x)
{
    tg_tape *tape = tg_tape_of(x);
    if (!tg_layer_has(tape, "tg_convolution_forward", layer ? layer->weight : NULL))
        return TG_NONE;
    tg_tensor weight = tg_parameter_tensor(tape, layer->weight);
    tg_tensor bias = layer->bias ? tg_parameter_tensor(tape, layer->bias) : TG_NONE;
    return layer->weight->shape.rank == 3 ? tg_conv1d(x, weight, bias, layer->window)
                                          : tg_conv2d(x, weight, bias, layer->window);
}

const char *tg_images_error(int64_t channels, int64_t height, int64_t width)
{
    const int64_t most = 1 << 15;
    const bool fine = channels >= 1 && channels <= most && height >= 1 && height <= most && width >= 1 && width <= most;
    return fine ? NULL : "channels, height and width of the images must be positive, 2^15 at most";
}

tg_tensor tg_images(tg_tensor x, int64_t channels, int64_t height, int64_t width)
{
    const int64_t batch = tg_dim(x, 0);
    char have[128];
    if (!tg_ok(x))
        return TG_NONE;
    const tg_shape shape = tg_shape_of(x), images = TG_SHAPE(batch, channels, height, width);
    if (shape.rank < 2 || tg_size(x) != tg_shape_size(&images))
        return TG_FAIL(
            tg_tape_of(x), "tg_images: expected [batch, %lld, %lld, %lld] or rows of as many numbers, got %s",
            (long long)channels, (long long)height, (long long)width, tg_shape_text(&shape, have, sizeof have));
    return tg_shape_equal(&shape, &images) ? x : tg_reshape(x, images);
}

static tg_tensor forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    (void)pass;
    return tg_convolution_forward(self->layer, x);
}

static const tg_convolution_config sample_config[] = {
    {.outputs = 3, .kernel = {2, 3}, .window = {.padding = {1, 1}}},
    {.outputs = 4,
     .kernel = {2, 2},
     .no_bias = true,
     .window = {.stride = {2, 1}, .padding = {1, 1}, .dilation = {1, 2}, .groups = 2}},
    {.outputs = 3, .kernel = {3}, .window = {.padding = {1}}}};

static tg_layer add(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    tg_convolution *l = layer;
    tg_convolution_config config = sample_config[sample];
    config.inputs = x->dim[1];
    *l = tg_convolution_add(set, name, &config);
    return (tg_layer){.kind = &tg_convolution_kind, .layer = l};
}

static const tg_shape sequences[] = {{3, {2, 2, 7}}, {3, {1, 4, 5}}, {0}};
static const tg_layer_sample samples[] = {
    {"images", "2d, padded", tg_sample_images},
    {"strided", "2d, stride and dilation of 2, in two groups, no bias", tg_sample_images},
    {"sequences", "1d, padded", sequences},
    {0}};

const tg_layer_kind tg_convolution_kind = {"convolution", "layer", sizeof(tg_convolution), forward, add, samples};
