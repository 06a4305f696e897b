/* Functions of tensors, evaluated on the check's tape: any function, or a model by its parameters. */
#include "autograd/gradcheck/check.h"

#include <stdlib.h>
#include <string.h>

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
    tg_check_put_inputs(c, t->tape, x);
    const tg_tensor result = t->function(t->tape, t->in, c->count, t->user);
    stop_at_error(c, TG_GRADCHECK_REFUSED);
    if (!tg_ok(result) || tg_dtype_of(result) != tg_check_dtype(c))
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "expected the function to return an %s tensor, not %s",
                      tg_dtype_name(tg_check_dtype(c)),
                      tg_ok(result) ? tg_dtype_name(tg_dtype_of(result)) : "an inert one");
    return result;
}

/* Derivative number `level` of what was recorded. */
static void derive(tg_check *c, int level, tg_tensor result, double *out)
{
    tg_check_tensors *t = c->source;
    int results = 1;
    t->below[0] = result;
    for (int k = 0; k < level; k++) {
        for (int r = 0; r < results; r++)
            t->cotangents[r] = tg_check_tensor(c, t->tape, c->level[k].cotangent + (k == 0 ? 0 : c->parts[r].offset),
                                               k == 0 ? c->outputs : &c->parts[r].shape, false);
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

static void evaluate(tg_check *c, int level, const double *x, double *out)
{
    const tg_tensor result = record(c, x);
    if (tg_size(result) != c->level[0].length)
        tg_check_stop(c, TG_GRADCHECK_NOT_REPEATABLE, "the result has %lld elements now and %lld before",
                      (long long)tg_size(result), (long long)c->level[0].length);
    derive(c, level, result, out);
}

static void open_tensors(tg_check *c)
{
    tg_check_tensors *t = c->source;
    tg_tensor **tensors[] = {&t->in, &t->varied, &t->gradients, &t->below, &t->cotangents};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++)
        *tensors[i] = tg_check_take(c, c->count, sizeof(tg_tensor));
    t->before = tg_check_take(c, c->part_count, sizeof *t->before);
    for (int p = 0; p < c->part_count; p++)
        if (c->inputs[c->parts[p].input].parameter)
            t->before[p] = *c->inputs[c->parts[p].input].parameter;
    if (!(t->tape = tg_tape_new()))
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "out of memory");
    t->output = tg_shape_of(record(c, c->point));
    c->outputs = &t->output;
    c->output_count = 1;
}

static void close_tensors(tg_check *c)
{
    tg_check_tensors *t = c->source;
    tg_check_put_back(c);
    tg_tape_free(t->tape);
    tg_tape_free(t->other);
}

const tg_check_kind tg_check_of_tensors = {open_tensors, evaluate, tg_check_ways, close_tensors, false};

/* ---- functions ---- */

static tg_gradcheck_result check(const char *name, bool along, tg_function function, void *user,
                                 const tg_gradcheck_input *inputs, int count, const tg_gradcheck_options *options,
                                 const char *misuse)
{
    tg_check_tensors of = {.function = function, .user = user};
    tg_check c = {.name = name,
                  .inputs = inputs,
                  .count = count,
                  .result = tg_check_no_result(-1),
                  .kind = &tg_check_of_tensors,
                  .source = &of,
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
