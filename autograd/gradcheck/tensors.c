/* Functions of tensors: evaluated on the check's tape, with the same result in every way in which users run them. */
#include "autograd/gradcheck/check.h"
#include "autograd/gradcheck/tolerances.h"
#include "autograd/tape/tape_internal.h"

#include <string.h>

/* ---- evaluation ---- */

static tg_tensor put_input(tg_check *c, const tg_gradcheck_input *input, const tg_check_part *part, const double *x)
{
    if (input->integers)
        return tg_constant(c->tape, TG_I32, input->integers, input->shape);
    if (input->parameter) {
        if (part && part->size > 0)
            memcpy(input->parameter->data, x + part->offset, (size_t)part->size * sizeof *x);
        tg_parameter_changed(input->parameter);
        return tg_parameter_tensor(c->tape, input->parameter);
    }
    const double *data = part ? x + part->offset : input->data;
    return part && !c->as_constants ? tg_variable(c->tape, TG_F64, data, input->shape)
                                    : tg_constant(c->tape, TG_F64, data, input->shape);
}

static void stop_at_error(tg_check *c, tg_gradcheck_status status)
{
    if (tg_tape_error(c->tape))
        tg_check_stop(c, status, "the tape says: %s", tg_tape_error(c->tape));
}

tg_tensor tg_check_record(tg_check *c, const double *x)
{
    tg_tape_reset(c->tape);
    for (int i = 0, p = 0; i < c->report.count; i++) {
        bool varies = p < c->part_count && c->parts[p].input == i;
        c->tensors[i] = put_input(c, &c->report.inputs[i], varies ? &c->parts[p] : NULL, x);
        if (varies)
            c->varied[p++] = c->tensors[i];
    }
    const tg_tensor result = c->function(c->tape, c->tensors, c->report.count, c->user);
    stop_at_error(c, TG_GRADCHECK_REFUSED);
    if (!tg_ok(result) || tg_dtype_of(result) != TG_F64)
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "expected the function to return an f64 tensor, not %s",
                      tg_ok(result) ? tg_dtype_name(tg_dtype_of(result)) : "an inert one");
    return result;
}

/* The same with constants for the inputs, which can still be differentiated by. */
static tg_tensor record_constants(tg_check *c)
{
    c->as_constants = true;
    const tg_tensor result = tg_check_record(c, c->point);
    c->as_constants = false;
    return result;
}

/* A constant like the result. */
static tg_tensor put_cotangent(tg_check *c)
{
    return tg_constant(c->tape, TG_F64, c->level[0].cotangent, c->output_shape);
}

/* Constants like the parts of a gradient. */
static void put_parts(tg_check *c, const double *numbers)
{
    for (int p = 0; p < c->part_count; p++)
        c->cotangents[p] = tg_constant(c->tape, TG_F64, numbers + c->parts[p].offset, c->parts[p].shape);
}

/* Copies the elements of tensors, one tensor after the other. */
static void read_all(const tg_tensor *tensors, int count, double *out)
{
    for (int i = 0; i < count; i++) {
        tg_read(tensors[i], TG_F64, out, tg_size(tensors[i]));
        out += tg_size(tensors[i]);
    }
}

/* The derivatives up to number `level` of what was recorded. */
static void derive(tg_check *c, int level, tg_tensor result, double *const *out)
{
    int results = 1;
    c->results[0] = result;
    for (int k = 0;; k++) {
        if (out[k])
            read_all(c->results, results, out[k]);
        if (k == level)
            return;
        if (k == 0)
            c->cotangents[0] = put_cotangent(c);
        else
            put_parts(c, c->level[k].cotangent);
        if (!tg_grad(c->results, results, c->varied, c->part_count, c->cotangents, k + 1 < level, c->gradients)) {
            c->report.result.order = k + 1;
            c->report.result.input = c->report.result.index = -1;
            stop_at_error(c, TG_GRADCHECK_BROKEN);
            tg_check_stop(c, TG_GRADCHECK_BROKEN, "tg_grad fails without saying why");
        }
        results = c->part_count;
        memcpy(c->results, c->gradients, (size_t)results * sizeof *c->results);
    }
}

static void measure(tg_check *c)
{
    const tg_tensor result = tg_check_record(c, c->point);
    c->output_shape = tg_shape_of(result);
    c->level[0].length = tg_size(result);
}

static void evaluate(tg_check *c, int level, const double *x, double *const *out)
{
    const tg_tensor result = tg_check_record(c, x);
    if (tg_size(result) != c->level[0].length)
        tg_check_stop(c, TG_GRADCHECK_NOT_REPEATABLE, "the result has %lld elements now and %lld before",
                      (long long)tg_size(result), (long long)c->level[0].length);
    derive(c, level, result, out);
}

/* ---- invariants ---- */

