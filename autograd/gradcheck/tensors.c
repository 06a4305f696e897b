/* Functions of tensors on a tape: any function, or a model by its parameters. And all other ways to compute the same
 * value and gradient: as users run functions; and of an operation in a program that is replayed, and on parts of other
 * tensors. */
#include "autograd/gradcheck/check.h"

#include "autograd/base/shape_internal.h"
#include "autograd/ops.h"

#include <stdlib.h>
#include <string.h>

/* ---- inputs ---- */

/* A tensor of these numbers, in the type of the check. */
static tg_tensor make_tensor(tg_check *c, tg_tape *tape, const double *data, const tg_shape *shape, bool varied)
{
    const int64_t here = tg_arena_here(&c->arena), size = tg_shape_size(shape);
    const tg_dtype dtype = tg_check_dtype(c);
    void *numbers = tg_check_numbers(c, size);
    tg_copy_elements(dtype, numbers, TG_F64, data, size);
    const tg_tensor tensor = (varied ? tg_variable : tg_constant)(tape, dtype, numbers, *shape);
    tg_arena_rewind(&c->arena, here);
    return tensor;
}

/* Puts all inputs on an empty tape; the variables are x. */
static void put_inputs(tg_check *c, tg_tape *tape, const double *x)
{
    tg_check_tensors *t = c->source;
    tg_tape_clear_error(tape);
    tg_tape_reset(tape);
    for (int i = 0, p = 0; i < c->count; i++) {
        const tg_gradcheck_input *in = &c->inputs[i];
        const tg_check_part *part = tg_check_is_varied(in) ? &c->parts[p] : NULL;
        const double *data = part ? x + part->offset : in->data;
        if (in->integers)
            t->in[i] = tg_constant(tape, TG_I32, in->integers, in->shape);
        else if (in->parameter) {
            if (part)
                tg_copy_elements(TG_F64, in->parameter->data, TG_F64, data, part->size);
            tg_parameter_changed(in->parameter);
            t->in[i] = tg_parameter_tensor(tape, in->parameter);
        } else
            t->in[i] = make_tensor(c, tape, data, &in->shape, part && !t->as_constants);
        if (part)
            t->varied[p++] = t->in[i];
    }
}

/* Parameters. */
static void put_back(tg_check *c)
{
    const tg_check_tensors *t = c->source;
    for (int i = 0, p = 0; t->before && i < c->count; i++) {
        tg_parameter *parameter = c->inputs[i].parameter;
        const tg_check_part *part = tg_check_is_varied(&c->inputs[i]) ? &c->parts[p++] : NULL;
        if (!parameter)
            continue;
        *parameter = t->before[i];
        if (part)
            tg_copy_elements(TG_F64, parameter->data, TG_F64, c->caller + part->offset, part->size);
        tg_parameter_changed(parameter);
    }
}

/* ---- evaluation ---- */

static void stop_at_error(tg_check *c, tg_gradcheck_status status)
{
    const tg_check_tensors *t = c->source;
    if (tg_tape_error(t->tape))
        tg_check_stop(c, status, "the tape says: %s", tg_tape_error(t->tape));
}

static tg_tensor record(tg_check *c, const double *x)
{
    const tg_check_tensors *t = c->source;
    put_inputs(c, t->tape, x);
    const tg_tensor result = t->function(t->tape, t->in, c->count, t->user);
    stop_at_error(c, TG_GRADCHECK_REFUSED);
    if (!tg_ok(result) || tg_dtype_of(result) != tg_check_dtype(c))
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "expected the function to return an %s tensor, not %s",
                      tg_dtype_name(tg_check_dtype(c)),
                      tg_ok(result) ? tg_dtype_name(tg_dtype_of(result)) : "an inert one");
    return result;
}

