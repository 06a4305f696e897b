/* What a model is: a list of layers and the set of their parameters. MLP, transformer and the others build their lists
 * from a configuration. The same functions make, run and free all of them, and your own:
 *
 *     static void build(tg_model *model, void *config)
 *     {
 *         const tiny_config *c = config;
 *         tg_parameters *set = model->parameters = tg_parameters_new(c->dtype);
 *         const tg_linear_layer first = tg_linear_layer_add(set, "first", c->inputs, 32, true),
 *                               last = tg_linear_layer_add(set, "last", 32, c->outputs, true);
 *         tg_model_add(model, "first", tg_sequential_linear(&first));                    // a copy of the layer
 *         tg_model_add(model, "first", tg_sequential_activation(TG_TANH));
 *         tg_model_add(model, "last", tg_sequential_linear(&last));
 *     }
 *     static const tg_model_kind tiny_kind = {.name = "tiny", .config_size = sizeof(tiny_config), .build = build};
 *     ...
 *     tg_model *net = tg_model_new(&tiny_kind, &rng, &(tiny_config){.inputs = 4, .outputs = 2});
 *     tg_tensor logits = tg_model_forward(net, x, &training);
 */
#ifndef TG_MODEL_H
#define TG_MODEL_H

#include "nn/layers/layer.h"

TG_API_BEGIN

typedef struct tg_model tg_model;

typedef struct tg_model_kind {
    const char *name;
    size_t config_size;

    /* NULL, or the error in the configuration. */
    const char *(*config_error)(const void *config);

    /* Makes the set and adds the layers. `config` is the model's own copy. The set remembers errors. */
    void (*build)(tg_model *model, void *config);

    /* Converts x for the first layer; TG_NONE, with an error on the tape, if it cannot. NULL: no conversion. */
    tg_tensor (*input)(const tg_model *model, tg_tensor x);

    /* Samples, as for a layer. `configure` sets the configuration of a sample, in double, for this shape of x. */
    void (*configure)(void *config, const tg_shape *x, int sample);
    const tg_layer_sample *samples;
} tg_model_kind;

struct tg_model {
    const tg_model_kind *kind;
    void *config;
    tg_parameters *parameters;
    tg_layer *layers;
    int count, capacity;
    tg_init init; /* initialiser and scale for tg_parameters_initialize; build sets them */
    double scale;
    bool failed; /* out of memory while layers were added */
    void *card;  /* what its file says about the data (nn/saved/card.h), freed by free_card with the model; else NULL */
    void (*free_card)(void *card);
    void *
        predictors; /* what tg_model_predict keeps from call to call (nn/saved/saved.h), freed with the model; or NULL */
    void (*free_predictors)(void *predictors);
};

/* A model with initial weights. `rng` is not advanced. NULL if out of memory or if the configuration is wrong. */
tg_model *tg_model_new(const tg_model_kind *kind, const tg_rng *rng, const void *config);
void tg_model_free(tg_model *model);

/* Adds a copy of the layer, and of its inner layers if it is a sequence. `name` is its scope on the tape, "" for none.
 */
void tg_model_add(tg_model *model, const char *name, tg_layer layer);

/* The model's parameters; they belong to it. */
tg_parameters *tg_model_parameters(const tg_model *model);

/* Passes x through all layers. `training` is the generator of a training pass, NULL means evaluation, as does a NULL
 * pass. */
tg_tensor tg_model_forward(const tg_model *model, tg_tensor x, tg_rng *training);
tg_tensor tg_model_forward_with(const tg_model *model, tg_tensor x, tg_layer_pass *pass);

/* The fraction of rows, 0 to 1, whose largest logit is that of their label. Rows with label TG_NO_LABEL do not count; a
 * row with a NaN counts as wrong. logits [..., classes], f32 or f64, labels i32 [...]. NaN if no row counts.
 * Other shapes or types are an error of the tape. */
double tg_accuracy(tg_tensor logits, tg_tensor labels);

/* The library's models, tg_mlp_kind and so on. */
#define TG_MODEL(name) extern const tg_model_kind tg_##name##_kind;
#include "nn/models/models.def"

TG_API_END
#endif
