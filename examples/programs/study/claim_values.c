/* Statements about values: functions of a number, computed on the tape in double precision, and compared with constants
 * and integrals that are computed without its kernels; and about costs. */
#include "examples/programs/study/claims.h"

#include <math.h>

static tg_tape *tape; /* of the functions below, each of which resets it */

/* ---- functions of one number ---- */

static double value(tg_activation activation, double x)
{
    tg_tape_reset(tape);
    return tg_item(tg_activate(activation, tg_constant(tape, TG_F64, &x, TG_SCALAR), NULL));
}

static double derivative(tg_activation activation, double x)
{
    tg_tape_reset(tape);
    return tg_item(tg_activation_derivative(activation, tg_constant(tape, TG_F64, &x, TG_SCALAR)));
}

static double gelu(double x)
{
    return value(TG_GELU_EXACT, x);
}

static double slope(double x)
{
    return derivative(TG_GELU_EXACT, x);
}

/* Where the derivative of GELU changes from negative to positive. */
static double minimum(void)
{
    double low = -2, high = 0;
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        *(slope(middle) < 0 ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}

/* The largest value of a function on a grid; `at`, if not NULL, receives the point. */
static double largest(double (*of)(double x), double low, double high, double step, double *at)
{
    double found = -INFINITY;
    for (int i = 0; low + i * step <= high; i++) {
        const double x = low + i * step, y = of(x);
        if (!(y <= found) && at) /* NaN is taken too, so that it is noticed */
            *at = x;
        found = y <= found ? found : y;
    }
    return found;
}

static double error_of_tanh_form(double x)
{
    return fabs(value(TG_GELU_TANH, x) - gelu(x));
}

static double error_of_quick_form(double x)
{
    return fabs(value(TG_GELU_QUICK, x) - gelu(x));
}

static double relative_error_of_tanh_form(double x)
{
    return error_of_tanh_form(x) / fabs(gelu(x));
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
static double error_of_formula(double x)
{
    const double k = sqrt(2 / 3.141592653589793), t = tanh(k * (x + 0.044715 * x * x * x));
    const double s = 1 / (1 + exp(-1.702 * x));
    const double exact = probability_below(x) + x * density(x);
    const double tanh_form = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x);
    const double quick = s + 1.702 * x * s * (1 - s);
    return fmax(fabs(slope(x) - exact),
                fmax(fabs(derivative(TG_GELU_TANH, x) - tanh_form), fabs(derivative(TG_GELU_QUICK, x) - quick)));
}

/* The difference of sigma GELU(x / sigma) from ReLU: X then has the deviation sigma, here a thousandth. */
static double sharp_less_relu(double x)
{
    return fabs(1e-3 * gelu(1e3 * x) - fmax(x, 0));
}

/* The largest of the errors at numbers near the ends of double, where GELU is x, or next to 0. */
static double error_of_extremes(void)
{
    return fmax(fmax(fabs(gelu(1e300) / 1e300 - 1), fabs(gelu(-1e300))),
                fmax(fabs(slope(1e300) - 1), fabs(slope(-1e300))));
}

/* The probability that x is dropped. */
static double drop(double x)
{
    return 1 - probability_below(x);
}

/* The expectation of GELU(z) for z ~ N(0,1): a sum over an even grid converges faster than any power of its step. */
static double mean(void)
{
    double sum = 0;
    for (int i = 0; i <= 2400; i++) {
        const double z = i / 100. - 12;
        sum += gelu(z) * density(z) / 100;
    }
    return sum;
}

/* ---- derivatives ---- */

/* The decrease of |f'| over the next thousandth: negative if it only grows. */
static double turn_of_slope(double x)
{
    return fabs(slope(x)) - fabs(slope(x + 1e-3));
}

/* The largest difference of the tape's derivatives of orders 2 to 4 from those of x Phi(x). */
static double error_of_orders(double at)
{
    const double polynomials[] = {2 - at * at, (at * at - 4) * at, (7 - at * at) * at * at - 4};
    double error = 0;
    tg_tape_reset(tape);
    tg_tensor x = tg_variable(tape, TG_F64, &at, TG_SCALAR), y = tg_gelu_exact(x), derived;
    for (int order = 1; order <= 4; order++, y = derived) {
        if (!tg_grad(&y, 1, &x, 1, NULL, order < 4, &derived))
            return INFINITY;
        error = order < 2 ? 0 : fmax(error, fabs(tg_item(derived) - density(at) * polynomials[order - 2]));
    }
    return error;
}

/* The relative error of a central difference with h = 1e-5. */
static double error_of_difference(double x)
{
    const double high = x + 1e-5, low = x - 1e-5;
    return fabs((gelu(high) - gelu(low)) / (high - low) / slope(x) - 1);
}

/* ---- operations and memory ---- */

/* Operations of a feed-forward layer, 768-3072-768, in relation to GELU's: its weights, as each meets each row once. */
static double operations_of_swiglu(bool equal_width)
{
    tg_mlp_config config = {
        .inputs = 768, .hidden = {3072}, .outputs = 768, .no_bias = true, .activation = TG_GELU_EXACT};
    const double plain = (double)tg_mlp_size(&config, NULL);
    config.activation = TG_SWIGLU;
    config.equal_width = equal_width;
    return (double)tg_mlp_size(&config, NULL) / plain;
}

enum { VOCABULARY = 64, POSITIONS = 64, BATCH = 8 };

/* The bytes of a training step's tensors, without weights and optimiser, of BERT's blocks; NaN on failure. */
static double step_bytes(tg_activation activation, bool recompute)
{
    const tg_rng rng = tg_rng_seed(1);
    tg_transformer_config config = {
        .vocabulary = VOCABULARY, .context = POSITIONS, .layers = 4, .block = tg_block_bert(128, 4)};
    config.block.activation = activation;
    config.block.recompute = recompute;
    tg_transformer *bert = tg_transformer_new(&rng, &config);
    tg_tape *step = tg_tape_new();
    static int32_t ids[BATCH * POSITIONS];
    for (int i = 0; i < BATCH * POSITIONS; i++)
        ids[i] = (i * 7) % VOCABULARY;
    tg_tensor tokens = tg_borrow(step, TG_I32, ids, TG_SHAPE(BATCH, POSITIONS));
    const bool fine = bert && tg_backward(tg_cross_entropy(tg_transformer_forward(bert, tokens, NULL), tokens));
    const double bytes = fine ? (double)tg_tape_count(step).bytes_used : NAN;
    tg_tape_free(step);
    tg_transformer_free(bert);
    return bytes;
}

/* ---- statements ---- */

void claim_values(claims *c)
{
    tape = tg_tape_new();
    double at = 0, steepest = 0;
    const double lowest = minimum(), quick_error = largest(error_of_quick_form, 0, 8, 1e-3, NULL),
                 tanh_error = largest(error_of_tanh_form, 0, 8, 1e-3, &at), /* which is symmetric */
        relative = largest(relative_error_of_tanh_form, 1e-3, 8, 1e-3, NULL),
                 relative_at_minus_4 = relative_error_of_tanh_form(-4),
                 largest_slope = largest(slope, -8, 8, 1e-3, &steepest);
    CLAIM("GELU(-1) = -0.1588", NEAR(-0.1588, 5e-5), gelu(-1), "%.6f; the tanh form has %.6f", n,
          value(TG_GELU_TANH, -1));
    CLAIM("GELU(-0.2) = -0.0084", NEAR(-0.0084, 5e-5), gelu(-0.2), "%.6f: ten times as much", n);
    CLAIM("the tanh form is within 0.0002", BELOW(2e-4), tanh_error, "%.2e at x = -%.3f and %.3f", n, at, at);
    CLAIM("the tanh form is within 0.001", BELOW(1e-3), tanh_error, "%.2e at x = -%.3f and %.3f", n, at, at);
    CLAIM("the tanh form is about 99.99 % accurate", BELOW(1e-4), fmax(relative_at_minus_4, relative),
          "relative error up to %.1e for x > 0; %.0f %% at x = -4", relative, 100 * relative_at_minus_4);
    CLAIM("QuickGELU is slightly less accurate than the tanh form", ABOVE(1), quick_error / tanh_error,
          "largest error %.4f, %.0f times that of the tanh form", quick_error, n);
    CLAIM("GELU(-0.75) is about -0.17", NEAR(-0.17, 5e-3), gelu(-0.75), "%.6f", n);
    CLAIM("the minimum is at -0.75", NEAR(-0.75, 5e-3), lowest, "at %.6f", n);
    CLAIM("the minimum is at -0.76", NEAR(-0.76, 5e-3), lowest, "at %.6f", n);
    CLAIM("there is a maximum on the negative side, about -0.17", ABOVE(0), gelu(lowest) - gelu(-3),
          "that is the minimum: GELU(-3) = %.6f is larger", gelu(-3));
    CLAIM("the range is all numbers", BELOW(-1e300), gelu(lowest), "from %.7f, at x = %.7f, upwards", n, lowest);
    CLAIM("the range is (-0.17, infinity)", NEAR(-0.17, 5e-3), gelu(lowest), "from %.7f, at x = %.7f, upwards", n,
          lowest);
    CLAIM("GELU is bounded below by -0.17x", ABOVE(0), gelu(-1) - 0.17,
          "at -1 that is 0.17, and GELU(-1) = %.6f; the bound is a constant", gelu(-1));
    CLAIM("GELU is non-monotonic", BELOW(0), fmin(slope(-1), slope(1)), "slope %.4f at -1 and %.4f at 1", slope(-1),
          slope(1));
    CLAIM("GELU has curvature at all points (paper)", ABOVE(1e-6),
          fabs(slope(sqrt(2) + 1e-6) - slope(sqrt(2) - 1e-6)) / 2e-6, "none where the slope is largest, at %.3f",
          steepest);
    CLAIM("GELU becomes ReLU where X has a small deviation (paper)", BELOW(1e-3),
          largest(sharp_less_relu, -1, 1, 1e-5, NULL), "with a deviation of 0.001 within %.5f", n);
    CLAIM("GELU is well-behaved at extreme values", BELOW(1e-15), error_of_extremes(),
          "%g at 1e300 and %g at -1e300; code with 1 + erf has 0 for all x < -8.3, where the tape has %.1e at -9",
          gelu(1e300), fabs(gelu(-1e300)), gelu(-9));
    CLAIM("GELU is zero-centred", NEAR(0, 1e-3), mean(), "mean %.7f for inputs of N(0,1)", n);
    CLAIM("GELU is not zero-centred", ABOVE(1e-3), mean(), "mean %.7f for inputs of N(0,1)", n);
    CLAIM("GELU(x) = E[x 1{x <= X}]", NEAR(0, 1e-9), gelu(1) - drop(1), "at 1 that is %.6f, and GELU(1) = %.6f",
          drop(1), gelu(1));
    CLAIM("GELU(x) = E[x 1{X <= x}]", NEAR(0, 1e-9), gelu(1) - probability_below(1), "at 1 that is %.6f",
          probability_below(1));
    CLAIM("the formulas of the three derivatives are right", BELOW(1e-12),
          largest(error_of_formula, -6, 6, 1. / 64, NULL),
          "Phi + x phi and those of the tanh and sigmoid forms: within %.0e", n);
    CLAIM("the slope at 0 is 1/2", NEAR(0.5, 0), slope(0), "%.6f; ReLU has none there", n);
    CLAIM("the gradient's maximum is near x = 1.4", NEAR(1.4, 0.05), steepest, "%.6f at x = %.3f", largest_slope,
          steepest);
    CLAIM("the gradient goes to 1 and to 0", BELOW(1e-6), fmax(fabs(slope(-6)), fabs(slope(6) - 1)),
          "1 %+.1e at 6 and %.1e at -6", slope(6) - 1, slope(-6));
    CLAIM("the gradient approaches 0 smoothly for x < -2", BELOW(0),
          fmax(largest(turn_of_slope, -6, -2.001, 1e-3, NULL), fabs(slope(-6)) - 1e-6),
          "from below: %.4f at -2, %.1e at -6", slope(-2), slope(-6));
    CLAIM("the gradient is positive for x > -1", ABOVE(0), slope(-0.9), "%.6f at x = -0.9", n);
    CLAIM("the gradient is never zero", ABOVE(1e-9), fabs(slope(lowest)), "it is at x = %.7f", lowest);
    CLAIM("gradients can be small for large abs(x)", BELOW(1e-3), fabs(slope(-6)),
          "on the left only: %.1e at -6, %.6f at 6", slope(-6), slope(6));
    CLAIM("x is dropped at -1, 0, 1 with 0.84, 0.5, 0.16", BELOW(5e-3),
          fmax(fabs(drop(-1) - 0.84), fmax(fabs(drop(0) - 0.5), fabs(drop(1) - 0.16))), "%.4f, %.4f, %.4f", drop(-1),
          drop(0), drop(1));
    CLAIM("GELU is infinitely differentiable", BELOW(1e-10), largest(error_of_orders, -6, 6, 0.1, NULL),
          "as x Phi(x) is; orders 2 to 4 on the tape are within %.0e of the formulas", n);
    CLAIM("ELU saturates on the left, GELU does not", ABOVE(1e-6), fabs(slope(-20)),
          "both do: slopes at -20 are %.1e and %.1e", derivative(TG_ELU, -20), slope(-20));
    CLAIM("ELU has a hard threshold at 0", ABOVE(1e-3), fabs(derivative(TG_ELU, 1e-6) - derivative(TG_ELU, -1e-6)),
          "with alpha = 1 its slope is %.6f at -1e-6 and %.6f at 1e-6", derivative(TG_ELU, -1e-6),
          derivative(TG_ELU, 1e-6));
    CLAIM("finite differences with h = 1e-5 show the derivative", BELOW(1e-9),
          largest(error_of_difference, 0.5, 6, 1. / 64, NULL), "relative error up to %.0e: %.0f of 16 digits are lost",
          n, 16 + log10(n));
    if (!tape || tg_tape_error(tape))
        claim_add(c, "the rows above could be computed", 0, 0, NAN, NAN, "%s",
                  tape ? tg_tape_error(tape) : "out of memory");
    tg_tape_free(tape);
}

void claim_costs(claims *c)
{
    double gelu, again;
    CLAIM("SwiGLU needs 1.5 times the operations of GELU", NEAR(1.5, 0.01), operations_of_swiglu(true),
          "768-3072-768: %.2f times at equal width, %.2f at two thirds of it", n, operations_of_swiglu(false));
    gelu = step_bytes(TG_GELU_EXACT, false);
    CLAIM("GELU is no memory bottleneck: at most a tenth more than ReLU", BELOW(1.1), gelu / step_bytes(TG_RELU, false),
          "%.2f times a step's memory with ReLU (4 blocks of BERT, width 128: %.1f MB)", n, 1e-6 * gelu);
    again = step_bytes(TG_GELU_EXACT, true);
    CLAIM("recomputation in the backward pass saves memory", BELOW(0.95), again / gelu,
          "%.1f MB in place of %.1f MB where whole blocks are recomputed", 1e-6 * again, 1e-6 * gelu);
}
