/* Compares the analytic derivative of every order with differences of the one below. */
#include "autograd/gradcheck/driver.h"
#include "autograd/apply.h"

#include "autograd/gradcheck/compare.h"
#include "autograd/gradcheck/invariants.h"
#include "autograd/gradcheck/taped.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tg_gradcheck_options tg_check_options(const tg_gradcheck_options *options)
{
    tg_gradcheck_options filled = options ? *options : (tg_gradcheck_options){0};
    if (filled.report_size == 0)
        filled.report = NULL;
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
                      .options = tg_check_options(options),
                      .rng = rng};
}

/* ---- the comparisons of an input ---- */

enum { MOST_PLACES = 256 /* elements of an elementwise function that are compared each */ };

/* Adds a comparison to the report, with a sentence if it failed; `how` says how several elements were moved. */
static void count_in(tg_check *c, tg_gradcheck_result *v, const char *how)
{
    v->sample = c->report.result.sample;
    v->undecided = v->status == TG_GRADCHECK_CANNOT_TELL;
    if (!v->passed) {
        tg_check_put_back(c); /* the report shows a parameter's value, which the differences have moved */
        tg_check_explain_failure(&c->report, v, v->index < 0 ? how : "");
    }
    tg_check_add_part(&c->report, v);
}

static bool compare_element(tg_check *c, int order, const tg_check_part *part, int64_t index, double *direction,
                            tg_gradcheck_result *v)
{
    int64_t i = part->offset + index;
    direction[i] = c->scale[i];
    bool done = tg_check_compare(c, order, direction, i, i + 1, v);
    direction[i] = 0;
    v->input = part->input;
    v->index = index;
    tg_check_divide(v, c->scale[i]);
    return done;
}

/* Names the element that fails: halves the range of a direction as long as one half fails. */
static bool find_element(tg_check *c, int order, const tg_check_part *part, const double *direction,
                         tg_gradcheck_result *failed)
{
    int64_t from = part->offset, to = part->offset + part->size;
    double *some = tg_check_take(c, c->variables);
    tg_gradcheck_result v;
    bool fails = some;
    while (fails && to - from > 1) {
        int64_t middle = from + (to - from) / 2;
        fails = false;
        for (int half = 0; half < 2 && !fails; half++) {
            int64_t begin = half ? middle : from, end = half ? to : middle;
            memcpy(some + begin, direction + begin, (size_t)(end - begin) * sizeof *some);
            if (!tg_check_compare(c, order, some, begin, end, &v))
                return false;
            memset(some + begin, 0, (size_t)(end - begin) * sizeof *some);
            if ((fails = !v.passed)) {
                from = begin;
                to = end;
            }
        }
    }
    if (fails && !compare_element(c, order, part, from - part->offset, some, &v))
        return false;
    if (fails && !v.passed)
        *failed = v;
    return some;
}

/* Compares along a random direction: in steps typical of the input or, where that is impossible, in proportion to each
 * element. */
static bool compare_direction(tg_check *c, int order, const tg_check_part *part, double *direction,
                              tg_gradcheck_result *v)
{
    int64_t from = part->offset, to = from + part->size;
    bool same = memcmp(c->scale + from, c->own_scale + from, (size_t)part->size * sizeof(double)) == 0;
    for (int64_t i = from; i < to; i++)
        direction[i] = c->scale[i] * tg_check_weight(c);
    if (!tg_check_compare(c, order, direction, from, to, v))
        return false;
    for (int64_t i = from; !v->passed && !same && i < to; i++)
        direction[i] *= c->own_scale[i] / c->scale[i];
    if (!v->passed && !same && !tg_check_compare(c, order, direction, from, to, v))
        return false;
    v->input = part->input;
    v->index = -1;
    return v->passed || v->status != TG_GRADCHECK_WRONG || find_element(c, order, part, direction, v);
}

static bool compare_directions(tg_check *c, int order, const tg_check_part *part, double *direction)
{
    for (int k = 0; k < c->options.directions && c->report.result.passed; k++) {
        tg_gradcheck_result v;
        if (!compare_direction(c, order, part, direction, &v))
            return false;
        count_in(c, &v, " (along a random direction)");
    }
    memset(direction + part->offset, 0, (size_t)part->size * sizeof *direction);
    return true;
}

/* Compares each element; independent elements are compared together. Independence is measured, not proven, so elements
 * that fail together are compared again one by one. */
static bool compare_elements(tg_check *c, int order, const tg_check_part *part, double *direction)
{
    tg_gradcheck_result *v = tg_check_take_from(c, &c->arena, part->size, sizeof *v);
    tg_check_sets sets;
    if (!v || !tg_check_find_sets(c, order - 1, part, &sets))
        return false;
    for (int64_t k = 0; k < sets.count; k++)
        if (!tg_check_compare_set(c, order, part, &sets.set[k], v))
            return false;
    for (int64_t i = 0; i < part->size && c->report.result.passed; i++) {
        const bool in_set = c->places == 0 && sets.count < part->size;
        if (!v[i].passed && in_set && !compare_element(c, order, part, i, direction, &v[i]))
            return false;
        count_in(c, &v[i], "");
    }
    return true;
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
static bool compare_ties(tg_check *c, int order, const tg_check_part *part, double *direction)
{
    element *sorted = tg_check_take_from(c, &c->arena, part->size, sizeof *sorted);
    if (!sorted)
        return false;
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
        tg_gradcheck_result v;
        for (int64_t i = begin; i < end; i++)
            direction[sorted[i].at] = c->scale[sorted[i].at];
        if (!tg_check_compare(c, order, direction, part->offset, part->offset + part->size, &v))
            return false;
        v.input = part->input;
        v.index = -1;
        count_in(c, &v, " (elements of one value, moved together)");
        for (int64_t i = begin; i < end; i++)
            direction[sorted[i].at] = 0;
        ties++;
    }
    return true;
}

static bool compare_part(tg_check *c, int order, const tg_check_part *part, double *direction)
{
    const tg_arena_position here = tg_arena_here(&c->arena);
    bool each = c->places > 0 || part->size <= c->options.elements;
    if (!each && part->size <= MOST_PLACES && !tg_check_by_place(c, order - 1, part, &each))
        return false;
    bool done = each ? compare_elements(c, order, part, direction) : compare_directions(c, order, part, direction);
    if (done && c->places == 0 && c->report.result.passed)
        done = compare_ties(c, order, part, direction);
    tg_arena_rewind(&c->arena, here);
    return done;
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

static bool check_everything(tg_check *c)
{
    double *direction = tg_check_open(c) ? tg_check_take(c, c->variables) : NULL;
    tg_gradcheck_result *result = &c->report.result;
    if (!direction)
        return false;
    result->passed = true;
    c->places = places_of(c);
    for (int order = 1; order <= c->options.order; order++)
        for (int p = 0; p < c->part_count && result->passed; p++)
            if (!compare_part(c, order, &c->parts[p], direction))
                return false;
    if (!result->passed || !tg_check_invariants(c))
        return false;
    c->nothing_compared = result->comparisons == 0;
    if (c->nothing_compared)
        return tg_check_fail(&c->report, TG_GRADCHECK_REFUSED, "there is nothing to compare: all inputs are empty");
    tg_check_end_parts(&c->report);
    return result->passed;
}

void tg_check_run(tg_check *c)
{
    tg_gradcheck_result *result = &c->report.result;
    *result = tg_check_no_result(result->sample);
    result->passed = check_everything(c);
    result->samples = 1;
    tg_check_put_back(c);
    tg_check_where(&c->report, result);
}
