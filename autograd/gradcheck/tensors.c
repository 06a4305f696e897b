/* Functions of tensors: evaluated on the check's tape, with the same result in every way in which users run them. */
#include "autograd/gradcheck/check.h"

#include "autograd/apply.h"

#include <stdlib.h>
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
    return (part && !c->as_constants ? tg_variable : tg_constant)(c->tape, TG_F64,
                                                                  part ? x + part->offset : input->data, input->shape);
}

static void stop_at_error(tg_check *c, tg_gradcheck_status status)
{
    if (tg_tape_error(c->tape))
        tg_check_stop(c, status, "the tape says: %s", tg_tape_error(c->tape));
}

tg_tensor tg_check_record(tg_check *c, const double *x)
{
    tg_tape_reset(c->tape);
    for (int i = 0, p = 0; i < c->count; i++) {
        const bool varies = p < c->part_count && c->parts[p].input == i;
        c->tensors[i] = put_input(c, &c->inputs[i], varies ? &c->parts[p] : NULL, x);
        if (varies)
            c->varied[p++] = c->tensors[i];
    }
    const tg_tensor result = c->function(c->tape, c->tensors, c->count, c->user);
    stop_at_error(c, TG_GRADCHECK_REFUSED);
    if (!tg_ok(result) || tg_dtype_of(result) != TG_F64)
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "expected the function to return an f64 tensor, not %s",
                      tg_ok(result) ? tg_dtype_name(tg_dtype_of(result)) : "an inert one");
    return result;
}

void tg_check_put_back(tg_check *c)
{
    for (int p = 0; c->before && p < c->part_count; p++) {
        tg_parameter *parameter = c->inputs[c->parts[p].input].parameter;
        if (!parameter)
            continue;
        *parameter = c->before[p];
        if (c->parts[p].size > 0)
            memcpy(parameter->data, c->caller + c->parts[p].offset, (size_t)c->parts[p].size * sizeof(double));
        tg_parameter_changed(parameter);
    }
}

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

static void read_all(const tg_tensor *tensors, int count, double *out)
{
    for (int i = 0; i < count; i++) {
        tg_read(tensors[i], TG_F64, out, tg_size(tensors[i]));
        out += tg_size(tensors[i]);
    }
}

/* Derivative number `level` of what was recorded. */
static void derive(tg_check *c, int level, tg_tensor result, double *out)
{
    int results = 1;
    c->below[0] = result;
    for (int k = 0; k < level; k++) {
        if (k == 0)
            c->cotangents[0] = put_cotangent(c);
        else
            put_parts(c, c->level[k].cotangent);
        if (!tg_grad(c->below, results, c->varied, c->part_count, c->cotangents, k + 1 < level, c->gradients)) {
            c->result.order = k + 1;
            c->result.input = -1;
            stop_at_error(c, TG_GRADCHECK_BROKEN);
            tg_check_stop(c, TG_GRADCHECK_BROKEN, "tg_grad fails without saying why");
        }
        results = c->part_count;
        memcpy(c->below, c->gradients, (size_t)results * sizeof *c->below);
    }
    read_all(c->below, results, out);
    stop_at_error(c, TG_GRADCHECK_BROKEN);
}

static void measure(tg_check *c)
{
    tg_tensor **tensors[] = {&c->tensors, &c->varied, &c->gradients, &c->below, &c->cotangents};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++)
        *tensors[i] = tg_check_take(c, c->count, sizeof(tg_tensor));
    c->before = tg_check_take(c, c->part_count, sizeof *c->before);
    for (int p = 0; p < c->part_count; p++)
        if (c->inputs[c->parts[p].input].parameter)
            c->before[p] = *c->inputs[c->parts[p].input].parameter;
    if (!(c->tape = tg_tape_new()))
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "out of memory");
    const tg_tensor result = tg_check_record(c, c->point);
    c->output_shape = tg_shape_of(result);
    c->level[0].length = tg_size(result);
}

static void evaluate(tg_check *c, int level, const double *x, double *out)
{
    const tg_tensor result = tg_check_record(c, x);
    if (tg_size(result) != c->level[0].length)
        tg_check_stop(c, TG_GRADCHECK_NOT_REPEATABLE, "the result has %lld elements now and %lld before",
                      (long long)tg_size(result), (long long)c->level[0].length);
    derive(c, level, result, out);
}

