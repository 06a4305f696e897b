#include "autograd/gradcheck/invariants.h"

#include "autograd/gradcheck/differences.h"
#include "autograd/gradcheck/tolerances.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The result is about derivative number `order` by variable i; -1 if it is about none in particular. */
static void set_place(tg_check *c, int order, int64_t i, double analytic, double expected)
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
static bool same_as(tg_check *c, int order, const double *found, tg_gradcheck_status status, const char *what)
{
    const tg_check_level *level = &c->level[order];
    int64_t i = 0;
    while (i < level->length && memcmp(&found[i], &level->value[i], sizeof(double)) == 0)
        i++;
    if (i == level->length)
        return true;
    set_place(c, order, order > 0 ? i : -1, found[i], level->value[i]);
    return tg_check_fail(&c->report, status, "%s: %.17g and %.17g at element %lld of %s", what, level->value[i],
                         found[i], (long long)i, order > 0 ? "all variables" : "the result");
}

/* Memory for what all levels give. */
static bool make_values(tg_check *c, double *values[TG_GRADCHECK_MAX_ORDER + 1])
{
    for (int k = 0; k <= c->options.order; k++)
        if (!(values[k] = tg_check_take(c, c->level[k].length)))
            return false;
    return true;
}

static bool repeats(tg_check *c)
{
    double *values[TG_GRADCHECK_MAX_ORDER + 1];
    if (!make_values(c, values) || !tg_check_evaluate_all(c, c->point, values))
        return false;
    for (int order = 0; order <= c->options.order; order++)
        if (!same_as(c, order, values[order], TG_GRADCHECK_NOT_REPEATABLE,
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
           same_as(c, 1, c->ahead, TG_GRADCHECK_DISTURBED,
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
            set_place(c, 1, i, c->ahead[i], 0);
            return tg_check_fail(&c->report, TG_GRADCHECK_ZERO,
                                 "a zero cotangent gives %g where exactly zero is expected", c->ahead[i]);
        }
    return fine;
}

/* ---- linear in the cotangent ---- */

/* Derivative number `order` with another cotangent, into `out`. */
static bool derive_with(tg_check *c, int order, double *cotangent, double *out)
{
    tg_check_level *level = &c->level[order - 1];
    double *own = level->cotangent;
    level->cotangent = cotangent;
    bool fine = tg_check_evaluate(c, order, c->point, out);
    level->cotangent = own;
    return fine;
}

/* What the cotangents of the levels are multiplied by: a sign and a power of two, the first for the function's own, the
 * second for those above. These take the power and its inverse in turn, so that their product keeps in the range of
 * numbers. */
typedef struct scaling {
    int sign[2], power[2];
} scaling;

static int sign_of(const scaling *of, int level)
{
    return of->sign[level > 0];
}

static int power_of(const scaling *of, int level)
{
    return level == 0 ? of->power[0] : level % 2 == 1 ? of->power[1] : -of->power[1];
}

/* Whether numbers of these magnitudes keep all their bits when they are scaled. Up and down count alone: a value may
 * have the cotangent of one level only. */
static bool stays_in_range(const scaling *by, int levels, const tg_magnitudes *m)
{
    int up = 0, down = 0;
    for (int k = 0; k < levels; k++)
        *(power_of(by, k) > 0 ? &up : &down) += power_of(by, k);
    return ldexp(m->least, down) >= DBL_MIN && ldexp(m->largest, up) <= DBL_MAX;
}

/* Rounding commutes with powers of two and with the sign, so that these hold to the bit, whatever the function. What
 * numbers next to the smallest have lost is not held against it, nor where the largest number is passed. */
static bool is_scaled(tg_check *c, int order, const scaling *by, const double *found)
{
    int sign = 1, power = 0;
    for (int k = 0; k < order; k++) {
        sign *= sign_of(by, k);
        power += power_of(by, k);
    }
    for (int64_t i = 0; i < c->variables; i++) {
        const double expected = sign * ldexp(c->level[order].value[i], power);
        if (found[i] == expected || (!isfinite(expected) && !isfinite(found[i])) ||
            fabs(ldexp(found[i] - expected, -power)) < LOST_IN_SCALING)
            continue;
        set_place(c, order, i, found[i], expected);
        return tg_check_fail(&c->report, TG_GRADCHECK_NOT_LINEAR,
                             "with %s times %s2^%d the gradient is %.17g, where exactly %.17g is expected",
                             order > 1 ? "the product of the cotangents" : "the cotangent", sign < 0 ? "-" : "", power,
                             found[i], expected);
    }
    return true;
}

/* All derivatives, with the cotangents of all levels multiplied. */
static bool scales_with(tg_check *c, const scaling *by, double *const *cotangents, double *const *values)
{
    double *own[TG_GRADCHECK_MAX_ORDER];
    for (int k = 0; k < c->options.order; k++) {
        tg_check_level *level = &c->level[k];
        own[k] = level->cotangent;
        for (int64_t i = 0; i < level->length; i++)
            cotangents[k][i] = sign_of(by, k) * ldexp(own[k][i], power_of(by, k));
        level->cotangent = cotangents[k];
    }
    bool fine = tg_check_evaluate_all(c, c->point, values);
    for (int k = 0; k < c->options.order; k++)
        c->level[k].cotangent = own[k];
    for (int order = 1; fine && order <= c->options.order; order++)
        fine = !stays_in_range(by, order, &c->magnitudes[1]) || is_scaled(c, order, by, values[order]);
    return fine;
}

static bool scales(tg_check *c)
{
    static const scaling all[] = {{{-1, 1}, {0, 0}},    {{1, -1}, {0, 0}},    {{1, 1}, {-100, 10}},
                                  {{1, 1}, {-40, -10}}, {{1, 1}, {-10, 100}}, {{1, 1}, {10, -100}},
                                  {{1, 1}, {40, 40}},   {{1, 1}, {100, -40}}};
    double *cotangents[TG_GRADCHECK_MAX_ORDER + 1], *values[TG_GRADCHECK_MAX_ORDER + 1];
    if (!make_values(c, cotangents) || !make_values(c, values))
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
    double largest = 0, rounding = 0; /* of any element: of one, little may have been seen by chance */
    for (int64_t i = 0; i < below->length; i++)
        w[i] = i % 3 == 2 ? 0 : tg_check_weight(&c->rng);
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
        double bound = SAME_TO * largest + 64 * level->value_rounding[i] + 16 * rounding +
                       0x1p-43 * tg_check_typical_derivative(c, order, i) + LOST;
        if (error <= bound || !isfinite(c->ahead[i]) || !isfinite(of_w[i]))
            continue;
        set_place(c, order, i, c->ahead[i], expected);
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

/* ---- the ways users go ---- */

static bool value_is(tg_check *c, tg_tensor result, const char *when)
{
    if (!tg_read(result, TG_F64, c->ahead, c->level[0].length)) {
        set_place(c, 0, -1, NAN, NAN);
        return tg_check_fail(&c->report, TG_GRADCHECK_ANOTHER_WAY, "%s the function fails: %s", when,
                             tg_tape_error(c->tape) ? tg_tape_error(c->tape) : "the result has another size");
    }
    return same_as(c, 0, c->ahead, TG_GRADCHECK_ANOTHER_WAY, when);
}

static bool evaluates_without_gradient(tg_check *c)
{
    tg_tensor result;
    c->as_constants = true;
    bool fine = tg_check_record(c, c->point, &result) && value_is(c, result, "with constants for inputs");
    c->as_constants = false;
    if (!fine || !tg_check_record(c, c->point, &result))
        return false;
    tg_no_grad_begin(c->tape);
    result = c->function(c->tape, c->tensors, c->report.count, c->user);
    tg_no_grad_end(c->tape);
    return value_is(c, result, "evaluated without gradient");
}

/* A step on the tape of the steps before, at numbers they did not have, against the same on a tape of its own: what a
 * derivative took from the numbers instead of recording it is then of yesterday. */
static bool second_step_is_like_a_first(tg_check *c)
{
    for (int way = 0; way < 2; way++) {
        for (int64_t i = 0; i < c->variables; i++)
            c->moved[i] = way ? -c->point[i] : 0.875 * c->point[i] + 0.0625 * c->own_scale[i];
        tg_tensor result;
        tg_gradcheck_result before = c->report.result;
        if (way == 0 && (!tg_check_record(c, c->point, &result) || !tg_check_derive(c, 1, result, c->ahead)))
            return false;
        if (!tg_check_evaluate(c, 1, c->moved, c->ahead)) { /* it does not like these numbers */
            tg_tape_clear_error(c->tape);
            c->report.result = before;
            continue;
        }
        tg_tape *used = c->tape;
        c->tape = tg_tape_new();
        bool fine = c->tape ? tg_check_evaluate(c, 1, c->moved, c->behind) : tg_check_out_of_memory(&c->report);
        tg_tape_free(c->tape);
        c->tape = used;
        for (int64_t i = 0; fine && i < c->variables; i++)
            if (memcmp(&c->ahead[i], &c->behind[i], sizeof(double)) != 0) {
                set_place(c, 1, i, c->ahead[i], c->behind[i]);
                return tg_check_fail(&c->report, TG_GRADCHECK_ANOTHER_WAY,
                                     "in the second step on one tape the gradient is %.17g, on a new tape %.17g",
                                     c->ahead[i], c->behind[i]);
            }
        if (!fine)
            return false;
    }
    return true;
}

/* The gradients that tg_backward leaves behind, into c->ahead. A parameter gets a place for it that the user's own does
 * not see. */
static bool backward(tg_check *c, tg_tensor result, double *gradients)
{
    tg_tensor cotangent = tg_constant(c->tape, TG_F64, c->level[0].cotangent, c->output_shape);
    bool fine = tg_backward_from(result, cotangent);
    for (int p = 0; p < c->part_count; p++) {
        const tg_check_part *part = &c->parts[p];
        tg_parameter *parameter = c->report.inputs[part->input].parameter;
        double *out = c->ahead + part->offset;
        const double *left =
            parameter ? (parameter->has_gradient ? gradients + part->offset : NULL) : tg_f64(tg_gradient(c->varied[p]));
        for (int64_t i = 0; i < part->size; i++)
            out[i] = left ? left[i] : 0;
    }
    return fine;
}

/* Runs the function, inside a checkpoint or not, with parameters whose gradients are lent a place. */
static bool run_backward(tg_check *c, bool checkpointed, double *gradients, tg_parameter *kept)
{
    tg_tensor result;
    for (int p = 0; p < c->part_count; p++) {
        tg_parameter *parameter = c->report.inputs[c->parts[p].input].parameter;
        if (!parameter)
            continue;
        kept[p] = *parameter;
        parameter->gradient = gradients + c->parts[p].offset;
        parameter->has_gradient = false;
    }
    bool recorded = tg_check_record(c, c->point, &result);
    if (recorded && checkpointed)
        result = tg_checkpoint(c->function, c->tensors, c->report.count, c->user);
    bool fine = recorded && backward(c, result, gradients);
    for (int p = 0; p < c->part_count; p++) {
        tg_parameter *parameter = c->report.inputs[c->parts[p].input].parameter;
        if (parameter) {
            parameter->gradient = kept[p].gradient;
            parameter->has_gradient = kept[p].has_gradient;
        }
    }
    if (fine || !recorded)
        return fine;
    set_place(c, 1, -1, NAN, NAN);
    return tg_check_fail(&c->report, TG_GRADCHECK_ANOTHER_WAY, "%s fails: %s",
                         checkpointed ? "tg_backward through a checkpoint" : "tg_backward", tg_tape_error(c->tape));
}

static bool trains_the_same(tg_check *c)
{
    double *gradients = tg_check_take(c, c->variables);
    tg_parameter *kept = tg_check_take_from(c, &c->arena, c->part_count, sizeof *kept);
    if (!gradients || !kept)
        return false;
    if (!run_backward(c, false, gradients, kept) ||
        !same_as(c, 1, c->ahead, TG_GRADCHECK_ANOTHER_WAY, "tg_grad and tg_backward differ"))
        return false;
    if (!run_backward(c, true, gradients, kept))
        return false;
    double largest = 0;
    for (int64_t i = 0; i < c->variables; i++)
        largest = fmax(largest, fabs(c->level[1].value[i]));
    for (int64_t i = 0; i < c->variables; i++) {
        double expected = c->level[1].value[i];
        if (fabs(c->ahead[i] - expected) <= SAME_TO * largest + LOST)
            continue;
        set_place(c, 1, i, c->ahead[i], expected);
        return tg_check_fail(&c->report, TG_GRADCHECK_ANOTHER_WAY,
                             "inside a checkpoint the gradient is %.12g, else %.12g", c->ahead[i], expected);
    }
    return true;
}

/* The gradient by one input without the others', which were recorded as constants, so that no forward pass has computed
 * a derivative in advance. */
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
        set_place(c, 1, part->size > 0 ? part->offset : -1, NAN, part->size > 0 ? together[0] : NAN);
        return tg_check_fail(&c->report, TG_GRADCHECK_ALONE, "wanted alone, this gradient cannot be computed: %s",
                             tg_tape_error(c->tape) ? tg_tape_error(c->tape) : "it has another shape");
    }
    double largest = 0;
    for (int64_t i = 0; i < part->size; i++)
        largest = fmax(largest, fabs(together[i]));
    for (int64_t i = 0; i < part->size; i++)
        if (!(fabs(c->ahead[i] - together[i]) <= SAME_TO * largest + LOST)) {
            set_place(c, 1, part->offset + i, c->ahead[i], together[i]);
            return tg_check_fail(&c->report, TG_GRADCHECK_ALONE,
                                 "wanted alone, and not announced before, the gradient is %.9g, else %.9g", c->ahead[i],
                                 together[i]);
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
    set_place(c, 1, -1, NAN, NAN);
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
                   32 * tg_check_noise(c, 1, direction, 0, c->variables) + LOST;
    if (fabs(forward - backward) <= bound)
        return true;
    set_place(c, 1, -1, backward, forward);
    c->report.result.bound = bound;
    return tg_check_fail(&c->report, TG_GRADCHECK_ADJOINT,
                         "<J^T v, u> is %.12g, but <v, J u>, by differentiating J^T v by v, is %.12g", backward,
                         forward);
}

bool tg_check_invariants(tg_check *c)
{
    tg_gradcheck_result worst = c->report.result; /* of the comparisons, which remains the result if all goes well */
    if (!repeats(c) || !zero_gives_zero(c) || !stays_undisturbed(c) || !is_linear(c) ||
        !evaluates_without_gradient(c) || !second_step_is_like_a_first(c) || !trains_the_same(c))
        return false;
    for (int p = 0; p < c->part_count; p++)
        if (!is_same_alone(c, p))
            return false;
    if (c->variables > 0 && !is_adjoint(c))
        return false;
    c->report.result = worst;
    return true;
}
