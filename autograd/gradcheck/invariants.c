#include "autograd/gradcheck/check.h"
#include "autograd/gradcheck/tolerances.h"

#include <string.h>

void tg_check_set_place(tg_check *c, int order, int64_t i, double analytic, double expected)
{
    tg_gradcheck_result *v = &c->report.result;
    const tg_check_part *part = i >= 0 ? tg_check_part_at(c, i) : NULL;
    v->order = order;
    v->input = part ? part->input : -1;
    v->index = part ? i - part->offset : -1;
    v->analytic = analytic;
    v->numeric = expected;
    v->error = fabs(analytic - expected);
    v->bound = v->relative = 0;
}

void tg_check_same(tg_check *c, int order, const double *found, tg_gradcheck_status status, const char *what)
{
    const tg_check_level *level = &c->level[order];
    int64_t i = 0;
    while (i < level->length && memcmp(&found[i], &level->value[i], sizeof(double)) == 0)
        i++;
    if (i == level->length)
        return;
    tg_check_set_place(c, order, order > 0 ? i : -1, found[i], level->value[i]);
    tg_check_stop(c, status, "%s: %.17g and %.17g at element %lld of %s", what, level->value[i], found[i], (long long)i,
                  order > 0 ? "all variables" : "the result");
}

static void expect_the_same_again(tg_check *c)
{
    double *values[TG_GRADCHECK_MAX_ORDER + 1];
    tg_check_take_values(c, values);
    tg_check_evaluate_all(c, c->point, values);
    for (int order = 0; order <= c->options.order; order++)
        tg_check_same(c, order, values[order], TG_GRADCHECK_NOT_REPEATABLE,
                      order > 0 ? "two runs give two gradients" : "two runs give two results");
}

/* ---- linear in the cotangent ---- */

/* Computes derivative number `order` with another cotangent into `out`. */
static void derive_with(tg_check *c, int order, double *cotangent, double *out)
{
    tg_check_level *level = &c->level[order - 1];
    double *own = level->cotangent;
    level->cotangent = cotangent;
    tg_check_evaluate(c, order, c->point, out);
    level->cotangent = own;
}

static void expect_zero_for_zero(tg_check *c)
{
    derive_with(c, 1, tg_check_take(c, c->level[0].length), c->ahead);
    for (int64_t i = 0; i < c->variables; i++)
        if (!(c->ahead[i] == 0)) {
            tg_check_set_place(c, 1, i, c->ahead[i], 0);
            tg_check_stop(c, TG_GRADCHECK_ZERO, "a zero cotangent gives %g where exactly zero is expected",
                          c->ahead[i]);
        }
}

/* The factors of the cotangents of all levels: a sign and a power of two, first for the function's own level, then for
 * the levels above. These alternate between the power and its inverse, so that their product stays in range. */
typedef struct scaling {
    int sign[2], power[2];
} scaling;

static int sign_of(const scaling *of, int level)
{
    return of->sign[level > 0];
}

static int power_of(const tg_check *c, const scaling *of, int level)
{
    const int power = of->power[level > 0] / c->numbers->power_divisor;
    return level == 0 || level % 2 == 1 ? power : -power;
}

/* True if numbers of these magnitudes keep all their bits when scaled by the power or by its inverse; a value may have
 * the cotangent of one level only. */
static bool stays_in_range(const tg_check *c, const scaling *by, int levels, const tg_magnitudes *m)
{
    int up = 0, down = 0;
    for (int k = 0; k < levels; k++)
        *(power_of(c, by, k) > 0 ? &up : &down) += power_of(c, by, k);
    return (up == 0 && down == 0) ||
           (ldexp(m->least, down) >= c->numbers->least && ldexp(m->largest, up) <= c->numbers->largest);
}

/* Rounding commutes with powers of two and with the sign, so these are equal to the bit for any function. Exceptions:
 * numbers next to the smallest that have lost bits, and overflow beyond the largest. */
static void expect_scaled(tg_check *c, int order, const scaling *by, const double *found)
{
    int sign = 1, power = 0;
    for (int k = 0; k < order; k++) {
        sign *= sign_of(by, k);
        power += power_of(c, by, k);
    }
    for (int64_t i = 0; i < c->variables; i++) {
        const double expected = sign * ldexp(c->level[order].value[i], power);
        if (found[i] == expected || (!isfinite(expected) && !isfinite(found[i])) ||
            fabs(ldexp(found[i] - expected, -power)) < c->numbers->lost_in_scaling)
            continue;
        tg_check_set_place(c, order, i, found[i], expected);
        tg_check_stop(c, TG_GRADCHECK_NOT_LINEAR,
                      "with %s times %s2^%d the gradient is %.17g, where exactly %.17g is expected",
                      order > 1 ? "the product of the cotangents" : "the cotangent", sign < 0 ? "-" : "", power,
                      found[i], expected);
    }
}

