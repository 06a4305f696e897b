/* Shared by models. Internal to nn. */
#ifndef TG_MODEL_INTERNAL_H
#define TG_MODEL_INTERNAL_H

#include "nn/layers/block.h"
#include "nn/layers/layer_internal.h"
#include "nn/layers/sequential.h"
#include "nn/models/model.h"

/* Passes x through layers first .. end - 1 of a model of this kind; end 0: all. No model, or one of another kind, is an
 * error of the tape. */
tg_tensor tg_model_run(const tg_model_kind *kind, const tg_model *model, tg_tensor x, tg_layer_pass *pass, int first,
                       int end);

#endif
