/* Internal to nn. */
#ifndef TG_TRAINING_STATE_INTERNAL_H
#define TG_TRAINING_STATE_INTERNAL_H

#include "nn/files/training_state.h"

/* Does the work of tg_training_state_load on an open file. */
bool tg_training_state_read(tg_training_state *state, tg_safetensors *file, const char *path, tg_error *error);

#endif
