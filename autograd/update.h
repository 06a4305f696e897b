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
 * Long loops are divided among threads, so element i of a parameter and of its state must depend on elements i alone. A
 * loop that needs the whole parameter, as a matrix, asks for scratch memory: see `scratch`.
 */
#ifndef TG_UPDATE_H
#define TG_UPDATE_H

#include "autograd/parameters.h"

TG_API_BEGIN

enum { TG_UPDATE_STATES = 2 };

/* The argument of a loop: a contiguous run of numbers in one step. */
typedef struct tg_update {
    tg_dtype dtype;
    size_t n;
    void *parameter;
    void *gradient;                /* discarded after the step, so the loop may overwrite it */
    void *state[TG_UPDATE_STATES]; /* the optimiser's state, laid out like the values of the set */
    double rate;                   /* learning rate */
    double decay;                  /* weight decay */
    double gradient_scale;         /* factor by which the gradient is multiplied first, for clipping */
    const void *settings;          /* for the loop */

    /* Scratch memory for the loop; NULL: none. If set, the loop is called once for each parameter, on the calling
     * thread, with all its numbers, and `whole` is the parameter. */
    void *scratch;
    const tg_parameter *whole;
} tg_update;

typedef void (*tg_update_loop)(const tg_update *u);

/* Per parameter: a factor for the rate, and the decay. */
typedef struct tg_update_factor {
    double rate, decay;
} tg_update_factor;

/* Runs the loop over every parameter that has a gradient buffer. `step` gives the start of each state block (of the
 * size of the set's values, or NULL), rate, decay, scale and settings. `factors`, if not NULL, has an entry for each
 * parameter: the rate is multiplied by its factor, and its decay replaces that of `step`. */
void tg_parameters_update(tg_parameters *set, tg_update_loop loop, const tg_update *step,
                          const tg_update_factor *factors);

/* tg_parameters_update for parts first .. first + count - 1 (autograd/parameters.h) of every parameter only. A step
 * with scratch memory needs all parts; with fewer nothing happens. */
void tg_parameters_update_parts(tg_parameters *set, tg_update_loop loop, const tg_update *step,
                                const tg_update_factor *factors, int first, int count);

/* The state that an optimiser keeps between steps: a resumed run needs it and the parameters. */
typedef struct tg_update_state {
    const char *name;              /* name of the optimiser; NULL: unknown */
    int states;                    /* how many blocks there are */
    int64_t size;                  /* numbers in each block; 0: as many as the set has values */
    size_t element;                /* bytes of a number; 0: those of the set's values */
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

/* Default settings of Adam, and the default learning rate of Adam and SGD, for the optimisers of optim/ and for exported
 * training steps: members of an initialiser, a number. */
#define TG_ADAM_DEFAULTS         .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8
#define TG_DEFAULT_LEARNING_RATE 1e-3

/* Gradient descent with momentum (Sutskever et al., 2013, in PyTorch's form), state 0 the velocity:
 *
 *     velocity = momentum velocity + g + decay p
 *     p = p - rate velocity, or with Nesterov's step p = p - rate (g + decay p + momentum velocity) */
typedef struct tg_sgd_settings {
    double momentum;
    bool nesterov;
} tg_sgd_settings;
void tg_update_sgd(const tg_update *u); /* settings: tg_sgd_settings */

/* Muon (Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024, in the form of Liu et al.,
 * arXiv 2502.16982), for one matrix: dim[0] is its rows, all other dimensions its columns; state 0 the momentum:
 *
 *     m = momentum m + (1 - momentum) g
 *     p = p - rate decay p - rate 0.2 sqrt(max(rows, columns)) N(momentum m + (1 - momentum) g)
 *
 * N(x) has the singular vectors of x and singular values near 1 (0.7 to 1.2; those far below the largest stay smaller):
 * five steps x = 3.4445 x - 4.7750 x x^T x + 2.0315 (x x^T)^2 x from x scaled to norm 1. The factor makes the step as
 * long as AdamW's, so that AdamW's learning rate and decay suit it too. tg_update_muon_scratch returns the scratch
 * memory that it needs, in numbers of the parameter's type; 0 if the shape is not a matrix of at least two rows and
 * columns, which this loop cannot update. */
typedef struct tg_muon_settings {
    double momentum;
} tg_muon_settings;
void tg_update_muon(const tg_update *u); /* settings: tg_muon_settings */
int64_t tg_update_muon_scratch(const tg_shape *shape);

TG_API_END
#endif
