/* A network that knows physics: Burgers' equation, whose solution steepens into a shock,
 *
 *     u_t + u u_x = nu u_xx,   nu = 0.01 / pi,   u(0, x) = -sin(pi x),   u(t, -1) = u(t, 1) = 0,
 *
 * solved by a net u(t, x) that sees values only at the edges. Inside, the loss is the equation itself, with second
 * derivatives by tg_grad (Raissi, Perdikaris and Karniadakis, arXiv 1711.10561).
 *
 *     pinn [STEPS]        writes pinn.csv and, if gnuplot is installed, pinn.png */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

enum { EDGE = 192, INNER = 3600, TIMES = 41, PLACES = 257, GRID = TIMES * PLACES };

static const double pi = 3.141592653589793, nu = 0.01 / 3.141592653589793;
static double edge_t[EDGE], edge_x[EDGE], edge_u[EDGE], inner_t[INNER], inner_x[INNER]; /* points to train on */
static double grid_t[GRID], grid_x[GRID];                                               /* points to compare at */
static tg_tape *tape;
static tg_mlp *net; /* of 2 t - 1 and x */

/* The solution by the transformation of Cole and Hopf: the quotient of two integrals over y of
 * exp(-cos(pi y) / (2 pi nu) - (x - y)^2 / (4 nu t)). With y = x - z sqrt(4 nu t) the trapezoidal rule over z is exact
 * to rounding. */
static double solution(double t, double x)
{
    double above = 0, below = 0;
    for (int i = -120; i <= 120; i++) {
        const double z = 0.1 * i, y = x - z * sqrt(4 * nu * t);
        const double weight = exp(-cos(pi * y) / (2 * pi * nu) - z * z);
        above -= sin(pi * y) * weight, below += weight;
    }
    return above / below;
}

/* A third of the edge points at t = 0 and at each side; a quarter of the inner points near x = 0, where the shock is.
 */
static void draw_points(tg_rng rng)
{
    for (int i = 0; i < EDGE; i++) {
        const double along = (i / 3 + tg_rng_uniform(&rng)) / (EDGE / 3);
        edge_t[i] = i % 3 ? along : 0, edge_x[i] = i % 3 ? i % 3 * 2 - 3 : 2 * along - 1;
        edge_u[i] = i % 3 ? 0 : -sin(pi * edge_x[i]);
    }
    for (int i = 0; i < INNER; i++) {
        inner_x[i] = (2 * tg_rng_uniform(&rng) - 1) * (i % 4 ? 1 : 0.2);
        inner_t[i] = (i + tg_rng_uniform(&rng)) / INNER;
    }
    for (int i = 0; i < GRID; i++)
        grid_t[i] = (double)(i / PLACES) / (TIMES - 1), grid_x[i] = 2. * (i % PLACES) / (PLACES - 1) - 1;
}

static tg_tensor column(const double *numbers, int count)
{
    return tg_borrow(tape, TG_F64, numbers, TG_SHAPE(count, 1));
}

static tg_tensor u_of(tg_tensor t, tg_tensor x) /* [count, 1] each */
{
    return tg_mlp_forward(net, tg_concat((tg_tensor[]){tg_add_scalar(tg_mul_scalar(t, 2), -1), x}, 2, 1));
}

/* Mean squares of u less the values at the edges, and of u_t + u u_x - nu u_xx inside. */
static bool loss_of(void *context, double *loss)
{
    (void)context;
    tg_tape_reset(tape);
    const tg_tensor t = column(inner_t, INNER), x = column(inner_x, INNER), inputs[] = {t, x}, u = u_of(t, x);
    tg_tensor first[2] = {TG_NONE, TG_NONE}, u_xx = TG_NONE;
    tg_grad(&u, 1, inputs, 2, NULL, true, first); /* u_t and u_x, with a graph of their own */
    tg_grad(&first[1], 1, &x, 1, NULL, true, &u_xx);
    const tg_tensor residual = tg_sub(tg_add(first[0], tg_mul(u, first[1])), tg_mul_scalar(u_xx, nu));
    const tg_tensor edge = u_of(column(edge_t, EDGE), column(edge_x, EDGE));
    const tg_tensor sum = tg_add(tg_mse(edge, column(edge_u, EDGE)), tg_mean(tg_square(residual)));
    *loss = tg_item(sum);
    return tg_backward(sum);
}

