#include "optim/optimizer.h"

#include "autograd/kernels/kernels.h"
#include "autograd/kernels/parallel.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tg_optimizer {
    tg_parameters *parameters;
    tg_optimizer_config config; /* defaults filled in */
    int64_t size;               /* of each moment */
    char *first;                /* moment of the gradients, laid out like them: m, or the velocity u */
    char *second;               /* moment of their squares, v; NULL for SGD */
    int64_t steps;
    double beta1_power, beta2_power; /* beta^steps */
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
    optimizer->beta1_power = optimizer->beta2_power = 1;

    bool adaptive = optimizer->config.kind != TG_SGD;
    size_t count = optimizer->size ? (size_t)optimizer->size : 1;
    size_t element = tg_dtype_size(tg_parameters_dtype(parameters));
    optimizer->first = calloc(count, element);
    if (adaptive)
        optimizer->second = calloc(count, element);
    if (!optimizer->first || (adaptive && !optimizer->second)) {
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

/* ---- the update ---- */

/* What every parameter's update needs to know of the step. */
typedef struct step {
    double rate, gradient_scale;
    double correction1, correction2; /* 1 - beta^t */
} step;

static double decay_of(const tg_optimizer *optimizer, const tg_parameter *p)
{
    return p->decay ? optimizer->config.weight_decay : 0;
}

/* The number of elements from parameter `first` on that lie one behind the other and decay alike, and in *next the parameter
 * behind them: a loop over a few numbers costs more for beginning than for running. */
static size_t run_from(const tg_optimizer *optimizer, int first, int *next)
{
    const tg_parameters *set = optimizer->parameters;
    const tg_parameter *p = tg_parameters_at(set, first), *q = p;
    const size_t element = tg_dtype_size(p->dtype);
    size_t size = 0;
    *next = first;
    do {
        size += (size_t)tg_shape_size(&q->shape);
        q = tg_parameters_at(set, ++*next);
    } while (q && p->gradient && q->gradient == (char *)p->gradient + size * element &&
             decay_of(optimizer, q) == decay_of(optimizer, p));
    return size;
}

/* Adam's decay: gradient = scale gradient + decay value. The gradient is about to be forgotten, so it may change. */
static void add_decay(tg_dtype dtype, size_t n, double scale, double decay, const void *data, void *gradient)
{
    float *g = gradient;
    double *g64 = gradient;
    for (size_t i = 0; i < n; i++)
        if (dtype == TG_F32)
            g[i] = (float)(scale * g[i] + decay * ((const float *)data)[i]);
        else
            g64[i] = scale * g64[i] + decay * ((const double *)data)[i];
}

/* Elements of `parameter` and of those that are updated together with it, from number `first` on. */
static void update(const tg_optimizer *optimizer, const tg_parameter *parameter, const step *s, size_t first,
                   size_t n)
{
    const tg_optimizer_config *c = &optimizer->config;
    const tg_dtype dtype = parameter->dtype;
    const size_t skipped = first * tg_dtype_size(dtype);
    char *const data = (char *)parameter->data + skipped;
    char *const gradient = (char *)parameter->gradient + skipped;
    const size_t offset = (size_t)(data - (char *)tg_parameters_values(optimizer->parameters));
    void *const momentum = optimizer->first + offset;
    double scale = s->gradient_scale, decay = decay_of(optimizer, parameter);
    if (c->kind == TG_SGD) {
        TG_KERNEL_CALL(dtype, sgd_momentum, n, (void *)data, (void *)gradient, momentum, scale, s->rate,
                       c->momentum, c->nesterov, decay);
        return;
    }
    if (c->kind == TG_ADAM && decay > 0) {
        add_decay(dtype, n, scale, decay, data, gradient);
        scale = 1;
        decay = 0;
    }
    void *const second = optimizer->second + offset;
    TG_KERNEL_CALL(dtype, adamw, n, (void *)data, (void *)gradient, momentum, second, scale, s->rate,
                   c->beta1, c->beta2, c->epsilon, decay, s->correction1, s->correction2);
}

typedef struct work {
    const tg_optimizer *optimizer;
    const step *step;
} work;

/* Some shares of every parameter; of all of them, long runs. */
static void update_shares(void *context, size_t first, size_t count)
{
    const work *w = context;
    const tg_parameters *set = w->optimizer->parameters;
    for (int i = 0, next; i < tg_parameters_count(set); i = next) {
        const tg_parameter *parameter = tg_parameters_at(set, i);
        size_t size = (size_t)tg_shape_size(&parameter->shape);
        next = i + 1;
        if (count == TG_SHARES)
            size = run_from(w->optimizer, i, &next);
        const size_t begin = tg_share_begin(size, first), end = tg_share_begin(size, first + count);
        if (parameter->gradient && begin < end)
            update(w->optimizer, parameter, w->step, begin, end - begin);
    }
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
    const double norm = optimizer->gradient_norm, limit = optimizer->config.clip_norm;
    const step s = {
        .rate = tg_optimizer_rate(optimizer),
        .gradient_scale = limit > 0 && norm > limit ? limit / norm : 1,
        .correction1 = 1 - optimizer->beta1_power * optimizer->config.beta1,
        .correction2 = 1 - optimizer->beta2_power * optimizer->config.beta2,
    };
    tg_parameters *set = optimizer->parameters;
    tg_parameters_gradients(set);     /* zeros where no backward pass came */
    enum { WORTH_SHARING = 1 << 14 }; /* elements for each thread */
    tg_parallel_shares((size_t)optimizer->size, WORTH_SHARING, update_shares, &(work){optimizer, &s});
    tg_parameters_clear_gradients(set);
    optimizer->beta1_power *= optimizer->config.beta1;
    optimizer->beta2_power *= optimizer->config.beta2;
    optimizer->steps++;
    return true;
}
