#include "nn/fit/fit_internal.h"

const char *tg_fit_error(const tg_fit *fit)
{
    if (!fit)
        return "out of memory, or there is no configuration";
    return fit->error.text[0] ? fit->error.text : NULL;
}

bool tg_fit_finished(const tg_fit *fit)
{
    if (!fit)
        return false;
    const int64_t waited = fit->epoch_count - 1 - fit->best;
    return tg_fit_epochs_done(fit) == fit->config.epochs ||
           (fit->config.patience && fit->epoch_count && waited >= fit->config.patience);
}

bool tg_fit_diverged(const tg_fit *fit)
{
    return fit && fit->diverged;
}

tg_fit_place tg_fit_failed_at(const tg_fit *fit)
{
    return fit ? fit->failed_at : TG_FIT_HERE;
}

int64_t tg_fit_step_count(const tg_fit *fit)
{
    return fit ? fit->step : 0;
}

int64_t tg_fit_epoch_count(const tg_fit *fit)
{
    return fit ? fit->epoch_count : 0;
}

const tg_fit_epoch *tg_fit_epoch_at(const tg_fit *fit, int64_t index)
{
    return fit && index >= 0 && index < fit->epoch_count ? &fit->epochs[index] : NULL;
}

const tg_fit_epoch *tg_fit_best(const tg_fit *fit)
{
    return fit ? tg_fit_epoch_at(fit, fit->best) : NULL;
}

tg_rng tg_fit_stream(const tg_fit *fit, const char *name, int64_t number)
{
    const tg_rng seed = tg_rng_seed(fit->config.seed), named = tg_rng_stream(&seed, name);
    return tg_rng_split(&named, (uint64_t)number);
}
