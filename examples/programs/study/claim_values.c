/* Statements about values: functions of a number, computed on the tape in double precision, and compared with constants
 * and integrals that are computed without its kernels. */
#include "examples/programs/study/claims.h"

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

static double error_of_tanh_form(const claims *c, double x)
{
    return fabs(value(c, TG_GELU_TANH, x) - gelu(c, x));
}

static double error_of_quick_form(const claims *c, double x)
{
    return fabs(value(c, TG_GELU_QUICK, x) - gelu(c, x));
}

static double relative_error_of_tanh_form(const claims *c, double x)
{
    return error_of_tanh_form(c, x) / fabs(gelu(c, x));
}

static double relative_error_on_right(const claims *c)
{
    return largest(c, relative_error_of_tanh_form, 1e-3, 8, 1e-3, NULL);
}

/* ---- with a normal distribution ---- */

static double density(double x)
{
    return exp(-0.5 * x * x) * 0.3989422804014327;
}

/* P(X <= x) for X ~ N(0,1), by libm. */
static double probability_below(double x)
{
    return 0.5 * erfc(-x * sqrt(0.5));
}

/* The errors of the tape's derivatives, from the formulas that texts give for the three forms. */
static double error_of_formula(const claims *c, double x)
{
    const double k = sqrt(2 / 3.141592653589793), t = tanh(k * (x + 0.044715 * x * x * x));
    const double s = 1 / (1 + exp(-1.702 * x));
    const double exact = probability_below(x) + x * density(x);
    const double tanh_form = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x);
    const double quick = s + 1.702 * x * s * (1 - s);
    return fmax(fabs(slope(c, x) - exact),
                fmax(fabs(derivative(c, TG_GELU_TANH, x) - tanh_form), fabs(derivative(c, TG_GELU_QUICK, x) - quick)));
}

/* The largest of the errors at numbers near the ends of double, where GELU is x, or next to 0. */
static double error_of_extremes(const claims *c)
{
    return fmax(fmax(fabs(gelu(c, 1e300) / 1e300 - 1), fabs(gelu(c, -1e300))),
                fmax(fabs(slope(c, 1e300) - 1), fabs(slope(c, -1e300))));
}

/* The probability that x is dropped. */
static double drop(double x)
{
    return 1 - probability_below(x);
}

/* The expectation of GELU(z) for z ~ N(0,1): a sum over an even grid converges faster than any power of its step. */
static double mean(const claims *c)
{
    enum { STEPS = 2400 };
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double z = 24. * i / STEPS - 12;
        sum += gelu(c, z) * density(z) * 24 / STEPS;
    }
    return sum;
}

/* ---- derivatives ---- */

/* The decrease of |f'| over the next thousandth: negative if it only grows. */
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

/* The relative error of a central difference with h = 1e-5. */
static double error_of_difference(const claims *c, double x)
{
    const double high = x + 1e-5, low = x - 1e-5;
    return fabs((gelu(c, high) - gelu(c, low)) / (high - low) / slope(c, x) - 1);
}

/* ---- findings ---- */

/* The finding of a number, and the words for it; `at` is for a point that the number lies at. */
#define FOUND(name, number, ...)                \
    static finding find_##name(const claims *c) \
    {                                           \
        double at = 0;                          \
        const double n = number;                \
        (void)c, (void)at;                      \
        return finding_number(n, __VA_ARGS__);  \
    }

FOUND(at_minus_1, gelu(c, -1), "%.6f; the tanh form has %.6f", n, value(c, TG_GELU_TANH, -1))
FOUND(at_minus_fifth, gelu(c, -0.2), "%.6f: ten times as much", n)
FOUND(tanh_error, largest(c, error_of_tanh_form, 0, 8, 1e-3, &at), /* the error is symmetric */
      "%.2e at x = -%.3f and %.3f", n, at, at)
FOUND(quick_error, largest(c, error_of_quick_form, 0, 8, 1e-3, NULL) / largest(c, error_of_tanh_form, 0, 8, 1e-3, NULL),
      "largest error %.4f, %.0f times that of the tanh form", largest(c, error_of_quick_form, 0, 8, 1e-3, NULL), n)
FOUND(formulas, largest(c, error_of_formula, -6, 6, 1. / 64, NULL),
      "Phi + x phi and those of the tanh and sigmoid forms: within %.0e", n)
FOUND(middle_slope, slope(c, 0), "%.6f; ReLU has none there", n)
FOUND(two_directions, fmin(slope(c, -1), slope(c, 1)), "slope %.4f at -1 and %.4f at 1", slope(c, -1), slope(c, 1))
FOUND(extremes, error_of_extremes(c),
      "%g at 1e300 and %g at -1e300; code with 1 + erf has 0 for all x < -8.3, where the tape has %.1e at -9",
      gelu(c, 1e300), fabs(gelu(c, -1e300)), gelu(c, -9))
FOUND(tanh_relative_error, fmax(relative_error_of_tanh_form(c, -4), relative_error_on_right(c)),
      "relative error up to %.1e for x > 0; %.0f %% at x = -4", relative_error_on_right(c),
      100 * relative_error_of_tanh_form(c, -4))
FOUND(near_minimum, gelu(c, -0.75), "%.6f", n)
FOUND(minimum, minimum(c), "at %.6f", n)
FOUND(maximum, gelu(c, minimum(c)) - gelu(c, -3), /* of the minimum above another point on its left */
      "that is the minimum: GELU(-3) = %.6f is larger", gelu(c, -3))
