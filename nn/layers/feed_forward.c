#include "nn/layers/feed_forward.h"

#include "nn/layers/dropout.h"
#include "nn/layers/layer_internal.h"

int64_t tg_gated_width(int64_t hidden)
{
    return hidden > 0 ? hidden / 3 * 2 + (hidden % 3 * 2 + 1) / 3 : 0;
}

tg_feed_forward tg_feed_forward_add(tg_parameters *set, const char *name, int64_t width, int64_t hidden,
                                    tg_activation activation, bool bias)
{
    bool gated = tg_activation_is_gated(activation);
    tg_feed_forward block = {0};
    block.hidden =
        tg_hidden_layer_add(set, gated ? name : tg_name_in(name, "fc1").text, width, hidden, activation, bias);
    block.out = tg_linear_layer_add(set, tg_name_in(name, gated ? "down_proj" : "fc2").text, hidden, width, bias);
    tg_parameter_initial(block.out.weight, (tg_initial){.gain = tg_activation_gain(activation)});
    return block;
}

tg_tensor tg_feed_forward_forward(const tg_feed_forward *block, tg_tensor x, tg_rng *training)
{
    tg_tensor h = tg_hidden_layer_forward(block ? &block->hidden : NULL, x, training, NULL);
    return tg_ok(h) ? tg_linear_layer_forward(&block->out, tg_dropout_forward(h, block->dropout, training)) : TG_NONE;
}

static tg_tensor forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    return tg_feed_forward_forward(self->layer, x, pass->training);
}

static const tg_activation sample_activation[] = {TG_GELU_EXACT, TG_RELU,
#define TG_GATED(constant, name, gate, product, level, spread, formula) constant,
#include "nn/activations.def"
                                                  TG_GELU_TANH};

static tg_layer add(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    tg_feed_forward *l = layer;
    *l = tg_feed_forward_add(set, name, tg_last(x), 5, sample_activation[sample], true);
    l->dropout = 0.3;
    return (tg_layer){.kind = &tg_feed_forward_kind, .layer = l};
}

static const tg_layer_sample samples[] = {
    {"gelu_exact", "the feed-forward layer of a transformer", tg_sample_rows},
    {"relu", "the same with relu", tg_sample_rows},
#define TG_GATED(constant, name, gate, product, level, spread, formula) \
    {#name, "the same, gated by " #name, tg_sample_rows},
#include "nn/activations.def"
    {"training", "with dropout of hidden units", tg_sample_rows, .training = true},
    {0}};

const tg_layer_kind tg_feed_forward_kind = {"feed_forward", "block", sizeof(tg_feed_forward), forward, add, samples};
