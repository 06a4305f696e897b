#include "examples/study/value_claims.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <tapegrad.h>

typedef struct claims {
    tg_tape *tape;
    sheet *to;
    const char *command;
} claims;

static void say(const claims *c, const char *claim, bool so, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void say(const claims *c, const char *claim, bool so, const char *format, ...)
{
    char found[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(found, sizeof found, format, arguments);
    va_end(arguments);
    sheet_row(c->to, "%s|%s|%s|%s", claim, so ? "yes" : "no", found, c->command);
}

/* ---- values, on the tape and in double precision ---- */

static double value(const claims *c, tg_activation activation, double x)
{
    return tg_item(tg_activate(activation, tg_constant(c->tape, TG_F64, &x, TG_SCALAR), NULL));
}

static double derivative(const claims *c, tg_activation activation, double x)
{
    return tg_item(tg_activation_derivative(activation, tg_constant(c->tape, TG_F64, &x, TG_SCALAR)));
}

/* Where the derivative turns from negative to positive between two numbers. */
static double find_zero(const claims *c, tg_activation activation, double low, double high)
{
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        *(derivative(c, activation, middle) < 0 ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}

static double density(double x)
{
    return exp(-0.5 * x * x) * 0.3989422804014327;
}

enum { STEPS = 2400 };

/* The expectation of GELU(z) for z ~ N(0,1): a sum over an even grid converges faster than any power of its step. */
static double mean_of_gelu(const claims *c)
{
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double z = 24. * i / STEPS - 12;
        sum += value(c, TG_GELU_EXACT, z) * density(z) * 24 / STEPS;
    }
    return sum;
}

/* P(X <= x) for X ~ N(0,1), by Simpson's rule. */
static double probability_below(double x)
{
    const double step = (x + 12) / STEPS;
    double sum = 0;
    for (int i = 0; i <= STEPS; i++)
        sum += density(-12 + i * step) * (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2);
    return sum * step / 3;
}

/* The largest value of a function over a grid. Unless NULL, `at` receives where it is. */
static double largest(const claims *c, double (*of)(const claims *c, double x), double low, double high, double step,
                      double *at)
{
    double found = -INFINITY;
    for (int i = 0; low + i * step <= high; i++) {
        const double x = low + i * step, y = of(c, x);
        if (!(y <= found) && at) /* NaN too, which is not to be missed */
            *at = x;
        found = y <= found ? found : y;
        tg_tape_reset(c->tape);
    }
    return found;
}

static double slope(const claims *c, double x)
{
    return derivative(c, TG_GELU_EXACT, x);
}

static double difference_of_tanh_form(const claims *c, double x)
{
    return fabs(value(c, TG_GELU_TANH, x) - value(c, TG_GELU_EXACT, x));
}

static double relative_difference_of_tanh_form(const claims *c, double x)
{
    return difference_of_tanh_form(c, x) / fabs(value(c, TG_GELU_EXACT, x));
}

/* The relative error of a central difference with h = 1e-5. */
static double error_of_difference(const claims *c, double x)
{
    const double high = x + 1e-5, low = x - 1e-5;
    const double quotient = (value(c, TG_GELU_EXACT, high) - value(c, TG_GELU_EXACT, low)) / (high - low);
    return fabs(quotient / slope(c, x) - 1);
}

/* By how much the slope, without its sign, falls in the next thousandth: negative where it only grows. */
static double turn_of_slope(const claims *c, double x)
{
    return fabs(slope(c, x)) - fabs(slope(c, x + 1e-3));
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

/* ---- the claims ---- */

static void put_accuracy(const claims *c)
{
    const double right = largest(c, relative_difference_of_tanh_form, 1e-3, 8, 1e-3, NULL),
                 left = relative_difference_of_tanh_form(c, -4);
    say(c, "the tanh form is about 99.99 % accurate", right < 1e-4 && left < 1e-4,
        "relative error up to %.1e for x > 0; %.0f %% at x = -4", right, 100 * left);
    const double error = largest(c, error_of_difference, 0.5, 6, 1. / 64, NULL);
    say(c, "finite differences with h = 1e-5 show the derivative", error < 1e-9,
        "relative error up to %.0e: %.0f of 16 digits are lost", error, 16 + log10(error));
}

static void put_lowest(const claims *c, double zero)
{
    const double lowest = value(c, TG_GELU_EXACT, zero), near = value(c, TG_GELU_EXACT, -0.75);
    say(c, "GELU(-0.75) is about -0.17", fabs(near + 0.17) < 5e-3, "%.6f", near);
    say(c, "the minimum is at -0.75", fabs(zero + 0.75) < 5e-3, "at %.6f", zero);
    say(c, "the minimum is at -0.76", fabs(zero + 0.76) < 5e-3, "the same");
    say(c, "there is a maximum on the negative side, about -0.17", value(c, TG_GELU_EXACT, -3) <= lowest,
        "that is the minimum: GELU(-3) = %.6f is larger", value(c, TG_GELU_EXACT, -3));
    say(c, "the range is (-0.17, infinity)", fabs(lowest + 0.17) < 5e-3, "from %.7f upwards; that is reached", lowest);
    say(c, "GELU is bounded below by -0.17x", value(c, TG_GELU_EXACT, -1) >= 0.17,
        "at -1 that is 0.17, and GELU(-1) = %.6f; the bound is a constant", value(c, TG_GELU_EXACT, -1));
}

static void put_gradient(const claims *c)
{
    double at = 0;
    const double steepest = largest(c, slope, -8, 8, 1e-3, &at);
    say(c, "the gradient's maximum is near x = 1.4", fabs(at - 1.4) < 0.05, "%.6f at x = %.3f", steepest, at);
    const double left = slope(c, -6), middle = slope(c, -2), right = slope(c, 6);
    const double turn = largest(c, turn_of_slope, -6, -2.001, 1e-3, NULL);
    say(c, "the gradient goes to 1 and to 0", fabs(right - 1) < 1e-6 && fabs(left) < 1e-6,
        "1 %+.1e at 6 and %.1e at -6", right - 1, left);
    say(c, "the gradient approaches 0 smoothly for x < -2", fabs(left) < 1e-6 && turn < 0,
        "from below: %.4f at -2, %.1e at -6", middle, left);
    say(c, "gradients can be small for large abs(x)", fabs(left) < 1e-3 && fabs(right) < 1e-3,
        "on the left only: %.1e at -6, %.6f at 6", left, right);
    const double orders = largest(c, error_of_orders, -6, 6, 0.1, NULL);
    say(c, "GELU is infinitely differentiable", orders < 1e-10,
        "as x Phi(x) is; orders 2 to %d on the tape are within %.0e of the formula", ORDERS, orders);
}

static void put_others(const claims *c)
{
    const double drop[3] = {1 - probability_below(-1), 1 - probability_below(0), 1 - probability_below(1)};
    say(c, "x is dropped at -1, 0, 1 with 0.84, 0.5, 0.16",
        fabs(drop[0] - 0.84) < 5e-3 && fabs(drop[1] - 0.5) < 5e-3 && fabs(drop[2] - 0.16) < 5e-3, "%.4f, %.4f, %.4f",
        drop[0], drop[1], drop[2]);
    const double elu = derivative(c, TG_ELU, -20), gelu = derivative(c, TG_GELU_EXACT, -20);
    say(c, "ELU saturates on the left, GELU does not", fabs(elu) < 1e-6 && !(fabs(gelu) < 1e-6),
        "both do: slopes at -20 are %.1e and %.1e", elu, gelu);
    const double below = derivative(c, TG_ELU, -1e-6), above = derivative(c, TG_ELU, 1e-6);
    say(c, "ELU has a hard threshold at 0", fabs(above - below) > 1e-3,
        "with alpha = 1 its slope is %.6f at -1e-6 and %.6f at 1e-6", below, above);
}

void value_claims_put(sheet *s, const char *command)
{
    const claims c = {.tape = tg_tape_new(), .to = s, .command = command};
    if (!c.tape) {
        sheet_text(s, "Memory ran out.");
        return;
    }
    double at = 0;
    const double exact = value(&c, TG_GELU_EXACT, -1), tanh_form = value(&c, TG_GELU_TANH, -1);
    say(&c, "GELU(-1) = -0.1588", fabs(exact + 0.1588) < 5e-5, "%.6f; the tanh form has %.6f", exact, tanh_form);
    const double at_fifth = value(&c, TG_GELU_EXACT, -0.2);
    say(&c, "GELU(-0.2) = -0.0084", fabs(at_fifth + 0.0084) < 5e-5, "%.6f: ten times as much", at_fifth);
    const double off = largest(&c, difference_of_tanh_form, 0, 8, 1e-3, &at); /* both sides are alike */
    say(&c, "the tanh form is within 0.0002", off < 2e-4, "%.2e at x = -%.3f and %.3f", off, at, at);
    say(&c, "the tanh form is within 0.001", off < 1e-3, "the same");
    const double zero = find_zero(&c, TG_GELU_EXACT, -2, 0);
    say(&c, "the gradient is never zero", fabs(derivative(&c, TG_GELU_EXACT, zero)) > 1e-9, "it is at x = %.7f", zero);
    const double at_minus_0_9 = derivative(&c, TG_GELU_EXACT, -0.9);
    say(&c, "the gradient is > 0 for x > -1", at_minus_0_9 > 0, "%.6f at x = -0.9", at_minus_0_9);
    const double lowest = value(&c, TG_GELU_EXACT, zero);
    say(&c, "the range is all numbers", lowest < -1e300, "from %.7f at x = %.7f upwards", lowest, zero);
    const double mean = mean_of_gelu(&c);
    say(&c, "GELU is zero-centred", fabs(mean) < 1e-3, "mean %.7f for inputs of N(0,1)", mean);
    const double below = probability_below(1), gelu = value(&c, TG_GELU_EXACT, 1);
    say(&c, "GELU(x) = E[x 1{x <= X}]", fabs(gelu - (1 - below)) < 1e-9, "at 1 that is %.6f, and GELU(1) = %.6f",
        1 - below, gelu);
    say(&c, "GELU(x) = E[x 1{X <= x}]", fabs(gelu - below) < 1e-9, "at 1 that is %.6f", below);
    put_accuracy(&c);
    put_lowest(&c, zero);
    put_gradient(&c);
    put_others(&c);
    if (tg_tape_error(c.tape))
        sheet_text(s, "These rows are wrong: %s", tg_tape_error(c.tape));
    tg_tape_free(c.tape);
}
