/* The optimisers: for each its formula, its loop, and one constant struct. optimizers.def lists them. */
#include "optim/optimizer.h"

#include <math.h>

/* Weight decay as part of the gradient: gradient = scale gradient + decay p, in place; the loop after it has no
 * decay. */
#define ADD_DECAY(real)                                                                        \
    {                                                                                          \
        const real *p = u->parameter, scale = (real)u->gradient_scale, decay = (real)u->decay; \
        real *gradient = u->gradient;                                                          \
        for (size_t i = 0; i < u->n; i++)                                                      \
            gradient[i] = scale * gradient[i] + decay * p[i];                                  \
    }

static tg_update with_decay_added(const tg_update *u)
{
    if (u->decay == 0)
        return *u;
    if (u->dtype == TG_F32)
        ADD_DECAY(float)
    else
        ADD_DECAY(double)
    tg_update rest = *u;
    rest.gradient_scale = 1;
    rest.decay = 0;
    return rest;
}

/* ---- AdamW: Loshchilov and Hutter, arXiv 1711.05101; the loop is in autograd/update.h ---- */

static void adam_powers(const tg_optimizer_config *c, int64_t step, double product[2])
{
    (void)step;
    product[0] *= c->beta1;
    product[1] *= c->beta2;
}

static void adamw_update(const tg_update *u)
{
    const tg_optimizer_step_info *now = u->settings;
    const tg_optimizer_config *c = now->config;
    tg_update own = *u;
    own.settings = &(tg_adam_settings){c->beta1, c->beta2, c->epsilon, 1 - now->product[0], 1 - now->product[1]};
    tg_update_adamw(&own);
}

const tg_optimizer_rule tg_optimizer_adamw = {.name = "adamw",
                                              .uses = TG_USES_BETA1 | TG_USES_BETA2 | TG_USES_EPSILON,
                                              .defaults = {.lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8},
                                              .states = 2,
                                              .begin = adam_powers,
                                              .update = adamw_update,
                                              .squares = true};

/* ---- Adam: Kingma and Ba, arXiv 1412.6980 ---- */

static void adam_update(const tg_update *u)
{
    const tg_update rest = with_decay_added(u);
    adamw_update(&rest);
}

const tg_optimizer_rule tg_optimizer_adam = {.name = "adam",
                                             .uses = TG_USES_BETA1 | TG_USES_BETA2 | TG_USES_EPSILON,
                                             .defaults = {.lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8},
                                             .states = 2,
                                             .begin = adam_powers,
                                             .update = adam_update,
                                             .squares = true};

/* ---- SGD with momentum; the loop is in autograd/update.h ---- */

static void sgd_update(const tg_update *u)
{
    const tg_optimizer_config *c = ((const tg_optimizer_step_info *)u->settings)->config;
    tg_update own = *u;
    own.settings = &(tg_sgd_settings){c->momentum, c->nesterov};
    tg_update_sgd(&own);
}

const tg_optimizer_rule tg_optimizer_sgd = {.name = "sgd",
                                            .uses = TG_USES_MOMENTUM | TG_USES_NESTEROV,
                                            .rate_over_adamw = 20,
                                            .defaults = {.lr = 1e-3},
                                            .states = 1,
                                            .update = sgd_update};

/* ---- NAdam: Dozat, "Incorporating Nesterov momentum into Adam", 2016, in PyTorch's form ---- */

/* mu(t) = beta1 (1 - 0.96^(t/250) / 2) */
static double nadam_momentum(const tg_optimizer_config *c, int64_t step)
{
    return c->beta1 * (1 - 0.5 * pow(0.96, 0.004 * (double)step));
}

static void nadam_powers(const tg_optimizer_config *c, int64_t step, double product[2])
{
    product[0] *= nadam_momentum(c, step);
    product[1] *= c->beta2;
}

