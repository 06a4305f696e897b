#include "optim/optimizer.h"

#include "autograd/error.h"
#include "autograd/base/names.h"
#include "autograd/base/platform.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tg_optimizer {
    tg_parameters *parameters;
    const tg_optimizer_rule *rule;
    tg_optimizer_config config;    /* defaults filled in */
    int64_t size;                  /* of each state */
    char *state[TG_UPDATE_STATES]; /* laid out like the values; NULL if the rule keeps fewer */
    void *scratch;                 /* scratch memory of the rule; NULL if it needs none */
    tg_update_factor *factors;     /* one for each parameter, */
    int count;                     /* number of parameters when the optimiser was made */
    int64_t steps;
    double product[2]; /* see tg_optimizer_rule */
    double gradient_norm;
    const char *wrong; /* error in the configuration or set: every step is refused; NULL: none */
    tg_error error;    /* of the last step; "" if it succeeded */
};

/* ---- configuration ---- */

static const tg_optimizer_rule *const rules[] = {
#define TG_OPTIMIZER(constant, name) [constant] = &tg_optimizer_##name,
#include "optim/optimizers.def"
#undef TG_OPTIMIZER
};
enum { KINDS = sizeof rules / sizeof rules[0] };

TG_NAMES(optimizer, tg_optimizer_kind, KINDS, rules[i]->name)

bool tg_optimizer_uses(tg_optimizer_kind kind, const char *setting)
{
    static const struct {
        const char *name;
        unsigned use; /* 0: every rule's */
    } settings[] = {{"lr", 0},
                    {"schedule", 0},
                    {"weight_decay", 0},
                    {"clip_norm", 0},
                    {"beta1", TG_USES_BETA1},
                    {"beta2", TG_USES_BETA2},
                    {"epsilon", TG_USES_EPSILON},
                    {"momentum", TG_USES_MOMENTUM},
                    {"nesterov", TG_USES_NESTEROV}};
    for (size_t i = 0; setting && (unsigned)kind < KINDS && i < sizeof settings / sizeof settings[0]; i++)
        if (strcmp(settings[i].name, setting) == 0)
            return !settings[i].use || rules[kind]->uses & settings[i].use;
    return false;
}

double tg_optimizer_rate_over_adamw(tg_optimizer_kind kind)
{
    const double rate = (unsigned)kind < KINDS ? rules[kind]->rate_over_adamw : 0;
    return rate > 0 ? rate : 1;
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
    if (!config->rule && (unsigned)config->kind >= KINDS)
        return "the optimiser is of no known kind";
    if (config->rule && (!config->rule->update || config->rule->states < 0 || config->rule->states > TG_UPDATE_STATES))
        return "the rule of the optimiser lacks its update, or wants more than two states";
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
    if (!config.rule)
        config.rule = rules[config.kind];
    const tg_optimizer_config *defaults = &config.rule->defaults;
    config.lr = otherwise(config.lr, defaults->lr);
    config.beta1 = otherwise(config.beta1, defaults->beta1);
    config.beta2 = otherwise(config.beta2, defaults->beta2);
    config.epsilon = otherwise(config.epsilon, defaults->epsilon);
    return config;
}

/* ---- life ---- */

/* Zeroed memory aligned to a cache line, as parameters and gradients are: AdamW takes an eighth longer if every vector
 * spans two lines. */
static void *zeros(size_t bytes)
{
    enum { LINE = 64 };
    const size_t whole = (bytes / LINE + 1) * LINE;
    void *block = tg_aligned_new(LINE, whole);
    return block ? memset(block, 0, whole) : NULL;
}

static bool allocate(tg_optimizer *optimizer)
{
    const size_t element = tg_dtype_size(tg_parameters_dtype(optimizer->parameters));
    for (int k = 0; k < optimizer->rule->states; k++)
        if (!(optimizer->state[k] = zeros((size_t)optimizer->size * element)))
            return false;
    int64_t scratch = 0;
    for (int i = 0; optimizer->rule->scratch && i < optimizer->count; i++) {
        const int64_t needed = optimizer->rule->scratch(tg_parameters_at(optimizer->parameters, i));
        scratch = needed > scratch ? needed : scratch;
    }
    if (optimizer->rule->scratch && !(optimizer->scratch = zeros((size_t)scratch * element)))
        return false;
    optimizer->factors = calloc((size_t)optimizer->count + 1, sizeof *optimizer->factors);
    for (int i = 0; optimizer->factors && i < optimizer->count; i++) {
        const bool decays = tg_parameters_at(optimizer->parameters, i)->decay;
        optimizer->factors[i] = (tg_update_factor){.rate = 1, .decay = decays ? optimizer->config.weight_decay : 0};
    }
    return optimizer->factors != NULL;
}

