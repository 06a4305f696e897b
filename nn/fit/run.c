/* The training loop: steps, epochs, and the choice of the best one. */
#include "nn/fit/fit_internal.h"

#include "optim/optimizer.h"

#include <math.h>
#include <string.h>

/* ---- a step ---- */

/* Orders the rows at the start of an epoch, or when a run resumes within one. */
static bool begin_epoch(tg_fit *fit)
{
    const int64_t epoch = tg_fit_epochs_done(fit);
    if (fit->ordered == epoch)
        return true;
    fit->ordered = epoch;
    return tg_fit_feed_begin(&fit->train, &fit->config, epoch + 1, tg_fit_stream(fit, "order", epoch)) ||
           tg_fail_first(&fit->error, "epoch %lld: its order has a row that is none of the %lld", (long long)epoch + 1,
                         (long long)fit->config.train.count);
}

/* Sets `stop` if a process wants no further step. */
static bool take_step(tg_fit *fit, tg_fit_step *now, bool *stop)
{
    const tg_fit_config *config = &fit->config;
    const int64_t in_epoch = fit->step % fit->steps_of_epoch, first = in_epoch * config->batch * config->accumulate;
    int64_t left = fit->rows_of_epoch - first;
    left = left < config->batch * config->accumulate ? left : config->batch * config->accumulate;
    *now = (tg_fit_step){.epoch = tg_fit_epochs_done(fit) + 1,
                         .epochs = config->epochs,
                         .step = fit->step + 1,
                         .steps = config->epochs * fit->steps_of_epoch,
                         .rows = left,
                         .rate = tg_optimizer_rate(config->optimizer)};
    tg_fit_sums sums = {0};
    const bool fine = tg_fit_shards_step(fit, first, now->rows, &sums);
    *stop = sums.stops > 0;
    if (!fine || *stop)
        return fine;
    now->loss = sums.loss;
    bool left_out = false;
    const bool reached = tg_parameters_have_gradient(fit->parameters),
               stepped = fit->is_spread ? tg_fit_spread_update(fit) : tg_fit_scaled_step(fit, &left_out);
    now->gradient_norm = left_out ? 0 : tg_optimizer_gradient_norm(config->optimizer);
    const bool discarded = reached && !tg_parameters_have_gradient(fit->parameters);
    fit->diverged = discarded && !stepped && !fit->error.text[0];
    if (!stepped)
        return tg_fail_first(&fit->error, "epoch %lld: %s", (long long)now->epoch,
                             tg_optimizer_error(config->optimizer));
    if (!left_out)
        tg_ema_update(fit->ema);
    fit->step++;
    fit->loss_sum += sums.rows_loss;
    fit->norm_sum += now->gradient_norm;
    now->mean_loss = fit->loss_sum / (double)(first + left);
    return true;
}

/* ---- an epoch ---- */

/* The measure that the best epoch minimises. */
static double measure(const tg_fit_epoch *epoch, bool by_score)
{
    return by_score ? -epoch->valid_score : epoch->valid_loss;
}

/* True if an epoch is better than the best so far: any number is better than NaN; two epochs without a score are
 * compared by their losses. Of equal epochs the first is the best; measures are equal if they differ by rounding only,
 * so that the size of evaluation batches does not decide. */
static bool is_better(const tg_fit *fit, const tg_fit_epoch *now)
{
    const double rounding = 1e-13;
    const tg_fit_epoch *best = tg_fit_best(fit);
    if (!best || fit->config.valid.count == 0)
        return true;
    const bool by_score = fit->config.best_by_score && !(isnan(best->valid_score) && isnan(now->valid_score));
    const double before = measure(best, by_score), after = measure(now, by_score);
    return before - after > rounding * fabs(before) || (isnan(before) && !isnan(after));
}

/* Evaluates, with the averages in place of the weights if there are any; on_epoch is called with the same weights. */
static bool end_epoch(tg_fit *fit, double rate, bool *stops)
{
    const tg_fit_config *config = &fit->config;
    tg_fit_epoch now = {
        .epoch = tg_fit_epochs_done(fit) + 1, .step = fit->step, .rate = rate, .valid_loss = NAN, .valid_score = NAN};
    now.train_loss = fit->loss_sum / (double)fit->rows_of_epoch;
    now.gradient_norm = fit->norm_sum / (double)fit->steps_of_epoch;
    tg_ema_swap(fit->ema);
    const bool fine = !config->valid.count || tg_fit_feed_evaluate(fit, &fit->valid, &now.valid_loss, &now.valid_score);
    now.best = fine && is_better(fit, &now);
    if (now.best) {
        memcpy(fit->best_values, tg_parameters_values(fit->parameters), tg_parameters_bytes(fit->parameters));
        fit->best = fit->epoch_count;
        fit->best_is_written = false;
    }
    if (fine) {
        fit->epochs[fit->epoch_count++] = now;
        fit->loss_sum = fit->norm_sum = 0;
        *stops |= config->on_epoch && !config->on_epoch(config->context, &fit->epochs[fit->epoch_count - 1]);
    }
    tg_ema_swap(fit->ema);
    return fine;
}

/* ---- the run ---- */

/* Runs a step and, if it ends an epoch, the evaluation. Sets `stop` if a callback asks for it. */
static bool advance(tg_fit *fit, bool *stop)
{
    const tg_fit_config *config = &fit->config;
    tg_fit_step now;
    if (!begin_epoch(fit) || !take_step(fit, &now, stop))
        return false;
    if (*stop)
        return true;
    const bool ends = fit->step % fit->steps_of_epoch == 0;
    bool stops = config->on_step && !config->on_step(config->context, &now);
    if (ends && !fit->error.text[0])
        end_epoch(fit, now.rate, &stops);
    fit->wants_stop |= stops;
    *stop = stops && !config->communicator; /* the other processes learn of it in the next step */
    if (fit->error.text[0])                 /* also from an evaluation that a callback ran */
        return false;
    return !ends || tg_fit_save_when_due(fit);
}

bool tg_fit_run(tg_fit *fit)
{
    if (!fit || fit->error.text[0])
        return false;
    if (!tg_fit_trains(&fit->config))
        return tg_fail_first(&fit->error,
                             "training: there are neither rows nor an optimiser, so that it only evaluates");
    bool stop = false, fine = true;
    fit->wants_stop = false;
    const bool begun = !tg_fit_finished(fit);
    tg_fit_begin_saving(fit);
    while (fine && !stop && !tg_fit_finished(fit))
        fine = advance(fit, &stop);
    if (fine && begun)
        fine = tg_fit_gather_state(fit) && tg_fit_save(fit);
    if ((!fine || tg_fit_finished(fit)) && fit->best >= 0) {
        memcpy(tg_parameters_values(fit->parameters), fit->best_values, tg_parameters_bytes(fit->parameters));
        tg_parameters_changed(fit->parameters);
    }
    return fine;
}
