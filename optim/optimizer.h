/* Optimisers over a parameter set: AdamW, Adam, SGD, NAdam, RMSprop, Lion, Adagrad, Muon, or one of your own.
 *
 *     tg_optimizer *adamw = tg_optimizer_new(set, &(tg_optimizer_config){.kind = TG_ADAMW, .lr = 1e-3});
 *     ...
 *     tg_backward(loss);
 *     if (!tg_optimizer_step(adamw))
 *         fprintf(stderr, "%s\n", tg_optimizer_error(adamw));
 *
 * A step applies the gradients and then discards them; the next backward pass overwrites them. With g the gradient
 * (after clipping), t = 1 at the first step, and lr the learning rate after the schedule:
 *
 *     AdamW     m = beta1 m + (1 - beta1) g
 *               v = beta2 v + (1 - beta2) g^2
 *               p = p - lr decay p - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
 *     Adam      the same, but with decay p added to g instead
 *     SGD       u = momentum u + (g + decay p)
 *               p = p - lr u, or with Nesterov's step p = p - lr (g + decay p + momentum u)
 *     NAdam     Adam with Nesterov's step: p moves by what the next m will be,
 *               with mu(t) = beta1 (1 - 0.96^(t/250) / 2) for beta1 there
 *     RMSprop   v = beta2 v + (1 - beta2) g^2, of g + decay p
 *               u = momentum u + g / (sqrt(v) + epsilon), p = p - lr u
 *     Lion      p = p - lr (sign(beta1 m + (1 - beta1) g) + decay p), then m = beta2 m + (1 - beta2) g
 *     Adagrad   v = v + g^2, of g + decay p
 *               p = p - lr g / (sqrt(v) + epsilon)
 *     Muon      for weights that are matrices (a convolution's too): m = beta1 m + (1 - beta1) g,
 *               p = p - lr decay p - 0.2 lr sqrt(max(rows, columns)) N(beta1 m + (1 - beta1) g), where N makes
 *               all singular values about 1 (autograd/update.h); embeddings and all others use AdamW
 *
 * AdamW is that of Loshchilov and Hutter (arXiv 1711.05101) in its widespread form: the decay is multiplied by the
 * learning rate, unlike in the paper. Adam is that of Kingma and Ba (arXiv 1412.6980); optimizers.c cites the sources
 * of the others. Decay applies to parameters whose `decay` is set: weights, but not biases and norms.
 *
 * An optimiser is one constant struct. To add one to the library, write its loop and its tg_optimizer_rule in
 * optimizers.c and its line in optimizers.def. To use your own without changing the library, put the address of its
 * rule into the configuration.
 */
#ifndef TG_OPTIMIZER_H
#define TG_OPTIMIZER_H

#include "autograd/update.h"
#include "optim/schedule.h"

TG_API_BEGIN

typedef enum tg_optimizer_kind {
#define TG_OPTIMIZER(constant, name) constant,
#include "optim/optimizers.def"
#undef TG_OPTIMIZER
} tg_optimizer_kind;

typedef struct tg_optimizer_rule tg_optimizer_rule;

typedef struct tg_optimizer_config {
    tg_optimizer_kind kind; /* 0: AdamW */
    double lr;              /* 0: the rule's default, 1e-3 for AdamW, Adam and SGD */
    tg_schedule schedule;   /* 0: constant */
    double weight_decay;    /* 0: none */
    double clip_norm;       /* largest norm of all gradients together: larger ones are scaled down; 0: no limit */
    double beta1, beta2;    /* 0: the rule's defaults, 0.9 and 0.999 for Adam and its variants */
    double epsilon;         /* 0: the rule's default, 1e-8 */
    double momentum;        /* SGD and RMSprop; 0: none */
    bool nesterov;          /* SGD */
    const tg_optimizer_rule *rule; /* your own optimiser in place of `kind`; NULL: none */
} tg_optimizer_config;

/* The settings that only some rules use. */
enum {
    TG_USES_BETA1 = 1,
    TG_USES_BETA2 = 2,
    TG_USES_EPSILON = 4,
    TG_USES_MOMENTUM = 8,
    TG_USES_NESTEROV = 16,
};

/* An optimiser's rule. */
struct tg_optimizer_rule {
    const char *name;
    unsigned uses;                /* TG_USES_ ... */
    tg_optimizer_config defaults; /* defaults of lr, beta1, beta2 and epsilon */
    double rate_over_adamw;       /* typical learning rate, as a multiple of AdamW's; 0: 1 */
    int states;                   /* numbers kept for each parameter, 0 .. TG_UPDATE_STATES, zeros at first */

    /* Called before the loops of a step (counted from 1): updates two numbers, 1 at first, that are products over the
     * steps so far. NULL: nothing to do. */
    void (*begin)(const tg_optimizer_config *config, int64_t step, double product[2]);

    tg_update_loop update; /* its tg_update.settings point to a tg_optimizer_step_info */

    /* Scratch memory that the update of this parameter needs, in numbers. With it `update` gets whole parameters
     * (tg_update.scratch), and a step cannot be divided into parts. NULL: none. */
    int64_t (*scratch)(const tg_parameter *parameter);
    bool squares; /* it stores squares of gradients, which must not overflow: see tg_optimizer_step */
};

