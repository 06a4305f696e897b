#include "examples/gradcheck/layer_checks.h"

#include "examples/gradcheck/check_table.h"
#include "nn/dropout.h"
#include "nn/feed_forward.h"
#include "nn/mlp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIDDEN(word, number)                                                                                 \
    {                                                                                                        \
        "hidden_layer." word, LAYER_HIDDEN, number                                                           \
    }
#define BLOCK(word, number)                                                                                  \
    {                                                                                                        \
        "feed_forward." word, LAYER_FEED_FORWARD, number                                                     \
    }

static const layer_check checks[] = {
    {"linear_layer", LAYER_LINEAR, TG_IDENTITY},
    {"linear_layer.no_bias", LAYER_LINEAR_WITHOUT_BIAS, TG_IDENTITY},
    HIDDEN("gelu_exact", TG_GELU_EXACT),
    HIDDEN("gelu_tanh", TG_GELU_TANH),
    HIDDEN("gelu_quick", TG_GELU_QUICK),
    HIDDEN("stochastic_gelu", TG_STOCHASTIC_GELU),
    HIDDEN("silu", TG_SILU),
    HIDDEN("mish", TG_MISH),
    HIDDEN("relu", TG_RELU),
    HIDDEN("leaky_relu", TG_LEAKY_RELU),
    HIDDEN("elu", TG_ELU),
    HIDDEN("selu", TG_SELU),
    HIDDEN("hardswish", TG_HARDSWISH),
    HIDDEN("softplus", TG_SOFTPLUS),
    HIDDEN("tanh", TG_TANH),
    HIDDEN("sigmoid", TG_SIGMOID),
    HIDDEN("identity", TG_IDENTITY),
    HIDDEN("glu", TG_GLU),
    HIDDEN("bilinear", TG_BILINEAR),
    HIDDEN("reglu", TG_REGLU),
    HIDDEN("geglu", TG_GEGLU),
    HIDDEN("swiglu", TG_SWIGLU),
    BLOCK("gelu_exact", TG_GELU_EXACT),
    BLOCK("relu", TG_RELU),
    BLOCK("glu", TG_GLU),
    BLOCK("bilinear", TG_BILINEAR),
    BLOCK("reglu", TG_REGLU),
    BLOCK("geglu", TG_GEGLU),
    BLOCK("swiglu", TG_SWIGLU),
    {"dropout_layer", LAYER_DROPOUT, TG_IDENTITY},
    {"mlp.gelu_exact", LAYER_MLP, TG_GELU_EXACT},
    {"mlp.swiglu", LAYER_MLP, TG_SWIGLU},
    {"mlp.training", LAYER_MLP_IN_TRAINING, TG_STOCHASTIC_GELU},
};

enum { CHECKS = sizeof checks / sizeof checks[0] };

const layer_check *layer_check_at(int index)
{
    return index >= 0 && index < CHECKS ? &checks[index] : NULL;
}

const layer_check *layer_check_find(const char *name)
{
    for (int i = 0; i < CHECKS; i++)
        if (strcmp(checks[i].name, name) == 0)
            return &checks[i];
    return NULL;
}

/* ---- a layer -------------------------------------------------------------------------------------------------- */

typedef struct layer {
    const layer_check *check;
    uint64_t seed;      /* of what is random in training */
    tg_parameters *set; /* owned, except that of `net` */
    tg_linear_layer linear;
    tg_hidden_layer hidden;
    tg_feed_forward block;
    tg_mlp *net;
} layer;

static void add_mlp(layer *l, int64_t inputs, int64_t outputs)
{
    tg_rng rng = tg_rng_seed(l->seed);
    l->net = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = inputs,
                                               .hidden = {6, 5},
                                               .outputs = outputs,
                                               .activation = l->check->activation,
                                               .dropout = l->check->kind == LAYER_MLP_IN_TRAINING ? 0.3 : 0,
                                               .dtype = TG_F64});
    l->set = tg_mlp_parameters(l->net);
}

static bool make(layer *l, int64_t inputs, int64_t outputs)
{
    const layer_check *check = l->check;
    if (check->kind == LAYER_MLP || check->kind == LAYER_MLP_IN_TRAINING)
        add_mlp(l, inputs, outputs);
    else
        l->set = tg_parameters_new(TG_F64);
    if (!l->set)
        return false;
    if (check->kind == LAYER_LINEAR || check->kind == LAYER_LINEAR_WITHOUT_BIAS)
        l->linear = tg_linear_layer_add(l->set, "linear", inputs, outputs, check->kind == LAYER_LINEAR);
    if (check->kind == LAYER_HIDDEN)
        l->hidden = tg_hidden_layer_add(l->set, "hidden", inputs, outputs, check->activation, true);
    if (check->kind == LAYER_FEED_FORWARD)
        l->block = tg_feed_forward_add(l->set, "block", inputs, outputs, check->activation, true);
    if (tg_parameters_error(l->set))
        return false;
    tg_rng rng = tg_rng_seed(l->seed);
    rng = tg_rng_stream(&rng, "parameters");
    double *values = tg_parameters_values(l->set);
    for (int64_t i = 0; i < tg_parameters_size(l->set); i++)
        values[i] = 0.7 * tg_rng_normal(&rng);
    return true;
}

