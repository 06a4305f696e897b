/* Dynamic scaling of the loss, for gradients in float16 (Micikevicius et al., arXiv 1710.03740). */
#include "nn/fit/fit_internal.h"

#include "optim/optimizer.h"

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
    const bool scales = fit->config.round == TG_FLOAT16;
    if (scales)
        divide_gradients(fit);
    const bool stepped = tg_optimizer_step(fit->config.optimizer);
    *left_out = scales && !stepped && fit->scale > 0x1p-16;
    if (*left_out) {
        fit->scale /= 2;
        fit->scaled_steps = 0;
    } else if (scales && ++fit->scaled_steps == STEPS) {
        fit->scale *= 2;
        fit->scaled_steps = 0;
    }
    return stepped || *left_out;
}