static void evaluate(tg_check *c, int level, const double *x, double *out)
{
    tg_check_tensors *t = c->source;
    int results = 1;
    t->below[0] = record(c, x);
    if (tg_size(t->below[0]) != c->level[0].length)
        tg_check_stop(c, TG_GRADCHECK_NOT_REPEATABLE, "the result has %lld elements now and %lld before",
                      (long long)tg_size(t->below[0]), (long long)c->level[0].length);
    for (int k = 0; k < level; k++) {
        const tg_check_part *parts = k == 0 ? c->outputs : c->parts;
        for (int r = 0; r < results; r++)
            t->cotangents[r] = make_tensor(c, t->tape, c->level[k].cotangent + parts[r].offset, &parts[r].shape, false);
        if (!tg_grad(t->below, results, t->varied, c->part_count, t->cotangents, k + 1 < level, t->gradients)) {
            c->result.order = k + 1;
            c->result.input = -1;
            stop_at_error(c, TG_GRADCHECK_BROKEN);
            tg_check_stop(c, TG_GRADCHECK_BROKEN, "tg_grad fails without saying why");
        }
        results = c->part_count;
        memcpy(t->below, t->gradients, (size_t)results * sizeof *t->below);
    }
    for (int r = 0; r < results; out += tg_size(t->below[r++]))
        tg_read(t->below[r], TG_F64, out, tg_size(t->below[r]));
    stop_at_error(c, TG_GRADCHECK_BROKEN);
}

/* ---- the ways ---- */

/* How the gradient is computed, and how inputs reach the function. */
typedef enum { BY_GRAD, BY_BACKWARD, CHECKPOINTED, WITHOUT } method;
typedef enum { AS_LEAVES, AS_RESULTS, TRANSPOSED, AS_PARTS } arrival;

typedef struct way {
    const char *what; /* of a failure's sentence */
    method by;
    arrival as;                 /* of operations alone, but for leaves */
    bool disturbed;             /* the function runs on other numbers before the backward pass */
    int steps;                  /* the last of several on a tape that plans its memory; 0 is one */
    const tg_check_part *alone; /* the only one that is differentiated */
} way;

static const way ways[] = {
    {"evaluated without gradient", .by = WITHOUT},
    {"if the function runs on other numbers before the backward pass,", .disturbed = true},
    {"in a later step on one tape", .steps = 3},
    {"tg_grad and tg_backward differ: by tg_backward", .by = BY_BACKWARD},
    {"inside a checkpoint", .by = CHECKPOINTED},
    {"replayed on results of other operations", .as = AS_RESULTS, .steps = 4},
    {"on transposed tensors", .as = TRANSPOSED},
    {"on parts of other tensors", .as = AS_PARTS},
};

/* ---- one way ---- */

/* The same numbers, from elsewhere. */
static tg_tensor passed_on(tg_tensor x, arrival as)
{
    if (as == AS_RESULTS)
        return tg_mul_scalar(x, 1);
    if (as == TRANSPOSED && tg_rank(x) >= 2)
        return tg_transpose(tg_transpose(x, -1, -2), -1, -2);
    if (as == AS_PARTS && tg_rank(x) >= 1)
        return tg_narrow(tg_concat((tg_tensor[]){x, x}, 2, 0), 0, tg_dim(x, 0), tg_dim(x, 0));
    return x;
}

/* Other numbers than the point's: step by step those near it, and their negatives. */
static const double *other_numbers(tg_check *c, int step)
{
    for (int64_t i = 0; i < c->variables; i++)
        c->moved[i] = step % 2 ? -c->point[i] : 0.75 * c->point[i] + c->own_scale[i] / 16;
    return c->moved;
}

/* Runs the function on other numbers, which overwrites anything that it stores outside the tape. It may fail there. */
static void disturb(tg_check *c, tg_tape *tape)
{
    tg_check_tensors *t = c->source;
    const double *other = other_numbers(c, 0);
    for (const tg_check_part *p = c->parts; p < c->parts + c->part_count; p++)
        if (!c->inputs[p->input].parameter)
            t->in[p->input] = make_tensor(c, tape, other + p->offset, &p->shape, true);
    t->function(tape, t->in, c->count, t->user);
    tg_tape_clear_error(tape);
}

/* Buffers of the check for gradients of parameters, none for fixed ones, so that the user's own are not touched. */
static void give_buffers(tg_check *c)
{
    for (int i = 0; i < c->count; i++) {
        tg_parameter *parameter = c->inputs[i].parameter;
        if (parameter) {
            parameter->gradient = c->inputs[i].fixed ? NULL : tg_check_numbers(c, tg_shape_size(&parameter->shape));
            parameter->has_gradient = false;
        }
    }
}

/* tg_backward's gradients. */
static bool run_backward(tg_check *c, tg_tensor result, tg_tensor cotangent, double *gradient)
{
    const tg_check_tensors *t = c->source;
    const bool fine = tg_backward_from(result, cotangent);
    for (int p = 0; p < c->part_count; p++) {
        const tg_parameter *parameter = c->inputs[c->parts[p].input].parameter;
        const double *found = parameter ? parameter->gradient : tg_f64(tg_gradient(t->varied[p]));
        if (found) /* else 0 */
            memcpy(gradient + c->parts[p].offset, found, (size_t)c->parts[p].size * sizeof *found);
    }
    return fine;
}

