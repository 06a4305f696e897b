/* Differences with an estimate of their own error (Ridders 1982), and the slopes at points around. */
#include "autograd/gradcheck/check.h"

#include <string.h>

/* ---- central differences ---- */

/* The derivative `level` at the point, moved by t along the direction. */
static void evaluate_at(tg_check *c, const tg_check_way *way, double t, double *out)
{
    for (int64_t i = way->from, g = 0; i < way->to; i++, g = g + 1 == way->groups ? 0 : g + 1)
        c->moved[i] = tg_check_round(c, c->point[i] + tg_check_step(way, t, g) * way->direction[i]);
    c->kind->evaluate(c, way->level, c->moved, out);
    memcpy(c->moved + way->from, c->point + way->from, (size_t)(way->to - way->from) * sizeof(double));
}

bool tg_check_is_too_small(const tg_check *c, const tg_check_way *way, double t, int64_t group)
{
    const double step = tg_check_step(way, t, group);
    for (int64_t i = way->from + group; i < way->to; i += way->groups)
        if (way->direction[i] != 0 && step * fabs(way->direction[i]) < 16 * c->epsilon * fabs(c->point[i]))
            return true;
    return t < 16 * c->epsilon;
}

const double *tg_check_ratios(tg_check *c, const tg_check_way *way)
{
    double *ratio = tg_check_numbers(c, way->groups);
    for (int64_t g = 0; g < way->groups; g++) {
        const int64_t i = way->from + (way->to - way->from == 1 ? 0 : g);
        const bool alone = way->to - way->from == 1 || way->groups > 1;
        ratio[g] = alone ? c->own_scale[i] / fabs(way->direction[i]) : 1;
    }
    return ratio;
}

/* Steps are rounded to the type where they are added to x: what the derivative gives for the missing part is added to
 * the difference. */
static void add_missing_steps(const tg_check *c, const tg_check_way *way, double t, tg_check_slope *slopes)
{
    const double *gradient = c->level[way->level + 1].value;
    for (int64_t i = way->from; i < way->to && way->to - way->from >= way->groups; i++) {
        const int64_t g = (i - way->from) % way->groups;
        const double d = way->direction[i], step = tg_check_step(way, t, g),
                     up = tg_check_round(c, c->point[i] + step * d),
                     missing = d - (up - tg_check_round(c, c->point[i] - step * d)) / (2 * step);
        if (missing != 0 && isfinite(gradient[i]) && fabs(missing) < fabs(d))
            slopes[g].plain += missing * gradient[i];
    }
}

/* The difference of each group. Only values that change have rounding. */
static void take_differences(tg_check *c, const tg_check_way *way, double t, tg_check_slope *slopes)
{
    const tg_check_level *level = &c->level[way->level];
    evaluate_at(c, way, t, c->ahead);
    evaluate_at(c, way, -t, c->behind);
    for (int64_t g = 0; g < way->groups; g++)
        slopes[g].plain = slopes[g].plain_rounding = slopes[g].plain_move = slopes[g].bend = 0;
    for (int64_t k = 0, g = 0; k < level->length; k++, g = g + 1 == way->groups ? 0 : g + 1) {
        const double up = c->ahead[k], down = c->behind[k], value = level->value[k];
        const double v = level->cotangent[k], step = tg_check_step(way, t, g);
        tg_check_slope *s = &slopes[g];
        if (s->decided)
            continue;
        c->changed[k] |= up != down || up != value;
        if (!c->changed[k]) { /* in any step; what is measured may hide a slope that changes no digit */
            s->plain_rounding += level->measured ? fabs(v) * level->noise[k] / c->first_of_table : 0;
            continue;
        }
        s->plain += v * (up - down) / (2 * step);
        s->plain_rounding += fabs(v) * level->noise[k] / step;
        s->plain_move += fabs(v) * (fabs(up - value) + fabs(down - value)) / (2 * step);
        s->bend += fabs(v * (up - value - (value - down))) / step;
    }
    add_missing_steps(c, way, t, slopes);
}

/* The difference and its extrapolations, which remove the terms of t^2, t^4, ... of the error. An entry is as good as
 * it agrees with the one to its left and the one above that; the best one counts. */
static void extrapolate(tg_check_slope *s)
{
    double above = s->row[0], entry = s->row[0] = s->plain, power = 1;
    for (int p = 1; p <= s->rows; p++) {
        power *= 4;
        const double left = entry;
        entry = left + (left - above) / (power - 1);
        const double error = fmax(fabs(entry - left), fabs(entry - above));
        above = s->row[p];
        s->row[p] = entry;
        if (error + s->plain_rounding < s->now.error + s->now.rounding)
            s->now = (tg_check_estimate){entry, error, s->plain_rounding};
    }
    s->rows++;
}

