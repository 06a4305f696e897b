/* The verdict on a derivative along a line. */
#include "autograd/gradcheck/check.h"

#include <string.h>

/* A gradient times what moves. */
static double multiply(const tg_check *c, const tg_check_line *line, const double *gradient)
{
    const double *moves = line->tangent ? line->tangent : line->direction;
    const int64_t from = line->tangent ? 0 : line->from, to = line->tangent ? c->variables : line->to;
    double sum = 0;
    for (int64_t i = from; i < to; i++)
        sum += moves[i] == 0 ? 0 : gradient[i] * moves[i];
    return sum;
}

/* ---- differences at the point ---- */

/* With the rounding of the point, which changes the slope by its own change around the point. */
static double rounding_of(const tg_check *c, const tg_check_slope *s, const tg_check_estimate *of)
{
    return TG_SAFETY * of->rounding + s->floor + c->terms * c->epsilon * s->move;
}

/* The size of the slopes around matters where the derivative is 0; three digits less are asked for then. */
static double tolerance(const tg_check *c, const tg_check_slope *s, double numeric)
{
    const double size = fmax(fabs(s->analytic), fabs(numeric)), promised = TG_TOLERANCE * c->promise;
    return fmax(promised * fmax(size, TG_COARSE * s->move), c->options.rtol * size) + c->options.atol * s->length;
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
    const double size = fmax(fmax(fabs(s->analytic), fabs(value)), TG_COARSE * s->move);
    const double sharp = (1 - TG_TOLERANCE) * c->promise * size;
    return rounding <= fmax(sharp, s->floor > sharp ? TG_SAFETY * s->floor : 0) && agrees(c, s, value, value, rounding);
}

/* Known well enough to contradict: to three digits of the slopes, or of the values where rounding is the limit, or as
 * well as the values' promised accuracy allows in the longest step, 1/8, with the safety, times what
 * measuring may add. */
static bool is_usable(const tg_check *c, const tg_check_slope *s, const tg_check_estimate *of)
{
    const double size = fmax(fabs(of->value), s->move), rounding = TG_SAFETY * of->rounding;
    return TG_SAFETY * (of->error - rounding) <= c->coarse * size + s->floor &&
           rounding <= c->coarse * fmax(size, s->values) + s->floor + 4 * TG_SAFETY * TG_SAFETY * s->promised;
}

static void add_row(tg_check *c, const tg_check_line *line, double t, tg_check_slope *s)
{
    tg_check_add_row(c, line, t, s);
    s->settled = s->rows >= 2 && settles(c, s);
    if (s->settled)
        s->best = s->now;
}

/* True if this difference between the slopes of both sides may be a kink. One of many elements that move may have a
 * kink, which is a small part of the slopes then, but more than rounding and than what may be off. Noise may be as
 * large: a small kink must explain the derivative, too. */
static bool is_kink(const tg_check *c, const tg_check_slope *s, double kink)
{
    const double off = fmax(TG_SAFETY * s->plain.rounding, TG_TOLERANCE * c->promise * s->sizes);
    return kink > TG_COARSE * s->sizes || (kink > off && fabs(s->analytic - s->now.value) <= kink);
}

/* The first two rows, which settle most. The slopes of both sides differ by half as much in half the step, at a kink by
 * as much: by more than what converges. If they do not settle, a third is looked at: twice a difference less the one in
 * twice the step is what a kink leaves of it beside a curve, alike in two steps, as no wave and no noise. */
static void add_first_rows(tg_check *c, const tg_check_line *line, tg_check_slope *s)
{
    add_row(c, line, c->first, s);
    const double first = s->plain.error, bend = s->bend;
    add_row(c, line, c->first / 2, s);
    const double second = s->plain.error;
    s->kink = second > (1 - 1. / TG_SAFETY) * first && is_kink(c, s, second) ? second : 0;
    if (!s->settled && s->kink == 0) {
        tg_check_slope third = *s;
        tg_check_add_row(c, line, c->first / 4, &third);
        const double rest = 2 * third.bend - s->bend, before = 2 * s->bend - bend;
        const bool alike = third.rows == 3 && fabs(rest - before) <= TG_TOLERANCE * fabs(rest);
        s->kink = alike && is_kink(c, &third, fabs(rest)) ? fabs(rest) : 0;
    }
}

