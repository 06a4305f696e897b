/* What a function does to a standard normal number: integrals by Gauss and Legendre's rule over panels, which are
 * halved until the halves agree with the whole. So kinks and jumps, which may be anywhere, are found. */
#include "nn/moments.h"

#include "autograd/grad.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 16, SUMS = 4, HALVINGS = 60, PANELS = 6000, REACH = 13, GRID = 16001 };

typedef struct measured {
    tg_tensor (*function)(const void *user, tg_tensor x);
    const void *user;
    tg_tape *tape;
    double node[NODES], weight[NODES]; /* on [-1, 1] */
    int left;                          /* panels that may still be halved: none for ever where f oscillates */
} measured;

typedef struct panel {
    double from, to, sum[SUMS]; /* of f, f^2, f'^2 and of f' = 0 */
    int halvings;
} panel;

/* Zeros of the Legendre polynomial, by Newton's method. */
static void find_nodes(measured *m)
{
    for (int i = 0; i < NODES; i++) {
        double x = cos(3.14159265358979323846 * (i + 0.75) / (NODES + 0.5)), slope = 1;
        for (int round = 0; round < 8; round++) {
            double before = 1, p = x;
            for (int n = 2; n <= NODES; n++) {
                const double next = ((2 * n - 1) * x * p - (n - 1) * before) / n;
                before = p;
                p = next;
            }
            slope = NODES * (x * p - before) / (x * x - 1);
            x -= p / slope;
        }
        m->node[i] = x;
        m->weight[i] = 2 / ((1 - x * x) * slope * slope);
    }
}

/* f and f' at these places. */
static bool values(measured *m, const double *x, int count, double *f, double *derivative)
{
    tg_tape_reset(m->tape);
    const tg_tensor at = tg_variable(m->tape, TG_F64, x, TG_SHAPE(count)), y = m->function(m->user, at);
    tg_tensor slope;
    return tg_grad(&y, 1, &at, 1, NULL, false, &slope) && tg_read(y, TG_F64, f, count) &&
           tg_read(slope, TG_F64, derivative, count);
}

static bool integrate(measured *m, panel *p)
{
    double x[NODES], f[NODES], slope[NODES];
    const double middle = (p->from + p->to) / 2, half = (p->to - p->from) / 2;
    for (int i = 0; i < NODES; i++)
        x[i] = middle + half * m->node[i];
    if (!values(m, x, NODES, f, slope))
        return false;
    memset(p->sum, 0, sizeof p->sum);
    for (int i = 0; i < NODES; i++) {
        const double w = half * m->weight[i] * exp(-x[i] * x[i] / 2) / sqrt(2 * 3.14159265358979323846);
        const double of[SUMS] = {f[i], f[i] * f[i], slope[i] * slope[i], slope[i] == 0};
        for (int k = 0; k < SUMS; k++)
            p->sum[k] += w * of[k];
    }
    return true;
}

/* Adds the integrals over a panel, halved where that makes a difference. */
static bool add_panel(measured *m, panel whole, double total[SUMS])
{
    const double middle = (whole.from + whole.to) / 2;
    panel half[2] = {{.from = whole.from, .to = middle, .halvings = whole.halvings + 1},
                     {.from = middle, .to = whole.to, .halvings = whole.halvings + 1}};
    bool agrees = true;
    if (!integrate(m, &half[0]) || !integrate(m, &half[1]))
        return false;
    for (int k = 0; k < SUMS; k++) {
        const double sum = half[0].sum[k] + half[1].sum[k];
        agrees &= !(fabs(sum - whole.sum[k]) > 1e-14 * fabs(sum) + 1e-17);
    }
    if (!agrees && whole.halvings < HALVINGS && m->left-- > 0)
        return add_panel(m, half[0], total) && add_panel(m, half[1], total);
    for (int k = 0; k < SUMS; k++)
        total[k] += half[0].sum[k] + half[1].sum[k];
    return true;
}

/* The largest |f'| on [-8, 8]; infinite if it is larger still far away. */
static bool find_largest(measured *m, double *largest)
{
    double *x = malloc(3 * (size_t)GRID * sizeof *x), far[4] = {-1e6, -1e3, 1e3, 1e6}, f[4], slope[4];
    bool fine = x != NULL;
    for (int i = 0; fine && i < GRID; i++)
        x[i] = -8 + 16. * i / (GRID - 1);
    fine = fine && values(m, x, GRID, x + GRID, x + 2 * (size_t)GRID) && values(m, far, 4, f, slope);
    *largest = 0;
    for (int i = 0; fine && i < GRID; i++)
        *largest = fmax(*largest, fabs(x[2 * GRID + i]));
    for (int i = 0; fine && i < 4; i++)
        if (!(fabs(slope[i]) <= 1.001 * *largest))
            *largest = INFINITY;
    free(x);
    return fine;
}

bool tg_moments_measure(tg_tensor (*f)(const void *user, tg_tensor x), const void *user, tg_moments *moments)
{
    measured m = {.function = f, .user = user, .tape = tg_tape_new(), .left = PANELS};
    double total[SUMS] = {0}, largest;
    find_nodes(&m);
    bool fine = f && moments;
    for (int i = -4 * REACH; i < 4 * REACH && fine; i++) {
        panel p = {.from = i / 4., .to = (i + 1) / 4.};
        fine = integrate(&m, &p) && add_panel(&m, p, total);
    }
    fine = fine && find_largest(&m, &largest);
    tg_tape_free(m.tape);
    if (fine)
        *moments = (tg_moments){.mean = total[0],
                                .variance = total[1] - total[0] * total[0],
                                .square = total[1],
                                .derivative_square = total[2],
                                .dead = total[3],
                                .largest_derivative = largest};
    return fine;
}
