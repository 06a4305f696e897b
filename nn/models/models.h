/* The models of the library, models.def: the functions that each of them has, and a list.
 *
 *     tg_mlp *net = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 784, .hidden = {128}, .outputs = 10});
 *     if (!net)
 *         puts("out of memory, or see tg_mlp_config_error");
 *     ...
 *     tg_mlp_free(net);
 *
 *     for (int i = 0; tg_model_kind_at(i); i++)
 *         puts(tg_model_kind_at(i)->name);
 */
#ifndef TG_MODELS_H
#define TG_MODELS_H

#include "nn/models/autoencoder.h"
#include "nn/models/char_mlp.h"
#include "nn/models/char_rnn.h"
#include "nn/models/convnet.h"
#include "nn/models/mlp.h"
#include "nn/models/seq2seq.h"
#include "nn/models/transformer.h"
#include "nn/models/vit.h"

TG_API_BEGIN

/* NULL, or the error in the configuration. */
#define TG_MODEL(name) const char *tg_##name##_config_error(const tg_##name##_config *config);
#include "nn/models/models.def"

/* A model with initial weights; biases are 0, or 1 where gates begin open
 * (docs/initial-weights.md). `rng` is not advanced: models from one generator have the same weights
 * (up to the gain) where names and shapes agree. NULL if out of memory or if the configuration is wrong. */
#define TG_MODEL(name) tg_##name *tg_##name##_new(const tg_rng *rng, const tg_##name##_config *config);
#include "nn/models/models.def"

#define TG_MODEL(name) void tg_##name##_free(tg_##name *model);
#include "nn/models/models.def"

/* The model's parameters; they belong to it. */
#define TG_MODEL(name) tg_parameters *tg_##name##_parameters(const tg_##name *model);
#include "nn/models/models.def"

/* In the order of models.def; NULL past the end. */
const tg_model_kind *tg_model_kind_at(int index);

TG_API_END
#endif
