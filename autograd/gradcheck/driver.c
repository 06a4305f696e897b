/* Every order's analytic derivative against differences of the one below it. */
#include "autograd/gradcheck/driver.h"

#include "autograd/gradcheck/differences.h"
#include "autograd/gradcheck/invariants.h"

#include <math.h>
#include <string.h>

/* By how much an error estimate may be too small; and the rounding of an analytic derivative, of which the measurement
 * does not see what it has in common with its neighbours'. */
#define SAFETY          8
#define ROUNDING_SAFETY 32

/* Rounding that is the same at all neighbours, as where 1 - tanh(x)^2 leaves few digits, is not measured at all. So much is
 * allowed besides of the size that the function's values, or those of a lower derivative, make usual. */
#define HIDDEN_ROUNDING (1024 * TG_CHECK_ROUNDING)

/* A difference whose own error is more than this fraction of what it differs tells nothing. */
#define NOT_CONVERGED 1e-5

/* Agreement within more than this fraction proves nothing. */
#define COARSE 1e-3

tg_gradcheck_options tg_check_options(const tg_gradcheck_options *options)
{
    tg_gradcheck_options filled = options ? *options : (tg_gradcheck_options){0};
    if (filled.order < 1)
        filled.order = 1;
    if (filled.order > TG_GRADCHECK_MAX_ORDER)
        filled.order = TG_GRADCHECK_MAX_ORDER;
    if (filled.elements < 1)
        filled.elements = 64;
    if (filled.directions < 1)
        filled.directions = 3;
    return filled;
}

tg_tensor tg_check_apply(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    const tg_check_call *call = user;
    (void)tape, (void)count;
    for (int i = 0; i < call->count; i++)
        call->inputs[i] = inputs[call->which[i]];
    return tg_apply(call->op, call->attributes, call->count, call->inputs);
}

/* ---- one comparison ---- */

/* The analytic derivative along a direction that is not 0 from `from` to `to` only. */
typedef struct analytic {
    double value, size;
    double rounding; /* as measured */
    double largest;  /* element of the direction */
    double smallest; /* a single variable's own step, as a part of the direction */
} analytic;

static analytic analytic_along(const tg_check *c, int order, const double *direction, int64_t from,
                               int64_t to)
{
    const double *gradient = c->level[order].value;
    double sum = 0, square = 0, largest = 0;
    double smallest = to - from == 1 && c->own[from] < c->scale[from] ? c->own[from] / c->scale[from] : 1;
    for (int64_t i = from; i < to; i++) {
        double term = gradient[i] * direction[i];
        sum += term;
        square += term * term;
        largest = fmax(largest, fabs(direction[i]));
    }
    return (analytic){sum, sqrt(square), tg_check_noise(c, order, direction, from, to), largest, smallest};
}

/* The rounding of an analytic derivative: as measured, but no more than the function's own explains, lest an error like noise
 * excuses itself; and as large as is usual. */
static double explained_rounding(const tg_check *c, int order, const analytic *a,
                                 const tg_check_difference *d)
{
    double usual = 0, change = d->natural;
    for (int k = order - 1; k >= 0; k--) {
        usual += c->level[k].size / change;
        change *= fmax(1, d->natural * a->largest);
    }
    double excuse = d->excuse + c->level[order - 1].rounding / d->natural;
    return ROUNDING_SAFETY * fmin(a->rounding, excuse + d->bend) + 4 * d->bend + HIDDEN_ROUNDING * usual;
}

static void conclude(tg_gradcheck_result *v, double numeric, double bound, double size, double rounding)
{
    v->numeric = numeric;
    v->error = fabs(v->analytic - numeric);
    v->bound = bound;
    v->relative = v->error > 0 ? v->error / fmax(size, 1e7 * rounding) : 0;
    v->passed = v->error <= bound;
    v->status = v->passed ? TG_GRADCHECK_PASSED : TG_GRADCHECK_WRONG;
}