/* Runs the function on other numbers between forward and backward pass, which overwrites anything that it stores
 * outside the tape. */
static void expect_no_disturbance(tg_check *c)
{
    const tg_tensor result = tg_check_record(c, c->point);
    for (int64_t i = 0; i < c->variables; i++)
        c->moved[i] = 0.75 * c->point[i] + 0.125 * c->scale[i];
    for (int p = 0; p < c->part_count; p++) {
        const tg_check_part *part = &c->parts[p];
        if (!c->report.inputs[part->input].parameter)
            c->tensors[part->input] = tg_variable(c->tape, TG_F64, c->moved + part->offset, part->shape);
    }
    c->function(c->tape, c->tensors, c->report.count, c->user);
    tg_tape_clear_error(c->tape); /* the function may fail at these numbers */
    derive(c, 1, result, (double *[]){NULL, c->ahead});
    tg_check_same(c, 1, c->ahead, TG_GRADCHECK_DISTURBED,
                  "the gradient changes when the function runs on other numbers before the backward pass");
}

/* The tape's error, or else this one. */
static const char *error_of(const tg_check *c, const char *otherwise)
{
    return tg_tape_error(c->tape) ? tg_tape_error(c->tape) : otherwise;
}

static void expect_value(tg_check *c, tg_tensor result, const char *when)
{
    if (!tg_read(result, TG_F64, c->ahead, c->level[0].length)) {
        tg_check_set_place(c, 0, -1, NAN, NAN);
        tg_check_stop(c, TG_GRADCHECK_ANOTHER_WAY, "%s the function fails: %s", when,
                      error_of(c, "the result has another size"));
    }
    tg_check_same(c, 0, c->ahead, TG_GRADCHECK_ANOTHER_WAY, when);
}

static void expect_the_same_without_gradient(tg_check *c)
{
    expect_value(c, record_constants(c), "with constants for inputs");
    tg_check_record(c, c->point);
    tg_no_grad_begin(c->tape);
    const tg_tensor result = c->function(c->tape, c->tensors, c->report.count, c->user);
    tg_no_grad_end(c->tape);
    expect_value(c, result, "evaluated without gradient");
}

static void second_step(tg_check *c, void *none)
{
    (void)none;
    tg_check_evaluate(c, 1, c->moved, c->ahead);
}

/* Compares a step on the tape of earlier steps, which had other numbers, with the same step on a new tape. A derivative
 * that read data instead of recording an operation on it now has stale data. */
static void expect_a_second_step_like_a_first(tg_check *c)
{
    for (int way = 0; way < 2; way++) {
        const tg_gradcheck_result before = c->report.result;
        for (int64_t i = 0; i < c->variables; i++)
            c->moved[i] = way ? -c->point[i] : 0.875 * c->point[i] + 0.0625 * c->own_scale[i];
        if (way == 0)
            tg_check_evaluate(c, 1, c->point, c->ahead);
        if (!tg_check_try(c, second_step, NULL)) { /* the function may fail at them */
            tg_tape_clear_error(c->tape);
            c->report.result = before;
            continue;
        }
        tg_tape *used = c->tape;
        if (!(c->other_tape = tg_tape_new()))
            tg_check_out_of_memory(c);
        c->tape = c->other_tape;
        c->other_tape = used;
        tg_check_evaluate(c, 1, c->moved, c->behind);
        tg_tape_free(c->tape);
        c->tape = used;
        c->other_tape = NULL;
        for (int64_t i = 0; i < c->variables; i++)
            if (memcmp(&c->ahead[i], &c->behind[i], sizeof(double)) != 0) {
                tg_check_set_place(c, 1, i, c->ahead[i], c->behind[i]);
                tg_check_stop(c, TG_GRADCHECK_ANOTHER_WAY,
                              "in the second step on one tape the gradient is %.17g, on a new tape %.17g", c->ahead[i],
                              c->behind[i]);
            }
    }
}

/* The parameter behind a part, or NULL. */
static tg_parameter *parameter_of(const tg_check *c, int p)
{
    return c->report.inputs[c->parts[p].input].parameter;
}

/* Runs the function, inside a checkpoint or not, and tg_backward; copies its gradients into c->ahead. Parameters get
 * these buffers for their gradients, so that the user's own are not touched. */
