/* The verdict on a derivative along a direction. */
#include "autograd/gradcheck/check.h"

#include <string.h>

/* ---- central differences ---- */

/* With the rounding of the point itself, which changes the slope by its own change around the point. */
static double rounding_of(const tg_check *c, const tg_check_slope *s, const tg_check_estimate *of)
{
    return TG_SAFETY * of->rounding + s->floor + c->terms * c->epsilon * s->move;
}

/* The size of the slopes around matters where the derivative is 0; three digits less are asked for then. */
static double tolerance(const tg_check *c, const tg_check_slope *s, double numeric)
{
    return TG_TOLERANCE * c->promise * fmax(fmax(fabs(s->analytic), fabs(numeric)), TG_COARSE * s->move);
}

static bool agrees(const tg_check *c, const tg_check_slope *s, double low, double high, double uncertain)
{
    const double nearest = fmin(fmax(s->analytic, low), high);
    return isfinite(s->analytic) && fabs(s->analytic - nearest) <= uncertain + tolerance(c, s, nearest);
}

/* Two numbers that were computed in different ways agree by far better than the promise, or as well as the rounding of
 * the derivative itself allows: both are right, whatever the estimate of the error says. */
static bool settles(const tg_check *c, const tg_check_slope *s)
{
    const double rounding = rounding_of(c, s, &s->now), value = s->now.value;
    const double size = fmax(fmax(fabs(s->analytic), fabs(value)), s->move);
    const double sharp = (1 - TG_TOLERANCE) * c->promise * size;
    return rounding <= fmax(sharp, s->floor > sharp ? TG_SAFETY * s->floor : 0) && agrees(c, s, value, value, rounding);
}

/* Known well enough to contradict: to three digits of the slopes, or of the values where rounding is the limit. */
static bool is_usable(const tg_check *c, const tg_check_slope *s)
{
    const double coarse = c->coarse, size = fmax(fabs(s->best.value), s->move);
    return TG_SAFETY * fmax(0, s->best.error - 4 * s->best.rounding) <= coarse * size + s->floor &&
           TG_SAFETY * s->best.rounding <= coarse * fmax(size, s->values) + s->floor;
}

/* Adds a row; true if all groups are decided. */
static bool add_row(tg_check *c, const tg_check_way *way, double t, tg_check_slope *slopes)
{
    bool all = true;
    tg_check_add_row(c, way, t, slopes);
    for (int64_t g = 0; g < way->groups; g++) {
        tg_check_slope *s = &slopes[g];
        if (!s->decided && s->rows >= 2 && settles(c, s)) {
            s->decided = true;
            s->best = s->now;
        }
        all &= s->decided;
    }
    return all;
}

/* Steps that halve; true if all groups are decided. */
static bool fill_table(tg_check *c, const tg_check_way *way, double t, tg_check_slope *slopes)
{
    bool all = false;
    tg_check_new_table(c, way, slopes);
    for (int j = 0; j < TG_ROWS && !all; j++, t /= 2)
        if (way->groups > 1 || !tg_check_is_too_small(c, way, t, 0))
            all = add_row(c, way, t, slopes);
    return all;
}

/* Tables in the usual scale and in the elements' own, in ever smaller steps. */
static void fill_tables(tg_check *c, const tg_check_way *way, tg_check_slope *slopes)
{
    tg_check_way own = *way;
    bool differs = false, all = false;
    own.ratio = tg_check_ratios(c, way);
    for (int64_t g = 0; g < way->groups; g++)
        differs |= own.ratio[g] != 1;
    for (double t = c->first_of_table; !all && t > 16 * c->epsilon; t = ldexp(t, -TG_ROWS))
        all = fill_table(c, way, t, slopes) || (differs && fill_table(c, &own, t, slopes));
    tg_check_new_table(c, way, slopes); /* the best of all counts */
}

/* ---- neighbours ---- */

/* Where slopes jump, at a kink or a tie, the derivative must lie among those at points around: for each value between
 * the lowest and the highest. */
typedef struct interval {
    double low, high, rounding;
    double near, far; /* the sums of the slopes' sizes */
    double values;    /* of the values' */
    bool ends;        /* the domain, for one of the values; or the slopes are taken in steps beyond x = 0 */
} interval;