/* Judges by one-sided differences what the central one does not confirm. */
static bool compare_one_sided(tg_check *c, int order, const double *direction, double largest,
                              double rounding, bool converged, tg_gradcheck_result *v)
{
    tg_check_one_sided d;
    if (!tg_check_both_sides(c, order - 1, direction, largest, &d))
        return false;
    double size = fmax(fabs(v->analytic), d.size);
    bool kink = d.high - d.low > v->bound;
    if (!(d.error <= NOT_CONVERGED * size || d.error <= v->bound) || (converged && !kink)) {
        v->passed = false;
        v->status = converged ? TG_GRADCHECK_WRONG : TG_GRADCHECK_CANNOT_TELL;
        return true;
    }
    conclude(v, fmin(fmax(v->analytic, d.low), d.high), SAFETY * d.error + rounding, size, rounding);
    v->kinks = 1;
    if (!v->passed && !converged && order > 1 && d.error <= NOT_CONVERGED * size) {
        v->passed =
            true; /* the derivative below jumps here, as that of |x|: whatever is given for the next one, there is none */
        v->status = TG_GRADCHECK_PASSED;
        v->relative = 0;
    }
    if (!v->passed && d.error > NOT_CONVERGED * size)
        v->status = TG_GRADCHECK_CANNOT_TELL;
    return true;
}

/* Judges by a central difference. Returns the rounding that is allowed for. */
static double judge(tg_check *c, int order, const analytic *a, const tg_check_difference *d, bool *converged,
                    tg_gradcheck_result *v)
{
    double numeric_size = fmax(fabs(d->value), d->size),
           size = fmax(fmax(fabs(a->value), a->size), numeric_size);
    double rounding =
        SAFETY * d->rounding + explained_rounding(c, order, a, d) + 64 * TG_CHECK_ROUNDING * size;
    conclude(v, d->value, SAFETY * d->error + rounding, size, rounding);
    *converged = d->error <= NOT_CONVERGED * numeric_size || d->error <= 1000 * d->rounding;
    v->passed &= *converged;
    return rounding;
}

/* Compares an analytic derivative with the differences along its direction: in steps of the usual size, in far smaller ones, and on both
 * sides. */
static bool compare_once(tg_check *c, int order, const double *direction, const analytic *a,
                         tg_gradcheck_result *v)
{
    tg_check_difference d;
    bool converged, contradicts;
    if (!tg_check_central(c, order - 1, direction, a->largest, a->smallest, &d))
        return false;
    *v = (tg_gradcheck_result){.order = order, .analytic = a->value, .comparisons = 1, .operation = -1};
    double rounding = judge(c, order, a, &d, &converged, v);
    if (v->passed)
        return true;
    if (!tg_check_closer(c, order - 1, direction, a->largest, &d, &contradicts))
        return false;
    if (contradicts) {
        tg_gradcheck_result usual = *v;
        judge(c, order, a, &d, &converged, v);
        if (v->passed && v->bound <= COARSE * fmax(fabs(a->value), a->size))
            return true;
        *v = usual;
    }
    if (!compare_one_sided(c, order, direction, a->largest, rounding, converged && !contradicts, v))
        return false;
    if (!v->passed && contradicts)
        v->status = TG_GRADCHECK_CANNOT_TELL;
    return true;
}

/* Compares along a direction, in variables from .. to - 1, that amounts to `unit` of what the result speaks of. What differs is
 * compared again in case a lower derivative's rounding hides: differences that are the same at all small steps, as those of a
 * saturated softmax are, look exact and are not. */
static bool compare(tg_check *c, int order, const double *direction, int64_t from, int64_t to, double unit,
                    tg_gradcheck_result *v)
{
    analytic a = analytic_along(c, order, direction, from, to);
    if (!compare_once(c, order, direction, &a, v))
        return false;
    if (!v->passed && order > 1) {
        tg_check_level *level = &c->level[order - 1];
        tg_gradcheck_result second;
        for (int k = 0; k < order - 1; k++)
            level->suspected += 4 * TG_CHECK_ROUNDING * c->level[k].size;
        bool done = compare_once(c, order, direction, &a, &second);
        level->suspected = 0;
        if (!done)
            return false;
        if (second.passed)
            *v = second;
    }
    v->analytic /= unit;
    v->numeric /= unit;
    v->error /= unit;
    v->bound /= unit;
    return true;
}