typedef struct tg_optimizer_step_info {
    const tg_optimizer_config *config; /* defaults filled in */
    int64_t step;                      /* 1 for the first */
    const double *product;
} tg_optimizer_step_info;

#define TG_OPTIMIZER(constant, name) extern const tg_optimizer_rule tg_optimizer_##name;
#include "optim/optimizers.def"
#undef TG_OPTIMIZER

/* NULL, or the error in the configuration: a negative rate, a momentum of 1, ... */
const char *tg_optimizer_config_error(const tg_optimizer_config *config);

/* Converts to the name in optimizers.def ("adamw") and back; NULL, or false with nothing written, if unknown. */
const char *tg_optimizer_name(tg_optimizer_kind kind);
bool tg_optimizer_from_name(const char *name, tg_optimizer_kind *kind);

/* True if the optimiser uses a setting, named as in tg_optimizer_config ("momentum"): for programs that refuse options
 * without an effect. All use lr, schedule, weight_decay and clip_norm; false for an unknown name. */
bool tg_optimizer_uses(tg_optimizer_kind kind, const char *setting);

/* A typical learning rate as a multiple of AdamW's for the same model: 20 for SGD, 0.1 for Lion; for programs that
 * choose a rate. From experience, not exact. 1 for an unknown kind. */
double tg_optimizer_rate_over_adamw(tg_optimizer_kind kind);

typedef struct tg_optimizer tg_optimizer;

/* An optimiser of these parameters, which must outlive it; `config` NULL means all defaults. NULL if out of memory or
 * for a NULL set. If the configuration or the set has an error, every step is refused with it. */
tg_optimizer *tg_optimizer_new(tg_parameters *parameters, const tg_optimizer_config *config);
void tg_optimizer_free(tg_optimizer *optimizer);

/* The parameters of the optimiser; NULL for NULL. */
tg_parameters *tg_optimizer_parameters(const tg_optimizer *optimizer);

/* One step. Parameters that the backward passes did not reach have the gradient zero, so momentum and decay
 * still move them; those whose `gradient` is NULL stay as they are.
 *
 * Refuses the step, with false, nothing changed and the reason in tg_optimizer_error, if no parameter has a gradient,
 * or if the norm of the gradient is infinite or NaN. A rule that stores squares also refuses norms above 1e19 in float
 * or 1e154 in double after clipping. One such gradient would spoil the moments for good. It is discarded, so training
 * may continue with the next batch; a refused step does not count. The first step is refused, too, if all weights that
 * have an initialiser (tg_parameter.initial) are zero and one of them gets no gradient: no initialiser has run. */
bool tg_optimizer_step(tg_optimizer *optimizer);

/* The step for parts first .. first + count - 1 (autograd/parameters.h) of every parameter, for processes that share a
 * step. `norm` is the norm of the whole gradient; of the gradient itself a process needs only its parts. All other
 * parts, of parameters and of the state, stay as they are; the processes exchange them. Together the parts are
 * bit-identical to tg_optimizer_step. All processes refuse a step as tg_optimizer_step does; the process with the
 * parameter whose gradient is not finite names it. */
bool tg_optimizer_step_parts(tg_optimizer *optimizer, double norm, int first, int count);

/* True if a step can be divided into parts: for every rule except those that need whole matrices (Muon). */
bool tg_optimizer_has_parts(const tg_optimizer *optimizer);

/* Why the last step was refused; NULL if it was not. */
const char *tg_optimizer_error(const tg_optimizer *optimizer);

/* Steps taken so far, and the learning rate of the next one. */
int64_t tg_optimizer_steps(const tg_optimizer *optimizer);
double tg_optimizer_rate(const tg_optimizer *optimizer);

/* The norm of the gradient over all parameters in the last step, before clipping. */
double tg_optimizer_gradient_norm(const tg_optimizer *optimizer);

/* The state of the optimiser, for a file (nn/files/training_state.h): the blocks are the optimiser's own memory and
 * live as long as it. Restoring sets steps and products, and copies blocks unless they are its own. False, with nothing
 * changed, if the optimiser has other blocks or another name. Settings are not part of the state: to resume, set kind,
 * rate and groups again. */
tg_update_state tg_optimizer_state(const tg_optimizer *optimizer);
bool tg_optimizer_restore(tg_optimizer *optimizer, const tg_update_state *state);

/* Sets the learning rate, before the schedule, from the next step on. False, with nothing changed, if it is not a
 * positive number. */
bool tg_optimizer_set_rate(tg_optimizer *optimizer, double lr);

/* From now on parameters whose names match the pattern, in which one `*` stands for any text, have their learning rate
 * multiplied by this factor, and this weight decay; factor 0 freezes them. Returns their number; -1, with nothing
 * changed, if the factor or decay is negative or NaN, or if the set has grown. */
int tg_optimizer_group(tg_optimizer *optimizer, const char *pattern, double rate_factor, double weight_decay);

TG_API_END
#endif
