/* The invariants of a function of tensors: the same result in every way in which users run it. */
#include "autograd/gradcheck/invariants.h"
#include "autograd/gradcheck/taped.h"
#include "autograd/gradcheck/tolerances.h"

#include <math.h>
#include <string.h>

/* Runs the function on other numbers between forward and backward pass, which overwrites anything that it stores
 * outside the tape. */
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
    tg_tape_clear_error(c->tape); /* the function may fail at these numbers */
    return tg_check_derive(c, 1, result, c->ahead) &&
           tg_check_same(c, 1, c->ahead, TG_GRADCHECK_DISTURBED,
                         "the gradient changes when the function runs on other numbers before the backward pass");
}

static bool value_is(tg_check *c, tg_tensor result, const char *when)
{
    if (!tg_read(result, TG_F64, c->ahead, c->level[0].length)) {
        tg_check_set_place(c, 0, -1, NAN, NAN);
        return tg_check_fail(&c->report, TG_GRADCHECK_ANOTHER_WAY, "%s the function fails: %s", when,
                             tg_tape_error(c->tape) ? tg_tape_error(c->tape) : "the result has another size");
    }
    return tg_check_same(c, 0, c->ahead, TG_GRADCHECK_ANOTHER_WAY, when);
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

/* Compares a step on the tape of earlier steps, which had other numbers, with the same step on a new tape. A derivative
 * that read data instead of recording an operation on it now has stale data. */
static bool second_step_is_like_a_first(tg_check *c)
{
    for (int way = 0; way < 2; way++) {
        for (int64_t i = 0; i < c->variables; i++)
            c->moved[i] = way ? -c->point[i] : 0.875 * c->point[i] + 0.0625 * c->own_scale[i];
        tg_tensor result;
        tg_gradcheck_result before = c->report.result;
        if (way == 0 && (!tg_check_record(c, c->point, &result) || !tg_check_derive(c, 1, result, c->ahead)))
            return false;
        if (!tg_check_evaluate(c, 1, c->moved, c->ahead)) { /* the function may fail at them */
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
                tg_check_set_place(c, 1, i, c->ahead[i], c->behind[i]);
                return tg_check_fail(&c->report, TG_GRADCHECK_ANOTHER_WAY,
                                     "in the second step on one tape the gradient is %.17g, on a new tape %.17g",
                                     c->ahead[i], c->behind[i]);
            }
        if (!fine)
            return false;
    }
    return true;
}

/* Copies the gradients that tg_backward computes into c->ahead. A parameter gets a temporary gradient buffer, so the
 * user's own is not touched. */
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

/* Runs the function, inside a checkpoint or not, with temporary gradient buffers for its parameters. */
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
    tg_check_set_place(c, 1, -1, NAN, NAN);
    return tg_check_fail(&c->report, TG_GRADCHECK_ANOTHER_WAY, "%s fails: %s",
                         checkpointed ? "tg_backward through a checkpoint" : "tg_backward", tg_tape_error(c->tape));
}

/* Compares c->ahead with the gradient by these variables, up to rounding. */
static bool is_close(tg_check *c, int64_t offset, int64_t size, tg_gradcheck_status status, const char *when)
{
    const double *expected = c->level[1].value + offset;
    double largest = 0;
    for (int64_t i = 0; i < size; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (int64_t i = 0; i < size; i++)
        if (!(fabs(c->ahead[i] - expected[i]) <= SAME_TO * largest + c->numbers->lost)) {
            tg_check_set_place(c, 1, offset + i, c->ahead[i], expected[i]);
            return tg_check_fail(&c->report, status, "%s the gradient is %.12g, else %.12g", when, c->ahead[i],
                                 expected[i]);
        }
    return true;
}

static bool trains_the_same(tg_check *c)
{
    double *gradients = tg_check_take(c, c->variables);
    tg_parameter *kept = tg_check_take_from(c, &c->arena, c->part_count, sizeof *kept);
    if (!gradients || !kept)
        return false;
    if (!run_backward(c, false, gradients, kept) ||
        !tg_check_same(c, 1, c->ahead, TG_GRADCHECK_ANOTHER_WAY, "tg_grad and tg_backward differ"))
        return false;
    if (!run_backward(c, true, gradients, kept))
        return false;
    return is_close(c, 0, c->variables, TG_GRADCHECK_ANOTHER_WAY, "inside a checkpoint");
}

/* Computes the gradient by one input alone. The other inputs are recorded as constants, so no forward pass has computed
 * their derivatives in advance. */
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
        tg_check_set_place(c, 1, part->size > 0 ? part->offset : -1, NAN, part->size > 0 ? together[0] : NAN);
        return tg_check_fail(&c->report, TG_GRADCHECK_ALONE, "wanted alone, this gradient cannot be computed: %s",
                             tg_tape_error(c->tape) ? tg_tape_error(c->tape) : "it has another shape");
    }
    return is_close(c, part->offset, part->size, TG_GRADCHECK_ALONE, "wanted alone, and not announced before,");
}

/* <v, J u> against <J^T v, u>. J^T v is linear in v, so that its derivative by v, applied to u, is J u. */
static bool is_adjoint(tg_check *c)
{
    double *direction = tg_check_take(c, c->variables);
    tg_tensor result, product;
    if (!direction || !tg_check_record(c, c->point, &result))
        return false;
    for (int64_t i = 0; i < c->variables; i++)
        direction[i] = fmin(1, c->scale[i]) * tg_check_weight(c);
    tg_tensor v = tg_variable(c->tape, TG_F64, c->level[0].cotangent, c->output_shape);
    for (int p = 0; p < c->part_count; p++)
        c->cotangents[p] = tg_constant(c->tape, TG_F64, direction + c->parts[p].offset, c->parts[p].shape);
    tg_check_set_place(c, 1, -1, NAN, NAN);
    if (!tg_grad(&result, 1, c->varied, c->part_count, &v, true, c->gradients) ||
        !tg_grad(c->gradients, c->part_count, &v, 1, c->cotangents, false, &product) ||
        !tg_read(product, TG_F64, c->ahead, c->level[0].length))
        return tg_check_fail(&c->report, TG_GRADCHECK_ADJOINT,
                             "the derivative cannot be differentiated by its cotangent: %s",
                             tg_tape_error(c->tape) ? tg_tape_error(c->tape) : "it has another shape");
    return tg_check_is_adjoint(c, direction, c->ahead, "by differentiating J^T v by v");
}

static bool holds_on_tapes(tg_check *c)
{
    if (!stays_undisturbed(c) || !evaluates_without_gradient(c) || !second_step_is_like_a_first(c) ||
        !trains_the_same(c))
        return false;
    for (int p = 0; p < c->part_count; p++)
        if (!is_same_alone(c, p))
            return false;
    return c->variables == 0 || is_adjoint(c);
}

const tg_check_kind tg_check_of_tensors = {tg_check_measure_tape, tg_check_run_tape, holds_on_tapes};
