/* Convolutions over images and over sequences, as in PyTorch: cross-correlations with a sliding window.
 *
 *     tg_convolution conv = tg_convolution_add(set, "conv1", &(tg_convolution_config){
 *         .inputs = 3, .outputs = 16, .kernel = {3, 3}, .window = {.padding = {1, 1}}});
 *     tg_tensor y = tg_convolution_forward(&conv, x);         // [batch, 3, height, width] -> [batch, 16, ...]
 *
 * Strides, padding, dilation and groups are those of tg_window. As many groups as inputs make a depthwise convolution.
 */
#ifndef TG_CONVOLUTION_H
#define TG_CONVOLUTION_H

#include "nn/init.h"
#include "nn/layers/layer.h"

TG_API_BEGIN

typedef struct tg_convolution_config {
    int64_t inputs, outputs;
    int64_t kernel[2]; /* {height, width}, or {length, 0} for sequences [batch, channels, length] */
    tg_window window;
    bool no_bias;
} tg_convolution_config;

typedef struct tg_convolution {
    tg_parameter *weight; /* [outputs, inputs / groups, kernel height, kernel width], or without the width */
    tg_parameter *bias;   /* [outputs], or NULL */
    tg_window window;
} tg_convolution;

/* Adds NAME.weight and NAME.bias to the set, both zero. The set remembers errors. */
tg_convolution tg_convolution_add(tg_parameters *set, const char *name, const tg_convolution_config *config);

/* x [batch, inputs, height, width] -> [batch, outputs, height', width'], or without the widths; the window determines
 * height' and width' as in tg_conv2d and tg_conv1d. Shapes that do not fit, and a layer that was not added, are errors
 * of the tape. */
tg_tensor tg_convolution_forward(const tg_convolution *layer, tg_tensor x);

/* Reshapes x [batch, ...] to images [batch, channels, height, width], for data sets that store an image as a row of
 * pixels. An error unless each row has channels height width numbers. */
tg_tensor tg_images(tg_tensor x, int64_t channels, int64_t height, int64_t width);

/* NULL, or the error in these image sizes: to check a model's configuration. */
const char *tg_images_error(int64_t channels, int64_t height, int64_t width);

TG_API_END
#endif