/* One step: the value and, in their places, the gradients. False if it fails. */
static bool take_step(tg_check *c, const way *w, const double *x, double *value, double *gradient)
{
    tg_check_tensors *t = c->source;
    tg_tape *tape = t->other;
    if (w->by != BY_GRAD)
        give_buffers(c);
    put_inputs(c, tape, x);
    for (int p = 0; p < c->part_count; p++)
        t->in[c->parts[p].input] = passed_on(t->varied[p], w->as);
    if (w->by == WITHOUT)
        tg_no_grad_begin(tape);
    if (w->by == CHECKPOINTED) /* not as the first on the tape */
        t->function(tape, t->in, c->count, t->user);
    const tg_tensor result = w->by == CHECKPOINTED ? tg_checkpoint(t->function, t->in, c->count, t->user)
                                                   : t->function(tape, t->in, c->count, t->user);
    if (w->by == WITHOUT)
        tg_no_grad_end(tape);
    if (!tg_read(result, TG_F64, value, c->level[0].length) || w->by == WITHOUT)
        return w->by == WITHOUT && !tg_tape_error(tape) && tg_ok(result);
    if (w->disturbed)
        disturb(c, tape);
    const tg_tensor cotangent = make_tensor(c, tape, c->level[0].cotangent, &c->outputs->shape, false);
    if (w->by != BY_GRAD)
        return run_backward(c, result, cotangent, gradient);
    const tg_check_part *parts = w->alone ? w->alone : c->parts;
    const int count = w->alone ? 1 : c->part_count;
    bool fine = tg_grad(&result, 1, t->varied + (parts - c->parts), count, &cotangent, false, t->gradients);
    for (int p = 0; fine && p < count; p++)
        fine = tg_read(t->gradients[p], TG_F64, gradient + parts[p].offset, parts[p].size);
    return fine;
}

/* Computes value and gradient in a way, on a tape of its own, and compares them. Earlier steps have other numbers, at
 * which the function may fail. */
static void check_way(tg_check *c, const way *w)
{
    tg_check_tensors *t = c->source;
    const int64_t here = tg_arena_here(&c->arena);
    double *value = tg_check_numbers(c, c->level[0].length), *gradient = tg_check_numbers(c, c->variables);
    const tg_check_part all = {.size = c->variables}, *only = w->alone ? w->alone : &all;
    const tg_gradcheck_status status = w->alone       ? TG_GRADCHECK_ALONE
                                       : w->disturbed ? TG_GRADCHECK_DISTURBED
                                                      : TG_GRADCHECK_ANOTHER_WAY;
    bool fine = (t->other = tg_tape_new()) != NULL;
    if (fine && w->steps)
        tg_tape_save_memory(t->other, true);
    for (int step = 1; fine && step < w->steps; step++)
        if (!take_step(c, w, other_numbers(c, step), value, gradient) && tg_tape_error(t->other))
            fine = !strstr(tg_tape_error(t->other), "out of memory");
    if (!fine || !take_step(c, w, c->point, value, gradient)) {
        const char *error = tg_tape_error(t->other);
        tg_check_stop_at(c, w->by != WITHOUT, -1, NAN, NAN, status, "%s it fails: %s", w->what,
                         error ? error : "another shape, or out of memory");
    }
    tg_tape_free(t->other);
    t->other = NULL;
    put_back(c);
    tg_check_close_to(c, 0, 0, c->level[0].length, value, status, w->what);
    if (w->by != WITHOUT)
        tg_check_close_to(c, 1, only->offset, only->offset + only->size, gradient, status, w->what);
    tg_arena_rewind(&c->arena, here);
}

