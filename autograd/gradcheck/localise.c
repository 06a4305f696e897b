/* Checks a function. If it fails, checks each recorded operation on the inputs it had, to find the first that is wrong
 * by itself. The only file of the checker that reads the tape. */
#include "autograd/gradcheck/check.h"
#include "autograd/tape/tape_internal.h"

#include <stdlib.h>
#include <string.h>

/* A recorded operation as a function of its different inputs: x * x has one. */
typedef struct recorded {
    const tg_value *value;
    tg_gradcheck_input *inputs; /* [count of the operation], of which `count` are used */
    int count;
    int *which;
    tg_tensor *room;
} recorded;

static recorded make_recorded(tg_check *c, const tg_value *value, const bool *depends)
{
    const int count = value->input_count;
    recorded r = {.value = value,
                  .inputs = tg_check_take_from(c, &c->steps, count, sizeof *r.inputs),
                  .which = tg_check_take_from(c, &c->steps, count, sizeof *r.which),
                  .room = tg_check_take_from(c, &c->steps, count, sizeof *r.room)};
    for (int i = 0; i < count; i++) {
        const tg_value *input = value->inputs[i];
        int same = 0;
        while (value->inputs[same] != input)
            same++;
        r.which[i] = same < i ? r.which[same] : r.count;
        if (same == i)
            r.inputs[r.count++] = (tg_gradcheck_input){.shape = input->shape,
                                                       .name = tg_name_of(input),
                                                       .data = input->dtype == TG_F64 ? input->slot.data : NULL,
                                                       .integers = input->dtype == TG_I32 ? input->slot.data : NULL,
                                                       .fixed = !depends[input->index]};
    }
    return r;
}

static tg_gradcheck_result check_recorded(const tg_check *c, const recorded *r)
{
    tg_check_call call = {r->value->op, r->value->attributes, r->value->input_count, r->which, r->room};
    tg_check local = tg_check_of_call(&call, r->inputs, r->count, -1, &c->options, c->rng);
    if (local.options.order < c->report.result.order)
        local.options.order = c->report.result.order;
    if (local.options.report) { /* behind the function's */
        size_t used = strlen(local.options.report);
        local.options.report += used;
        local.options.report_size -= used;
    }
    tg_check_run(&local);
    if (!local.report.result.passed)
        tg_check_explain(&local, "\nThe first operation on its tape that is wrong by itself:\n\n");
    tg_check_close(&local);
    return local.report.result;
}

static bool is_checkable(const tg_value *value, const bool *depends)
{
    if (!value->op || !value->op->derivative || value->op->flags & TG_CONSTANT || value->dtype != TG_F64)
        return false;
    bool any = false;
    for (int i = 0; i < value->input_count; i++) {
        if (!tg_run_readable(value->inputs[i])) /* a checkpoint has released it */
            return false;
        any |= depends[value->inputs[i]->index] && value->inputs[i]->dtype == TG_F64;
    }
    return any;
}

/* Marks the values of the tape that depend on a varied input. */
static const bool *find_dependents(tg_check *c)
{
    bool *depends = tg_check_take_from(c, &c->steps, c->tape->program.count, sizeof *depends);
    for (int64_t index = 0; index < c->tape->program.count; index++) {
        const tg_value *value = tg_program_at(&c->tape->program, index);
        for (int p = 0; p < c->part_count; p++)
            depends[index] |= c->varied[p].value == value;
        for (int i = 0; i < value->input_count && !(value->op->flags & TG_CONSTANT); i++)
            depends[index] |= depends[value->inputs[i]->index];
    }
    return depends;
}

void tg_check_localise(tg_check *c, void *of)
{
    tg_gradcheck_result *result = of;
    tg_text why = {result->why, sizeof result->why, strlen(result->why)};
    tg_check_record(c, c->point);
    tg_arena_empty(&c->steps);
    const bool *depends = find_dependents(c);
    for (int64_t index = 0; index < c->tape->program.count; index++) {
        const tg_value *value = tg_program_at(&c->tape->program, index);
        if (!is_checkable(value, depends))
            continue;
        const recorded r = make_recorded(c, value, depends);
        const tg_gradcheck_result local = check_recorded(c, &r);
        if (local.passed || local.status == TG_GRADCHECK_REFUSED)
            continue;
        result->operation = index;
        tg_text_add(&why, ". The first operation on its tape that is wrong by itself is ");
        tg_text_call(&why, value);
        tg_text_place(&why, value);
        tg_text_add(&why, ": %s", local.why);
        return;
    }
    tg_text_add(&why,
                ". Every operation on its tape is right by itself, so a value must reach the result past the tape");
}

static tg_gradcheck_result check(const char *name, tg_function function, void *user, const tg_gradcheck_input *inputs,
                                 int count, const tg_gradcheck_options *options, const char *misuse)
{
    tg_check c = {.report = {name, inputs, count, .result = tg_check_no_result(-1)},
                  .kind = &tg_check_of_tensors,
                  .function = function,
                  .user = user,
                  .options = tg_check_options(options)};
    return tg_check_answer(&c, misuse);
}

tg_gradcheck_result tg_gradcheck(tg_function function, void *user, const tg_gradcheck_input *inputs, int count,
                                 const tg_gradcheck_options *options)
{
    const bool fine = function && inputs && count > 0;
    return check("the function", function, user, inputs, count, options,
                 fine ? NULL : "expected a function and at least one input");
}

/* ---- a model ---- */

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
    model m = {function, user, count > 0 ? count : 0};
    const int parameters = tg_parameters_count(set), all = m.count + parameters;
    const bool fine = function && (m.count == 0 || inputs) && parameters > 0;
    tg_gradcheck_input *list = fine ? malloc((size_t)all * sizeof *list) : NULL;
    if (!list)
        return check("the model", run_model, &m, NULL, 0, options,
                     fine ? "out of memory" : "expected a function and at least one parameter");
    for (int i = 0; i < all; i++)
        list[i] = i < m.count ? inputs[i] : (tg_gradcheck_input){.parameter = tg_parameters_at(set, i - m.count)};
    tg_gradcheck_options along = options ? *options : (tg_gradcheck_options){0};
    along.elements = 1;
    along.directions = 1;
    tg_gradcheck_result result = tg_gradcheck(run_model, &m, list, all, &along);
    if (!result.passed && result.status != TG_GRADCHECK_REFUSED) {
        tg_gradcheck_result element = tg_gradcheck(run_model, &m, list, all, options);
        result = element.passed ? tg_gradcheck(run_model, &m, list, all, &along) : element;
    }
    free(list);
    return result;
}