tg_optimizer *tg_optimizer_new(tg_parameters *parameters, const tg_optimizer_config *config)
{
    tg_optimizer *optimizer = parameters ? calloc(1, sizeof *optimizer) : NULL;
    if (!optimizer)
        return NULL;
    const char *wrong = tg_parameters_error(parameters);
    optimizer->wrong = wrong ? wrong : tg_optimizer_config_error(config);
    optimizer->parameters = parameters;
    optimizer->config = with_defaults(optimizer->wrong ? NULL : config);
    optimizer->rule = optimizer->config.rule;
    optimizer->size = tg_parameters_size(parameters);
    optimizer->count = tg_parameters_count(parameters);
    optimizer->product[0] = optimizer->product[1] = 1;
    if (optimizer->wrong || allocate(optimizer))
        return optimizer;
    tg_optimizer_free(optimizer);
    return NULL;
}

void tg_optimizer_free(tg_optimizer *optimizer)
{
    if (!optimizer)
        return;
    for (int k = 0; k < TG_UPDATE_STATES; k++)
        tg_aligned_free(optimizer->state[k]);
    tg_aligned_free(optimizer->scratch);
    free(optimizer->factors);
    free(optimizer);
}

const char *tg_optimizer_error(const tg_optimizer *optimizer)
{
    if (!optimizer)
        return "the optimiser is NULL: out of memory, or the parameter set is NULL";
    return optimizer->error.text[0] ? optimizer->error.text : optimizer->wrong;
}

