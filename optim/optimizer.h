/* Optimisers: AdamW, Adam and SGD over a parameter set.
 *
 *     tg_optimizer *adamw = tg_optimizer_new(set, &(tg_optimizer_config){.kind = TG_ADAMW, .lr = 1e-3});
 *     ...
 *     tg_backward(loss);
 *     if (!tg_optimizer_step(adamw))
 *         fprintf(stderr, "%s\n", tg_optimizer_error(adamw));
 *
 * A step applies the gradients and then forgets them, so that the next backward pass starts afresh. With g
 * the gradient (after clipping), t = 1 at the first step, and lr the rate after the schedule:
 *
 *     AdamW   m = beta1 m + (1 - beta1) g
 *             v = beta2 v + (1 - beta2) g^2
 *             p = p - lr decay p - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
 *     Adam    the same, but with decay p added to g instead
 *     SGD     u = momentum u + (g + decay p)
 *             p = p - lr u, or with Nesterov's step p = p - lr (g + decay p + momentum u)
 *
 * AdamW is that of Loshchilov and Hutter (arXiv 1711.05101) in its widespread form: the decay is multiplied by the
 * learning rate, which in the paper it is not. Adam is that of Kingma and Ba (arXiv 1412.6980).
 * Decay applies to the parameters whose `decay` is set: weights, but not biases and norms.
 */
#ifndef TG_OPTIMIZER_H
#define TG_OPTIMIZER_H

#include "autograd/parameters.h"
#include "optim/schedule.h"

TG_API_BEGIN

typedef enum tg_optimizer_kind { TG_ADAMW, TG_ADAM, TG_SGD } tg_optimizer_kind;

typedef struct tg_optimizer_config {
    tg_optimizer_kind kind; /* 0: AdamW */
    double lr;              /* 0 means 1e-3 */
    tg_schedule schedule;   /* 0: constant */
    double weight_decay;    /* 0: none */
    double clip_norm; /* gradients whose norm over all parameters is larger are scaled down to it. 0: never */
    double beta1, beta2; /* Adam and AdamW; 0 means 0.9 and 0.999 */
    double epsilon;      /* Adam and AdamW; 0 means 1e-8 */
    double momentum;     /* SGD; 0: none */
    bool nesterov;       /* SGD */
} tg_optimizer_config;

/* NULL, or what is wrong with the configuration: a negative rate, a momentum of 1, ... */
const char *tg_optimizer_config_error(const tg_optimizer_config *config);

/* "adamw", "adam", "sgd", and back; false and nothing written for another name. */
const char *tg_optimizer_name(tg_optimizer_kind kind);
bool tg_optimizer_from_name(const char *name, tg_optimizer_kind *kind);

typedef struct tg_optimizer tg_optimizer;

/* An optimiser of these parameters, which must outlive it; `config` NULL means all defaults. NULL if out of
 * memory, if the configuration or the parameter set has an error, or without parameters. */
tg_optimizer *tg_optimizer_new(tg_parameters *parameters, const tg_optimizer_config *config);
void tg_optimizer_free(tg_optimizer *optimizer);

/* One step. Parameters that the backward passes did not reach have the gradient zero, so momentum and decay
 * still move them; those whose `gradient` is NULL stay as they are.
 *
 * Refused, with false, nothing changed and the reason in tg_optimizer_error, if no parameter has a gradient,
 * or if the norm of the gradient is infinite or NaN: one such number would spoil the moments for good. The
 * bad gradient is forgotten, so training may go on with the next batch; a refused step does not count. */
bool tg_optimizer_step(tg_optimizer *optimizer);

/* Why the last step was refused; NULL if it was not. */
const char *tg_optimizer_error(const tg_optimizer *optimizer);

/* Steps taken so far, and the learning rate of the next one. */
int64_t tg_optimizer_steps(const tg_optimizer *optimizer);
double tg_optimizer_rate(const tg_optimizer *optimizer);

/* The norm over all parameters of the gradient of the last step, before clipping. */
double tg_optimizer_gradient_norm(const tg_optimizer *optimizer);

TG_API_END
#endif
