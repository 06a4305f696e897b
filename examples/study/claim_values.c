/* Statements about values: functions of a number, computed on the tape in double precision, and compared with constants
 * and integrals that are computed without its kernels. */
#include "examples/study/claims.h"

#include <math.h>

/* ---- functions of one number ---- */

static double value(const claims *c, tg_activation activation, double x)
{
    tg_tape_reset(c->tape);
    return tg_item(tg_activate(activation, tg_constant(c->tape, TG_F64, &x, TG_SCALAR), NULL));
}

static double derivative(const claims *c, tg_activation activation, double x)
{
    tg_tape_reset(c->tape);
    return tg_item(tg_activation_derivative(activation, tg_constant(c->tape, TG_F64, &x, TG_SCALAR)));
}

static double gelu(const claims *c, double x)
{
    return value(c, TG_GELU_EXACT, x);
}

static double slope(const claims *c, double x)
{
    return derivative(c, TG_GELU_EXACT, x);
}

/* Where the derivative of GELU changes from negative to positive. */
static double minimum(const claims *c)
{
    double low = -2, high = 0;
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        *(slope(c, middle) < 0 ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}

/* The largest value of a function on a grid; `at`, if not NULL, receives the point. */
static double largest(const claims *c, double (*of)(const claims *c, double x), double low, double high, double step,
                      double *at)
{
    double found = -INFINITY;
    for (int i = 0; low + i * step <= high; i++) {
        const double x = low + i * step, y = of(c, x);
        if (!(y <= found) && at) /* NaN is taken too, so that it is noticed */
            *at = x;
        found = y <= found ? found : y;
    }
    return found;
}

/* ---- values ---- */

finding claim_at_minus_1(const claims *c)
{
    const double exact = gelu(c, -1);
    return finding_number(exact, "%.6f; the tanh form has %.6f", exact, value(c, TG_GELU_TANH, -1));
}

finding claim_at_minus_fifth(const claims *c)
{
    return finding_number(gelu(c, -0.2), "%.6f: ten times as much", gelu(c, -0.2));
}

static double error_of_tanh_form(const claims *c, double x)
{
    return fabs(value(c, TG_GELU_TANH, x) - gelu(c, x));
}

static double relative_error_of_tanh_form(const claims *c, double x)
{
    return error_of_tanh_form(c, x) / fabs(gelu(c, x));
}

finding claim_tanh_error(const claims *c)
{
    double at = 0;
    const double error = largest(c, error_of_tanh_form, 0, 8, 1e-3, &at); /* the error is symmetric */
    return finding_number(error, "%.2e at x = -%.3f and %.3f", error, at, at);
}

finding claim_tanh_relative_error(const claims *c)
{
    const double right = largest(c, relative_error_of_tanh_form, 1e-3, 8, 1e-3, NULL),
                 left = relative_error_of_tanh_form(c, -4);
    return finding_number(fmax(right, left), "relative error up to %.1e for x > 0; %.0f %% at x = -4", right,
                          100 * left);
}

finding claim_near_minimum(const claims *c)
{
    return finding_number(gelu(c, -0.75), "%.6f", gelu(c, -0.75));
}

finding claim_minimum(const claims *c)
{
    return finding_number(minimum(c), "at %.6f", minimum(c));
}

/* By how much the point of the minimum is above another one on its left. */
finding claim_maximum(const claims *c)
{
    const double there = gelu(c, -3);
    return finding_number(gelu(c, minimum(c)) - there, "that is the minimum: GELU(-3) = %.6f is larger", there);
}

finding claim_lowest(const claims *c)
{
    const double at = minimum(c), lowest = gelu(c, at);
    return finding_number(lowest, "from %.7f, at x = %.7f, upwards", lowest, at);
}

/* GELU less -0.17x at -1. */
finding claim_line_below(const claims *c)
{
    return finding_number(gelu(c, -1) - 0.17, "at -1 that is 0.17, and GELU(-1) = %.6f; the bound is a constant",
                          gelu(c, -1));
}

/* ---- with a normal distribution ---- */

static double density(double x)
{
    return exp(-0.5 * x * x) * 0.3989422804014327;
}

enum { STEPS = 2400 };

/* P(X <= x) for X ~ N(0,1), by Simpson's rule. */
static double probability_below(double x)
{
    const double step = (x + 12) / STEPS;
    double sum = 0;
    for (int i = 0; i <= STEPS; i++)
        sum += density(-12 + i * step) * (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2);
    return sum * step / 3;
}

/* The expectation of GELU(z) for z ~ N(0,1): a sum over an even grid converges faster than any power of its step. */
finding claim_mean(const claims *c)
{
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double z = 24. * i / STEPS - 12;
        sum += gelu(c, z) * density(z) * 24 / STEPS;
    }
    return finding_number(sum, "mean %.7f for inputs of N(0,1)", sum);
}