tg_parameters *tg_optimizer_parameters(const tg_optimizer *optimizer)
{
    return optimizer ? optimizer->parameters : NULL;
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

/* ---- the step ---- */

/* Element k of the gradient; 0 if there is none. */
static double gradient_at(const tg_parameter *p, int64_t k)
{
    if (!p->has_gradient)
        return 0;
    return p->dtype == TG_F32 ? (double)((const float *)p->gradient)[k] : ((const double *)p->gradient)[k];
}

/* The first parameter with an infinity or NaN in its gradient; NULL if only their sum is too large. */
static const tg_parameter *not_finite(const tg_parameters *set)
{
    for (int i = 0; i < tg_parameters_count(set); i++) {
        const tg_parameter *parameter = tg_parameters_at(set, i);
        for (int64_t k = 0; k < tg_shape_size(&parameter->shape); k++)
            if (!isfinite(gradient_at(parameter, k)))
                return parameter;
    }
    return NULL;
}

/* True if the weights look as if no initialiser had run: all that have one are zero, and one of them has the gradient
 * zero. (A single layer can learn from zeros: its weights get a gradient at once.) */
static bool never_initialized(const tg_parameters *set)
{
    bool without_gradient = false;
    for (int i = 0; i < tg_parameters_count(set); i++) {
        const tg_parameter *p = tg_parameters_at(set, i);
        if (p->initial.gain == 0 && p->initial.deviation == 0)
            continue;
        bool has_gradient = false;
        for (int64_t k = 0; k < tg_shape_size(&p->shape); k++) {
            if (tg_parameter_get(p, k) != 0)
                return false;
            has_gradient |= gradient_at(p, k) != 0;
        }
        without_gradient |= !has_gradient && p->gradient;
    }
    return without_gradient;
}

/* The factor by which clipping multiplies the gradient. */
static double scale_of(const tg_optimizer *optimizer)
{
    const double norm = optimizer->gradient_norm, limit = optimizer->config.clip_norm;
    return limit > 0 && norm > limit ? limit / norm : 1;
}

static bool is_possible(tg_optimizer *optimizer, double norm, int first, int count)
{
    tg_parameters *set = optimizer->parameters;
    if (optimizer->wrong)
        return tg_fail(&optimizer->error, "%s", optimizer->wrong);
    if (first < 0 || count < 0 || count > TG_PARTS - first)
        return tg_fail(&optimizer->error, "there are parts 0 to %d, not %d from number %d on", TG_PARTS - 1, count,
                       first);
    if (count < TG_PARTS && !tg_optimizer_has_parts(optimizer))
        return tg_fail(&optimizer->error, "%s sees whole matrices, so its step has no parts", optimizer->rule->name);
    if (tg_parameters_count(set) != optimizer->count)
        return tg_fail(&optimizer->error, "the parameter set has grown since the optimiser was made");
    if (!tg_parameters_have_gradient(set))
        return tg_fail(&optimizer->error, "no parameter has a gradient; tg_backward comes first");
    if (optimizer->steps == 0 && never_initialized(set))
        return tg_fail(&optimizer->error,
                       "all weights are zero and cannot learn; call tg_parameters_initialize before the first step");
    optimizer->gradient_norm = norm;
    const double largest = !optimizer->rule->squares ? DBL_MAX : tg_parameters_dtype(set) == TG_F32 ? 1e19 : 1e154;
    if (isfinite(norm) && norm * scale_of(optimizer) <= largest)
        return true;
    const tg_parameter *culprit = not_finite(set);
    tg_parameters_clear_gradients(set);
    if (isfinite(norm))
        return tg_fail(&optimizer->error, "the gradient, of norm %.3g, is so large that its square overflows", norm);
    return culprit ? tg_fail(&optimizer->error, "the gradient of %s is not finite; tg_tape_watch names where it began",
                             culprit->name)
                   : tg_fail(&optimizer->error, "the gradient is so large that its norm overflows");
}

bool tg_optimizer_has_parts(const tg_optimizer *optimizer)
{
    return optimizer && !optimizer->wrong && !optimizer->rule->scratch;
}

bool tg_optimizer_step_parts(tg_optimizer *optimizer, double norm, int first, int count)
{
    if (!optimizer)
        return false;
    tg_error *error = &optimizer->error;
    if (!is_possible(optimizer, norm, first, count))
        return tg_fail(error, "optimiser step %lld: %s", (long long)optimizer->steps + 1, error->text);
    error->text[0] = '\0';
    const tg_optimizer_config *config = &optimizer->config;
    const double rate = tg_optimizer_rate(optimizer);
    optimizer->steps++;
    if (optimizer->rule->begin)
        optimizer->rule->begin(config, optimizer->steps, optimizer->product);
    const tg_optimizer_step_info info = {config, optimizer->steps, optimizer->product};
    const tg_update step = {
        .state = {optimizer->state[0], optimizer->state[1]},
        .rate = rate,
        .gradient_scale = scale_of(optimizer),
        .settings = &info,
        .scratch = optimizer->scratch,
    };
    tg_parameters_update_parts(optimizer->parameters, optimizer->rule->update, &step, optimizer->factors, first, count);
    tg_parameters_clear_gradients(optimizer->parameters);
    return true;
}

bool tg_optimizer_step(tg_optimizer *optimizer)
{
    const double norm = optimizer ? tg_parameters_gradient_norm(optimizer->parameters) : 0;
    return tg_optimizer_step_parts(optimizer, norm, 0, TG_PARTS);
}

/* ---- settings that change while it runs ---- */

bool tg_optimizer_set_rate(tg_optimizer *optimizer, double lr)
{
    if (!optimizer || !(lr > 0 && isfinite(lr)))
        return false;
    optimizer->config.lr = lr;
    return true;
}

/* One `*` stands for any text. */
static bool matches(const char *name, const char *pattern)
{
    const char *star = strchr(pattern, '*');
    if (!star)
        return strcmp(name, pattern) == 0;
    const size_t head = (size_t)(star - pattern), tail = strlen(star + 1), length = strlen(name);
    return length >= head + tail && strncmp(name, pattern, head) == 0 && strcmp(name + length - tail, star + 1) == 0;
}

int tg_optimizer_group(tg_optimizer *optimizer, const char *pattern, double rate_factor, double weight_decay)
{
    if (!optimizer || optimizer->wrong || !pattern || !is_finite_and_not_negative(rate_factor) ||
        !is_finite_and_not_negative(weight_decay) || tg_parameters_count(optimizer->parameters) != optimizer->count)
        return -1;
    int count = 0;
    for (int i = 0; i < optimizer->count; i++)
        if (matches(tg_parameters_at(optimizer->parameters, i)->name, pattern)) {
            optimizer->factors[i] = (tg_update_factor){rate_factor, weight_decay};
            count++;
        }
    return count;
}

/* ---- state ---- */

tg_update_state tg_optimizer_state(const tg_optimizer *optimizer)
{
    tg_update_state state = {.product = {1, 1}};
    if (!optimizer || optimizer->wrong)
        return state;
    state.name = optimizer->rule->name;
    state.states = optimizer->rule->states;
    state.size = optimizer->size;
    state.element = tg_dtype_size(tg_parameters_dtype(optimizer->parameters));
    state.steps = optimizer->steps;
    memcpy(state.product, optimizer->product, sizeof state.product);
    for (int k = 0; k < TG_UPDATE_STATES; k++)
        state.state[k] = optimizer->state[k];
    return state;
}

bool tg_optimizer_restore(tg_optimizer *optimizer, const tg_update_state *state)
{
    if (!optimizer || optimizer->wrong || !state || state->states != optimizer->rule->states || state->steps < 0 ||
        (state->size && state->size != optimizer->size) ||
        (state->element && state->element != tg_dtype_size(tg_parameters_dtype(optimizer->parameters))) ||
        (state->name && optimizer->rule->name && strcmp(state->name, optimizer->rule->name) != 0))
        return false;
    for (int k = 0; k < state->states; k++)
        if (!state->state[k])
            return false;
    const size_t bytes = (size_t)optimizer->size * tg_dtype_size(tg_parameters_dtype(optimizer->parameters));
    for (int k = 0; k < state->states; k++)
        memmove(optimizer->state[k], state->state[k], bytes);
    optimizer->steps = state->steps;
    memcpy(optimizer->product, state->product, sizeof optimizer->product);
    return true;
}
