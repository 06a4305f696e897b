#include "optim/optimizer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tg_optimizer {
    tg_parameters *parameters;
    tg_optimizer_config config; /* defaults filled in */
    int64_t size;               /* of each moment */
    void
        *first; /* moment of the gradients, laid out like them: m, or the velocity u; NULL without momentum */
    void *second; /* moment of their squares, v; NULL for SGD */
    int64_t steps;
    double gradient_norm;
    char error[256];
};

/* ---- configuration ---- */

static const char *const names[] = {[TG_ADAMW] = "adamw", [TG_ADAM] = "adam", [TG_SGD] = "sgd"};
enum { KINDS = sizeof names / sizeof names[0] };

const char *tg_optimizer_name(tg_optimizer_kind kind)
{
    return (unsigned)kind < KINDS ? names[kind] : NULL;
}

bool tg_optimizer_from_name(const char *name, tg_optimizer_kind *kind)
{
    for (int i = 0; name && kind && i < KINDS; i++)
        if (strcmp(names[i], name) == 0) {
            *kind = (tg_optimizer_kind)i;
            return true;
        }
    return false;
}

static bool is_fraction(double x)
{
    return x >= 0 && x < 1;
}

static bool is_finite_and_not_negative(double x)
{
    return x >= 0 && isfinite(x);
}

const char *tg_optimizer_config_error(const tg_optimizer_config *config)
{
    if (!config)
        return NULL;
    if ((unsigned)config->kind >= KINDS)
        return "the optimiser is of no known kind";
    if (!is_finite_and_not_negative(config->lr))
        return "the learning rate must be a positive number";
    if (!is_finite_and_not_negative(config->weight_decay))
        return "the weight decay must be 0 or a positive number";
    if (!is_finite_and_not_negative(config->clip_norm))
        return "the norm to clip to must be 0 (never) or a positive number";
    if (!is_fraction(config->beta1) || !is_fraction(config->beta2))
        return "beta1 and beta2 must lie between 0 and 1";
    if (!is_finite_and_not_negative(config->epsilon))
        return "epsilon must be a positive number";
    if (!is_fraction(config->momentum))
        return "the momentum must be 0 or a number below 1";
    if (config->nesterov && config->momentum == 0)
        return "Nesterov's step needs a momentum";
    return tg_schedule_error(&config->schedule);
}

static double otherwise(double value, double by_default)
{
    return value != 0 ? value : by_default;
}

static tg_optimizer_config with_defaults(const tg_optimizer_config *given)
{
    tg_optimizer_config config = given ? *given : (tg_optimizer_config){0};
    config.lr = otherwise(config.lr, 1e-3);
    config.beta1 = otherwise(config.beta1, 0.9);
    config.beta2 = otherwise(config.beta2, 0.999);
    config.epsilon = otherwise(config.epsilon, 1e-8);
    return config;
}

/* ---- life ---- */

tg_optimizer *tg_optimizer_new(tg_parameters *parameters, const tg_optimizer_config *config)
{
    if (tg_parameters_error(parameters) || tg_optimizer_config_error(config))
        return NULL;
    tg_optimizer *optimizer = calloc(1, sizeof *optimizer);
    if (!optimizer)
        return NULL;
    optimizer->parameters = parameters;
    optimizer->config = with_defaults(config);
    optimizer->size = tg_parameters_size(parameters);

    bool adaptive = optimizer->config.kind != TG_SGD, moving = adaptive || optimizer->config.momentum > 0;
    size_t count = optimizer->size ? (size_t)optimizer->size : 1;
    size_t element = tg_dtype_size(tg_parameters_dtype(parameters));
    if (moving)
        optimizer->first = calloc(count, element);
    if (adaptive)
        optimizer->second = calloc(count, element);
    if ((moving && !optimizer->first) || (adaptive && !optimizer->second)) {
        tg_optimizer_free(optimizer);
        return NULL;
    }
    return optimizer;
}

void tg_optimizer_free(tg_optimizer *optimizer)
{
    if (!optimizer)
        return;
    free(optimizer->first);
    free(optimizer->second);
    free(optimizer);
}

const char *tg_optimizer_error(const tg_optimizer *optimizer)
{
    if (!optimizer)
        return "no optimiser: it is NULL, for want of memory or for an error in its configuration";
    return optimizer->error[0] ? optimizer->error : NULL;
}

int64_t tg_optimizer_steps(const tg_optimizer *optimizer)
{
    return optimizer ? optimizer->steps : 0;
}

double tg_optimizer_rate(const tg_optimizer *optimizer)
{
    if (!optimizer)
        return 0;
    return optimizer->config.lr * tg_schedule_factor(&optimizer->config.schedule, optimizer->steps);
}

double tg_optimizer_gradient_norm(const tg_optimizer *optimizer)
{
    return optimizer ? optimizer->gradient_norm : 0;
}

/* ---- one parameter ---- */

/* What the loops need to know of a step. */
typedef struct rule {
    double gradient_scale; /* from clipping */
    double l2;             /* this times the value is added to the gradient */
    double shrink;         /* the value is multiplied by this first */
    double beta1, beta2;   /* beta1 is the momentum of SGD */
    double rate;           /* bias correction included */
    double second_scale;   /* 1 / (1 - beta2^t) */
    double epsilon;
    bool nesterov;
} rule;