/* Tables of steps that halve, in the usual scale and, where one variable moves, in its own, in ever smaller steps. */
static void fill_tables(tg_check *c, const tg_check_line *line, tg_check_slope *s)
{
    tg_check_line scales[] = {*line, *line};
    if (line->to - line->from == 1)
        scales[1].ratio = c->own_scale[line->from] / fabs(line->direction[line->from]);
    const int count = scales[1].ratio == line->ratio ? 1 : 2;
    for (double t = fmax(1. / TG_SAFETY, c->first); t > 2 * TG_SAFETY * c->epsilon; t = ldexp(t, -TG_ROWS))
        for (int k = 0; k < count && !s->settled; k++) {
            tg_check_new_table(s);
            for (int j = 0; j < TG_ROWS && !s->settled; j++)
                add_row(c, &scales[k], ldexp(t, -j), s);
        }
    tg_check_new_table(s); /* the best of all counts */
}

/* ---- verdicts ---- */

static void set(const tg_check *c, const tg_check_slope *s, double numeric, double uncertain,
                tg_gradcheck_status status, tg_gradcheck_result *v)
{
    const double size = fmax(fabs(s->analytic), fabs(numeric));
    v->error = fabs(s->analytic - numeric);
    v->bound = uncertain + tolerance(c, s, numeric);
    /* bounds of bfloat16 may exceed the derivative: agreement is by far less than they allow, or by chance */
    if (c->type == TG_GRADCHECK_BF16 && status == TG_GRADCHECK_PASSED &&
        v->error > fmax(c->promise * size, v->bound / 4))
        status = TG_GRADCHECK_CANNOT_TELL;
    v->status = status;
    v->passed = status == TG_GRADCHECK_PASSED;
    v->undecided = status == TG_GRADCHECK_CANNOT_TELL;
    v->analytic = s->analytic;
    v->numeric = numeric;
    v->relative = v->error > 0 ? v->error / fmax(fmax(size, s->move), v->bound / c->promise) : 0;
    v->sharp = v->bound <= c->promise * size || (s->analytic == 0 && v->bound <= c->promise * fmax(s->move, s->values));
}

/* Slopes that grow or shrink towards the point, as those of sqrt(x) and x log x at 0, have no ends. */
static bool is_bounded(const tg_check_around *a, double rounding)
{
    return fabs(a->near_size - a->far_size) <=
           a->far_size / TG_SAFETY + TG_COARSE * a->values + TG_SAFETY * a->rounding + rounding;
}

/* Where slopes jump, at a kink or a tie, or contradict the difference at the point, or that is not known well enough,
 * the derivative must lie among those at points around: for each value between the lowest and the highest. False if it
 * is none of these, or slopes are not known either. */
static bool judge_by_neighbours(const tg_check *c, const tg_check_slope *s, const tg_check_around *a, bool usable,
                                tg_gradcheck_result *v)
{
    /* between here and there, on both sides, slopes change as they do between there and further away */
    const double changes = c->near * a->near_size + c->first * fabs(a->far_size - a->near_size),
                 size = 2 * c->first * fmax(a->near_size, s->move),
                 uncertain = TG_SAFETY * (a->rounding + 2 * changes) + s->floor;
    const bool jumps = a->high - a->low > size, contradicts = fabs(s->best.value - a->low) > size;
    if (!(uncertain <= size + s->floor) || !is_bounded(a, s->floor) || (usable && !jumps && !contradicts))
        return false;
    const bool fine = agrees(c, s, a->low, a->high, uncertain);
    if (fine || !a->ends)
        set(c, s, fmin(fmax(s->analytic, a->low), a->high), uncertain, fine ? TG_GRADCHECK_PASSED : TG_GRADCHECK_WRONG,
            v);
    return fine || !a->ends;
}

