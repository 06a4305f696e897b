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

static double largest_difference(const claims *c, tg_activation activation, double *at)
{
    double largest = 0;
    for (double x = 0; x <= 8; x += 1e-3) { /* both sides are alike */
        const double difference = fabs(value(c, activation, x) - value(c, TG_GELU_EXACT, x));
        if (difference > largest) {
            largest = difference;
            *at = x;
        }
        tg_tape_reset(c->tape);
    }
    return largest;
}

/* ---- the claims ---- */

bool value_claims_put(sheet *s, const char *command)
{
    const claims c = {.tape = tg_tape_new(), .to = s, .command = command};
    if (!c.tape)
        return false;
    double at = 0;
    const double exact = value(&c, TG_GELU_EXACT, -1), tanh_form = value(&c, TG_GELU_TANH, -1);
    say(&c, "GELU(-1) = -0.1588", fabs(exact + 0.1588) < 5e-5, "%.6f; the tanh form has %.6f", exact, tanh_form);
    const double at_fifth = value(&c, TG_GELU_EXACT, -0.2);
    say(&c, "GELU(-0.2) = -0.0084", fabs(at_fifth + 0.0084) < 5e-5, "%.6f: ten times as much", at_fifth);
    const double off = largest_difference(&c, TG_GELU_TANH, &at);
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
    const bool complete = !tg_tape_error(c.tape);
    tg_tape_free(c.tape);
    return complete;
}