/* The error relative to the solution, in the Euclidean norm over a grid; a line of the file for each point,
 * and an empty one for gnuplot after each time. */
static double write_error(FILE *csv)
{
    double above = 0, below = 0;
    tg_tape_reset(tape);
    const double *u = tg_f64(u_of(column(grid_t, GRID), column(grid_x, GRID)));
    for (int i = 0; u && i < GRID; i++) {
        const double exact = solution(grid_t[i], grid_x[i]);
        above += (u[i] - exact) * (u[i] - exact), below += exact * exact;
        fprintf(csv, "%.17g,%.17g,%.17g,%.17g\n%s", grid_t[i], grid_x[i], u[i], exact, (i + 1) % PLACES ? "" : "\n");
    }
    return u ? sqrt(above / below) : NAN;
}

/* The net's solution over t and x, and both solutions at three times. */
static const char picture[] =
    "set terminal pngcairo size 1000,400 font 'sans,11'; set output 'pinn.png'; set datafile separator ','\n"
    "set multiplot layout 1,2; set palette defined (-1 '#0072b2', 0 'white', 1 '#d55e00'); set cbrange [-1:1]\n"
    "set title 'u, by the net'; set xlabel 't'; set ylabel 'x'; set xrange [0:1]; set yrange [-1:1]\n"
    "plot 'pinn.csv' using 1:2:3 with image notitle\n"
    "set title 'u by the net; dots: the solution'; set xlabel 'x'; set ylabel 'u'; set xrange [-1:1]\n"
    "plot for [b=10:30:10] 'pinn.csv' every :::b::b using 2:3 with lines linetype b/10 title sprintf('t = %g', b/40.), "
    "for [b=10:30:10] 'pinn.csv' every 4:::b::b using 2:4 with points pointtype 7 pointsize 0.4 linetype b/10 "
    "notitle\n";

int main(int argc, char **argv)
{
    const int steps = argc > 1 ? atoi(argv[1]) : 2000;
    if (steps < 1)
        return puts("usage: pinn [STEPS]"), strcmp(argv[1], "--help") == 0 ? 0 : 2;
    const tg_rng rng = tg_rng_seed(1);
    tg_mlp_config config = {.inputs = 2, .hidden = {20, 20, 20, 20}, .outputs = 1, .activation = TG_TANH};
    config.init = TG_INIT_XAVIER_NORMAL, config.dtype = TG_F64;
    net = tg_mlp_new(&rng, &config), tape = tg_tape_new();
    tg_lbfgs *lbfgs = tg_lbfgs_new(tg_mlp_parameters(net), &(tg_lbfgs_config){.change_tolerance = 1e-14});
    draw_points(tg_rng_stream(&rng, "points"));
    while (tg_lbfgs_steps(lbfgs) < steps && tg_lbfgs_step(lbfgs, loss_of, NULL))
        if (tg_lbfgs_steps(lbfgs) % 100 == 0)
            printf("step %4d   loss %.2e\n", (int)tg_lbfgs_steps(lbfgs), tg_lbfgs_loss(lbfgs)), fflush(stdout);
    FILE *csv = fopen("pinn.csv", "w");
    if (tg_lbfgs_error(lbfgs) || !csv)
        return fprintf(stderr, "pinn: %s\n", csv ? tg_lbfgs_error(lbfgs) : "pinn.csv cannot be written"), 1;
    printf("relative error on %d x %d points: %.4f\n", TIMES, PLACES, write_error(csv));
    FILE *gnuplot = fclose(csv) == 0 ? popen("gnuplot", "w") : NULL;
    if (gnuplot && fputs(picture, gnuplot) >= 0 && pclose(gnuplot) == 0)
        puts("pinn.png: the solution by the net, and both at three times");
    tg_lbfgs_free(lbfgs), tg_mlp_free(net), tg_tape_free(tape);
    return fflush(stdout) != 0;
}
