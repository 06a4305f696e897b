#include "examples/gradcheck/layer_checks_internal.h"

#include "nn/layers/dropout.h"

/* ---- layers ---- */

#define ROWS                                                \
    {                                                       \
        {2, {3, 4}}, {1, {3}}, {3, {2, 3, 2}}, {2, {1, 1}}, \
        {                                                   \
            2,                                              \
            {                                               \
                0, 3                                        \
            }                                               \
        }                                                   \
    }

static int64_t last(tg_shape x)
{
    return x.dim[x.rank - 1];
}

static void add_linear(layer *l, tg_shape x)
{
    l->linear = tg_linear_layer_add(l->set, "linear", last(x), last(x) + 1, !l->check->convolution.no_bias);
}

static tg_tensor run_linear(const layer *l, tg_tensor x, tg_rng *training)
{
    (void)training;
    return tg_linear_layer_forward(&l->linear, x);
}

const layer_kind kind_linear = {"layer", add_linear, run_linear, .shapes = ROWS};

static void add_hidden(layer *l, tg_shape x)
{
    l->hidden = tg_hidden_layer_add(l->set, "hidden", last(x), last(x) + 1, l->check->activation, true);
}

static tg_tensor run_hidden(const layer *l, tg_tensor x, tg_rng *training)
{
    return tg_hidden_layer_forward(&l->hidden, x, training, NULL);
}

const layer_kind kind_hidden = {"layer", add_hidden, run_hidden, .shapes = ROWS};

static void add_feed_forward(layer *l, tg_shape x)
{
    l->feed_forward = tg_feed_forward_add(l->set, "block", last(x), 5, l->check->activation, true);
    l->feed_forward.dropout = 0.3;
}

static tg_tensor run_feed_forward(const layer *l, tg_tensor x, tg_rng *training)
{
    return tg_feed_forward_forward(&l->feed_forward, x, training);
}

const layer_kind kind_feed_forward = {"block", add_feed_forward, run_feed_forward, .shapes = ROWS};

static tg_tensor run_dropout(const layer *l, tg_tensor x, tg_rng *training)
{
    (void)l;
    return tg_dropout_forward(x, 0.3, training);
}

const layer_kind kind_dropout = {"layer", NULL, run_dropout, .shapes = {{2, {3, 4}}, {1, {3}}, {3, {2, 3, 2}}}};

static void add_norm(layer *l, tg_shape x)
{
    const bool channels = l->check->norm == TG_NORM_BATCH || l->check->norm == TG_NORM_GROUP;
    l->norm = tg_norm_layer_add(l->set, "norm", l->check->norm, channels ? x.dim[1] : last(x), 0);
    l->norm.groups = 2;
}

static tg_tensor run_norm(const layer *l, tg_tensor x, tg_rng *training)
{
    return tg_norm_layer_forward(&l->norm, x, training);
}

const layer_kind kind_norm = {"layer", add_norm, run_norm, .shapes = {{2, {3, 4}}, {3, {2, 4, 3}}, {4, {2, 2, 3, 2}}}};

static void add_convolution(layer *l, tg_shape x)
{
    tg_convolution_config config = l->check->convolution;
    config.inputs = x.dim[1];
    l->convolution = tg_convolution_add(l->set, "conv", &config);
}

static tg_tensor run_convolution(const layer *l, tg_tensor x, tg_rng *training)
{
    (void)training;
    return tg_convolution_forward(&l->convolution, x);
}

const layer_kind kind_images = {"layer", add_convolution, run_convolution,
                                .shapes = {{4, {2, 2, 4, 3}}, {4, {1, 4, 3, 5}}}};
const layer_kind kind_sequences = {"layer", add_convolution, run_convolution,
                                   .shapes = {{3, {2, 2, 7}}, {3, {1, 4, 5}}}};

static void add_conv_block(layer *l, tg_shape x)
{
    l->conv_block = tg_conv_block_add(
        l->set, "block",
        &(tg_conv_block_config){
            .inputs = x.dim[1], .outputs = 2, .norm = l->check->norm, .groups = 2, .activation = l->check->activation});
}

static tg_tensor run_conv_block(const layer *l, tg_tensor x, tg_rng *training)
{
    return tg_conv_block_forward(&l->conv_block, x, training);
}

const layer_kind kind_conv_block = {"block", add_conv_block, run_conv_block,
                                    .shapes = {{4, {2, 2, 4, 3}}, {4, {2, 1, 3, 3}}}};

static void add_embedding(layer *l, tg_shape x)
{
    (void)x;
    l->embedding = tg_embedding_layer_add(l->set, "embedding", 5, 3);
}

