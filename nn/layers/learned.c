#include "nn/layers/learned.h"

#include "nn/layers/layer_internal.h"

/* ---- the functions of x and w; w has x's shape or broadcasts to it ---- */

static tg_tensor prelu(tg_tensor x, tg_tensor w)
{
    const tg_tensor product = tg_mul(x, w);
    return tg_where(tg_relu(x), x, product);
}

static tg_tensor swish(tg_tensor x, tg_tensor w)
{
    return tg_mul(x, tg_sigmoid(tg_mul(x, w)));
}

static tg_tensor snake(tg_tensor x, tg_tensor w)
{
    const tg_tensor inverse = tg_exp(tg_neg(w));
    return tg_add(x, tg_mul(tg_square(tg_sin(tg_mul(x, tg_exp(w)))), inverse));
}

static const struct {
    const char *name;
    tg_tensor (*of)(tg_tensor x, tg_tensor w);
    double initial;
} functions[] = {[TG_LEARNED_PRELU] = {"prelu", prelu, 0.25},
                 [TG_LEARNED_SWISH] = {"swish", swish, 1},
                 [TG_LEARNED_SNAKE] = {"snake", snake, 0}};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

const char *tg_learned_name(tg_learned_function function)
{
    return (unsigned)function < FUNCTIONS ? functions[function].name : NULL;
}

/* ---- the layer ---- */

tg_learned tg_learned_add(tg_parameters *set, const char *name, tg_learned_function function, int64_t channels)
{
    const bool known = (unsigned)function < FUNCTIONS;
    const tg_learned layer = {
        function, tg_parameters_add(set, tg_name_in(name, "weight").text, TG_SHAPE(known ? channels : -1), false)};
    if (layer.weight)
        tg_parameter_fill(layer.weight, functions[function].initial);
    return layer;
}

tg_tensor tg_learned_forward(const tg_learned *layer, tg_tensor x)
{
    tg_tape *tape = tg_tape_of(x);
    if (!tg_layer_has(tape, "tg_learned_forward", layer ? layer->weight : NULL))
        return TG_NONE;
    tg_tensor w = tg_parameter_tensor(tape, layer->weight);
    if (tg_rank(x) == 4 && tg_size(w) > 1)
        w = tg_reshape(w, TG_SHAPE(tg_size(w), 1, 1));
    const tg_tensor y = functions[layer->function].of(x, w);
    if (tg_ok(y) && tg_rank(y) == tg_rank(x) && tg_size(y) == tg_size(x))
        return y;
    return TG_FAIL(tape, "tg_learned_forward: %s has %d channels, x has others", functions[layer->function].name,
                   (int)tg_size(w));
}

static tg_tensor forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    (void)pass;
    return tg_learned_forward(self->layer, x);
}

/* ---- samples ---- */

static tg_layer add(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    tg_learned *l = layer;
    const int64_t channels = x->rank == 4 ? x->dim[1] : tg_last(x);
    *l = tg_learned_add(set, name, (tg_learned_function)(sample % FUNCTIONS), sample == 4 ? 1 : channels);
    return (tg_layer){.kind = &tg_learned_kind, .layer = l};
}

static const tg_layer_sample samples[] = {{"prelu", "PReLU, a slope for each unit", tg_sample_rows},
                                          {"swish", "swish with a learned factor", tg_sample_rows},
                                          {"snake", "snake with a learned frequency", tg_sample_rows},
                                          {"prelu_images", "a slope for each channel", tg_sample_images},
                                          {"swish_one", "one factor for all channels", tg_sample_images},
                                          {0}};

const tg_layer_kind tg_learned_kind = {"learned", "layer", sizeof(tg_learned), forward, add, samples};
