/* The optimisers: for each its formula, its loop, and one constant struct. optimizers.def lists them. */
#include "optim/optimizer.h"

#include <math.h>

/* tg_optimizer_NAME, with these members of the struct. */
#define RULE(word, ...) const tg_optimizer_rule tg_optimizer_##word = {.name = #word, __VA_ARGS__}

enum { BETAS = TG_USES_BETA1 | TG_USES_BETA2, BETAS_AND_EPSILON = BETAS | TG_USES_EPSILON };

static const tg_optimizer_config *config_of(const tg_update *u)
{
    return ((const tg_optimizer_step_info *)u->settings)->config;
}

/* What becomes of every element i of the parameter p and of its states s and t, given its gradient g and the settings c
 * of the update u. The numbers are `real`, which is float or double. */
#define UPDATE(...)                        \
    if (u->dtype == TG_F32)                \
        UPDATE_IN_TYPE(float, __VA_ARGS__) \
    else                                   \
        UPDATE_IN_TYPE(double, __VA_ARGS__)
#define UPDATE_IN_TYPE(type, ...)                                                                     \
    {                                                                                                 \
        typedef type real;                                                                            \
        real *restrict p = u->parameter, *restrict s = u->state[0], *restrict t = u->state[1];        \
        real *restrict gradient = u->gradient;                                                        \
        const real scale = (real)u->gradient_scale, rate = (real)u->rate, decay = (real)u->decay;     \
        const real beta1 = (real)c->beta1, new1 = (real)(1 - c->beta1), epsilon = (real)c->epsilon;   \
        const real beta2 = (real)c->beta2, new2 = (real)(1 - c->beta2), momentum = (real)c->momentum; \
        (void)s, (void)t, (void)rate, (void)decay, (void)beta1, (void)new1, (void)epsilon;            \
        (void)beta2, (void)new2, (void)momentum;                                                      \
        for (size_t i = 0; i < u->n; i++) {                                                           \
            const real g = scale * gradient[i];                                                       \
            __VA_ARGS__                                                                               \
        }                                                                                             \
    }
#define ROOT(x) _Generic((x), float : sqrtf, double : sqrt)(x)

/* Weight decay as part of the gradient: gradient = scale gradient + decay p, in place; the loop after it has no
 * decay. */
static tg_update with_decay_added(const tg_update *u)
{
    if (u->decay == 0)
        return *u;
    const tg_optimizer_config *c = config_of(u);
    UPDATE({ gradient[i] = g + decay * p[i]; })
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
    const tg_optimizer_config *c = config_of(u);
    const double *product = ((const tg_optimizer_step_info *)u->settings)->product;
    tg_update own = *u;
    own.settings = &(tg_adam_settings){c->beta1, c->beta2, c->epsilon, 1 - product[0], 1 - product[1]};
    tg_update_adamw(&own);
}

RULE(adamw, .uses = BETAS_AND_EPSILON, .defaults = {.lr = TG_DEFAULT_LEARNING_RATE, TG_ADAM_DEFAULTS}, .states = 2,
     .squares = true, .begin = adam_powers, .update = adamw_update);

/* ---- Adam: Kingma and Ba, arXiv 1412.6980 ---- */

static void adam_update(const tg_update *u)
{
    const tg_update rest = with_decay_added(u);
    adamw_update(&rest);
}

RULE(adam, .uses = BETAS_AND_EPSILON, .defaults = {.lr = TG_DEFAULT_LEARNING_RATE, TG_ADAM_DEFAULTS}, .states = 2,
     .squares = true, .begin = adam_powers, .update = adam_update);

/* ---- SGD with momentum; the loop is in autograd/update.h ---- */

static void sgd_update(const tg_update *u)
{
    const tg_optimizer_config *c = config_of(u);
    tg_update own = *u;
    own.settings = &(tg_sgd_settings){c->momentum, c->nesterov};
    tg_update_sgd(&own);
}

