#include "autograd/gradcheck/invariants.h"

#include "autograd/gradcheck/differences.h"
#include "autograd/gradcheck/tolerances.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Makes the result name derivative number `order` by variable i; -1 for no variable in particular. */
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

/* Compares `found` with the derivative of this order, bit by bit. */
bool tg_check_same(tg_check *c, int order, const double *found, tg_gradcheck_status status, const char *what)
{
    const tg_check_level *level = &c->level[order];
    int64_t i = 0;
    while (i < level->length && memcmp(&found[i], &level->value[i], sizeof(double)) == 0)
        i++;
    if (i == level->length)
        return true;
    tg_check_set_place(c, order, order > 0 ? i : -1, found[i], level->value[i]);
    return tg_check_fail(&c->report, status, "%s: %.17g and %.17g at element %lld of %s", what, level->value[i],
                         found[i], (long long)i, order > 0 ? "all variables" : "the result");
}

static bool repeats(tg_check *c)
{
    double *values[TG_GRADCHECK_MAX_ORDER + 1];
    if (!tg_check_take_values(c, values) || !tg_check_evaluate_all(c, c->point, values))
        return false;
    for (int order = 0; order <= c->options.order; order++)
        if (!tg_check_same(c, order, values[order], TG_GRADCHECK_NOT_REPEATABLE,
                           order > 0 ? "two runs give two gradients" : "two runs give two results"))
            return false;
    return true;
}

static bool zero_gives_zero(tg_check *c)
{
    tg_check_level *level = &c->level[0];
    double *cotangent = level->cotangent, *zeros = tg_check_take(c, level->length);
    if (!zeros)
        return false;
    level->cotangent = zeros;
    bool fine = tg_check_evaluate(c, 1, c->point, c->ahead);
    level->cotangent = cotangent;
    for (int64_t i = 0; fine && i < c->variables; i++)
        if (!(c->ahead[i] == 0)) {
            tg_check_set_place(c, 1, i, c->ahead[i], 0);
            return tg_check_fail(&c->report, TG_GRADCHECK_ZERO,
                                 "a zero cotangent gives %g where exactly zero is expected", c->ahead[i]);
        }
    return fine;
}

/* ---- linear in the cotangent ---- */

/* Computes derivative number `order` with another cotangent into `out`. */
static bool derive_with(tg_check *c, int order, double *cotangent, double *out)
{
    tg_check_level *level = &c->level[order - 1];
    double *own = level->cotangent;
    level->cotangent = cotangent;
    bool fine = tg_check_evaluate(c, order, c->point, out);
    level->cotangent = own;
    return fine;
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
static bool is_scaled(tg_check *c, int order, const scaling *by, const double *found)
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
        return tg_check_fail(&c->report, TG_GRADCHECK_NOT_LINEAR,
                             "with %s times %s2^%d the gradient is %.17g, where exactly %.17g is expected",
                             order > 1 ? "the product of the cotangents" : "the cotangent", sign < 0 ? "-" : "", power,
                             found[i], expected);
    }
    return true;
}

/* All derivatives, with the cotangents of all levels scaled. */
static bool scales_with(tg_check *c, const scaling *by, double *const *cotangents, double *const *values)
{
    double *own[TG_GRADCHECK_MAX_ORDER];
    for (int k = 0; k < c->options.order; k++) {
        tg_check_level *level = &c->level[k];
        own[k] = level->cotangent;
        for (int64_t i = 0; i < level->length; i++)
            cotangents[k][i] = sign_of(by, k) * ldexp(own[k][i], power_of(c, by, k));
        level->cotangent = cotangents[k];
    }
    bool fine = tg_check_evaluate_all(c, c->point, values);
    for (int k = 0; k < c->options.order; k++)
        c->level[k].cotangent = own[k];
    for (int order = 1; fine && order <= c->options.order; order++)
        fine = !stays_in_range(c, by, order, &c->magnitudes[1]) || is_scaled(c, order, by, values[order]);
    return fine;
}

static bool scales(tg_check *c)
{
    static const scaling all[] = {{{-1, 1}, {0, 0}},    {{1, -1}, {0, 0}},    {{1, 1}, {-100, 10}},
                                  {{1, 1}, {-40, -10}}, {{1, 1}, {-10, 100}}, {{1, 1}, {10, -100}},
                                  {{1, 1}, {40, 40}},   {{1, 1}, {100, -40}}};
    double *cotangents[TG_GRADCHECK_MAX_ORDER + 1], *values[TG_GRADCHECK_MAX_ORDER + 1];
    if (!tg_check_take_values(c, cotangents) || !tg_check_take_values(c, values))
        return false;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (!scales_with(c, &all[i], cotangents, values))
            return false;
    return true;
}

/* J^T (v + w) = J^T v + J^T w, up to rounding; every third element of w is zero. */
static bool adds_up(tg_check *c, int order, double *w, double *of_w)
{
    const tg_check_level *below = &c->level[order - 1], *level = &c->level[order];
    double largest = 0, rounding = 0; /* the largest of all elements: one element may show little rounding by chance */
    for (int64_t i = 0; i < below->length; i++)
        w[i] = i % 3 == 2 ? 0 : tg_check_weight(c);
    if (!derive_with(c, order, w, of_w))
        return false;
    for (int64_t i = 0; i < below->length; i++)
        w[i] += below->cotangent[i];
    if (!derive_with(c, order, w, c->ahead))
        return false;
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
        return tg_check_fail(&c->report, TG_GRADCHECK_NOT_LINEAR,
                             "the gradient for the sum of two cotangents is %.12g, but those for each add up to %.12g",
                             c->ahead[i], expected);
    }
    return true;
}

static bool is_linear(tg_check *c)
{
    bool fine = scales(c);
    for (int order = 1; fine && order <= c->options.order; order++) {
        double *cotangent = tg_check_take(c, c->level[order - 1].length), *other = tg_check_take(c, c->variables);
        fine = cotangent && other && adds_up(c, order, cotangent, other);
    }
    return fine;
}

/* ---- for those of a kind, and all ---- */

bool tg_check_is_adjoint(tg_check *c, const double *u, const double *product, const char *of_what)
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
        return true;
    tg_check_set_place(c, 1, -1, backward, forward);
    c->report.result.bound = bound;
    return tg_check_fail(&c->report, TG_GRADCHECK_ADJOINT, "<J^T v, u> is %.12g, but <v, J u>, %s, is %.12g", backward,
                         of_what, forward);
}

bool tg_check_invariants(tg_check *c)
{
    const tg_gradcheck_result worst = c->report.result; /* of the comparisons: it remains the result if all goes well */
    if (!repeats(c) || !zero_gives_zero(c) || !c->kind->invariants(c) || !is_linear(c))
        return false;
    c->report.result = worst;
    return true;
}
