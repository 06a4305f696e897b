/* Depthwise convolution: every channel with a window of its own (Chollet, "Xception", arXiv 1610.02357).
 *
 *     y[b, c] = weight[c] * x[b, c] + bias[c]           * is the cross-correlation, padded so that images keep their
 * size
 *
 *     depthwise layer = depthwise_add(set, "blocks.0.depthwise", 16, 3);
 *     tg_tensor y = depthwise_forward(&layer, x);       // [batch, 16, height, width] -> the same
 */
#include <stdio.h>
#include <tapegrad.h>

typedef struct depthwise {
    tg_parameter *weight; /* [channels, 1, kernel, kernel] */
    tg_parameter *bias;   /* [channels] */
} depthwise;

/* Adds NAME.weight and NAME.bias, zeros. `kernel` is odd. */
static depthwise depthwise_add(tg_parameters *set, const char *name, int64_t channels, int64_t kernel)
{
    char full[TG_NAME_SIZE + 1]; /* a name that is cut here is too long for the set, which remembers the error */
    depthwise layer;
    snprintf(full, sizeof full, "%s.weight", name);
    layer.weight = tg_parameters_add(set, full, TG_SHAPE(channels, 1, kernel, kernel), true);
    tg_parameter_initial(layer.weight, (tg_initial){.gain = 1});
    snprintf(full, sizeof full, "%s.bias", name);
    layer.bias = tg_parameters_add(set, full, TG_SHAPE(channels), false);
    return layer;
}

static tg_tensor depthwise_forward(const depthwise *layer, tg_tensor x)
{
    tg_tape *tape = tg_tape_of(x);
    if (!layer->weight || !layer->bias) {
        tg_tape_fail(tape, "depthwise_forward: the layer has no weight; tg_parameters_error tells why");
        return TG_NONE;
    }
    const int channels = (int)layer->weight->shape.dim[0], around = (int)layer->weight->shape.dim[2] / 2;
    return tg_conv2d(x, tg_parameter_tensor(tape, layer->weight), tg_parameter_tensor(tape, layer->bias),
                     (tg_window){.padding = {around, around}, .groups = channels});
}