static void run_backward(tg_check *c, bool checkpointed, double *gradients)
{
    c->before = tg_check_take_from(c, &c->arena, c->part_count, sizeof *c->before);
    for (int p = 0; p < c->part_count; p++) {
        tg_parameter *parameter = parameter_of(c, p);
        if (!parameter)
            continue;
        c->before[p] = *parameter;
        parameter->gradient = gradients + c->parts[p].offset;
        parameter->has_gradient = false;
    }
    tg_tensor result = tg_check_record(c, c->point);
    if (checkpointed)
        result = tg_checkpoint(c->function, c->tensors, c->report.count, c->user);
    const bool fine = tg_backward_from(result, put_cotangent(c));
    for (int p = 0; p < c->part_count; p++) {
        const tg_check_part *part = &c->parts[p];
        const tg_parameter *parameter = parameter_of(c, p);
        const double *own = parameter && parameter->has_gradient ? gradients + part->offset : NULL;
        const double *found = parameter ? own : tg_f64(tg_gradient(c->varied[p]));
        for (int64_t i = 0; i < part->size; i++)
            c->ahead[part->offset + i] = found ? found[i] : 0;
    }
    tg_check_put_back(c);
    if (fine)
        return;
    tg_check_set_place(c, 1, -1, NAN, NAN);
    tg_check_stop(c, TG_GRADCHECK_ANOTHER_WAY, "%s fails: %s",
                  checkpointed ? "tg_backward through a checkpoint" : "tg_backward", tg_tape_error(c->tape));
}

/* Compares c->ahead with the gradient by these variables, up to rounding. */
static void expect_close(tg_check *c, int64_t offset, int64_t size, tg_gradcheck_status status, const char *when)
{
    const double *expected = c->level[1].value + offset;
    double largest = 0;
    for (int64_t i = 0; i < size; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (int64_t i = 0; i < size; i++)
        if (!(fabs(c->ahead[i] - expected[i]) <= SAME_TO * largest + c->numbers->lost)) {
            tg_check_set_place(c, 1, offset + i, c->ahead[i], expected[i]);
            tg_check_stop(c, status, "%s the gradient is %.12g, else %.12g", when, c->ahead[i], expected[i]);
        }
}

static void expect_the_same_by_backward(tg_check *c)
{
    double *gradients = tg_check_take(c, c->variables);
    run_backward(c, false, gradients);
    tg_check_same(c, 1, c->ahead, TG_GRADCHECK_ANOTHER_WAY, "tg_grad and tg_backward differ");
    run_backward(c, true, gradients);
    expect_close(c, 0, c->variables, TG_GRADCHECK_ANOTHER_WAY, "inside a checkpoint");
}

/* Computes the gradient by one input alone. The other inputs are recorded as constants, so no forward pass has computed
 * their derivatives in advance. */
static void expect_the_same_alone(tg_check *c, int p)
{
    const tg_check_part *part = &c->parts[p];
    const double *together = c->level[1].value + part->offset;
    tg_tensor gradient;
    const tg_tensor result = record_constants(c), cotangent = put_cotangent(c);
    if (!tg_grad(&result, 1, &c->varied[p], 1, &cotangent, false, &gradient) ||
        !tg_read(gradient, TG_F64, c->ahead, part->size)) {
        tg_check_set_place(c, 1, part->size > 0 ? part->offset : -1, NAN, part->size > 0 ? together[0] : NAN);
        tg_check_stop(c, TG_GRADCHECK_ALONE, "wanted alone, this gradient cannot be computed: %s",
                      error_of(c, "it has another shape"));
    }
    expect_close(c, part->offset, part->size, TG_GRADCHECK_ALONE, "wanted alone, and not announced before,");
}

/* <v, J u> against <J^T v, u>. J^T v is linear in v, so that its derivative by v, applied to u, is J u. */
static void expect_adjoint(tg_check *c)
{
    double *direction = tg_check_take(c, c->variables);
    const tg_tensor result = tg_check_record(c, c->point);
    tg_tensor product;
    for (int64_t i = 0; i < c->variables; i++)
        direction[i] = fmin(1, c->scale[i]) * tg_check_weight(c);
    const tg_tensor v = tg_variable(c->tape, TG_F64, c->level[0].cotangent, c->output_shape);
    put_parts(c, direction);
    if (!tg_grad(&result, 1, c->varied, c->part_count, &v, true, c->gradients) ||
        !tg_grad(c->gradients, c->part_count, &v, 1, c->cotangents, false, &product) ||
        !tg_read(product, TG_F64, c->ahead, c->level[0].length)) {
        tg_check_set_place(c, 1, -1, NAN, NAN);
        tg_check_stop(c, TG_GRADCHECK_ADJOINT, "the derivative cannot be differentiated by its cotangent: %s",
                      error_of(c, "it has another shape"));
    }
    tg_check_is_adjoint(c, direction, c->ahead, "by differentiating J^T v by v");
}

static void invariants(tg_check *c)
{
    expect_no_disturbance(c);
    expect_the_same_without_gradient(c);
    expect_a_second_step_like_a_first(c);
    expect_the_same_by_backward(c);
    for (int p = 0; p < c->part_count; p++)
        expect_the_same_alone(c, p);
    if (c->variables > 0)
        expect_adjoint(c);
}

const tg_check_kind tg_check_of_tensors = {measure, evaluate, invariants, NULL, tg_check_localise};
