/* Compares the analytic derivative of every order with differences of the one below. */
#include "autograd/apply.h"
#include "autograd/gradcheck/check.h"

#include <stdlib.h>
#include <string.h>

tg_gradcheck_options tg_check_options(const tg_gradcheck_options *options)
{
    tg_gradcheck_options filled = options ? *options : (tg_gradcheck_options){0};
    if (filled.report_size == 0)
        filled.report = NULL;
    if (filled.report)
        filled.report[0] = '\0';
    if (filled.order < 1)
        filled.order = 1;
    if (filled.order > TG_GRADCHECK_MAX_ORDER)
        filled.order = TG_GRADCHECK_MAX_ORDER;
    if (filled.elements < 1)
        filled.elements = 16;
    if (filled.directions < 1)
        filled.directions = 3;
    return filled;
}

static tg_tensor apply(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    const tg_check_call *call = user;
    (void)tape, (void)count;
    for (int i = 0; i < call->count; i++)
        call->inputs[i] = inputs[call->which[i]];
    return tg_apply(call->op, call->attributes, call->count, call->inputs);
}

tg_check tg_check_of_call(tg_check_call *call, const tg_gradcheck_input *inputs, int count, int sample,
                          const tg_gradcheck_options *options, tg_rng rng)
{
    return (tg_check){.report = {call->op->name, inputs, count, .result = tg_check_no_result(sample)},
                      .kind = &tg_check_of_tensors,
                      .function = apply,
                      .user = call,
                      .elementwise = call->op->flags & TG_ELEMENTWISE,
                      .options = *options,
                      .rng = rng};
}

/* ---- the comparisons of an input ---- */

enum { MOST_PLACES = 256 /* elements of an elementwise function that are compared each */ };

/* Adds a comparison to the report, with a sentence if it failed; `how` says how several elements were moved. */
static void count_in(tg_check *c, tg_gradcheck_result *v, const tg_check_part *part, const char *how)
{
    v->input = part->input;
    v->sample = c->report.result.sample;
    v->undecided = v->status == TG_GRADCHECK_CANNOT_TELL;
    if (!v->passed) {
        tg_check_put_back(c); /* the report shows a parameter's value, which the differences have moved */
        tg_check_explain_failure(&c->report, v, v->index < 0 ? how : "");
    }
    tg_check_add_part(&c->report, v);
}

static tg_gradcheck_result compare_element(tg_check *c, int order, const tg_check_part *part, int64_t index,
                                           double *direction)
{
    int64_t i = part->offset + index;
    direction[i] = c->scale[i];
    tg_gradcheck_result v = tg_check_compare(c, order, direction, i, i + 1);
    direction[i] = 0;
    v.index = index;
    tg_check_divide(&v, c->scale[i]);
    return v;
}

/* Names the element that fails: halves the range of a direction as long as one half fails. */
static void find_element(tg_check *c, int order, const tg_check_part *part, const double *direction,
                         tg_gradcheck_result *failed)
{
    int64_t from = part->offset, to = part->offset + part->size;
    double *some = tg_check_take(c, c->variables);
    for (bool fails = true; fails && to - from > 1;) {
        int64_t middle = from + (to - from) / 2;
        fails = false;
        for (int half = 0; half < 2 && !fails; half++) {
            int64_t begin = half ? middle : from, end = half ? to : middle;
            memcpy(some + begin, direction + begin, (size_t)(end - begin) * sizeof *some);
            fails = !tg_check_compare(c, order, some, begin, end).passed;
            memset(some + begin, 0, (size_t)(end - begin) * sizeof *some);
            if (fails) {
                from = begin;
                to = end;
            }
        }
        if (!fails)
            return;
    }
    const tg_gradcheck_result v = compare_element(c, order, part, from - part->offset, some);
    if (!v.passed)
        *failed = v;
}

/* Compares along a random direction: in steps typical of the input or, where that is impossible, in proportion to each
 * element. */
static tg_gradcheck_result compare_direction(tg_check *c, int order, const tg_check_part *part, double *direction)
{
    int64_t from = part->offset, to = from + part->size;
    bool same = memcmp(c->scale + from, c->own_scale + from, (size_t)part->size * sizeof(double)) == 0;
    for (int64_t i = from; i < to; i++)
        direction[i] = c->scale[i] * tg_check_weight(c);
    tg_gradcheck_result v = tg_check_compare(c, order, direction, from, to);
    if (!v.passed && !same) {
        for (int64_t i = from; i < to; i++)
            direction[i] *= c->own_scale[i] / c->scale[i];
        v = tg_check_compare(c, order, direction, from, to);
    }
    if (v.status == TG_GRADCHECK_WRONG)
        find_element(c, order, part, direction, &v);
    return v;
}

static void compare_directions(tg_check *c, int order, const tg_check_part *part, double *direction)
{
    for (int k = 0; k < c->options.directions && c->report.result.passed; k++) {
        tg_gradcheck_result v = compare_direction(c, order, part, direction);
        count_in(c, &v, part, " (along a random direction)");
    }
    memset(direction + part->offset, 0, (size_t)part->size * sizeof *direction);
}

