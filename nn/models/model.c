#include "nn/models/model_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

static void free_layer(tg_layer layer)
{
    tg_layer *inner = (tg_layer *)(layer.kind == &tg_sequential_kind ? layer.layer : NULL);
    for (int i = 0; inner && i < layer.count; i++)
        free_layer(inner[i]);
    free((void *)layer.layer);
    free((char *)layer.name);
}

static char *copy_of(const void *bytes, size_t size)
{
    void *copy = malloc(size + 1);
    return copy && size ? memcpy(copy, bytes, size) : copy;
}

/* Owns its name and what it points to; false if out of memory. */
static bool own(tg_layer *layer, const char *name)
{
    const bool sequence = layer->kind == &tg_sequential_kind;
    const tg_layer *inner = sequence ? layer->layer : NULL;
    const size_t size = sequence ? (size_t)layer->count * sizeof *inner : layer->layer ? layer->kind->size : 0;
    tg_layer *copy = size ? (void *)copy_of(layer->layer, size) : NULL;
    bool fine = copy || !size;
    for (int i = 0; copy && inner && i < layer->count; i++) {
        copy[i].name = NULL; /* until it is a copy */
        copy[i].layer = NULL;
    }
    layer->layer = copy;
    layer->name = copy_of(name, strlen(name) + 1);
    for (int i = 0; fine && inner && i < layer->count; i++) {
        copy[i] = inner[i];
        fine = own(&copy[i], inner[i].name ? inner[i].name : "");
    }
    return fine && layer->name;
}

void tg_model_add(tg_model *model, const char *name, tg_layer layer)
{
    if (model->count == model->capacity) {
        const int capacity = 2 * model->capacity + 8;
        tg_layer *more = realloc(model->layers, (size_t)capacity * sizeof *more);
        model->failed |= !more;
        if (!more)
            return;
        model->layers = more;
        model->capacity = capacity;
    }
    model->failed |= !own(&layer, name);
    model->layers[model->count++] = layer;
}

const tg_rng tg_undrawn;

tg_model *tg_model_new(const tg_model_kind *kind, const tg_rng *rng, const void *config)
{
    if (!kind || !config || (kind->config_error && kind->config_error(config)))
        return NULL;
    tg_model *model = calloc(1, sizeof *model);
    if (!model)
        return NULL;
    model->kind = kind;
    model->config = copy_of(config, kind->config_size);
    if (model->config)
        kind->build(model, model->config);
    if (model->config && !model->failed &&
        (rng == &tg_undrawn || tg_parameters_initialize(model->parameters, model->init, model->scale, rng)))
        return model;
    tg_model_free(model);
    return NULL;
}

void tg_model_free(tg_model *model)
{
    if (!model)
        return;
    for (int i = 0; i < model->count; i++)
        free_layer(model->layers[i]);
    free(model->layers);
    tg_parameters_free(model->parameters);
    if (model->free_predictors)
        model->free_predictors(model->predictors);
    if (model->free_card)
        model->free_card(model->card);
    free(model->config);
    free(model);
}

tg_parameters *tg_model_parameters(const tg_model *model)
{
    return model ? model->parameters : NULL;
}

/* ---- forward ---- */

tg_tensor tg_model_run(const tg_model_kind *kind, const tg_model *model, tg_tensor x, tg_layer_pass *pass, int first,
                       int end)
{
    const char *name = kind ? kind->name : "model";
    if (!model)
        return TG_FAIL(tg_tape_of(x), "tg_%s_forward: no model: tg_%s_new gave NULL; tg_%s_config_error may say why",
                       name, name, name);
    if (kind && model->kind != kind)
        return TG_FAIL(tg_tape_of(x), "tg_%s_forward: the model is a %s", name, model->kind->name);
    if (first == 0 && model->kind->input && tg_ok(x))
        x = model->kind->input(model, x);
    return tg_layers_forward(model->layers + first, (end ? end : model->count) - first, x, pass);
}

tg_tensor tg_model_forward(const tg_model *model, tg_tensor x, tg_rng *training)
{
    return tg_model_forward_with(model, x, &(tg_layer_pass){training});
}

tg_tensor tg_model_forward_with(const tg_model *model, tg_tensor x, tg_layer_pass *pass)
{
    return tg_model_run(NULL, model, x, pass ? pass : &(tg_layer_pass){0}, 0, 0);
}

/* ---- accuracy ---- */

/* True if this one of n logits is the largest, and the first of equal ones; false if any is NaN. The logits have one of
 * the two types; the other pointer is NULL. */
static bool is_largest(const float *single, const double *twice, int64_t n, int64_t at)
{
    bool largest = at >= 0 && at < n;
    const double best = largest ? single ? (double)single[at] : twice[at] : 0;
    for (int64_t i = 0; largest && i < n; i++) {
        const double other = single ? (double)single[i] : twice[i];
        largest = i < at ? other < best : other <= best;
    }
    return largest;
}

double tg_accuracy(tg_tensor logits, tg_tensor labels)
{
    const int64_t classes = tg_dim(logits, -1), rows = classes ? tg_size(logits) / classes : 0;
    const int32_t *label = tg_i32(labels);
    int64_t counted = 0, right = 0;
    if (!label || tg_size(labels) != rows) {
        TG_FAIL(tg_tape_of(labels), "tg_accuracy: expected logits [..., classes] and labels [...] of i32");
        return NAN;
    }
    const float *single = tg_f32(logits);
    const double *twice = tg_f64(logits);
    for (int64_t r = 0; r < rows && (single || twice); r++) {
        counted += label[r] != TG_NO_LABEL;
        right +=
            is_largest(single ? single + r * classes : NULL, twice ? twice + r * classes : NULL, classes, label[r]);
    }
    return counted ? (double)right / (double)counted : NAN;
}