/* ---- the same in every way ---- */

/* The tape's error, or else this one. */
static const char *error_of(const tg_check *c, const char *otherwise)
{
    return tg_tape_error(c->tape) ? tg_tape_error(c->tape) : otherwise;
}

/* Other numbers than the point's; the negative ones if `mirrored`. */
static const double *other_numbers(tg_check *c, bool mirrored)
{
    double *other = tg_check_numbers(c, c->variables);
    for (int64_t i = 0; i < c->variables; i++)
        other[i] = mirrored ? -c->point[i] : 0.75 * c->point[i] + 0.0625 * c->own_scale[i];
    return other;
}

/* Runs the function on other numbers between forward and backward pass, which overwrites anything that it stores
 * outside the tape. */
static void expect_no_disturbance(tg_check *c, double *out)
{
    const double *other = other_numbers(c, false);
    const tg_tensor result = tg_check_record(c, c->point);
    for (int p = 0; p < c->part_count; p++)
        if (!c->inputs[c->parts[p].input].parameter)
            c->tensors[c->parts[p].input] = tg_variable(c->tape, TG_F64, other + c->parts[p].offset, c->parts[p].shape);
    c->function(c->tape, c->tensors, c->count, c->user);
    tg_tape_clear_error(c->tape); /* the function may fail at these numbers */
    derive(c, 1, result, out);
    tg_check_same(c, 1, out, TG_GRADCHECK_DISTURBED,
                  "the gradient changes when the function runs on other numbers before the backward pass");
}

static void expect_value(tg_check *c, tg_tensor result, const char *when)
{
    double *out = tg_check_numbers(c, c->level[0].length);
    if (!tg_read(result, TG_F64, out, c->level[0].length)) {
        tg_check_set_place(c, 0, -1, NAN, NAN);
        tg_check_stop(c, TG_GRADCHECK_ANOTHER_WAY, "%s the function fails: %s", when,
                      error_of(c, "the result has another size"));
    }
    tg_check_same(c, 0, out, TG_GRADCHECK_ANOTHER_WAY, when);
}

/* The same with constants for the inputs, which can still be differentiated by. */
static tg_tensor record_constants(tg_check *c)
{
    c->as_constants = true;
    const tg_tensor result = tg_check_record(c, c->point);
    c->as_constants = false;
    return result;
}

static void expect_the_same_without_gradient(tg_check *c)
{
    expect_value(c, record_constants(c), "with constants for inputs");
    tg_check_record(c, c->point);
    tg_no_grad_begin(c->tape);
    const tg_tensor result = c->function(c->tape, c->tensors, c->count, c->user);
    tg_no_grad_end(c->tape);
    expect_value(c, result, "evaluated without gradient");
}

typedef struct step {
    const double *x;
    double *out;
} step;

static void take_step(tg_check *c, void *of)
{
    const step *s = of;
    evaluate(c, 1, s->x, s->out);
}

static bool evaluates(tg_check *c, const double *x, double *out)
{
    const tg_gradcheck_result before = c->result;
    if (tg_check_try(c, take_step, &(step){x, out}))
        return true;
    if (strstr(c->result.why, "out of memory"))
        longjmp(*c->stop, 1);
    tg_tape_clear_error(c->tape); /* the function may fail at these numbers */
    c->result = before;
    return false;
}

/* Compares a step on the tape of earlier steps, which had other numbers, with the same step on a new tape. A derivative
 * that read data instead of recording an operation on it now has stale data. */
