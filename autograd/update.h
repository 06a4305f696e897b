/* Updates: an optimiser's loop, run over all parameters of a set.
 *
 *     static void descend(const tg_update *u)                          // p = p - rate g, in one type
 *     {
 *         float *p = u->parameter;
 *         const float *g = u->gradient;
 *         for (size_t i = 0; i < u->n; i++)
 *             p[i] -= (float)(u->rate * u->gradient_scale) * g[i];
 *     }
 *     ...
 *     tg_parameters_update(set, descend, &(tg_update){.rate = 0.1, .gradient_scale = 1}, NULL);
 *
 * Long work is shared among threads: element i of a parameter and of its state depends on elements i alone.
 */
#ifndef TG_UPDATE_H
#define TG_UPDATE_H

#include "autograd/parameters.h"

TG_API_BEGIN

enum { TG_UPDATE_STATES = 2 };

/* A run of numbers in one step, as a loop gets it. */
typedef struct tg_update {
    tg_dtype dtype;
    size_t n;
    void *parameter;
    void *gradient;                /* forgotten after the step: it may be overwritten */
    void *state[TG_UPDATE_STATES]; /* what the optimiser keeps, laid out like the values of the set */
    double rate;                   /* learning rate */
    double decay;                  /* weight decay */
    double gradient_scale;         /* what the gradient is multiplied by first: clipping */
    const void *settings;          /* for the loop */
} tg_update;

typedef void (*tg_update_loop)(const tg_update *u);

/* What differs from parameter to parameter: a factor for the rate, and the decay. */
typedef struct tg_update_factor {
    double rate, decay;
} tg_update_factor;

/* Runs the loop over every parameter that has a gradient buffer. `step` has the beginning of each state block (of the
 * size of the set's values, or NULL), rate, decay, scale and settings; where there are `factors`, one for each
 * parameter, the rate is multiplied by them and the decay is theirs. */
void tg_parameters_update(tg_parameters *set, tg_update_loop loop, const tg_update *step,
                          const tg_update_factor *factors);

/* The same for parts first .. first + count - 1 (autograd/parameters.h) of every parameter only. */
void tg_parameters_update_parts(tg_parameters *set, tg_update_loop loop, const tg_update *step,
                                const tg_update_factor *factors, int first, int count);

/* All that an optimiser keeps from step to step: what a run that is resumed needs besides the parameters. */
typedef struct tg_update_state {
    const char *name;              /* of the optimiser; NULL: unknown */
    int states;                    /* how many blocks there are */
    int64_t size;                  /* numbers in each of them; 0: as many as the set has values */
    void *state[TG_UPDATE_STATES]; /* the blocks, each of the size and type of the set's values */
    int64_t steps;
    double product[2]; /* products over the steps so far, 1 at first: beta1^steps, ... */
} tg_update_state;

/* ---- loops of the core, compiled for each instruction set; g = gradient_scale gradient ---- */

/* AdamW (Loshchilov and Hutter, arXiv 1711.05101), state 0 the first moment m, state 1 the second v:
 *
 *     m = beta1 m + (1 - beta1) g          v = beta2 v + (1 - beta2) g^2
 *     p = p - rate decay p - rate (m / correction1) / (sqrt(v / correction2) + epsilon) */
typedef struct tg_adam_settings {
    double beta1, beta2, epsilon;
    double correction1, correction2; /* 1 - beta^step */
} tg_adam_settings;
void tg_update_adamw(const tg_update *u); /* settings: tg_adam_settings */

/* Gradient descent with momentum (Sutskever et al., 2013, in PyTorch's form), state 0 the velocity:
 *
 *     velocity = momentum velocity + g + decay p
 *     p = p - rate velocity, or with Nesterov's step p = p - rate (g + decay p + momentum velocity) */
typedef struct tg_sgd_settings {
    double momentum;
    bool nesterov;
} tg_sgd_settings;
void tg_update_sgd(const tg_update *u); /* settings: tg_sgd_settings */

TG_API_END
#endif
