/* What every derivative has, exactly or up to rounding: it is the same each time, and linear in its cotangent. */
#include "autograd/gradcheck/check.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

void tg_check_set_place(tg_check *c, int order, int64_t i, double analytic, double expected)
{
    tg_gradcheck_result *v = &c->result;
    int p = c->part_count - 1;
    while (i >= 0 && i < c->parts[p].offset)
        p--;
    v->order = order;
    v->input = i >= 0 ? c->parts[p].input : -1;
    v->index = i >= 0 ? i - c->parts[p].offset : -1;
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

/* How far two ways to compute one number may be apart: as far as the derivative may be wrong for its rounding, and what
 * is three digits beyond the promise. */
static double part_of(const tg_check *c)
{
    return fmax(c->terms * c->epsilon, TG_TOLERANCE * TG_COARSE * c->promise);
}

static double rounding_of(const tg_check *c, const double *numbers, int64_t from, int64_t to)
{
    double largest = 0;
    for (int64_t i = from; i < to; i++)
        largest = fmax(largest, fabs(numbers[i]));
    return part_of(c) * largest + DBL_MIN / c->epsilon;
}

void tg_check_close_to(tg_check *c, int64_t from, int64_t to, const double *found, tg_gradcheck_status status,
                       const char *when)
{
    const double *expected = c->level[1].value, bound = rounding_of(c, expected, from, to);
    for (int64_t i = from; i < to; i++)
        if (!(fabs(found[i] - expected[i]) <= bound)) {
            tg_check_set_place(c, 1, i, found[i], expected[i]);
            tg_check_stop(c, status, "%s the gradient is %.12g, else %.12g", when, found[i], expected[i]);
        }
}

static void expect_the_same_again(tg_check *c)
{
    for (int order = 0; order <= c->options.order; order++) {
        double *again = tg_check_numbers(c, c->level[order].length);
        c->kind->evaluate(c, order, c->point, again);
        tg_check_same(c, order, again, TG_GRADCHECK_NOT_REPEATABLE,
                      order > 0 ? "two runs give two gradients" : "two runs give two results");
    }
}

/* ---- linear in the cotangent ---- */

static void derive_with(tg_check *c, int order, double *cotangent, double *out)
{
    double *own = c->level[order - 1].cotangent;
    c->level[order - 1].cotangent = cotangent;
    c->kind->evaluate(c, order, c->point, out);
    c->level[order - 1].cotangent = own;
}

static void expect_zero_for_zero(tg_check *c, double *out)
{
    derive_with(c, 1, tg_check_numbers(c, c->level[0].length), out);
    for (int64_t i = 0; i < c->variables; i++)
        if (!(out[i] == 0)) {
            tg_check_set_place(c, 1, i, out[i], 0);
            tg_check_stop(c, TG_GRADCHECK_ZERO, "a zero cotangent gives %g where exactly zero is expected", out[i]);
        }
}

/* The power of two by which all numbers are away from 1; the cotangents are, too, in powers of two up to this. */
static int farthest_power(const tg_check *c)
{
    int farthest = 0;
    const struct {
        const double *numbers;
        int64_t count;
    } all[] = {{c->point, c->variables}, {c->level[0].value, c->level[0].length}, {c->level[1].value, c->variables}};
    for (size_t a = 0; a < sizeof all / sizeof all[0]; a++)
        for (int64_t i = 0; i < all[a].count; i++)
            if (all[a].numbers[i] != 0 && abs(ilogb(all[a].numbers[i])) > farthest)
                farthest = abs(ilogb(all[a].numbers[i]));
    return farthest;
}

/* Rounding commutes with powers of two and the sign, so that these are equal to the bit for any function whose numbers
 * stay in the range of the type: 2^1022 in double, 2^126 in float. Intermediate numbers are unknown: where the known
 * ones are within 2^far of 1, they are taken to be within 2^(4 far). Numbers next to the least may lose bits. */
static void expect_scaled(tg_check *c, int order, double sign, int power, double *out)
{
    const tg_check_level *below = &c->level[order - 1], *level = &c->level[order];
    const int64_t here = tg_arena_here(&c->arena);
    const double least = c->type == TG_GRADCHECK_F64 ? 0x1p-900 : 0x1p-90;
    double *scaled = tg_check_numbers(c, below->length);
    for (int64_t i = 0; i < below->length; i++)
        scaled[i] = sign * ldexp(below->cotangent[i], power);
    derive_with(c, order, scaled, out);
    for (int64_t i = 0; i < c->variables; i++) {
        const double expected = sign * ldexp(level->value[i], power);
        if (out[i] == expected || !isfinite(expected) || fabs(out[i] - expected) < ldexp(least, power > 0 ? power : 0))
            continue;
        tg_check_set_place(c, order, i, out[i], expected);
        tg_check_stop(c, TG_GRADCHECK_NOT_LINEAR,
                      "with the cotangent times %s2^%d the gradient is %.17g, where exactly %.17g is expected",
                      sign < 0 ? "-" : "", power, out[i], expected);
    }
    tg_arena_rewind(&c->arena, here);
}

static void expect_scaling(tg_check *c, int order, double *out)
{
    static const int powers[] = {0, 1, -1, 10, -10, 40, -40, 100, -100};
    const int room = (c->type == TG_GRADCHECK_F64 ? 900 : 100) - 4 * farthest_power(c);
    for (size_t i = 0; i < sizeof powers / sizeof powers[0]; i++)
        if (powers[i] == 0 || abs(powers[i]) <= room)
            expect_scaled(c, order, powers[i] == 0 ? -1 : 1, powers[i], out);
}

/* J^T (v + w) = J^T v + J^T w, up to rounding; every third element of w is zero. */
static void expect_additive(tg_check *c, int order, double *out)
{
    const tg_check_level *below = &c->level[order - 1], *level = &c->level[order];
    double *w = tg_check_numbers(c, below->length), *of_w = tg_check_numbers(c, c->variables);
    double terms = 0;
    for (int64_t i = 0; i < below->length; i++)
        w[i] = i % 3 == 2 ? 0 : tg_check_weight(c);
    derive_with(c, order, w, of_w);
    for (int64_t i = 0; i < below->length; i++) {
        w[i] = tg_check_round(c, w[i] + below->cotangent[i]);
        terms += fabs(w[i] * below->value[i]);
    }
    for (int64_t i = 0; order > 1 && i < c->level[0].length; i++)
        terms += fabs(c->level[0].cotangent[i] * c->level[0].value[i]);
    derive_with(c, order, w, out);
    for (int64_t i = 0; i < c->variables; i++) {
        const double expected = level->value[i] + of_w[i];
        const double bound = rounding_of(c, level->value, 0, c->variables) + rounding_of(c, of_w, 0, c->variables) +
                             c->terms * c->epsilon * terms / fmin(1, c->scale[i]);
        if (fabs(out[i] - expected) <= bound || !isfinite(out[i]) || !isfinite(of_w[i]))
            continue;
        tg_check_set_place(c, order, i, out[i], expected);
        c->result.bound = bound;
        tg_check_stop(c, TG_GRADCHECK_NOT_LINEAR,
                      "the gradient for the sum of two cotangents is %.12g, but those for each add up to %.12g", out[i],
                      expected);
    }
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
    if (fabs(forward - backward) <= part_of(c) * size + DBL_MIN / c->epsilon)
        return;
    tg_check_set_place(c, 1, -1, backward, forward);
    tg_check_stop(c, TG_GRADCHECK_ADJOINT, "<J^T v, u> is %.12g, but <v, J u>, %s, is %.12g", backward, of_what,
                  forward);
}

void tg_check_invariants(tg_check *c)
{
    double *out = tg_check_numbers(c, c->variables);
    expect_the_same_again(c);
    expect_zero_for_zero(c, out);
    c->kind->invariants(c);
    for (int order = 1; order <= c->options.order; order++) {
        expect_scaling(c, order, out);
        expect_additive(c, order, out);
    }
}
