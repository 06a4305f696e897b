/* The layers of nn as functions that the gradient checker can check: with respect to their input and all parameters.
 *
 *     for (int i = 0; layer_check_at(i); i++) {
 *         tg_gradcheck_result result = layer_check_run(layer_check_at(i), &(tg_gradcheck_options){.order = 2});
 *         printf("%s: %s\n", layer_check_at(i)->name, result.why);
 *     }
 */
#ifndef GRADCHECK_LAYER_CHECKS_H
#define GRADCHECK_LAYER_CHECKS_H

#include "autograd/gradcheck.h"
#include "nn/activation.h"

typedef enum layer_kind {
    LAYER_LINEAR,
    LAYER_LINEAR_WITHOUT_BIAS,
    LAYER_HIDDEN,
    LAYER_FEED_FORWARD,
    LAYER_DROPOUT,
    LAYER_MLP,
    LAYER_MLP_IN_TRAINING, /* with dropout */
} layer_kind;

typedef struct layer_check {
    const char *name;
    layer_kind kind;
    tg_activation activation;
} layer_check;

/* The checks in order; NULL past the end, or if none has that name. */
const layer_check *layer_check_at(int index);
const layer_check *layer_check_find(const char *name);

/* Checks the layer with random numbers in all its parameters, on inputs of several shapes; `samples` of the result counts
 * these. */
tg_gradcheck_result layer_check_run(const layer_check *check, const tg_gradcheck_options *options);

#endif
