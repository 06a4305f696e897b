/* Checking a function: every order's analytic derivative against differences of the one below it. */
#include "autograd/gradcheck_internal.h"

#include <math.h>
#include <string.h>

/* By how much an error estimate may be too small; and the rounding of an analytic derivative, of which the measurement
 * does not see what it has in common with its neighbours'. */
#define SAFETY          8
#define ROUNDING_SAFETY 32

/* Rounding that is the same at all neighbours, as where 1 - tanh(x)^2 leaves few digits, is not measured at all. So much is
 * allowed besides of the size that the function's values, or those of a lower derivative, make usual. */
#define HIDDEN_ROUNDING (1024 * TG_CHECK_ROUNDING)

/* A difference whose own error is more than this fraction of what it differs says nothing. */
#define UNSETTLED 1e-5

enum { DEFAULT_ELEMENTS = 64, DEFAULT_DIRECTIONS = 3 };

tg_gradcheck_options tg_check_options(const tg_gradcheck_options *options)
{
    tg_gradcheck_options filled = options ? *options : (tg_gradcheck_options){0};
    if (filled.order < 1)
        filled.order = 1;
    if (filled.order > TG_GRADCHECK_MAX_ORDER)
        filled.order = TG_GRADCHECK_MAX_ORDER;
    if (filled.elements < 1)
        filled.elements = DEFAULT_ELEMENTS;
    if (filled.directions < 1)
        filled.directions = DEFAULT_DIRECTIONS;
    return filled;
}

/* ---- one comparison ---- */

/* The analytic slope along a direction that is not 0 from `from` to `to` only. */
typedef struct analytic_slope {
    double value, size;
    double rounding; /* as measured */
    double largest;  /* element of the direction */
} analytic_slope;

static analytic_slope slope_of_gradient(const tg_check *c, int order, const double *direction, int64_t from,
                                        int64_t to)
{
    const double *gradient = c->level[order].value;
    double sum = 0, square = 0, largest = 0;
    for (int64_t i = from; i < to; i++) {
        double term = gradient[i] * direction[i];
        sum += term;
        square += term * term;
        largest = fmax(largest, fabs(direction[i]));
    }
    return (analytic_slope){sum, sqrt(square), tg_check_noise(c, order, direction, from, to), largest};
}

/* The rounding of an analytic slope: as measured, or as large as is usual. */
static double explained_rounding(const tg_check *c, int order, const analytic_slope *slope, double natural)
{
    double usual = 0, change = natural;
    for (int k = order - 1; k >= 0; k--) {
        usual += c->level[k].size / change;
        change *= fmax(1, natural * slope->largest);
    }
    return ROUNDING_SAFETY * slope->rounding + HIDDEN_ROUNDING * usual;
}

static bool settles(double error, double rounding, double size)
{
    return error <= UNSETTLED * size || error <= 1000 * rounding;
}

/* Judges by one-sided slopes what the central difference does not confirm. */
static bool judge_by_sides(tg_check *c, int order, const double *direction, double rounding, bool settled,
                           tg_verdict *v)
{
    tg_check_sides sides;
    if (!tg_check_both_sides(c, order - 1, direction, &sides))
        return false;
    double analytic = v->analytic, size = fmax(fabs(analytic), sides.size);
    bool kink = sides.high - sides.low > v->bound;
    if (!(sides.error <= UNSETTLED * size || sides.error <= v->bound) || (settled && !kink)) {
        v->passed = false;
        v->result = settled ? TG_GRADCHECK_WRONG : TG_GRADCHECK_UNSETTLED;
        return true;
    }
    v->numeric = fmin(fmax(analytic, sides.low), sides.high);
    v->error = fabs(analytic - v->numeric);
    v->bound = SAFETY * sides.error + rounding;
    v->relative = v->error > 0 ? v->error / fmax(size, 1e7 * rounding) : 0;
    v->passed = v->error <= v->bound;
    v->result = v->passed ? TG_GRADCHECK_PASSED : TG_GRADCHECK_WRONG;
    v->kinks = 1;
    return true;
}

