/* The exponential moving average of a model's weights, which is often better than the last weights themselves.
 *
 *     tg_ema *ema = tg_ema_new(set, &(tg_ema_config){.decay = 0.999});
 *     ...
 *     if (!tg_backward(loss) || !tg_optimizer_step(adamw) || !tg_ema_update(ema))
 *         return false;
 *     ...
 *     tg_ema_swap(ema);          // the model has the averages ...
 *     evaluate(model);
 *     tg_ema_swap(ema);          // ... and its own weights again
 *
 *     average = decay average + (1 - decay) weight          after every step
 *
 * The first update copies, as in PyTorch's AveragedModel.
 *
 * Parameters without a gradient, the running statistics of a batch norm, are copied. The averages are a parameter set
 * with the model's names, so tg_parameters_save can write them.
 */
#ifndef TG_EMA_H
#define TG_EMA_H

#include "autograd/parameters.h"

TG_API_BEGIN

typedef struct tg_ema_config {
    double decay; /* 0: 0.999 */
    bool warmup;  /* for short runs: update t, from 0, has the decay (1 + t) / (10 + t) if that is smaller */
} tg_ema_config;

typedef struct tg_ema tg_ema;

/* An average of this set, which must be complete and must outlive the average. NULL if out of memory, for a set with an
 * error, or for a decay outside of 0 to 1. */
tg_ema *tg_ema_new(tg_parameters *set, const tg_ema_config *config);
void tg_ema_free(tg_ema *ema);

/* Updates the averages with the current weights. False, with nothing done and the reason in tg_ema_error, while they
 * are swapped, or if the set has grown since the average was made. */
bool tg_ema_update(tg_ema *ema);

/* Swaps weights and averages; call it between steps. False, with nothing done, if the set has grown; but weights that
 * are swapped out can still be swapped back. */
bool tg_ema_swap(tg_ema *ema);
bool tg_ema_is_swapped(const tg_ema *ema);

/* Why the last update or swap was refused; NULL if it was not. */
const char *tg_ema_error(const tg_ema *ema);

/* The averages under the model's names; they belong to the ema. */
tg_parameters *tg_ema_parameters(const tg_ema *ema);

/* Gets and sets the number of updates; a run that resumes sets it (nn/files/training_state.h stores averages and
 * number). False for a negative number. */
int64_t tg_ema_updates(const tg_ema *ema);
bool tg_ema_restore(tg_ema *ema, int64_t updates);

TG_API_END
#endif