/* Compares each element; independent elements are compared together. Independence is measured, not proven, so elements
 * that fail together are compared again one by one. */
static void compare_elements(tg_check *c, int order, const tg_check_part *part, double *direction)
{
    tg_gradcheck_result *v = tg_check_take_from(c, &c->arena, part->size, sizeof *v);
    const tg_check_sets sets = tg_check_find_sets(c, order - 1, part);
    for (int64_t k = 0; k < sets.count; k++)
        tg_check_compare_set(c, order, part, &sets, k, v);
    for (int64_t i = 0; i < part->size && c->report.result.passed; i++) {
        if (!v[i].passed && c->places == 0 && sets.count < part->size)
            v[i] = compare_element(c, order, part, i, direction);
        count_in(c, &v[i], part, "");
    }
}

/* ---- ties ---- */

enum { MOST_TIES = 8 /* values that several elements of an input share */ };

typedef struct element {
    double value;
    int64_t at; /* the element's number among the variables */
} element;

static int by_value(const void *a, const void *b)
{
    const double left = ((const element *)a)->value, right = ((const element *)b)->value;
    return (left > right) - (left < right);
}

/* Moves elements of one value together. At a tie, a maximum has a kink in each element, which may get any share of the
 * cotangent: only moving them together shows whether the shares add up to one. */
static void compare_ties(tg_check *c, int order, const tg_check_part *part, double *direction)
{
    element *sorted = tg_check_take_from(c, &c->arena, part->size, sizeof *sorted);
    for (int64_t i = 0; i < part->size; i++)
        sorted[i] = (element){c->point[part->offset + i], part->offset + i};
    qsort(sorted, (size_t)part->size, sizeof *sorted, by_value);
    int64_t end;
    int ties = 0;
    for (int64_t begin = 0; begin < part->size && ties < MOST_TIES && c->report.result.passed; begin = end) {
        for (end = begin + 1; end < part->size && sorted[end].value == sorted[begin].value;)
            end++;
        if (end - begin < 2)
            continue;
        for (int64_t i = begin; i < end; i++)
            direction[sorted[i].at] = c->scale[sorted[i].at];
        tg_gradcheck_result v = tg_check_compare(c, order, direction, part->offset, part->offset + part->size);
        count_in(c, &v, part, " (elements of one value, moved together)");
        for (int64_t i = begin; i < end; i++)
            direction[sorted[i].at] = 0;
        ties++;
    }
}

static void compare_part(tg_check *c, int order, const tg_check_part *part, double *direction)
{
    const tg_arena_position here = tg_arena_here(&c->arena);
    const bool each = c->places > 0 || part->size <= c->options.elements ||
                      (part->size <= MOST_PLACES && tg_check_by_place(c, order - 1, part));
    (each ? compare_elements : compare_directions)(c, order, part, direction);
    if (c->places == 0 && c->report.result.passed)
        compare_ties(c, order, part, direction);
    tg_arena_rewind(&c->arena, here);
}

/* ---- the whole ---- */

/* The number of places of an elementwise function, if every variable fills them and they are few enough to compare at
 * once. */
static int64_t places_of(const tg_check *c)
{
    int64_t places = c->elementwise && c->level[0].length <= MOST_PLACES ? c->level[0].length : 0;
    for (int p = 0; p < c->part_count; p++)
        places = c->parts[p].size == places ? places : 0;
    return places;
}

static void check_everything(tg_check *c, void *none)
{
    tg_gradcheck_result *result = &c->report.result;
    (void)none;
    tg_check_open(c);
    double *direction = tg_check_take(c, c->variables);
    result->passed = true;
    c->places = places_of(c);
    for (int order = 1; order <= c->options.order; order++)
        for (int p = 0; p < c->part_count && result->passed; p++)
            compare_part(c, order, &c->parts[p], direction);
    if (!result->passed)
        return;
    tg_check_invariants(c);
    c->nothing_compared = result->comparisons == 0;
    if (c->nothing_compared)
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "there is nothing to compare: all inputs are empty");
    tg_check_end_parts(&c->report);
}

void tg_check_run(tg_check *c)
{
    tg_gradcheck_result *result = &c->report.result;
    *result = tg_check_no_result(result->sample);
    tg_check_try(c, check_everything, NULL);
    result->samples = 1;
    tg_check_put_back(c);
    tg_check_where(&c->report, result);
}

static void refuse(tg_check *c, void *why)
{
    tg_check_stop(c, TG_GRADCHECK_REFUSED, "%s", *(const char **)why);
}

tg_gradcheck_result tg_check_answer(tg_check *c, const char *misuse)
{
    tg_gradcheck_result *result = &c->report.result;
    c->rng = tg_rng_seed(c->options.seed);
    if (misuse)
        tg_check_try(c, refuse, &misuse);
    else
        tg_check_run(c);
    if (result->passed)
        tg_check_explain_success(c->report.name, c->numbers->sharp, result);
    else if (c->point && result->status != TG_GRADCHECK_REFUSED) {
        tg_check_explain(c, "");
        tg_gradcheck_result localised = *result;
        if (c->kind->localise)
            tg_check_try(c, c->kind->localise, &localised);
        *result = localised;
    }
    tg_check_close(c);
    return *result;
}