/* Tokens, and behind them positions. */
static tg_tensor run_embedding(const layer *l, tg_tensor x, tg_rng *training)
{
    (void)training;
    return tg_mul(tg_embedding_layer_forward(&l->embedding, x),
                  tg_embedding_layer_first(&l->embedding, tg_tape_of(x), tg_dim(x, -1)));
}

const layer_kind kind_embedding = {"layer", add_embedding, run_embedding, .shapes = {{2, {3, 4}}, {1, {5}}}, .ids = 5};

static tg_tensor run_rotary(const layer *l, tg_tensor x, tg_rng *training)
{
    const tg_rotary rotary = tg_rotary_angles(tg_tape_of(x), TG_F64, tg_dim(x, -2), tg_dim(x, -1), 10000);
    (void)l, (void)training;
    return tg_rotary_turn(&rotary, x);
}

const layer_kind kind_rotary = {"layer", NULL, run_rotary, .shapes = {{2, {3, 4}}, {4, {2, 2, 3, 2}}}};

/* ---- attention and blocks ---- */

enum { WIDTH = 4, HEADS = 2, HEAD = WIDTH / HEADS, BASE = 10000 };

#define SEQUENCES                               \
    {                                           \
        {3, {2, 3, WIDTH}}, {3, {1, 5, WIDTH}}, \
        {                                       \
            3,                                  \
            {                                   \
                1, 1, WIDTH                     \
            }                                   \
        }                                       \
    }

/* What a check asks for besides: rotated positions, and the last position of the first sequence hidden. */
typedef struct surroundings {
    tg_attention_context context;
    tg_rotary rotary;
} surroundings;

static const tg_attention_context *surround(const layer_check *check, tg_tensor x, surroundings *s)
{
    tg_tape *tape = tg_tape_of(x);
    const int64_t batch = tg_dim(x, 0), positions = tg_dim(x, 1);
    *s = (surroundings){.rotary = {{0}, {0}}};
    if (check->rotary) {
        s->rotary = tg_rotary_angles(tape, TG_F64, positions, HEAD, BASE);
        s->context.rotary = &s->rotary;
    }
    if (check->padded && positions > 1) {
        double keep[LAYER_ELEMENTS];
        for (int64_t i = 0; i < batch * positions; i++)
            keep[i] = i != positions - 1;
        s->context.padding = tg_constant(tape, TG_F64, keep, TG_SHAPE(batch, positions));
    }
    return &s->context;
}

static void add_attention(layer *l, tg_shape x)
{
    tg_attention_config config = l->check->attention;
    config.width = last(x);
    config.heads = HEADS;
    l->attention = tg_attention_add(l->set, "attention", &config);
}

static tg_tensor run_attention(const layer *l, tg_tensor x, tg_rng *training)
{
    surroundings s;
    return tg_attention_forward(&l->attention, x, surround(l->check, x, &s), training);
}

const layer_kind kind_attention = {"layer", add_attention, run_attention, .shapes = SEQUENCES};

static tg_block_config block_of(const layer_check *check)
{
    tg_block_config config = check->block(WIDTH, HEADS);
    config.dropout = config.attention.dropout = 0.2;
    config.recompute = check->recompute;
    return config;
}

static void add_block(layer *l, tg_shape x)
{
    const tg_block_config config = block_of(l->check);
    (void)x;
    l->block = tg_block_add(l->set, "block", &config);
}

static tg_tensor run_block(const layer *l, tg_tensor x, tg_rng *training)
{
    surroundings s;
    return tg_block_forward(&l->block, x, surround(l->check, x, &s), training);
}

const layer_kind kind_block = {"block", add_block, run_block, .shapes = SEQUENCES};

/* ---- models ---- */

/* Of images: a convolution, a pool, and behind them what has rows. */
static void add_sequential(layer *l, tg_shape x)
{
    l->sequence.conv =
        tg_convolution_add(l->set, "0", &(tg_convolution_config){.inputs = x.dim[1], .outputs = 2, .kernel = {2, 2}});
    l->sequence.norm = tg_norm_layer_add(l->set, "1", TG_NORM_LAYER, x.dim[3] - 1, 0);
    l->sequence.inner = tg_linear_layer_add(l->set, "4", 2 * (x.dim[2] - 2) * (x.dim[3] - 2), 6, true);
    l->sequence.last = tg_linear_layer_add(l->set, "6", 3, 3, false);
}