static void expect_a_second_step_like_a_first(tg_check *c, double *out)
{
    double *first = tg_check_numbers(c, c->variables);
    for (int way = 0; way < 2; way++) {
        const double *x = other_numbers(c, way == 1);
        if (way == 0)
            evaluate(c, 1, c->point, out);
        if (!evaluates(c, x, out))
            continue;
        tg_tape *used = c->tape;
        if (!(c->other_tape = tg_tape_new()))
            tg_check_stop(c, TG_GRADCHECK_REFUSED, "out of memory");
        c->tape = c->other_tape;
        c->other_tape = used;
        const bool fine = evaluates(c, x, first);
        tg_tape_free(c->tape);
        c->tape = used;
        c->other_tape = NULL;
        for (int64_t i = 0; fine && i < c->variables; i++)
            if (memcmp(&out[i], &first[i], sizeof(double)) != 0) {
                tg_check_set_place(c, 1, i, out[i], first[i]);
                tg_check_stop(c, TG_GRADCHECK_ANOTHER_WAY,
                              "in the second step on one tape the gradient is %.17g, on a new tape %.17g", out[i],
                              first[i]);
            }
    }
}

/* Runs the function, inside a checkpoint or not, and tg_backward; copies its gradients. Parameters get buffers of the
 * check for their gradients, so that the user's own are not touched. */
static void run_backward(tg_check *c, bool checkpointed, double *out)
{
    double *gradients = tg_check_numbers(c, c->variables);
    for (int p = 0; p < c->part_count; p++) {
        tg_parameter *parameter = c->inputs[c->parts[p].input].parameter;
        if (parameter) {
            parameter->gradient = gradients + c->parts[p].offset;
            parameter->has_gradient = false;
        }
    }
    tg_tensor result = tg_check_record(c, c->point);
    if (checkpointed)
        result = tg_checkpoint(c->function, c->tensors, c->count, c->user);
    const bool fine = tg_backward_from(result, put_cotangent(c));
    for (int p = 0; p < c->part_count; p++) {
        const tg_check_part *part = &c->parts[p];
        const tg_parameter *parameter = c->inputs[part->input].parameter;
        const double *own = parameter && parameter->has_gradient ? gradients + part->offset : NULL;
        const double *found = parameter ? own : tg_f64(tg_gradient(c->varied[p]));
        for (int64_t i = 0; i < part->size; i++)
            out[part->offset + i] = found ? found[i] : 0;
    }
    tg_check_put_back(c);
    if (fine)
        return;
    tg_check_set_place(c, 1, -1, NAN, NAN);
    tg_check_stop(c, TG_GRADCHECK_ANOTHER_WAY, "%s fails: %s",
                  checkpointed ? "tg_backward through a checkpoint" : "tg_backward", error_of(c, "no reason is given"));
}

/* Computes the gradient by one input alone. The other inputs are recorded as constants, so no forward pass has computed
 * their derivatives in advance. */
static void expect_the_same_alone(tg_check *c, int p, double *out)
{
    const tg_check_part *part = &c->parts[p];
    tg_tensor gradient;
    const tg_tensor result = record_constants(c), cotangent = put_cotangent(c);
    if (!tg_grad(&result, 1, &c->varied[p], 1, &cotangent, false, &gradient) ||
        !tg_read(gradient, TG_F64, out + part->offset, part->size)) {
        tg_check_set_place(c, 1, part->size > 0 ? part->offset : -1, NAN, NAN);
        tg_check_stop(c, TG_GRADCHECK_ALONE, "wanted alone, this gradient cannot be computed: %s",
                      error_of(c, "it has another shape"));
    }
    tg_check_close_to(c, part->offset, part->offset + part->size, out, TG_GRADCHECK_ALONE,
                      "wanted alone, and not announced before,");
}

/* <v, J u> against <J^T v, u>. J^T v is linear in v, so that its derivative by v, applied to u, is J u. */
static void expect_adjoint(tg_check *c)
{
    double *u = tg_check_numbers(c, c->variables), *out = tg_check_numbers(c, c->level[0].length);
    const tg_tensor result = tg_check_record(c, c->point);
    tg_tensor product;
    for (int64_t i = 0; i < c->variables; i++)
        u[i] = fmin(1, c->scale[i]) * tg_check_weight(c);
    const tg_tensor v = tg_variable(c->tape, TG_F64, c->level[0].cotangent, c->output_shape);
    put_parts(c, u);
    if (!tg_grad(&result, 1, c->varied, c->part_count, &v, true, c->gradients) ||
        !tg_grad(c->gradients, c->part_count, &v, 1, c->cotangents, false, &product) ||
        !tg_read(product, TG_F64, out, c->level[0].length)) {
        tg_check_set_place(c, 1, -1, NAN, NAN);
        tg_check_stop(c, TG_GRADCHECK_ADJOINT, "the derivative cannot be differentiated by its cotangent: %s",
                      error_of(c, "it has another shape"));
    }
    tg_check_is_adjoint(c, u, out, "by differentiating J^T v by v");
}

