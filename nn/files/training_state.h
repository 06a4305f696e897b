/* The whole state of a run in one file: parameters, the optimiser's state, generators, a position. A run that resumes
 * from it continues as if it had never stopped.
 *
 *     tg_update_state kept = tg_optimizer_state(adamw);
 *     tg_training_state state = {.parameters = set, .update = &kept, .rng = {&dropout, &shuffle}, .position = step};
 *     tg_training_state_save(&state, "run.safetensors", NULL, 0, &error);
 *     ...
 *     if (tg_training_state_load(&state, "run.safetensors", &error))        // into the same places
 *         tg_optimizer_restore(adamw, state.update), step = state.position;
 *
 * It is a safetensors file: parameters under their names, the optimiser's blocks as optimizer.0.NAME and
 * optimizer.1.NAME, averages as ema.NAME, and the few other numbers, exactly, in the metadata. tg_parameters_load reads
 * the parameters alone with allow_unknown.
 */
#ifndef TG_TRAINING_STATE_H
#define TG_TRAINING_STATE_H

#include "autograd/update.h"
#include "nn/ema.h"
#include "nn/files/safetensors.h"

TG_API_BEGIN

enum { TG_TRAINING_GENERATORS = 4 };

typedef struct tg_training_state {
    tg_parameters *parameters;
    tg_update_state *update;             /* NULL: without an optimiser */
    tg_ema *ema;                         /* NULL: without an average of the weights */
    tg_rng *rng[TG_TRAINING_GENERATORS]; /* NULL: unused */
    int64_t position;                    /* yours: number of steps, rows, ... */
} tg_training_state;

/* Writes the file as tg_parameters_save does, together with your own metadata. */
bool tg_training_state_save(const tg_training_state *state, const char *path, const tg_metadata *metadata, int count,
                            tg_error *error);

/* Reads values, blocks, *update, averages, the generators and the position, and discards the gradients. The file must
 * have the same parameters, in the same type, the same optimiser (by name and number of blocks) and the same
 * generators. False, with the error and nothing changed, if it differs or cannot be read. */
bool tg_training_state_load(tg_training_state *state, const char *path, tg_error *error);

TG_API_END
#endif
