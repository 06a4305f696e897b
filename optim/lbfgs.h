/* L-BFGS: a quasi-Newton method with a line search, for small models, full batches and high precision. Usually in
 * double.
 *
 *     static bool loss_of(void *context, double *loss)       // at the values that the parameters have now
 *     {
 *         struct problem *problem = context;
 *         tg_tape_reset(problem->tape);
 *         tg_tensor mean = tg_mse(model(problem), problem->target);
 *         *loss = tg_item(mean);
 *         return tg_backward(mean);
 *     }
 *     ...
 *     tg_lbfgs *lbfgs = tg_lbfgs_new(set, NULL);
 *     while (tg_lbfgs_steps(lbfgs) < 1000 && tg_lbfgs_step(lbfgs, loss_of, &problem))
 *         printf("%g\n", tg_lbfgs_loss(lbfgs));
 *     if (tg_lbfgs_error(lbfgs)) ...
 *     tg_lbfgs_free(lbfgs);
 *
 * A step goes from p to p + t d. The direction d = -H g is computed by the two-loop recursion (Nocedal and Wright,
 * Numerical Optimization, algorithm 7.4) from the last `history` pairs of a step s = t d and the change y of the
 * gradient in it, starting from H = s.y / y.y; pairs with s.y <= 1e-10 are dropped. The length t satisfies the strong
 * Wolfe conditions
 *
 *     loss(p + t d) <= loss(p) + 0.0001 t g.d     and     |gradient(p + t d).d| <= 0.9 |g.d|
 *
 * (algorithms 3.5 and 3.6 there, by cubic interpolation, with at most 25 trials). The first length tried is `lr`; in
 * the first step lr min(1, 1 / |g|_1). These are the choices of PyTorch's LBFGS with line_search_fn='strong_wolfe'.
 *
 * The loss must be the same function in each call: the same samples, no dropout. All sums are computed in double and in
 * a fixed order, so steps are bit-identical on any number of threads.
 */
#ifndef TG_LBFGS_H
#define TG_LBFGS_H

#include "autograd/parameters.h"

TG_API_BEGIN

typedef struct tg_lbfgs_config {
    double lr;                 /* the first length tried. 0: 1 */
    int history;               /* number of pairs kept; each takes two doubles per parameter. 0: 100 */
    double gradient_tolerance; /* converged if every derivative is at most this large. 0: 1e-7 */
    double change_tolerance;   /* also converged if a step changes the loss, or every parameter, by less. 0: 1e-9 */
} tg_lbfgs_config;

typedef struct tg_lbfgs tg_lbfgs;

/* NULL, or the error in the configuration. */
const char *tg_lbfgs_config_error(const tg_lbfgs_config *config);

/* An L-BFGS over these parameters, which must outlive it; `config` NULL: all defaults. NULL if out of memory, if the
 * configuration or the parameter set has an error, or without parameters. */
tg_lbfgs *tg_lbfgs_new(tg_parameters *parameters, const tg_lbfgs_config *config);
void tg_lbfgs_free(tg_lbfgs *lbfgs);

/* Writes the loss at the current values of the parameters and computes its gradient with tg_backward. Returns false if
 * it failed. The search avoids points with an infinite or NaN loss, except the first point. */
typedef bool (*tg_lbfgs_loss_function)(void *context, double *loss);

/* One step: a direction and a search along it, with one or more evaluations of the loss. Gradients are cleared. True if
 * another step may follow. False if it converged, found no smaller loss (tg_lbfgs_error returns NULL), or failed; on
 * failure the values are those from before this step. */
bool tg_lbfgs_step(tg_lbfgs *lbfgs, tg_lbfgs_loss_function loss, void *context);

/* Discards the history, the end and the error: for another loss, or after other code has changed the values. */
void tg_lbfgs_restart(tg_lbfgs *lbfgs);

/* The error, or NULL. */
const char *tg_lbfgs_error(const tg_lbfgs *lbfgs);

/* The loss after the last step, NaN before the first; the number of steps and of evaluations of the loss. */
double tg_lbfgs_loss(const tg_lbfgs *lbfgs);
int64_t tg_lbfgs_steps(const tg_lbfgs *lbfgs);
int64_t tg_lbfgs_evaluations(const tg_lbfgs *lbfgs);

TG_API_END
#endif