static void discard(layer *l)
{
    if (l->net)
        tg_mlp_free(l->net);
    else
        tg_parameters_free(l->set);
}

static tg_tensor forward(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    const layer *l = user;
    tg_rng training = tg_rng_seed(l->seed); /* the same in each call */
    (void)tape, (void)count;
    switch (l->check->kind) {
    case LAYER_LINEAR:
    case LAYER_LINEAR_WITHOUT_BIAS:
        return tg_linear_layer_forward(&l->linear, inputs[0]);
    case LAYER_HIDDEN:
        return tg_hidden_layer_forward(&l->hidden, inputs[0], &training, NULL);
    case LAYER_FEED_FORWARD:
        return tg_feed_forward_forward(&l->block, inputs[0], &training);
    case LAYER_DROPOUT:
        return tg_dropout_forward(inputs[0], 0.3, &training);
    case LAYER_MLP:
        return tg_mlp_forward(l->net, inputs[0]);
    case LAYER_MLP_IN_TRAINING:
        return tg_mlp_forward_with(l->net, inputs[0], &training, NULL);
    }
    return (tg_tensor){0};
}

/* ---- a check ---------------------------------------------------------------------------------------------------- */

enum { MOST_INPUTS = 16, MOST_ELEMENTS = 64 };

static tg_gradcheck_result refuse(const layer *l)
{
    tg_gradcheck_result result = {
        .status = TG_GRADCHECK_REFUSED, .sample = -1, .input = -1, .index = -1, .operation = -1};
    const char *error = l->set ? tg_parameters_error(l->set) : NULL;
    snprintf(result.why, sizeof result.why, "%s", error ? error : "out of memory, or too many parameters");
    return result;
}

static tg_gradcheck_result check_shape(const layer_check *check, tg_shape shape, int64_t outputs,
                              const tg_gradcheck_options *options)
{
    layer l = {.check = check, .seed = options->seed};
    double x[MOST_ELEMENTS];
    tg_rng rng = tg_rng_seed(options->seed);
    rng = tg_rng_stream(&rng, check->name);
    for (int i = 0; i < MOST_ELEMENTS; i++)
        x[i] = tg_rng_normal(&rng);
    bool made = make(&l, shape.dim[shape.rank - 1], outputs);
    int parameters = made ? tg_parameters_count(l.set) : 0;
    tg_gradcheck_result result;
    if (made && parameters < MOST_INPUTS) {
        tg_gradcheck_input inputs[MOST_INPUTS] = {{.name = "x", .shape = shape, .data = x}};
        for (int i = 0; i < parameters; i++)
            inputs[i + 1].parameter = tg_parameters_at(l.set, i);
        result = tg_gradcheck(forward, &l, inputs, parameters + 1, options);
    } else
        result = refuse(&l);
    discard(&l);
    return result;
}

tg_gradcheck_result layer_check_run(const layer_check *check, const tg_gradcheck_options *options)
{
    static const struct {
        tg_shape shape;
        int64_t outputs;
    } cases[] = {{{2, {3, 4}}, 5}, {{1, {3}}, 2}, {{3, {2, 3, 2}}, 3}, {{2, {1, 1}}, 1}, {{2, {0, 3}}, 2}};
    tg_gradcheck_result total = check_shape(check, cases[0].shape, cases[0].outputs, options);
    for (size_t i = 1; i < sizeof cases / sizeof cases[0]; i++) {
        tg_gradcheck_result next = check_shape(check, cases[i].shape, cases[i].outputs, options);
        if (tg_shape_size(&cases[i].shape) == 0 && next.status == TG_GRADCHECK_REFUSED && next.comparisons == 0 &&
            check->kind == LAYER_DROPOUT)
            continue; /* without elements and parameters there is nothing to compare */
        gradcheck_result_join(&total, &next);
        total.samples += next.samples;
    }
    if (total.passed)
        return total;
    char why[sizeof total.why];
    snprintf(why, sizeof why, "%s: %.700s", check->name, total.why);
    memcpy(total.why, why, sizeof why);
    return total;
}
