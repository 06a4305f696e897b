/* The layers, blocks and models whose derivatives are checked: all samples of the library's tables,
 * nn/layers/layers.def and nn/models/models.def.
 *
 *     for (int i = 0; layer_check_at(i); i++) {
 *         tg_gradcheck_result result = layer_check_run(layer_check_at(i), &(tg_gradcheck_options){.order = 2});
 *         puts(result.why);
 *     }
 */
#pragma once

#include "autograd/gradcheck.h"
#include "nn/models/model.h"

typedef struct layer_check {
    char name[64]; /* "mlp.swiglu" */
    const char *about;
    const tg_layer_kind *layer; /* what is checked: a layer, */
    const tg_model_kind *model; /* or a model */
    const tg_layer_sample *sample;
    int number; /* of the sample */
} layer_check;

/* The checks in order; NULL past the end. */
const layer_check *layer_check_at(int index);

/* "layer", "block" or "model". */
const char *layer_check_category(const layer_check *check);

/* Checks the layer with random parameters, on inputs of several shapes; `samples` of the result counts the shapes.
 * Layers are checked element by element, blocks and models along random directions first. */
tg_gradcheck_result layer_check_run(const layer_check *check, const tg_gradcheck_options *options);
