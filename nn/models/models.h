/* The models of the library, models.def, as a list.
 *
 *     for (int i = 0; tg_model_kind_at(i); i++)
 *         puts(tg_model_kind_at(i)->name);
 */
#ifndef TG_MODELS_H
#define TG_MODELS_H

#include "nn/models/model.h"

TG_API_BEGIN

/* In the order of models.def; NULL past the end. */
const tg_model_kind *tg_model_kind_at(int index);

TG_API_END
#endif