/* True if features that are smaller than all steps can explain the derivative: the function would change by its own
 * size in the smallest step, or before the nearest neighbour, or by the derivative of another element it would, of which
 * cotangents may leave little in this one; or it has three digits or less, and over the steps in which its rounding is
 * measured it would change by 1 / TG_SAFETY of that or more, or do derivatives differ by as much; or the smallest step
 * sides with the derivative. */
static bool is_too_steep(const tg_check *c, const tg_check_line *line, const tg_check_slope *s, bool usable,
                         bool around_it)
{
    const double size = fabs(s->analytic);
    const double around = s->changing + s->move;                   /* 0 where nothing changes: there are no features */
    const double noise = s->noise - (around_it ? 0 : s->promised); /* in the short steps around a promise is noise */
    const double own = fmax(1, s->own), change = fmax(c->level[line->level].jumps ? 0 : own * size, s->shaking);
    const bool sides = fabs(s->last.value - s->analytic) < fabs(s->best.value - s->analytic) / 2 &&
                       fabs(s->last.value - s->best.value) > TG_SAFETY * s->last.rounding;
    return around > 0 &&
           (sides || 2 * TG_SAFETY * c->epsilon * own * size > around ||
            2 * TG_SAFETY * c->epsilon * s->largest > s->values + s->move || (!usable && c->near * size > around) ||
            (noise > c->epsilon * around / TG_COARSE && TG_SAFETY * c->epsilon * change > c->near * noise));
}

/* True if a function of several operations may have a tie inside it, at a point of the checker's own: there the
 * derivative of each operation is a slope of that one, but together they need be no slope of the whole. A tie shows as a
 * kink; where slopes happen to be alike on both sides, the derivative still jumps. */
static bool is_tied(tg_check *c, const tg_check_line *line, const tg_check_slope *s, bool kink)
{
    if (!c->composed || !c->at[0] || kink)
        return c->composed && c->at[0];
    for (int64_t i = 0; i < c->variables; i++)
        c->moved[i] = c->point[i] + tg_check_weight(c) * c->near_step * c->own_scale[i];
    tg_check_evaluate(c, line->level + 1, c->moved, c->ahead);
    return !(fabs(multiply(c, line, c->ahead) - s->analytic) <= TG_COARSE * fabs(s->analytic - s->best.value));
}

/* Slopes neither at the point nor around it agree with the derivative. Where those of the two sides differ so much that
 * it lies between them, that proves nothing, nor where slopes grow towards the point and the function changes as much
 * before the neighbours as in the longest step; nor do several kinks at once, between which a derivative may lie
 * outside; nor, at a point of the checker's own, that values stay within a promise, as at a tie of several, for slopes
 * around are hidden by it. One that is infinite or NaN is wrong where slopes stay finite; at the caller's point,
 * anywhere. */
static void judge_unlike(tg_check *c, const tg_check_line *line, const tg_check_slope *s, const tg_check_around *a,
                         bool usable, double uncertain, tg_gradcheck_result *v)
{
    const double lost = TG_SAFETY * s->noise / c->first, kink = s->kink / 2 > lost ? s->kink / 2 + lost : 0;
    const bool finite = (usable || is_bounded(a, 0)) && a->near_size <= (1 + 1. / TG_SAFETY) * a->far_size && !a->ends,
               grows = !a->ends && a->near_size > TG_SAFETY * (a->far_size + a->rounding) &&
                       TG_SAFETY * c->near * a->near_size > s->longest * s->move,
               between = kink > 0 && agrees(c, s, a->low, a->high, TG_SAFETY * a->rounding),
               contradicted = usable && !grows && !between && fabs(s->analytic - s->best.value) > uncertain + kink;
    if (!isfinite(s->analytic)) {
        v->kinks = 0;
        set(c, s, s->best.value, 0, finite || !c->at[0] ? TG_GRADCHECK_NOT_FINITE : TG_GRADCHECK_CANNOT_TELL, v);
    } else if (is_too_steep(c, line, s, usable, v->kinks) || !(v->kinks || contradicted) ||
               is_tied(c, line, s, v->kinks || s->kink > 0) ||
               (c->at[0] && s->promised > 0 && s->move == 0 && !v->kinks))
        set(c, s, s->best.value, uncertain, TG_GRADCHECK_CANNOT_TELL, v);
    else if (!v->kinks)
        set(c, s, s->best.value, uncertain, TG_GRADCHECK_WRONG, v);
}

