/* Reading of descriptions. Internal to nn. */
#ifndef TG_SPEC_INTERNAL_H
#define TG_SPEC_INTERNAL_H

#include "nn/files/json_internal.h"
#include "nn/saved/spec.h"

/* Reads an object with the names of options.def, and the sizes; texts live as long as the object. False, with the
 * error, if something is missing or wrong. */
bool tg_model_spec_read(tg_model_spec *spec, const tg_json *object, tg_error *error);

#endif