#define DEFINE_LOOPS(real, root)                                                                             \
    static void adam_##real(int64_t n, const rule *r, const real *g, real *p, real *m, real *v)              \
    {                                                                                                        \
        for (int64_t i = 0; i < n; i++) {                                                                    \
            real gradient = (real)r->gradient_scale * g[i] + (real)r->l2 * p[i];                             \
            m[i] = (real)r->beta1 * m[i] + (real)(1 - r->beta1) * gradient;                                  \
            v[i] = (real)r->beta2 * v[i] + (real)(1 - r->beta2) * gradient * gradient;                       \
            p[i] = (real)r->shrink * p[i] -                                                                  \
                   (real)r->rate * m[i] / (root((real)r->second_scale * v[i]) + (real)r->epsilon);           \
        }                                                                                                    \
    }                                                                                                        \
    static void sgd_##real(int64_t n, const rule *r, const real *g, real *p, real *u)                        \
    {                                                                                                        \
        for (int64_t i = 0; i < n; i++) {                                                                    \
            real gradient = (real)r->gradient_scale * g[i] + (real)r->l2 * p[i];                             \
            real velocity = u ? (u[i] = (real)r->beta1 * u[i] + gradient) : gradient;                        \
            p[i] -= (real)r->rate * (r->nesterov ? gradient + (real)r->beta1 * velocity : velocity);         \
        }                                                                                                    \
    }
DEFINE_LOOPS(float, sqrtf)
DEFINE_LOOPS(double, sqrt)

static rule rule_of(const tg_optimizer *optimizer, const tg_parameter *parameter, double gradient_scale)
{
    const tg_optimizer_config *config = &optimizer->config;
    double decay = parameter->decay ? config->weight_decay : 0, rate = tg_optimizer_rate(optimizer);
    rule r = {.gradient_scale = gradient_scale, .shrink = 1, .rate = rate};
    if (config->kind == TG_ADAMW)
        r.shrink = 1 - rate * decay;
    else
        r.l2 = decay;
    if (config->kind == TG_SGD) {
        r.beta1 = config->momentum;
        r.nesterov = config->nesterov;
        return r;
    }
    double t = (double)(optimizer->steps + 1);
    r.beta1 = config->beta1;
    r.beta2 = config->beta2;
    r.rate = rate / (1 - pow(config->beta1, t));
    r.second_scale = 1 / (1 - pow(config->beta2, t));
    r.epsilon = config->epsilon;
    return r;
}

static void update(const tg_optimizer *optimizer, const tg_parameter *parameter, const rule *r)
{
    size_t offset = (size_t)((char *)parameter->data - (char *)tg_parameters_values(optimizer->parameters));
    void *first = optimizer->first ? (char *)optimizer->first + offset : NULL;
    void *second = optimizer->second ? (char *)optimizer->second + offset : NULL;
    int64_t n = tg_shape_size(&parameter->shape);
    bool single = parameter->dtype == TG_F32;
    if (optimizer->config.kind == TG_SGD && single)
        sgd_float(n, r, parameter->gradient, parameter->data, first);
    else if (optimizer->config.kind == TG_SGD)
        sgd_double(n, r, parameter->gradient, parameter->data, first);
    else if (single)
        adam_float(n, r, parameter->gradient, parameter->data, first, second);
    else
        adam_double(n, r, parameter->gradient, parameter->data, first, second);
}

/* ---- the step ---- */

#if defined __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
static bool
refuse(tg_optimizer *optimizer, const char *format, ...)
{
    int used = snprintf(optimizer->error, sizeof optimizer->error,
                        "optimiser step %lld: ", (long long)optimizer->steps + 1);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(optimizer->error + used, sizeof optimizer->error - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

/* The first parameter with an infinity or NaN in its gradient; NULL if it is only their sum that is too
 * large. */
static const tg_parameter *not_finite(const tg_parameters *set)
{
    for (int i = 0; i < tg_parameters_count(set); i++) {
        const tg_parameter *parameter = tg_parameters_at(set, i);
        int64_t size = parameter->has_gradient ? tg_shape_size(&parameter->shape) : 0;
        for (int64_t k = 0; k < size; k++) {
            double g = parameter->dtype == TG_F32 ? ((const float *)parameter->gradient)[k]
                                                  : ((const double *)parameter->gradient)[k];
            if (!isfinite(g))
                return parameter;
        }
    }
    return NULL;
}

static bool is_possible(tg_optimizer *optimizer)
{
    tg_parameters *set = optimizer->parameters;
    if (tg_parameters_size(set) != optimizer->size)
        return refuse(optimizer, "the parameter set has grown since the optimiser was made");
    if (!tg_parameters_have_gradient(set))
        return refuse(optimizer, "no parameter has a gradient; tg_backward comes first");
    optimizer->gradient_norm = tg_parameters_gradient_norm(set);
    if (isfinite(optimizer->gradient_norm))
        return true;
    const tg_parameter *culprit = not_finite(set);
    tg_parameters_clear_gradients(set);
    return culprit ? refuse(optimizer, "the gradient of %s is not finite", culprit->name)
                   : refuse(optimizer, "the gradient is so large that its norm overflows");
}

bool tg_optimizer_step(tg_optimizer *optimizer)
{
    if (!optimizer)
        return false;
    optimizer->error[0] = '\0';
    if (!is_possible(optimizer))
        return false;
    double norm = optimizer->gradient_norm, limit = optimizer->config.clip_norm;
    double scale = limit > 0 && norm > limit ? limit / norm : 1;

    tg_parameters *set = optimizer->parameters;
    tg_parameters_gradients(set); /* zeros where no backward pass came */
    for (int i = 0; i < tg_parameters_count(set); i++) {
        const tg_parameter *parameter = tg_parameters_at(set, i);
        rule r = rule_of(optimizer, parameter, scale);
        if (parameter->gradient)
            update(optimizer, parameter, &r);
    }
    tg_parameters_clear_gradients(set);
    optimizer->steps++;
    return true;
}
