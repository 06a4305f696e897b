#include "examples/programs/study/burgers.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.141592653589793, viscosity = 0.01 / 3.141592653589793;

/* ---- the solution ---- */

/* u = -int sin(pi y) p(y) dy / int p(y) dy,   p(y) = exp(-cos(pi y) / (2 pi nu) - (x - y)^2 / (4 nu t)).
 * With y = x - z sqrt(4 nu t) the error of the trapezoidal rule over z, about e^-(pi / 0.1)^2 / 4.2, is far below
 * rounding, and beyond z = 12 p is negligible. */
double burgers_exact(double t, double x)
{
    const double width = sqrt(4 * viscosity * t), steps = 120, step = 0.1;
    double above = 0, below = 0;
    if (t <= 0)
        return -sin(pi * x);
    for (double i = -steps; i <= steps; i++) {
        const double z = i * step, y = x - z * width;
        const double weight = exp(-cos(pi * y) / (2 * pi * viscosity) - z * z);
        above -= sin(pi * y) * weight;
        below += weight;
    }
    return above / below;
}

/* ---- the points ---- */

/* t and x of point number i of the grid's edges: first t = 0, then x = -1, then x = 1. */
static void edge(int32_t i, double *t, double *x)
{
    const int32_t along = i - BURGERS_PLACES;
    *t = along < 0 ? 0 : along % BURGERS_TIMES * 0.01;
    *x = along < 0 ? -1 + 2. * i / (BURGERS_PLACES - 1) : along < BURGERS_TIMES ? -1 : 1;
}

/* One number in each of `count` equal parts of low to high, in random order. */
static bool draw_column(double *to, int64_t count, double low, double high, tg_rng *rng)
{
    int32_t *order = malloc(((size_t)count + 1) * sizeof *order);
    for (int64_t i = 0; order && i < count; i++)
        order[i] = (int32_t)i;
    if (order)
        tg_rng_shuffle(rng, (size_t)count, order);
    for (int64_t i = 0; order && i < count; i++)
        to[i] = low + (high - low) * (order[i] + tg_rng_uniform(rng)) / (double)count;
    free(order);
    return order;
}

bool burgers_draw(burgers *b, int64_t given, int64_t inner, tg_rng *rng)
{
    int32_t order[BURGERS_EDGE];
    *b = (burgers){.given = given, .inner = inner + BURGERS_EDGE};
    double *const numbers = given <= BURGERS_EDGE ? malloc((size_t)(3 * given + 2 * b->inner) * sizeof *numbers) : NULL;
    if (!numbers)
        return false;
    b->given_t = numbers;
    b->given_x = b->given_t + given;
    b->given_u = b->given_x + given;
    b->t = b->given_u + given;
    b->x = b->t + b->inner;
    for (int32_t i = 0; i < BURGERS_EDGE; i++) {
        order[i] = i;
        edge(i, &b->t[inner + i], &b->x[inner + i]);
    }
    tg_rng_shuffle(rng, BURGERS_EDGE, order);
    for (int64_t i = 0; i < given; i++) {
        edge(order[i], &b->given_t[i], &b->given_x[i]);
        b->given_u[i] = order[i] < BURGERS_PLACES ? burgers_exact(0, b->given_x[i]) : 0;
    }
    const bool fine = draw_column(b->t, inner, 0, 1, rng) && draw_column(b->x, inner, -1, 1, rng);
    if (!fine)
        burgers_free(b);
    return fine;
}

void burgers_free(burgers *b)
{
    free(b->given_t);
    *b = (burgers){0};
}

/* ---- the loss ---- */

static tg_tensor column(tg_tape *tape, const double *numbers, int64_t count)
{
    return tg_borrow(tape, TG_F64, numbers, TG_SHAPE(count, 1));
}

static tg_tensor net_of(const tg_mlp *net, tg_tensor t, tg_tensor x)
{
    return tg_mlp_forward(net, tg_concat((tg_tensor[]){tg_add_scalar(tg_mul_scalar(t, 2), -1), x}, 2, 1));
}

/* u_t + u u_x - nu u_xx, which is zero for the solution: [inner, 1] */
static tg_tensor residual(const tg_mlp *net, tg_tensor t, tg_tensor x)
{
    const tg_tensor u = net_of(net, t, x), inputs[] = {t, x};
    tg_tensor first[2] = {TG_NONE, TG_NONE}, u_xx = TG_NONE;
    tg_grad(&u, 1, inputs, 2, NULL, true, first);
    tg_grad(&first[1], 1, &x, 1, NULL, true, &u_xx);
    return tg_sub(tg_add(first[0], tg_mul(u, first[1])), tg_mul_scalar(u_xx, viscosity));
}

tg_tensor burgers_loss(tg_tape *tape, const tg_mlp *net, const burgers *b)
{
    const tg_tensor u = net_of(net, column(tape, b->given_t, b->given), column(tape, b->given_x, b->given));
    const tg_tensor f = residual(net, column(tape, b->t, b->inner), column(tape, b->x, b->inner));
    return tg_add(tg_mse(u, column(tape, b->given_u, b->given)), tg_mean(tg_square(f)));
}

/* ---- the error ---- */

double burgers_error(const tg_mlp *net)
{
    enum { COUNT = BURGERS_TIMES * BURGERS_PLACES };
    static double t[COUNT], x[COUNT], u[COUNT];
    static bool known;
    double above = 0, below = 0;
    for (int i = 0; !known && i < COUNT; i++) {
        t[i] = i / BURGERS_PLACES * 0.01;
        x[i] = -1 + 2. * (i % BURGERS_PLACES) / (BURGERS_PLACES - 1);
        u[i] = burgers_exact(t[i], x[i]);
    }
    known = true;
    tg_tape *tape = tg_tape_new();
    tg_no_grad_begin(tape);
    const double *y = tg_f64(net_of(net, column(tape, t, COUNT), column(tape, x, COUNT)));
    for (int i = 0; y && i < COUNT; i++) {
        above += (y[i] - u[i]) * (y[i] - u[i]);
        below += u[i] * u[i];
    }
    tg_tape_free(tape);
    return y ? sqrt(above / below) : NAN;
}