/* ---- the comparisons of an input ---- */

/* Counts a comparison in; the first that fails, or else the worst, is the one the result shows. One that cannot be decided waits
 * until the others have passed. */
static void count_in(tg_check *c, const tg_gradcheck_result *v)
{
    tg_gradcheck_result *total = &c->report.result, counts = *total;
    bool undecided = v->status == TG_GRADCHECK_CANNOT_TELL;
    if (undecided && counts.undecided == 0)
        c->undecided = *v;
    if (!undecided && (!v->passed || counts.comparisons == counts.undecided || v->relative > counts.relative))
        *total = *v;
    total->sample = counts.sample;
    total->comparisons = counts.comparisons + 1;
    total->kinks = counts.kinks + v->kinks;
    total->undecided = counts.undecided + undecided;
}

static bool compare_element(tg_check *c, int order, const tg_check_part *part, int64_t index,
                            double *direction, tg_gradcheck_result *v)
{
    int64_t i = part->offset + index;
    direction[i] = c->scale[i];
    bool done = compare(c, order, direction, i, i + 1, c->scale[i], v);
    direction[i] = 0;
    v->input = part->input;
    v->index = index;
    return done;
}

/* Halves the range of a direction that fails for as long as a half fails, to name the element. */
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
            if (!compare(c, order, some, begin, end, 1, &v))
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

/* Along a random direction: in steps as large as is typical of the input or, where that cannot be, in proportion to each element. */
static bool compare_direction(tg_check *c, int order, const tg_check_part *part, double *direction,
                              tg_gradcheck_result *v)
{
    int64_t from = part->offset, to = from + part->size;
    bool same = memcmp(c->scale + from, c->own + from, (size_t)part->size * sizeof(double)) == 0;
    for (int64_t i = from; i < to; i++)
        direction[i] = c->scale[i] * tg_check_weight(&c->rng);
    if (!compare(c, order, direction, from, to, 1, v))
        return false;
    for (int64_t i = from; !v->passed && !same && i < to; i++)
        direction[i] *= c->own[i] / c->scale[i];
    if (!v->passed && !same && !compare(c, order, direction, from, to, 1, v))
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
        count_in(c, &v);
    }
    memset(direction + part->offset, 0, (size_t)part->size * sizeof *direction);
    return true;
}

static bool compare_part(tg_check *c, int order, const tg_check_part *part, double *direction)
{
    if (part->size > c->options.elements)
        return compare_directions(c, order, part, direction);
    for (int64_t index = 0; index < part->size && c->report.result.passed; index++) {
        tg_gradcheck_result v;
        if (!compare_element(c, order, part, index, direction, &v))
            return false;
        count_in(c, &v);
    }
    return true;
}

/* ---- the whole ---- */

static bool check_everything(tg_check *c)
{
    double *direction = tg_check_open(c) ? tg_check_take(c, c->variables) : NULL;
    tg_gradcheck_result *result = &c->report.result;
    if (!direction)
        return false;
    result->passed = true;
    for (int order = 1; order <= c->options.order; order++)
        for (int p = 0; p < c->part_count && result->passed; p++)
            if (!compare_part(c, order, &c->parts[p], direction))
                return false;
    if (!result->passed || !tg_check_invariants(c))
        return false;
    c->nothing_compared = result->comparisons == 0;
    if (c->nothing_compared)
        return tg_check_fail(&c->report, TG_GRADCHECK_REFUSED,
                             "there is nothing to compare: all inputs are empty");
    if (result->undecided > 0) {
        c->undecided.sample = result->sample;
        c->undecided.comparisons = result->comparisons;
        c->undecided.undecided = result->undecided;
        *result = c->undecided;
    }
    return result->passed;
}

void tg_check_run(tg_check *c)
{
    tg_gradcheck_result *result = &c->report.result;
    *result = tg_check_no_result(result->sample);
    result->passed = check_everything(c);
    result->samples = 1;
    tg_check_where(&c->report);
    if (!result->passed && result->why[0] == '\0')
        tg_check_explain_failure(&c->report);
}
