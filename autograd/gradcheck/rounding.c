/* How far computed values are from their function: rounding, noise, and jumps where an iteration stops. All comparisons
 * take it from here. */
#include "autograd/gradcheck/check.h"

#include <fenv.h>
#include <string.h>

/* ---- noise at the point ---- */

/* Noise shows in third differences over steps so small that the function has only its slope there (More and Wild 2011):
 * of rounding errors that are independent, a third difference is sqrt(1 + 9 + 9 + 1) times as large. The smaller of
 * what both sides show, as the function may jump at the point. Numbers that are 0 stay 0: many functions have a kink
 * there. */
static void take_third_differences(tg_check *c, int number, double *noise)
{
    enum { POINTS = 10 };
    /* steps of powers of two may always meet the same rounding, and coarse types have no others */
    const double size = (c->type == TG_GRADCHECK_F64 ? 0.618 : 1) * c->epsilon / c->near;
    const int64_t n = c->level[number].length;
    double *at = tg_check_numbers(c, POINTS * n), *unit = tg_check_numbers(c, c->variables);
    for (int64_t i = 0; i < c->variables; i++)
        if (c->point[i] != 0)
            unit[i] = size * c->own_scale[i] * (tg_rng_below(&c->rng, 2) ? 1 : -1);
    for (int side = 0; side < 2; side++) {
        for (int p = 0; p < POINTS; p++) {
            for (int64_t i = 0; i < c->variables; i++)
                c->moved[i] = tg_check_round(c, c->point[i] + (side ? p + 1 : -p - 1) * unit[i]);
            tg_check_evaluate(c, number, c->moved, at + p * n);
        }
        for (int64_t k = 0; k < n; k++) {
            double largest = 0;
            for (const double *f = at + k; f < at + k + (POINTS - 3) * n; f += n)
                largest = fmax(largest, fabs(f[3 * n] - f[0] - 3 * (f[2 * n] - f[n])) / sqrt(20));
            noise[k] = side == 0 || !(largest > noise[k]) ? largest : noise[k];
        }
    }
}

/* What is lost beside a larger number, as in 1 + 1e-18, changes with no input; but it does when all operations round up
 * or down. Numbers of about 1 are common in between. What changes by more is no rounding: rint(x), for one. */
static void round_otherwise(tg_check *c, int number)
{
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    tg_check_level *level = &c->level[number];
    const bool rounds = c->kind->rounds && c->type == TG_GRADCHECK_F64; /* vector code in float may rely on its own */
    const int before = fegetround();
    for (size_t i = 0; rounds && i < sizeof modes / sizeof modes[0]; i++) {
        fesetround(modes[i]);
        tg_check_evaluate(c, number, c->point, c->ahead);
        fesetround(before);
        for (int64_t k = 0; k < level->length; k++) {
            const double change = 2 * fabs(c->ahead[k] - level->value[k]); /* up and down */
            if (change <= TG_TOLERANCE * c->promise * fmax(1, fabs(level->value[k])))
                level->rounding[k] = fmax(level->rounding[k], change);
        }
    }
}

void tg_check_measure_noise(tg_check *c, int number)
{
    tg_check_level *level = &c->level[number];
    const int64_t here = tg_arena_here(&c->arena);
    if (level->measured)
        return;
    level->measured = true;
    double *noise = tg_check_numbers(c, level->length);
    take_third_differences(c, number, noise);
    round_otherwise(c, number);
    for (int64_t k = 0; k < level->length; k++)
        level->noise[k] = fmax(level->noise[k], fmax(level->rounding[k], isfinite(noise[k]) ? noise[k] : 0));
    tg_arena_rewind(&c->arena, here);
}

/* A derivative has rounding errors as its function has at the point, times what one operation may multiply these by.
 * More is a fault: errors that look like noise. */
double tg_check_noise_along(tg_check *c, const tg_check_line *line)
{
    const tg_check_level *below = &c->level[line->level], *level = below + 1;
    double most = 0, noise = 0;
    tg_check_measure_noise(c, line->level + 1);
    tg_check_measure_noise(c, line->level);
    for (int64_t k = 0; k < below->length; k++)
        most += c->terms * fabs(below->cotangent[k]) * fmax(below->rounding[k], c->epsilon * fabs(below->value[k]));
    for (int64_t i = line->from; i < line->to; i++)
        noise += TG_SAFETY * fmin(level->noise[i], most / c->scale[i]) * fabs(line->direction[i]);
    return noise;
}

/* ---- jumps around it ---- */

enum { WIDE = 33, WINDOW = 19 };

/* <cotangent, values> at `count` points along the line, h apart; of these, the place of the largest fifth difference,
 * which a smooth function nearly lacks and a jump makes six times as large as itself, and the largest sum of |values|.
 * Returns the jump. */
static double find_roughest(tg_check *c, const tg_check_line *line, double h, int count, double *place, double *size)
{
    const tg_check_level *level = &c->level[line->level];
    const double middle = *place;
    double sums[WIDE] = {0}, largest = 0;
    for (int p = 0; p < count; p++) {
        double all = 0;
        tg_check_evaluate_at(c, line, c->point, middle + (p - count / 2) * h, c->ahead);
        for (int64_t k = line->start; k < level->length; k += line->stride) {
            const double value = c->changed[k] ? level->cotangent[k] * c->ahead[k] : 0;
            sums[p] += value;
            all += fabs(value);
        }
        *size = fmax(*size, all);
    }
    for (int p = 0; p + 5 < count; p++) {
        const double *f = sums + p, jump = fabs(f[5] - f[0] - 5 * (f[4] - f[1]) + 10 * (f[3] - f[2])) / 6;
        if (jump > largest)
            *place = middle + (p + 2.5 - count / 2) * h;
        largest = fmax(largest, jump);
    }
    return largest;
}

/* In steps that are no short number, which might always meet the same place of a stair, down to those in which slopes
 * around are taken. Of a jump, what is seen stays alike; a kink would shrink with the step, to a sixteenth in two, and
 * the noise of a quotient grow. */
bool tg_check_find_jump(tg_check *c, const tg_check_line *line)
{
    tg_check_level *level = &c->level[line->level];
    double place = 0, here = 0, weights = 0, noise = 0, largest = 0, longer = 0, before = 0, jump = 0;
    for (int64_t k = line->start; k < level->length; k += line->stride) {
        const double v = c->changed[k] ? fabs(level->cotangent[k]) : 0;
        here += v * fabs(level->value[k]);
        noise += TG_SAFETY * v * (level->jumps ? c->epsilon * fabs(level->value[k]) : level->noise[k]); /* no jumps */
        weights += v;
    }
    for (double h = 0.618 / 20; h > c->near_step; h /= 4) {
        longer = before;
        before = jump;
        jump = find_roughest(c, line, h, before == 0 ? WIDE : WINDOW, &place, &largest);
        if (!(jump > noise * (here > 0 ? fmax(1, largest / here) : 1))) /* which may grow with the values */
            return false;
    }
    if (!(TG_SAFETY * jump >= longer && jump <= TG_SAFETY * longer) ||
        (TG_SAFETY * TG_SAFETY * jump > fmax(here, largest) && jump > c->terms * c->epsilon * weights))
        return false;
    for (int64_t k = line->start; k < level->length; k += line->stride)
        if (c->changed[k]) /* each value may jump as far */
            level->noise[k] = fmax(level->noise[k], jump / fabs(level->cotangent[k]));
    return level->jumps = true;
}
