/* A small net of depthwise separable convolutions: a window for every channel, then a 1 x 1 convolution across
 * channels.
 *
 *     x -> stem -> [depthwise -> pointwise -> batch norm -> GELU, + x] twice -> mean over positions -> head -> logits
 *
 *     tg_model *net = tg_model_new(&separable_net_kind, &rng, &(separable_net_config){.channels = 16, .classes = 2});
 *     tg_tensor logits = tg_model_forward(net, x, &training);       // [batch, 1, height, width] -> [batch, 2]
 */
#include "depthwise.h"
#include <stdio.h>

typedef struct separable_net_config {
    int64_t channels, classes;
    tg_dtype dtype;
} separable_net_config;

static tg_tensor mean_forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    (void)self, (void)pass;
    return tg_mean_over(x, TG_AXES(2, 3), false);
}

static const tg_layer_kind mean_kind = {.name = "mean", .forward = mean_forward};

static void separable_net_build(tg_model *model, void *config)
{
    const separable_net_config *c = config;
    tg_parameters *set = model->parameters = tg_parameters_new(c->dtype);
    model->init = TG_INIT_HE_NORMAL;
    const tg_convolution stem = tg_convolution_add(
        set, "stem",
        &(tg_convolution_config){.inputs = 1, .outputs = c->channels, .kernel = {3, 3}, .window = {.padding = {1, 1}}});
    tg_model_add(model, "", tg_sequential_convolution(&stem));
    for (int i = 0; i < 2; i++) {
        char name[16];
        snprintf(name, sizeof name, "blocks.%d", i);
        const depthwise window = depthwise_add(set, tg_name_in(name, "depthwise").text, c->channels, 3);
        const tg_convolution pointwise = tg_convolution_add(
            set, tg_name_in(name, "pointwise").text,
            &(tg_convolution_config){.inputs = c->channels, .outputs = c->channels, .kernel = {1, 1}, .no_bias = true});
        const tg_norm_layer norm = tg_norm_layer_add(set, tg_name_in(name, "norm").text, TG_NORM_BATCH, c->channels, 0);
        const tg_layer parts[] = {{.kind = &depthwise_kind, .layer = &window},
                                  tg_sequential_convolution(&pointwise),
                                  tg_sequential_norm(&norm),
                                  tg_sequential_activation(TG_GELU_EXACT)};
        tg_layer block = tg_sequential_of(parts, 4);
        block.residual = true;
        tg_model_add(model, name, block);
    }
    const tg_linear_layer head = tg_linear_layer_add(set, "head", c->channels, c->classes, true);
    tg_model_add(model, "", (tg_layer){.kind = &mean_kind});
    tg_model_add(model, "", tg_sequential_linear(&head));
}

static const tg_model_kind separable_net_kind = {
    .name = "separable_net", .config_size = sizeof(separable_net_config), .build = separable_net_build};