static interval interval_of(const tg_check *c, const tg_check_way *way, int64_t group, const tg_check_around *a)
{
    const tg_check_level *level = &c->level[way->level];
    interval of = {0};
    for (int64_t k = group; k < level->length; k += way->groups) {
        const double v = level->cotangent[k], low = v * a->low[k], high = v * a->high[k];
        of.low += fmin(low, high);
        of.high += fmax(low, high);
        of.rounding += c->changed[k] ? fabs(v) * level->noise[k] / c->near_step : 0;
        of.near += fmax(fabs(low), fabs(high));
        of.far += fabs(v) * fmax(fabs(a->far_low[k]), fabs(a->far_high[k]));
        of.values += fabs(v * level->value[k]);
        of.ends |= a->ends[k];
    }
    for (int64_t i = way->from + group; i < way->to; i += way->groups)
        of.ends |= c->near_step * fabs(way->direction[i]) > c->own_scale[i];
    return of;
}

/* Slopes that grow or shrink towards the point, as those of sqrt(x) and x log x at 0, have no such ends. */
static bool is_bounded(const interval *of, double rounding)
{
    return fabs(of->near - of->far) <= of->far / 8 + TG_COARSE * of->values + TG_SAFETY * of->rounding + rounding;
}

/* ---- verdicts ---- */

static void set(tg_check *c, const tg_check_slope *s, double numeric, double uncertain, tg_gradcheck_status status,
                tg_gradcheck_result *v)
{
    v->status = status;
    v->passed = status == TG_GRADCHECK_PASSED;
    v->analytic = s->analytic;
    v->numeric = numeric;
    v->error = fabs(s->analytic - numeric);
    v->bound = uncertain + tolerance(c, s, numeric);
    const double size = fmax(fabs(s->analytic), fabs(numeric));
    v->relative = v->error > 0 ? v->error / fmax(fmax(size, s->move), v->bound / c->promise) : 0;
    v->sharp = v->bound <= c->promise * size || (s->analytic == 0 && v->bound <= c->promise * fmax(s->move, s->values));
    v->undecided = status == TG_GRADCHECK_CANNOT_TELL;
}

/* Slopes jump here, or contradict the difference at the point, or that is not known well enough. False if it is none of
 * these, or slopes are not known either. */
static bool judge_by_neighbours(tg_check *c, const tg_check_slope *s, const interval *of, bool usable,
                                tg_gradcheck_result *v)
{
    /* between here and there slopes change as they do between there and further away */
    const double changes = c->near * of->near + (c->far > c->near ? c->near / c->far : 0) * fabs(of->far - of->near);
    const double coarse = fmax(TG_COARSE, 32 * c->near), size = fmax(of->near, s->move),
                 uncertain = TG_SAFETY * of->rounding + 16 * changes + s->floor,
                 nearest = fmin(fmax(s->analytic, of->low), of->high);
    const bool jumps = of->high - of->low > coarse * size, contradicts = fabs(s->best.value - of->low) > coarse * size;
    if (!(uncertain <= coarse * size + s->floor) || !is_bounded(of, s->floor) || (usable && !jumps && !contradicts))
        return false;
    const bool fine = agrees(c, s, of->low, of->high, uncertain);
    if (!fine && of->ends)
        return false;
    set(c, s, nearest, uncertain, fine ? TG_GRADCHECK_PASSED : TG_GRADCHECK_WRONG, v);
    v->kinks = 1;
    return true;
}

/* A derivative that is infinite or NaN is wrong where slopes stay finite; at the caller's point, anywhere. */
static void judge_infinite(tg_check *c, const tg_check_slope *s, const interval *of, bool usable,
                           tg_gradcheck_result *v)
{
    const bool finite = (usable || is_bounded(of, 0)) && of->near <= 1.25 * of->far && !of->ends;
    set(c, s, v->numeric, 0, finite || !c->at[0] ? TG_GRADCHECK_NOT_FINITE : TG_GRADCHECK_CANNOT_TELL, v);
    v->kinks = 0;
}

/* The noise of a group and the size of its values, of those that change along the direction. */
static double noise_of(const tg_check *c, const tg_check_way *way, int64_t group, double *values)
{
    const tg_check_level *level = &c->level[way->level];
    double noise = 0;
    *values = 0;
    for (int64_t k = group; k < level->length; k += way->groups)
        if (c->changed[k]) {
            noise += fabs(level->cotangent[k]) * level->noise[k];
            *values += fabs(level->cotangent[k] * level->value[k]);
        }
    return noise;
}

/* True if features that are smaller than all steps can explain the derivative: the function would change by its own
 * size in the smallest step, or before the nearest neighbour; or it has three digits or less, and would change by more
 * than its rounding over the steps in which that is measured; or the smallest step sides with the derivative. */
