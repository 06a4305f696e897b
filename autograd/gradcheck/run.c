/* The order of a check: the caller's point, what every derivative has exactly or up to rounding, other points. */
#include "autograd/gradcheck/check.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* ---- up to rounding ---- */

/* How far two ways to compute one number may be apart: as far as the derivative may be wrong for its rounding, and what
 * is three digits beyond the promise. */
static double part_of(const tg_check *c)
{
    return fmax(c->terms * c->epsilon, TG_TOLERANCE * TG_COARSE * c->promise);
}

void tg_check_close_to(tg_check *c, int order, int64_t from, int64_t to, const double *found,
                       tg_gradcheck_status status, const char *when)
{
    const double *expected = c->level[order].value;
    double largest = 0;
    for (int64_t i = from; i < to; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (int64_t i = from; i < to; i++)
        if (!(fabs(found[i] - expected[i]) <= part_of(c) * largest + DBL_MIN / c->epsilon))
            tg_check_stop_at(c, order, order > 0 ? i : -1, found[i], expected[i], status,
                             "%s the %s is %.12g, else %.12g", when, order > 0 ? "gradient" : "result", found[i],
                             expected[i]);
}

void tg_check_is_adjoint(tg_check *c, const double *u, const double *product, const char *of_what)
{
    const tg_check_level *function = &c->level[0], *gradient = &c->level[1];
    double forward = 0, backward = 0, size = 0;
    for (int64_t i = 0; i < function->length; i++) {
        forward += function->cotangent[i] * product[i];
        size += fabs(function->cotangent[i] * product[i]) + fabs(function->cotangent[i] * function->value[i]);
    }
    for (int64_t i = 0; i < c->variables; i++) {
        backward += gradient->value[i] * u[i];
        size += fabs(gradient->value[i] * u[i]);
    }
    if (!(fabs(forward - backward) <= part_of(c) * size + DBL_MIN / c->epsilon))
        tg_check_stop_at(c, 1, -1, backward, forward, TG_GRADCHECK_ADJOINT,
                         "<J^T v, u> is %.12g, but <v, J u>, %s, is %.12g", backward, of_what, forward);
}

/* ---- the same each time, and linear in its cotangent ---- */

static void expect_the_same_again(tg_check *c)
{
    for (int order = 0; order <= c->options.order; order++) {
        const tg_check_level *level = &c->level[order];
        const bool compares = tg_check_evaluate(c, order, c->point, c->ahead);
        for (int64_t i = 0; compares && i < level->length; i++)
            if (memcmp(&c->ahead[i], &level->value[i], sizeof(double)) != 0 &&
                !(order == 0 && fabs(c->ahead[i] - level->value[i]) <= 2 * c->promised[i]))
                tg_check_stop_at(
                    c, order, order > 0 ? i : -1, c->ahead[i], level->value[i], TG_GRADCHECK_NOT_REPEATABLE,
                    "two runs give two %s: %.17g and %.17g at element %lld of %s", order > 0 ? "gradients" : "results",
                    level->value[i], c->ahead[i], (long long)i, order > 0 ? "all variables" : "the result");
    }
}

/* The power of two by which the farthest of these numbers is away from 1; without 0, infinities and NaN. */
static int farthest_power(const double *numbers, int64_t count)
{
    int farthest = 0;
    for (int64_t i = 0; i < count; i++)
        if (numbers[i] != 0 && isfinite(numbers[i]) && abs(ilogb(numbers[i])) > farthest)
            farthest = abs(ilogb(numbers[i]));
    return farthest;
}

/* Rounding commutes with powers of two and the sign, so that these are equal to the bit for any function whose numbers
 * stay in the range of the type, but for the last third of its powers, where numbers may lose bits. Intermediate
 * numbers are unknown: where the known ones are within 2^far of 1, they are taken to be within 2^(4 far). */
static void expect_scaling(tg_check *c, int order)
{
    static const double factors[] = {0, -1, 0x1p1, 0x1p-1, 0x1p10, 0x1p-10, 0x1p40, 0x1p-40, 0x1p100, 0x1p-100};
    tg_check_level *below = &c->level[order - 1], *level = &c->level[order];
    double *own = below->cotangent, *scaled = c->behind, *out = c->ahead;
    const int far = fmax(farthest_power(c->point, c->variables),
                         fmax(farthest_power(c->level[0].value, c->level[0].length),
                              farthest_power(c->level[1].value, c->variables))),
              powers = -ilogb(c->least) * 2 / 3;
    for (const double *f = factors; f < factors + sizeof factors / sizeof *factors; f++) {
        if (fabs(*f) > 0 && abs(ilogb(*f)) > fmax(0, powers - 4 * far))
            continue;
        for (int64_t i = 0; i < below->length; i++)
            scaled[i] = *f * own[i];
        below->cotangent = scaled;
        const bool compares = tg_check_evaluate(c, order, c->point, out);
        below->cotangent = own;
        for (int64_t i = 0; compares && i < c->variables; i++) {
            const double expected = *f * level->value[i], lost = ldexp(fmax(1, fabs(*f)), -powers);
            if (out[i] != expected && isfinite(expected) && !(fabs(out[i] - expected) < lost))
                tg_check_stop_at(c, order, i, out[i], expected, *f == 0 ? TG_GRADCHECK_ZERO : TG_GRADCHECK_NOT_LINEAR,
                                 "with the cotangent times %g the gradient is %.17g, where exactly %.17g is expected",
                                 *f, out[i], expected);
        }
    }
}

/* ---- the check ---- */

static int64_t first_not_finite(const tg_check_level *level)
{
    int64_t i = 0;
    while (i < level->length && isfinite(level->value[i]))
        i++;
    return i;
}

/* Of the checker's own: the first order alone, except of elementwise operations. */
static void check_point(tg_check *c, void *none)
{
    const int orders = c->elementwise ? c->options.order : 1;
    (void)none;
    tg_check_evaluate(c, 0, c->point, c->level[0].value);
    if (first_not_finite(&c->level[0]) < c->level[0].length)
        return;
    const int64_t failed = c->result.failed;
    tg_check_at_point(c, orders);
    if (c->result.failed == failed && !c->over)
        tg_check_compare_all(c, orders);
}

/* At a point of the checker's own a function may have no value, or refuse it; only a comparison can fail there. */
static void check_other_points(tg_check *c)
{
    for (int number = 0; c->result.passed && !c->over && (c->at = tg_check_next_point(c, number)); number++) {
        tg_gradcheck_result before = c->result;
        if (!tg_check_try(c, check_point, NULL) && !c->over && !strstr(c->result.why, "out of memory")) {
            before.evaluations = c->result.evaluations;
            before.failed = c->result.failed;
            c->result = before;
        }
    }
    if (!c->at)
        c->at = "";
}

static void check_everything(tg_check *c, void *none)
{
    (void)none;
    tg_check_open(c);
    const tg_check_level *level = &c->level[0];
    const int64_t bad = first_not_finite(level);
    if (bad < level->length && !c->brief)
        tg_check_stop(c, TG_GRADCHECK_NOT_FINITE, "the result is %g at element %lld", level->value[bad],
                      (long long)bad);
    c->result.passed = true;
    if (bad == level->length)
        tg_check_compare_all(c, c->options.order);
    if (c->brief || !c->result.passed || c->over)
        return;
    c->stage = ", before its invariants were tested and other points tried";
    expect_the_same_again(c);
    c->kind->invariants(c);
    for (int order = 1; order <= c->options.order; order++)
        expect_scaling(c, order);
    c->stage = ", before all other points were tried";
    if ((c->nothing = c->result.comparisons == 0))
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "there is nothing to compare: all inputs are empty");
    check_other_points(c);
}