static tg_tensor run_sequential(const layer *l, tg_tensor x, tg_rng *training)
{
    const tg_layer branch[] = {tg_sequential_dropout(0.3), tg_sequential_activation(TG_TANH)};
    tg_layer net[] = {tg_sequential_convolution(&l->sequence.conv),
                      tg_sequential_norm(&l->sequence.norm),
                      tg_sequential_average_pool2d(2, 2, (tg_window){.stride = {1, 1}}),
                      tg_sequential_flatten(),
                      tg_sequential_linear(&l->sequence.inner),
                      tg_sequential_of(branch, 2),
                      tg_sequential_activation(TG_GLU),
                      tg_sequential_linear(&l->sequence.last)};
    net[5].residual = net[5].recompute = true;
    return tg_sequential_forward(net, 8, x, training);
}

const layer_kind kind_sequential = {"block", add_sequential, run_sequential,
                                    .shapes = {{4, {2, 2, 4, 3}}, {4, {3, 1, 3, 4}}}};

/* A model's functions are named alike: those that check it follow from its name and its configuration, which may go by
 * what `l->check` asks for and by the shape of x. */
#define MODEL(name, ...)                                                                       \
    static void add_##name(layer *l, tg_shape x)                                               \
    {                                                                                          \
        const tg_rng rng = tg_rng_seed(l->seed);                                               \
        const layer_check *check = l->check;                                                   \
        l->model = tg_##name##_new(&rng, &(tg_##name##_config){.dtype = TG_F64, __VA_ARGS__}); \
        l->set = tg_##name##_parameters(l->model);                                             \
        (void)check, (void)x;                                                                  \
    }                                                                                          \
    static void discard_##name(layer *l)                                                       \
    {                                                                                          \
        tg_##name##_free(l->model);                                                            \
    }
#define FORWARD(name)                                                          \
    static tg_tensor run_##name(const layer *l, tg_tensor x, tg_rng *training) \
    {                                                                          \
        return tg_##name##_forward(l->model, x, training);                     \
    }
#define KIND(name, ...) const layer_kind kind_##name = {"model", add_##name, run_##name, discard_##name, __VA_ARGS__}

MODEL(mlp, .inputs = last(x), .hidden = {6, check->residual ? 6 : 5}, .outputs = 3, .activation = check->activation,
      .norm = check->norm, .residual = check->residual, .dropout = 0.3)

static tg_tensor run_mlp(const layer *l, tg_tensor x, tg_rng *training)
{
    return tg_mlp_forward_with(l->model, x, training, NULL);
}

KIND(mlp, {{2, {3, 4}}, {2, {5, 3}}}, 0);

MODEL(autoencoder, .inputs = last(x), .hidden = {4}, .code = 2, .activation = check->activation, .norm = check->norm,
      .dropout = 0.3)
FORWARD(autoencoder)
KIND(autoencoder, {{2, {3, 5}}, {3, {2, 2, 3}}}, 0);

MODEL(char_mlp, .vocabulary = 5, .context = last(x), .embedding = 2, .hidden = {4}, .activation = check->activation,
      .norm = check->norm, .dropout = 0.3)
FORWARD(char_mlp)
KIND(char_mlp, {{2, {3, 2}}, {2, {1, 4}}}, 5);

MODEL(convnet, .channels = x.dim[1], .height = x.dim[2], .width = x.dim[3], .filters = {2, 3}, .outputs = 2,
      .activation = check->activation, .norm = check->norm, .dropout = 0.3, .recompute = check->recompute)
FORWARD(convnet)
KIND(convnet, {{4, {2, 1, 4, 4}}, {4, {2, 2, 4, 5}}}, 0);

MODEL(vit, .channels = x.dim[1], .height = x.dim[2], .width = x.dim[3], .patch = 2, .layers = 1,
      .block = block_of(check), .outputs = 3, .mean_pool = check->mean_pool, .dropout = 0.2)
FORWARD(vit)
KIND(vit, {{4, {2, 1, 4, 2}}, {4, {1, 2, 2, 4}}}, 0);

MODEL(transformer, .vocabulary = 5, .context = 4, .layers = 2, .block = block_of(check), .tied = !check->rotary,
      .rotary_base = check->rotary ? BASE : 0, .no_head = check->padded, .dropout = 0.2)

static tg_tensor run_transformer(const layer *l, tg_tensor x, tg_rng *training)
{
    surroundings s;
    const tg_attention_context *context = surround(&(layer_check){.padded = l->check->padded}, x, &s);
    return tg_transformer_forward_padded(l->model, x, context->padding, training);
}

KIND(transformer, {{2, {2, 3}}, {2, {1, 4}}}, 5);
