/* A forward and a backward pass over some rows. */
#include "nn/fit/fit_internal.h"

#include "autograd/ops.h"

#include <math.h>

double tg_fit_pass(tg_fit *fit, int64_t number, int64_t shard, int64_t first, int64_t count, double share)
{
    const tg_fit_config *config = &fit->config;
    const int64_t of_run = (fit->step * config->accumulate + number) * config->shards + shard;
    tg_tensor batch[TG_FIT_COLUMNS];
    tg_rng training = tg_fit_stream(fit, "training", of_run);
    tg_tape *tape = tg_fit_tape(fit, &fit->training, count);
    tg_tape_reset(tape);
    if (!tg_fit_feed_take(&fit->train, tape, first, count, tg_fit_stream(fit, "batch", of_run), batch)) {
        tg_fail_first(&fit->error, "training: the batch of step %lld could not be made", (long long)fit->step + 1);
        return NAN;
    }
    tg_tensor loss = config->loss(config->model, batch, &training, NULL);
    const double value = tg_size(loss) == 1 ? tg_item(loss) : NAN;
    const double factor = share * fit->scale;
    if (isfinite(value) && tg_backward(factor == 1 ? loss : tg_mul_scalar(loss, factor)))
        return value;
    const char *error = tg_tape_error(tape);
    fit->diverged = !error && tg_ok(loss) && tg_size(loss) == 1;
    if (!error)
        error =
            fit->diverged ? "the loss is infinite or not a number; a smaller learning rate may help" : TG_FIT_NO_SCALAR;
    tg_fail_first(&fit->error, "epoch %lld, step %lld: %s", (long long)tg_fit_epochs_done(fit) + 1,
                  (long long)fit->step + 1, error);
    return NAN;
}
