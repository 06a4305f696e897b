/* A small net of depthwise separable convolutions: a window for every channel, then a mix of the channels.
 *
 *     x -> stem -> [depthwise -> pointwise -> batch norm -> GELU, + x] twice -> mean over positions -> head -> logits
 *
 *     separable_net *net = separable_net_new(TG_F32, 16, 2, &rng);
 *     tg_tensor logits = separable_net_forward(net, x, &training);       // [batch, 1, height, width] -> [batch, 2]
 */
#include "depthwise.h"
#include <stdlib.h>

enum { BLOCKS = 2 };

typedef struct separable_net {
    tg_parameters *parameters;
    tg_convolution stem;
    struct {
        depthwise depthwise;
        tg_convolution pointwise;
        tg_norm_layer norm;
    } blocks[BLOCKS];
    tg_linear_layer head;
} separable_net;

static void separable_net_free(separable_net *net)
{
    if (!net)
        return;
    tg_parameters_free(net->parameters);
    free(net);
}

/* A net with initial weights; NULL if out of memory. */
static separable_net *separable_net_new(tg_dtype dtype, int64_t channels, int64_t classes, const tg_rng *rng)
{
    separable_net *net = calloc(1, sizeof *net);
    if (!net)
        return NULL;
    tg_parameters *set = net->parameters = tg_parameters_new(dtype);
    net->stem = tg_convolution_add(
        set, "stem",
        &(tg_convolution_config){.inputs = 1, .outputs = channels, .kernel = {3, 3}, .window = {.padding = {1, 1}}});
    for (int i = 0; i < BLOCKS; i++) {
        char name[40];
        snprintf(name, sizeof name, "blocks.%d.depthwise", i);
        net->blocks[i].depthwise = depthwise_add(set, name, channels, 3);
        snprintf(name, sizeof name, "blocks.%d.pointwise", i);
        net->blocks[i].pointwise = tg_convolution_add(
            set, name,
            &(tg_convolution_config){.inputs = channels, .outputs = channels, .kernel = {1, 1}, .no_bias = true});
        snprintf(name, sizeof name, "blocks.%d.norm", i);
        net->blocks[i].norm = tg_norm_layer_add(set, name, TG_NORM_BATCH, channels, 0);
    }
    net->head = tg_linear_layer_add(set, "head", channels, classes, true);
    if (tg_parameters_initialize(set, TG_INIT_HE_NORMAL, 1, rng)) /* false where adding failed, too */
        return net;
    separable_net_free(net);
    return NULL;
}

/* `training` is the generator of a training pass, NULL means evaluation. */
static tg_tensor separable_net_forward(const separable_net *net, tg_tensor x, tg_rng *training)
{
    tg_tape *tape = tg_tape_of(x);
    x = tg_convolution_forward(&net->stem, x);
    for (int i = 0; i < BLOCKS; i++) {
        char name[16];
        snprintf(name, sizeof name, "blocks.%d", i);
        tg_scope_begin(tape, name);
        tg_tensor h = depthwise_forward(&net->blocks[i].depthwise, x);
        h = tg_norm_layer_forward(&net->blocks[i].norm, tg_convolution_forward(&net->blocks[i].pointwise, h), training);
        x = tg_add(x, tg_activate(TG_GELU_EXACT, h, training));
        tg_scope_end(tape);
    }
    return tg_linear_layer_forward(&net->head, tg_mean_over(x, TG_AXES(2, 3), false));
}