/* <v, J u> against <J^T v, u>. J^T v is linear in v, so that its derivative by v, applied to u, is J u. */
static void expect_adjoint(tg_check *c)
{
    tg_check_tensors *t = c->source;
    double *u = c->moved, *out = c->ahead;
    tg_tensor product;
    put_inputs(c, t->tape, c->point);
    const tg_tensor result = t->function(t->tape, t->in, c->count, t->user),
                    v = make_tensor(c, t->tape, c->level[0].cotangent, &c->outputs->shape, true);
    for (int64_t i = 0; i < c->variables; i++)
        u[i] = fmin(1, c->scale[i]) * tg_check_weight(c);
    for (int p = 0; p < c->part_count; p++)
        t->cotangents[p] = make_tensor(c, t->tape, u + c->parts[p].offset, &c->parts[p].shape, false);
    if (!tg_grad(&result, 1, t->varied, c->part_count, &v, true, t->gradients) ||
        !tg_grad(t->gradients, c->part_count, &v, 1, t->cotangents, false, &product) ||
        !tg_read(product, TG_F64, out, c->level[0].length))
        tg_check_stop_at(c, 1, -1, NAN, NAN, TG_GRADCHECK_ADJOINT,
                         "the derivative cannot be differentiated by its cotangent: %s",
                         tg_tape_error(t->tape) ? tg_tape_error(t->tape) : "it has another shape");
    tg_check_is_adjoint(c, u, out, "by differentiating J^T v by v");
}

static void try_ways(tg_check *c)
{
    tg_check_tensors *t = c->source;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].as == AS_LEAVES || !c->composed)
            check_way(c, &ways[i]);
    t->as_constants = true;
    for (int p = 0; p < c->part_count; p++)
        check_way(c, &(way){"wanted alone, and not announced before,", .alone = &c->parts[p]});
    t->as_constants = false;
    if (c->variables > 0)
        expect_adjoint(c);
}

/* ---- the kind ---- */

static void open_tensors(tg_check *c)
{
    tg_check_tensors *t = c->source;
    tg_tensor **tensors[] = {&t->in, &t->varied, &t->gradients, &t->below, &t->cotangents};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++)
        *tensors[i] = tg_check_take(c, c->count, sizeof(tg_tensor));
    t->before = tg_check_take(c, c->count, sizeof *t->before);
    for (int i = 0; i < c->count; i++)
        if (c->inputs[i].parameter)
            t->before[i] = *c->inputs[i].parameter;
    if (!(t->tape = tg_tape_new()))
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "out of memory");
    const tg_shape output = tg_shape_of(record(c, c->point));
    tg_check_set_outputs(c, &output, 1);
}

static void close_tensors(tg_check *c)
{
    tg_check_tensors *t = c->source;
    put_back(c);
    tg_tape_free(t->tape);
    tg_tape_free(t->other);
}

const tg_check_kind tg_check_of_tensors = {open_tensors, evaluate, try_ways, close_tensors, false};

/* ---- functions ---- */

/* A function of its inputs, then the parameters of a set. */
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

static tg_gradcheck_result check(const char *name, model *m, const tg_gradcheck_input *inputs, tg_parameters *set,
                                 const tg_gradcheck_options *options, const char *misuse)
{
    enum { FEW = 64 };
    const int all = m->count + tg_parameters_count(set);
    tg_gradcheck_input *list = misuse ? NULL : malloc((size_t)all * sizeof *list);
    for (int i = 0; list && i < all; i++)
        list[i] = i < m->count ? inputs[i] : (tg_gradcheck_input){.parameter = tg_parameters_at(set, i - m->count)};
    tg_check_tensors of = {.function = run_model, .user = m};
    tg_check c = {.name = misuse ? name : "the function",
                  .inputs = list,
                  .count = list ? all : 0,
                  .result = tg_check_no_result(-1),
                  .kind = &tg_check_of_tensors,
                  .source = &of,
                  .along = tg_parameters_size(set) > FEW,
                  .composed = true,
                  .options = tg_check_options(options)};
    const tg_gradcheck_result result = tg_check_answer(&c, misuse || list ? misuse : "out of memory");
    free(list);
    return result;
}

tg_gradcheck_result tg_gradcheck(tg_function function, void *user, const tg_gradcheck_input *inputs, int count,
                                 const tg_gradcheck_options *options)
{
    return check("the function", &(model){function, user, count}, inputs, NULL, options,
                 function && inputs && count > 0 ? NULL : "expected a function and at least one input");
}

tg_gradcheck_result tg_gradcheck_parameters(tg_function function, void *user, const tg_gradcheck_input *inputs,
                                            int count, tg_parameters *set, const tg_gradcheck_options *options)
{
    model m = {function, user, count > 0 ? count : 0};
    const bool fine = function && (m.count == 0 || inputs) && tg_parameters_count(set) > 0;
    return check("the model", &m, inputs, set, options, fine ? NULL : "expected a function and at least one parameter");
}