FOUND(lowest, gelu(c, minimum(c)), "from %.7f, at x = %.7f, upwards", n, minimum(c))
FOUND(line_below, gelu(c, -1) - 0.17, "at -1 that is 0.17, and GELU(-1) = %.6f; the bound is a constant", gelu(c, -1))
FOUND(mean, mean(c), "mean %.7f for inputs of N(0,1)", n)
FOUND(expectation_above, gelu(c, 1) - drop(1), "at 1 that is %.6f, and GELU(1) = %.6f", drop(1), gelu(c, 1))
FOUND(expectation_below, gelu(c, 1) - probability_below(1), "at 1 that is %.6f", probability_below(1))
FOUND(drops, fmax(fabs(drop(-1) - 0.84), fmax(fabs(drop(0) - 0.5), fabs(drop(1) - 0.16))), "%.4f, %.4f, %.4f", drop(-1),
      drop(0), drop(1))
FOUND(steepest, (largest(c, slope, -8, 8, 1e-3, &at), at), "%.6f at x = %.3f", slope(c, at), at)
FOUND(limits, fmax(fabs(slope(c, -6)), fabs(slope(c, 6) - 1)), "1 %+.1e at 6 and %.1e at -6", slope(c, 6) - 1,
      slope(c, -6))
FOUND(left_end, fmax(largest(c, turn_of_slope, -6, -2.001, 1e-3, NULL), fabs(slope(c, -6)) - 1e-6),
      "from below: %.4f at -2, %.1e at -6", slope(c, -2), slope(c, -6))
FOUND(slope_inside, slope(c, -0.9), "%.6f at x = -0.9", n)
FOUND(slope_at_zero, fabs(slope(c, minimum(c))), "it is at x = %.7f", minimum(c))
FOUND(small_slopes, fabs(slope(c, -6)), "on the left only: %.1e at -6, %.6f at 6", slope(c, -6), slope(c, 6))
FOUND(orders, largest(c, error_of_orders, -6, 6, 0.1, NULL),
      "as x Phi(x) is; orders 2 to %d on the tape are within %.0e of the formula", ORDERS, n)
FOUND(saturation, fabs(slope(c, -20)), "both do: slopes at -20 are %.1e and %.1e", derivative(c, TG_ELU, -20),
      slope(c, -20))
FOUND(threshold, fabs(derivative(c, TG_ELU, 1e-6) - derivative(c, TG_ELU, -1e-6)),
      "with alpha = 1 its slope is %.6f at -1e-6 and %.6f at 1e-6", derivative(c, TG_ELU, -1e-6),
      derivative(c, TG_ELU, 1e-6))
FOUND(differences, largest(c, error_of_difference, 0.5, 6, 1. / 64, NULL),
      "relative error up to %.0e: %.0f of 16 digits are lost", n, 16 + log10(n))

/* ---- statements ---- */

/* clang-format off */
const claim claim_values[] = {
    {"GELU(-1) = -0.1588", find_at_minus_1, NEAR(-0.1588, 5e-5)},
    {"GELU(-0.2) = -0.0084", find_at_minus_fifth, NEAR(-0.0084, 5e-5)},
    {"the tanh form is within 0.0002", find_tanh_error, BELOW(2e-4)},
    {"the tanh form is within 0.001", find_tanh_error, BELOW(1e-3)},
    {"the tanh form is about 99.99 % accurate", find_tanh_relative_error, BELOW(1e-4)},
    {"QuickGELU is slightly less accurate than the tanh form", find_quick_error, ABOVE(1)},
    {"GELU(-0.75) is about -0.17", find_near_minimum, NEAR(-0.17, 5e-3)},
    {"the minimum is at -0.75", find_minimum, NEAR(-0.75, 5e-3)},
    {"the minimum is at -0.76", find_minimum, NEAR(-0.76, 5e-3)},
    {"there is a maximum on the negative side, about -0.17", find_maximum, ABOVE(0)},
    {"the range is all numbers", find_lowest, BELOW(-1e300)},
    {"the range is (-0.17, infinity)", find_lowest, NEAR(-0.17, 5e-3)},
    {"GELU is bounded below by -0.17x", find_line_below, ABOVE(0)},
    {"GELU is non-monotonic", find_two_directions, BELOW(0)},
    {"GELU is well-behaved at extreme values", find_extremes, BELOW(1e-15)},
    {"GELU is zero-centred", find_mean, NEAR(0, 1e-3)},
    {"GELU is not zero-centred", find_mean, ABOVE(1e-3)},
    {"GELU(x) = E[x 1{x <= X}]", find_expectation_above, NEAR(0, 1e-9)},
    {"GELU(x) = E[x 1{X <= x}]", find_expectation_below, NEAR(0, 1e-9)},
    {"the formulas of the three derivatives are right", find_formulas, BELOW(1e-12)},
    {"the slope at 0 is 1/2", find_middle_slope, NEAR(0.5, 0)},
    {"the gradient's maximum is near x = 1.4", find_steepest, NEAR(1.4, 0.05)},
    {"the gradient goes to 1 and to 0", find_limits, BELOW(1e-6)},
    {"the gradient approaches 0 smoothly for x < -2", find_left_end, BELOW(0)},
    {"the gradient is positive for x > -1", find_slope_inside, ABOVE(0)},
    {"the gradient is never zero", find_slope_at_zero, ABOVE(1e-9)},
    {"gradients can be small for large abs(x)", find_small_slopes, BELOW(1e-3)},
    {"x is dropped at -1, 0, 1 with 0.84, 0.5, 0.16", find_drops, BELOW(5e-3)},
    {"GELU is infinitely differentiable", find_orders, BELOW(1e-10)},
    {"ELU saturates on the left, GELU does not", find_saturation, ABOVE(1e-6)},
    {"ELU has a hard threshold at 0", find_threshold, ABOVE(1e-3)},
    {"finite differences with h = 1e-5 show the derivative", find_differences, BELOW(1e-9)},
    {0}};
/* clang-format on */