static bool is_too_steep(const tg_check *c, const tg_check_way *way, int64_t group, const tg_check_slope *s,
                         bool usable)
{
    double around, smallest = 16 * c->epsilon; /* step of all */
    const double noise = noise_of(c, way, group, &around), size = fabs(s->analytic);
    for (int64_t i = way->from; i < way->to && way->groups == 1; i++)
        smallest = fmax(smallest, way->direction[i] == 0 ? 0 : 16 * c->epsilon * fabs(c->point[i] / way->direction[i]));
    around += s->move; /* 0 where nothing changes: there are no features */
    const bool sides = fabs(s->last - s->analytic) < fabs(s->best.value - s->analytic) / 2 &&
                       fabs(s->last - s->best.value) > TG_SAFETY * s->last_rounding;
    return isfinite(size) && around > 0 &&
           (sides || smallest * size > around || (!usable && c->near * size > around) ||
            (noise > c->epsilon * around / TG_COARSE && c->epsilon * size > c->near * noise));
}

static void judge(tg_check *c, const tg_check_way *way, int64_t group, const tg_check_slope *s, tg_check_around *a,
                  tg_gradcheck_result *v)
{
    const int most_looks = c->elementwise       ? 1
                           : c->variables <= 64 ? 16
                                                : 2; /* the more, the more are seen to win a tie */
    const double rounding = rounding_of(c, s, &s->best), uncertain = TG_SAFETY * s->best.error + rounding;
    const bool usable = is_usable(c, s);
    if (s->decided || (usable && agrees(c, s, s->best.value, s->best.value, uncertain))) {
        set(c, s, s->best.value, s->decided ? rounding : uncertain, TG_GRADCHECK_PASSED, v);
        v->kinks = s->kink > 0;
        return;
    }
    if (tg_check_is_too_small(c, way, c->first, group)) {
        set(c, s, s->best.value, uncertain, TG_GRADCHECK_CANNOT_TELL, v);
        return;
    }
    if (way->level > 0 && !usable && isfinite(s->analytic)) { /* the lower derivative jumps: there is no next one */
        set(c, s, s->analytic, uncertain, TG_GRADCHECK_PASSED, v);
        v->kinks = 1;
        return;
    }
    if (a->looks == 0)
        tg_check_look_around(c, way, a);
    interval of = interval_of(c, way, group, a);
    bool known = judge_by_neighbours(c, s, &of, usable, v);
    while (!(known && v->passed) && a->looks < most_looks) {
        tg_check_look_around(c, way, a);
        of = interval_of(c, way, group, a);
        known = judge_by_neighbours(c, s, &of, usable, v);
    }
    if (!known) { /* if the slopes of the two sides differ so much that it lies between them, that proves nothing */
        double values;
        const double kink = fmax(0, s->kink / 2 - TG_SAFETY * noise_of(c, way, group, &values) / c->first),
                     error = fabs(s->analytic - s->best.value);
        const bool wrong = usable && (error > uncertain + kink || isnan(error));
        set(c, s, s->best.value, uncertain, wrong ? TG_GRADCHECK_WRONG : TG_GRADCHECK_CANNOT_TELL, v);
    }
    if (c->composed && c->at[0] && !v->passed && v->kinks) /* of several kinks at once a derivative may lie outside */
        set(c, s, s->best.value, uncertain, TG_GRADCHECK_CANNOT_TELL, v);
    if (!isfinite(s->analytic))
        judge_infinite(c, s, &of, usable, v);
    else if (!v->passed && is_too_steep(c, way, group, s, usable))
        set(c, s, s->best.value, uncertain, TG_GRADCHECK_CANNOT_TELL, v);
}

/* ---- the comparison ---- */

static double sum_of_sizes(const tg_check *c, const tg_check_way *way)
{
    double sum = 0;
    for (int64_t i = way->from; i < way->to; i++)
        sum += fabs(c->level[way->level + 1].value[i] * way->direction[i]);
    return isfinite(sum) ? sum : 0;
}

/* The derivative along the direction, and what rounding may do to it: that of the values, of its terms, and of what the
 * values were computed from (at order 2, the function's values, per scale). */
