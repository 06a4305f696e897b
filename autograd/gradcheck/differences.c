/* What differences know: tables with an estimate of their own error (Ridders 1982), and the slopes at points around. */
#include "autograd/gradcheck/check.h"

#include <string.h>

/* ---- central differences ---- */

bool tg_check_evaluate_at(tg_check *c, const tg_check_line *line, const double *from, double t, double *out)
{
    memcpy(c->moved, from, (size_t)c->variables * sizeof(double));
    for (int64_t i = line->from; i < line->to; i++)
        c->moved[i] = tg_check_round(c, from[i] + t * line->ratio * line->direction[i]);
    tg_check_evaluate(c, line->level, c->moved, out);
    return c->options.project || tg_check_is_within(c, c->moved);
}

bool tg_check_is_too_small(const tg_check *c, const tg_check_line *line, double t)
{
    const double least = 2 * TG_SAFETY * c->epsilon;
    for (int64_t i = line->from; i < line->to; i++)
        if (line->direction[i] != 0 && t * line->ratio * fabs(line->direction[i]) < least * fabs(c->point[i]))
            return true;
    return t < least;
}

/* Both sides; behind a bound, what a parabola through the other side's values gives. */
static void evaluate_sides(tg_check *c, const tg_check_line *line, double t)
{
    const tg_check_level *level = &c->level[line->level];
    double *const sides[] = {c->ahead, c->behind};
    const bool within[] = {tg_check_evaluate_at(c, line, c->point, t, c->ahead),
                           tg_check_evaluate_at(c, line, c->point, -t, c->behind)};
    for (int side = 0; side < 2; side++) {
        if (!within[side])
            tg_check_evaluate_at(c, line, c->point, side ? 2 * t : -2 * t, c->further);
        for (int64_t k = 0; !within[side] && k < level->length; k++)
            sides[side][k] = 3 * (level->value[k] - sides[!side][k]) + c->further[k];
    }
}

/* Only values that change, in this or an earlier step, have rounding; but what is measured may hide a slope that
 * changes no digit, and what is promised any. Steps are rounded to the type where they are added to x: what the
 * derivative gives for the missing part is added to the difference. */
static void take_difference(tg_check *c, const tg_check_line *line, double t, tg_check_slope *s)
{
    const tg_check_level *level = &c->level[line->level];
    const double step = t * line->ratio;
    evaluate_sides(c, line, t);
    s->plain = (tg_check_estimate){0};
    s->bend = s->sizes = s->changing = s->noise = 0;
    for (int64_t k = line->start; k < level->length; k += line->stride) {
        const double up = c->ahead[k], value = level->value[k], down = c->behind[k], v = level->cotangent[k];
        c->changed[k] |= up != down || up != value;
        if (!c->changed[k]) {
            s->plain.rounding += fabs(v) * fmax(level->measured ? level->noise[k] * TG_SAFETY : 0,
                                                line->level == 0 ? c->promised[k] / step : 0);
            continue;
        }
        s->plain.value += v * (up - down) / (2 * step);
        const double bend = v * (up - value - (value - down)) / step;
        s->plain.error += fabs(bend);
        s->bend += bend;
        const double others = value == 0 ? c->epsilon * fmax(fabs(up), fabs(down)) : 0; /* for 0 has no rounding */
        s->plain.rounding += fabs(v) * fmax(level->noise[k], others) / step;
        s->sizes += fabs(v) * (fabs(up - value) + fabs(down - value)) / (2 * step);
        s->changing += fabs(v * value);
        s->noise += fabs(v) * level->noise[k];
    }
    for (int64_t i = line->from; i < line->to && !line->tangent; i++) {
        const double d = line->direction[i], up = tg_check_round(c, c->point[i] + step * d),
                     missing = d - (up - tg_check_round(c, c->point[i] - step * d)) / (2 * step);
        if (missing != 0 && isfinite(level[1].value[i]) && fabs(missing) < fabs(d))
            s->plain.value += missing * level[1].value[i];
    }
}

/* ---- tables ---- */

/* The difference and its extrapolations, which remove the terms of t^2, t^4, ... of the error. An entry is as good as
 * it agrees with the one to its left and the one above that; the best one counts. These also agree where a kink lies at
 * 8/9 of a step: then differences over smaller steps, whose error is a quarter each time, come hardly closer. */
static void extrapolate(tg_check_slope *s)
{
    const double rounding = s->plain.rounding, away = fabs(s->plain.value - s->now.value);
    if (s->rows > 0 && away > fabs(s->row[0] - s->now.value) * 5 / 16 &&
        away > TG_SAFETY * (s->now.error + s->now.rounding + rounding))
        s->now.error = away;
    double above = s->row[0], entry = s->row[0] = s->plain.value, power = 1;
    for (int p = 1; p <= s->rows; p++) {
        power *= 4;
        const double left = entry;
        entry = left + (left - above) / (power - 1);
        const double error = fmax(fabs(entry - left), fabs(entry - above));
        above = s->row[p];
        s->row[p] = entry;
        if (error + rounding < s->now.error + s->now.rounding)
            s->now = (tg_check_estimate){entry, error, rounding};
    }
    s->rows++;
}