/* Compares an analytic slope with the differences along its direction. */
static bool look(tg_check *c, int order, const double *direction, const analytic_slope *analytic,
                 tg_verdict *v)
{
    tg_check_slope slope;
    if (!tg_check_central(c, order - 1, direction, analytic->largest, &slope))
        return false;
    double size = fmax(fmax(fabs(analytic->value), analytic->size), fmax(fabs(slope.value), slope.size));
    *v = (tg_verdict){.result = TG_GRADCHECK_PASSED,
                      .order = order,
                      .analytic = analytic->value,
                      .numeric = slope.value,
                      .error = fabs(analytic->value - slope.value),
                      .comparisons = 1,
                      .operation = -1};
    double rounding = SAFETY * slope.rounding + explained_rounding(c, order, analytic, slope.natural) +
                      64 * TG_CHECK_ROUNDING * size;
    v->bound = SAFETY * slope.error + rounding;
    v->relative = v->error > 0 ? v->error / fmax(size, 1e7 * rounding) : 0;
    bool settled = settles(slope.error, slope.rounding, fmax(fabs(slope.value), slope.size));
    v->passed = settled && v->error <= v->bound;
    return v->passed || judge_by_sides(c, order, direction, rounding, settled, v);
}

/* What differs is looked at again in case a lower derivative's rounding hides: differences that are the same at all small steps, as
 * those of a saturated softmax are, look exact and are not. */
static bool look_again(tg_check *c, int order, const double *direction, const analytic_slope *analytic,
                       tg_verdict *v)
{
    tg_check_level *level = &c->level[order - 1];
    tg_verdict second;
    for (int k = 0; k < order - 1; k++)
        level->suspected += 4 * TG_CHECK_ROUNDING * c->level[k].size;
    bool done = look(c, order, direction, analytic, &second);
    level->suspected = 0;
    if (done && second.passed)
        *v = second;
    return done;
}

/* Compares along a direction, in variables from .. to - 1, that amounts to `unit` of what the verdict speaks of. */
static bool compare(tg_check *c, int order, const double *direction, int64_t from, int64_t to, double unit,
                    tg_verdict *v)
{
    analytic_slope analytic = slope_of_gradient(c, order, direction, from, to);
    if (!look(c, order, direction, &analytic, v))
        return false;
    if (!v->passed && order > 1 && !look_again(c, order, direction, &analytic, v))
        return false;
    v->analytic /= unit;
    v->numeric /= unit;
    v->error /= unit;
    v->bound /= unit;
    return true;
}

/* ---- the comparisons of an input ---- */

/* Counts a comparison in; the first that fails, or else the worst, is the one the verdict shows. */
static void count_in(tg_check *c, const tg_verdict *v)
{
    tg_verdict *total = &c->verdict;
    int64_t comparisons = total->comparisons + 1, kinks = total->kinks + v->kinks;
    bool worse = comparisons == 1 || v->relative > total->relative;
    if (!v->passed || worse) {
        tg_verdict shown = *v;
        shown.sample = total->sample;
        *total = shown;
    }
    total->comparisons = comparisons;
    total->kinks = kinks;
}

