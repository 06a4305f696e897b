/* Burgers' equation for a physics-informed network (Raissi, Perdikaris and Karniadakis, "Physics informed deep
 * learning, part I", arXiv 1711.10561):
 *
 *     u_t + u u_x = nu u_xx,   nu = 0.01 / pi,   -1 <= x <= 1,   0 <= t <= 1,   u(0, x) = -sin(pi x),   u(t, +-1) = 0
 *
 *     burgers points;
 *     if (!burgers_draw(&points, 100, 10000, &rng)) ...
 *     tg_tensor loss = burgers_loss(tape, net, &points);
 *     double error = burgers_error(net);
 *     burgers_free(&points);
 *
 * A net for it has two inputs, 2 t - 1 and x, one output, u, and parameters in double.
 */
#ifndef STUDY_BURGERS_H
#define STUDY_BURGERS_H

#include <tapegrad.h>

/* The solution is given and compared on a grid of BURGERS_PLACES by BURGERS_TIMES points, x = -1 to 1 and t = 0 to
 * 0.99; its edges, t = 0 and x = +-1, have BURGERS_EDGE points. */
enum { BURGERS_PLACES = 256, BURGERS_TIMES = 100, BURGERS_EDGE = BURGERS_PLACES + 2 * BURGERS_TIMES };

/* Points with a given u, and points at which the equation must hold. */
typedef struct burgers {
    int64_t given, inner;
    double *given_t, *given_x, *given_u; /* [given, 1] */
    double *t, *x;                       /* [inner, 1] */
} burgers;

/* Draws `given` points of the grid's edges, and a Latin hypercube of `inner` points; the equation must hold on all edge
 * points too, as in the paper's program. False if memory runs out, or if the edges have fewer points. */
bool burgers_draw(burgers *b, int64_t given, int64_t inner, tg_rng *rng);
void burgers_free(burgers *b);

/* mean (net - u)^2 over the given points + mean (u_t + u u_x - nu u_xx)^2 over the others. */
tg_tensor burgers_loss(tg_tape *tape, const tg_mlp *net, const burgers *b);

/* The solution, by the transformation of Cole and Hopf (Basdevant et al., Computers and Fluids 14, 1986). */
double burgers_exact(double t, double x);

/* ||net - u|| / ||u|| over the grid; NaN if memory runs out. */
double burgers_error(const tg_mlp *net);

#endif