/* p = p - rate (c_g g + c_m m) / (sqrt(v / (1 - beta2^t)) + epsilon) */
#define NADAM(real, root)                                                                                \
    {                                                                                                    \
        real *restrict p = u->parameter, *restrict m = u->state[0], *restrict v = u->state[1];           \
        const real *restrict gradient = u->gradient;                                                     \
        const real scale = (real)u->gradient_scale, beta1 = (real)c->beta1, beta2 = (real)c->beta2;      \
        const real new1 = (real)(1 - c->beta1), new2 = (real)(1 - c->beta2), epsilon = (real)c->epsilon; \
        const real by_g = (real)of_gradient, by_m = (real)of_moment, by_v = (real)of_square;             \
        for (size_t i = 0; i < u->n; i++) {                                                              \
            const real g = scale * gradient[i];                                                          \
            m[i] = beta1 * m[i] + new1 * g;                                                              \
            v[i] = beta2 * v[i] + new2 * g * g;                                                          \
            p[i] -= (by_g * g + by_m * m[i]) / (root(by_v * v[i]) + epsilon);                            \
        }                                                                                                \
    }

static void nadam_update(const tg_update *with_decay)
{
    const tg_update rest = with_decay_added(with_decay), *u = &rest;
    const tg_optimizer_step_info *now = u->settings;
    const tg_optimizer_config *c = now->config;
    const double mu = nadam_momentum(c, now->step), next = nadam_momentum(c, now->step + 1);
    const double of_gradient = u->rate * (1 - mu) / (1 - now->product[0]);
    const double of_moment = u->rate * next / (1 - now->product[0] * next);
    const double of_square = 1 / (1 - now->product[1]);
    if (u->dtype == TG_F32)
        NADAM(float, sqrtf)
    else
        NADAM(double, sqrt)
}

const tg_optimizer_rule tg_optimizer_nadam = {.name = "nadam",
                                              .uses = TG_USES_BETA1 | TG_USES_BETA2 | TG_USES_EPSILON,
                                              .defaults = {.lr = 2e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8},
                                              .states = 2,
                                              .begin = nadam_powers,
                                              .update = nadam_update,
                                              .squares = true};

/* ---- RMSprop: Tieleman and Hinton, 2012, in PyTorch's form ---- */

/* v = beta2 v + (1 - beta2) g^2;  u = momentum u + g / (sqrt(v) + epsilon);  p = p - rate u */
#define RMSPROP(real, root)                                                                              \
    {                                                                                                    \
        real *restrict p = u->parameter, *restrict v = u->state[0], *restrict velocity = u->state[1];    \
        const real *restrict gradient = u->gradient;                                                     \
        const real scale = (real)u->gradient_scale, beta2 = (real)c->beta2, new2 = (real)(1 - c->beta2); \
        const real momentum = (real)c->momentum, rate = (real)u->rate, epsilon = (real)c->epsilon;       \
        for (size_t i = 0; i < u->n; i++) {                                                              \
            const real g = scale * gradient[i];                                                          \
            v[i] = beta2 * v[i] + new2 * g * g;                                                          \
            velocity[i] = momentum * velocity[i] + g / (root(v[i]) + epsilon);                           \
            p[i] -= rate * velocity[i];                                                                  \
        }                                                                                                \
    }

static void rmsprop_update(const tg_update *with_decay)
{
    const tg_update rest = with_decay_added(with_decay), *u = &rest;
    const tg_optimizer_config *c = ((const tg_optimizer_step_info *)u->settings)->config;
    if (u->dtype == TG_F32)
        RMSPROP(float, sqrtf)
    else
        RMSPROP(double, sqrt)
}

const tg_optimizer_rule tg_optimizer_rmsprop = {.name = "rmsprop",
                                                .uses = TG_USES_BETA2 | TG_USES_EPSILON | TG_USES_MOMENTUM,
                                                .defaults = {.lr = 1e-2, .beta2 = 0.99, .epsilon = 1e-8},
                                                .states = 2,
                                                .update = rmsprop_update,
                                                .squares = true};

/* ---- Lion: Chen and others, "Symbolic discovery of optimization algorithms", arXiv 2302.06675 ---- */

