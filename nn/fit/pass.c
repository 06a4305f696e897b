/* What a step and an evaluation do with rows: a forward and a backward pass, the optimiser's step, a mean loss. */
#include "nn/fit/fit_internal.h"

#include "autograd/ops.h"
#include "optim/optimizer.h"

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
    fit->diverged = !error && tg_tape_of(loss) == tape && tg_size(loss) == 1;
    if (!error)
        error = fit->diverged ? tg_fit_divergence(fit) : TG_FIT_NO_SCALAR;
    tg_fail_first(&fit->error, "epoch %lld, step %lld: %s", (long long)tg_fit_epochs_done(fit) + 1,
                  (long long)fit->step + 1, error);
    return NAN;
}

/* ---- the step ---- */

/* The loss is scaled dynamically, for gradients in float16 (Micikevicius et al., arXiv 1710.03740). */
static void divide_gradients(tg_fit *fit)
{
    float *gradient = tg_parameters_gradients(fit->parameters);
    const float factor = (float)(1 / fit->scale);
    for (int64_t i = 0; i < tg_parameters_size(fit->parameters); i++)
        gradient[i] *= factor;
}

bool tg_fit_scaled_step(tg_fit *fit, bool *left_out)
{
    enum { STEPS = 2000 }; /* before the scale is doubled, as PyTorch does */
    const bool scales = fit->config.round == TG_FLOAT16 && tg_parameters_have_gradient(fit->parameters);
    if (scales)
        divide_gradients(fit);
    const bool stepped = tg_optimizer_step(fit->config.optimizer),
               discarded = !stepped && !tg_parameters_have_gradient(fit->parameters); /* as it was not finite */
    *left_out = scales && discarded && fit->scale > 0x1p-16;
    if (*left_out) {
        fit->scale /= 2;
        fit->scaled_steps = 0;
    } else if (scales && ++fit->scaled_steps == STEPS) {
        fit->scale *= 2;
        fit->scaled_steps = 0;
    }
    return stepped || *left_out;
}

/* ---- evaluation ---- */

bool tg_fit_feed_evaluate(tg_fit *fit, tg_fit_feed *feed, double *loss, double *score)
{
    const int64_t all = feed->rows->count, most = fit->config.evaluation_batch;
    *loss = *score = 0;
    for (int64_t first = 0, number = 0; first < all; first += most, number++) {
        const int64_t count = all - first < most ? all - first : most;
        tg_tensor batch[TG_FIT_COLUMNS];
        double of_batch = NAN;
        tg_tape *tape = tg_fit_tape(fit, &fit->evaluation, count);
        tg_tape_reset(tape);
        if (!tg_fit_feed_take(feed, tape, first, count, tg_fit_stream(fit, "evaluation", number), batch))
            return tg_fail_first(&fit->error, "evaluation: batch %lld could not be made", (long long)number + 1);
        tg_no_grad_begin(tape);
        const tg_tensor mean = fit->config.loss(fit->config.model, batch, NULL, &of_batch);
        tg_no_grad_end(tape);
        if (tg_tape_error(tape))
            return tg_fail_first(&fit->error, "evaluation: %s", tg_tape_error(tape));
        if (tg_size(mean) != 1)
            return tg_fail_first(&fit->error, "evaluation: " TG_FIT_NO_SCALAR);
        *loss += tg_item(mean) * (double)count;
        *score += of_batch * (double)count;
    }
    *loss /= (double)all;
    *score /= (double)all;
    return true;
}

bool tg_fit_evaluate(tg_fit *fit, const tg_fit_rows *rows, double *loss, double *score)
{
    double none;
    if (!fit || fit->error.text[0])
        return false;
    const char *wrong = rows ? tg_fit_rows_error(rows) : "there are no rows";
    if (wrong)
        return tg_fail_first(&fit->error, "evaluation: %s", wrong);
    tg_fit_feed feed;
    const bool fine = tg_fit_feed_init(&feed, rows, fit->config.evaluation_batch, true)
                          ? tg_fit_feed_evaluate(fit, &feed, loss ? loss : &none, score ? score : &none)
                          : tg_fail_first(&fit->error, "evaluation: out of memory");
    tg_fit_feed_free(&feed);
    return fine;
}