static bool compare_element(tg_check *c, int order, const tg_check_part *part, int64_t index,
                            double *direction, tg_verdict *v)
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
static bool narrow(tg_check *c, int order, const tg_check_part *part, const double *direction,
                   tg_verdict *failed)
{
    int64_t from = part->offset, to = part->offset + part->size;
    double *some = tg_check_take(c, c->variables);
    if (!some)
        return false;
    while (to - from > 1) {
        int64_t middle = from + (to - from) / 2;
        bool narrower = false;
        for (int half = 0; half < 2 && !narrower; half++) {
            int64_t begin = half ? middle : from, end = half ? to : middle;
            tg_verdict v;
            memcpy(some + begin, direction + begin, (size_t)(end - begin) * sizeof *some);
            if (!compare(c, order, some, begin, end, 1, &v))
                return false;
            memset(some + begin, 0, (size_t)(end - begin) * sizeof *some);
            if ((narrower = !v.passed)) {
                from = begin;
                to = end;
            }
        }
        if (!narrower)
            return true;
    }
    tg_verdict v;
    if (!compare_element(c, order, part, from - part->offset, some, &v))
        return false;
    if (!v.passed)
        *failed = v;
    return true;
}

static bool compare_directions(tg_check *c, int order, const tg_check_part *part, double *direction)
{
    for (int k = 0; k < c->options.directions && c->verdict.passed; k++) {
        tg_verdict v;
        for (int64_t i = part->offset; i < part->offset + part->size; i++)
            direction[i] = c->scale[i] * tg_check_weight(&c->rng);
        if (!compare(c, order, direction, part->offset, part->offset + part->size, 1, &v))
            return false;
        v.input = part->input;
        v.index = -1;
        if (!v.passed && !narrow(c, order, part, direction, &v))
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
    for (int64_t index = 0; index < part->size && c->verdict.passed; index++) {
        tg_verdict v;
        if (!compare_element(c, order, part, index, direction, &v))
            return false;
        count_in(c, &v);
    }
    return true;
}

/* ---- the whole ---- */

static bool check_everything(tg_check *c)
{
    if (!tg_check_open(c))
        return false;
    double *direction = tg_check_take(c, c->variables);
    if (!direction)
        return false;
    c->verdict.passed = true;
    for (int order = 1; order <= c->options.order; order++)
        for (int p = 0; p < c->part_count && c->verdict.passed; p++)
            if (!compare_part(c, order, &c->parts[p], direction))
                return false;
    return !c->verdict.passed || tg_check_laws(c);
}

void tg_check_run(tg_check *c)
{
    c->verdict = (tg_verdict){.sample = c->verdict.sample, .input = -1, .index = -1, .operation = -1};
    c->verdict.passed = check_everything(c) && c->verdict.passed;
    c->verdict.samples = 1;
    tg_check_where(c, &c->verdict);
    if (!c->verdict.passed && c->verdict.why[0] == '\0')
        tg_check_explain_failure(c, &c->verdict);
}

void tg_check_merge(tg_verdict *total, const tg_verdict *sample)
{
    int samples = total->samples + sample->samples, skipped = total->skipped + sample->skipped;
    int64_t comparisons = total->comparisons + sample->comparisons, kinks = total->kinks + sample->kinks;
    bool first = total->comparisons == 0 && total->passed;
    if (!sample->passed || first || (sample->comparisons > 0 && sample->relative > total->relative))
        *total = *sample;
    total->samples = samples;
    total->skipped = skipped;
    total->comparisons = comparisons;
    total->kinks = kinks;
}

tg_verdict tg_gradcheck(tg_function function, void *user, const tg_gradcheck_input *inputs, int count,
                        const tg_gradcheck_options *options)
{
    tg_check c = {.name = "the function",
                  .function = function,
                  .user = user,
                  .inputs = inputs,
                  .count = count,
                  .options = tg_check_options(options),
                  .verdict = {.sample = -1, .input = -1, .index = -1, .operation = -1}};
    c.rng = tg_rng_seed(c.options.seed);
    if (!function || !inputs || count < 1) {
        tg_check_fail(&c, TG_GRADCHECK_REFUSED, "expected a function and at least one input");
        return c.verdict;
    }
    tg_check_run(&c);
    if (c.verdict.passed)
        tg_check_explain_success(c.name, &c.verdict);
    else
        tg_check_blame(&c);
    tg_check_close(&c);
    return c.verdict;
}