/* p = p - rate (sign(beta1 m + (1 - beta1) g) + decay p);  m = beta2 m + (1 - beta2) g */
#define LION(real)                                                                                \
    {                                                                                             \
        real *restrict p = u->parameter, *restrict m = u->state[0];                               \
        const real *restrict gradient = u->gradient;                                              \
        const real scale = (real)u->gradient_scale, rate = (real)u->rate, decay = (real)u->decay; \
        const real beta1 = (real)c->beta1, beta2 = (real)c->beta2;                                \
        const real new1 = (real)(1 - c->beta1), new2 = (real)(1 - c->beta2);                      \
        for (size_t i = 0; i < u->n; i++) {                                                       \
            const real g = scale * gradient[i], direction = beta1 * m[i] + new1 * g;              \
            p[i] -= rate * ((direction > 0 ? 1 : direction < 0 ? -1 : 0) + decay * p[i]);         \
            m[i] = beta2 * m[i] + new2 * g;                                                       \
        }                                                                                         \
    }

static void lion_update(const tg_update *u)
{
    const tg_optimizer_config *c = ((const tg_optimizer_step_info *)u->settings)->config;
    if (u->dtype == TG_F32)
        LION(float)
    else
        LION(double)
}

const tg_optimizer_rule tg_optimizer_lion = {.name = "lion",
                                             .uses = TG_USES_BETA1 | TG_USES_BETA2,
                                             .defaults = {.lr = 1e-4, .beta1 = 0.9, .beta2 = 0.99},
                                             .rate_over_adamw = 0.1,
                                             .states = 1,
                                             .update = lion_update};

/* ---- Adagrad: Duchi, Hazan and Singer, JMLR 12, 2011, in PyTorch's form ---- */

/* v = v + g^2;  p = p - rate g / (sqrt(v) + epsilon) */
#define ADAGRAD(real, root)                                                                    \
    {                                                                                          \
        real *restrict p = u->parameter, *restrict v = u->state[0];                            \
        const real scale = (real)u->gradient_scale, rate = (real)u->rate, *g_of = u->gradient; \
        for (size_t i = 0; i < u->n; i++) {                                                    \
            const real g = scale * g_of[i];                                                    \
            v[i] += g * g;                                                                     \
            p[i] -= rate * g / (root(v[i]) + (real)c->epsilon);                                \
        }                                                                                      \
    }

static void adagrad_update(const tg_update *with_decay)
{
    const tg_update rest = with_decay_added(with_decay), *u = &rest;
    const tg_optimizer_config *c = ((const tg_optimizer_step_info *)u->settings)->config;
    if (u->dtype == TG_F32)
        ADAGRAD(float, sqrtf)
    else
        ADAGRAD(double, sqrt)
}

const tg_optimizer_rule tg_optimizer_adagrad = {.name = "adagrad",
                                                .uses = TG_USES_EPSILON,
                                                .defaults = {.lr = 1e-2, .epsilon = 1e-10},
                                                .rate_over_adamw = 10,
                                                .states = 1,
                                                .update = adagrad_update,
                                                .squares = true};

/* ---- Muon: Jordan and others, 2024, and Liu and others, arXiv 2502.16982; the loop is in autograd/update.h ---- */

/* For weights that are matrices, but not for embedding tables, which have no weight decay. */
static int64_t muon_scratch(const tg_parameter *parameter)
{
    return parameter->decay ? tg_update_muon_scratch(&parameter->shape) : 0;
}

static void muon_update(const tg_update *u)
{
    const tg_optimizer_config *c = ((const tg_optimizer_step_info *)u->settings)->config;
    if (muon_scratch(u->whole) == 0) {
        adamw_update(u);
        return;
    }
    tg_update own = *u;
    own.settings = &(tg_muon_settings){c->beta1};
    tg_update_muon(&own);
}

const tg_optimizer_rule tg_optimizer_muon = {.name = "muon",
                                             .uses = TG_USES_BETA1 | TG_USES_BETA2 | TG_USES_EPSILON,
                                             .defaults = {.lr = 1e-3, .beta1 = 0.95, .beta2 = 0.95, .epsilon = 1e-8},
                                             .states = 2,
                                             .begin = adam_powers,
                                             .update = muon_update,
                                             .scratch = muon_scratch,
                                             .squares = true};