static void judge(tg_check *c, const tg_check_line *line, const tg_check_slope *s, tg_check_around *a,
                  tg_gradcheck_result *v)
{
    const double rounding = rounding_of(c, s, &s->best), uncertain = TG_SAFETY * s->best.error + rounding;
    /* both 0 up to rounding, and not for want of evaluations */
    const bool lost = fmax(fabs(s->analytic), fabs(s->best.value)) <= s->lost && (!c->over || isfinite(s->best.error)),
               usable = is_usable(c, s, &s->best);
    if (s->settled || ((usable || lost) && agrees(c, s, s->best.value, s->best.value, uncertain))) {
        set(c, s, s->best.value, s->settled ? rounding : uncertain, TG_GRADCHECK_PASSED, v);
        v->kinks = s->kink > 0;
    } else if (tg_check_is_too_small(c, line, c->first))
        set(c, s, s->best.value, uncertain, TG_GRADCHECK_CANNOT_TELL, v);
    else if (line->level > 0 && !usable &&
             isfinite(s->analytic)) { /* the lower derivative jumps: there is no next one */
        set(c, s, s->analytic, uncertain, TG_GRADCHECK_PASSED, v);
        v->kinks = 1;
    } else {
        do { /* the more looks, the more are seen to win a tie; of many that move, one shows little */
            tg_check_look_around(c, line, a);
            v->kinks = judge_by_neighbours(c, s, a, usable, v);
        } while (!v->passed && a->looks < (line->to - line->from <= c->options.elements ? TG_ROWS : 2));
        if (!v->passed)
            judge_unlike(c, line, s, a, usable, uncertain, v);
    }
}

/* ---- the comparison ---- */

/* The derivative along the line, and what rounding may do to it: as much as to the function's values, its terms,
 * gradients as a whole, and at order 2 what these were computed from, the function's values, per scale. Where many
 * elements move these may cancel: each is judged to three digits of their sum. Of an elementwise function only the
 * place that moves matters. */
static void find_analytic(const tg_check *c, const tg_check_line *line, tg_check_slope *s)
{
    const tg_check_level *level = &c->level[line->level], *gradient = level + 1;
    const int64_t start = line->start, stride = line->stride;
    double terms = 0, below = 0, weight = 0;
    s->analytic = multiply(c, line, gradient->value);
    for (int64_t i = line->from; i < line->to; i++) {
        s->length += fabs(line->direction[i]);
        s->own = fmax(s->own, line->direction[i] == 0 ? 0 : c->own_scale[i] / fabs(line->direction[i]));
        terms += (fabs(gradient->value[i]) + c->least / c->epsilon) * fabs(line->direction[i]);
    }
    for (int64_t i = start; i < c->variables; i += stride)
        if (isfinite(gradient->value[i]))
            s->largest = fmax(s->largest, fabs(gradient->value[i]) * c->own_scale[i]);
    for (int64_t k = start; k < level->length; k += stride)
        s->values += fabs(level->cotangent[k] * level->value[k]);
    for (int64_t k = start; line->level == 0 && k < level->length; k += stride)
        s->promised += fabs(level->cotangent[k]) * c->promised[k];
    for (int k = 0; k < line->level; k++)
        for (int64_t i = start; i < c->level[k].length; i += stride)
            below += fabs(c->level[k].cotangent[i] * c->level[k].value[i]);
    for (int64_t k = start; line->level > 0 && k < level->length; k += stride)
        weight = fmax(weight, fabs(level->cotangent[k]) / fmin(1, c->scale[k]));
    const double all = s->values + s->largest + below * weight + (isfinite(terms) ? terms : 0);
    s->floor = c->terms * (c->epsilon * (isfinite(all) ? all : 0) + c->least);
    if (line->to - line->from > 1 && isfinite(terms))
        s->floor += TG_COARSE * c->promise * terms;
    s->now = s->best = (tg_check_estimate){0, INFINITY, INFINITY};
}

