#include "nn/models/vit.h"

#include "nn/layers/embedding.h"
#include "nn/models/model_internal.h"
#include "nn/models/sequences/blocks.h"

static const char *config_error(const void *config)
{
    const tg_vit_config *c = config;
    if (tg_images_error(c->channels, c->height, c->width))
        return tg_images_error(c->channels, c->height, c->width);
    if (c->patch < 1 || c->height % c->patch != 0 || c->width % c->patch != 0)
        return "the side of the patches must divide height and width of the images";
    if (!tg_is_size(c->outputs))
        return TG_SIZE_ERROR("the number of outputs");
    if (tg_blocks_error(c->layers, &c->block))
        return tg_blocks_error(c->layers, &c->block);
    if (tg_init_error(c->init, c->scale))
        return tg_init_error(c->init, c->scale);
    return tg_dropout_error(c->dropout) ? tg_dropout_error(c->dropout) : tg_dtype_error(c->dtype);
}

/* ---- its own layers ---- */

typedef struct patches {
    tg_convolution convolution;
    tg_parameter *class_token; /* NULL with mean_pool */
    tg_embedding_layer positions;
} patches;

/* Images [batch, channels, height, width] -> tokens [batch, tokens, width], positions added. */
static tg_tensor embed(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    const patches *p = self->layer;
    tg_tape *tape = tg_tape_of(x);
    (void)pass;
    if (!tg_ok(x))
        return TG_NONE;
    const int64_t batch = tg_dim(x, 0), width = p->positions.weight->shape.dim[1],
                  tokens = p->positions.weight->shape.dim[0];
    x = tg_convolution_forward(&p->convolution, x);
    x = tg_transpose(tg_reshape(x, TG_SHAPE(batch, width, p->class_token ? tokens - 1 : tokens)), 1, 2);
    if (p->class_token) {
        tg_tensor first = tg_expand(tg_parameter_tensor(tape, p->class_token), TG_SHAPE(batch, 1, width));
        x = tg_concat((const tg_tensor[]){first, x}, 2, 1);
    }
    return tg_add(x, tg_embedding_layer_first(&p->positions, tape, tokens));
}

static tg_tensor pool(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    const bool mean = self->count;
    const int64_t width = tg_dim(x, 2);
    (void)pass;
    x = mean ? tg_mean_over(x, TG_AXES(1), false) : tg_slice(x, 1, 0, 1, 1);
    return tg_reshape(x, TG_SHAPE(tg_dim(x, 0), width));
}

static const tg_layer_kind patches_kind = {.name = "patches", .size = sizeof(patches), .forward = embed},
                           pool_kind = {.name = "pool_tokens", .forward = pool};

/* ---- the model ---- */

static void build(tg_model *model, void *config)
{
    const tg_vit_config *c = config;
    const int64_t width = c->block.attention.width;
    const int side = (int)c->patch;
    tg_parameters *set = model->parameters = tg_parameters_new(c->dtype);
    model->init = c->init == TG_INIT_DEFAULT ? TG_INIT_XAVIER_UNIFORM : c->init;
    model->scale = c->scale;
    patches p = {0};
    p.convolution = tg_convolution_add(
        set, "patch_embedding",
        &(tg_convolution_config){
            .inputs = c->channels, .outputs = width, .kernel = {side, side}, .window = {.stride = {side, side}}});
    if (!c->mean_pool)
        p.class_token = tg_parameters_add(set, "class_token", TG_SHAPE(1, 1, width), false);
    const int64_t tokens = (c->height / c->patch) * (c->width / c->patch) + (c->mean_pool ? 0 : 1);
    p.positions = tg_embedding_layer_add(set, "position_embedding", tokens, width);
    tg_parameter_initial(p.positions.weight, (tg_initial){.deviation = 0.02});
    tg_model_add(model, "embedding", (tg_layer){.kind = &patches_kind, .layer = &p});
    tg_model_add_blocks(model, "", c->layers, &c->block, c->dropout);
    const tg_linear_layer head = tg_linear_layer_add(set, "head", width, c->outputs, true);
    tg_parameter_initial(head.weight, (tg_initial){0});
    tg_model_add(model, "head", (tg_layer){.kind = &pool_kind, .count = c->mean_pool});
    tg_model_add(model, "head", tg_sequential_linear(&head));
}

static tg_tensor images(const tg_model *model, tg_tensor x)
{
    const tg_vit_config *c = model->config;
    return tg_images(x, c->channels, c->height, c->width);
}

static void configure(void *config, const tg_shape *x, int sample)
{
    tg_vit_config *c = config;
    *c = (tg_vit_config){.channels = x->dim[1],
                         .height = x->dim[2],
                         .width = x->dim[3],
                         .patch = 2,
                         .layers = 1,
                         .block = tg_block_vit(4, 2),
                         .outputs = 3,
                         .mean_pool = sample == 1,
                         .dropout = 0.2,
                         .dtype = TG_F64};
    c->block.dropout = c->block.attention.dropout = 0.2;
}

static const tg_shape shapes[] = {{4, {2, 1, 4, 2}}, {4, {1, 2, 2, 4}}, {0}};
static const tg_layer_sample samples[] = {{"", "patches, a class token, a block", shapes},
                                          {"training", "the mean of all tokens, and dropout", shapes, .training = true},
                                          {0}};

const tg_model_kind tg_vit_kind = {"vit", sizeof(tg_vit_config), config_error, build, images, configure, samples};

tg_tensor tg_vit_forward(const tg_vit *model, tg_tensor x, tg_rng *training)
{
    return tg_model_run(&tg_vit_kind, model, x, &(tg_layer_pass){training}, 0, 0);
}