/* All derivatives, with the cotangents of all levels scaled. */
static void scale_with(tg_check *c, const scaling *by, double *const *cotangents, double *const *values)
{
    double *own[TG_GRADCHECK_MAX_ORDER];
    for (int k = 0; k < c->options.order; k++) {
        tg_check_level *level = &c->level[k];
        own[k] = level->cotangent;
        for (int64_t i = 0; i < level->length; i++)
            cotangents[k][i] = sign_of(by, k) * ldexp(own[k][i], power_of(c, by, k));
        level->cotangent = cotangents[k];
    }
    tg_check_evaluate_all(c, c->point, values);
    for (int k = 0; k < c->options.order; k++)
        c->level[k].cotangent = own[k];
    for (int order = 1; order <= c->options.order; order++)
        if (stays_in_range(c, by, order, &c->magnitudes[1]))
            expect_scaled(c, order, by, values[order]);
}

static void expect_scaling(tg_check *c)
{
    static const scaling all[] = {{{-1, 1}, {0, 0}},    {{1, -1}, {0, 0}},    {{1, 1}, {-100, 10}},
                                  {{1, 1}, {-40, -10}}, {{1, 1}, {-10, 100}}, {{1, 1}, {10, -100}},
                                  {{1, 1}, {40, 40}},   {{1, 1}, {100, -40}}};
    double *cotangents[TG_GRADCHECK_MAX_ORDER + 1], *values[TG_GRADCHECK_MAX_ORDER + 1];
    tg_check_take_values(c, cotangents);
    tg_check_take_values(c, values);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        scale_with(c, &all[i], cotangents, values);
}

/* J^T (v + w) = J^T v + J^T w, up to rounding; every third element of w is zero. */
static void expect_additive(tg_check *c, int order)
{
    const tg_check_level *below = &c->level[order - 1], *level = &c->level[order];
    double *w = tg_check_take(c, below->length), *of_w = tg_check_take(c, c->variables);
    double largest = 0, rounding = 0; /* the largest of all elements: one element may show little rounding by chance */
    for (int64_t i = 0; i < below->length; i++)
        w[i] = i % 3 == 2 ? 0 : tg_check_weight(c);
    derive_with(c, order, w, of_w);
    for (int64_t i = 0; i < below->length; i++)
        w[i] += below->cotangent[i];
    derive_with(c, order, w, c->ahead);
    for (int64_t i = 0; i < c->variables; i++) {
        largest = fmax(largest, fmax(fabs(of_w[i]), fabs(level->value[i])));
        rounding = fmax(rounding, level->value_rounding[i]);
    }
    for (int64_t i = 0; i < c->variables; i++) {
        double expected = level->value[i] + of_w[i], error = fabs(c->ahead[i] - expected);
        double bound = tg_check_to(c, SAME_TO) * largest + 64 * level->value_rounding[i] + 16 * rounding +
                       tg_check_to(c, UNMEASURED_ROUNDING) * tg_check_typical_derivative(c, order, i) +
                       c->numbers->lost;
        if (error <= bound || !isfinite(c->ahead[i]) || !isfinite(of_w[i]))
            continue;
        tg_check_set_place(c, order, i, c->ahead[i], expected);
        c->report.result.bound = bound;
        tg_check_stop(c, TG_GRADCHECK_NOT_LINEAR,
                      "the gradient for the sum of two cotangents is %.12g, but those for each add up to %.12g",
                      c->ahead[i], expected);
    }
}

/* ---- for those of a kind, and all ---- */

void tg_check_is_adjoint(tg_check *c, const double *u, const double *product, const char *of_what)
{
    const tg_check_level *function = &c->level[0], *gradient = &c->level[1];
    double forward = 0, backward = 0, forward_size = 0, backward_size = 0;
    for (int64_t i = 0; i < function->length; i++) {
        forward += function->cotangent[i] * product[i];
        forward_size += fabs(function->cotangent[i] * product[i]);
    }
    for (int64_t i = 0; i < c->variables; i++) {
        backward += gradient->value[i] * u[i];
        backward_size += fabs(gradient->value[i] * u[i]);
    }
    const double size = fmax(fmax(forward_size, backward_size), function->size);
    const double bound =
        tg_check_to(c, SAME_TO) * size + 32 * tg_check_noise(c, 1, u, 0, c->variables) + c->numbers->lost;
    if (fabs(forward - backward) <= bound)
        return;
    tg_check_set_place(c, 1, -1, backward, forward);
    c->report.result.bound = bound;
    tg_check_stop(c, TG_GRADCHECK_ADJOINT, "<J^T v, u> is %.12g, but <v, J u>, %s, is %.12g", backward, of_what,
                  forward);
}

void tg_check_invariants(tg_check *c)
{
    expect_the_same_again(c);
    expect_zero_for_zero(c);
    c->kind->invariants(c);
    expect_scaling(c);
    for (int order = 1; order <= c->options.order; order++)
        expect_additive(c, order);
}
