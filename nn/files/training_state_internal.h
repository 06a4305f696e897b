/* Internal to nn. */
#ifndef TG_TRAINING_STATE_INTERNAL_H
#define TG_TRAINING_STATE_INTERNAL_H

#include "nn/files/training_state.h"

/* tg_training_state_load from a file that is open. */
bool tg_training_state_read(tg_training_state *state, tg_safetensors *file, const char *path, tg_error *error);

#endif