RULE(sgd, .uses = TG_USES_MOMENTUM | TG_USES_NESTEROV, .rate_over_adamw = 20,
     .defaults = {.lr = TG_DEFAULT_LEARNING_RATE}, .states = 1, .update = sgd_update);

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
static void nadam_update(const tg_update *with_decay)
{
    const tg_update rest = with_decay_added(with_decay), *u = &rest;
    const tg_optimizer_step_info *now = u->settings;
    const tg_optimizer_config *c = now->config;
    const double mu = nadam_momentum(c, now->step), next = nadam_momentum(c, now->step + 1);
    const double of_gradient = u->rate * (1 - mu) / (1 - now->product[0]);
    const double of_moment = u->rate * next / (1 - now->product[0] * next);
    const double of_square = 1 / (1 - now->product[1]);
    UPDATE({
        s[i] = beta1 * s[i] + new1 * g;
        t[i] = beta2 * t[i] + new2 * g * g;
        p[i] -= ((real)of_gradient * g + (real)of_moment * s[i]) / (ROOT((real)of_square * t[i]) + epsilon);
    })
}

RULE(nadam, .uses = BETAS_AND_EPSILON, .defaults = {.lr = 2e-3, TG_ADAM_DEFAULTS}, .states = 2, .squares = true,
     .begin = nadam_powers, .update = nadam_update);

/* ---- RMSprop: Tieleman and Hinton, 2012, in PyTorch's form ---- */

/* v = beta2 v + (1 - beta2) g^2;  u = momentum u + g / (sqrt(v) + epsilon);  p = p - rate u */
static void rmsprop_update(const tg_update *with_decay)
{
    const tg_update rest = with_decay_added(with_decay), *u = &rest;
    const tg_optimizer_config *c = config_of(u);
    UPDATE({
        s[i] = beta2 * s[i] + new2 * g * g;
        t[i] = momentum * t[i] + g / (ROOT(s[i]) + epsilon);
        p[i] -= rate * t[i];
    })
}

RULE(rmsprop, .uses = TG_USES_BETA2 | TG_USES_EPSILON | TG_USES_MOMENTUM,
     .defaults = {.lr = 1e-2, .beta2 = 0.99, .epsilon = 1e-8}, .states = 2, .squares = true, .update = rmsprop_update);

/* ---- Lion: Chen and others, "Symbolic discovery of optimization algorithms", arXiv 2302.06675 ---- */

/* p = p - rate (sign(beta1 m + (1 - beta1) g) + decay p);  m = beta2 m + (1 - beta2) g */
static void lion_update(const tg_update *u)
{
    const tg_optimizer_config *c = config_of(u);
    UPDATE({
        const real direction = beta1 * s[i] + new1 * g, sign = direction > 0 ? 1 : direction < 0 ? -1 : 0;
        p[i] -= rate * (sign + decay * p[i]);
        s[i] = beta2 * s[i] + new2 * g;
    })
}

RULE(lion, .uses = BETAS, .defaults = {.lr = 1e-4, .beta1 = 0.9, .beta2 = 0.99}, .rate_over_adamw = 0.1, .states = 1,
     .update = lion_update);

/* ---- Adagrad: Duchi, Hazan and Singer, JMLR 12, 2011, in PyTorch's form ---- */

/* v = v + g^2;  p = p - rate g / (sqrt(v) + epsilon) */
static void adagrad_update(const tg_update *with_decay)
{
    const tg_update rest = with_decay_added(with_decay), *u = &rest;
    const tg_optimizer_config *c = config_of(u);
    UPDATE({
        s[i] += g * g;
        p[i] -= rate * g / (ROOT(s[i]) + epsilon);
    })
}

RULE(adagrad, .uses = TG_USES_EPSILON, .defaults = {.lr = 1e-2, .epsilon = 1e-10}, .rate_over_adamw = 10, .states = 1,
     .squares = true, .update = adagrad_update);

/* ---- Muon: Jordan and others, 2024, and Liu and others, arXiv 2502.16982; the loop is in autograd/update.h ---- */

/* For weights that are matrices, but not for embedding tables, which have no weight decay. */
static int64_t muon_scratch(const tg_parameter *parameter)
{
    return parameter->decay ? tg_update_muon_scratch(&parameter->shape) : 0;
}

static void muon_update(const tg_update *u)
{
    if (muon_scratch(u->whole) == 0) {
        adamw_update(u);
        return;
    }
    tg_update own = *u;
    own.settings = &(tg_muon_settings){config_of(u)->beta1};
    tg_update_muon(&own);
}

RULE(muon, .uses = BETAS_AND_EPSILON, .defaults = {.lr = 1e-3, .beta1 = 0.95, .beta2 = 0.95, .epsilon = 1e-8},
     .states = 2, .squares = true, .begin = adam_powers, .update = muon_update, .scratch = muon_scratch);