/* Allows the derivative its noise, as far as it is measured; a slope may be lost in that of the values even in the
 * longest step, 1 / TG_SAFETY. */
static void add_noise(tg_check *c, const tg_check_line *line, tg_check_slope *s)
{
    const tg_check_level *level = &c->level[line->level];
    tg_check_measure_noise(c, line->level);
    for (int64_t k = line->start; k < level->length; k += line->stride)
        s->lost += TG_SAFETY * TG_SAFETY * fabs(level->cotangent[k]) * level->rounding[k];
    s->floor = fmax(s->floor, tg_check_noise_along(c, line));
    for (int64_t i = 0; i < c->variables; i++)
        s->shaking = fmax(s->shaking, c->level[line->level + 1].noise[i] * c->own_scale[i]);
}

/* By all tables, with what noise is known. */
static void compare_again(tg_check *c, const tg_check_line *line, tg_check_around *a, tg_gradcheck_result *v)
{
    tg_check_slope s = {0};
    v->passed = false;
    find_analytic(c, line, &s);
    add_noise(c, line, &s);
    add_first_rows(c, line, &s);
    fill_tables(c, line, &s);
    judge(c, line, &s, a, v);
}

/* Where evaluations are counted: four of them that contradict the derivative by far are enough, by more than the rounding
 * of numbers of about 1, which are common in between. */
static bool is_clearly_wrong(const tg_check *c, const tg_check_slope *s, tg_gradcheck_result *v)
{
    const double uncertain = TG_SAFETY * (TG_SAFETY * s->now.error + rounding_of(c, s, &s->now));
    if (c->options.evaluations == 0 || c->at[0] || s->kink > 0 || !is_usable(c, s, &s->now) || !isfinite(s->analytic) ||
        agrees(c, s, s->now.value, s->now.value, uncertain + c->terms * c->epsilon))
        return false;
    set(c, s, s->now.value, uncertain, TG_GRADCHECK_WRONG, v);
    return true;
}

tg_gradcheck_result tg_check_compare(tg_check *c, tg_check_line *line)
{
    const int64_t here = tg_arena_here(&c->arena);
    line->tangent = c->options.project ? tg_check_find_tangent(c, line) : NULL;
    tg_gradcheck_result v = tg_check_no_result(c->result.sample);
    tg_check_slope s = {0};
    tg_check_around a = {0};
    v.order = line->level + 1;
    memset(c->changed, 0, (size_t)c->level[line->level].length * sizeof *c->changed);
    find_analytic(c, line, &s);
    add_first_rows(c, line, &s);
    if (s.settled)
        judge(c, line, &s, &a, &v);
    else if (s.kink > 0) { /* a derivative that lies among the slopes around needs no tables */
        tg_check_look_around(c, line, &a);
        v.kinks = judge_by_neighbours(c, &s, &a, false, &v);
    }
    const bool clear = !v.passed && is_clearly_wrong(c, &s, &v);
    if (!v.passed && !clear)
        compare_again(c, line, &a, &v);
    const bool doubtful = v.passed ? a.high - a.low > TG_SAFETY * s.kink : !v.undecided && !clear;
    if (doubtful && line->level == 0 && c->kind->rounds && tg_check_find_jump(c, line))
        compare_again(c, line, &a, &v);
    if (c->kind->rounds && c->type == TG_GRADCHECK_F64 && v.status == TG_GRADCHECK_WRONG && v.error <= 2 * v.bound &&
        v.bound > 2 * tolerance(c, &s, v.numeric))
        set(c, &s, v.numeric, v.bound, TG_GRADCHECK_CANNOT_TELL, &v); /* by noise that is known to a factor of two */
    if (c->over && !v.passed && !clear)                               /* not all differences were computed */
        set(c, &s, s.now.value, INFINITY, TG_GRADCHECK_CANNOT_TELL, &v);
    v.comparisons = v.undecided && c->over && s.rows < 2 ? 0 : 1;
    tg_arena_rewind(&c->arena, here);
    return v;
}