void tg_check_add_row(tg_check *c, const tg_check_line *line, double t, tg_check_slope *s)
{
    if (tg_check_is_too_small(c, line, t))
        return;
    take_difference(c, line, t, s);
    if (!isfinite(s->plain.value)) { /* outside the domain: begin again, closer */
        s->rows = 0;
        return;
    }
    s->last = s->plain;
    const double step = t * line->ratio;
    s->move = step > s->longest && step <= s->own ? s->sizes : s->move;
    s->longest = fmax(s->longest, step <= s->own ? step : 0);
    s->step = step;
    extrapolate(s);
}

/* If smaller steps contradict by far, larger ones missed a feature. */
void tg_check_new_table(tg_check_slope *s)
{
    const double now = s->now.error + s->now.rounding, best = s->best.error + s->best.rounding;
    const bool contradicts = fabs(s->now.value - s->best.value) > TG_SAFETY * (now + best),
               smaller = s->step < s->best_step,
               known =
                   TG_SAFETY * (smaller ? now : best) <= TG_TOLERANCE * fabs(smaller ? s->now.value : s->best.value);
    if (contradicts && known ? smaller : now < best) {
        s->best = s->now;
        s->best_step = s->step;
    }
    s->now = (tg_check_estimate){0, INFINITY, INFINITY};
    s->rows = 0;
}

/* ---- around the point ---- */

/* The slopes at a pair that is pushed, and at three that are not: near, the lowest and highest; further away, the
 * largest. All variables move away by the distance; in the first pair by a quarter as much in each look, and those of
 * the line also four times as far along it: by more than any two others differ. The second of a pair goes the other way.
 * So both sides of a kink are seen, the place that wins a tie of many, and the steepest slope at the tip of a cone. */
static void look(tg_check *c, const tg_check_line *line, double distance, tg_check_around *a)
{
    double *x = tg_check_numbers(c, c->variables), *away = tg_check_numbers(c, c->variables);
    for (int n = 0; n < 8; n++) {
        for (int64_t i = 0; i < c->variables; i++) {
            away[i] = n % 2 == 0 ? tg_check_weight(c) * distance * c->own_scale[i] : -away[i];
            if (n == 0)
                away[i] = ldexp(away[i], -2 * a->looks);
            if (n == 0 && i >= line->from && i < line->to)
                away[i] += 4 * distance * line->direction[i];
            x[i] = tg_check_round(c, c->point[i] + away[i]);
        }
        tg_check_evaluate_at(c, line, x, c->near_step, c->ahead);
        tg_check_evaluate_at(c, line, x, -c->near_step, c->behind);
        for (int64_t k = line->start; k < c->level[line->level].length; k += line->stride) {
            const double slope = (c->ahead[k] - c->behind[k]) / (2 * c->near_step);
            a->ends |= !isfinite(slope);
            if (distance > c->near) {
                a->far[k] = fmax(a->far[k], fabs(slope)); /* of a number and NaN, the number */
                continue;
            }
            a->lowest[k] = fmin(a->lowest[k], slope);
            a->highest[k] = fmax(a->highest[k], slope);
        }
    }
}

void tg_check_look_around(tg_check *c, const tg_check_line *line, tg_check_around *a)
{
    const tg_check_level *level = &c->level[line->level];
    double **arrays[] = {&a->lowest, &a->highest, &a->far};
    for (int i = 0; i < 3 && a->looks == 0; i++) {
        *arrays[i] = tg_check_numbers(c, level->length);
        for (int64_t k = 0; k < level->length; k++)
            (*arrays[i])[k] = i == 0 ? INFINITY : -INFINITY;
    }
    const int64_t here = tg_arena_here(&c->arena);
    look(c, line, c->near, a);
    look(c, line, c->first, a);
    tg_arena_rewind(&c->arena, here);
    a->looks++;
    a->low = a->high = a->rounding = a->near_size = a->far_size = a->values = 0;
    for (int64_t k = line->start; k < level->length; k += line->stride) {
        const double v = level->cotangent[k], low = v * a->lowest[k], high = v * a->highest[k];
        a->low += fmin(low, high);
        a->high += fmax(low, high);
        a->rounding += fabs(v) * level->noise[k] * (c->changed[k] ? 1 / c->near_step : level->measured ? TG_SAFETY : 0);
        a->near_size += fmax(fabs(low), fabs(high));
        a->far_size += fabs(v) * a->far[k];
        a->values += fabs(v * level->value[k]);
    }
    for (int64_t i = line->from; i < line->to; i++)
        a->ends |= c->near_step * fabs(line->direction[i]) > c->own_scale[i];
}