static void find_analytic(tg_check *c, const tg_check_way *way, tg_check_slope *slopes)
{
    const tg_check_level *level = &c->level[way->level], *gradient = level + 1;
    double all = 0;
    for (int64_t i = 0; i < c->variables && way->groups == 1; i++)
        all = fmax(all, isfinite(gradient->value[i]) ? fabs(gradient->value[i]) * c->own_scale[i] : 0);
    for (int64_t i = way->from; i < way->to; i++) {
        tg_check_slope *s = &slopes[(i - way->from) % way->groups];
        s->analytic += way->direction[i] == 0 ? 0 : gradient->value[i] * way->direction[i];
        s->floor += (fabs(gradient->value[i]) + c->least / c->epsilon) * fabs(way->direction[i]);
    }
    for (int64_t k = 0; k < level->length; k++)
        slopes[k % way->groups].values += fabs(level->cotangent[k] * level->value[k]);
    for (int64_t g = 0; g < way->groups; g++) {
        tg_check_slope *s = &slopes[g];
        double below = 0, weight = 0;
        for (int k = 0; k < way->level; k++)
            for (int64_t i = g; i < c->level[k].length; i += way->groups)
                below += fabs(c->level[k].cotangent[i] * c->level[k].value[i]);
        for (int64_t k = g; way->level > 0 && k < level->length; k += way->groups)
            weight = fmax(weight, fabs(level->cotangent[k]) / fmin(1, c->scale[k]));
        s->floor += s->values + all + below * weight;
        s->floor = c->terms * (c->epsilon * (isfinite(s->floor) ? s->floor : 0) + c->least);
        if (way->to - way->from > way->groups) /* elements may cancel: each is judged to three digits of their sum */
            s->floor += TG_COARSE * c->promise * sum_of_sizes(c, way);
        s->now = s->best = (tg_check_estimate){0, INFINITY, INFINITY};
    }
}

/* If the derivative lies among the slopes around, all is well. */
static bool are_kinks(tg_check *c, const tg_check_way *way, const tg_check_slope *slopes, tg_check_around *a,
                      tg_gradcheck_result *v)
{
    bool all = true;
    for (int64_t g = 0; g < way->groups; g++)
        all &= slopes[g].decided || slopes[g].kink > 0;
    for (int64_t g = 0; g < way->groups && all; g++) {
        if (slopes[g].decided)
            continue;
        if (a->looks == 0)
            tg_check_look_around(c, way, a);
        const interval of = interval_of(c, way, g, a);
        all = judge_by_neighbours(c, &slopes[g], &of, false, &v[g]) && v[g].passed;
    }
    return all;
}

void tg_check_compare(tg_check *c, const tg_check_way *way, tg_gradcheck_result *v)
{
    const int64_t here = tg_arena_here(&c->arena);
    tg_check_slope *slopes = tg_check_take(c, way->groups, sizeof *slopes);
    double *bend = tg_check_numbers(c, way->groups);
    tg_check_around a = {0};
    find_analytic(c, way, slopes);
    memset(c->changed, 0, (size_t)c->level[way->level].length * sizeof *c->changed);
    for (int64_t g = 0; g < way->groups; g++) {
        v[g] = tg_check_no_result(c->result.sample);
        v[g].order = way->level + 1;
        v[g].comparisons = 1;
    }
    add_row(c, way, c->first, slopes);
    for (int64_t g = 0; g < way->groups; g++)
        bend[g] = slopes[g].bend;
    bool all = add_row(c, way, c->first / 2, slopes);
    for (int64_t g = 0; g < way->groups;
         g++) /* at a kink the slopes of both sides differ by as much in half the step */
        slopes[g].kink = slopes[g].bend > fmax(0.75 * bend[g], TG_COARSE * slopes[g].move) ? slopes[g].bend : 0;
    if (!all && !are_kinks(c, way, slopes, &a, v)) {
        tg_check_measure_noise(c, way->level);
        fill_tables(c, way, slopes);
    }
    for (int64_t g = 0; g < way->groups; g++)
        if (!v[g].kinks || !v[g].passed)
            judge(c, way, g, &slopes[g], &a, &v[g]);
    tg_arena_rewind(&c->arena, here);
}

void tg_check_column(tg_check *c, int level, double *direction, int64_t i, const double *found, int64_t stride,
                     double *expected)
{
    const int64_t here = tg_arena_here(&c->arena);
    const int64_t length = c->level[level].length;
    const tg_check_way way = {level, direction, length, i, i + 1, NULL};
    tg_check_slope *slopes = tg_check_take(c, length, sizeof *slopes);
    for (int64_t k = 0; k < length; k++) {
        const double rounding = c->epsilon * fabs(c->level[level].value[k]);
        slopes[k] = (tg_check_slope){.analytic = found[k * stride] * direction[i], .floor = c->terms * rounding};
        slopes[k].now = slopes[k].best = (tg_check_estimate){0, INFINITY, INFINITY};
        c->changed[k] = false;
    }
    add_row(c, &way, c->first, slopes);
    if (!add_row(c, &way, c->first / 2, slopes))
        fill_tables(c, &way, slopes);
    for (int64_t k = 0; k < length; k++)
        expected[k * stride] = slopes[k].best.value / direction[i];
    tg_arena_rewind(&c->arena, here);
}