static void refuse(tg_check *c, void *why)
{
    tg_check_stop(c, TG_GRADCHECK_REFUSED, "%s", *(const char **)why);
}

void tg_check_run(tg_check *c)
{
    tg_check_try(c, check_everything, NULL);
    if (c->over && c->result.comparisons == 0 && !c->result.why[0])
        tg_check_try(c, refuse, &(const char *){"nothing was compared"});
    tg_check_end(c);
    c->result.ended = c->over;
    c->result.samples = 1;
    tg_check_where(c, &c->result);
}

void tg_check_close(tg_check *c)
{
    if (c->kind && c->kind->close)
        c->kind->close(c);
    tg_arena_free(&c->arena);
}

tg_gradcheck_result tg_check_answer(tg_check *c, const char *misuse)
{
    const tg_gradcheck_options *o = &c->options;
    if (!misuse && !(o->rtol >= 0 && o->atol >= 0 && o->value_rtol >= 0 && o->value_atol >= 0))
        misuse = "expected rtol, atol, value_rtol and value_atol of 0 or more";
    if (!misuse && !(o->directions >= 0 && o->evaluations >= 0 && o->largest_step >= 0))
        misuse = "expected directions, evaluations and a largest_step of 0 or more";
    c->rng = tg_rng_seed(c->options.seed);
    if (misuse)
        tg_check_try(c, refuse, &misuse);
    else
        tg_check_run(c);
    if (c->result.passed)
        tg_check_say_success(c->name, c->promise, &c->result);
    if (c->point)
        tg_check_say_limits(c, &c->result);
    c->over = false;
    c->options.evaluations = 0; /* the report's own are few, and no longer counted */
    if (!c->result.passed && c->point)
        tg_check_explain(c);
    tg_check_close(c);
    return c->result;
}
