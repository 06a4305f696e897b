/* Depthwise convolution: every channel has its own window (Chollet, "Xception", arXiv 1610.02357).
 *
 *     y[b, c] = weight[c] * x[b, c] + bias[c]           * is the cross-correlation, padded so that
 *                                                       images keep their size
 */
#include <tapegrad.h>

typedef struct depthwise {
    tg_parameter *weight; /* [channels, 1, kernel, kernel] */
    tg_parameter *bias;   /* [channels] */
} depthwise;

/* Adds NAME.weight and NAME.bias, zeros until the model is initialised. `kernel` is odd. */
static depthwise depthwise_add(tg_parameters *set, const char *name, int64_t channels, int64_t kernel)
{
    const depthwise layer = {
        tg_parameters_add(set, tg_name_in(name, "weight").text, TG_SHAPE(channels, 1, kernel, kernel), true),
        tg_parameters_add(set, tg_name_in(name, "bias").text, TG_SHAPE(channels), false)};
    tg_parameter_initial(layer.weight, (tg_initial){.gain = 1});
    return layer;
}

/* [batch, channels, height, width] -> the same. */
static tg_tensor depthwise_forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    const depthwise *layer = self->layer;
    tg_tape *tape = tg_tape_of(x);
    const int channels = (int)layer->weight->shape.dim[0], around = (int)layer->weight->shape.dim[2] / 2;
    (void)pass;
    return tg_conv2d(x, tg_parameter_tensor(tape, layer->weight), tg_parameter_tensor(tape, layer->bias),
                     (tg_window){.padding = {around, around}, .groups = channels});
}

static const tg_layer_kind depthwise_kind = {
    .name = "depthwise", .category = "layer", .size = sizeof(depthwise), .forward = depthwise_forward};
