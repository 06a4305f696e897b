#include "autograd/gradcheck/invariants.h"

#include <math.h>
#include <string.h>

/* Two roads to the same number, both exact but for rounding, may differ by this much of its size. */
#define SAME_TO 1e-12

/* The result is about derivative number `order` by variable i; -1 if it is about none in particular. */
static void point_at(tg_check *c, int order, int64_t i, double analytic, double expected)
{
    tg_gradcheck_result *v = &c->report.result;
    v->order = order;
    v->input = v->index = -1;
    v->analytic = analytic;
    v->numeric = expected;
    v->error = fabs(analytic - expected);
    v->bound = v->relative = 0;
    for (int p = 0; i >= 0 && p < c->part_count; p++)
        if (i >= c->parts[p].offset && i < c->parts[p].offset + c->parts[p].size) {
            v->input = c->parts[p].input;
            v->index = i - c->parts[p].offset;
        }
}

/* Compares what is in c->ahead with the derivative of this order, bit by bit. */
static bool same_bytes(tg_check *c, int order, tg_gradcheck_status status, const char *what)
{
    const tg_check_level *level = &c->level[order];
    int64_t i = 0;
    while (i < level->length && memcmp(&c->ahead[i], &level->value[i], sizeof(double)) == 0)
        i++;
    if (i == level->length)
        return true;
    point_at(c, order, order > 0 ? i : -1, c->ahead[i], level->value[i]);
    return tg_check_fail(&c->report, status, "%s: %.17g and %.17g at element %lld of %s", what,
                         level->value[i], c->ahead[i], (long long)i,
                         order > 0 ? "all variables" : "the result");
}

static bool repeats(tg_check *c)
{
    for (int order = 0; order <= c->options.order; order++)
        if (!tg_check_evaluate(c, order, c->point, c->ahead) ||
            !same_bytes(c, order, TG_GRADCHECK_NOT_REPEATABLE,
                        order > 0 ? "two runs give two gradients" : "two runs give two results"))
            return false;
    return true;
}

/* The function runs on other numbers between forward and backward pass: what it keeps beside the tape, it loses. */
static bool stays_undisturbed(tg_check *c)
{
    tg_tensor result;
    if (!tg_check_record(c, c->point, &result))
        return false;
    for (int64_t i = 0; i < c->variables; i++)
        c->moved[i] = 0.75 * c->point[i] + 0.125 * c->scale[i];
    for (int p = 0; p < c->part_count; p++) {
        const tg_check_part *part = &c->parts[p];
        if (!c->report.inputs[part->input].parameter)
            c->tensors[part->input] = tg_variable(c->tape, TG_F64, c->moved + part->offset, part->shape);
    }
    c->function(c->tape, c->tensors, c->report.count, c->user);
    tg_tape_clear_error(c->tape); /* whether the function likes these numbers does not matter */
    return tg_check_derive(c, 1, result, c->ahead) &&
           same_bytes(
               c, 1, TG_GRADCHECK_DISTURBED,
               "the gradient changes when the function runs on other numbers before the backward pass");
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
            point_at(c, 1, i, c->ahead[i], 0);
            return tg_check_fail(&c->report, TG_GRADCHECK_ZERO,
                                 "a zero cotangent gives %g where exactly zero is expected", c->ahead[i]);
        }
    return fine;
}

/* The gradient by one input without the others', which were recorded as constants, so that no forward pass has computed a
 * derivative in advance. */