void tg_check_add_row(tg_check *c, const tg_check_way *way, double t, tg_check_slope *slopes)
{
    take_differences(c, way, t, slopes);
    for (int64_t g = 0; g < way->groups; g++) {
        tg_check_slope *s = &slopes[g];
        const double step = tg_check_step(way, t, g);
        if (s->decided || tg_check_is_too_small(c, way, t, g))
            continue;
        if (!isfinite(s->plain)) { /* outside the domain: begin again, closer */
            s->rows = 0;
            continue;
        }
        if (step > s->largest) {
            s->largest = step;
            s->move = s->plain_move;
        }
        s->last = s->plain;
        s->last_rounding = s->plain_rounding;
        extrapolate(s);
    }
}

void tg_check_new_table(tg_check *c, const tg_check_way *way, tg_check_slope *slopes)
{
    for (int64_t g = 0; g < way->groups; g++) {
        tg_check_slope *s = &slopes[g];
        if (s->decided)
            continue;
        const double now = s->now.error + s->now.rounding, best = s->best.error + s->best.rounding;
        const bool contradicts = fabs(s->now.value - s->best.value) > TG_SAFETY * (now + best);
        if (now < best || (contradicts && TG_SAFETY * now <= c->coarse * fabs(s->now.value)))
            s->best = s->now; /* if smaller steps contradict by three digits, larger ones missed a feature */
        s->now = (tg_check_estimate){0, INFINITY, INFINITY};
        s->rows = 0;
    }
}

/* ---- around the point ---- */

/* Moves all variables by a random part of the distance, and by four times the distance along the direction or against
 * it; every second time, the other way than the last time. So both sides of a kink are seen, and the place that wins a
 * tie of many. */
static void go_to_neighbour(tg_check *c, const tg_check_way *way, int number, double distance, double *away)
{
    const double push = number % 8 < 2 ? 4 * distance : 0;
    for (int64_t i = 0; i < c->variables; i++) {
        const double u = number % 2 == 0 ? 2 * tg_rng_uniform(&c->rng) - 1 : 0;
        away[i] = number % 2 == 1 ? -away[i] : (u + copysign(0.5, u)) * distance * c->own_scale[i];
        if (number % 2 == 0 && i >= way->from && i < way->to)
            away[i] += push * way->direction[i];
        c->point[i] = c->moved[i] = tg_check_round(c, c->point[i] + away[i]);
    }
}

static void find_ends(tg_check *c, const tg_check_way *way, tg_check_around *a, double distance, double *low,
                      double *high)
{
    enum { NEIGHBOURS = 4 }; /* in every other look a pair that is pushed, and a pair that is not */
    const tg_check_level *level = &c->level[way->level];
    double *x = tg_check_numbers(c, c->variables), *away = tg_check_numbers(c, c->variables);
    memcpy(x, c->point, (size_t)c->variables * sizeof *x);
    for (int64_t k = 0; a->looks == 0 && k < level->length; k++)
        low[k] = INFINITY, high[k] = -INFINITY;
    for (int n = 0; n < NEIGHBOURS; n++) {
        go_to_neighbour(c, way, a->looks * NEIGHBOURS + n, distance, away);
        evaluate_at(c, way, c->near_step, c->ahead);
        evaluate_at(c, way, -c->near_step, c->behind);
        memcpy(c->point, x, (size_t)c->variables * sizeof *x);
        memcpy(c->moved, x, (size_t)c->variables * sizeof *x);
        for (int64_t k = 0; k < level->length; k++) {
            const double slope = (c->ahead[k] - c->behind[k]) / (2 * c->near_step);
            a->ends[k] |= !isfinite(slope);
            low[k] = fmin(low[k], slope); /* of a number and NaN, the number */
            high[k] = fmax(high[k], slope);
        }
    }
}

void tg_check_look_around(tg_check *c, const tg_check_way *way, tg_check_around *a)
{
    const int64_t length = c->level[way->level].length;
    double **ends[] = {&a->low, &a->high, &a->far_low, &a->far_high};
    for (int i = 0; i < 4 && a->looks == 0; i++)
        *ends[i] = tg_check_numbers(c, length);
    if (a->looks == 0)
        a->ends = tg_check_take(c, length, sizeof *a->ends);
    const int64_t here = tg_arena_here(&c->arena);
    find_ends(c, way, a, c->near, a->low, a->high);
    find_ends(c, way, a, c->far, a->far_low, a->far_high);
    tg_arena_rewind(&c->arena, here);
    a->looks++;
}