finding claim_expectation_above(const claims *c)
{
    const double above = 1 - probability_below(1);
    return finding_number(gelu(c, 1) - above, "at 1 that is %.6f, and GELU(1) = %.6f", above, gelu(c, 1));
}

finding claim_expectation_below(const claims *c)
{
    return finding_number(gelu(c, 1) - probability_below(1), "at 1 that is %.6f", probability_below(1));
}

/* The largest distance from the stated value. */
finding claim_drops(const claims *c)
{
    static const double said[3] = {0.84, 0.5, 0.16};
    double drop[3], off = 0;
    (void)c;
    for (int i = 0; i < 3; i++) {
        drop[i] = 1 - probability_below(i - 1);
        off = fmax(off, fabs(drop[i] - said[i]));
    }
    return finding_number(off, "%.4f, %.4f, %.4f", drop[0], drop[1], drop[2]);
}

/* ---- derivatives ---- */

finding claim_steepest(const claims *c)
{
    double at = 0;
    const double steepest = largest(c, slope, -8, 8, 1e-3, &at);
    return finding_number(at, "%.6f at x = %.3f", steepest, at);
}

finding claim_limits(const claims *c)
{
    const double left = slope(c, -6), right = slope(c, 6);
    return finding_number(fmax(fabs(left), fabs(right - 1)), "1 %+.1e at 6 and %.1e at -6", right - 1, left);
}

/* The decrease of |f'| over the next thousandth: negative if it only grows. */
static double turn_of_slope(const claims *c, double x)
{
    return fabs(slope(c, x)) - fabs(slope(c, x + 1e-3));
}

finding claim_left_end(const claims *c)
{
    const double turn = largest(c, turn_of_slope, -6, -2.001, 1e-3, NULL);
    return finding_number(fmax(turn, fabs(slope(c, -6)) - 1e-6), "from below: %.4f at -2, %.1e at -6", slope(c, -2),
                          slope(c, -6));
}

finding claim_slope_inside(const claims *c)
{
    return finding_number(slope(c, -0.9), "%.6f at x = -0.9", slope(c, -0.9));
}

finding claim_slope_at_zero(const claims *c)
{
    const double at = minimum(c);
    return finding_number(fabs(slope(c, at)), "it is at x = %.7f", at);
}

finding claim_small_slopes(const claims *c)
{
    const double left = slope(c, -6), right = slope(c, 6);
    return finding_number(fmax(fabs(left), fabs(right)), "on the left only: %.1e at -6, %.6f at 6", left, right);
}

/* The derivative of order n >= 2 of x Phi(x): phi(x) times Hermite polynomials, by Leibniz's rule. */
static double by_hermite(int n, double x)
{
    double before = 0, here = 1; /* He of k - 1 and of k */
    for (int k = 0; k < n - 1; k++) {
        const double next = x * here - k * before;
        before = here;
        here = next;
    }
    return (n % 2 ? 1 : -1) * density(x) * (x * here - n * before);
}

enum { ORDERS = 6 };

/* The largest difference of the tape's derivatives of orders 2 to ORDERS from the formula. */
static double error_of_orders(const claims *c, double at)
{
    double error = 0;
    tg_tape_reset(c->tape);
    tg_tensor x = tg_variable(c->tape, TG_F64, &at, TG_SCALAR), y = tg_gelu_exact(x);
    for (int order = 1; order <= ORDERS; order++) {
        tg_tensor derived;
        if (!tg_grad(&y, 1, &x, 1, NULL, order < ORDERS, &derived))
            return INFINITY;
        y = derived;
        if (order >= 2)
            error = fmax(error, fabs(tg_item(y) - by_hermite(order, at)));
    }
    return error;
}

finding claim_orders(const claims *c)
{
    const double error = largest(c, error_of_orders, -6, 6, 0.1, NULL);
    return finding_number(error, "as x Phi(x) is; orders 2 to %d on the tape are within %.0e of the formula", ORDERS,
                          error);
}

finding claim_saturation(const claims *c)
{
    const double elu = derivative(c, TG_ELU, -20), ours = slope(c, -20);
    return finding_number(fabs(ours), "both do: slopes at -20 are %.1e and %.1e", elu, ours);
}

finding claim_threshold(const claims *c)
{
    const double below = derivative(c, TG_ELU, -1e-6), above = derivative(c, TG_ELU, 1e-6);
    return finding_number(fabs(above - below), "with alpha = 1 its slope is %.6f at -1e-6 and %.6f at 1e-6", below,
                          above);
}

/* The relative error of a central difference with h = 1e-5. */
static double error_of_difference(const claims *c, double x)
{
    const double high = x + 1e-5, low = x - 1e-5;
    return fabs((gelu(c, high) - gelu(c, low)) / (high - low) / slope(c, x) - 1);
}

finding claim_differences(const claims *c)
{
    const double error = largest(c, error_of_difference, 0.5, 6, 1. / 64, NULL);
    return finding_number(error, "relative error up to %.0e: %.0f of 16 digits are lost", error, 16 + log10(error));
}