static void invariants(tg_check *c)
{
    double *out = tg_check_numbers(c, c->variables);
    expect_no_disturbance(c, out);
    expect_the_same_without_gradient(c);
    expect_a_second_step_like_a_first(c, out);
    run_backward(c, false, out);
    tg_check_same(c, 1, out, TG_GRADCHECK_ANOTHER_WAY, "tg_grad and tg_backward differ");
    run_backward(c, true, out);
    tg_check_close_to(c, 0, c->variables, out, TG_GRADCHECK_ANOTHER_WAY, "inside a checkpoint");
    for (int p = 0; p < c->part_count; p++)
        expect_the_same_alone(c, p, out);
    if (c->variables > 0)
        expect_adjoint(c);
}

const tg_check_kind tg_check_of_tensors = {measure, evaluate, invariants};

/* ---- operations ---- */

static tg_tensor apply(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    const tg_check_call *call = user;
    (void)tape, (void)count;
    for (int i = 0; i < call->count; i++)
        call->room[i] = inputs[call->which[i]];
    return tg_apply(call->op, call->attributes, call->count, call->room);
}

tg_check tg_check_of_call(tg_check_call *call, const tg_gradcheck_input *inputs, int count, int sample,
                          const tg_gradcheck_options *options, tg_rng rng)
{
    return (tg_check){.name = call->op->name,
                      .inputs = inputs,
                      .count = count,
                      .result = tg_check_no_result(sample),
                      .kind = &tg_check_of_tensors,
                      .function = apply,
                      .user = call,
                      .elementwise = call->op->flags & TG_ELEMENTWISE,
                      .options = *options,
                      .rng = rng};
}

/* ---- functions ---- */

static tg_gradcheck_result check(const char *name, bool along, tg_function function, void *user,
                                 const tg_gradcheck_input *inputs, int count, const tg_gradcheck_options *options,
                                 const char *misuse)
{
    tg_check c = {.name = name,
                  .inputs = inputs,
                  .count = count,
                  .result = tg_check_no_result(-1),
                  .kind = &tg_check_of_tensors,
                  .function = function,
                  .user = user,
                  .along = along,
                  .composed = true,
                  .options = tg_check_options(options)};
    return tg_check_answer(&c, misuse);
}

tg_gradcheck_result tg_gradcheck(tg_function function, void *user, const tg_gradcheck_input *inputs, int count,
                                 const tg_gradcheck_options *options)
{
    const bool fine = function && inputs && count > 0;
    return check("the function", false, function, user, inputs, count, options,
                 fine ? NULL : "expected a function and at least one input");
}

typedef struct model {
    tg_function function;
    void *user;
    int count; /* inputs of the function itself, without the parameters */
} model;

static tg_tensor run_model(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    const model *m = user;
    (void)count;
    return m->function(tape, inputs, m->count, m->user);
}

tg_gradcheck_result tg_gradcheck_parameters(tg_function function, void *user, const tg_gradcheck_input *inputs,
                                            int count, tg_parameters *set, const tg_gradcheck_options *options)
{
    enum { FEW = 64 };
    model m = {function, user, count > 0 ? count : 0};
    const int parameters = tg_parameters_count(set), all = m.count + parameters;
    const bool fine = function && (m.count == 0 || inputs) && parameters > 0;
    tg_gradcheck_input *list = fine ? malloc((size_t)all * sizeof *list) : NULL;
    for (int i = 0; list && i < all; i++)
        list[i] = i < m.count ? inputs[i] : (tg_gradcheck_input){.parameter = tg_parameters_at(set, i - m.count)};
    const tg_gradcheck_result result = check(fine ? "the function" : "the model", tg_parameters_size(set) > FEW,
                                             run_model, &m, list, list ? all : 0, options,
                                             list   ? NULL
                                             : fine ? "out of memory"
                                                    : "expected a function and at least one parameter");
    free(list);
    return result;
}
