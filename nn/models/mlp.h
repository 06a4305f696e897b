/* The multi-layer perceptron: hidden layers with an activation, plain or gated, then a linear layer.
 *
 *     tg_rng rng = tg_rng_seed(1);
 *     tg_mlp *net = tg_mlp_new(&rng, &(tg_mlp_config){
 *         .inputs = 784, .hidden = {128, 128}, .outputs = 10, .activation = TG_GELU_EXACT});
 *     tg_optimizer *adamw = tg_optimizer_new(tg_mlp_parameters(net), &(tg_optimizer_config){.lr = 1e-3});
 *     ...
 *     tg_tensor logits = tg_mlp_forward(net, x);       // [..., 784] -> [..., 10]
 *
 *     x --layers.0--> act --layers.1--> act --layers.2--> logits
 *
 * Parameters are named layers.N.weight [out, in] and layers.N.bias, as of the linear layers of PyTorch's
 * Sequential; hidden layers with a gated activation have layers.N.gate_proj.* and layers.N.up_proj.* instead.
 *
 * A hidden layer with a gated activation is act(x W^T + b) (x V^T + c), as published and as in tg_feed_forward. A stack
 * of products is a polynomial whose degree doubles with every layer, so a deep one trains better with normalisation:
 * `norm` adds a normalisation with weights layers.N.norm.* after every hidden layer's activation, gated or not.
 * `residual` adds the input of a hidden layer to its output, in every hidden layer after one of the same width (He et
 * al., 2016):
 *
 *     h' = h + dropout(norm(act(h W^T + b)))
 *
 * Each residual connection would double the variance of h. So the initial weights of these n layers (of gated ones V,
 * see tg_hidden_layer) are divided by sqrt(n), as in GPT-2 (Radford et al., 2019).
 *
 * With `groups`, each group of units of a hidden layer reads its own group of the layer before, with weights [out, in /
 * groups]; all of the first layer read x, and all of the last are read. So one net is the mean, or another linear
 * function, of several narrow ones.
 */
#ifndef TG_MLP_H
#define TG_MLP_H

#include "nn/layers/hidden_layer.h"
#include "nn/layers/norm.h"
#include "nn/models/model.h"

TG_API_BEGIN

enum { TG_MLP_HIDDEN = 64 }; /* maximum number of hidden layers */

typedef struct tg_mlp_config {
    int64_t inputs;
    int64_t hidden[TG_MLP_HIDDEN + 1]; /* widths, ended by 0; none: a linear model */
    int64_t outputs;
    tg_activation activation; /* 0: gelu_exact */
    double dropout;           /* rate after every hidden layer in training; 0: none */
    tg_init init;             /* 0: the default */
    double scale;             /* factor of all initial weights; 0: 1 */
    tg_dtype dtype;           /* 0: TG_F32 */
    bool regression; /* the outputs are numbers, whose weights begin small, and not logits of classes; one or two
                        outputs begin so anyway (docs/initial-weights.md) */
    bool no_bias;
    bool equal_width; /* gated: the widths as given, instead of the narrower ones of tg_mlp_size */
    tg_norm norm;     /* after every hidden layer's activation; 0: none */
    bool residual;    /* a residual connection around every hidden layer after one of the same width */
    int groups;       /* hidden layers after the first are in so many groups, see above; 0: 1 */
} tg_mlp_config;

/* Returns the number of parameters of such a net and writes the widths of its hidden layers. A gated layer has two
 * matrices where a plain one has one. So by default all widths of a gated net are scaled by one factor and rounded,
 * some up and some down, so that its number of parameters is as close as possible to that of the plain net of the given
 * widths; with `residual`, neighbouring layers of equal width stay equal. This comparison ignores the parameters of
 * normalisations, which are few and the same for both. The returned number includes them, but not the running
 * statistics of batch norm. -1, with nothing written, for a wrong configuration, or for more than 2^62 parameters. */
int64_t tg_mlp_size(const tg_mlp_config *config, int64_t widths[TG_MLP_HIDDEN + 1]);

/* tg_mlp_new, and all else that every model has: nn/models/models.h. */
typedef tg_model tg_mlp;

/* The activation, and the number of hidden layers. */
tg_activation tg_mlp_activation(const tg_mlp *net);
int tg_mlp_hidden_count(const tg_mlp *net);
int64_t tg_mlp_width(const tg_mlp *net, int layer);

/* x [..., inputs] -> [..., outputs], in evaluation: without dropout or other randomness. */
tg_tensor tg_mlp_forward(const tg_mlp *net, tg_tensor x);

/* Intermediate results: the input of each hidden layer's activation. */
typedef struct tg_mlp_trace {
    int count;
    tg_tensor preactivation[TG_MLP_HIDDEN]; /* [..., width of the layer] */
} tg_mlp_trace;

/* tg_mlp_forward with options: `training`, the generator of a training pass, from which dropout and stochastic
 * activations draw (NULL: evaluation), and a trace to fill (NULL: none). */
tg_tensor tg_mlp_forward_with(const tg_mlp *net, tg_tensor x, tg_rng *training, tg_mlp_trace *trace);

TG_API_END
#endif