static bool is_same_alone(tg_check *c, int p)
{
    const tg_check_part *part = &c->parts[p];
    const double *together = c->level[1].value + part->offset;
    tg_tensor result, gradient;
    c->as_constants = true;
    bool recorded = tg_check_record(c, c->point, &result);
    c->as_constants = false;
    if (!recorded)
        return false;
    tg_tensor cotangent = tg_constant(c->tape, TG_F64, c->level[0].cotangent, c->output_shape);
    if (!tg_grad(&result, 1, &c->varied[p], 1, &cotangent, false, &gradient) ||
        !tg_read(gradient, TG_F64, c->ahead, part->size)) {
        point_at(c, 1, part->offset, NAN, together[0]);
        return tg_check_fail(&c->report, TG_GRADCHECK_ALONE,
                             "wanted alone, this gradient cannot be computed: %s",
                             tg_tape_error(c->tape) ? tg_tape_error(c->tape) : "it has another shape");
    }
    double largest = 0;
    for (int64_t i = 0; i < part->size; i++)
        largest = fmax(largest, fabs(together[i]));
    for (int64_t i = 0; i < part->size; i++)
        if (!(fabs(c->ahead[i] - together[i]) <= SAME_TO * largest)) {
            point_at(c, 1, part->offset + i, c->ahead[i], together[i]);
            return tg_check_fail(&c->report, TG_GRADCHECK_ALONE,
                                 "wanted alone, and not announced before, the gradient is %.9g, else %.9g",
                                 c->ahead[i], together[i]);
        }
    return true;
}

/* <v, J u> against <J^T v, u>. J^T v is linear in v, so that its derivative by v, applied to u, is J u. */
static bool is_adjoint(tg_check *c)
{
    double *direction = tg_check_take(c, c->variables);
    tg_tensor result, product;
    if (!direction || !tg_check_record(c, c->point, &result))
        return false;
    for (int64_t i = 0; i < c->variables; i++)
        direction[i] = fmin(1, c->scale[i]) * tg_check_weight(&c->rng);
    tg_tensor v = tg_variable(c->tape, TG_F64, c->level[0].cotangent, c->output_shape);
    for (int p = 0; p < c->part_count; p++)
        c->cotangents[p] = tg_constant(c->tape, TG_F64, direction + c->parts[p].offset, c->parts[p].shape);
    const tg_check_level *function = &c->level[0], *gradient = &c->level[1];
    point_at(c, 1, -1, NAN, NAN);
    if (!tg_grad(&result, 1, c->varied, c->part_count, &v, true, c->gradients) ||
        !tg_grad(c->gradients, c->part_count, &v, 1, c->cotangents, false, &product) ||
        !tg_read(product, TG_F64, c->ahead, function->length))
        return tg_check_fail(&c->report, TG_GRADCHECK_ADJOINT,
                             "the derivative cannot be differentiated by its cotangent: %s",
                             tg_tape_error(c->tape) ? tg_tape_error(c->tape) : "it has another shape");
    double forward = 0, backward = 0, forward_size = 0, backward_size = 0;
    for (int64_t i = 0; i < function->length; i++) {
        forward += function->cotangent[i] * c->ahead[i];
        forward_size += fabs(function->cotangent[i] * c->ahead[i]);
    }
    for (int64_t i = 0; i < c->variables; i++) {
        backward += gradient->value[i] * direction[i];
        backward_size += fabs(gradient->value[i] * direction[i]);
    }
    double bound = SAME_TO * fmax(fmax(forward_size, backward_size), function->size) +
                   32 * tg_check_noise(c, 1, direction, 0, c->variables);
    if (fabs(forward - backward) <= bound)
        return true;
    point_at(c, 1, -1, backward, forward);
    c->report.result.bound = bound;
    return tg_check_fail(&c->report, TG_GRADCHECK_ADJOINT,
                         "<J^T v, u> is %.12g, but <v, J u>, by differentiating J^T v by v, is %.12g",
                         backward, forward);
}

bool tg_check_invariants(tg_check *c)
{
    tg_gradcheck_result worst =
        c->report.result; /* of the comparisons, which remains the result if all goes well */
    if (!repeats(c) || !zero_gives_zero(c) || !stays_undisturbed(c))
        return false;
    for (int p = 0; p < c->part_count; p++)
        if (!is_same_alone(c, p))
            return false;
    if (c->variables > 0 && !is_adjoint(c))
        return false;
    c->report.result = worst;
    return true;
}
